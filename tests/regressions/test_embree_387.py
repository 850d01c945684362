"""embree #387: a skinny triangle reported a hit far away from where it is.

https://github.com/RenderKit/embree/issues/387
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("thin", [1e-3, 1e-6, 1e-9, 0])
def test_a_hit_lies_within_the_triangle(thin):
    rng = np.random.default_rng(0)
    a, along, aside = rng.standard_normal((3, 2000, 3))
    tri = np.stack([a, a + along, a + rng.random((2000, 1)) * along + thin * aside], axis=1)
    v = tri.reshape(-1, 3).astype(np.float32)
    low, high = v.reshape(-1, 3, 3).min(1), v.reshape(-1, 3, 3).max(1)
    faces = np.arange(len(v)).reshape(-1, 3)
    o = rng.standard_normal((3000, 3)).astype(np.float32) * 3
    # At points of the triangles, so that many of these thin things are hit at all.
    aims = v[faces[rng.integers(2000, size=3000)]].mean(1, dtype=np.float32)
    found = Bvh(v, faces).all_hits(o, aims - o)
    ray = np.repeat(np.arange(3000), np.diff(found.first))
    at = o[ray] + found.t[:, None] * (aims - o)[ray]
    slack = 1e-5 * (1 + np.abs(o[ray]).max(axis=1, keepdims=True))
    assert len(at) > 1000 * (thin > 1e-8)
    assert (at >= low[found.primitive] - slack).all()
    assert (at <= high[found.primitive] + slack).all()
