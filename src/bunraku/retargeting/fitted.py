"""Motions of any file, made to fit a character."""

from __future__ import annotations

import os

from bunraku.errors import UnsupportedError
from bunraku.formats import load, load_clips
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.vrm import is_vrma
from bunraku.model import Character, Clip
from bunraku.retargeting import retarget
from bunraku.retargeting.mmd_figure import standard_mmd_skeleton


def load_motions(
    path: str | os.PathLike[str], character: Character, *, fps: float = 30.0
) -> tuple[Clip, ...]:
    """Read the motions of a file and carry them over to a character where that is needed.

    A motion whose tracks name nodes of the character is played as it is. A VRM animation, a
    capture or the motion of another humanoid is retargeted from its own figure; a VMD or VPD on a
    humanoid that is no MMD model, from a standard MMD skeleton of the character's proportions.

    Args:
        path: .vmd, .vpd, .vrma, .bvh, .glb, … (see `load_clips`).
        character: who shall move so.
        fps: keys per second where keys cannot be kept; see `retarget`.

    Raises:
        FormatError, UnsupportedError, OSError: as for `load_clips`.
        RigError: a humanoid that lacks bones the motion cannot do without.
    """
    clips = load_clips(path)
    if character.humanoid is None or not clips:
        return clips
    try:
        source = load(path)
    except UnsupportedError:  # a motion without a figure of its own
        names = set(character.skeleton.names)
        if any(track.target in names for clip in clips for track in clip.tracks):
            return clips
        source = standard_mmd_skeleton(character)
    if source.humanoid is None or _is_same_figure(source, character):
        return clips
    return tuple(retarget(clip, source, character, fps=fps) for clip in clips)


def _is_same_figure(source: Character, character: Character) -> bool:
    """Whether the nodes that play the bones have the same names, in a file that says poses."""
    if isinstance(source.document, GltfFile) and is_vrma(source.document):
        return False
    if source.humanoid is None or character.humanoid is None:
        return False
    one, other = source.humanoid.bones, character.humanoid.bones
    shared = one.keys() & other.keys()
    return all(
        source.skeleton.names[one[bone]] == character.skeleton.names[other[bone]] for bone in shared
    )
