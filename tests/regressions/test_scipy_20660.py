"""SciPy #20660: aligning (-1, 0, 0) with (1, 0, 0) gave the identity instead of a half turn.

https://github.com/scipy/scipy/issues/20660
"""

import numpy as np
import pytest

from bunraku.rotation import align_vectors, between_vectors, quaternion


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_opposite_vectors_are_aligned_by_half_a_turn(axis, dtype):
    a = np.eye(3, dtype=dtype)[axis]
    for q in (align_vectors([-a], [a]), between_vectors(-a, a)):
        np.testing.assert_allclose(quaternion.rotate(q, -a), a, atol=1e-6)
        np.testing.assert_allclose(quaternion.to_axis_angle(q)[1], np.pi, rtol=1e-6)
