"""Which motion a command plays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bunraku.model import Character, Clip

MotionFile = Annotated[
    Path | None,
    typer.Option(help="Play the clips of another file (.vmd, .vrma, .bvh, .glb …), made to fit."),
]
Physics = Annotated[
    bool, typer.Option("--physics", help="Let springs (hair, skirts) swing, from time 0.")
]
ClipName = Annotated[
    str | None, typer.Option(help="Name or number of the clip; the first, 0, if omitted.")
]


def chosen_clip(character: Character, motion: Path | None, clip: str | None) -> Clip | None:
    """The clip of that name, else number, or the first: of the motion file, else the character's.

    None where the character has none and no other file was named.

    Raises:
        RigError: the motion file has no clips, or none of that name or number.
    """
    from bunraku import RigError, load_motions

    clips = character.clips if motion is None else load_motions(motion, character)
    if motion is not None and not clips:
        raise RigError(f"{motion}: has no clips")
    if clip is None:
        return clips[0] if clips else None
    named = [each for each in clips if each.name == clip]
    if not named and clip.isdecimal() and int(clip) < len(clips):
        named = [clips[int(clip)]]
    if not named:
        known = ", ".join(f"{i} {each.name!r}" for i, each in enumerate(clips[:20]))
        more = " …" if len(clips) > 20 else ""
        raise RigError(f"no clip {clip!r}; there are: {known or 'none'}{more}")
    return named[0]
