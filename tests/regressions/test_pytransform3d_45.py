"""pytransform3d #45: slerp divided by the sine of a zero angle between equal quaternions.

https://github.com/dfki-ric/pytransform3d/issues/45
"""

import numpy as np
import pytest

from bunraku.rotation import quaternion, slerp


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slerp_between_equal_quaternions_is_that_quaternion(dtype):
    q = quaternion.normalize(np.random.default_rng(45).normal(size=(100, 1, 4)).astype(dtype))
    path = slerp(q, q, np.linspace(-1, 2, 13).astype(dtype))
    np.testing.assert_array_equal(path, np.broadcast_to(q, path.shape))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slerp_between_neighbours_one_rounding_step_apart(dtype):
    a = np.array([0, 0, 0, 1], dtype=dtype)
    b = np.array([np.nextafter(dtype(0), dtype(1)), 0, 0, 1], dtype=dtype)
    assert np.isfinite(slerp(a, b, np.linspace(0, 1, 5).astype(dtype))).all()
