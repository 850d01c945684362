"""Poses of MMD as clips of one moment, and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.formats.mmd import (
    BONE_KEY,
    VmdFile,
    VpdBone,
    VpdFile,
    VpdMorph,
    clip_from_vmd,
    clip_from_vpd,
    read_vpd,
    vpd_bytes,
    vpd_from_clip,
)
from bunraku.model import (
    Character,
    Clip,
    Skeleton,
    Track,
    differences,
)
from tests.formats.mmd.sketch import VPD
from tests.formats.mmd.test_vmd_bridge import track

TURN = [0.0, 0, 0, 1]


def test_names_of_a_pose_that_are_nothing_are_counted():
    data = VPD.replace("右腕".encode("cp932"), b"\x85\x00\xff")
    (note,) = clip_from_vpd(read_vpd(data)).notes
    assert note.message.startswith("1 names are no cp932, as ")


def test_a_pose_is_a_clip_of_one_moment():
    file = read_vpd(VPD, name="p.vpd")
    clip = clip_from_vpd(file)
    assert (clip.name, clip.start, clip.end) == ("p", 0, 0)
    turn = track(clip, "rotation", "右腕").values[0]
    np.testing.assert_allclose(turn, [-0.024172, -0.005823, -0.360407, 0.932468], rtol=1e-6)
    move = track(clip, "translation", "ソ能")
    np.testing.assert_allclose(move.values, [[0.08, 0.16, -0.24]], rtol=1e-6)
    assert move.relative
    assert track(clip, "expression", "あ").values.tolist() == [[0.25]]
    assert vpd_from_clip(clip)[0] is file


def test_a_name_that_was_cut_stays_so_in_a_pose():
    cut = "スカート_左前1長い".encode("cp932")[:15]
    keys = np.zeros(1, BONE_KEY)
    keys["name"], keys["rotation"] = cut, TURN
    made = vpd_from_clip(clip_from_vmd(VmdFile(bones=keys)))[0]
    assert cut in vpd_bytes(made)


def test_only_the_bones_that_are_counted_are_posed():
    clip = clip_from_vpd(VpdFile("m", (VpdBone("a"), VpdBone("b")), bone_count=1))
    assert {each.target for each in clip.tracks} == {"a"}
    assert [note.code for note in clip.notes] == ["bones-unread"]


def test_a_pose_made_anew_says_the_same():
    bones = (VpdBone("右腕", (1, 2, 3), (0, 0.6, 0, 0.8)), VpdBone("頭"))
    clip = clip_from_vpd(VpdFile("m", bones, (VpdMorph("あ", 0.5),)))
    made, notes = vpd_from_clip(replace(clip, document=None))
    assert notes == ()
    again = clip_from_vpd(read_vpd(vpd_bytes(made)))
    assert differences(replace(again, name=clip.name), clip) == []


def test_a_pose_is_the_first_key_of_a_motion():
    given = Track("頭", "rotation", [0, 1], [[0, 0.6, 0, 0.8], TURN])
    character = Character(Skeleton(("頭",), [-1]), name="miku")
    made, notes = vpd_from_clip(Clip("c", (given,)), character)
    assert [note.code for note in notes] == ["keys-dropped"]
    assert made.model == "miku.osm"
    assert made.bones[0].rotation == pytest.approx((0, -0.6, 0, 0.8))
