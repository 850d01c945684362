"""Springs, against physics worked by hand and the slow version in tests/reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Collider, Pose, Rig, Skeleton, Spring, SpringJoint
from bunraku.posing import global_transforms
from bunraku.posing.springs import STEP, Springs, swing, swing_crowd
from tests.reference.springs import Simulation

HANGING = SpringJoint(1, 2, stiffness=0, gravity_power=1.0)
# A body, an arm of two links down from it with a passive node between, and a carrier of colliders.
CHAIN = Skeleton(
    ("root", "upper", "passive", "lower", "tip", "carrier"),
    [-1, 0, 1, 2, 3, 0],
    [[0, 1, 0], [0.1, 0, 0], [0, -0.1, 0.05], [0, -0.1, 0], [0, -0.2, 0], [0, -0.3, 0.1]],
    Rotation.random(6, random_state=5).as_quat(),
)


def rod(length: float = 1.0) -> Skeleton:
    return Skeleton(("root", "rod", "tip"), [-1, 0, 1], [[0, 0, 0], [0, 0, 0], [length, 0, 0]])


def still(skeleton: Skeleton, frames: int) -> Pose:
    return Pose(
        np.tile(skeleton.translations, (frames, 1, 1)),
        np.tile(skeleton.rotations, (frames, 1, 1)),
        np.tile(skeleton.scales, (frames, 1, 1)),
    )


def wild(skeleton: Skeleton, frames: int, seed: int) -> Pose:
    """Every node moves, turns and grows a little, smoothly; scales stay uniform."""
    random = np.random.default_rng(seed)
    time = np.arange(frames)[:, None, None] * STEP
    count = len(skeleton)
    waves = [0.1 * np.sin(2 * np.pi * time * random.uniform(0.5, 2, (count, 3))) for _ in range(2)]
    rest = still(skeleton, frames)
    turns = Rotation.from_rotvec(3 * waves[1].reshape(-1, 3)) * Rotation.from_quat(
        rest.rotations.reshape(-1, 4)
    )
    scales = rest.scales * (1 + waves[0][:, :, :1])
    return Pose(rest.translations + waves[0], turns.as_quat().reshape(frames, count, 4), scales)


def tips(skeleton: Skeleton, pose: Pose, node: int = -1) -> np.ndarray:
    return global_transforms(skeleton, pose)[:, node, :, 3]


def test_tails_that_do_not_hang_on_their_joint_are_refused():
    with pytest.raises(RigError, match="does not hang on it"):
        Springs(rod(), Rig(springs=(Spring("", (SpringJoint(2, 1),)),)))


def test_a_center_that_hangs_on_its_own_spring_is_none():
    pose = wild(rod(), 20, 2)
    turns = []
    for center in (None, 1, 2):
        springs = Springs(rod(), Rig(springs=(Spring("", (HANGING,), center=center),)))
        assert [note.code for note in springs.notes] == ["center-on-spring"] * (center is not None)
        turns.append(swing(springs, pose).pose.rotations)
    np.testing.assert_array_equal(turns[0], turns[1])
    np.testing.assert_array_equal(turns[0], turns[2])


def test_of_springs_in_a_circle_the_first_in_the_file_comes_first():
    skeleton = Skeleton(("a", "a tip", "b", "b tip"), [-1, 0, -1, 2], [[0, 0, 0], [0, 1, 0]] * 2)
    shapes = tuple(Collider(node, "sphere", np.zeros(3), 0.3) for node in (1, 3))
    joints = (SpringJoint(0, 1, gravity_power=2.0), SpringJoint(2, 3, stiffness=0.1))
    pose = wild(skeleton, 30, 6)

    def turns(*lists: tuple[int, ...]) -> np.ndarray:
        springs = tuple(Spring("", (j,), own) for j, own in zip(joints, lists, strict=True))
        made = Springs(skeleton, Rig(springs=springs, colliders=shapes))
        in_circle = ["springs-in-circle"] * all(lists)
        assert [note.code for note in made.notes] == in_circle
        return swing(made, pose).pose.rotations

    np.testing.assert_array_equal(turns((1,), (0,)), turns((), (0,)))


def test_a_collider_pushes_what_is_below_it_not_what_carries_it():
    joints = (
        SpringJoint(1, 2, stiffness=0, gravity_power=2.0),
        SpringJoint(2, 3, stiffness=0, gravity_power=2.0),
    )
    skeleton = Skeleton(
        ("root", "a", "b", "tip"), [-1, 0, 1, 2], [[0, 0, 0], [0, 0, 0], [0, -1, 0], [0, -0.5, 0]]
    )
    ball = Collider(1, "sphere", np.array([0.1, -1.5, 0]), 0.3)
    free = Springs(skeleton, Rig(springs=(Spring("", joints),), colliders=(ball,)))
    held = Springs(skeleton, Rig(springs=(Spring("", joints, (0,)),), colliders=(ball,)))
    pose = still(skeleton, 60)
    turns = [swing(springs, pose).pose.rotations for springs in (free, held)]
    np.testing.assert_array_equal(turns[0][:, 1], turns[1][:, 1])
    assert np.abs(turns[0][:, 2] - turns[1][:, 2]).max() > 0.1


def test_motions_that_do_not_fit_are_refused():
    springs = Springs(rod(), Rig(springs=(Spring("", (HANGING,)),)))
    pose = still(rod(), 3)
    with pytest.raises(RigError, match="pose: 6 nodes, but the springs' skeleton has 3"):
        swing(springs, still(CHAIN, 3))
    with pytest.raises(RigError, match="expected a frame to start from"):
        swing(springs, pose[0:0])
    for tails in (np.zeros((2, 2, 3)), np.full((2, 1, 3), np.nan)):
        with pytest.raises(RigError, match="tails: expected finite numbers of shape"):
            swing(springs, pose, tails)


@pytest.mark.parametrize("index", range(10))
def test_the_core_checks_at_its_door(index):
    """Each array in turn with an index that is out of range, or of another length."""
    good = [
        np.array([-1, 0], np.int32),
        np.array([0, 1], np.int32),
        np.array([[0, -1, 0]], np.int32),
        np.zeros((1, 28)),
        np.array([0, 1], np.int32),
        np.array([1], np.int32),
        np.array([0, 1], np.int32),
        np.array([0], np.int32),
        np.array([[1, 0, 0]], np.int32),
        np.zeros((1, 7)),
    ]
    assert _core.springs.System(*good).joint_count == 1
    for worse in (good[index] + 7, good[index][:0], good[index] - 2, np.tile(good[index], 2)):
        if worse.dtype == np.float64 and worse.shape == good[index].shape:
            continue
        if worse.ndim != good[index].ndim:
            worse = worse.reshape(2, -1)
        with pytest.raises(ValueError, match=r"expected|out of range|but there are"):
            _core.springs.System(*good[:index], worse, *good[index + 1 :])


def test_a_rod_without_forces_stays_as_it_is():
    rig = Rig(springs=(Spring("", (replace(HANGING, gravity_power=0.0),)),))
    pose = swing(Springs(rod(), rig), still(rod(), 50)).pose
    np.testing.assert_array_equal(pose.rotations, still(rod(), 50).rotations)


def test_a_rod_falls_and_hangs_in_the_end():
    rig = Rig(springs=(Spring("", (HANGING,)),))
    skeleton = rod(0.5)
    pose = swing(Springs(skeleton, rig), still(skeleton, 600)).pose
    ends = tips(skeleton, pose)
    np.testing.assert_allclose(np.linalg.norm(ends, axis=1), 0.5, atol=1e-15)
    np.testing.assert_allclose(ends[-1], [0, -0.5, 0], atol=1e-3)


def test_the_first_step_is_the_formula():
    rig = Rig(springs=(Spring("", (replace(HANGING, stiffness=2.0, gravity_power=3.0),)),))
    pose, tails = swing(Springs(rod(), rig), still(rod(), 2))
    following = np.array([1 + 2 * STEP, -3 * STEP, 0])
    following /= np.linalg.norm(following)
    np.testing.assert_allclose(tips(rod(), pose)[1], following, atol=1e-15)
    np.testing.assert_allclose(tails, [[following], [[1, 0, 0]]], atol=1e-15)


def test_stiff_springs_lead_back_to_rest_whatever_the_clip_says():
    rig = Rig(springs=(Spring("", (SpringJoint(1, 2, stiffness=4.0),)),))
    pose = still(rod(), 300)
    moving = np.array(pose.rotations)
    moving[:, 1] = [0, 0, 1, 0]
    done = swing(Springs(rod(), rig), replace(pose, rotations=moving)).pose
    np.testing.assert_allclose(done.rotations[:, 1], [[0, 0, 0, 1]] * 300, atol=1e-12)


def test_going_on_from_the_tails_is_as_good_as_one_run():
    rig = Rig(springs=(Spring("", (SpringJoint(1, 3), SpringJoint(3, 4, gravity_power=0.4))),))
    springs, pose = Springs(CHAIN, rig), wild(CHAIN, 40, 1)
    whole = swing(springs, pose)
    first = swing(springs, pose[0:13])
    second = swing(springs, pose[13:40], first.tails)
    np.testing.assert_array_equal(whole.pose.rotations[13:], second.pose.rotations)
    np.testing.assert_array_equal(whole.tails, second.tails)


@pytest.mark.parametrize("shape", ["sphere", "capsule"])
def test_tails_stay_out_of_shapes_and_in_those_that_are_hollow(shape):
    skeleton = rod()
    where = np.array([0.6, -0.8, 0.1])
    far = where + [0, 0, -0.3]
    for inside, radius in ((False, 0.3), (True, 1.2)):
        collider = Collider(0, shape, where, radius, tail=far, inside=inside)
        joint = replace(HANGING, gravity_power=3.0, hit_radius=0.05)
        rig = Rig(springs=(Spring("", (joint,), (0,)),), colliders=(collider,))
        pose = swing(Springs(skeleton, rig), still(skeleton, 400)).pose
        ends = tips(skeleton, pose)
        share = np.clip((ends - where) @ (far - where) / 0.09, 0, 1) if shape == "capsule" else 0
        nearest = where + np.multiply.outer(share, far - where) if shape == "capsule" else where
        distance = np.linalg.norm(ends - nearest, axis=1)
        if inside:
            assert distance[-1] < radius - 0.05 + 1e-3
        else:
            # One push per step: length is restored after it, which may leave a little inside.
            assert distance.min() > radius + 0.05 - 0.02
        assert (ends[-1] != [0, -1, 0]).any()


def test_tails_stay_above_a_plane():
    tilt = Rotation.from_rotvec([0, 0, 0.3])
    skeleton = Skeleton(
        ("root", "rod", "tip", "floor"),
        [-1, 0, 1, -1],
        [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, -0.5, 0]],
        [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], tilt.as_quat()],
        [[1, 1, 1], [1, 1, 1], [1, 1, 1], [2, 1, 5]],
    )
    floor = Collider(3, "plane", np.zeros(3), normal=np.array([0, 1.0, 0]))
    joint = replace(HANGING, gravity_power=2.0, hit_radius=0.02)
    rig = Rig(springs=(Spring("", (joint,), (0,)),), colliders=(floor,))
    ends = tips(skeleton, swing(Springs(skeleton, rig), still(skeleton, 300)).pose, 2)
    height = (ends - [0, -0.5, 0]) @ tilt.apply([0, 1, 0])
    assert height.min() > 0.02 - 0.02
    assert height[-1] == pytest.approx(0.02, abs=1e-2)


def test_at_the_very_middle_of_a_shape_there_is_no_way_out():
    sphere = Collider(0, "sphere", np.array([1.0, 0, 0]), 0.3)
    rig = Rig(
        springs=(Spring("", (replace(HANGING, gravity_power=0.0),), (0,)),), colliders=(sphere,)
    )
    pose = swing(Springs(rod(), rig), still(rod(), 5)).pose
    np.testing.assert_array_equal(pose.rotations, still(rod(), 5).rotations)


def test_a_center_carries_the_chain_along():
    """With the moving hips as center, nothing swings: inertia is felt in its space alone."""
    skeleton = rod()
    moving = np.array(still(skeleton, 60).translations)
    moving[:, 0, 2] = np.sin(np.arange(60) / 5)
    pose = replace(still(skeleton, 60), translations=moving)
    joint = SpringJoint(1, 2, stiffness=0.5, drag=0.2)
    for center, swings in ((0, False), (None, True)):
        rig = Rig(springs=(Spring("", (joint,), center=center),))
        turns = swing(Springs(skeleton, rig), pose).pose.rotations[:, 1]
        assert (np.abs(turns - [0, 0, 0, 1]).max() > 1e-12) == swings


def test_a_joint_without_length_is_left_alone():
    rig = Rig(springs=(Spring("", (HANGING,)),))
    springs = Springs(rod(0.0), rig)
    assert len(springs.nodes) == 0
    pose = still(rod(0.0), 4)
    np.testing.assert_array_equal(swing(springs, pose).pose.rotations, pose.rotations)


def test_the_last_of_two_springs_on_a_node_turns_it():
    strong = Spring("", (replace(HANGING, gravity_power=9.0),))
    both = Rig(springs=(Spring("", (HANGING,)), strong))
    pose = still(rod(), 9)
    np.testing.assert_array_equal(
        swing(Springs(rod(), both), pose).pose.rotations,
        swing(Springs(rod(), Rig(springs=(strong,))), pose).pose.rotations,
    )


def test_scales_of_nothing_do_no_harm():
    rig = Rig(springs=(Spring("", (HANGING,), center=0),))
    pose = replace(still(rod(), 5), scales=np.zeros((5, 3, 3)))
    done = swing(Springs(rod(), rig), pose)
    assert np.isfinite(done.tails).all()
    np.testing.assert_array_equal(done.pose.rotations, pose.rotations)


SHAPES = (
    Collider(5, "sphere", np.array([0.02, 0, 0]), 0.08),
    Collider(0, "capsule", np.array([0, -0.1, 0]), 0.05, tail=np.array([0, -0.6, 0.1])),
    Collider(5, "plane", np.array([0, 0, -0.1]), normal=np.array([0, 1.0, 2])),
    Collider(0, "sphere", np.zeros(3), 0.4, inside=True),
    Collider(5, "capsule", np.zeros(3), 0.5, tail=np.array([0, 0.2, 0]), inside=True),
)


@pytest.mark.parametrize("center", [None, 0, 5])
def test_steps_agree_with_the_slow_version(center):
    joints = (
        SpringJoint(1, 3, None, 1.5, 0.3, (0.0, -1.0, 0.0), 0.3, 0.02),
        SpringJoint(3, 4, None, 0.7, 0.8, (0.6, -0.8, 0.0), 0.5, 0.03),
        SpringJoint(4, None, np.array([0, -0.07, 0.02]), 0.2, 0.1, drag=0.1),
    )
    rig = Rig(springs=(Spring("", joints, (0, 1, 2, 3, 4), center),), colliders=SHAPES)
    pose = wild(CHAIN, 60, 3)
    done = swing(Springs(CHAIN, rig), pose)
    free = replace(rig, springs=(replace(rig.springs[0], colliders=()),))
    assert np.abs(swing(Springs(CHAIN, free), pose).tails - done.tails).max() > 0.01
    slow = Simulation(CHAIN, rig, [1, 3, 4])
    for f in range(60):
        state = pose.translations[f], pose.rotations[f], pose.scales[f]
        expected = slow.step(*state) if f else slow.start(*state)
        signs = np.sign((expected * done.pose.rotations[f]).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(done.pose.rotations[f], signs * expected, atol=1e-11)
    for i, node in enumerate((1, 3, 4)):
        np.testing.assert_allclose(done.tails[:, i], slow.tails[node], atol=1e-12)


def test_parents_may_stand_after_their_children():
    """The same chain in the reverse file order swings the same."""
    count = len(CHAIN)
    flipped = Skeleton(
        CHAIN.names[::-1],
        [count - 1 - p if p >= 0 else -1 for p in CHAIN.parents[::-1]],
        CHAIN.translations[::-1],
        CHAIN.rotations[::-1],
    )
    rig = Rig(
        springs=(Spring("", (SpringJoint(1, 3), SpringJoint(3, 4)), (0,)),), colliders=SHAPES[:1]
    )
    back = Rig(
        springs=(Spring("", (SpringJoint(4, 2), SpringJoint(2, 1)), (0,)),),
        colliders=(replace(SHAPES[0], node=0),),
    )
    pose = wild(CHAIN, 20, 4)
    mirrored = Pose(*(each[:, ::-1] for each in (pose.translations, pose.rotations, pose.scales)))
    np.testing.assert_array_equal(
        swing(Springs(CHAIN, rig), pose).pose.rotations,
        swing(Springs(flipped, back), mirrored).pose.rotations[:, ::-1],
    )


def test_a_collider_that_hangs_on_another_spring_is_up_to_date():
    """A chain is pushed by a sphere on the tip of another: that one is simulated first."""
    skeleton = Skeleton(
        ("a", "a tip", "b", "b tip"),
        [-1, 0, -1, 2],
        [[0, 0, 0], [0, -1, 0], [0.5, 0, 0], [0, -1, 0]],
    )
    sphere = Collider(3, "sphere", np.zeros(3), 0.3)
    pusher = Spring(
        "", (SpringJoint(2, 3, stiffness=0, gravity_power=2, gravity_direction=(-1, 0, 0)),)
    )
    pushed = Spring("", (SpringJoint(0, 1, stiffness=1),), (0,))
    rig = Rig(springs=(pushed, pusher), colliders=(sphere,))
    pose = swing(Springs(skeleton, rig), still(skeleton, 60)).pose
    slow = Simulation(skeleton, rig, [2, 0])
    for f in range(60):
        state = skeleton.translations, skeleton.rotations, skeleton.scales
        expected = slow.step(*state) if f else slow.start(*state)
        signs = np.sign((expected * pose.rotations[f]).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(pose.rotations[f], signs * expected, atol=1e-12)
    assert tips(skeleton, pose, 1)[-1, 0] < -0.05


def test_a_crowd_swings_as_each_alone_on_any_number_of_threads():
    rig = Rig(springs=(Spring("", (SpringJoint(1, 3), SpringJoint(3, 4)), (0,)),), colliders=SHAPES)
    springs = Springs(CHAIN, rig)
    single = Springs(rod(), Rig(springs=(Spring("", (HANGING,)),)))
    members = [(springs, wild(CHAIN, 20, i), None) for i in range(8)]
    members.insert(3, (single, still(rod(), 7), None))
    alone = [swing(*member) for member in members]
    try:
        for threads in (1, 3):
            _core.set_thread_count(threads)
            for one, of_crowd in zip(alone, swing_crowd(members), strict=True):
                np.testing.assert_array_equal(one.pose.rotations, of_crowd.pose.rotations)
                np.testing.assert_array_equal(one.tails, of_crowd.tails)
    finally:
        _core.set_thread_count(0)
