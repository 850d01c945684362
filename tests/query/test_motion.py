"""Trees whose primitives move, and trees asked by many threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.query import Bvh
from tests.query.scenes import icosphere, random_rays, soup


def test_other_primitives_are_refused():
    tree = Bvh(*icosphere(1))
    with pytest.raises(RigError, match=r"vertices: expected shape \(42, 3\), found \(41, 3\)"):
        tree.refit(np.zeros((41, 3)))
    with pytest.raises(RigError, match="extents: expected with boxes and spheres only"):
        tree.refit(np.zeros((42, 3)), np.zeros(42))
    with pytest.raises(RigError, match="extents: expected with spheres"):
        Bvh.of_spheres([[0, 0, 0]], [1]).refit([[0, 0, 0]])


@pytest.mark.parametrize("count", [0, 1, 8, 9, 400])
def test_a_refitted_tree_answers_as_a_new_one(count):
    v, f = soup(count, 0.1, 0)
    tree = Bvh(v, f)
    rng = np.random.default_rng(1)
    for step in range(3):
        moved = v + rng.normal(0, 0.2 * step, v.shape).astype(np.float32) + np.float32(10.0**step)
        tree.refit(moved)
        new = Bvh(moved, f)
        assert (tree.bounds == new.bounds).all()
        if count:
            o, d = random_rays(moved, 1000, step)
            hits, expected = tree.closest_hit(o, d), new.closest_hit(o, d)
            assert (hits.t == expected.t).all()
            assert (hits.primitive == expected.primitive).all()


def test_what_was_not_finite_comes_back_with_a_refit():
    v, f = soup(50, 0.1, 2)
    spoilt = v.copy()
    spoilt[::2] = np.nan
    tree = Bvh(spoilt, f)
    o, d = random_rays(v, 1000, 3)
    assert not tree.any_hit(o, d).any()
    tree.refit(v)
    assert (tree.closest_hit(o, d).t == Bvh(v, f).closest_hit(o, d).t).all()
    tree.refit(spoilt)
    assert not tree.any_hit(o, d).any()


def test_boxes_and_spheres_move():
    boxes = Bvh.of_boxes([[0, 0, 0]], [[1, 1, 1]])
    boxes.refit([[5, 0, 0]], [[6, 1, 1]])
    assert boxes.cast(0, 0.5, 0.5, 1, 0, 0)[0] == 5
    balls = Bvh.of_spheres(np.arange(60).reshape(20, 3), np.ones(20))
    balls.refit(np.arange(60).reshape(20, 3) + 100, np.full(20, 2.0))
    assert balls.bounds.tolist() == [[98, 99, 100], [159, 160, 161]]


def test_quality_says_when_a_tree_is_worn():
    v, f = soup(2000, 0.02, 4)
    tree = Bvh(v, f)
    assert tree.quality == 1
    assert tree.update(v + np.float32(3)) == "refit"
    assert tree.quality == pytest.approx(1, abs=1e-3)
    shuffled = np.random.default_rng(5).permutation(v.reshape(-1, 3, 3)).reshape(-1, 3)
    tree.refit(shuffled)
    assert tree.quality > 3
    assert tree.update(shuffled) == "rebuild"
    assert tree.quality == 1
    assert tree.sah_cost == pytest.approx(Bvh(shuffled, f).sah_cost)
    tree.rebuild(v)
    assert (tree.bounds == Bvh(v, f).bounds).all()
    assert tree.cast(*v[0:3].mean(0), 0, 0, 1, t_min=-1) is not None


def test_many_threads_ask_while_one_moves_the_tree():
    v, f = icosphere(4)
    tree = Bvh(v, f)
    o = np.zeros((20_000, 3), np.float32)
    d = np.random.default_rng(6).standard_normal(o.shape).astype(np.float32)
    d /= np.linalg.norm(d, axis=1, keepdims=True)

    def ask(_):
        t = tree.closest_hit(o, d).t
        return t.min(), t.max(), tree.cast(0, 0, 0, 0, 0, 1)[0]

    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(ask, range(40))
        for step in range(40):
            tree.refit(v * np.float32(1 + step % 2))
        for least, most, alone in answers:
            assert most / least < 1.02  # all rays of a batch saw one and the same state
            assert alone == pytest.approx(round(alone), abs=0.02)
