"""Motions of MMD on figures whose rest is turned.

A VMD or VPD speaks of bones without rest rotations, of a figure that faces MMD's front: that is how
`vmd_from_clip` writes the motion of any other. Reading goes the way back: with P the world
rotation of a node's parent at rest and W its own, a turn r in the axes of the world is P⁻¹ r W on
the node; an offset o is P⁻¹ o, with P scaled as the parent is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.formats.mmd.to_vmd import curves_along, parent_axes, rest_turns
from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.model.arrays import Float64
from bunraku.motion import bind, sample
from bunraku.motion.targets import Targets
from bunraku.retargeting.figure import product
from bunraku.rotation import quaternion

_FRAMES = 30.0


def on_rest_axes(clip: Clip, character: Character) -> Clip:
    """A motion of MMD as the tracks of a character whose nodes it names.

    Keys stay keys with their curves. Only a translation whose axes have different curves, on a
    node whose axes are none of the world's, gets a key for every frame.
    """
    parents, own, plain = rest_turns(character)
    axes = parent_axes(character)
    if plain.all() and (axes == np.eye(3)).all():
        return clip
    targets = Targets(character)
    half = np.array([0.0, 0, 0, 1] if character.facing == "+Z" else [0.0, 1, 0, 0])
    tracks = []
    for track in clip.tracks:
        nodes = targets.of(track).indices
        if track.path not in ("translation", "rotation") or not nodes:
            tracks.append(track)
            continue
        node = nodes[0]
        back = product(quaternion.conjugate(parents[node]), half)
        if track.path == "rotation":
            forth = product(quaternion.conjugate(half), own[node])
            turned = product(back, track.values.astype(np.float64), forth)
            tracks.append(replace(track, values=turned.astype(np.float32)))
        elif track.relative:
            tracks.append(_turned(track, np.linalg.pinv(axes[node])))
        else:
            tracks.append(track)
    return replace(clip, tracks=tuple(tracks))


def _turned(track: Track, axes: Float64) -> Track:
    """A relative translation in other axes."""
    if track.curves is not None:
        curves = curves_along(axes, track.curves)
        track = _each_frame(track) if curves is None else replace(track, curves=curves)
    values = track.values.astype(np.float64) @ axes.T
    return replace(track, values=values.astype(np.float32))


def _each_frame(track: Track) -> Track:
    """The same way with straight lines, from frame to frame."""
    first, last = np.rint(track.times[[0, -1]] * _FRAMES)
    times = np.unique(np.concatenate([track.times, np.arange(first, last + 1) / _FRAMES]))
    point = Character(Skeleton(("",), np.array([-1], np.int32)))
    way = sample(bind(Clip("", (replace(track, target=0),)), point), times).translations[:, 0]
    return Track(track.target, "translation", times, way.astype(np.float32), relative=True)
