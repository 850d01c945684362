"""Node constraints, against worked angles and the formulas in plain matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from bunraku.errors import RigError
from bunraku.model import AimConstraint, Pose, Rig, RollConstraint, RotationConstraint, Skeleton
from bunraku.posing import global_transforms
from bunraku.posing.constraints import constrain
from bunraku.rotation import quaternion

X, Y, Z = np.eye(3)


def turn(axis, angle):
    return quaternion.from_axis_angle(axis, angle)


def tree(seed: int, nodes: int = 6) -> Skeleton:
    random = np.random.default_rng(seed)
    return Skeleton(
        tuple(f"n{i}" for i in range(nodes)),
        [-1, 0, 1, 0, 3, -1][:nodes],
        random.normal(size=(nodes, 3)),
        Rotation.random(nodes, random_state=seed).as_quat(),
    )


def posed(skeleton: Skeleton, seed: int, frames: int = 3) -> Pose:
    count = len(skeleton)
    turns = Rotation.random(frames * count, random_state=seed).as_quat()
    return Pose(
        np.tile(skeleton.translations, (frames, 1, 1)),
        turns.reshape(frames, count, 4),
        np.ones((frames, count, 3)),
    )


def test_a_pose_of_another_skeleton_is_refused():
    with pytest.raises(RigError, match="3 nodes, but the skeleton has 6"):
        constrain(tree(0), Rig(constraints=(RotationConstraint(1, 3),)), posed(tree(0, 3), 1))


def test_without_constraints_the_pose_is_handed_back():
    pose = posed(tree(0), 1)
    assert constrain(tree(0), Rig(), pose) is pose


def test_a_roll_takes_the_turn_about_the_axis_and_leaves_the_swing():
    pair = Skeleton(("fore", "twist"), [-1, -1])
    bend = quaternion.multiply(turn(Y, 0.5), turn(X, 0.8))
    pose = Pose(np.zeros((1, 2, 3)), np.array([[bend, [0, 0, 0, 1]]]), np.ones((1, 2, 3)))
    rolled = constrain(pair, Rig(constraints=(RollConstraint(1, 0, "X", 0.5),)), pose)
    np.testing.assert_allclose(rolled.rotations[0, 1], turn(X, 0.4), atol=1e-15)


def test_an_aim_points_its_axis_at_the_source():
    skeleton, rig = tree(3), Rig(constraints=(AimConstraint(4, 2, "-Y"),))
    pose = constrain(skeleton, rig, posed(skeleton, 4))
    world = global_transforms(skeleton, pose)
    way = world[:, 2, :, 3] - world[:, 4, :, 3]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    np.testing.assert_allclose(-world[:, 4, :, 1], way, atol=1e-14)


def test_an_aim_at_its_own_place_stays_at_rest():
    skeleton = Skeleton(("eye", "target"), [-1, -1])
    pose = constrain(skeleton, Rig(constraints=(AimConstraint(0, 1, "+Z"),)), posed(skeleton, 1))
    np.testing.assert_array_equal(pose.rotations[:, 0], [[0, 0, 0, 1]] * 3)


def test_a_chain_of_constraints_passes_a_turn_on_whatever_its_order():
    skeleton = Skeleton(("a", "b", "c"), [-1, -1, -1])
    pose = posed(skeleton, 1)
    there = Rig(constraints=(RotationConstraint(1, 0), RotationConstraint(2, 1)))
    back = Rig(constraints=there.constraints[::-1])
    done = constrain(skeleton, there, pose)
    np.testing.assert_allclose(
        done.rotations[:, 2] * np.sign(done.rotations[:, 2, 3:]),
        pose.rotations[:, 0] * np.sign(pose.rotations[:, 0, 3:]),
        atol=1e-15,
    )
    np.testing.assert_array_equal(done.rotations, constrain(skeleton, back, pose).rotations)


def reference(skeleton: Skeleton, constraint, pose: Pose) -> Rotation:
    """The specification in plain rotations, for one frame."""
    rest = Rotation.from_quat(skeleton.rotations[constraint.node])
    source_rest = Rotation.from_quat(skeleton.rotations[constraint.source])
    source = Rotation.from_quat(pose.rotations[0, constraint.source])
    if isinstance(constraint, AimConstraint):
        axis = np.eye(3)["XYZ".index(constraint.axis[1])] * (1 if constraint.axis[0] == "+" else -1)
        world = global_transforms(skeleton, pose)[0]
        parent = skeleton.parents[constraint.node]
        above = Rotation.from_matrix(world[parent, :, :3]) if parent >= 0 else Rotation.identity()
        a = (above * rest).apply(axis)
        b = world[constraint.source, :, 3] - world[constraint.node, :, 3]
        b /= np.linalg.norm(b)
        normal = np.cross(a, b)
        angle = np.arctan2(np.linalg.norm(normal), a @ b)
        swing = Rotation.from_rotvec(normal / np.linalg.norm(normal) * angle)
        target = above.inv() * swing * above * rest
    elif isinstance(constraint, RollConstraint):
        delta = rest.inv() * source * source_rest.inv() * rest
        axis = np.eye(3)["XYZ".index(constraint.axis)]
        to = delta.apply(axis)
        normal = np.cross(axis, to)
        angle = np.arctan2(np.linalg.norm(normal), axis @ to)
        swing = Rotation.from_rotvec(normal / np.linalg.norm(normal) * angle)
        target = rest * swing.inv() * delta
    else:
        target = rest * source_rest.inv() * source
    way = (rest.inv() * target).as_rotvec()
    return rest * Rotation.from_rotvec(way * constraint.weight)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.4, 0.0]))
def test_every_kind_follows_its_formula(seed, weight):
    skeleton = tree(seed)
    pose = posed(skeleton, seed + 1)
    for constraint in (
        RotationConstraint(2, 4, weight),
        *(RollConstraint(2, 4, axis, weight) for axis in "XYZ"),
        *(AimConstraint(2, 4, sign + axis, weight) for sign in "+-" for axis in "XYZ"),
    ):
        done = constrain(skeleton, Rig(constraints=(constraint,)), pose)
        for frame in range(3):
            expected = reference(skeleton, constraint, pose[frame])
            off = expected.inv() * Rotation.from_quat(done.rotations[frame, 2])
            assert off.magnitude() < 1e-7
        others = [0, 1, 3, 4, 5]
        np.testing.assert_array_equal(done.rotations[:, others], pose.rotations[:, others])


def test_scale_counts_where_a_node_stands():
    skeleton = Skeleton(("root", "source", "node"), [-1, 0, -1], [[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    rig = Rig(constraints=(AimConstraint(2, 1, "+Y"),))
    rest = Pose(skeleton.translations[None], skeleton.rotations[None], skeleton.scales[None])
    pose = constrain(skeleton, rig, replace(rest, scales=np.full((1, 3, 3), 2.0)))
    tip = quaternion.rotate(pose.rotations[0, 2], Y)
    np.testing.assert_allclose(tip, np.array([-1, 2, 0]) / 5**0.5, atol=1e-15)
