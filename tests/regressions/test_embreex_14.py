"""embreex #14: the fields of a miss were those of the hit before it.

https://github.com/trimesh/embreex/issues/14
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("spread", [0, 5])  # neighbours alike walk in groups, others by turns
def test_a_miss_has_fields_of_its_own(spread):
    tree = Bvh([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 0, 0]] * 20 + [[0, 1, 2]])
    o = np.full((400, 3), 0.25)
    o[1::2, 0] = 3
    o[:, 2] -= spread * np.random.default_rng(0).random(400)
    hits = tree.closest_hit(o, [0, 0, 1], normals=True)
    assert (hits.primitive[::2] == 20).all()
    missed = slice(1, None, 2)
    assert (hits.primitive[missed] == -1).all()
    assert np.isposinf(hits.t[missed]).all()
    assert not hits.u[missed].any()
    assert not hits.v[missed].any()
    assert not hits.normal[missed].any()
    near = tree.closest_point([[0.25, 0.25, 0], [9, 9, 9]], max_distance=2)
    assert (near.primitive[1], near.distance[1]) == (-1, np.inf)
    assert not near.point[1].any()
