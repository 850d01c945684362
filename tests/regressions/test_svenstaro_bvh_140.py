"""svenstaro/bvh #140: a box without extent and a ray with denormals gave NaN.

https://github.com/svenstaro/bvh/issues/140
"""

import itertools

import numpy as np

from bunraku.query import Bvh
from bunraku.query.shapes import ray_box

TINY = [0.0, -0.0, 1e-45, -1e-45, 1.17e-38, 1.0]


def test_points_and_denormals_give_a_number_or_a_miss():
    points = np.array(list(itertools.product([0.0, 1e-45, -1e-38], repeat=3)), np.float32)
    rays = np.array([d for d in itertools.product(TINY, repeat=3) if any(d)], np.float32)
    o, d = (np.repeat(a, n, axis=0) for a, n in ((points, len(rays)), (rays, 1)))
    d = np.tile(d, (len(points), 1))
    tree = Bvh.of_boxes(points, points)
    hits, by_force = tree.closest_hit(o, d), tree.closest_hit(o, d, by_force=True)
    assert not np.isnan(hits.t).any()
    assert (hits.t == by_force.t).all()
    assert (hits.primitive == by_force.primitive).all()
    assert hits.hit.all()  # each starts on a box
    enter, leave = ray_box(o, d, o, o)
    assert not np.isnan(enter).any()
    assert (enter <= leave).all()
