"""Node constraints: a node follows the turn of another, or points at it (VRMC_node_constraint 1.0).

With L the rest rotation of the node, S0 and S the source's at rest and now, all local, and P the
world rotation of the node's parent now, each constraint has a target that the node reaches by its
weight, slerp(L, target, weight):

* rotation: L S0⁻¹ S
* roll: L twist(L⁻¹ S S0⁻¹ L), the twist about one axis of the node
* aim: P⁻¹ from_to(P L axis, source − node) P L
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model import AimConstraint, Constraint, Pose, Rig, RollConstraint, Skeleton
from bunraku.model.arrays import Float64
from bunraku.model.rig import constraint_order
from bunraku.rotation import between_vectors, quaternion, slerp, swing_twist

# Rigs and skeletons never change, so their order is worked out once.
_orders: WeakKeyDictionary[Rig, WeakKeyDictionary[Skeleton, list[int]]] = WeakKeyDictionary()
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def constrain(skeleton: Skeleton, rig: Rig, pose: Pose) -> Pose:
    """Return the pose with the rig's constraints obeyed: they set local rotations.

    World rotations are products of local ones: VRM allows uniform, positive scales only. A node
    that is asked to aim at its own place stays as it is at rest.

    Args:
        rig: whose constraints, in any order; see `model.rig.constraint_order`.
        pose: F frames of the skeleton, gaze and expressions already in it.

    Returns:
        The same object where there are no constraints.

    Raises:
        RigError: constraints that wait for each other, or a pose of another skeleton.

    >>> from bunraku.model import RotationConstraint
    >>> pair = Skeleton(("lead", "follow"), [-1, -1])
    >>> rig = Rig(constraints=(RotationConstraint(1, 0),))
    >>> turned = Pose(np.zeros((1, 2, 3)), [[[0, 0, 1, 0], [0, 0, 0, 1]]], np.ones((1, 2, 3)))
    >>> constrain(pair, rig, turned).rotations[0, 1]
    array([0., 0., 1., 0.])
    """
    if not rig.constraints:
        return pose
    if pose.translations.shape[1] != len(skeleton):
        raise RigError(
            f"pose: {pose.translations.shape[1]} nodes, but the skeleton has {len(skeleton)}"
        )
    rotations = np.array(pose.rotations)
    orders = _orders.setdefault(rig, WeakKeyDictionary())
    if skeleton not in orders:
        orders[skeleton] = constraint_order(skeleton, rig.constraints)
    for i in orders[skeleton]:
        constraint = rig.constraints[i]
        rest = skeleton.rotations[constraint.node]
        target = _target(skeleton, constraint, pose, rotations)
        rotations[:, constraint.node] = slerp(rest, target, constraint.weight)
    return replace(pose, rotations=rotations)


def _upward(skeleton: Skeleton, node: int) -> list[int]:
    """The node and its ancestors; none for -1."""
    nodes = []
    while node >= 0:
        nodes.append(node)
        node = int(skeleton.parents[node])
    return nodes


def _target(skeleton: Skeleton, constraint: Constraint, pose: Pose, rotations: Float64) -> Float64:
    """(F, 4) what the node would be turned to at full weight."""
    rest = skeleton.rotations[constraint.node]
    if isinstance(constraint, AimConstraint):
        return _aimed(skeleton, constraint, pose, rotations)
    source = rotations[:, constraint.source]
    back = quaternion.conjugate(skeleton.rotations[constraint.source])
    if not isinstance(constraint, RollConstraint):
        return _product(rest, back, source)
    turn = _product(quaternion.conjugate(rest), source, back, rest)
    return _product(rest, swing_twist(turn, _AXES[constraint.axis])[1])


def _aimed(
    skeleton: Skeleton, constraint: AimConstraint, pose: Pose, rotations: Float64
) -> Float64:
    rest = skeleton.rotations[constraint.node]
    parent = int(skeleton.parents[constraint.node])
    sign = 1.0 if constraint.axis[0] == "+" else -1.0
    above, _ = _world(skeleton, pose, rotations, parent)
    aligned = _product(above, rest)
    axis = quaternion.rotate(aligned, np.multiply(_AXES[constraint.axis[1]], sign))
    _, start = _world(skeleton, pose, rotations, constraint.node)
    _, end = _world(skeleton, pose, rotations, constraint.source)
    way = end - start
    nowhere = (way == 0).all(axis=1, keepdims=True)
    turn = between_vectors(axis, np.where(nowhere, axis, way))
    return _product(quaternion.conjugate(above), turn, aligned)


def _world(
    skeleton: Skeleton, pose: Pose, rotations: Float64, node: int
) -> tuple[Float64, Float64]:
    """World rotation (F, 4) and position (F, 3) of a node; the origin for -1."""
    turn = quaternion.identity(pose.frames)
    position = np.zeros((pose.frames, 3))
    for at in _upward(skeleton, node):
        moved = quaternion.rotate(rotations[:, at], pose.scales[:, at] * position)
        position = pose.translations[:, at] + moved
        turn = quaternion.multiply(rotations[:, at], turn)
    return turn.astype(np.float64, copy=False), position


def _product(*turns: npt.ArrayLike) -> Float64:
    return np.asarray(reduce(quaternion.multiply, turns), np.float64)
