from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.bvh import (
    BvhFile,
    BvhJoint,
    bvh_bytes,
    bvh_from_clip,
    character_from_bvh,
    clip_from_bvh,
    read_bvh,
)
from bunraku.model import Character, Clip, Skeleton, Track, differences
from bunraku.rotation import quaternion
from tests.formats.test_bvh import PLAIN

TURNS = ("Zrotation", "Xrotation", "Yrotation")
TURN = [0.0, 0, 0, 1]


def capture(*joints: BvhJoint, values: list[list[float]], time: float = 0.1) -> BvhFile:
    return BvhFile(joints, time, np.array(values, np.float64), source="c.bvh")


INVALID = {
    "no time between frames": (
        capture(BvhJoint("a", -1, channels=TURNS), values=[[0] * 3] * 2, time=0.0),
        "c.bvh: Frame Time: expected a positive number, found 0",
    ),
    "time that runs back": (
        capture(BvhJoint("a", -1, channels=TURNS), values=[[0] * 3] * 2, time=-1.0),
        "c.bvh: Frame Time: expected a positive number, found -1",
    ),
    "an offset out of range": (
        BvhFile((BvhJoint("a", -1, (math.inf, 0.0, 0.0)),), 0.1, np.zeros((0, 0)), source="c.bvh"),
        "c.bvh: skeleton.translations",
    ),
    "a place out of range": (
        capture(BvhJoint("a", -1, channels=("Xposition",)), values=[[1e300]]),
        "c.bvh: track 'a' translation",
    ),
}


@pytest.mark.parametrize(("file", "message"), INVALID.values(), ids=INVALID.keys())
def test_captures_that_cannot_be(file: BvhFile, message: str):
    with pytest.raises(FormatError) as caught:
        character_from_bvh(file)
    assert str(caught.value).startswith(message)


UNWRITABLE = {
    "a curve": Track("a", "rotation", [0, 1], [TURN] * 2, "BEZIER", [[[0, 0, 1, 1]]] * 2),
    "steps": Track("a", "rotation", [0, 1], [TURN] * 2, "STEP"),
    "a spline": Track("a", "rotation", [0], [[TURN] * 3], "CUBICSPLINE"),
    "uneven times": Track("a", "rotation", [0, 1, 3], [TURN] * 3),
}


