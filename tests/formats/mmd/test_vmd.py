from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.mmd import (
    BONE_KEY,
    IK_STATE,
    LINEAR,
    MORPH_KEY,
    PropertyKey,
    VmdFile,
    bone_curves,
    camera_curves,
    encode_bone_curves,
    encode_camera_curves,
    name_key,
    physics_switch,
    read_vmd,
    tracks,
    vmd_bytes,
    write_vmd,
)
from bunraku.formats.mmd.text import name_keys
from bunraku.formats.mmd.vmd import MIXERS
from tests.formats.mmd.sketch import field, pack, vmd_sections

HEADER = vmd_sections()[0]
NONE = pack("I", 0)

INVALID = {
    "no name": (HEADER[:35], "model name at byte 0x1e: needs 20 bytes, but 5 are left"),
    "more bone keys than bytes": (HEADER + pack("I", 2**32 - 1), "4294967295 are declared"),
    "half a bone key": (HEADER + pack("I", 1) + bytes(110), "1 are declared, but 110 bytes"),
    "more morph keys": (HEADER + NONE + pack("I", 2) + bytes(23), "morphs"),
    "more cameras": (HEADER + NONE * 2 + pack("I", 1), "cameras"),
    "more lights": (HEADER + NONE * 3 + pack("I", 1), "lights"),
    "more shadows": (HEADER + NONE * 4 + pack("I", 1), "shadows"),
    "more properties": (HEADER + NONE * 5 + pack("I", 2) + bytes(9), "properties"),
    "more switches": (HEADER + NONE * 5 + pack("IIBI", 1, 0, 1, 9), "property 0.*9 are declared"),
}


@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID.keys())
def test_what_is_malformed_is_said(data: bytes, message: str):
    with pytest.raises(FormatError, match=message) as error:
        read_vmd(data, name="x.vmd")
    assert str(error.value).startswith("x.vmd: ")


def test_other_magic_is_refused():
    for data in (b"", b"Vocaloid Motion Data 0003".ljust(60, b"\0")):
        with pytest.raises(UnsupportedError, match="expected 'Vocaloid Motion Data 0002'"):
            read_vmd(data)


