"""trimesh #1766: a ray at the diagonal of a quad passed between its two triangles.

https://github.com/mikedh/trimesh/issues/1766
"""

from bunraku.query import Bvh


def test_a_ray_at_the_diagonal_hits():
    corners = [[-1, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]]
    quad = Bvh(corners, [[0, 1, 2], [2, 3, 0]])
    hits = quad.closest_hit([0, 0, 1], [0, 0, -1])
    assert (float(hits.t), int(hits.primitive)) == (1, 0)
    assert quad.count_hits([0, 0, 1], [0, 0, -1]) == 2
    assert quad.cast(0, 0, 1, 0, 0, -1) is not None
