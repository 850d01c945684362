"""tinybvh #286: a ray along an axis that lies in a face of a box missed it.

https://github.com/jbikker/tinybvh/issues/286
"""

import itertools

import numpy as np
import pytest

from bunraku.query import Bvh
from bunraku.query.shapes import ray_box


@pytest.mark.parametrize("width", [2, 8])
def test_rays_in_faces_and_along_edges_count(width):
    low = np.array([[0, 0, 0], [10, 0, 0], [0, 10, 0], [0, 0, 10]], np.float32)
    tree = Bvh.of_boxes(low, low + 1, width=width, leaf_size=1)
    for axis, (a, b) in itertools.product(range(3), itertools.product([0, 0.5, 1], repeat=2)):
        direction = np.eye(3)[axis]
        origin = np.insert(np.array([a, b], float), axis, -2)
        hits = tree.closest_hit(origin, direction)
        assert (float(hits.t), int(hits.primitive)) == (2, 0)
        enter, leave = ray_box(origin, direction, [0, 0, 0], [1, 1, 1])
        assert (float(enter), float(leave)) == (2, 3)


def test_a_ray_in_the_plane_of_a_node_meets_what_lies_there():
    v = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], np.float32)  # in the plane y = 0
    many = np.concatenate([v + [i, 0, 0] for i in range(20)])
    faces = np.arange(60).reshape(-1, 3)
    hits = Bvh(many, faces, leaf_size=1).closest_hit([4.25, 5, 0.25], [0, -1, 0])
    assert (float(hits.t), int(hits.primitive)) == (5, 4)
