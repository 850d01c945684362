"""Motions from figure to figure: what has to agree, agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.model import (
    Append,
    Character,
    Clip,
    Expression,
    Humanoid,
    IkChain,
    IkLink,
    Rig,
    Skeleton,
    Track,
)
from bunraku.motion import bind, clip_from_pose, sample
from bunraku.posing import global_transforms
from bunraku.retargeting import retarget
from bunraku.retargeting.figure import SEGMENTS, Figure, moving_parts
from bunraku.retargeting.segments import leg_ratio, transferred
from tests.retargeting.figures import dance, figure

PAIRS = [
    (figure(), figure(size=1.7, legs=1.3)),
    (figure(lowered=35), figure()),
    (figure(), figure(lowered=40, size=0.4)),
    (figure(lowered=35, seed=1), figure(seed=2, legs=0.8)),
    (figure(lowered=35), figure(facing="-Z", seed=3)),
    (figure(facing="-Z", seed=4), figure(lowered=20)),
]


def world(character: Character, pose) -> np.ndarray:
    return Figure(character).faced(global_transforms(character.skeleton, pose))


def places(character: Character, transforms: np.ndarray, bone: str) -> np.ndarray:
    return transforms[:, character.humanoid.bones[bone], :, 3]


def test_characters_that_are_no_humanoids_are_refused():
    plain = Character(Skeleton(("root",), [-1]), name="crate")
    headless = replace(plain, humanoid=Humanoid({"head": 0}))
    for wrong in (plain, headless):
        with pytest.raises(RigError, match="crate has no humanoid with hips"):
            retarget(Clip("", ()), wrong, figure())
    for fps in (0, -1, np.nan, np.inf):
        with pytest.raises(RigError, match="fps: expected a positive number"):
            retarget(Clip("", ()), figure(), figure(), fps=fps)
    long = Clip("", (Track(1, "translation", [0, 1e9], np.zeros((2, 3))),))
    with pytest.raises(RigError, match="would be"):
        retarget(long, figure(), figure())


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_limbs_and_fingers_point_the_same_way(source, target):
    there = global_transforms(source.skeleton, dance(source, 20, 5))
    pose = transferred(Figure(source), there, Figure(target))
    there, here = Figure(source).faced(there), world(target, pose)
    for near, far in SEGMENTS.items():
        if near not in target.humanoid.bones or "Leg" in near:
            continue
        ways = [
            places(character, transforms, far) - places(character, transforms, near)
            for character, transforms in ((source, there), (target, here))
        ]
        ways = [way / np.linalg.norm(way, axis=1, keepdims=True) for way in ways]
        np.testing.assert_allclose(ways[1], ways[0], atol=1e-7)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_feet_stand_where_the_source_has_them_in_proportion_to_the_legs(source, target):
    there = global_transforms(source.skeleton, dance(source, 20, 6, wide=0.3))
    pose = transferred(Figure(source), there, Figure(target))
    there, here = Figure(source).faced(there), world(target, pose)
    ratio = leg_ratio(Figure(source), Figure(target))
    reached = 0
    for side in ("left", "right"):
        ankle, hip = f"{side}Foot", f"{side}UpperLeg"
        way = places(source, there, ankle) - Figure(source).place(ankle)
        goal = Figure(target).place(ankle) + ratio * way
        start = places(target, here, hip)
        lengths = [
            np.linalg.norm(Figure(target).place(a) - Figure(target).place(b))
            for a, b in ((hip, f"{side}LowerLeg"), (f"{side}LowerLeg", ankle))
        ]
        within = np.linalg.norm(goal - start, axis=1) < sum(lengths) * 0.999
        reached += within.sum()
        off = np.linalg.norm(places(target, here, ankle) - goal, axis=1)
        assert off[within].max(initial=0) < 1e-6 * sum(lengths)
        # What is out of reach is reached for: the leg is straight and points there.
        past = np.linalg.norm(goal - start, axis=1) - sum(lengths)
        assert (off[~within] < past[~within] + 1e-2 * sum(lengths)).all()
    assert reached > 15


def test_feet_keep_their_rotation_and_knees_their_plane():
    source, target = figure(), figure(size=1.5, legs=1.2)
    poses = dance(source, 20, 7, wide=0.3)
    there = global_transforms(source.skeleton, poses)
    here = world(target, transferred(Figure(source), there, Figure(target)))
    for side in ("left", "right"):
        foot = f"{side}Foot"
        turned = [
            transforms[:, character.humanoid.bones[foot], :, :3]
            for character, transforms in ((source, there), (target, here))
        ]
        np.testing.assert_allclose(turned[1], turned[0], atol=1e-12)
        normals = []
        for character, transforms in ((source, there), (target, here)):
            hip, knee, ankle = (
                places(character, transforms, f"{side}{bone}")
                for bone in ("UpperLeg", "LowerLeg", "Foot")
            )
            normals.append(np.cross(knee - hip, ankle - knee))
        assert ((normals[0] * normals[1]).sum(axis=1) > 0).all()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_figure_at_rest_leaves_trunk_and_feet_at_rest(source, target):
    there = global_transforms(source.skeleton, source.rest_pose())
    pose = transferred(Figure(source), there, Figure(target))
    here, rest = world(target, pose), world(target, target.rest_pose())
    for bone in ("hips", "spine", "chest", "neck", "head", "leftShoulder", "leftFoot", "rightFoot"):
        node = target.humanoid.bones[bone]
        np.testing.assert_allclose(here[0, node], rest[0, node], atol=2e-3)


def test_on_its_own_figure_a_motion_is_itself():
    source = figure(lowered=30, seed=8)
    pose = dance(source, 12, 9)
    there = global_transforms(source.skeleton, pose)
    same = transferred(Figure(source), there, Figure(source))
    np.testing.assert_allclose(global_transforms(source.skeleton, same), there, rtol=0, atol=1e-6)


def test_what_the_target_lacks_goes_to_the_bones_below():
    source, target = figure(), figure(without=("chest", "leftShoulder", "neck"))
    there = global_transforms(source.skeleton, dance(source, 6, 10))
    here = world(target, transferred(Figure(source), there, Figure(target)))
    for bone in ("head", "leftUpperArm", "leftHand", "rightUpperArm"):
        node = source.humanoid.bones[bone]
        np.testing.assert_allclose(here[:, node, :, :3], there[:, node, :, :3], atol=1e-12)


def test_figures_without_legs_move_by_the_height_of_their_hips():
    legs = tuple(f"{s}{b}" for s in ("left", "right") for b in ("UpperLeg", "LowerLeg", "Foot"))
    source, target = figure(without=legs), figure(size=2.0)
    pose = dance(source, 6, 11)
    there = global_transforms(source.skeleton, pose)
    here = world(target, transferred(Figure(source), there, Figure(target)))
    np.testing.assert_allclose(
        places(target, here, "hips"), 2 * places(source, there, "hips"), atol=1e-12
    )


def test_clips_are_sampled_from_their_first_key_to_their_last():
    source, target = figure(lowered=35), figure()
    pose = dance(source, 4, 12)
    clip = clip_from_pose(pose, [0.5, 1.0, 1.25, 1.51], source, "dance")
    done = retarget(clip, source, target, fps=4)
    assert {track.key_count for track in done.tracks} == {6}
    np.testing.assert_allclose(done.tracks[0].times, [0.5, 0.75, 1, 1.25, 1.5, 1.51])
    bound = bind(done, target)
    assert not bound.notes
    for moment, frame in ((0.5, 0), (1.0, 1), (1.51, 3)):
        there = global_transforms(source.skeleton, pose[frame])
        expected = world(target, transferred(Figure(source), there, Figure(target)))
        np.testing.assert_allclose(world(target, sample(bound, moment)), expected, atol=1e-5)


def test_long_clips_are_worked_in_blocks():
    source, target = figure(lowered=35), figure()
    turns = dance(source, 3, 13)
    clip = clip_from_pose(turns, [0, 10, 20], source, "slow")
    done = retarget(clip, source, target, fps=60)
    assert done.tracks[0].key_count == 1201
    moments = [0, 8.5, 8.55, 17.05, 20]  # beside the seams at 512/60 and 1024/60
    there = global_transforms(source.skeleton, sample(bind(clip, source), moments))
    expected = world(target, transferred(Figure(source), there, Figure(target)))
    here = world(target, sample(bind(done, target), moments))
    np.testing.assert_allclose(here, expected, atol=1e-4)


def faces(clip: Clip) -> list[int]:
    return [track.target for track in clip.tracks if track.path == "expression"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [("blink", "まばたき"), ("aa", "あ"), ("mood", "mood"), ("blinkRight", "ウィンク２右")],
)
def test_expressions_find_those_of_the_same_meaning(given, expected):
    names = ("まばたき", "あ", "mood", "ウィンク２右", "happy")
    mmd = replace(figure(), expressions=tuple(Expression(name) for name in names))
    vrm = replace(figure(), expressions=(Expression("x", preset=given), Expression(given)))
    track = Track(given, "expression", [0, 1], [[0], [1]])
    done = retarget(Clip("", (track,)), figure(), mmd)
    assert faces(done) == [names.index(expected)]
    back = retarget(Clip("", (replace(track, target=expected),)), mmd, vrm)
    assert faces(back) == [1 if given == "mood" else 0]


def test_expressions_that_the_target_lacks_are_noted():
    track = Track("smirk", "expression", [0, 1], [[0], [1]])
    done = retarget(Clip("", (track,)), figure(), figure())
    assert not faces(done)
    assert done.notes[0].code == "expression-missing"
    assert "smirk" in done.notes[0].message


def test_what_is_no_bone_of_a_humanoid_is_noted():
    body = figure(seed=1)
    count, rest = len(body.skeleton), body.skeleton
    skeleton = Skeleton(
        (*rest.names, "hair", "braid", "still"),
        [*rest.parents, rest.index("head"), count, count],
        np.concatenate([rest.translations, np.zeros((3, 3))]),
        np.concatenate([rest.rotations, [[0, 0, 0, 1]] * 3]),
    )
    source = replace(body, skeleton=skeleton, scenes=None)
    turned = [[0.6, 0, 0, 0.8]]
    hips = skeleton.names.index("hips")
    tracks = (
        *(Track(name, "rotation", [0], turned) for name in ("root", "head", "hair", "braid")),
        Track("still", "rotation", [0], [[0, 0, 0, 1]]),
        Track(hips, "rotation", [0], [skeleton.rotations[hips]]),
        Track("smirk", "expression", [0], [[0]]),
    )
    (note,) = retarget(Clip("c", tracks), source, figure()).notes
    assert note.code == "tracks-left-out"
    assert note.message.startswith(
        "2 of 7 tracks of 'c' move what is no bone of a humanoid: 'hair'"
    )


def test_what_moves_bones_by_rules_is_a_part_of_the_figure():
    body = figure()
    index = body.skeleton.index
    leg = [index(f"left{bone}") for bone in ("LowerLeg", "UpperLeg")]
    names = (*body.skeleton.names, "goal", "over goal", "twist", "tail")
    count = len(body.skeleton)
    skeleton = Skeleton(names, [*body.skeleton.parents, count + 1, -1, -1, -1])
    rig = Rig(
        layers=np.zeros(len(names)),
        appends=(Append(index("leftHand"), count + 2, 0.5),),
        chains=(IkChain(count, index("leftFoot"), tuple(map(IkLink, leg)), 1, 1.0),),
    )
    parts = moving_parts(replace(body, skeleton=skeleton, rig=rig, scenes=None))
    assert parts == set(range(len(names) - 1))
    assert moving_parts(body) == set(range(count))
