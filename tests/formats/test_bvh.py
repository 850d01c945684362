from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.bvh import BvhFile, BvhJoint, bvh_bytes, read_bvh, write_bvh

PLAIN = b"""HIERARCHY
ROOT Hips
{
\tOFFSET 0.0 1.0 0.0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Left Leg
\t{
\t\tOFFSET 0.1 -0.5 0.0
\t\tCHANNELS 3 Yrotation Xrotation Zrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0.0 -0.5 0.0
\t\t}
\t}
\tJOINT Spine
\t{
\t\tOFFSET 0.0 0.25 0.0
\t\tCHANNELS 1 Zrotation
\t}
}
MOTION
Frames: 2
Frame Time: 0.0333333
0.0 1.0 0.0 10.0 20.0 30.0 1.0 2.0 3.0 4.0
0.5 1.5 0.5 -10.0 -20.0 -30.0 -1.0 -2.0 -3.0 -4.0
"""

HEAD, MOTION = PLAIN.split(b"MOTION")


def hierarchy(body: bytes) -> bytes:
    return b"HIERARCHY\n" + body + b"\nMOTION\nFrames: 0\nFrame Time: 1\n"


INVALID = {
    "nothing": (b"", "expected a line MOTION"),
    "no motion": (HEAD, "expected a line MOTION"),
    "no hierarchy": (b"ROOT a\nMOTION\nFrames: 0\nFrame Time: 1", "expected HIERARCHY"),
    "no frames": (HEAD + b"MOTION\nFrame Time: 1", "expected 'Frames:' and 'Frame Time:'"),
    "a frame time of letters": (HEAD + b"MOTION\nFrames: 0\nFrame Time: x", "frame time"),
    "a joint at the top": (hierarchy(b"JOINT a { OFFSET 0 0 0 }"), "JOINT is not expected"),
    "a root in a root": (hierarchy(b"ROOT a { ROOT b {"), "ROOT is not expected"),
    "a joint in an end": (hierarchy(b"ROOT a { End Site { JOINT b {"), "JOINT is not expected"),
    "a brace too few": (hierarchy(b"ROOT a { OFFSET 0 0 0"), "expected '}', found MOTION"),
    "a brace too many": (hierarchy(b"ROOT a { OFFSET 0 0 0 } }"), "'}' is not expected"),
    "no opening brace": (hierarchy(b"ROOT a"), "expected '{', found MOTION"),
    "no offset": (hierarchy(b"ROOT a { CHANNELS 0 }"), r"joint 0 \(a\): expected an OFFSET"),
    "two offsets": (hierarchy(b"ROOT a { OFFSET 0 0 0 OFFSET 0 0 0 }"), "OFFSET"),
    "half an offset": (hierarchy(b"ROOT a { OFFSET 0 0 }"), "OFFSET: expected a number"),
    "seven channels": (hierarchy(b"ROOT a { CHANNELS 7 }"), "expected 0 to 6, found 7"),
    "half a channel": (hierarchy(b"ROOT a { CHANNELS 0.5 }"), "expected 0 to 6"),
    "a channel there is not": (
        hierarchy(b"ROOT a { CHANNELS 1 Wrotation }"),
        "unknown 'Wrotation'",
    ),
    "channels at an end": (
        hierarchy(b"ROOT a { OFFSET 0 0 0 End Site { OFFSET 0 0 0 CHANNELS 1 Xrotation } }"),
        "no channels at an",
    ),
    "another word": (hierarchy(b"ROOT a { SCALE 1 }"), "'SCALE' is not expected"),
    "an offset without end": (hierarchy(b"ROOT a { OFFSET 0 inf 0 }"), "OFFSET: expected a number"),
    "half a frame": (PLAIN[:-6], "frame 1: expected 10 values, found 9"),
    "a value of letters": (
        PLAIN.replace(b"-20.0", b"-2O.0"),
        "frame 1, channel 4: expected a number",
    ),
    "values without channels": (hierarchy(b"ROOT a { OFFSET 0 0 0 }") + b"1", "expected 0 values"),
}


@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID.keys())
def test_what_is_malformed_is_said(data: bytes, message: str):
    with pytest.raises(FormatError, match=message) as error:
        read_bvh(data, name="x.bvh")
    assert str(error.value).startswith("x.bvh: ")


def test_every_field_is_where_it_belongs():
    motion = read_bvh(PLAIN)
    position = ("Xposition", "Yposition", "Zposition")
    assert motion.joints == (
        BvhJoint("Hips", -1, (0, 1, 0), (*position, "Zrotation", "Xrotation", "Yrotation")),
        BvhJoint("Left Leg", 0, (0.1, -0.5, 0), ("Yrotation", "Xrotation", "Zrotation")),
        BvhJoint("Site", 1, (0, -0.5, 0), is_end=True),
        BvhJoint("Spine", 0, (0, 0.25, 0), ("Zrotation",)),
    )
    assert motion.first_channels.tolist() == [0, 6, 9, 9]
    assert motion.frame_time == 0.0333333
    assert motion.values[1].tolist() == [0.5, 1.5, 0.5, -10, -20, -30, -1, -2, -3, -4]
    assert (motion.declared_frames, motion.notes) == (2, ())


def test_it_is_written_bit_for_bit_even_without_its_text(tmp_path):
    motion = read_bvh(PLAIN)
    assert bvh_bytes(motion) == PLAIN
    assert bvh_bytes(replace(motion, text=b"")) == PLAIN
    write_bvh(motion, tmp_path / "x.bvh")
    assert (tmp_path / "x.bvh").read_bytes() == PLAIN


