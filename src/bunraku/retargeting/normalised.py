"""A VRM animation on a VRM, key by key (VRMC_vrm_animation 1.0).

Between T-poses, how a bone has turned since rest can be said without its own axes: with W the
world rotation of a bone at rest and P that of its parent, the local rotation q is, normalised,
N = P q W⁻¹, and on another figure P⁻¹ N P L = P⁻¹ N W. All of that is linear in q: keys stay
keys, at their times, with their interpolation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.errors import Note
from bunraku.model import Clip, Track
from bunraku.model.arrays import Float64
from bunraku.model.humanoid import PARENTS
from bunraku.motion import bind, sample
from bunraku.retargeting.figure import Figure, product
from bunraku.rotation import quaternion


def normalised_tracks(
    motion: Clip, source: Figure, target: Figure, fps: float
) -> tuple[list[Track], list[Note]]:
    """The bones' tracks on the target; what it has no bone for turns the bones below.

    Bones that have to take up others' turns, which cannot be said by keys, are sampled at all key
    times and `fps` times a second.
    """
    bone_of = {node: bone for bone, node in source.bones.items()}
    turning: dict[str, Track] = {}
    moving: Track | None = None
    for track in motion.tracks:
        bone = bone_of.get(_node(track, source))
        if bone is not None and track.path == "rotation":
            turning.setdefault(bone, track)
        elif bone == "hips" and track.path == "translation":
            moving = moving or track
    tracks: list[Track] = []
    taken: set[str] = set()
    for bone, node in target.bones.items():
        merged = [bone]
        while (above := PARENTS[merged[0]]) is not None and above not in target.bones:
            merged.insert(0, above)
        turned = [each for each in merged if each in turning]
        taken.update(turned)
        if turned == [bone]:
            track = turning[bone]
            values = _turned(track.values.astype(np.float64), source, target, bone, node)
            tracks.append(replace(track, target=node, values=values.astype(np.float32)))
        elif turned:
            tracks.append(_merged(motion, [turning[b] for b in turned], source, target, node, fps))
    if moving is not None:
        tracks.append(_moved(moving, source, target))
    lost = sorted(set(turning) - taken)
    notes = []
    if lost:
        message = f"the figure has no {', '.join(lost)}, nor anything below: left out"
        notes.append(Note("bone-missing", message))
    return tracks, notes


def _node(track: Track, source: Figure) -> int:
    if isinstance(track.target, int):
        return track.target
    names = source.character.skeleton.names
    return names.index(track.target) if track.target in names else -1


def _turned(local: Float64, source: Figure, target: Figure, bone: str, node: int) -> Float64:
    """Local rotations of a bone on the target from those on the source."""
    own = source.bones[bone]
    turn = product(source.parent_turn(own), local, quaternion.conjugate(source.turns[own]))
    return product(quaternion.conjugate(target.parent_turn(node)), turn, target.turns[node])


def _merged(
    motion: Clip, turning: list[Track], source: Figure, target: Figure, node: int, fps: float
) -> Track:
    """One track for several bones of the source, uppermost first."""
    times = [track.times for track in turning]
    start, end = min(t[0] for t in times), max(t[-1] for t in times)
    grid = np.arange(np.ceil(start * fps), np.floor(end * fps) + 1) / fps
    moments = np.unique(np.concatenate([*times, grid]))
    bound = bind(replace(motion, tracks=tuple(turning)), source.character)
    rotations = sample(bound, moments).rotations
    turn = quaternion.identity(len(moments)).astype(np.float64)
    for track in turning:
        own = _node(track, source)
        back = quaternion.conjugate(source.turns[own])
        turn = product(turn, source.parent_turn(own), rotations[:, own], back)
    values = product(quaternion.conjugate(target.parent_turn(node)), turn, target.turns[node])
    return Track(node, "rotation", moments, values.astype(np.float32))


def _moved(track: Track, source: Figure, target: Figure) -> Track:
    """World positions of the hips, scaled by the heights of the hips."""
    own, node = source.bones["hips"], target.bones["hips"]
    heights = source.rest[own, 1, 3], target.rest[node, 1, 3]
    ratio = heights[1] / heights[0] if min(heights) > 0 else 1.0
    there, here = source.parent_rest(own), target.parent_rest(node)
    back = np.linalg.inv(here[:, :3])
    linear = ratio * back @ there[:, :3]
    offset = back @ (ratio * there[:, 3] - here[:, 3])
    values = track.values.astype(np.float64) @ linear.T
    if track.interpolation == "CUBICSPLINE":
        values[:, 1] += offset  # tangents have no place
    else:
        values += offset
    return replace(track, target=node, values=values.astype(np.float32))
