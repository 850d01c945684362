"""Names in motions that are written in one encoding or another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.formats.mmd import (
    BONE_KEY,
    IK_STATE,
    PropertyKey,
    VmdFile,
    clip_from_vmd,
    vmd_from_clip,
)


def spelled(encoding: str, *names: str, size: int = 15) -> VmdFile:
    """A motion of bones of these names, which also switches the IK of the first."""
    keys = np.zeros(len(names), BONE_KEY)
    keys["name"] = [name.encode(encoding)[:size] for name in names]
    state = np.array([(names[0].encode(encoding)[:20], 1)], IK_STATE)
    return VmdFile(bones=keys, properties=(PropertyKey(0, 1, state),))


NAMES = {
    "cp932": ("cp932", ("右腕", "センター", "ﾃｽﾄ"), []),
    "UTF-8": ("utf-8", ("右腕", "左目", "center"), ["names-utf-8"]),
    "one name of UTF-8 that cp932 can read": ("utf-8", ("左目",), ["names-utf-8"]),
    "katakana of half a width that UTF-8 can read": ("cp932", ("ﾃｽ",), []),
    "Latin letters": ("utf-8", ("center", "arm"), []),
    "GBK": ("gbk", ("骨骼", "头发物理"), ["names-undecoded"]),
}


@pytest.mark.parametrize(("encoding", "names", "codes"), NAMES.values(), ids=NAMES)
def test_names_are_read_as_what_they_can_be(encoding, names, codes):
    clip = clip_from_vmd(spelled(encoding, *names))
    assert [note.code for note in clip.notes] == codes
    read = [track.target for track in clip.tracks if track.path in ("rotation", "ik")]
    if encoding != "gbk":
        assert read == [*names, names[0]]
    again = vmd_from_clip(replace(clip, document=None))[0]
    assert clip_from_vmd(again).tracks[0].target == clip.tracks[0].target


@pytest.mark.parametrize("encoding", ["cp932", "utf-8"])
def test_a_letter_that_the_field_cut_tells_nothing_of_the_encoding(encoding):
    clip = clip_from_vmd(spelled(encoding, "右腕", "あaスカート左前奥"))
    codes = [note.code for note in clip.notes]
    assert codes == ([] if encoding == "cp932" else ["names-utf-8"])
    assert clip.tracks[0].target == "右腕"


def test_names_that_are_nothing_are_counted():
    keys = np.zeros(3, BONE_KEY)
    keys["name"] = ["右腕".encode("cp932"), b"\x85\xff", b"\x81"]
    (note,) = clip_from_vmd(VmdFile(bones=keys)).notes
    assert note.code == "names-undecoded"
    assert note.message.startswith("2 names are no cp932, as ")
