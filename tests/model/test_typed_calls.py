"""Calls as the docstrings make them; `mypy --strict` reads this file, and pytest runs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import bunraku
from bunraku import Character, Clip, Mesh, Pose, Skeleton, Skin, Stage, Track
from bunraku.model import (
    Attachment,
    Expression,
    FixedAxis,
    Geometry,
    IkChain,
    IkLink,
    JointBind,
    MorphBind,
    MorphTarget,
    Part,
    Rig,
    Scene,
    Spring,
    SpringJoint,
)
from bunraku.motion import blend, clip_from_pose, joint_mask


def test_models_are_made_of_lists() -> None:
    skeleton = Skeleton(("hand", "arm"), parents=[1, -1])
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    smile = MorphTarget([2], positions=[[0, 1, 0]])
    skinned = Geometry(corners, joints=[[0]] * 3, weights=[[1]] * 3, morphs=[smile])
    mesh = Mesh("tri", [skinned], [Part(0, [[0, 1, 2]])], ["smile"], [0.5])
    rig = Rig(
        layers=[0, 1],
        fixed_axes=[FixedAxis(0, [1, 0, 0])],
        chains=[IkChain(0, 1, [IkLink(0, [[0, 0, 0], [1, 0, 0]])], 4, 0.5)],
        springs=[Spring("", [SpringJoint(0, tail=[0, 1, 0])])],
    )
    grin = Expression("grin", [MorphBind(0, 0), JointBind(0, [0, 0, 0], [0, 0, 0, 1])])
    character = Character(
        skeleton,
        [mesh],
        [Skin([0, 1])],
        [Attachment(1, 0, 0, morph_weights=[1])],
        scenes=[Scene([1])],
        expressions=[grin],
        rig=rig,
    )
    slide = Track("arm", "translation", [1, 3], [[0, 0, 0], [4, 0, 0]])
    assert Stage(character, Clip("slide", [slide])).deform([2.0]).positions.shape == (1, 3, 3)


def test_models_are_made_of_arrays_of_any_type() -> None:
    geometry = Geometry(np.zeros((3, 3)), joints=np.zeros((3, 1), int), weights=np.ones((3, 1)))
    assert geometry.positions.dtype == np.float32
    pose = Pose([[[0, 1, 0]]], np.array([[[0, 0, 0, 1]]], np.float32), [[[1, 1, 1]]])
    assert pose.rotations.dtype == np.float64


def test_poses_are_edited_and_come_back_as_motions() -> None:
    puppet = bunraku.make_puppet(0.5)
    stage = Stage(puppet, np.int64(0))
    times = stage.frame_times(10)
    pose = stage.pose(times)
    turns = pose.rotations.copy()
    turns[:, 0] = [0, 0, 0, 1]
    still = replace(pose, rotations=turns)
    arms = joint_mask(puppet.skeleton, ["leftShoulder", np.int64(1)])
    mixed = blend(pose, still, np.linspace(0, 1, len(pose)), joints=arms)
    joined = Pose.concatenate([frame for frame in mixed if frame.visible.all()])
    clip = clip_from_pose(joined[[0, -1]], times[[0, -1]], puppet, "edited", nodes=arms)
    bent = stage.deform_pose(joined[times > 1], times[times > 1], method="dqs", normals=True)
    assert bent.normals is not None
    assert Stage(puppet, clip).pose(0.0)[0].frames == 1
