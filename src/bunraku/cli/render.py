"""`bunraku render FILE -o OUT`: a picture or a film, without a graphics card."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.bake import Method
from bunraku.cli.motions import ClipName, MotionFile, Physics, chosen_clip


class View(StrEnum):
    """Where the camera stands."""

    front = "front"
    side = "side"
    three_quarter = "three-quarter"
    back = "back"


def _checked(size: str) -> str:
    if re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", size) is None:
        raise typer.BadParameter(f"expected WIDTHxHEIGHT, e.g. 640x480, found {size!r}")
    return size


def render(
    file: Annotated[Path, typer.Argument(help="The character.")],
    out: Annotated[Path, typer.Option("--out", "-o", help=".png, or .gif or .apng for a film")],
    motion: MotionFile = None,
    clip: ClipName = None,
    physics: Physics = False,
    time: Annotated[
        float | None, typer.Option(help="Seconds; the pose of a picture, 0 if omitted.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(help="Frames per second of a film, 25 if omitted.")
    ] = None,
    method: Annotated[Method, typer.Option(help="Linear blend or dual quaternions.")] = Method.lbs,
    view: Annotated[View, typer.Option(help="Where the camera stands.")] = View.three_quarter,
    turntable: Annotated[bool, typer.Option(help="A film goes once around the figure.")] = False,
    size: Annotated[
        str, typer.Option(callback=_checked, metavar="WIDTHxHEIGHT", help="Pixels.")
    ] = "640x480",
    bones: Annotated[
        bool,
        typer.Option("--bones", help="Draw the bones, not the skin; so too where there is none."),
    ] = False,
    transparent: Annotated[
        bool, typer.Option(help="Leave the background out (.png and .apng).")
    ] = False,
) -> None:
    """Show a character: a picture of a moment (.png), or a film of a clip (.gif, .apng)."""
    from rich.console import Console
    from rich.progress import Progress

    import bunraku
    from bunraku.render.bones import as_bones
    from bunraku.render.film import SUFFIXES, render_clip, save_picture
    from bunraku.render.renderer import STUDIO, Renderer

    console = Console(stderr=True)
    film = out.suffix.lower() in SUFFIXES
    if not film and out.suffix.lower() != ".png":
        raise bunraku.UnsupportedError(f"{out}: expected a name ending in .png, .gif or .apng")
    if not film and (fps is not None or turntable):
        raise bunraku.UnsupportedError(f"{out}: --fps and --turntable are for .gif and .apng")
    character = bunraku.load(file)
    played = chosen_clip(character, motion, clip)
    stage = bunraku.Stage(character, played)
    bones = bones or not len(stage.triangles)
    if bones:
        character = as_bones(character)
        played = chosen_clip(character, motion, clip)
        stage = bunraku.Stage(character, played)
    if physics:
        stage = stage.simulated()
    background = None if transparent else STUDIO
    width, height = map(int, size.split("x"))
    if film:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("rendering", total=None)
            made = render_clip(
                stage,
                out,
                fps=25.0 if fps is None else fps,
                time=time,
                turns=float(turntable),
                method=method.value,
                view=view.value,
                size=(width, height),
                background=background,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        notes = made.notes
        said = f"{made.frames} frames, {made.seconds:g} s"
    else:
        moment = time or 0.0
        renderer = Renderer(
            stage, method=method.value, view=view.value, size=(width, height), background=background
        )
        save_picture(renderer.picture(moment), out)
        notes = renderer.notes
        if not stage.pose(moment).visible.all():
            message = f"the motion hides the character at {moment:g} s"
            notes = (*notes, bunraku.Note("character-hidden", message))
        said = f"{moment:g} s"
    for note in [*character.notes, *stage.notes, *notes]:
        typer.echo(f"note: {note}", err=True)
    shown = "at rest" if played is None else played.name or "the clip"
    typer.echo(f"{out}: {'bones, ' if bones else ''}{shown}, {said}, {size}, {method}")
