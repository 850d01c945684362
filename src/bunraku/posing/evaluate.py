"""The whole way from a pose as it was asked for to what stands where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.model import Character, Pose
from bunraku.model.arrays import Float64
from bunraku.posing.axes import on_fixed_axes
from bunraku.posing.constraints import constrain
from bunraku.posing.expressions import applied
from bunraku.posing.solve import solve
from bunraku.rotation import quaternion


def evaluate(character: Character, pose: Pose) -> tuple[Pose, Float64]:
    """Return the pose with all that comes before its rig, and (F, N, 3, 4) global transforms.

    Fixed axes, then expressions, then the rig (`solve`). Gaze and springs are steps of their own.

    Args:
        pose: F frames of the character, as sampled or made by hand.

    Raises:
        RigError: the pose is not of this character.

    >>> from bunraku.model import Skeleton
    >>> puppet = Character(Skeleton(("root",), [-1]))
    >>> evaluate(puppet, puppet.rest_pose())[1].shape
    (1, 1, 3, 4)
    """
    asked = applied(character, on_fixed_axes(character.rig, pose))
    return asked, solve(character.skeleton, character.rig, asked)


def resolved(character: Character, pose: Pose) -> Pose:
    """Return the pose with everything worked out, for who knows neither expressions nor rigs.

    Forward kinematics alone then leads to the transforms of `evaluate`: what appends, inverse
    kinematics and constraints do is in local translations and rotations. Expressions are in the
    morph weights, and 0.

    Args:
        pose: F frames of the character, as sampled or made by hand.

    Raises:
        RigError: the pose is not of this character.

    >>> from bunraku.model import Append, Rig, Skeleton
    >>> pair = Skeleton(("lead", "follow"), [-1, -1])
    >>> rig = Rig(layers=[0, 0], appends=(Append(1, 0, 1.0),))
    >>> turned = Pose(np.zeros((1, 2, 3)), [[[0, 0, 0.6, 0.8], [0, 0, 0, 1]]], np.ones((1, 2, 3)))
    >>> resolved(Character(pair, rig=rig), turned).rotations[0, 1]
    array([0. , 0. , 0.6, 0.8])
    """
    rig, skeleton = character.rig, character.skeleton
    asked = applied(character, on_fixed_axes(rig, pose))
    if asked.expressions.any():
        asked = replace(asked, expressions=np.zeros_like(asked.expressions))
    if rig is None or rig.layers is None:
        return asked if rig is None else constrain(skeleton, rig, asked)
    world = solve(skeleton, rig, asked)
    turns, places = world[..., :3].copy(), world[..., 3].copy()
    nodes = np.flatnonzero(skeleton.parents >= 0)
    above = world[:, skeleton.parents[nodes]]
    flat = np.linalg.det(above[..., :3]) == 0  # below a scale of 0 nothing is to be seen
    back = np.linalg.inv(np.where(flat[..., None, None], np.eye(3), above[..., :3]))
    turns[:, nodes] = back @ turns[:, nodes]
    places[:, nodes] = (back @ (places[:, nodes] - above[..., 3])[..., None])[..., 0]
    hidden = (asked.scales == 0).any(axis=-1)
    hidden[:, nodes] |= flat
    turns /= np.where(hidden[..., None], 1, asked.scales)[..., None, :]
    turns[hidden] = np.eye(3)
    rotations = quaternion.from_matrix(turns).astype(np.float64)
    return replace(asked, translations=places, rotations=rotations)
