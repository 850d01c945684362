"""Motions of any file, made to fit a character."""

from __future__ import annotations

import os

from bunraku.formats import load, load_clips, recognised
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
    form = recognised(path)
    if character.humanoid is None or form.load_clips is None:
        return load_clips(path)
    if form.load is not None:
        source = load(path)
        if source.humanoid is None or _is_same_figure(source, character):
            return source.clips
        clips = source.clips
    else:
        clips = load_clips(path)
        if _moves(clips, character):
            return clips
        source = standard_mmd_skeleton(character)
    return tuple(retarget(clip, source, character, fps=fps) for clip in clips)


def _moves(clips: tuple[Clip, ...], character: Character) -> bool:
    """Whether the motions are for an MMD model, or name nodes of the character."""
    if character.rig is not None and character.rig.layers is not None:
        return True
    names = set(character.skeleton.names)
    return any(track.target in names for clip in clips for track in clip.tracks)


def _is_same_figure(source: Character, character: Character) -> bool:
    """Whether the same names play the same bones; a VRM animation is never the character's own."""
    if isinstance(source.document, GltfFile) and is_vrma(source.document):
        return False
    if source.humanoid is None or character.humanoid is None:
        return False
    one, other = source.humanoid.bones, character.humanoid.bones
    shared = one.keys() & other.keys()
    return all(
        source.skeleton.names[one[bone]] == character.skeleton.names[other[bone]] for bone in shared
    )
