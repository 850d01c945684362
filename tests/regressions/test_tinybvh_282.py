"""tinybvh #282: a direction component of −0.0 took the far plane for the near one.

https://github.com/jbikker/tinybvh/issues/282
"""

import itertools

import numpy as np
import pytest

from bunraku.query import Bvh
from bunraku.query.shapes import ray_box


@pytest.mark.parametrize("axis", range(3))
def test_a_zero_of_either_sign_is_the_same_direction(axis):
    rng = np.random.default_rng(axis)
    v = rng.random((300, 3)).astype(np.float32)
    f = np.arange(300, dtype=np.int32).reshape(-1, 3)
    low, high = v[:150], v[:150] + np.float32(0.1)
    for sign in (1, -1):
        o = rng.random((200, 3)).astype(np.float32)
        o[:, axis] -= 3 * sign
        o[:100] = v[:100]
        o[:100, axis] -= 3 * sign
        results = []
        for zeros in itertools.product([0.0, -0.0], repeat=2):
            d = np.insert(np.array(zeros), axis, sign)
            results.append(
                [
                    Bvh(v, f).closest_hit(o, d).t,
                    Bvh.of_boxes(low, high).closest_hit(o, d).t,
                    Bvh.of_spheres(low, np.full(150, 0.05)).closest_hit(o, d).t,
                    ray_box(o[:, None], d, low, high)[0],
                ]
            )
        for other in results[1:]:
            assert all((a == b).all() for a, b in zip(results[0], other, strict=True))
        assert np.isfinite(results[0][0]).any()
        assert np.isfinite(results[0][1]).any()
