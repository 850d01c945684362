"""svenstaro/bvh #44: triangles without extent made the builder fail.

https://github.com/svenstaro/bvh/issues/44
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("count", [1, 2, 9, 1000])
@pytest.mark.parametrize("builder", ["sah", "median"])
@pytest.mark.parametrize("leaf_size", [1, 8])
def test_nothing_but_points_builds(count, builder, leaf_size):
    v = np.ones((3, 3), np.float32)
    for faces in (np.tile([0, 1, 2], (count, 1)), np.zeros((count, 3), np.int32)):
        tree = Bvh(v, faces, builder=builder, leaf_size=leaf_size)
        assert not tree.any_hit([1, 1, 5], [0, 0, -1])
        assert tree.closest_point([1, 1, 5]).distance == 4
        assert tree.bounds.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_points_beside_a_triangle_do_not_hide_it():
    v = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0]], np.float32)
    faces = np.concatenate([np.full((500, 3), 3), [[0, 1, 2]]])
    assert Bvh(v, faces).closest_hit([0.2, 0.2, 1], [0, 0, -1]).primitive == 500
