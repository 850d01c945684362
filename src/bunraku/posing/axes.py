"""Nodes that turn about one axis of their own only (MMD's 軸固定)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.model import Pose, Rig
from bunraku.rotation import quaternion


def on_fixed_axes(rig: Rig | None, pose: Pose) -> Pose:
    """Return the pose with every node that has a fixed axis turned about that axis.

    By its whole angle, in the sense that its rotation has along the axis; none where the axis is
    (0, 0, 0). This comes before expressions: what they, appends and IK add is not bound to the
    axis (babylon-mmd).

    Returns:
        The same object where there are no fixed axes.

    >>> from bunraku.model import FixedAxis
    >>> bent = Pose([[[0, 0, 0]]], [[[0.36, 0.48, 0, 0.8]]], [[[1, 1, 1]]])
    >>> on_fixed_axes(Rig(fixed_axes=(FixedAxis(0, np.array([1, 0, 0])),)), bent).rotations[0]
    array([[0.6, 0. , 0. , 0.8]])
    """
    if rig is None or not rig.fixed_axes:
        return pose
    nodes = [fixed.node for fixed in rig.fixed_axes]
    axes = np.stack([fixed.axis for fixed in rig.fixed_axes])
    turns = pose.rotations[:, nodes]
    sense = np.where((turns[..., :3] * axes).sum(axis=-1) < 0, -1.0, 1.0)
    sine = sense * np.linalg.norm(turns[..., :3], axis=-1)
    fixed = np.concatenate([sine[..., None] * axes, turns[..., 3:]], axis=-1)
    fixed[:, ~axes.any(axis=1)] = quaternion.identity()
    rotations = np.array(pose.rotations)
    rotations[:, nodes] = fixed
    return replace(pose, rotations=rotations)
