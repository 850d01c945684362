"""Feet put where another figure's feet are: two bones, one hinge, solved in closed form."""

from __future__ import annotations

import numpy as np

from bunraku.model.arrays import Float64
from bunraku.retargeting.figure import Figure, product
from bunraku.rotation import between_vectors, quaternion

# Of the leg's length: a knee that is straighter than this says nothing of the way it bends.
_STRAIGHT = 1e-3
# Of the leg's reach: a leg stretched to the last bit would jump in and out of reach.
_STRETCHED = 1 - 1e-6


def planted(
    target: Figure, side: str, here: Float64, turns: dict[str, Float64], goal: Float64
) -> dict[str, Float64]:
    """World rotations of thigh and shin that bring the ankle to its goal.

    The plane of the knee stays. A goal out of reach is reached for.

    Args:
        side: "left" or "right".
        here: (F, N, 3, 4) world transforms of the target.
        turns: its world rotations, which gave them.
        goal: (F, 3).
    """
    names = [f"{side}{bone}" for bone in ("UpperLeg", "LowerLeg", "Foot")]
    hip, knee, ankle = (here[:, target.bones[name], :, 3] for name in names)
    since_rest = product(
        turns[names[0]], quaternion.conjugate(target.turns[target.bones[names[0]]])
    )
    sideways = np.asarray(quaternion.rotate(since_rest, [1.0, 0, 0]), np.float64)
    bend, swing = _two_bones(hip, knee, ankle, goal, sideways)
    return {
        names[0]: product(swing, turns[names[0]]),
        names[1]: product(swing, bend, turns[names[1]]),
    }


def _two_bones(
    hip: Float64, knee: Float64, ankle: Float64, goal: Float64, sideways: Float64
) -> tuple[Float64, Float64]:
    """Turns (F, 4) of the shin about the knee, then of the whole leg about the hip.

    With u and v the thigh and the shin, |u + v| is to be the distance of the goal: the angle
    between them follows from the law of cosines. `sideways` is the hinge of a straight leg.
    """
    thigh, shin = knee - hip, ankle - knee
    lengths = np.linalg.norm(thigh, axis=-1), np.linalg.norm(shin, axis=-1)
    normal = np.cross(thigh, shin)
    sine = np.linalg.norm(normal, axis=-1)
    straight = sine < _STRAIGHT * lengths[0] * lengths[1]
    across = sideways - _along(sideways, thigh)
    hinge = np.where(straight[:, None], across, normal)
    angle = np.arctan2(np.where(straight, 0, sine), (thigh * shin).sum(axis=-1))
    far = np.clip(
        np.linalg.norm(goal - hip, axis=-1),
        np.abs(lengths[0] - lengths[1]) / _STRETCHED,
        (lengths[0] + lengths[1]) * _STRETCHED,
    )
    cosine = (far**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2 * lengths[0] * lengths[1])
    bend = quaternion.from_axis_angle(hinge, np.arccos(np.clip(cosine, -1, 1)) - angle)
    reached = thigh + quaternion.rotate(bend, shin)
    way = np.where((goal == hip).all(axis=-1, keepdims=True), reached, goal - hip)
    swing = between_vectors(reached, way)
    return product(bend), product(swing)


def _along(vector: Float64, axis: Float64) -> Float64:
    share = (vector * axis).sum(axis=-1, keepdims=True) / (axis * axis).sum(axis=-1, keepdims=True)
    return np.asarray(share * axis, np.float64)
