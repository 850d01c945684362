"""Copies and pickles: the same answers, and nothing shared that could change under them."""

import copy
import gc
import pickle

import numpy as np
import pytest

from bunraku import Stage
from bunraku.query import Bvh, PosedGroup, Scene, SkinTree
from tests.query.rigs import palette, rays_at, skin
from tests.query.scenes import icosphere
from tests.test_stage_mmd import STEP, dancer

WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda what: pickle.loads(pickle.dumps(what)),
}
RNG = np.random.default_rng(8)
V, F = icosphere(2, 0.1)
LOW = RNG.uniform(-1, 1, (40, 3))
RAYS = rays_at(RNG, V, 300)
OTHERS = rays_at(RNG, V + np.float32(3), 300)
GEOMETRY, FACES = skin(RNG, vertices=60, influences=2, joints=3, morphs=1)
MATRICES = palette(RNG, 3, "rigid")


def refitted():
    tree = Bvh(V, F, builder="median", width=4, leaf_size=2)
    tree.refit(V * np.float32(1.5))
    return tree


def posed():
    return SkinTree(GEOMETRY, FACES).at(MATRICES, method="dqs", morph_weights=[0.5])


MADE = {
    "triangles": refitted,
    "boxes": lambda: Bvh.of_boxes(LOW, LOW + 0.2),
    "spheres": lambda: Bvh.of_spheres(LOW, np.full(40, 0.1), width=2),
    "posed": posed,
    "group": lambda: PosedGroup([posed(), refitted()]),
    "scene": lambda: Scene([refitted(), Bvh(V, F)], [0, 1, 0], np.tile(np.eye(4), (3, 1, 1))),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_copy_answers_the_same(make, way):
    made = make()
    other = way(made)
    assert repr(other) == repr(made)
    hits, again = made.all_hits(*RAYS), way(made).all_hits(*RAYS)
    assert len(hits.t) > 10
    for column in ("first", "t", "primitive", "u", "v"):
        np.testing.assert_array_equal(getattr(again, column), getattr(hits, column))
    for answer in (hits, made.closest_hit(*RAYS)):
        np.testing.assert_array_equal(way(answer).t, answer.t)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_copy_moves_by_itself(way):
    tree = Bvh(V, F)
    scene = Scene([tree], [0], [np.eye(4)])
    before = tree.closest_hit(*RAYS).t
    other, elsewhere = way(tree), way(scene)
    other.refit(V + np.float32(3))
    np.testing.assert_array_equal(tree.closest_hit(*RAYS).t, before)
    assert other.any_hit(*OTHERS).sum() > 100
    away = np.eye(4)
    away[:3, 3] = 3
    elsewhere.move([away])
    np.testing.assert_array_equal(scene.closest_hit(*RAYS).t, before)
    assert elsewhere.any_hit(*OTHERS).sum() > 100


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_copy_of_a_surface_outlives_it(way):
    """Bent trees are lent to a surface; they go to the next pose once it is gone."""
    stage = Stage(dancer(), STEP)
    rays = RAYS[0] + np.float32([0, 1, 0]), RAYS[1]
    surface = stage.posed(0.2)
    expected, other = surface.closest_hit(*rays).t, way(surface)
    del surface
    gc.collect()
    stage.cast(1.0, *rays)
    np.testing.assert_array_equal(other.closest_hit(*rays).t, expected)
    assert np.isfinite(expected).sum() > 10
