"""MMD's rigs: invalid input, worked examples, the oracle, properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Append, IkChain, IkLink, Pose, Rig, Skeleton
from bunraku.posing import global_transforms, solve
from bunraku.posing.solve import _plan
from bunraku.rotation import quaternion
from tests.posing.poses import angle, posed
from tests.reference import mmd


def flat(count: int, **more) -> Rig:
    return Rig(layers=np.zeros(count), **more)


PAIR = Skeleton(("a", "b"), [-1, -1])
STILL = posed(PAIR)


INVALID = [
    # skeleton, rig, pose, what the message must say
    (PAIR, flat(2), posed(Skeleton(("a",), [-1])), "pose: 1 nodes, but the skeleton has 2"),
    (PAIR, None, posed(Skeleton(("a",), [-1])), "pose: 1 nodes, but the skeleton has 2"),
    (PAIR, flat(2), replace(STILL, ik=np.ones((1, 3), bool)), "pose.ik: 3 chains, .* has 0"),
    (PAIR, flat(2, appends=(Append(2, 0, 1.0),)), STILL, "appends: node 2, but there are 2"),
    (PAIR, flat(2, appends=(Append(0, -1, 1.0),)), STILL, "appends: node -1"),
    (PAIR, flat(2, chains=(IkChain(0, 5, (), 1, 1.0),)), STILL, "chains: node 5"),
    (PAIR, flat(2, chains=(IkChain(0, 1, (IkLink(7),), 1, 1.0),)), STILL, "links: node 7"),
    (PAIR, flat(3), STILL, "layers"),
]


@pytest.mark.parametrize(("skeleton", "rig", "pose", "message"), INVALID)
def test_what_does_not_belong_together_is_refused(skeleton, rig, pose, message):
    with pytest.raises(RigError, match=message):
        solve(skeleton, rig, pose)


def test_a_rig_that_would_take_hours_is_refused():
    count = 3000
    ladder = Skeleton(("",) * count, np.arange(count) - 1)
    links = tuple(IkLink(node) for node in range(count - 2, 0, -1))
    chains = tuple(IkChain(goal, count - 1, links, 256, 1.0) for goal in range(20))
    with pytest.raises(RigError, match="more than 100 million matrices"):
        solve(ladder, flat(count, chains=chains), posed(ladder))


def test_without_layers_a_rig_is_no_mmd_rig():
    skeleton = Skeleton(("a", "b"), [-1, 0], [[0, 0, 0], [1, 0, 0]])
    pose = posed(skeleton, {0: (2, 30)}, {1: [0, 1, 0]})
    expected = global_transforms(skeleton, pose)
    for rig in (None, Rig(), Rig(appends=(Append(1, 0, 1.0),))):
        np.testing.assert_array_equal(solve(skeleton, rig, pose), expected)


def test_a_rig_that_does_nothing_is_forward_kinematics():
    rng = np.random.default_rng(1)
    skeleton = Skeleton(("",) * 9, [3, 0, 0, -1, 8, 4, 5, -1, 7], rng.normal(size=(9, 3)))
    rotations = quaternion.normalize(rng.normal(size=(5, 9, 4)))
    pose = Pose(rng.normal(size=(5, 9, 3)), rotations, rng.normal(size=(5, 9, 3)))
    expected = global_transforms(skeleton, pose)
    np.testing.assert_allclose(solve(skeleton, flat(9), pose), expected, atol=1e-13)


def test_no_frames_and_no_nodes_are_none():
    assert solve(PAIR, flat(2), STILL[0:0]).shape == (0, 2, 3, 4)
    nothing = Skeleton((), [])
    assert solve(nothing, flat(0), posed(nothing)).shape == (1, 0, 3, 4)


# ---------------------------------------------------------------- appends


@pytest.mark.parametrize("ratio", [1, -1, 0.5, -0.5, 1.5, 0, 3])
def test_an_append_turns_by_a_share_of_the_source(ratio):
    rig = flat(2, appends=(Append(1, 0, ratio),))
    world = solve(PAIR, rig, posed(PAIR, {0: (2, 40), 1: (2, 5)}))[0]
    assert angle(world[1]) == pytest.approx(5 + 40 * ratio)


def test_an_append_goes_the_shorter_way_whatever_the_sign():
    rig = flat(2, appends=(Append(1, 0, 0.5),))
    pose = posed(PAIR, {0: (2, 350)})
    assert angle(solve(PAIR, rig, pose)[0, 1]) == pytest.approx(-5)
    flipped = replace(pose, rotations=-pose.rotations)
    np.testing.assert_allclose(solve(PAIR, rig, flipped), solve(PAIR, rig, pose), atol=1e-15)


def test_an_append_moves_by_a_share_of_the_source():
    skeleton = Skeleton(("a", "b"), [-1, -1], [[5, 0, 0], [0, 7, 0]])
    for rotation in (True, False):
        rig = flat(2, appends=(Append(1, 0, -0.5, rotation, translation=True),))
        pose = posed(skeleton, {0: (2, 30)}, {0: [2, 0, 0], 1: [0, 0, 1]})
        world = solve(skeleton, rig, pose)[0, 1]
        np.testing.assert_allclose(world[:, 3], [-1, 7, 1], atol=1e-15)
        assert angle(world) == pytest.approx(-15 if rotation else 0)


def test_a_source_hands_on_what_it_took_of_the_same_kind():
    three = Skeleton(("a", "b", "c"), [-1, -1, -1])
    pose = posed(three, {0: (2, 40), 1: (2, 10)}, {0: [4, 0, 0], 1: [1, 0, 0]})
    turned, moved = Append(1, 0, 0.5), Append(1, 0, 0.5, rotation=False, translation=True)
    rig = flat(3, appends=(turned, Append(2, 1, 1.0, translation=True)))
    world = solve(three, rig, pose)[0, 2]
    assert (angle(world), world[0, 3]) == (pytest.approx(30), pytest.approx(1))
    rig = flat(3, appends=(moved, Append(2, 1, 1.0, translation=True)))
    world = solve(three, rig, pose)[0, 2]
    assert (angle(world), world[0, 3]) == (pytest.approx(10), pytest.approx(3))


def test_a_source_that_appends_but_comes_later_gives_nothing():
    three = Skeleton(("c", "b", "a"), [-1, -1, -1])
    pose = posed(three, {2: (2, 40), 1: (2, 10)})
    rig = flat(3, appends=(Append(1, 2, 0.5), Append(0, 1, 1.0)))
    assert angle(solve(three, rig, pose)[0, 0]) == 0
    later = replace(rig, layers=[1, 0, 0])
    assert angle(solve(three, later, pose)[0, 0]) == pytest.approx(30)


def test_a_source_without_appends_may_come_later():
    rig = flat(2, appends=(Append(0, 1, 1.0),))
    assert angle(solve(PAIR, rig, posed(PAIR, {1: (2, 40)}))[0, 0]) == pytest.approx(40)


@pytest.mark.parametrize("appends", [(Append(0, 0, 1.0),), (Append(0, 1, 1.0), Append(1, 0, 1.0))])
def test_appends_in_circles_take_nothing_at_first(appends):
    world = solve(PAIR, flat(2, appends=appends), posed(PAIR, {0: (2, 40), 1: (2, 10)}))[0]
    assert angle(world[0]) == pytest.approx(40)
    assert angle(world[1]) == pytest.approx(50 if len(appends) > 1 else 10)


def test_a_local_append_takes_the_motion_in_the_characters_space():
    skeleton = Skeleton(("root", "source", "taker"), [-1, 0, -1], [[0, 0, 0], [2, 0, 0], [9, 9, 9]])
    pose = posed(skeleton, {0: (2, 90)}, {1: [1, 0, 0]})
    rig = flat(3, appends=(Append(2, 1, 1.0, translation=True, local=True),))
    world = solve(skeleton, rig, pose)[0, 2]
    assert angle(world) == pytest.approx(90)
    # The source went from (2, 0, 0) to (0, 3, 0).
    np.testing.assert_allclose(world[:, 3], [9 - 2, 9 + 3, 9], atol=1e-14)


def test_an_append_takes_the_links_turn_by_ik_only_after_the_goal():
    skeleton = Skeleton(
        ("hip", "foot", "goal", "taker"),
        [-1, 0, -1, -1],
        [[0, 0, 0], [0, 1, 0], [1, 1, 0], [5, 0, 0]],
    )
    chain = IkChain(2, 1, (IkLink(0),), 10, 2.0)
    rig = flat(4, appends=(Append(3, 0, 1.0),), chains=(chain,))
    assert angle(solve(skeleton, rig, posed(skeleton))[0, 3]) == pytest.approx(-45, abs=1e-3)
    late_goal = replace(rig, layers=[0, 0, 1, 0])
    assert angle(solve(skeleton, late_goal, posed(skeleton))[0, 3]) == 0


# ---------------------------------------------------------------- order


def test_children_before_their_parents_follow_them():
    skeleton = Skeleton(("hand", "arm", "body"), [1, 2, -1], [[1, 0, 0], [2, 0, 0], [0, 3, 0]])
    pose = posed(skeleton, {2: (2, 90), 1: (2, 90)})
    rest = solve(skeleton, flat(3), posed(skeleton))[0, :, :, 3]
    np.testing.assert_array_equal(rest, [[3, 3, 0], [2, 3, 0], [0, 3, 0]])
    expected = global_transforms(skeleton, pose)
    np.testing.assert_allclose(solve(skeleton, flat(3), pose), expected, atol=1e-15)
    layers = Rig(layers=[0, 1, 2], after_physics=[False, False, True])
    np.testing.assert_allclose(solve(skeleton, layers, pose), expected, atol=1e-15)


def test_physics_comes_before_layers_and_layers_before_the_file():
    count = 5
    skeleton = Skeleton(("",) * count, [-1] * count)
    rig = Rig(layers=[2, -1, 0, 0, 1], after_physics=[False, True, False, False, True])
    assert _plan(skeleton, rig).order.tolist() == [2, 3, 0, 1, 4]


def test_a_goal_waits_for_the_parents_of_its_chain():
    skeleton = Skeleton(("goal", "foot", "hip", "body"), [-1, 2, 3, -1], LEG := np.eye(4, 3))
    chain = IkChain(0, 1, (IkLink(2),), 5, 1.0)
    assert _plan(skeleton, flat(4, chains=(chain,))).order.tolist() == [3, 0, 2, 1]
    # A goal that carries its own chain cannot wait.
    carried = Skeleton(("foot", "hip", "body", "goal"), [1, 2, 3, -1], LEG)
    chain = IkChain(3, 0, (IkLink(1),), 5, 1.0)
    assert _plan(carried, flat(4, chains=(chain,))).order.tolist() == [3, 2, 1, 0]


# ---------------------------------------------------------------- oracle and properties


def random_rig(seed: int) -> tuple[Skeleton, Rig, Pose]:
    """Trees in any order, appends that take from anywhere, chains along and across branches."""
    rng = np.random.default_rng(seed)
    count, frames = int(rng.integers(4, 14)), int(rng.integers(1, 6))
    tree = [-1, *(int(rng.integers(max(-1, i - 3), i)) for i in range(1, count))]
    name = rng.permutation(count) if rng.random() < 0.5 else np.arange(count)
    parents = np.empty(count, int)
    for node, parent in enumerate(tree):
        parents[name[node]] = -1 if parent < 0 else name[parent]
    skeleton = Skeleton(("",) * count, parents, rng.normal(size=(count, 3)))
    nodes = rng.permutation(count)[: int(rng.integers(0, count))]
    appends = tuple(
        Append(
            int(node),
            int(rng.choice(np.delete(np.arange(count), node))) if node else 1,
            float(rng.choice([1, -1, 0.5, 1.5, rng.uniform(-1, 1)])),
            *(bool(flag) for flag in rng.random(3) < [0.8, 0.4, 0.2]),
        )
        for node in nodes
    )
    chains = []
    for _ in range(int(rng.integers(0, 4))):
        effector, links = int(rng.integers(count)), []
        node = parents[effector]
        while node >= 0 and len(links) < 4:
            links.append(int(node))
            node = parents[node]
        if rng.random() < 0.3:
            links = [int(node) for node in rng.integers(count, size=int(rng.integers(0, 4)))]
        limits = [np.sort(rng.uniform(-1, 1, (2, 3)) * rng.choice([0, 1, 3], 3), 0) for _ in links]
        free = rng.random(len(links)) < 0.5
        chains.append(
            IkChain(
                int(rng.choice(np.setdiff1d(np.arange(count), links))),
                effector,
                tuple(
                    IkLink(node, None if alone else limit)
                    for node, alone, limit in zip(links, free, limits, strict=True)
                ),
                int(rng.integers(0, 7)),
                float(rng.choice([0.3, 1, 4, 0, -0.2])),
            )
        )
    rig = Rig(
        rng.integers(0, 2, count) if rng.random() < 0.5 else np.zeros(count),
        rng.random(count) < 0.1,
        appends,
        chains=tuple(chains),
    )
    pose = Pose(
        skeleton.translations + rng.normal(size=(frames, count, 3)) * 0.3,
        quaternion.normalize(rng.normal(size=(frames, count, 4)) + [0, 0, 0, 2]),
        np.ones((frames, count, 3)),
        ik=rng.random((frames, len(chains))) < 0.8,
    )
    return skeleton, rig, pose


def trembles(skeleton: Skeleton, rig: Rig, pose: Pose, options: dict[str, bool]) -> bool:
    """Whether changes in the last digit change the oracle's answer."""
    rng = np.random.default_rng(0)
    still = mmd.solve(skeleton, rig, pose, **options)
    for _ in range(30):
        shaken = replace(
            pose,
            translations=pose.translations + rng.normal(size=pose.translations.shape) * 1e-14,
            rotations=pose.rotations + rng.normal(size=pose.rotations.shape) * 1e-15,
        )
        if np.abs(mmd.solve(skeleton, rig, shaken, **options) - still).max() > 1e-8:
            return True
    return False


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_equals_the_oracle(seed, keep_best, plain_step):
    skeleton, rig, pose = random_rig(seed)
    assert _plan(skeleton, rig).order.tolist() == mmd.evaluation_order(skeleton, rig)
    options = {"keep_best": keep_best, "plain_step": plain_step}
    expected = mmd.solve(skeleton, rig, pose, **options)
    away = np.abs(solve(skeleton, rig, pose, **options) - expected).max(axis=(1, 2, 3))
    for frame in np.flatnonzero(away > 1e-7):
        # Where an axis or a side hangs on rounding, so does the oracle: 3 of 1000 such rigs.
        assert trembles(skeleton, rig, pose[int(frame)], options)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_frame_does_not_depend_on_the_others(seed):
    skeleton, rig, pose = random_rig(seed)
    together = solve(skeleton, rig, pose)
    alone = np.concatenate([solve(skeleton, rig, pose[f]) for f in range(pose.frames)])
    np.testing.assert_array_equal(together, alone)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_matrices_stay_rigid(seed):
    skeleton, rig, pose = random_rig(seed)
    turns = solve(skeleton, rig, pose)[..., :3]
    products = turns @ np.swapaxes(turns, -1, -2)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), products.shape), atol=1e-12)


def test_threads_do_not_change_a_bit():
    skeleton, rig, pose = random_rig(8)
    many = Pose(
        *(np.tile(each, (700, 1, 1)) for each in (pose.translations, pose.rotations, pose.scales))
    )
    results = []
    for threads in (1, 2, 3):
        _core.set_thread_count(threads)
        results.append(solve(skeleton, rig, many).tobytes())
    _core.set_thread_count(0)
    assert results[0] == results[1] == results[2]
