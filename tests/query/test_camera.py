"""Cameras: rays through pixels, pixels of points, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.query import Camera

SIZE = (640, 480)
TURNED = np.array([[np.cos(0.7), 0, -np.sin(0.7)], [0, 1, 0], [np.sin(0.7), 0, np.cos(0.7)]])
EYE = np.array([1.0, 2, 3])
CAMERAS = {
    "perspective": Camera(EYE, TURNED, np.tan(0.4)),
    "orthographic": Camera(EYE, TURNED, 3.0, orthographic=True),
}
PIXELS = st.tuples(st.floats(0, 640), st.floats(0, 480))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], np.eye(3), 1.0), "camera.eye"),
        (([0, 0, float("inf")], np.eye(3), 1.0), "camera.eye"),
        (([0, 0, 0], np.ones((3, 3)), 1.0), "orthonormal"),
        (([0, 0, 0], np.diag([1, 1, -1]), 1.0), "right-handed"),
        (([0, 0, 0], np.eye(3), 0.0), "half_height"),
        (([0, 0, 0], np.eye(3), float("nan")), "half_height"),
        (([0, 0, 0], np.eye(3), "wide"), "half_height: expected numbers"),
        (([0, 0, 0], np.eye(3), [1.0]), "half_height: expected above 0"),
    ],
)
def test_refuses_impossible_cameras(arguments, message):
    with pytest.raises(RigError, match=message):
        Camera(*arguments)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda c: c.rays("left", 0, SIZE), "x: expected numbers"),
        (lambda c: c.rays(0, [[0], [1, 2]], SIZE), "y: expected a regular array"),
        (lambda c: c.project([0, 0], SIZE), r"points: expected shape \(…, 3\), found \(2,\)"),
        (lambda c: c.unproject(1.0, SIZE), r"pixels: expected shape \(…, 3\), found \(\)"),
        (lambda c: c.orbited(1.0, [0, 0]), r"pivot: expected shape \(3\)"),
    ],
)
def test_refuses_what_is_no_pixel_or_point(ask, message):
    with pytest.raises(RigError, match=message):
        ask(CAMERAS["perspective"])


def test_a_camera_shows_itself_in_a_line():
    assert repr(Camera([0, 1.5, 5], np.eye(3), 1.0)) == (
        "Camera(perspective, at (0, 1.5, 5), looking along (0, 0, -1))"
    )


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS)
def test_a_point_in_the_middle_of_the_view_lands_in_the_middle(camera):
    right, up, back = TURNED
    ahead = EYE - 5 * back
    assert camera.project(ahead, SIZE) == pytest.approx([320, 240, 5])
    assert camera.project(ahead + 0.5 * up, SIZE)[1] < 240
    assert camera.project(ahead + 0.5 * right, SIZE)[0] > 320


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS)
@given(PIXELS, st.floats(0.1, 50))
def test_project_and_unproject_are_inverses(camera, pixel, ahead):
    again = camera.project(camera.unproject([*pixel, ahead], SIZE), SIZE)
    assert again == pytest.approx([*pixel, ahead], abs=1e-6)


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS)
@given(PIXELS, st.floats(0.5, 20))
def test_a_ray_through_a_pixel_projects_back_onto_it(camera, pixel, t):
    origin, direction = camera.rays(*pixel, SIZE)
    assert np.linalg.norm(direction) == pytest.approx(1, abs=1e-6)
    x, y, ahead = camera.project(origin + t * direction.astype(np.float64), SIZE)
    assert (x, y) == pytest.approx(pixel, abs=1e-3)  # rays are float32
    assert ahead > 0


def test_rays_go_through_the_middles_of_pixels():
    camera = Camera([0, 0, 0], np.eye(3), 1.0)
    y, x = np.mgrid[:2, :4] + 0.5
    origins, directions = camera.rays(x, y, (4, 2))
    assert origins.shape == directions.shape == (2, 4, 3)
    slopes = directions[..., :2] / -directions[..., 2:]
    assert slopes[0, 0] == pytest.approx([-1.5, 0.5])
    assert slopes[1, 3] == pytest.approx([1.5, -0.5])


def test_behind_a_perspective_camera_there_is_no_pixel():
    x, y, ahead = Camera([0, 0, 0], np.eye(3), 1.0).project([0, 0, 1], SIZE)
    assert np.isnan([x, y]).all()
    assert ahead == -1


def test_gone_around_a_point_it_is_seen_as_before():
    camera = CAMERAS["perspective"]
    pivot = [0.5, 1, -2]
    turned = camera.orbited(1.1, pivot)
    assert turned.project(pivot, SIZE) == pytest.approx(camera.project(pivot, SIZE))
    assert turned.orbited(-1.1, pivot).eye == pytest.approx(camera.eye)
