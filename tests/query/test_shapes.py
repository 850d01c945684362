"""Formulas for single shapes and cameras."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.query import shapes
from bunraku.query.shapes import Camera, orthographic, perspective

UNIT = [-1, -1, -1], [1, 1, 1]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: shapes.ray_box([0, 0], [1, 0, 0], *UNIT), r"origins: expected numbers \(…, 3\)"),
        (lambda: shapes.ray_plane([0, 0, 0], ["x"], [0, 0, 1], 0), "directions: expected numbers"),
        (lambda: perspective(0, 1, 0.1), "perspective: expected 0 < yfov"),
        (lambda: perspective(1, 1, 0.1, 0.1), "znear < zfar"),
        (lambda: perspective(np.nan, 1, 0.1), "perspective"),
        (lambda: orthographic(0, 1, 0, 1), "orthographic: expected magnitudes"),
        (lambda: orthographic(1, 1, 0, np.inf), "orthographic"),
        (lambda: Camera(np.eye(3), np.eye(4), 1, 1), r"projection: expected shape \(4, 4\)"),
        (lambda: Camera(np.eye(4), np.eye(4), 0, 1), "width, height: expected 1 or more"),
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


def view(turn=0.7):
    world = np.eye(4)
    world[:3, :3] = [[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]]
    world[:3, 3] = [1, 2, 3]
    return world


CAMERAS = {
    "perspective": Camera(perspective(0.8, 4 / 3, 0.1, 50), view(), 640, 480),
    "infinite": Camera(perspective(0.8, 4 / 3, 0.1), view(), 640, 480),
    "orthographic": Camera(orthographic(4, 3, 0, 50), view(), 640, 480),
}


@pytest.mark.parametrize("name", CAMERAS)
def test_a_point_in_the_middle_of_the_view_lands_in_the_middle(name):
    camera = CAMERAS[name]
    ahead = camera.world @ [0, 0, -5, 1]
    pixel, depth = camera.project(ahead[:3])
    assert pixel == pytest.approx([320, 240])
    assert -1 < depth < 1
    above, _ = camera.project((camera.world @ [0, 0.5, -5, 1])[:3])
    right, _ = camera.project((camera.world @ [0.5, 0, -5, 1])[:3])
    assert above[1] < 240
    assert right[0] > 320


@pytest.mark.parametrize("name", CAMERAS)
@given(st.tuples(st.floats(0, 640), st.floats(0, 480)), st.floats(-0.9, 0.9))
def test_project_and_unproject_are_inverses(name, pixel, depth):
    camera = CAMERAS[name]
    again, deep = camera.project(camera.unproject(pixel, depth))
    assert again == pytest.approx(pixel, abs=1e-6)
    assert deep == pytest.approx(depth, abs=1e-6)


@pytest.mark.parametrize("name", CAMERAS)
@given(st.tuples(st.floats(0, 640), st.floats(0, 480)), st.floats(0.5, 20))
def test_a_ray_through_a_pixel_projects_back_onto_it(name, pixel, t):
    camera = CAMERAS[name]
    origin, direction = camera.rays(pixel)
    assert np.linalg.norm(direction) == pytest.approx(1)
    assert camera.project(origin + t * direction)[0] == pytest.approx(pixel, abs=1e-6)


def test_rays_of_a_whole_image_go_through_the_pixels_centres():
    camera = Camera(perspective(np.pi / 2, 2, 1), np.eye(4), 4, 2)
    origins, directions = camera.rays()
    assert origins.shape == directions.shape == (2, 4, 3)
    slopes = directions[..., :2] / -directions[..., 2:]
    assert slopes[0, 0] == pytest.approx([-1.5, 0.5])
    assert slopes[1, 3] == pytest.approx([1.5, -0.5])


def test_behind_a_perspective_camera_there_is_no_pixel():
    pixel, depth = Camera(perspective(1, 1, 0.1), np.eye(4), 10, 10).project([0, 0, 1])
    assert np.isnan(pixel).all()
    assert np.isnan(depth)
