"""Clips made of poses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model import Character, Clip, Path, Pose, Track
from bunraku.model.arrays import Float64, checked, selected


def clip_from_pose(
    pose: Pose,
    times: npt.ArrayLike,
    character: Character,
    name: str,
    *,
    nodes: npt.ArrayLike | None = None,
) -> Clip:
    """Return a clip of LINEAR tracks with a key for every frame of a pose.

    Only what differs from the character's rest, as float32, in any frame gets a track; a figure
    at rest throughout gives a clip without tracks. Signs of rotations are chosen so that
    neighbouring keys lie on the same side: a player that interpolates without looking takes the
    shorter arc, too.

    Args:
        pose: F frames of this character.
        times: (F,) seconds, strictly increasing.
        character: whose rest pose it is.
        name: of the clip.
        nodes: which to write, with their morph weights: indices or (N,) bool, as of `joint_mask`;
            all if None.

    Raises:
        RigError: a pose of another character, times that do not increase or are not F, a node
            that does not exist.

    >>> from bunraku.model import Skeleton
    >>> puppet = Character(Skeleton(("root", "hand"), [-1, 0]))
    >>> still = puppet.rest_pose()
    >>> raised = Pose(still.translations + [[0, 0, 0], [0, 1, 0]], still.rotations, still.scales)
    >>> [(track.target, track.path) for track in clip_from_pose(raised, [0], puppet, "up").tracks]
    [(1, 'translation')]
    """
    rest = character.rest_pose()
    found, expected = _extent(pose), _extent(rest)
    if found != expected:
        raise RigError(
            f"pose: {found[0]} nodes and morph weights of widths {found[1]}, "
            f"but the character has {expected[0]} and {expected[1]}"
        )
    moments = checked(times, np.float64, (pose.frames,), "times")
    if (np.diff(moments) <= 0).any():
        at = int(np.flatnonzero(np.diff(moments) <= 0)[0]) + 1
        raise RigError(
            f"times[{at}]: expected strictly increasing times, "
            f"found {moments[at]} after {moments[at - 1]}"
        )
    count = expected[0]
    chosen = selected(np.arange(count) if nodes is None else nodes, count, "nodes", "node")
    if pose.frames == 0:
        return Clip(name, ())
    tracks: list[Track] = []
    attachments = {attachment.node: i for i, attachment in enumerate(character.attachments)}
    for node in chosen.tolist():
        tracks += _tracks_of(node, pose, rest, moments)
        if node in attachments:
            i = attachments[node]
            weights, still = pose.morph_weights[i], rest.morph_weights[i][0]
            tracks += _track(node, "weights", moments, weights, still)
    return Clip(name, tuple(tracks))


def _extent(pose: Pose) -> tuple[int, list[int]]:
    return pose.translations.shape[1], [weights.shape[1] for weights in pose.morph_weights]


def _tracks_of(node: int, pose: Pose, rest: Pose, times: Float64) -> list[Track]:
    still = rest.rotations[0, node]
    turns = _on_one_side(pose.rotations[:, node], still)
    return [
        *_track(node, "translation", times, pose.translations[:, node], rest.translations[0, node]),
        *_track(node, "rotation", times, turns, still),
        *_track(node, "scale", times, pose.scales[:, node], rest.scales[0, node]),
    ]


def _track(node: int, path: Path, times: Float64, values: Float64, still: Float64) -> list[Track]:
    """The track as a list of one; empty when nothing differs from rest."""
    keys = values.astype(np.float32)
    if (keys == still.astype(np.float32)).all():
        return []
    return [Track(node, path, times, keys)]


def _on_one_side(keys: Float64, start: Float64) -> Float64:
    """Quaternions (F, 4) with the signs that follow on from `start` without a jump."""
    dots = (keys * np.concatenate([start[None], keys[:-1]])).sum(axis=1)
    return keys * np.cumprod(np.where(dots < 0, -1.0, 1.0))[:, None]
