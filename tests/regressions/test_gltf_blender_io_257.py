"""glTF-Blender-IO #257: a joint scale of (-1, -1, -1) was lost.

https://github.com/KhronosGroup/glTF-Blender-IO/issues/257
"""

import numpy as np
import pytest

from bunraku.model import Geometry
from bunraku.rotation import quaternion
from bunraku.skinning import deform


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_a_joint_scaled_by_minus_one_mirrors_through_its_origin(method):
    turn = quaternion.to_matrix(quaternion.from_axis_angle([0.6, 0, 0.8], 1.2))
    palette = np.concatenate([-turn, [[1], [2], [3]]], axis=1)[None]
    rig = Geometry(
        [[1, 0, 0], [0.5, -2, 1]],
        [[0, 1, 0], [0, 0, 1]],
        [[1, 0, 0, 1], [1, 0, 0, -1]],
        joints=[[0], [0]],
        weights=[[1], [1]],
    )
    moved = deform(rig, palette, method=method)
    expected = rig.positions @ -turn.T + [1, 2, 3]
    np.testing.assert_allclose(moved.positions[0], expected, atol=1e-6)
    np.testing.assert_allclose(moved.normals[0], rig.normals @ -turn.T, atol=1e-6)
    np.testing.assert_array_equal(moved.tangents[0, :, 3], [-1, 1])
