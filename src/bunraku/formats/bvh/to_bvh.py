"""A motion of a figure into a BVH document.

A BVH holds a pose for every frame, and no rest rotations: a joint's channels are its whole
local rotation, so that a figure whose rest turns its nodes moves as it should, but stands
otherwise in the file's rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, UnsupportedError
from bunraku.formats.bvh.document import BvhFile, BvhJoint
from bunraku.formats.bvh.from_bvh import character_from_bvh
from bunraku.model import Character, Clip, Track, differences
from bunraku.rotation import quaternion, to_euler

Array = npt.NDArray[Any]

POSITIONS = ("Xposition", "Yposition", "Zposition")
ROTATIONS = ("Zrotation", "Xrotation", "Yrotation")
FRAME_TIME = 1 / 30  # of a motion with a single frame


def bvh_from_clip(clip: Clip, character: Character) -> tuple[BvhFile, tuple[Note, ...]]:
    """The document of a motion, and notes on what it cannot hold.

    A motion that was read from a BVH and not changed gives that document. All others need a key
    of every moving node in every frame, evenly spaced, as a bake makes them. Angles are written
    about Z, X, Y.

    Raises:
        UnsupportedError: keys that are not those of frames.

    >>> from bunraku.model import Skeleton
    >>> figure = Character(Skeleton(("Hips",), [-1], [[0, 1, 0]]))
    >>> turn = Track("Hips", "rotation", [0, 0.1], [[0, 0, 0, 1], [0, 1, 0, 0]])
    >>> file, notes = bvh_from_clip(Clip("turn", (turn,)), figure)
    >>> file.values.round(3).tolist()
    [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 180.0]]
    """
    document = clip.document
    if isinstance(document, BvhFile):
        was = character_from_bvh(document)
        same_motion = not differences(replace(was.clips[0], name=clip.name), clip)
        if same_motion and not differences(was.skeleton, character.skeleton):
            return document, ()
    notes: list[Note] = []
    moving, frame_time, frames = _moving(clip, character, notes)
    joints: list[BvhJoint] = []
    columns: list[Array] = []
    numbers: dict[int, int] = {-1: -1}
    skeleton = character.skeleton
    ends = _ends(character, {node for node, _ in moving})
    bearers = set(skeleton.parents.tolist())
    for node in _depth_first(character):
        numbers[node] = len(joints)
        parent = int(skeleton.parents[node])
        offset = tuple(skeleton.translations[node].tolist())
        if node in ends:
            joints.append(BvhJoint("Site", numbers[parent], offset, is_end=True))
            continue
        channels: tuple[str, ...] = ROTATIONS
        if parent < 0 or (node, "translation") in moving:
            channels = POSITIONS + ROTATIONS
            rest = skeleton.translations[node]
            columns.append(_values(moving.get((node, "translation")), rest, frames))
        turns = _values(moving.get((node, "rotation")), skeleton.rotations[node], frames)
        columns.append(np.degrees(to_euler(quaternion.normalize(turns), "ZXY")) + 0.0)  # no −0
        name = " ".join(skeleton.names[node].replace("{", "(").replace("}", ")").split())
        joints.append(BvhJoint(name or f"node{node}", numbers[parent], offset, channels))
        if node not in bearers:
            joints.append(BvhJoint("Site", numbers[node], is_end=True))
    values = np.concatenate([np.zeros((frames, 0)), *columns], axis=1)
    source = f"{clip.name or character.name or 'motion'}.bvh"
    return BvhFile(tuple(joints), frame_time, values, source=source), tuple(notes)


def _moving(
    clip: Clip, character: Character, notes: list[Note]
) -> tuple[dict[tuple[int, str], Track], float, int]:
    """Tracks by node and path, seconds of a frame and number of frames."""
    moving: dict[tuple[int, str], Track] = {}
    times = np.zeros(1)
    nodes: dict[int | str, int] = {i: i for i in range(len(character.skeleton))}
    for i, name in enumerate(character.skeleton.names):
        nodes.setdefault(name, i)
    for i, track in enumerate(clip.tracks):
        node = nodes.get(track.target)
        if track.path not in ("translation", "rotation") or node is None:
            reason = "moves nothing here" if node is None else "cannot be said in a BVH"
            message = f"{track.path} of {str(track.target)[:60]!r} {reason}; left out"
            notes.append(Note("track-dropped", message, f"tracks[{i}]"))
            continue
        if track.interpolation == "CUBICSPLINE" or (
            track.key_count > 1 and track.interpolation != "LINEAR"
        ):
            raise UnsupportedError(f"{clip.name!r}: {_WHY}, found {track.interpolation} keys")
        if track.key_count > 1:
            if len(times) > 1 and not np.array_equal(times, track.times):
                raise UnsupportedError(f"{clip.name!r}: {_WHY}, found nodes with other times")
            times = track.times
        moving.setdefault((node, track.path), track)
    steps = np.diff(times)
    if len(steps) and np.abs(steps - steps.mean()).max() > 1e-3 * steps.mean():
        raise UnsupportedError(f"{clip.name!r}: {_WHY}, found uneven times")
    return moving, float(steps.mean()) if len(steps) else FRAME_TIME, len(times)


_WHY = "a BVH needs a key of every node in every frame (bake the motion first)"


def _values(track: Track | None, rest: Array, frames: int) -> Array:
    """(F, C) values of a track, or rest."""
    if track is None:
        return np.tile(rest, (frames, 1))
    values = track.values.astype(np.float64) + (rest if track.relative else 0)
    return np.tile(values, (frames, 1)) if len(values) == 1 else values


def _depth_first(character: Character) -> list[int]:
    children: list[list[int]] = [[] for _ in range(len(character.skeleton) + 1)]
    for node, parent in enumerate(character.skeleton.parents.tolist()):
        children[parent].append(node)  # those of -1 are at the end
    waiting, order = children[-1][::-1], []
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += children[node][::-1]
    return order


def _ends(character: Character, moving: set[int]) -> set[int]:
    """Nodes that are the end of a joint of the same name, as `character_from_bvh` made them."""
    skeleton = character.skeleton
    parents = skeleton.parents.tolist()
    bearers = set(parents)
    return {
        node
        for node, (name, parent) in enumerate(zip(skeleton.names, parents, strict=True))
        if parent >= 0 and name == f"{skeleton.names[parent]} end"
        if node not in moving and node not in bearers
    }
