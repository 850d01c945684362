"""PyTorch3D #413: the logarithm of a half turn about (1, 1, 0) came out as zero or NaN.

https://github.com/facebookresearch/pytorch3d/issues/413
"""

import numpy as np
import pytest

from bunraku.rotation import quaternion


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotation_vector_of_a_half_turn(dtype):
    swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]], dtype=dtype)
    vector = quaternion.to_rotation_vector(quaternion.from_matrix(swap))
    np.testing.assert_allclose(np.abs(vector), [2.2214415, 2.2214415, 0], atol=1e-6)
    np.testing.assert_allclose(
        quaternion.to_matrix(quaternion.from_rotation_vector(vector)), swap, atol=1e-6
    )
