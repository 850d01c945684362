"""godot #89131: dual quaternion skinning came out wrong under non-uniform scale.

https://github.com/godotengine/godot/issues/89131
"""

import numpy as np

from bunraku.model import Geometry
from bunraku.rotation import quaternion
from bunraku.skinning import deform


def test_one_joint_with_non_uniform_scale_moves_as_its_matrix_says():
    turn = quaternion.to_matrix(quaternion.from_axis_angle([0, 1, 0], 2.5))
    linear = turn @ np.diag([0.5, 2, 3])
    points = np.random.default_rng(1).normal(size=(20, 3))
    rig = Geometry(points, joints=[[0]] * 20, weights=[[1]] * 20)
    moved = deform(rig, np.c_[linear, [1, 2, 3]][None], method="dqs").positions[0]
    np.testing.assert_allclose(moved, points @ linear.T + [1, 2, 3], atol=2e-5)


def test_a_bent_and_stretched_limb_keeps_its_stretched_radius():
    """Both joints scale y by 2, and the second turns by 120° about the x axis."""
    stretch = np.diag([1, 2, 2])
    turn = quaternion.to_matrix(quaternion.from_axis_angle([1, 0, 0], 2 * np.pi / 3))
    palette = np.stack([np.c_[stretch, [0, 0, 0]], np.c_[turn @ stretch, [0, 0, 0]]])
    rig = Geometry([[0, 1, 0]], joints=[[0, 1]], weights=[[0.5, 0.5]])
    moved = deform(rig, palette, method="dqs").positions[0, 0]
    np.testing.assert_allclose(moved, [0, 2 * 0.5, 2 * 0.75**0.5], atol=1e-6)
