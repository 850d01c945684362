"""No ray passes between the triangles of a closed mesh."""

import numpy as np
import pytest

from bunraku.query import Bvh
from tests.query.scenes import icosphere

SPHERE = icosphere(6, 0.05)  # 81,920 triangles, 40,962 vertices


def targets():
    v, f = SPHERE
    edges = np.unique(np.sort(f[:, [[0, 1], [1, 2], [2, 0]]], axis=-1).reshape(-1, 2), axis=0)
    rng = np.random.default_rng(0)
    share = rng.random((len(edges), 1), dtype=np.float32)
    yield "vertices", v
    yield "middles of edges", v[edges].mean(axis=1, dtype=np.float32)
    yield "points on edges", v[edges[:, 0]] * share + v[edges[:, 1]] * (1 - share)


@pytest.mark.parametrize(("what", "points"), list(targets()), ids=[w for w, _ in targets()])
def test_rays_at_edges_and_vertices_always_hit(what, points):
    tree = Bvh(*SPHERE)
    rng = np.random.default_rng(1)
    rays = misses = 0
    for start in (
        [0, 0, 0],
        [0.3, -0.2, 0.1],
        rng.uniform(-0.4, 0.4, 3),
        rng.uniform(-0.4, 0.4, 3),
    ):
        origin = np.asarray(start, np.float32)
        hits = tree.closest_hit(origin, points - origin)
        misses += int((~hits.hit).sum())
        misses += int((~tree.any_hit(origin, points - origin)).sum())
        rays += 2 * len(points)
        assert np.isclose(hits.t, 1, atol=0.2).all()
    assert misses == 0
    assert rays > 300_000  # with the other targets, more than a million


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_every_crossing_of_a_closed_surface_has_its_exit(scale, offset):
    v, f = icosphere(4, 0.05)
    moved = (v * np.float64(scale) + offset * scale).astype(np.float32)
    tree = Bvh(moved, f)
    points = np.concatenate([moved, moved.mean(0) + 0.5 * (moved - moved.mean(0))])
    outside = tree.winding(points + np.float32([0, 0, 5 * scale]))
    assert (outside == 0).all()
    below = tree.winding(points - np.float32([0, 0, 5 * scale]))
    assert (below == 0).all()  # through the whole body, many aimed at vertices and edges
