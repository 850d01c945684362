"""Motions of any file, made to fit a character."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bunraku.errors import Note, RigError
from bunraku.formats import load, load_clips, recognised
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.mmd import VmdFile, VpdFile
from bunraku.formats.vrm import is_vrma
from bunraku.model import Character, Clip
from bunraku.model.arrays import Float64
from bunraku.model.names import name_key
from bunraku.motion.notes import keeps_rest, listed
from bunraku.motion.targets import Targets
from bunraku.retargeting import retarget
from bunraku.retargeting.mmd_figure import standard_mmd_skeleton
from bunraku.retargeting.nodes import counterparts, led
from bunraku.retargeting.rest_axes import on_rest_axes

_NOTABLE = 0.01  # of the longest bone
_ALIKE = 1e-3  # of rest rotations and scales, and of the longest bone: what files round


def load_motions(
    path: str | os.PathLike[str], character: Character, *, fps: float = 30.0
) -> tuple[Clip, ...]:
    """Read the motions of a file and carry them over to a character where that is needed.

    A motion made for this very figure is played as it is, whatever number its nodes have in the
    other file. A VRM animation, a capture or the motion of another humanoid is retargeted from
    its own figure; a VMD or VPD on a humanoid that is no MMD model, from a standard MMD skeleton
    of the character's proportions, unless the bones it moves are the character's own. A character
    or source without a humanoid shares what has the same name.

    Args:
        path: .vmd, .vpd, .vrma, .bvh, .glb, … (see `load_clips`).
        character: who shall move so.
        fps: keys per second where keys cannot be kept; see `retarget`.

    Raises:
        FormatError, UnsupportedError, OSError: as for `load` and `load_clips`.
        RigError: a humanoid that lacks bones the motion cannot do without, or none where the
            motion is a VRM animation.
    """
    form = recognised(path)
    if form.load_clips is None:
        return load_clips(path)  # which says what does hold motions
    if form.load is None:
        return tuple(_from_mmd(clip, character, fps) for clip in load_clips(path))
    return _from_figure(load(path), character, fps)


# ---------------------------------------------------------------- from a figure


def _from_figure(source: Character, character: Character, fps: float) -> tuple[Clip, ...]:
    """The clips of another figure: led to the same nodes, or carried over."""
    nodes = counterparts(source.skeleton, character.skeleton)
    animation = isinstance(source.document, GltfFile) and is_vrma(source.document)
    moved = _moved(source)
    if source.humanoid is not None and character.humanoid is not None:
        # What a VRM animation says of faces and gaze is in its own words, never the character's.
        if animation or not _is_same_figure(source, character, nodes, moved):
            return tuple(retarget(clip, source, character, fps=fps) for clip in source.clips)
    elif animation and not (
        character.humanoid is not None or _alike(source, character, nodes, moved)
    ):
        raise RigError(
            f"{source.name}: a VRM animation moves a humanoid, which"
            f" {character.name or 'the character'} has not; give it one with"
            " dataclasses.replace(character, humanoid=bunraku.model.Humanoid({'hips': …, …}))"
        )
    notes = tuple(_elsewhere(source, character, nodes, moved))
    clips = [led(clip, source.skeleton, character.skeleton, nodes) for clip in source.clips]
    return tuple(replace(clip, notes=(*clip.notes, *notes)) if notes else clip for clip in clips)


def _elsewhere(
    source: Character, character: Character, nodes: list[int], moved: set[int]
) -> Iterator[Note]:
    """Says of a motion that it was made for another build, whose joints are otherwise apart."""
    one, other = source.skeleton, character.skeleton
    here = [node for node in sorted(moved) if nodes[node] >= 0 and int(one.parents[node]) in moved]
    there = [nodes[node] for node in here]
    size = np.linalg.norm(other.translations[there], axis=1).max(initial=0)
    off = _apart(one.translations[here], other.translations[there]) > _NOTABLE * size
    if off.any():
        names = listed(repr(one.names[node]) for node, far in zip(here, off, strict=True) if far)
        message = (
            f"{int(off.sum())} of {len(here)} joints stand elsewhere at rest than in"
            f" {source.name or 'the other file'}: {names}; the motion is played as it is"
        )
        yield Note("rest-differs", message)


def _moved(source: Character) -> set[int]:
    """Nodes that the figure's clips move."""
    targets = Targets(source)
    return {
        targets.of(track).indices[0]
        for clip in source.clips
        for track in clip.tracks
        if track.path in ("translation", "rotation", "scale") and targets.of(track).indices
    }


