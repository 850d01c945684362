from __future__ import annotations

from dataclasses import replace

import pytest

from bunraku.errors import FormatError
from bunraku.formats.mmd import VpdBone, VpdFile, VpdMorph, read_vpd, vpd_bytes, write_vpd
from tests.formats.mmd.sketch import VPD

HEAD = b"Vocaloid Pose Data file\r\n\r\nmiku.osm;\r\n1;\r\n"
BONE = b"Bone0{a\r\n0,0,0;\r\n0,0,0,1;\r\n}\r\n"

INVALID = {
    "nothing": (b"", "expected 'Vocaloid Pose Data file'"),
    "something before it": (b"x" + HEAD, "expected 'Vocaloid Pose Data file'"),
    "no count": (b"Vocaloid Pose Data file\r\nmiku.osm;\r\n", "a number of bones"),
    "a negative count": (HEAD.replace(b"1;", b"-1;"), "a number of bones"),
    "an absurd count": (HEAD.replace(b"1;", b"9" * 9999 + b";"), "a number of bones"),
    "a number too few": (HEAD + BONE.replace(b"0,0,0;", b"0,0;"), "line 5: bad numbers in Bone"),
    "no number": (HEAD + BONE.replace(b"0,0,0;", b"0,x,0;"), "line 5: bad numbers in Bone"),
    "an infinite number": (HEAD + BONE.replace(b"0,0,0;", b"0,1e999,0;"), "line 5: bad numbers"),
    "no end": (HEAD + BONE[:-3], "line 5: expected a Bone or Morph block"),
    "another block": (HEAD + BONE + b"\r\nCamera0{\r\n}", "line 10: expected a Bone or Morph"),
}


@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID.keys())
def test_what_is_malformed_is_said(data: bytes, message: str):
    with pytest.raises(FormatError, match=message) as error:
        read_vpd(data, name="x.vpd")
    assert str(error.value).startswith("x.vpd: ")


def test_a_pose_as_mmd_writes_it():
    pose = read_vpd(VPD)
    assert (pose.model, pose.bone_count, pose.encoding) == ("初音ミク.osm", 2, "cp932")
    right, odd = pose.bones
    assert right == VpdBone("右腕", (0, 0.5, 0), (0.024172, 0.005823, -0.360407, 0.932468))
    assert odd == VpdBone("ソ能", (1, 2, 3), (0, 0, 0, 1))  # second bytes are \ and }
    assert pose.morphs == (VpdMorph("あ", 0.25),)
    assert pose.notes == ()


def test_it_is_written_bit_for_bit_even_without_its_text(tmp_path):
    pose = read_vpd(VPD)
    assert vpd_bytes(pose) == VPD
    assert vpd_bytes(replace(pose, text=b"")) == VPD
    write_vpd(pose, tmp_path / "x.vpd")
    assert (tmp_path / "x.vpd").read_bytes() == VPD


LAYOUTS = {
    "line ends": VPD.replace(b"\r\n", b"\n"),
    "old line ends": VPD.replace(b"\r\n", b"\r"),
    "no comments": b"\r\n".join(line.split(b"//")[0] for line in VPD.split(b"\r\n")),
    "more white space": VPD.replace(b",", b" ,\t").replace(b"{", b"  {").replace(b"}", b"\r\n }"),
    "other comments": b"// {}\r\n".join([VPD[:25], VPD[25:] + b"// end }"]),
    "an end of file mark": VPD + b"\x1a",
    "UTF-8": VPD.decode("cp932").encode(),
    "UTF-8 with a mark": VPD.decode("cp932").encode("utf-8-sig"),
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_other_layouts_say_the_same_and_are_kept(data: bytes):
    pose = read_vpd(data)
    assert replace(pose, encoding="cp932") == read_vpd(VPD)
    assert vpd_bytes(pose) == data
    moved = replace(pose, bones=(replace(pose.bones[0], rotation=(0.1, 1 / 3, 0, 1e-9)),))
    assert read_vpd(vpd_bytes(moved)) == moved


def test_what_is_declared_and_what_is_there():
    three = read_vpd(HEAD.replace(b"1;", b"3;") + BONE)
    assert (three.bone_count, len(three.bones), len(three.posed)) == (3, 1, 1)
    one = read_vpd(HEAD + BONE + BONE)
    assert (one.bone_count, len(one.bones), len(one.posed)) == (1, 2, 1)
    assert [note.code for note in (*one.notes, *three.notes)] == ["bone-count"] * 2
    assert vpd_bytes(one) == HEAD + BONE + BONE


def test_undecodable_names_survive():
    pose = read_vpd(HEAD + BONE.replace(b"{a", b"{\x8d"))
    assert vpd_bytes(replace(pose, text=b"")).count(b"{\x8d\r\n") == 1


@pytest.mark.parametrize("name", ["龙", " a", "a\nb", "a // b"])
def test_names_that_cannot_be_written_are_refused(name: str):
    with pytest.raises(FormatError, match="bone 0"):
        vpd_bytes(VpdFile("m", (VpdBone(name),)))
