"""dm_control #555: near gimbal lock the Euler angles of a matrix were those of another rotation.

https://github.com/google-deepmind/dm_control/issues/555
"""

import numpy as np
import pytest

from bunraku.rotation import from_euler, quaternion, to_euler


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("off", [0, 1e-9, 1e-4])
def test_angles_at_the_pole_are_the_same_rotation(order, sign, off):
    angles = np.array(
        [[a, sign * (np.pi / 2 - off), b] for a in (-2, 0.5, 3) for b in (-1, 0, 2.5)]
    )
    matrix = quaternion.to_matrix(from_euler(angles, order))
    again = from_euler(to_euler(quaternion.from_matrix(matrix), order), order)
    np.testing.assert_allclose(quaternion.to_matrix(again), matrix, atol=1e-8)
