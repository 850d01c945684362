"""`bunraku bake FILE -o OUT`: a motion, played out into a file."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.motions import ClipName, MotionFile, Physics, chosen_clip


class Method(StrEnum):
    """How the skin is bent."""

    lbs = "lbs"
    dqs = "dqs"


def bake(
    file: Annotated[Path, typer.Argument(help="The character.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help=".glb, .gltf, .vmd, .bvh, .npy, .npz, .pc2 or .obj (a sequence)"
        ),
    ],
    motion: MotionFile = None,
    clip: ClipName = None,
    physics: Physics = False,
    method: Annotated[Method, typer.Option(help="Linear blend or dual quaternions.")] = Method.lbs,
    fps: Annotated[float, typer.Option(help="Frames per second, any positive number.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Play a clip on a character and write the result.

    .glb and .gltf get the clip resampled onto the joints, .vmd and .bvh the motion alone; .npy,
    .npz, .pc2 and .obj get world-space vertices of all meshes. Frames lie at k/fps, from 0 up to
    and including the clip's end.
    """
    from rich.console import Console
    from rich.progress import Progress

    import bunraku

    console = Console(stderr=True)
    if out.suffix.lower() == ".vmd" and fps > 0 and not (30 / fps).is_integer():
        raise bunraku.UnsupportedError(
            f"{out}: a VMD has 30 frames a second, not {fps:g}; leave out --fps"
        )
    character = bunraku.load(file)
    chosen = chosen_clip(character, motion, clip)
    if chosen is None:
        raise bunraku.RigError(f"{file}: has no clip to bake; --motion takes one from another file")
    stage = bunraku.Stage(character, chosen)
    if physics:
        stage = stage.simulated()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"baking {chosen.name or 'the clip'}", total=None)
        baked = bunraku.bake(
            stage,
            out,
            method=method.value,
            fps=fps,
            progress=lambda done, total: progress.update(task, completed=done, total=total),
        )
    notes = [*character.notes, *stage.notes, *baked.notes]
    if as_json:
        report = {
            "files": [str(path) for path in baked.files],
            "clip": chosen.name,
            "method": baked.method,
            "fps": fps,
            "frames": baked.frames,
            "vertices": baked.vertices,
            "working_set_bytes": baked.working_set,
            "notes": [str(note) for note in notes],
        }
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    first, last = baked.files[0], baked.files[-1]
    names = str(first) if len(baked.files) == 1 else f"{first} … {last.name}"
    typer.echo(
        f"{names}: {baked.frames} frames of {chosen.name or 'the clip'} at {fps:g} per second, "
        f"{baked.vertices:,} vertices, {baked.method}; "
        f"working set {baked.working_set / 2**20:.1f} MB"
    )
