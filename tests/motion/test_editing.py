"""Clips made of poses: invalid input, what gets a track, round trips."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.model import (
    Attachment,
    Character,
    Geometry,
    Mesh,
    MorphTarget,
    Pose,
    Skeleton,
    differences,
)
from bunraku.motion import bind, clip_from_pose, sample
from bunraku.rotation import quaternion


def puppet() -> Character:
    raised = MorphTarget([0], positions=[[0, 1, 0]])
    mesh = Mesh("face", (Geometry([[0, 0, 0]], morphs=(raised, raised)),), (), ("a", "b"))
    skeleton = Skeleton(
        ("root", "arm", "face"),
        [-1, 0, 0],
        np.full((3, 3), 0.1),
        np.tile([0, 0.6, 0, 0.8], (3, 1)),
        np.full((3, 3), 0.3),
    )
    return Character(skeleton, (mesh,), attachments=(Attachment(2, 0),))


def at_rest(frames: int) -> Pose:
    rest = puppet().rest_pose()
    return Pose(
        np.repeat(rest.translations, frames, axis=0),
        np.repeat(rest.rotations, frames, axis=0),
        np.repeat(rest.scales, frames, axis=0),
        tuple(np.repeat(weights, frames, axis=0) for weights in rest.morph_weights),
    )


STILL = at_rest(2)
BARE = Pose(STILL.translations, STILL.rotations, STILL.scales)
WIDE = Pose(STILL.translations, STILL.rotations, STILL.scales, (np.zeros((2, 3)),))
STRANGER = Character(Skeleton(("root",), [-1]))

INVALID = [
    # arguments, keywords, what the message must say
    ((STILL, [0, 1], STRANGER, "c"), {}, r"pose: 3 nodes .* \[2\], but .* 1 and \[\]"),
    ((BARE, [0, 1], puppet(), "c"), {}, r"widths \[\], but"),
    ((WIDE, [0, 1], puppet(), "c"), {}, r"widths \[3\], but .* \[2\]"),
    ((STILL, [0], puppet(), "c"), {}, r"times: expected shape \(2\), found \(1,\)"),
    ((STILL, [0, np.nan], puppet(), "c"), {}, r"times\[1\]"),
    ((STILL, [1, 1], puppet(), "c"), {}, r"times\[1\]: expected strictly increasing"),
    ((STILL, [0, 1], puppet(), "c"), {"nodes": [3]}, r"nodes\[0\]: node 3, but there are 3"),
    ((STILL, [0, 1], puppet(), "c"), {"nodes": [True]}, r"nodes: expected a mask of shape \(3,\)"),
]


@pytest.mark.parametrize(("arguments", "keywords", "message"), INVALID)
def test_invalid_input_is_refused(arguments, keywords, message):
    with pytest.raises(RigError, match=message):
        clip_from_pose(*arguments, **keywords)


def test_a_figure_at_rest_needs_no_tracks():
    assert clip_from_pose(STILL, [0, 1], puppet(), "c").tracks == ()
    negated = Pose(STILL.translations, -STILL.rotations, STILL.scales, STILL.morph_weights)
    assert clip_from_pose(negated, [0, 1], puppet(), "c").tracks == ()
    assert clip_from_pose(at_rest(0), [], puppet(), "c").tracks == ()


def moving() -> Pose:
    translations, scales = STILL.translations.copy(), STILL.scales.copy()
    rotations, weights = STILL.rotations.copy(), STILL.morph_weights[0].copy()
    translations[1, 0, 2] = 5
    rotations[:, 1] = [0, 0, 0, 1]
    scales[0, 2, 0] = 0
    weights[1, 1] = 1
    return Pose(translations, rotations, scales, (weights,))


def test_what_differs_from_rest_gets_a_track():
    clip = clip_from_pose(moving(), [0, 1], puppet(), "c")
    assert clip.name == "c"
    assert [(track.target, track.path, track.interpolation) for track in clip.tracks] == [
        (0, "translation", "LINEAR"),
        (1, "rotation", "LINEAR"),
        (2, "scale", "LINEAR"),
        (2, "weights", "LINEAR"),
    ]


def test_nodes_choose_what_is_written():
    clip = clip_from_pose(moving(), [0, 1], puppet(), "c", nodes=[2, 0])
    assert [(track.target, track.path) for track in clip.tracks] == [
        (2, "scale"),
        (2, "weights"),
        (0, "translation"),
    ]
    assert clip_from_pose(moving(), [0, 1], puppet(), "c", nodes=[]).tracks == ()


def test_signs_of_rotations_follow_on():
    turns = quaternion.from_axis_angle([0, 1, 0], np.linspace(0, 6 * np.pi, 50))
    turns *= np.random.default_rng(2).choice([-1, 1], (50, 1))
    rest = at_rest(50)
    rotations = rest.rotations.copy()
    rotations[:, 1] = turns
    pose = Pose(rest.translations, rotations, rest.scales, rest.morph_weights)
    (track,) = clip_from_pose(pose, np.arange(50), puppet(), "c").tracks
    assert (np.sum(track.values[1:] * track.values[:-1], axis=1) > 0).all()
    assert track.values[0] @ puppet().skeleton.rotations[1] > 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_a_clip_plays_the_pose_it_was_made_of(seed, frames):
    rng = np.random.default_rng(seed)
    pose = Pose(
        rng.normal(size=(frames, 3, 3)),
        quaternion.normalize(rng.normal(size=(frames, 3, 4))),
        rng.normal(size=(frames, 3, 3)),
        (rng.normal(size=(frames, 2)),),
    )
    times = np.cumsum(rng.uniform(0.01, 1, frames))
    bound = bind(clip_from_pose(pose, times, puppet(), "c"), puppet())
    assert bound.notes == ()
    again = sample(bound, times)
    np.testing.assert_array_equal(again.translations, pose.translations.astype("f4"))
    np.testing.assert_array_equal(again.scales, pose.scales.astype("f4"))
    np.testing.assert_array_equal(again.morph_weights[0], pose.morph_weights[0].astype("f4"))
    off = quaternion.angle_between(again.rotations, pose.rotations)
    np.testing.assert_allclose(off, 0, atol=3e-7)


def test_nodes_are_chosen_by_mask_or_index() -> None:
    moved = Pose(STILL.translations + 1, STILL.rotations, STILL.scales, STILL.morph_weights)
    by_mask, by_index = (
        clip_from_pose(moved, [0, 1], puppet(), "c", nodes=nodes)
        for nodes in (np.array([True, False, True]), [0, 2])
    )
    assert [track.target for track in by_mask.tracks] == [0, 2]
    assert differences(by_mask, by_index) == []
