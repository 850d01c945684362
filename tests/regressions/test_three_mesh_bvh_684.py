"""three-mesh-bvh #684: a grazing ray found another triangle than testing all of them.

https://github.com/gkjohnson/three-mesh-bvh/issues/684
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("slope", [0, 1e-9, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("offset", [0, 1000])
def test_grazing_rays_find_what_testing_every_triangle_finds(slope, offset):
    rng = np.random.default_rng(0)
    n = 40
    x, y = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n)))
    z = 1e-6 * rng.standard_normal(n * n)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate(
        [
            np.stack([corner, corner + 1, corner + n], 1),
            np.stack([corner + 1, corner + n + 1, corner + n], 1),
        ]
    )
    sheet = (np.stack([x, y, z], axis=1) + offset).astype(np.float32)
    tree = Bvh(sheet, faces)
    turn = rng.uniform(0, 2 * np.pi, 2000)
    d = np.stack([np.cos(turn), np.sin(turn), np.full(2000, -slope)], axis=1)
    o = np.array([n / 2, n / 2, 0]) + offset - d * rng.uniform(0, 40, (2000, 1))
    hits, by_force = tree.closest_hit(o, d), tree.closest_hit(o, d, by_force=True)
    assert (hits.primitive == by_force.primitive).all()
    assert (hits.t == by_force.t).all()
    assert (tree.count_hits(o, d) == np.diff(tree.all_hits(o, d).first)).all()
