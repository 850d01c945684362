from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.mmd import (
    PmdFile,
    character_from_pmd,
    decode_field,
    pmd,
    pmd_bytes,
    read_pmd,
    write_pmd,
)
from tests.formats.mmd.sketch import field, pack, pmd_sections

HEAD = b"Pmd" + pack("f", 1.0) + bytes(276)
BODY = pmd_sections()[0]


def changed(old: bytes, new: bytes) -> bytes:
    assert BODY.count(old) == 1
    return BODY.replace(old, new)


INVALID = {
    "another magic": (b"PMX" + bytes(99), "expected 'Pmd'"),
    "a comment that ends early": (HEAD[:-1], "text"),
    "more vertices than bytes": (HEAD + pack("I", 2**32 - 1), "vertices"),
    "a face and a third": (HEAD + pack("II", 0, 4) + bytes(8), "multiple of 3, found 4"),
    "a face beyond the vertices": (
        changed(pack("6H", 0, 1, 2, 2, 1, 3), pack("6H", 0, 1, 2, 2, 1, 4)),
        "faces: vertex 4, but there are 4",
    ),
    "more bones than bytes": (HEAD + pack("IIIH", 0, 0, 0, 9), "bones"),
    "a parent beyond the bones": (
        changed(pack("HHBH3f", 0, 0, 4, 1, 1, 2, 3), pack("HHBH3f", 2, 0, 4, 1, 1, 2, 3)),
        "bones: parent 2",
    ),
    "a weight beyond the bones": (
        changed(pack("H2B", 1, 99, 1), pack("H2B", 2, 99, 1)),
        "vertices: bone 2",
    ),
    "an IK link beyond the bones": (
        changed(pack("fHH", 0.5, 1, 0), pack("fHH", 0.5, 1, 2)),
        "IK 0: bone 2",
    ),
    "more IK links than bytes": (
        HEAD + pack("IIIHHHHBHf", 0, 0, 0, 0, 1, 0, 1, 9, 1, 1),
        "IK 0 links",
    ),
    "materials of more faces": (
        changed(pack("bBI", -1, 1, 6), pack("bBI", -1, 1, 9)),
        "claim 9 of 6",
    ),
    "an English flag of 2": (BODY + b"\2", "English flag"),
    "English names that end early": (BODY + pmd_sections()[1][:-1], "English frame names"),
    "more bodies than bytes": (b"".join(pmd_sections()[:3]) + pack("I", 2), "bodies"),
}


@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID.keys())
def test_what_is_malformed_is_said(data: bytes, message: str):
    with pytest.raises(FormatError, match=message) as error:
        read_pmd(data, name="x.pmd")
    assert str(error.value).startswith("x.pmd: ")


def test_other_versions_are_refused():
    with pytest.raises(UnsupportedError, match=r"expected 1\.0, found 2"):
        read_pmd(b"Pmd" + pack("f", 2.0))


