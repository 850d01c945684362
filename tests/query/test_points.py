"""Closest points, inside and outside, overlaps."""

import numpy as np
import pytest

from bunraku.errors import RigError, UnsupportedError
from bunraku.query import Bvh
from tests.query.scenes import icosphere, random_scenes, soup
from tests.reference import query as reference

SCENES = dict(random_scenes())


def test_nonsense_is_refused():
    tree = Bvh(*icosphere(1))
    with pytest.raises(RigError, match=r"points: expected shape \(…, 3\)"):
        tree.closest_point([1, 2])
    with pytest.raises(RigError, match="max_distance: expected one value or shape"):
        tree.closest_point([[1, 2, 3]], max_distance=[1, 2])
    with pytest.raises(RigError, match="radius: expected 0 or more, found -1"):
        tree.overlap_sphere([0, 0, 0], -1)
    with pytest.raises(RigError, match="low"):
        tree.overlap_box([np.nan, 0, 0], [1, 1, 1])
    balls = Bvh.of_spheres([[0, 0, 0]], [1])
    for ask in (balls.closest_point, balls.inside, balls.winding, balls.signed_distance):
        with pytest.raises(UnsupportedError, match="expected a tree over triangles, found spheres"):
            ask([0, 0, 0])


@pytest.mark.parametrize("name", SCENES)
def test_the_closest_point_is_the_closest_of_all(name):
    v, f = SCENES[name]
    rng = np.random.default_rng(1)
    low, high = v.min(0).astype(float), v.max(0).astype(float)
    points = rng.uniform(low - (high - low), high + (high - low), (40, 3)).astype(np.float32)
    near = Bvh(v, f).closest_point(points)
    size = float(np.ptp(v.astype(float), axis=0).max())
    for i, point in enumerate(points):
        distance = reference.closest_point(v, f, point)
        tolerance = 1e-6 * distance + 4e-7 * float(np.abs(v).max()) * (name == "far") + 1e-7 * size
        assert near.distance[i] == pytest.approx(distance, abs=tolerance)
        apart = np.linalg.norm(near.point[i].astype(float) - point)
        assert apart == pytest.approx(distance, abs=4 * tolerance + 2 * (name == "far"))
        corners = v[f[near.primitive[i]]].astype(float)
        u, w = float(near.u[i]), float(near.v[i])
        at = (1 - u - w) * corners[0] + u * corners[1] + w * corners[2]
        assert np.abs(at - near.point[i]).max() <= 1e-5 * size + 2 * (name == "far")


def test_of_faces_as_close_the_lowest_is_named():
    v, f = icosphere(2)
    near = Bvh(v, f).closest_point(v)
    assert (near.distance == 0).all()
    assert near.primitive.tolist() == [
        int(np.flatnonzero((f == i).any(1))[0]) for i in range(len(v))
    ]


def test_nothing_within_reach():
    tree = Bvh(*icosphere(1))
    near = tree.closest_point([[3, 0, 0], [1.1, 0, 0]], max_distance=[1, 1])
    assert near.distance[0] == np.inf
    assert (near.primitive[0], near.point[0].tolist()) == (-1, [0, 0, 0])
    assert near.primitive[1] >= 0
    assert tree.closest_point([np.nan, 0, 0]).primitive == -1
    assert Bvh([[0, 0, 0]], []).closest_point([0, 0, 0]).primitive == -1


def test_inside_a_sphere_is_within_its_radius():
    v, f = icosphere(4)
    tree = Bvh(v, f)
    points = np.random.default_rng(2).uniform(-1.3, 1.3, (3000, 3)).astype(np.float32)
    points[:: len(points) // len(v) + 1] = 0.5 * v[: len(points[:: len(points) // len(v) + 1])]
    radius = np.linalg.norm(points, axis=1)
    sure = np.abs(radius - 1) > 0.01
    assert (tree.inside(points)[sure] == (radius < 1)[sure]).all()
    distance = tree.signed_distance(points)
    assert np.abs(distance - (radius - 1)).max() < 0.01
    assert tree.winding([[0, 0, 0]]).tolist() == [1]
    assert Bvh(v, f[:, ::-1]).winding([[0, 0, 0]]).tolist() == [-1]


def test_the_winding_adds_up():
    v, f = icosphere(2)
    twice = Bvh(np.concatenate([v, 2 * v]), np.concatenate([f, f + len(v)]))
    assert twice.winding([[0, 0, 0], [0, 1.5, 0], [0, 2.5, 0]]).tolist() == [2, 1, 0]


def test_overlap_with_a_box_and_a_ball_agrees_with_the_closest_points():
    v, f = soup(400, 0.1, 3)
    tree = Bvh(v, f)
    rng = np.random.default_rng(4)
    alone = [Bvh(v, f[i : i + 1]) for i in range(len(f))]
    for _ in range(20):
        center, radius = rng.uniform(-1, 1, 3).astype(np.float32), float(rng.uniform(0.05, 0.6))
        distances = np.array([float(t.closest_point(center).distance) for t in alone])
        found = tree.overlap_sphere(center, radius)
        sure = np.abs(distances - radius) > 1e-6
        touched = np.isin(np.arange(len(f)), found)
        assert (touched[sure] == (distances <= radius)[sure]).all()
        assert found.tolist() == sorted(found.tolist())


def test_a_box_that_a_large_triangle_cuts_without_a_corner_in_it():
    tree = Bvh([[-9, -9, 0.5], [9, -9, 0.5], [0, 9, 0.5]], [[0, 1, 2]])
    assert tree.overlap_box([-1, -1, 0], [1, 1, 1]).tolist() == [0]
    assert tree.overlap_box([-1, -1, 0.5], [1, 1, 1]).tolist() == [0]  # touching
    assert tree.overlap_box([-1, -1, 0.6], [1, 1, 1]).tolist() == []
    assert tree.overlap_box([8, 8, 0], [9, 9, 1]).tolist() == []  # in its box, beside its edge


def test_overlap_of_boxes_and_spheres():
    boxes = Bvh.of_boxes([[0, 0, 0], [2, 0, 0]], [[1, 1, 1], [3, 1, 1]])
    assert boxes.overlap_box([1, 0, 0], [1.5, 1, 1]).tolist() == [0]
    assert boxes.overlap_sphere([1.5, 0.5, 0.5], 0.5).tolist() == [0, 1]
    balls = Bvh.of_spheres([[0, 0, 0], [5, 0, 0]], [1, 1])
    assert balls.overlap_sphere([2, 0, 0], 1).tolist() == [0]
    assert balls.overlap_box([3, -1, -1], [4, 1, 1]).tolist() == [1]
