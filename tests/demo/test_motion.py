"""The puppet's clip."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.demo import make_clips, make_puppet
from bunraku.demo.motion import LENGTH
from bunraku.model import Character, Clip
from bunraku.motion import bind
from bunraku.rotation import quaternion
from bunraku.stage import Stage

TIMES = np.linspace(0, LENGTH, 481)


@pytest.fixture(scope="module")
def puppet() -> Character:
    return make_puppet(0.5)


@pytest.fixture(scope="module")
def clip() -> Clip:
    return make_clips()[0]


def turned(puppet: Character, joint: str) -> np.ndarray:
    rotations = Stage(puppet, 0).pose(TIMES).rotations[:, puppet.skeleton.index(joint)]
    return np.degrees(quaternion.to_axis_angle(rotations)[1])


def test_binds_whole(puppet: Character, clip: Clip) -> None:
    assert bind(clip, puppet).notes == ()


def test_every_track_ends_as_it_starts(clip: Clip) -> None:
    assert (clip.start, clip.end) == (0.0, LENGTH)
    for track in clip.tracks:
        assert (track.times[0], track.times[-1]) == (0.0, LENGTH)
        keys = track.values[:, 1] if track.interpolation == "CUBICSPLINE" else track.values
        np.testing.assert_allclose(keys[0], keys[-1], atol=1e-6)


def test_keys_are_kept_by_files(clip: Clip) -> None:
    for track in clip.tracks:
        np.testing.assert_array_equal(track.times, track.times.astype(np.float32))


def test_uses_every_way_of_keying(clip: Clip) -> None:
    assert {track.interpolation for track in clip.tracks} == {"LINEAR", "CUBICSPLINE"}
    assert {track.path for track in clip.tracks} == {"translation", "rotation", "weights"}


def test_rotation_keys_are_unit_and_take_the_short_way(clip: Clip) -> None:
    for track in clip.tracks:
        if track.path != "rotation":
            continue
        keys = track.values[:, 1] if track.interpolation == "CUBICSPLINE" else track.values
        np.testing.assert_allclose(np.linalg.norm(keys, axis=1), 1, atol=1e-6)
        if track.interpolation == "CUBICSPLINE":
            assert ((keys[:-1] * keys[1:]).sum(axis=1) > 0).all()


def test_bends_and_twists_far_enough(puppet: Character) -> None:
    assert turned(puppet, "leftLowerArm").max() > 120
    assert turned(puppet, "rightHand").max() > 150
    assert turned(puppet, "rightHand").max() < 180
    for side in ("left", "right"):
        assert 45 < turned(puppet, f"{side}LowerLeg").max() < 90
    assert turned(puppet, "rightLowerArm").max() < 30  # so that the twist is seen alone


def test_the_twist_is_about_the_forearm(puppet: Character) -> None:
    rotations = Stage(puppet, 0).pose(TIMES).rotations[:, puppet.skeleton.index("rightHand")]
    np.testing.assert_allclose(rotations[:, 1:3], 0, atol=1e-7)


def test_feet_stay_planted(puppet: Character) -> None:
    globals_ = Stage(puppet, 0).global_transforms(TIMES)
    for side in ("left", "right"):
        foot = globals_[:, puppet.skeleton.index(f"{side}Foot")]
        rest = Stage(puppet).global_transforms(0.0)[:, puppet.skeleton.index(f"{side}Foot")]
        assert np.abs(foot[:, :, 3] - rest[:, :, 3]).max() < 0.0005
        assert np.abs(foot[:, :, :3] - np.eye(3)).max() < 0.001


def test_nothing_jumps(puppet: Character) -> None:
    points = Stage(puppet, 0).deform(TIMES).positions
    speed = np.linalg.norm(np.diff(points, axis=0), axis=-1).max() / (TIMES[1] - TIMES[0])
    assert speed < 3.0  # metres per second; the offered hand is the fastest


def test_blinks_and_smiles(puppet: Character) -> None:
    blink, smile = Stage(puppet, 0).pose(TIMES).morph_weights[0].T
    shut = blink > 0.99
    assert np.count_nonzero(np.diff(shut.astype(int)) == 1) == 3
    assert smile.max() == 1
    assert min(blink.min(), smile.min()) == 0


def test_the_hand_passes_before_the_face_and_not_through_it(puppet: Character) -> None:
    stage = Stage(puppet, 0)
    hand = stage.global_transforms(2.45)[0, puppet.skeleton.index("leftMiddleIntermediate"), :, 3]
    head = stage.global_transforms(2.45)[0, puppet.skeleton.index("head"), :, 3]
    centre = head + [0, 0.1, 0]
    assert 0.09 < np.linalg.norm(hand - centre) < 0.22
