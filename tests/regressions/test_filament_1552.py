"""filament #1552: a bone scaled in y only needs the full 3×4 matrix, and its cofactors for normals.

https://github.com/google/filament/issues/1552
"""

import numpy as np
import pytest

from bunraku.model import Geometry
from bunraku.rotation import quaternion
from bunraku.skinning import deform


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_a_bone_scaled_in_y_only(method):
    bone = quaternion.to_matrix(quaternion.from_axis_angle([0, 0, 1], 0.7))
    linear = bone @ np.diag([1, 3, 1]) @ bone.T  # scaled along the bone, not along an axis
    slope = np.array([1, 1, 0]) / 2**0.5
    rig = Geometry([[1, 2, 3]], [slope], joints=[[0]], weights=[[1]])
    moved = deform(rig, np.c_[linear, [0, 0, 1]][None], method=method)
    np.testing.assert_allclose(moved.positions[0, 0], linear @ [1, 2, 3] + [0, 0, 1], atol=1e-5)
    normal = np.linalg.inv(linear).T @ slope
    np.testing.assert_allclose(moved.normals[0, 0], normal / np.linalg.norm(normal), atol=1e-6)
