"""Which motion a command plays."""

from __future__ import annotations

from dataclasses import replace
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
ClipName = Annotated[str | None, typer.Option(help="Name of the clip; the first if omitted.")]


def chosen_clip(character: Character, motion: Path | None, clip: str | None) -> Clip | None:
    """The clip of that name, or the first: of the motion file, else the character's own.

    None where the character has none and no other file was named.

    Raises:
        RigError: the motion file has no clips, or none of that name.
    """
    from bunraku import RigError, load_motions

    clips = character.clips if motion is None else load_motions(motion, character)
    if motion is not None and not clips:
        raise RigError(f"{motion}: has no clips")
    if not clips and clip is None:
        return None
    return replace(character, clips=clips).clip(clip if clip is not None else 0)