def test_every_field_is_where_it_belongs():
    motion = read_vmd(b"".join(vmd_sections()))
    assert (motion.model_name, motion.sections, motion.notes) == ("初音ミク", 6, ())
    bones = motion.bones
    assert name_keys(bones["name"])[0] == "左腕".encode("cp932")
    assert bones["frame"].tolist() == [30, 0, 10]
    assert bones["translation"][0].tolist() == [1, 2, 3]
    assert bones["rotation"][:2].tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert motion.morphs["frame"].tolist() == [5]
    assert motion.morphs["weight"].tolist() == [0.5]
    camera = motion.cameras[0]
    assert (camera["frame"], camera["distance"], camera["fov"], camera["projection"]) == (
        0,
        -45,
        30,
        0,
    )
    assert camera["centre"].tolist() == [0, 10, 0]
    np.testing.assert_allclose(camera["rotation"], [0.1, 0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(motion.lights["colour"], [[0.6, 0.6, 0.6]], rtol=1e-6)
    assert motion.lights["direction"].tolist() == [[-0.5, -1, 0.5]]
    assert motion.shadows["mode"].tolist() == [1]
    assert 10_000 - 100_000 * motion.shadows["distance"][0] == pytest.approx(1125, abs=0.01)
    shown, hidden = motion.properties
    assert (shown.frame, shown.visible, hidden.frame, hidden.visible) == (3, 1, 9, 0)
    assert name_keys(shown.ik["name"]) == [name_key("左足ＩＫ", 20), name_key("右足ＩＫ", 20)]
    assert shown.ik["enabled"].tolist() == [0, 1]
    assert len(hidden.ik) == 0


@pytest.mark.parametrize("count", range(7))
def test_files_may_end_after_any_section(count: int, tmp_path):
    data = b"".join(vmd_sections()[: 1 + count])
    motion = read_vmd(data)
    assert motion.sections == count
    assert len(motion.bones) == (3 if count else 0)
    assert vmd_bytes(motion) == data
    write_vmd(motion, tmp_path / "x.vmd")
    assert (tmp_path / "x.vmd").read_bytes() == data


def test_bytes_after_the_end_are_kept():
    data = b"".join(vmd_sections()) + b"\0\0"
    assert read_vmd(data).trailing == b"\0\0"
    assert [note.code for note in read_vmd(data).notes] == ["trailing-bytes"]
    assert vmd_bytes(read_vmd(data)) == data
    short = HEADER + NONE + b"\0\0\0"
    assert read_vmd(short).sections == 1
    assert vmd_bytes(read_vmd(short)) == short


def test_the_old_magic_has_a_shorter_name_and_padding_may_be_junk():
    header = b"Vocaloid Motion Data file".ljust(30, b"\xcc") + field("miku", 10, b"\xfd")
    data = header + b"".join(vmd_sections()[1:])
    motion = read_vmd(data)
    assert (motion.model_name, len(motion.bones)) == ("miku", 3)
    assert vmd_bytes(motion) == data


def test_a_section_that_was_absent_appears_when_it_is_filled():
    short = read_vmd(HEADER + NONE)
    longer = read_vmd(vmd_bytes(replace(short, properties=(PropertyKey(0, 1),))))
    assert (longer.sections, len(longer.properties)) == (6, 1)
    some = replace(short, morphs=np.zeros(2, MORPH_KEY))
    assert read_vmd(vmd_bytes(some)).sections == 2


def test_tracks_gather_names_by_bytes_and_sort_by_time():
    motion = read_vmd(b"".join(vmd_sections()))
    found = {name: order.tolist() for name, order in tracks(motion.bones).items()}
    assert found == {name_key("左腕"): [2, 0], name_key("スカート_前_左_1"): [1]}
    keys = np.zeros(3, BONE_KEY)
    keys["name"] = [b"a\0\xfd", b"a\0\xfe", b"a"]
    keys["frame"] = [5, 5, 1]
    assert {name: order.tolist() for name, order in tracks(keys).items()} == {b"a": [2, 0, 1]}
    assert tracks(keys[:0]) == {}


def test_tracks_tell_names_of_one_sum_apart():
    low, high = (int(each) for each in MIXERS)
    step = -high * pow(low, -1, 2**64) % 2**64  # what the first word adds for one in the second
    words = np.frombuffer(b"abcdefghABCDEFG\0", "<u8").tolist()
    other = [(words[0] + step) % 2**64, words[1] + 1]
    names = [np.array(each, "<u8").tobytes()[:15] for each in (words, other)]
    keys = np.array([(names[i % 2], 9 - i, 0) for i in range(6)], MORPH_KEY)
    found = {name: order.tolist() for name, order in tracks(keys).items()}
    assert found == {name.partition(b"\0")[0]: [4 + i, 2 + i, i] for i, name in enumerate(names)}


@pytest.mark.parametrize("count", [0, 1, 300])
def test_tracks_are_those_of_a_dictionary(count: int):
    rng = np.random.default_rng(count)
    raw = [b"", b"a", b"a\0b", b"a\0\xfd", b"ab", b"\x8d\xb6" * 7 + b"\x8d", b"\0a"]
    keys = np.zeros(count, MORPH_KEY)
    keys["name"] = [raw[k] for k in rng.integers(0, len(raw), count)]
    keys["frame"] = rng.integers(0, 20, count)
    expected: dict[bytes, list[int]] = {}
    for i, name in enumerate(keys["name"].tolist()):
        expected.setdefault(name.partition(b"\0")[0], []).append(i)
    for order in expected.values():
        order.sort(key=lambda i: keys["frame"][i])
    found = tracks(keys)
    assert list(found) == list(expected)
    assert {name: order.tolist() for name, order in found.items()} == expected


UNWRITABLE = {
    "a header": (VmdFile(header=b"VMD"), "header"),
    "a model name": (VmdFile("龙"), "model name: '龙' cannot be written"),
    "a frame": (VmdFile(properties=(PropertyKey(-1, 1),)), "property 0"),
    "other switches": (VmdFile(properties=(PropertyKey(0, 1, np.zeros(1)),)), "property 0"),
}


@pytest.mark.parametrize(("motion", "message"), UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_what_cannot_be_written_is_said(motion: VmdFile, message: str):
    with pytest.raises(FormatError, match=message):
        vmd_bytes(motion)


def test_records_of_another_kind_are_refused():
    with pytest.raises(FormatError, match=r"bones: expected \(N,\) records"):
        VmdFile(bones=np.zeros(1, MORPH_KEY))


def test_curves_are_read_by_rows_so_that_the_physics_switch_does_no_harm():
    curves = np.arange(16).reshape(1, 4, 4) + 40
    for physics in (None, [True], [False]):
        raw = encode_bone_curves(curves, physics)
        assert bone_curves(raw).tolist() == curves.tolist()
        assert physics_switch(raw).tolist() == [physics != [False]]


def test_no_curve_of_the_old_layout_says_that_physics_is_off():
    curves = [[LINEAR, LINEAR, (0x63, 1, 2, 3), (0x0F, 4, 5, 6)]]
    raw = encode_bone_curves(curves)
    assert physics_switch(raw).tolist() == [True]
    assert bone_curves(raw).tolist() == np.array(curves).tolist()


def test_the_rows_of_a_bone_curve_are_shifted():
    curves = np.arange(16).reshape(1, 4, 4)  # channel k: 4k, 4k + 1, 4k + 2, 4k + 3
    rows = encode_bone_curves(curves).reshape(4, 16)
    first = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
    assert rows[0].tolist() == first
    assert rows[1].tolist() == [*first[1:], 0]
    assert rows[3].tolist() == [*first[3:], 0, 0, 0]
    current = encode_bone_curves(curves, [False]).reshape(4, 16)
    assert current[0].tolist() == [0, 4, 0x63, 0x0F, *first[4:]]
    assert current[1:].tolist() == rows[1:].tolist()


def test_curves_that_only_row_0_holds_are_found_there():
    curves = np.tile([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], LINEAR], (2, 1, 1))
    raw = encode_bone_curves(curves)
    raw[1, 16:] = 0
    assert bone_curves(raw).tolist() == curves.tolist()


def test_camera_curves_are_stored_x_x_y_y():
    raw = np.arange(24, dtype=np.uint8)[None]
    curves = camera_curves(raw)
    assert curves[0, 1].tolist() == [4, 6, 5, 7]
    assert encode_camera_curves(curves).tolist() == raw.tolist()


@pytest.mark.parametrize("curves", [np.zeros((2, 4)), np.full((1, 4, 4), 128), np.zeros((1, 6, 4))])
def test_curves_are_checked(curves):
    with pytest.raises(FormatError, match="curves: expected"):
        encode_bone_curves(curves)


def test_switches_are_twenty_bytes_wide():
    state = np.zeros(1, IK_STATE)
    state["name"] = name_key("左つま先ＩＫ先の長い名前", 20)
    again = read_vmd(vmd_bytes(VmdFile(properties=(PropertyKey(1, 1, state),))))
    assert name_keys(again.properties[0].ik["name"]) == [name_key("左つま先ＩＫ先の長い名前", 20)]
