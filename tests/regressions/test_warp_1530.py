"""warp #1530: rays down onto the outer edges of a quad missed it.

https://github.com/NVIDIA/warp/issues/1530
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("offset", [0, 100, 4096, 1e6])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_rays_at_the_middles_of_the_sides_hit(offset, turn):
    corners = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]]) + [offset, -offset, 0]
    aims = np.array([[2, 1, 5], [0, 1, 5], [1, 2, 5], [1, 0, 5], [1, 1, 5], [0, 0, 5], [2, 2, 5]])
    rolled = [np.roll(a, turn, axis=-1) for a in (corners, aims + [offset, -offset, 0], [0, 0, -1])]
    hits = Bvh(rolled[0], [[0, 1, 2], [0, 2, 3]]).closest_hit(rolled[1], rolled[2])
    assert hits.t.tolist() == [5] * 7
