"""pytransform3d #218: a float32 rotation was refused ("determinant should be 1 but is 1").

https://github.com/dfki-ric/pytransform3d/issues/218
"""

import numpy as np

from bunraku.rotation import quaternion


def test_rotations_with_float32_rounding_are_rotations():
    rng = np.random.default_rng(218)
    turns = quaternion.to_matrix(quaternion.normalize(rng.normal(size=(300, 4))))
    product = np.eye(3, dtype=np.float32)
    for turn in turns.astype(np.float32):
        product = turn @ product
        for matrix in (product, product.astype(np.float64), product.astype(np.float64).round(5)):
            back = quaternion.to_matrix(quaternion.from_matrix(matrix))
            np.testing.assert_allclose(back, matrix, rtol=0, atol=2e-5)


def test_determinant_of_the_report():
    scaled = np.eye(3) * np.cbrt(0.99999)
    np.testing.assert_allclose(quaternion.from_matrix(scaled), quaternion.identity(), atol=1e-15)
