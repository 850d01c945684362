"""A pose is a sequence of frames, and its rotations are rotations."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.model import Pose

STILL = [0.0, 0, 0, 1]


def numbered(frames: int, **fields) -> Pose:
    """Two nodes that stand at the number of the frame."""
    places = np.broadcast_to(np.arange(frames, dtype=float)[:, None, None], (frames, 2, 3))
    weights = (np.arange(frames, dtype=float)[:, None],)
    turns = np.tile(STILL, (frames, 2, 1))
    return Pose(places, turns, np.ones((frames, 2, 3)), weights, **fields)


def turned(quaternion: list[float]) -> Pose:
    return Pose(np.zeros((2, 1, 3)), [[STILL], [quaternion]], np.ones((2, 1, 3)))


def frames_of(pose: Pose) -> list[int]:
    for each in (pose.translations, *pose.morph_weights, pose.rotations, pose.visible):
        assert each.shape[0] == len(pose)
        assert not each.flags.writeable
        assert each.flags.c_contiguous
    return pose.translations[:, 0, 0].astype(int).tolist()


@pytest.mark.parametrize(
    ("quaternion", "found"),
    [
        ([0, 0, 1, 1], "length 1.41421"),
        ([0, 0, 0, 0], "length 0"),
        ([0, 0, 0, 1e200], "length inf"),
        ([0, 0, 0, 0.987], "length 0.987"),
    ],
)
def test_what_is_no_rotation_is_refused(quaternion: list[float], found: str) -> None:
    with pytest.raises(RigError, match=rf"pose.rotations\[1, 0\]: .*unit quaternion.*{found}"):
        turned(quaternion)


def test_rounded_rotations_are_normalised_and_exact_ones_left_alone() -> None:
    exact = np.array([0, 0, np.sin(0.3), np.cos(0.3)])
    assert turned(exact.tolist()).rotations[1, 0].tolist() == exact.tolist()
    rounded = turned(exact.astype(np.float32).tolist()).rotations[1, 0]
    np.testing.assert_allclose(np.linalg.norm(rounded), 1, atol=1e-15)
    with pytest.raises(RigError, match=r"pose.rotations\[1, 0, 2\]: expected finite"):
        turned([0, 0, float("nan"), 1])


@pytest.mark.parametrize(
    ("chosen", "frames"),
    [
        (2, [2]),
        (-1, [4]),
        (np.int64(3), [3]),
        (np.uint8(0), [0]),
        (slice(1, 4), [1, 2, 3]),
        (slice(None, None, -2), [4, 2, 0]),
        ([0, -1, 0], [0, 4, 0]),
        (np.array([True, False, False, True, False]), [0, 3]),
        ([], []),
    ],
)
def test_frames_are_chosen_as_in_an_array(chosen, frames: list[int]) -> None:
    pose = numbered(5)
    assert frames_of(pose[chosen]) == frames
    assert frames_of(pose) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (5, "pose: frame 5, but there are 5"),
        (-6, "pose: frame -6, but there are 5"),
        ([0, 7], r"pose\[1\]: frame 7, but there are 5"),
        (True, "expected the index of a frame, found True"),
        (np.True_, "expected the index of a frame, found True"),
        (1.5, "expected the index of a frame, found 1.5"),
        ("last", "expected the index of a frame, found 'last'"),
        ([True], r"expected a mask of shape \(5,\), found \(1,\)"),
        ([[0]], "expected shape"),
    ],
)
def test_frames_that_there_are_not_are_refused(chosen, message: str) -> None:
    with pytest.raises(RigError, match=message):
        numbered(5)[chosen]


def test_a_pose_is_walked_frame_by_frame() -> None:
    pose = numbered(3)
    assert [frames_of(frame) for frame in pose] == [[0], [1], [2]]
    assert len(pose) == 3
    assert pose not in pose


def test_poses_are_joined() -> None:
    pose = numbered(4)
    assert frames_of(Pose.concatenate(pose)) == [0, 1, 2, 3]
    assert frames_of(Pose.concatenate([pose[2:], pose[:0], pose[0]])) == [2, 3, 0]
    said = numbered(2, expressions=[[1, 2], [3, 4]], ik=[[False], [True]], visible=[False, True])
    both = Pose.concatenate(iter([pose[:1], said]))
    assert both.expressions.tolist() == [[0, 0], [1, 2], [3, 4]]
    assert both.ik.tolist() == [[True], [False], [True]]
    assert both.visible.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("poses", "message"),
    [
        ([], "expected one or more, found none"),
        ([numbered(1), turned(STILL)], "of one character, found 2 and 1 nodes"),
        (
            [numbered(1), numbered(1, expressions=[[1, 2]]), numbered(1, expressions=[[1]])],
            r"expressions of widths \[1, 2\]",
        ),
    ],
)
def test_poses_of_different_characters_are_not_joined(poses: list[Pose], message: str) -> None:
    with pytest.raises(RigError, match=message):
        Pose.concatenate(poses)
