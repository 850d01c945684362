"""trimesh #608: aligning nearly antiparallel vectors gave a reflection or noise.

https://github.com/mikedh/trimesh/issues/608
"""

import numpy as np
import pytest

from bunraku.rotation import align_vectors, between_vectors, quaternion


@pytest.mark.parametrize("off", [0, 1e-17, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("axis", range(3))
def test_nearly_antiparallel_vectors_are_aligned_by_a_rotation(off, axis):
    a = np.roll([1.0, 0, 0], axis)
    b = np.roll([-1.0, off, 0], axis)
    for q in (between_vectors(a, b), align_vectors([a], [b])):
        matrix = quaternion.to_matrix(q)
        np.testing.assert_allclose(np.linalg.det(matrix), 1, rtol=1e-14)
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(matrix @ a, b / np.linalg.norm(b), atol=1e-15)
