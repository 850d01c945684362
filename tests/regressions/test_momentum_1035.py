"""momentum #1035: all hits along a ray came in no order.

https://github.com/facebookresearch/momentum/issues/1035
"""

import numpy as np

from bunraku.query import Bvh


def test_all_hits_come_sorted():
    rng = np.random.default_rng(0)
    v = rng.random((3000, 3)).astype(np.float32)
    tree = Bvh(v, np.arange(3000).reshape(-1, 3))
    o, d = rng.random((100, 3)), rng.standard_normal((100, 3))
    found = tree.all_hits(o, d)
    assert len(found.t) > 1000
    for ray in range(100):
        t = found.t[found.of(ray)]
        assert (np.diff(t) >= 0).all()
    first = found.t[found.first[:-1][np.diff(found.first) > 0]]
    hits = tree.closest_hit(o, d)
    assert (first == hits.t[hits.hit]).all()
