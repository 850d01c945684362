"""pytransform3d #365: q and -q are the same rotation, so slerp between them stays there.

https://github.com/dfki-ric/pytransform3d/issues/365
"""

import numpy as np
import pytest

from bunraku.rotation import quaternion, slerp


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slerp_from_q_to_minus_q_is_q(dtype):
    q = quaternion.normalize(np.random.default_rng(365).normal(size=(100, 1, 4)).astype(dtype))
    t = np.linspace(0, 1, 5).astype(dtype)
    path = slerp(q, -q, t)
    np.testing.assert_array_equal(path, np.broadcast_to(q, path.shape))
