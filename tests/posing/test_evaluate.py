"""The whole way: order of steps, and poses with everything worked out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.model import (
    Append,
    Attachment,
    Character,
    Expression,
    FixedAxis,
    Geometry,
    IkChain,
    IkLink,
    JointBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Rig,
    RotationConstraint,
    Skeleton,
)
from bunraku.posing import evaluate, global_transforms, resolved
from bunraku.rotation import quaternion

TURN = quaternion.from_axis_angle([0, 0, 1], np.radians(40))


def doll(**more) -> Character:
    """A body with a face, an arm on a fixed axis, and a hand that follows it."""
    skeleton = Skeleton(("body", "arm", "hand"), [-1, 0, 0], [[0, 1, 0], [1, 0, 0], [2, 0, 0]])
    lifted = MorphTarget([0], positions=[[0, 1, 0]])
    mesh = Mesh("face", (Geometry([[0, 0, 0]], morphs=(lifted,)),), (), ("up",))
    smile = Expression("smile", (MorphBind(0, 0), JointBind(1, np.array([0, 0, 1.0]), TURN)))
    rig = Rig(
        layers=[0, 0, 0],
        appends=(Append(2, 1, 0.5, translation=True),),
        fixed_axes=(FixedAxis(1, np.array([1.0, 0, 0])),),
    )
    parts = {"attachments": (Attachment(0, 0),), "expressions": (smile,), "rig": rig}
    return Character(skeleton, (mesh,), **(parts | more))


def test_morphs_come_after_fixed_axes_and_before_appends():
    character = doll()
    pose = replace(character.rest_pose(), expressions=np.ones((1, 1)))
    turns = pose.rotations.copy()
    turns[0, 1] = quaternion.from_axis_angle([0.6, 0.8, 0], np.radians(30))
    asked, world = evaluate(character, replace(pose, rotations=turns))
    about_x = quaternion.from_axis_angle([1, 0, 0], np.radians(30))
    expected = quaternion.multiply(TURN, about_x)
    np.testing.assert_allclose(asked.rotations[0, 1], expected, atol=1e-12)
    assert asked.morph_weights[0].tolist() == [[1]]
    np.testing.assert_allclose(world[0, 1, :, 3], [1, 1, 1], atol=1e-12)
    # The hand takes half of all that: of the move, and of the turn.
    np.testing.assert_allclose(world[0, 2, :, 3], [2, 1, 0.5], atol=1e-12)
    half = quaternion.from_rotation_vector(quaternion.to_rotation_vector(expected) / 2)
    np.testing.assert_allclose(world[0, 2, :, :3], quaternion.to_matrix(half), atol=1e-12)


def test_constraints_of_vrm_run_after_expressions():
    follow = Rig(constraints=(RotationConstraint(2, 1),))
    character = doll(rig=follow)
    pose = replace(character.rest_pose(), expressions=np.ones((1, 1)))
    _, world = evaluate(character, pose)
    np.testing.assert_allclose(world[0, 2, :, :3], quaternion.to_matrix(TURN), atol=1e-12)
    plain = resolved(character, pose)
    np.testing.assert_allclose(plain.rotations[0, 2], TURN, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_forward_kinematics_of_a_resolved_pose_is_the_answer(seed):
    rng = np.random.default_rng(seed)
    count, frames = 7, 4
    skeleton = Skeleton(("",) * count, [-1, 0, 1, 2, -1, 2, 0], rng.normal(size=(count, 3)))
    rig = Rig(
        layers=rng.integers(0, 2, count),
        appends=(Append(5, 1, -0.7, translation=True), Append(6, 3, 1.5, local=True)),
        chains=(IkChain(4, 3, (IkLink(2), IkLink(1)), 6, 1.0),),
    )
    character = Character(skeleton, rig=rig)
    rest = character.rest_pose()
    pose = replace(
        rest,
        translations=rest.translations + rng.normal(size=(frames, count, 3)),
        rotations=quaternion.normalize(rng.normal(size=(frames, count, 4))),
        scales=rng.uniform(0.5, 2, (frames, count, 1)) * np.ones(3),
        ik=rng.random((frames, 1)) < 0.7,
        expressions=np.zeros((frames, 0)),
        visible=np.ones(frames, bool),
    )
    plain = resolved(character, pose)
    expected = evaluate(character, pose)[1]
    np.testing.assert_allclose(global_transforms(skeleton, plain), expected, atol=1e-9)
    again = resolved(Character(skeleton), plain)
    np.testing.assert_array_equal(again.rotations, plain.rotations)


def test_a_resolved_pose_says_nothing_twice():
    character = doll()
    pose = replace(character.rest_pose(), expressions=np.full((1, 1), 0.5))
    plain = resolved(character, pose)
    assert not plain.expressions.any()
    assert plain.morph_weights[0].tolist() == [[0.5]]
    bare = replace(character, rig=None)
    np.testing.assert_allclose(evaluate(bare, plain)[1], evaluate(character, pose)[1], atol=1e-12)


def test_below_a_scale_of_zero_a_resolved_pose_is_still_one():
    character = doll(expressions=())
    pose = character.rest_pose()
    scales = pose.scales.copy()
    scales[0, 0] = 0
    plain = resolved(character, replace(pose, scales=scales))
    world = global_transforms(character.skeleton, plain)[0]
    np.testing.assert_allclose(world[:, :, 3], [[0, 1, 0]] * 3, atol=1e-12)


@pytest.mark.parametrize("step", [evaluate, resolved])
def test_without_anything_to_do_the_pose_is_the_same_object(step):
    character = doll(rig=None, expressions=())
    pose = character.rest_pose()
    answer = step(character, pose)
    assert (answer[0] if isinstance(answer, tuple) else answer) is pose