LAYOUTS = {
    "line ends": PLAIN.replace(b"\n", b"\r\n"),
    "old line ends": PLAIN.replace(b"\n", b"\r"),
    "one line": PLAIN.replace(b"\n", b" ").replace(b" MOTION", b"\nMOTION"),
    "braces on the line": PLAIN.replace(b"\n{", b"{").replace(b"{", b"{ "),
    "tabs": PLAIN.replace(b" ", b"\t").replace(b"Left\tLeg", b"Left Leg"),
    "upper case": PLAIN.replace(b"position", b"POSITION").replace(b"rotation", b"ROTATION"),
    "lower case": PLAIN.replace(b"OFFSET", b"offset").replace(b"End", b"end"),
    "short numbers": PLAIN.replace(b"0.5", b".5").replace(b"1.0", b"1"),
    "exponents": PLAIN.replace(b"10.0", b"1e+001"),
    "wrapped frames": PLAIN.replace(b"30.0 ", b"30.0\n"),
    "a mark": b"\xef\xbb\xbf" + PLAIN,
    "an end of file mark": PLAIN + b"\x1a",
    "empty lines": PLAIN.replace(b"\n", b"\n\n"),
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_other_layouts_say_the_same_and_are_kept(data: bytes):
    motion, plain = read_bvh(data), read_bvh(PLAIN)
    assert motion.joints == plain.joints
    np.testing.assert_array_equal(motion.values, plain.values)
    assert bvh_bytes(motion) == data
    if motion.encoding == "utf-8":
        assert bvh_bytes(replace(motion, text=b"")) == PLAIN


@pytest.mark.parametrize("declared", [1, 3, 10**12])
def test_a_line_more_or_less_than_declared(declared: int):
    data = PLAIN.replace(b"Frames: 2", b"Frames: %d" % declared)
    motion = read_bvh(data)
    assert (motion.declared_frames, len(motion.values)) == (declared, 2)
    assert [str(note) for note in motion.notes] == [
        f"MOTION: {declared} frames are declared, 2 are there [frame-count]"
    ]
    assert bvh_bytes(motion) == bvh_bytes(replace(motion, text=b"")) == data


def test_gaps_are_kept():
    data = PLAIN.replace(b"-20.0", b"nan")
    assert np.isnan(read_bvh(data).values[1, 4])
    assert bvh_bytes(read_bvh(data)) == data


def test_what_was_changed_is_written():
    motion = read_bvh(PLAIN)
    turned = replace(motion, values=motion.values / 3)
    again = read_bvh(bvh_bytes(turned))
    np.testing.assert_array_equal(again.values, turned.values)
    assert again.joints == motion.joints


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "latin-1"])
def test_names_of_any_encoding(encoding: str):
    name = {"latin-1": "Hüfte\xa0ÿ\x81"}.get(encoding, "センター")
    data = PLAIN.decode().replace("Hips", name).encode(encoding)
    motion = read_bvh(data)
    assert (motion.encoding, motion.joints[0].name) == (encoding, " ".join(name.split()))
    assert bvh_bytes(motion) == data


def test_several_roots_and_no_channels():
    data = hierarchy(b"ROOT a { OFFSET 0 0 0 } ROOT b { OFFSET 1 0 0 CHANNELS 0 }")
    motion = read_bvh(data)
    assert [joint.parent for joint in motion.joints] == [-1, -1]
    assert motion.values.shape == (0, 0)
    assert read_bvh(bvh_bytes(replace(motion, text=b""))).joints == motion.joints


def test_a_long_chain_needs_no_recursion():
    depth = 20_000
    joints = tuple(BvhJoint(f"j{i}", i - 1) for i in range(depth))
    data = bvh_bytes(BvhFile(joints, 0.1, np.zeros((0, 0))))
    assert len(data) < 200 * depth
    assert read_bvh(data).joints == joints


UNWRITABLE = {
    "a name with braces": (BvhFile((BvhJoint("a{"),), 0.1, np.zeros((0, 0))), "joint 0"),
    "joints out of order": (
        BvhFile(
            tuple(BvhJoint(str(i), p) for i, p in enumerate([-1, 0, 0, 1])), 1, np.zeros((0, 0))
        ),
        "joint 3: joints are not depth first",
    ),
    "a letter": (BvhFile((BvhJoint("龙"),), 1, np.zeros((0, 0)), encoding="cp932"), "cannot be"),
}


@pytest.mark.parametrize(("motion", "message"), UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_what_cannot_be_written_is_said(motion: BvhFile, message: str):
    with pytest.raises(FormatError, match=message):
        bvh_bytes(motion)


def test_documents_check_themselves():
    with pytest.raises(FormatError, match="an earlier parent"):
        BvhFile((BvhJoint("a", 0),), 0.1, np.zeros((0, 0)))
    with pytest.raises(FormatError, match=r"values: expected \(F, 1\)"):
        BvhFile((BvhJoint("a", channels=("Xrotation",)),), 0.1, np.zeros((3, 2)))


def test_corpus(corpus):
    for path in sorted(corpus.rglob("*.bvh")):
        motion = read_bvh(path)
        assert motion.declared_frames == len(motion.values), path.name
        assert bvh_bytes(motion) == path.read_bytes(), path.name
        again = read_bvh(bvh_bytes(replace(motion, text=b"")))
        assert again.joints == motion.joints, path.name
        np.testing.assert_array_equal(again.values, motion.values, path.name)