@pytest.mark.parametrize("given", UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_motions_that_are_no_frames(given: Track):
    character = Character(Skeleton(("a", "b"), [-1, 0]))
    with pytest.raises(UnsupportedError, match="bake the motion first"):
        bvh_from_clip(Clip("c", (given,)), character)


def test_nodes_with_keys_at_other_times():
    tracks = (
        Track("a", "rotation", [0, 1], [TURN] * 2),
        Track("b", "rotation", [0, 2], [TURN] * 2),
    )
    with pytest.raises(UnsupportedError, match="other times"):
        bvh_from_clip(Clip("c", tracks), Character(Skeleton(("a", "b"), [-1, 0])))


def test_tracks_that_a_capture_has_no_place_for():
    tracks = (
        Track("a", "scale", [0], [[1, 1, 1]]),
        Track("ghost", "rotation", [0], [TURN]),
        Track("a", "expression", [0], [[1]]),
    )
    _, notes = bvh_from_clip(Clip("c", tracks), Character(Skeleton(("a",), [-1])))
    assert [note.code for note in notes] == ["track-dropped"] * 3


# ------------------------------------------------------------------------- reading


def test_a_figure_of_joints_and_ends():
    file = capture(
        BvhJoint("Hips", -1, (0, 1, 0), TURNS),
        BvhJoint("Head", 0, (0, 2, 0), TURNS),
        BvhJoint("Site", 1, (0, 0.5, 0), is_end=True),
        values=[[0.0] * 6],
    )
    character = character_from_bvh(file)
    assert character.skeleton.names == ("Hips", "Head", "Head end")
    assert character.skeleton.parents.tolist() == [-1, 0, 1]
    assert character.skeleton.translations.tolist() == [[0, 1, 0], [0, 2, 0], [0, 0.5, 0]]
    assert "unit-unknown" in [note.code for note in character.notes]
    assert character.document is file


@pytest.mark.parametrize(
    "axes", ["".join(p) for p in itertools.permutations("XYZ")] + ["XYX", "Z", "YX"]
)
def test_rotations_are_applied_in_the_order_of_their_channels(axes: str):
    angles = [30.0, -40.0, 100.0][: len(axes)]
    channels = tuple(f"{axis}rotation" for axis in axes)
    file = capture(BvhJoint("a", -1, channels=channels), values=[angles])
    (track,) = clip_from_bvh(file).tracks
    matrix = np.eye(3)
    for axis, angle in zip(axes, np.radians(angles), strict=True):
        turn = quaternion.from_axis_angle(np.eye(3)["XYZ".index(axis)], angle)
        matrix = matrix @ quaternion.to_matrix(turn)
    np.testing.assert_allclose(quaternion.to_matrix(track.values[0]), matrix, atol=1e-6)


def test_positions_take_the_place_of_the_offset():
    channels = ("Yposition", "Zrotation", "Xposition")
    file = capture(BvhJoint("a", -1, (7, 8, 9), channels), values=[[1, 0, 2], [3, 90, 4]])
    move, turn = clip_from_bvh(file).tracks
    assert move.values.tolist() == [[2, 1, 9], [4, 3, 9]]
    assert not move.relative
    np.testing.assert_allclose(turn.times, [0, 0.1])
    np.testing.assert_allclose(turn.values[1], [0, 0, math.sqrt(0.5), math.sqrt(0.5)], rtol=1e-6)


def test_frames_with_gaps_have_no_key():
    nan = math.nan
    file = capture(
        BvhJoint("a", -1, channels=("Xrotation",)),
        BvhJoint("b", 0, channels=("Xrotation",)),
        values=[[1, nan], [nan, nan], [3, nan]],
    )
    clip = clip_from_bvh(file)
    assert [(each.target, each.key_count) for each in clip.tracks] == [("a", 2)]
    assert [note.code for note in clip.notes] == ["frames-with-gaps"] * 2


def test_neighbouring_keys_lie_on_the_same_side():
    file = capture(BvhJoint("a", -1, channels=("Xrotation",)), values=[[170], [190], [350], [370]])
    values = clip_from_bvh(file).tracks[0].values
    assert ((values[1:] * values[:-1]).sum(axis=1) > 0).all()


def test_a_motion_without_frames():
    clip = clip_from_bvh(BvhFile((BvhJoint("a"),), 0.1, np.zeros((0, 0))))
    assert clip.tracks == ()


# ------------------------------------------------------------------------- writing


def test_an_unchanged_motion_is_its_document():
    file = read_bvh(PLAIN)
    character = character_from_bvh(file)
    assert bvh_from_clip(character.clips[0], character)[0] is file


def test_a_motion_made_anew_says_the_same():
    file = read_bvh(PLAIN)
    character = character_from_bvh(file)
    made, notes = bvh_from_clip(replace(character.clips[0], document=None), character)
    assert notes == ()
    again = character_from_bvh(read_bvh(bvh_bytes(made)))
    assert again.skeleton.names[: len(character.skeleton)] == character.skeleton.names
    ends = [joint.is_end for joint in made.joints]
    assert ends == [*(joint.is_end for joint in file.joints), True]  # every bone gets an end
    for was, now in zip(character.clips[0].tracks, again.clips[0].tracks, strict=True):
        assert (was.target, was.path) == (now.target, now.path)
        np.testing.assert_allclose(now.times, was.times, atol=1e-9)
        np.testing.assert_allclose(now.values, was.values, atol=1e-6)


def test_nodes_are_written_depth_first_with_ends():
    skeleton = Skeleton(("b", "root", "a {1}", ""), [1, -1, 0, 1], [[1, 0, 0]] * 4)
    made, _ = bvh_from_clip(Clip("c", ()), Character(skeleton))
    assert [joint.name for joint in made.joints] == ["root", "b", "a (1)", "Site", "node3", "Site"]
    assert [joint.parent for joint in made.joints] == [-1, 0, 1, 2, 0, 4]
    assert len(made.values) == 1
    assert read_bvh(bvh_bytes(made)).values.shape == made.values.shape


def test_relative_translations_are_added_to_rest():
    given = Track("a", "translation", [0], [[0, 1, 0]], relative=True)
    made, _ = bvh_from_clip(Clip("c", (given,)), Character(Skeleton(("a",), [-1], [[5.0, 5, 5]])))
    assert made.values[0, :3].tolist() == [5, 6, 5]


# ------------------------------------------------------------------------- real files


def test_captures_of_the_corpus(corpus: Path):
    paths = sorted(corpus.rglob("*.bvh"))
    assert len(paths) > 3
    for path in paths:
        file = read_bvh(path)
        character = character_from_bvh(file)
        assert character.humanoid is not None, path.name
        assert character.humanoid.missing == (), path.name
        made, notes = bvh_from_clip(replace(character.clips[0], document=None), character)
        assert notes == (), path.name
        again = character_from_bvh(made)
        order = [again.skeleton.names.index(name) for name in character.skeleton.names]
        moved = again.skeleton.translations[order]
        np.testing.assert_array_equal(moved, character.skeleton.translations, path.name)
        for was, now in zip(character.clips[0].tracks, again.clips[0].tracks, strict=True):
            size = max(1.0, float(np.abs(was.values).max()))
            np.testing.assert_allclose(now.values, was.values, atol=1e-6 * size)
        assert differences(clip_from_bvh(file), character.clips[0]) == []