def _is_same_figure(
    source: Character, character: Character, nodes: list[int], moved: set[int]
) -> bool:
    """Whether the same nodes play the same bones, and stand alike at rest."""
    assert source.humanoid is not None
    assert character.humanoid is not None
    one, other = source.humanoid.bones, character.humanoid.bones
    shared = one.keys() & other.keys()
    if any(nodes[one[bone]] != other[bone] for bone in shared):
        return False
    body = {node for node in moved if nodes[node] >= 0}
    for bone in shared - {"hips"}:
        node = one[bone]
        while node >= 0 and node != one.get("hips"):
            body.add(node)
            node = int(source.skeleton.parents[node])
    return _alike(source, character, nodes, body | {one[bone] for bone in shared})


def _alike(source: Character, character: Character, nodes: list[int], chosen: set[int]) -> bool:
    """Whether some nodes of a figure are there in the other, hang on each other and rest alike."""
    here = sorted(chosen)
    there = [nodes[node] for node in here]
    if min(there, default=0) < 0:
        return False
    one, other = source.skeleton, character.skeleton
    for node, like in zip(here, there, strict=True):
        parent = int(one.parents[node])
        if parent in chosen and nodes[parent] != other.parents[like]:
            return False
    # where a root stands is its motion's to say: captures put it anywhere
    held = (one.parents[here] >= 0) & (other.parents[there] >= 0)
    size = np.linalg.norm(other.translations[there], axis=1).max(initial=0, where=held)
    moved = _apart(one.translations[here], other.translations[there])
    turned = np.minimum(
        *(_apart(one.rotations[here], sign * other.rotations[there]) for sign in (1, -1))
    )
    return bool(
        (moved[held] <= _ALIKE * size).all()
        and (turned <= _ALIKE).all()
        and (_apart(one.scales[here], other.scales[there]) <= _ALIKE).all()
    )


def _apart(one: Float64, other: Float64) -> Float64:
    return np.asarray(np.linalg.norm(one - other, axis=1), np.float64)


# ---------------------------------------------------------------- from MMD


def _from_mmd(clip: Clip, character: Character, fps: float) -> Clip:
    """A motion that came without a figure, for MMD's bones or for the character's."""
    if character.rig is not None and character.rig.layers is not None:
        return clip  # evaluated as MMD does
    if character.humanoid is None or _is_own(clip, character):
        return on_rest_axes(clip, character)
    return retarget(clip, standard_mmd_skeleton(character), character, fps=fps)


def _is_own(clip: Clip, character: Character) -> bool:
    """Whether a motion was made for the bones of this humanoid, not for MMD's.

    Where both are called the same, it is for MMD's, which have IK, unless it moves none of that
    and names this character as its model.
    """
    assert character.humanoid is not None
    targets = Targets(character)
    moved = {
        track.target: bool(targets.of(track).indices)
        for track in clip.tracks
        if track.path in ("translation", "rotation") and not keeps_rest(track)
    }
    own = sum(moved.values())
    if character.humanoid.missing:
        return own > 0
    mmd = standard_mmd_skeleton(character)
    standard = set(mmd.skeleton.names)
    played = [character.skeleton.names[node] for node in character.humanoid.bones.values()]
    if 2 * sum(name in standard for name in played) <= len(played):
        return own > len(standard & moved.keys())
    assert mmd.rig is not None
    goals = {mmd.skeleton.names[chain.goal] for chain in mmd.rig.chains}
    return own == len(moved) > 0 and not goals & moved.keys() and _names_model(clip, character)


def _names_model(clip: Clip, character: Character) -> bool:
    document = clip.document
    if isinstance(document, VmdFile):
        model = document.model_name
    elif isinstance(document, VpdFile):
        model = document.model.removesuffix(".osm")
    else:
        return False
    return bool(model) and name_key(model, 20) == name_key(character.name, 20)
