"""Instances of trees: as asking each in its own space."""

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.query import Bvh, Scene
from tests.query.scenes import icosphere, soup

MOVED = np.array([[1.0, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("count", "transforms", "message"),
    [
        (0, [np.eye(4)], r"tree_of\[0\]: tree 0, but there are 0"),
        (1, [np.eye(3)], r"transforms: expected shape \(1, 4, 4\)"),
        (1, [np.diag([1, 0, 1, 1])], r"transforms\[0\]: expected one that can"),
        (1, [MOVED.T], r"transforms\[0\]: expected last row \(0, 0, 0, 1\), found \[3.0, 0.0"),
        (1, [2 * np.eye(4)], r"last row \(0, 0, 0, 1\), found \[0.0, 0.0, 0.0, 2.0\]"),
        (1, [np.full((4, 4), np.nan)], "expected finite numbers"),
        (1, [[[1, 0], [0]]], "transforms: expected a regular array"),
        (1, MOVED[:3], r"transforms: expected shape \(1, 3, 4\), found \(3, 4\)"),
    ],
)
def test_nonsense_is_refused(count, transforms, message):
    with pytest.raises(RigError, match=message):
        Scene([Bvh(*icosphere(0))] * count, [0], transforms)


def test_an_empty_scene_answers():
    for scene in (
        Scene([], [], np.zeros((0, 4, 4))),
        Scene([Bvh([[0, 0, 0]], [])], [0], [np.eye(4)]),
    ):
        hits = scene.closest_hit([[0, 0, -5]], [0, 0, 1], normals=True)
        assert (hits.t.tolist(), hits.instance.tolist()) == ([np.inf], [-1])
        assert hits.primitive.tolist() == [-1]
        assert not scene.any_hit([[0, 0, -5]], [0, 0, 1]).any()


def placed(count, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    transforms = np.zeros((count, 4, 4))
    transforms[:, :3, :3] = rng.standard_normal((count, 3, 3)) * scale
    transforms[:, :3, 3] = rng.uniform(-6, 6, (count, 3))
    transforms[:, 3, 3] = 1
    return transforms


def expected_hits(trees, tree_of, transforms, o, d):
    """Ask every instance in its own space, in the order of the core's arithmetic."""
    best = np.full(len(o), np.inf, np.float32), np.full((2, len(o)), -1)
    for i, (tree, m) in enumerate(zip(tree_of, np.linalg.inv(transforms)[:, :3], strict=True)):
        o64, d64 = o.astype(np.float64), d.astype(np.float64)

        def moved(p, one, m=m):
            rows = [r[0] * p[:, 0] + r[1] * p[:, 1] + r[2] * p[:, 2] + r[3] * one for r in m]
            return np.stack(rows, axis=1).astype(np.float32)

        hits = trees[tree].closest_hit(moved(o64, 1.0), moved(d64, 0.0))
        closer = hits.t < best[0]
        best[0][closer] = hits.t[closer]
        best[1][0, closer], best[1][1, closer] = i, hits.primitive[closer]
    return best


@pytest.mark.parametrize("count", [1, 5, 60])
def test_a_scene_answers_as_each_instance_asked_by_itself(count):
    rng = np.random.default_rng(count)
    trees = [Bvh(*icosphere(2, 0.1)), Bvh(*soup(100, 0.2, 1)), Bvh.of_spheres([[0, 0, 0]], [0.5])]
    tree_of = rng.integers(3, size=count)
    transforms = placed(count, count)
    scene = Scene(trees, tree_of, transforms)
    o = rng.uniform(-8, 8, (3000, 3)).astype(np.float32)
    d = (rng.uniform(-5, 5, (3000, 3)) - o).astype(np.float32)
    for step in range(3):
        t, (instance, primitive) = expected_hits(trees, tree_of, transforms, o, d)
        hits = scene.closest_hit(o, d, normals=True)
        assert (hits.t == t).all()
        assert (hits.instance == instance).all()
        assert (hits.primitive == primitive).all()
        assert (scene.any_hit(o, d) == (instance >= 0)).all()
        every = scene.all_hits(o, d)
        met = np.diff(every.first) > 0
        assert (met == hits.hit).all()
        first = every.first[:-1][met]
        assert (every.t[first] == t[met]).all()
        assert (every.instance[first] == instance[met]).all()
        assert (every.primitive[first] == primitive[met]).all()
        lengths = np.linalg.norm(hits.normal[hits.hit], axis=1)
        assert np.allclose(lengths, 1, atol=1e-5)
        transforms = placed(count, 100 + step)
        scene.move(transforms)


def test_the_last_row_may_be_off_by_rounding_or_missing():
    ball, ray = Bvh.of_spheres([[0, 0, 0]], [1]), ([[3, 0, -5]], [[0, 0, 1]])
    off = MOVED.copy()
    off[3] += [3e-7, -1e-7, 0, 5e-7]
    for matrix in (MOVED, off, MOVED[:3]):
        scene = Scene([ball], [0], [matrix])
        assert scene.closest_hit(*ray).t == 4
        assert scene.transforms.tolist() == [MOVED.tolist()]


def test_every_hit_of_two_balls_one_behind_the_other():
    ball = Bvh.of_spheres([[0, 0, 0]], [1])
    behind = np.eye(4)
    behind[0, 3] = 10
    scene = Scene([ball, Bvh(*icosphere(0))], [0, 0], [np.eye(4), behind])
    hits = scene.all_hits([[20, 0, 0], [0, 5, 0], [-5, 0, 0]], [[-1, 0, 0], [0, 1, 0], [1, 0, 0]])
    assert hits.first.tolist() == [0, 2, 2, 4]
    assert hits.t.tolist() == [9, 19, 4, 14]
    assert hits.instance.tolist() == [1, 0, 0, 1]
    near = scene.all_hits([[20, 0, 0]], [-1, 0, 0], t_max=10)
    assert (near.instance.tolist(), near.primitive.tolist()) == ([1], [0])
    assert Scene([], [], np.zeros((0, 4, 4))).all_hits([[0, 0, 0]], [0, 0, 1]).first.tolist() == [
        0,
        0,
    ]


def test_normals_and_fronts_survive_a_mirror_and_a_stretch():
    mirror = np.diag([-1.0, 3.0, 0.5, 1.0])
    scene = Scene([Bvh(*icosphere(3))], [0], [mirror])
    d = np.random.default_rng(0).standard_normal((500, 3)).astype(np.float32)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    o = -20 * d
    hits = scene.closest_hit(o, d, normals=True, front_only=True)
    assert hits.hit.all()
    at = o + hits.t[:, None] * d
    assert (hits.t < 20).all()
    outward = at / np.array([1, 9, 0.25])
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    assert (np.einsum("ij,ij->i", hits.normal, outward) > 0.9).all()


def test_moving_what_an_instance_shows():
    v, f = icosphere(1)
    tree = Bvh(v, f)
    scene = Scene([tree, tree], [0, 1], [np.eye(4), np.eye(4)])
    assert scene.closest_hit([0, 0, -9], [0, 0, 1]).instance == 0
    tree.refit(v + np.float32([20, 0, 0]))
    scene.move(scene.transforms)
    assert not scene.any_hit([0, 0, -9], [0, 0, 1])
    assert scene.any_hit([20, 0, -9], [0, 0, 1])
