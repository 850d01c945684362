"""Formulas for single shapes."""

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.query import shapes

UNIT = [-1, -1, -1], [1, 1, 1]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: shapes.ray_box([0, 0], [1, 0, 0], *UNIT), r"origins: expected shape \(…, 3\)"),
        (lambda: shapes.ray_plane([0, 0, 0], ["x"], [0, 0, 1], 0), "directions: expected numbers"),
        (lambda: shapes.ray_plane([0] * 3, [0] * 3, [0, 0, 1], "x"), "offset: expected numbers"),
        (lambda: shapes.ray_sphere([0] * 3, [0] * 3, [0] * 3, 1j), "radius: expected numbers"),
        (lambda: shapes.boxes_overlap([[0] * 3, [0]], *[[0] * 3] * 3), "expected a regular array"),
    ],
)
def test_nonsense_is_refused(ask, message):
    with pytest.raises(RigError, match=message):
        ask()


def test_the_union_of_two_boxes():
    low, high = shapes.box_union([-1, -1, -1], [1, 1, 1], [0, 0, 2], [3, 2, 5])
    assert (low.tolist(), high.tolist()) == ([-1, -1, -1], [3, 2, 5])


def test_a_ray_through_a_box_and_one_beside_it():
    enter, leave = shapes.ray_box([[-3, 0, 0], [-3, 5, 0]], [1, 0, 0], *UNIT)
    assert (enter.tolist(), leave.tolist()) == ([2, np.inf], [4, -np.inf])


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_ray_in_a_face_or_along_an_edge_meets_the_box(zero):
    for side in (-1, 1):
        for origin in ([-3, side, 0], [-3, side, side]):
            enter, leave = shapes.ray_box(origin, [1, zero, zero], *UNIT)
            assert (float(enter), float(leave)) == (2, 4)
    enter, _ = shapes.ray_box([-3, np.nextafter(1, 2), 0], [1, zero, zero], *UNIT)
    assert enter == np.inf


def test_denormal_directions_and_degenerate_boxes():
    enter, leave = shapes.ray_box([-3, 0, 0], [1, 5e-324, -5e-324], *UNIT)
    assert (float(enter), float(leave)) == (2, 4)
    assert shapes.ray_box([0, 0, 0], [0, 0, 0], *UNIT)[0] == np.inf
    assert shapes.ray_box([-1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0])[0] == 1
    assert shapes.ray_box([-1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0])[0] == np.inf


def test_planes():
    t = shapes.ray_plane(
        [[0, 0, 3], [0, 0, 3], [0, 0, 1]], [[0, 0, -2], [1, 0, 0], [1, 0, 0]], [0, 0, 1], 1
    )
    assert t.tolist() == [1, np.inf, 0]


def test_spheres():
    enter, leave = shapes.ray_sphere(
        [[-3, 0, 0], [-3, 1, 0], [-3, 1.01, 0]], [1, 0, 0], [0, 0, 0], 1
    )
    assert (enter.tolist(), leave.tolist()) == ([2, 3, np.inf], [4, 3, -np.inf])
    assert shapes.ray_sphere([0, 0, 0], [0, 0, 0], [0, 0, 0], 1)[0] == np.inf
    far = shapes.ray_sphere([-1e8, 0.5, 0], [1, 0, 0], [0, 0, 0], 1)
    assert far[1] - far[0] == pytest.approx(2 * 0.75**0.5, abs=1e-7)


def test_triangles_share_their_edges():
    a, b, c = np.random.default_rng(0).standard_normal((3, 3))
    d = a + c - b  # across the edge from b
    share = np.random.default_rng(1).random((1000, 1))
    origin = np.array([0.3, 0.2, 9])
    aims = a + share * (c - a) - origin
    hits = [np.isfinite(shapes.ray_triangle(origin, aims, *t)[0]) for t in ((a, b, c), (a, c, d))]
    assert (hits[0] | hits[1]).all()
    t, u, v = shapes.ray_triangle(
        [0.25, 0.5, 1], [[0, 0, -1], [0, 0, 1], [1, 0, 0]], [0, 0, 0], [1, 0, 0], [0, 1, 0]
    )
    assert (t.tolist(), u.tolist(), v.tolist()) == ([1, -1, np.inf], [0.25, 0.25, 0], [0.5, 0.5, 0])