def test_every_field_is_where_it_belongs():
    model = read_pmd(b"".join(pmd_sections()))
    assert (model.name, model.comment, model.tail, model.notes) == ("初音ミク", "説明", 4, ())
    assert model.vertices["position"][2].tolist() == [2, 0, 0]
    assert model.vertices["bones"].tolist() == [[0, 1], [0, 1], [0, 1], [0, 0xFFFF]]
    assert model.vertices["weight"].tolist() == [100, 99, 98, 100]
    assert model.faces.tolist() == [[0, 1, 2], [2, 1, 3]]
    material = model.materials[0]
    assert (material["specular_power"], material["toon"], material["edge"]) == (5, -1, 1)
    assert (material["index_count"], material["texture"]) == (6, b"a.bmp*b.sph")
    assert [decode_field(name) for name in model.bones["name"].tolist()] == ["センター", "左ひざ"]
    assert model.bones["parent"].tolist() == [0xFFFF, 0]
    assert model.bones["kind"].tolist() == [1, 4]
    assert model.bones["position"][1].tolist() == [1, 2, 3]
    ik = model.iks[0]
    assert (ik.bone, ik.target, ik.iterations, ik.weight) == (0, 1, 40, 0.5)
    assert ik.links.tolist() == [1, 0]
    base, a = model.skins
    assert (base.name, base.panel, a.name, a.panel) == ("base", 0, "あ", 3)
    assert base.offsets["vertex"].tolist() == [2]
    assert a.offsets["offset"].tolist() == [[4, 5, 6]]
    assert model.skin_frame.tolist() == [1]
    assert model.frame_names.tolist() == ["体\n".encode("cp932")]
    assert model.frame_bones.tolist() == [(1, 1)]
    assert model.english is not None
    assert (model.english.name, model.english.comment) == ("Miku", "comment")
    assert model.english.bones.tolist() == [b"center", b"knee"]
    assert model.english.skins.tolist() == [b"a"]
    assert model.english.frames.tolist() == [b"Body"]
    assert model.toons[9] == b"toon10.bmp"
    body = model.bodies[0]
    assert (body["bone"], body["group"], body["mask"], body["shape"], body["mode"]) == (
        0,
        1,
        2,
        3,
        2,
    )
    assert body["rotation"].tolist() == [6, 7, 8]
    assert model.joints[0]["rotation_spring"].tolist() == [21, 22, 23]


@pytest.mark.parametrize("parts", range(1, 6))
def test_files_may_end_before_any_part_of_the_tail(parts: int, tmp_path):
    data = b"".join(pmd_sections()[:parts])
    model = read_pmd(data)
    assert model.tail == parts - 1
    assert pmd_bytes(model) == data
    write_pmd(model, tmp_path / "x.pmd")
    assert (tmp_path / "x.pmd").read_bytes() == data


def test_no_english_names_and_bytes_after_the_end():
    sections = pmd_sections()
    data = sections[0] + b"\0" + b"".join(sections[2:]) + b"xyz"
    model = read_pmd(data)
    assert model.english is None
    assert model.trailing == b"xyz"
    assert [note.code for note in model.notes] == ["trailing-bytes"]
    assert pmd_bytes(model) == data


def test_a_tail_that_was_absent_appears_when_it_is_filled():
    model = read_pmd(BODY)
    bodies = np.zeros(1, pmd.BODY)
    again = read_pmd(pmd_bytes(replace(model, bodies=bodies)))
    assert (again.tail, len(again.bodies), again.english) == (3, 1, None)


def test_names_change_and_others_keep_their_junk():
    model = read_pmd(b"".join(pmd_sections()))
    bones = model.bones.copy()
    bones["name"][1] = field("右ひざ", 20)
    again = pmd_bytes(replace(model, bones=bones, name="ミク"))
    assert again[7:27] == field("ミク", 20)
    assert field("センター", 20, b"\0\0\0")[:9] + b"\xfd" * 4 in again
    assert "右ひざ".encode("cp932") in again


UNWRITABLE = {
    "too many bones": (PmdFile(bones=np.zeros(65536, pmd.BONE)), "bones: 65536 are more"),
    "a letter": (PmdFile("龙"), "name: '龙' cannot be written"),
    "English names": (replace(read_pmd(b"".join(pmd_sections())), skins=()), "English names"),
}


@pytest.mark.parametrize(("model", "message"), UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_what_cannot_be_written_is_said(model: PmdFile, message: str):
    with pytest.raises(FormatError, match=message):
        pmd_bytes(model)


def test_records_of_another_kind_are_refused():
    with pytest.raises(FormatError, match="bones: expected"):
        PmdFile(bones=np.zeros(1))
    with pytest.raises(FormatError, match="toons: expected 10"):
        PmdFile(toons=np.zeros(3, pmd.TOON))


def test_names_that_are_no_cp932_are_counted():
    data = b"".join(pmd_sections())
    name = "センター".encode("cp932")
    assert data.count(name) >= 1
    model = read_pmd(data.replace(name, b"\x81 ".ljust(len(name), b"x")))
    (note,) = model.notes
    assert note.code == "names-undecoded"
    assert "1 bones have names that are no cp932" in note.message
    assert note in character_from_pmd(model).notes
