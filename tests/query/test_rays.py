"""Rays against trees: invalid input, exact cases, then agreement with testing every primitive."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bunraku import _core
from bunraku.errors import RigError
from bunraku.query import Bvh, PosedGroup, Scene
from tests.query.scenes import f_of, icosphere, random_rays, random_scenes, soup
from tests.reference import query as reference

QUAD = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], [[0, 1, 2], [0, 2, 3]]
SCENES = dict(random_scenes())
TREES = [
    {},
    {"builder": "median"},
    {"builder": "median", "width": 2, "leaf_size": 2},
    {"width": 3, "leaf_size": 1},
]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bvh([[0, 0]], [[0, 0, 0]]), r"vertices: expected shape \(any, 3\)"),
        (lambda: Bvh([[0, 0, 0]], [[0, 0]]), r"faces: expected shape \(any, 3\)"),
        (lambda: Bvh([[0, 0, 0]], [[0, 0, 1]]), r"faces\[0, 2\]: vertex 1, but there are 1"),
        (lambda: Bvh([[0, 0, 0]], [[0, -1, 0]]), r"faces\[0, 1\]: vertex -1"),
        (lambda: Bvh([[0, 0, 0]], [[0, 0.5, 0]]), "faces: expected whole numbers"),
        (lambda: Bvh([["a", "b", "c"]], [[0, 0, 0]]), "vertices: expected numbers"),
        (lambda: Bvh(*QUAD, builder="lbvh"), "builder: expected sah or median, found 'lbvh'"),
        (lambda: Bvh(*QUAD, width=1), "width: expected 2 … 8, found 1"),
        (lambda: Bvh(*QUAD, leaf_size=9), "leaf_size: expected 1 … 8, found 9"),
        (lambda: Bvh(*QUAD, width=4.0), r"width: expected 2 … 8, found 4\.0"),
        (lambda: Bvh(*QUAD, leaf_size="all"), "leaf_size: expected 1 … 8, found 'all'"),
        (lambda: Bvh.of_boxes([[0, 0, 0]], [[1, 1]]), r"high: expected shape \(1, 3\)"),
        (lambda: Bvh.of_spheres([[0, 0, 0]], [1, 2]), r"radii: expected shape \(1\)"),
    ],
)
def test_a_tree_of_nonsense_is_refused(make, message):
    with pytest.raises(RigError, match=message):
        make()


@pytest.mark.parametrize(
    ("rays", "message"),
    [
        (([0, 0], [0, 0, 1]), r"origins: expected shape \(…, 3\), found \(2,\)"),
        (([[0, 0, 0]] * 2, [[0, 0, 1]] * 3), "directions: expected a shape that broadcasts"),
        ((["a", "b", "c"], [0, 0, 1]), "origins: expected numbers"),
        (([0, 0, 0], [1j, 0, 0]), "directions: expected numbers, found complex128"),
        (([[0, 0, 0], [0, 0]], [0, 0, 1]), "origins: expected a regular array"),
    ],
)
def test_rays_of_nonsense_are_refused(rays, message):
    tree = Bvh(*QUAD)
    for ask in (tree.closest_hit, tree.any_hit, tree.all_hits, tree.count_hits):
        with pytest.raises(RigError, match=message):
            ask(*rays)


def test_options_of_nonsense_are_refused():
    tree = Bvh(*QUAD)
    ray = [[1, 1, 1]], [[0, 0, -1]]
    with pytest.raises(RigError, match=r"t_max: expected one value or shape \(1,\), found \(2,\)"):
        tree.closest_hit(*ray, t_max=[1, 2])
    with pytest.raises(RigError, match="skip: expected int32, found float64"):
        tree.any_hit(*ray, skip=0.5)
    for skip in (2**32, -(2**31) - 1, np.uint64(2**63 + 1), [[2**40]]):
        with pytest.raises(RigError, match=r"skip: expected -2147483648 … 2147483647, found -?\d"):
            tree.any_hit(*ray, skip=np.reshape(skip, ()))
    with pytest.raises(RigError, match="front_only: expected True or False"):
        tree.any_hit(*ray, front_only=np.array([True, False]))
    with pytest.raises(RigError, match="radius: expected 0 or more"):
        tree.overlap_sphere([0, 0, 0], [1.0, 2.0])
    wrong = (np.zeros(2), [0, 0], [0, 0, "x"], "abc", None, 1.5, np.zeros((3, 3)), [[0, 0, 0]])
    for origin in wrong:
        with pytest.raises(RigError, match="origin: expected three numbers, found "):
            tree.cast(origin, np.zeros(3))
    with pytest.raises(RigError, match="direction: expected three numbers"):
        tree.cast([0, 0, 0], {})


def test_an_option_that_there_is_not_is_named_with_those_that_there_are():
    tree = Bvh(*QUAD)
    surfaces = tree, PosedGroup([tree]), Scene([tree], [0], [np.eye(4)])
    for ask in (ask for s in surfaces for ask in (s.closest_hit, s.any_hit, s.all_hits)):
        with pytest.raises(TypeError, match=r"^unexpected .* 'tmax': .* t_min, t_max, skip and"):
            ask([1, 1, 1], [0, 0, -1], tmax=3)
    with pytest.raises(TypeError, match=r"of_boxes\(\) got an unexpected keyword argument 'leaf'"):
        Bvh.of_boxes([[0, 0, 0]], [[1, 1, 1]], leaf=2)


@pytest.mark.parametrize(
    ("yes", "no"), [(1, 0), (np.True_, np.False_), (np.array(True), np.array(False))]
)
def test_switches_and_counts_may_be_numpys_own(yes, no):
    tree = Bvh(*QUAD, width=np.int64(2), leaf_size=np.uint8(2))
    from_behind = [1.5, 0.5, -1], [0, 0, 1]
    surfaces = tree, PosedGroup([tree]), Scene([tree], [0], [np.eye(4)])
    for surface in surfaces:
        assert not surface.closest_hit(*from_behind, front_only=yes, normals=yes).hit
        assert surface.closest_hit(*from_behind, front_only=no, normals=no).hit
        assert not surface.any_hit(*from_behind, front_only=yes)
        assert len(surface.all_hits(*from_behind, front_only=yes).t) == 0
    assert tree.count_hits(*from_behind, front_only=yes) == 0
    counted = tree.closest_hit(*from_behind, by_force=yes, counts=yes, skip=np.uint64(1))
    assert (counted.primitive, counted.primitive_tests) == (0, 2)
    assert tree.overlap_sphere([0, 0, 0], np.float32(1)).tolist() == [0, 1]


def test_answers_show_themselves_in_a_line():
    tree, rays = Bvh(*QUAD), ([[1.5, 0.5, 3], [5, 5, 5]], [0, 0, -1])
    scene = Scene([tree], [0], [np.eye(4)])
    assert repr(scene) == "Scene(1 instances of 1 trees)"
    assert repr(tree.closest_hit(*rays)) == "Hits(2 rays, 1 of them hit)"
    assert repr(tree.all_hits(*rays)) == "AllHits(2 rays, 1 hits)"
    assert repr(scene.closest_hit(*rays)) == "SceneHits(2 rays, 1 of them hit)"
    assert repr(scene.all_hits(*rays)) == "SceneAllHits(2 rays, 1 hits)"
    nearest = tree.closest_point(rays[0], max_distance=4)
    assert repr(nearest) == "Nearest(2 points, 1 of them near)"


def test_the_text_book_tree_is_walked_as_the_text_book_does():
    low = np.array([[0, 0, 0], [2, 0, 0], [10, 0, 0], [12, 0, 0]])
    tree = Bvh.of_boxes(low, low + 1, builder="median", width=2, leaf_size=2)
    assert tree.bounds.tolist() == [[0, 0, 0], [13, 1, 1]]
    ray = [[-1, 0.5, 0.5]], [[1, 0, 0]]
    hits = tree.closest_hit(*ray, t_max=5, counts=True)
    assert hits.box_tests.tolist() == [3]
    assert hits.primitive_tests.tolist() == [2]  # A and B; C and D are never touched
    assert (hits.t.tolist(), hits.primitive.tolist()) == ([1], [0])
    by_force = tree.closest_hit(*ray, t_max=5, counts=True, by_force=True)
    assert by_force.primitive_tests.tolist() == [4]
    beside = tree.closest_hit([-1, 5, 0.5], [1, 0, 0], counts=True)
    assert (int(beside.box_tests), int(beside.primitive_tests)) == (1, 0)


@pytest.mark.parametrize(("count", "depth"), [(10, 4), (100, 7), (1000, 10), (10_000, 14)])
def test_a_text_book_tree_has_the_depth_of_its_logarithm(count, depth):
    low = np.random.default_rng(count).random((count, 3))
    tree = Bvh.of_boxes(low, low + 0.01, builder="median", width=2, leaf_size=1)
    assert tree.depth == depth


def test_a_hit_carries_all_there_is_to_know():
    hits = Bvh(*QUAD).closest_hit([[1.5, 0.5, 3], [5, 5, 5]], [[0, 0, -2]], normals=True)
    assert hits.hit.tolist() == [True, False]
    assert hits.t.tolist() == [1.5, np.inf]
    assert hits.primitive.tolist() == [0, -1]
    assert (hits.u.tolist(), hits.v.tolist()) == ([0.5, 0], [0.25, 0])
    assert hits.normal.tolist() == [[0, 0, 1], [0, 0, 0]]


def test_answers_keep_the_leading_shape_of_the_rays():
    tree = Bvh(*QUAD)
    origins = np.full((4, 5, 3), 1.0)
    hits = tree.closest_hit(origins, [0, 0, -1], normals=True, counts=True, t_max=np.ones((4, 5)))
    assert hits.t.shape == hits.u.shape == hits.box_tests.shape == (4, 5)
    assert hits.normal.shape == (4, 5, 3)
    assert tree.any_hit([1, 1, 1], [0, 0, -1]).shape == ()
    assert tree.count_hits(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
    assert tree.all_hits(np.zeros((0, 3)), np.zeros((0, 3))).first.tolist() == [0]


def test_both_ends_of_the_range_count():
    tree = Bvh(*QUAD)
    ray = [1.5, 0.5, 2], [0, 0, -1]
    assert tree.any_hit(*ray, t_min=2, t_max=2)
    assert not tree.any_hit(*ray, t_max=np.nextafter(np.float32(2), np.float32(0)))
    assert not tree.any_hit(*ray, t_min=np.nextafter(np.float32(2), np.float32(3)))
    assert not tree.any_hit(*ray, t_min=3, t_max=1)
    assert not tree.any_hit(*ray, t_min=np.nan)
    assert tree.any_hit([1.5, 0.5, -2], [0, 0, -1], t_min=-5)
    assert tree.any_hit([1.5, 0.5, 0], [0, 0, -1])  # starts on the face


def test_a_skipped_primitive_is_not_there():
    v, f = QUAD
    tree = Bvh(v, f * 2)
    rays = [[1.5, 0.5, 3]] * 3, [0, 0, -1]
    assert tree.closest_hit(*rays, skip=[-1, 0, 2]).primitive.tolist() == [0, 2, 0]
    assert tree.count_hits(*rays, skip=[-1, 0, 7]).tolist() == [2, 1, 2]


def test_faces_seen_from_behind_can_be_left_out():
    tree = Bvh(*QUAD)
    rays = [[1.5, 0.5, 3], [1.5, 0.5, -3]], [[0, 0, -1], [0, 0, 1]]
    assert tree.any_hit(*rays).tolist() == [True, True]
    assert tree.any_hit(*rays, front_only=True).tolist() == [True, False]
    assert tree.closest_hit(*rays, front_only=True).primitive.tolist() == [0, -1]


def test_one_ray_by_either_door():
    tree = Bvh(*QUAD)
    expected = (2.0, 0, 0.5, 0.25)
    assert tree.cast(1.5, 0.5, 2, 0, 0, -1) == expected
    for kind in (np.float32, np.float64):
        assert tree.cast(np.array([1.5, 0.5, 2], kind), np.array([0, 0, -1], kind)) == expected
    for kind in (">f4", ">f8", "f2"):
        assert tree.cast(np.array([1.5, 0.5, 2], kind), np.array([0, 0, -1], "i4")) == expected
    strided = np.array([1.5, 9, 0.5, 9, 2], np.float32)[::2]
    assert tree.cast(strided, [0, 0, -1], t_max=2.5) == expected
    assert tree.cast([1.5, 0.5, np.float32(2)], (0, False, -1)) == expected
    assert tree.cast(1.5, 0.5, 2, 0, 0, -1, t_max=1) is None
    assert tree.cast(5, 5, 5, 0, 0, -1) is None


@pytest.mark.parametrize("direction", [[0, 0, 0], [np.nan, 0, -1], [0, 0, -np.inf]])
def test_rays_without_a_direction_hit_nothing(direction):
    tree = Bvh(*QUAD)
    assert tree.closest_hit([1, 1, 1], direction).primitive == -1
    assert tree.cast(1, 1, 1, *direction) is None
    assert not tree.any_hit([np.nan, 1, 1], [0, 0, -1])


def test_an_empty_tree_answers():
    for tree in (Bvh(np.zeros((0, 3)), np.zeros((0, 3), np.int32)), Bvh([[1, 2, 3]], [])):
        assert not tree.any_hit([0, 0, 0], [0, 0, 1])
        assert tree.cast(0, 0, 0, 0, 0, 1) is None
        assert tree.all_hits([[0, 0, 0]], [0, 0, 1]).first.tolist() == [0, 0]
        assert (tree.depth, tree.primitive_count, tree.sah_cost) == (0, 0, 0)
        assert tree.bounds.tolist() == [[np.inf] * 3, [-np.inf] * 3]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("leaf_size", [1, 8])
def test_what_is_not_finite_hides_no_neighbour(bad, leaf_size):
    rng = np.random.default_rng(0)
    v, f = soup(300, 0.1, 0)
    spoilt = v.copy()
    spoilt[rng.choice(len(v), 200, replace=False), rng.integers(3, size=200)] = bad
    whole = (np.abs(spoilt[f]) < 1e18).all(axis=(1, 2))
    o, d = random_rays(v, 500, 1)
    hits = Bvh(spoilt, f, leaf_size=leaf_size).closest_hit(o, d)
    kept = Bvh(v, f[whole]).closest_hit(o, d)
    assert hits.t.tolist() == kept.t.tolist()
    names = np.append(np.flatnonzero(whole), -1)
    assert hits.primitive.tolist() == names[kept.primitive].tolist()


@pytest.mark.parametrize("options", TREES)
def test_no_primitive_of_a_scene_of_the_largest_size_is_lost(options):
    centers = np.random.default_rng(9).uniform(-5e17, 5e17, (300, 3))
    radii = np.full(300, 5e17)
    tree = Bvh.of_spheres(centers, radii, **options)
    assert tree.count_hits([0, 0, 1e18], [0, 0, -1]) > 100
    radii[::2], centers[::2] = 1, centers[::2] * 1e-15  # costs of some subtrees do not overflow
    for each in (tree, Bvh.of_spheres(centers, radii, **options)):
        hits = each.closest_hit([0, 0, 1e18], [0, 0, -1], by_force=True, counts=True)
        assert hits.primitive_tests == 300


def test_a_sphere_smaller_than_a_rounding_step_is_met():
    tree = Bvh.of_spheres(np.full((20, 3), 487360.25), np.full(20, 1e-6))
    assert tree.cast(*[487360.25] * 3, 0, 1, 0)[0] == np.float32(1e-6)


def test_hits_lie_at_numbers_that_are_finite():
    tree = Bvh(*QUAD)
    assert not tree.any_hit([1.5, 0.5, 2], [0, 0, 1e-45], t_min=-np.inf)
    assert not tree.any_hit([1.5, 0.5, 2], [0, 0, -1e-45])


@pytest.mark.parametrize("name", SCENES)
def test_testing_every_triangle_is_what_the_reference_does(name):
    v, f = SCENES[name]
    o, d = random_rays(v, 40, 2)
    hits = Bvh(v, f).closest_hit(o, d, by_force=True)
    expected = [reference.closest(v, f, *ray) for ray in zip(o, d, strict=True)]
    assert list(zip(hits.t, hits.primitive, hits.u, hits.v, strict=True)) == expected


@pytest.mark.parametrize("options", TREES)
@pytest.mark.parametrize("name", SCENES)
def test_every_tree_answers_as_testing_every_triangle(name, options):
    v, f = SCENES[name]
    tree = Bvh(v, f, **options)
    o, d = random_rays(v, 4000, 3)
    by_force = tree.closest_hit(o, d, by_force=True)
    hits = tree.closest_hit(o, d, counts=True)
    for found in (hits, tree.closest_hit(o, d)):
        assert (found.primitive == by_force.primitive).all()
        for field in ("t", "u", "v"):
            assert (getattr(found, field) == getattr(by_force, field)).all()
    assert (tree.any_hit(o, d) == by_force.hit).all()

    everything = tree.all_hits(o, d)
    counts = tree.count_hits(o, d)
    assert (np.diff(everything.first) == counts).all()
    first = everything.first[:-1][by_force.hit]
    assert (everything.t[first] == by_force.t[by_force.hit]).all()
    assert (everything.primitive[first] == by_force.primitive[by_force.hit]).all()
    for r in range(0, len(o), 50):
        found = everything.of(r)
        order = list(zip(everything.t[found], everything.primitive[found], strict=True))
        assert order == sorted(order)
        assert len({p for _, p in order}) == len(order)


@pytest.mark.parametrize("name", SCENES)
def test_rays_alone_in_groups_and_by_turns_get_the_same_answer(name):
    v, f = SCENES[name]
    tree = Bvh(v, f)
    o, d = random_rays(v, 300, 4)
    near = np.repeat(o, 3, axis=0), np.repeat(d, 3, axis=0)  # each beside its like: a group
    grouped, scattered = tree.closest_hit(*near), tree.closest_hit(o, d)
    assert (grouped.t[::3] == scattered.t).all()
    assert (grouped.primitive[::3] == scattered.primitive).all()
    for i, (one, way) in enumerate(zip(o, d, strict=True)):
        hit = tree.cast(one, way)
        expected = (scattered.t[i], scattered.primitive[i], scattered.u[i], scattered.v[i])
        assert hit == (expected if scattered.hit[i] else None)


@pytest.mark.parametrize("name", ["soup", "slivers", "closed", "large triangles", "far"])
def test_float64_agrees_but_within_rounding_of_an_edge(name):
    v, f = SCENES[name]
    rng = np.random.default_rng(5)
    o = v.mean(0) + np.ptp(v) * rng.uniform(-0.5, 0.5, (300, 3))
    o, d = o.astype(np.float32), rng.standard_normal((300, 3)).astype(np.float32)
    hits = Bvh(v, f).closest_hit(o, d)
    t, margin = reference.precise(v, f, o, d)
    same = np.isclose(hits.t, t, rtol=1e-4, atol=1e-5 * np.ptp(v))
    assert (same | (margin < 1e-3)).all()
    assert same.mean() > 0.98


@pytest.mark.parametrize("kind", ["boxes", "spheres"])
@pytest.mark.parametrize("options", TREES)
def test_trees_of_boxes_and_spheres_answer_as_testing_each(kind, options):
    rng = np.random.default_rng(6)
    at = rng.uniform(-1, 1, (500, 3)).astype(np.float32)
    size = rng.uniform(-0.01, 0.2, (500, 3)).astype(np.float32)
    size[::17] = 0
    tree = (
        Bvh.of_boxes(at, at + size, **options)
        if kind == "boxes"
        else Bvh.of_spheres(at, size[:, 0], **options)
    )
    o, d = random_rays(at, 3000, 7)
    by_force, hits = tree.closest_hit(o, d, by_force=True), tree.closest_hit(o, d)
    assert (hits.primitive == by_force.primitive).all()
    assert (hits.t == by_force.t).all()
    assert (tree.any_hit(o, d) == by_force.hit).all()
    assert (tree.count_hits(o, d) == np.diff(tree.all_hits(o, d).first)).all()


def test_levels_and_threads_do_not_change_an_answer():
    v, f = icosphere(4, 0.1)
    tree = Bvh(v, f)
    o, d = random_rays(v, 20_000, 8)
    hits = tree.closest_hit(o, d)
    try:
        _core.set_thread_count(1)
        alone = tree.closest_hit(o, d)
    finally:
        _core.set_thread_count(0)
    assert (hits.t == alone.t).all()
    assert (hits.primitive == alone.primitive).all()


coordinates = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-38, -1e-45, 3.0, 1e7])


@settings(max_examples=200, deadline=None)
@given(
    hnp.arrays(np.float32, (12, 3), elements=coordinates),
    hnp.arrays(np.float32, (16, 2, 3), elements=coordinates),
)
def test_small_numbers_zeros_and_ties_change_nothing(points, rays):
    tree = Bvh(points, f_of(4), leaf_size=1, width=2)
    hits = tree.closest_hit(rays[:, 0], rays[:, 1])
    by_force = tree.closest_hit(rays[:, 0], rays[:, 1], by_force=True)
    assert (hits.t == by_force.t).all()
    assert (hits.primitive == by_force.primitive).all()
    expected = [reference.closest(points, f_of(4), *ray)[:2] for ray in rays if ray[1].any()]
    moving = rays[:, 1].any(axis=1)
    assert list(zip(by_force.t[moving], by_force.primitive[moving], strict=True)) == expected
