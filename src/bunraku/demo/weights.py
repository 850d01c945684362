"""Weights designed by hand: every function returns rows (V, J) over the figure's joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bunraku.demo.figure import ARM_HEIGHT, ELBOW, HIP, JOINTS, KNEE
from bunraku.model.arrays import Float32, Float64, Int32

INFLUENCES = 4


def smooth_step(t: npt.ArrayLike) -> Float64:
    """0 below −1, 1 above 1, and the cubic with flat ends between.

    >>> smooth_step([-2, -1, 0, 1])
    array([0. , 0. , 0.5, 1. ])
    """
    s = np.clip((np.asarray(t, np.float64) + 1) / 2, 0, 1)
    return np.asarray(s * s * (3 - 2 * s))


def held_by(count: int, joint: str) -> Float64:
    """Everything held rigidly by one joint."""
    rows = np.zeros((count, len(JOINTS)))
    rows[:, JOINTS.index(joint)] = 1
    return rows


def chain(t: Float64, joints: Sequence[str], borders: Sequence[tuple[float, float]]) -> Float64:
    """Hand the surface from joint to joint along a parameter t (V,).

    Between joint k and k + 1 stands border k: (place, half width of the blend). Blends do not
    overlap, so no vertex has more than two influences.
    """
    passed = [np.ones_like(t)]
    passed += [smooth_step((t - place) / half) for place, half in borders]
    passed.append(np.zeros_like(t))
    rows = np.zeros((len(t), len(JOINTS)))
    for k, joint in enumerate(joints):
        rows[:, JOINTS.index(joint)] = passed[k] - passed[k + 1]
    return rows


def arm(points: Float64) -> Float64:
    """The left arm by x. The hand's turn is spread over the forearm, the elbow's bend is short."""
    joints = ("leftUpperArm", "leftLowerArm", "leftHand")
    return chain(points[:, 0], joints, ((ELBOW, 0.055), (0.55, 0.075)))


def leg(points: Float64) -> Float64:
    """The left leg by depth below the hip."""
    joints = ("leftUpperLeg", "leftLowerLeg", "leftFoot")
    return chain(-points[:, 1], joints, ((-KNEE, 0.065), (-0.10, 0.03)))


def trunk(points: Float64) -> Float64:
    """Hips to chest by height; near the armpits the shoulders take over."""
    rows = chain(points[:, 1], ("hips", "spine", "chest"), ((0.94, 0.06), (1.08, 0.075)))
    for side, sign in (("left", 1), ("right", -1)):
        reach = smooth_step((sign * points[:, 0] - 0.115) / 0.05)
        taken = 0.6 * reach * smooth_step((points[:, 1] - 1.19) / 0.06)
        rows *= 1 - taken[:, None]
        rows[:, JOINTS.index(side + "Shoulder")] += taken
    return rows


def sleeve(points: Float64) -> Float64:
    """The left sleeve: chest to upper arm by x, its pocket more and more to the sleeve joint."""
    joints = ("chest", "leftShoulder", "leftUpperArm")
    rows = chain(points[:, 0], joints, ((0.085, 0.03), (0.155, 0.04)))
    below = smooth_step((ARM_HEIGHT - 0.115 - points[:, 1]) / 0.085)
    hanging = 0.85 * below * rows[:, JOINTS.index("leftUpperArm")]
    rows[:, JOINTS.index("leftUpperArm")] -= hanging
    rows[:, JOINTS.index("leftSleeve")] = hanging
    return rows


def skirt(points: Float64) -> Float64:
    """Hips at the waist, the thighs further down, left and right blended across the front."""
    follow = 0.95 * smooth_step((HIP - 0.085 - points[:, 1]) / 0.145)
    left = smooth_step(points[:, 0] / 0.10)
    rows = np.zeros((len(points), len(JOINTS)))
    rows[:, JOINTS.index("hips")] = 1 - follow
    rows[:, JOINTS.index("leftUpperLeg")] = follow * left
    rows[:, JOINTS.index("rightUpperLeg")] = follow * (1 - left)
    return rows


def influences(rows: Float64) -> tuple[Int32, Float32]:
    """The heaviest four of each row (V, J), as joint slots and float32 weights (V, 4).

    Weights are multiples of 2⁻¹⁶ and the heaviest takes what rounding leaves, so that they sum
    to exactly 1 in float32 in any order of addition. Unused slots are joint 0 with weight 0.
    """
    slots = np.argsort(-rows, axis=1, kind="stable")[:, :INFLUENCES]
    kept = np.take_along_axis(rows, slots, axis=1)
    kept = np.rint(kept / kept.sum(axis=1, keepdims=True) * 65536)
    kept[:, 0] = 65536 - kept[:, 1:].sum(axis=1)
    slots = np.where(kept > 0, slots, 0)
    return slots.astype(np.int32), (kept / 65536).astype(np.float32)
