"""Motions between T-poses, key by key, and gaze."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.model import Clip, Expression, LookAt, RangeMap, Rig, Track
from bunraku.motion import bind, clip_from_pose, sample
from bunraku.posing import global_transforms
from bunraku.retargeting import retarget
from bunraku.retargeting.faces import gaze_tracks
from bunraku.retargeting.figure import Figure
from bunraku.retargeting.normalised import normalised_tracks
from bunraku.rotation import quaternion
from tests.retargeting.figures import dance, figure

PAIRS = [
    (figure(), figure(size=1.7)),
    (figure(seed=1), figure(seed=2, size=0.6)),
    (figure(seed=3), figure(facing="-Z", seed=4)),
    (figure(facing="-Z"), figure(seed=5)),
]


def turned(character, pose) -> np.ndarray:
    """World rotations since rest, the character facing +Z."""
    one = Figure(character)
    now = one.faced(global_transforms(character.skeleton, pose))
    nodes = list(one.bones.values())
    return now[:, nodes, :, :3] @ np.linalg.inv(one.rest[nodes, :, :3])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_bones_turn_alike_in_the_world_and_hips_by_their_height(source, target):
    pose = dance(source, 5, 1)
    clip = clip_from_pose(pose, np.arange(5.0), source, "dance")
    tracks, notes = normalised_tracks(clip, Figure(source), Figure(target), 30)
    assert not notes
    assert {track.key_count for track in tracks} == {5}
    done = sample(bind(Clip("", tuple(tracks)), target), np.arange(5.0))
    np.testing.assert_allclose(turned(target, done), turned(source, pose), atol=1e-6)
    hips = [
        Figure(c).faced(global_transforms(c.skeleton, p))[:, c.humanoid.bones["hips"], :, 3]
        for c, p in ((source, pose), (target, done))
    ]
    ratio = Figure(target).place("hips")[1] / Figure(source).place("hips")[1]
    np.testing.assert_allclose(hips[1], ratio * hips[0], atol=1e-6)


@pytest.mark.parametrize("kind", ["STEP", "LINEAR", "CUBICSPLINE"])
def test_interpolation_stays(kind):
    """Half way between keys the figures agree, too: the conversion is linear in the keys."""
    source, target = PAIRS[2]
    random = np.random.default_rng(3)
    bones = [source.humanoid.bones[bone] for bone in ("hips", "spine", "leftUpperArm")]
    tracks = []
    for node in bones:
        keys = random.normal(size=(4, 3, 4) if kind == "CUBICSPLINE" else (4, 4))
        keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
        tracks.append(Track(node, "rotation", np.arange(4.0), keys, kind))
    moves = random.normal(size=(4, 3, 3) if kind == "CUBICSPLINE" else (4, 3))
    tracks.append(Track(bones[0], "translation", np.arange(4.0), moves, kind))
    clip = Clip("", tuple(tracks))
    made, _ = normalised_tracks(clip, Figure(source), Figure(target), 30)
    assert {track.interpolation for track in made} == {kind}
    times = np.linspace(0, 3, 31)
    poses = [
        sample(bind(each, character), times)
        for each, character in ((clip, source), (Clip("", tuple(made)), target))
    ]
    np.testing.assert_allclose(turned(target, poses[1]), turned(source, poses[0]), atol=1e-5)


def test_bones_that_are_missing_are_handed_down_or_noted():
    source, target = figure(), figure(without=("chest", "leftIndexDistal", "leftHand"))
    pose = dance(source, 4, 2)
    clip = clip_from_pose(pose, np.arange(4.0), source, "dance")
    tracks, notes = normalised_tracks(clip, Figure(source), Figure(target), 2)
    assert [note.code for note in notes] == ["bone-missing"]
    assert "leftIndexDistal" in notes[0].message
    assert "chest" not in notes[0].message
    done = sample(bind(Clip("", tuple(tracks)), target), np.arange(4.0))
    names = list(source.humanoid.bones)
    for bone in ("head", "rightHand", "leftIndexProximal"):
        ours = turned(target, done)[:, list(target.humanoid.bones).index(bone)]
        theirs = turned(source, pose)[:, names.index(bone)]
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def eyes(kind: str, **humanoid) -> object:
    to = RangeMap(np.radians(90), np.radians(45) if kind == "bone" else 1.0)
    rig = Rig(look_at=LookAt(kind, np.zeros(3), to, to, to, to))
    presets = ("lookUp", "lookDown", "lookLeft", "lookRight")
    faces = tuple(Expression(name, preset=name) for name in presets)
    return replace(figure(), rig=rig, expressions=faces, **humanoid)


def test_gaze_becomes_expressions():
    left = quaternion.from_axis_angle([0, 1, 0], np.radians(45))
    gaze = Track("lookAt", "rotation", [0, 1], [[0, 0, 0, 1], left])
    clip = retarget(Clip("", (gaze,)), figure(), eyes("expression"), fps=4)
    pose = sample(bind(clip, eyes("expression")), [0, 0.5, 1])
    np.testing.assert_allclose(
        pose.expressions, [[0, 0, 0, 0], [0, 0, 0.25, 0], [0, 0, 0.5, 0]], atol=1e-6
    )
    assert not clip.notes


def test_gaze_turns_eyes():
    character = eyes("bone")
    bones = dict(character.humanoid.bones)
    # Two nodes that a figure has to spare play the eyes.
    bones["leftEye"], bones["rightEye"] = bones.pop("leftToes"), bones.pop("rightToes")
    character = replace(character, humanoid=type(character.humanoid)(bones))
    down = quaternion.from_axis_angle([1, 0, 0], np.radians(30))
    gaze = Track("lookAt", "rotation", [0, 1], [[0, 0, 0, 1], down])
    tracks = gaze_tracks(Clip("", (gaze,)), character, 4)
    assert {track.target for track in tracks} == {bones["leftEye"], bones["rightEye"]}
    expected = quaternion.from_axis_angle([1, 0, 0], np.radians(15))
    for track in tracks:
        np.testing.assert_allclose(track.values[-1], expected, atol=1e-6)


def test_gaze_without_eyes_to_follow_it_is_left_out():
    gaze = Track("lookAt", "rotation", [0], [[0, 0, 0, 1]])
    assert gaze_tracks(Clip("", (gaze,)), figure(), 4) == []
    assert gaze_tracks(Clip("", ()), eyes("bone"), 4) == []
