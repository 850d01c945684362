"""trimesh #2504: how often a ray met a box depended on the box's scale.

https://github.com/mikedh/trimesh/issues/2504
"""

import numpy as np
import pytest

from bunraku.query import Bvh

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SQUARES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
FACES = [f for s in SQUARES for f in ([s[0], s[1], s[2]], [s[0], s[2], s[3]])]


@pytest.mark.parametrize("exponent", range(-4, 9))
def test_each_side_is_met_once_at_every_scale(exponent):
    scale = 10.0**exponent
    tree = Bvh(CORNERS * scale, FACES)
    for axis in range(3):
        for side in (-1, 1):
            direction = side * np.eye(3)[axis]
            start = (np.array([0.1, 0.2, 0.3]) - 3 * direction) * scale
            found = tree.all_hits([start], direction)
            assert len(found.t) == 2
            expected = np.abs(start[axis]) + scale * np.array([-1, 1])
            assert np.allclose(found.t, expected, rtol=1e-6)
            assert tree.inside([0.1 * scale, 0.2 * scale, 0.3 * scale])
