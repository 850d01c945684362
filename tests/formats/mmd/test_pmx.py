from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.mmd import (
    Deform,
    IndexSizes,
    MorphKind,
    PmxBone,
    PmxFile,
    PmxMaterial,
    PmxMorph,
    PmxOrigin,
    PmxVertices,
    pmx_bytes,
    read_pmx,
    write_pmx,
)
from tests.formats.mmd.sketch import (
    DEFORMS,
    named,
    pack,
    pmx_header,
    pmx_sections,
    pmx_vertex,
    text,
    whole_pmx,
)

NAMES = named("a") + named("b")


def with_list(position: int, items: bytes) -> bytes:
    """The whole model with one of its lists replaced (0 vertices, 1 faces, 2 textures, …)."""
    sections = pmx_sections()
    sections[2 + position] = items
    return b"".join(sections)


def with_bone(codes: str, *values: object) -> bytes:
    """A model of nothing but one bone, whose fields after the names are given."""
    lists = [pack("i", 0)] * 10
    lists[4] = pack("i", 1) + named("x") + pack(codes, *values)
    return pmx_header() + NAMES + b"".join(lists)


INVALID = {
    "nothing": (b"", "magic"),
    "another magic": (b"PMD " + bytes(99), "expected 'PMX '"),
    "no globals": (b"PMX " + pack("fB", 2.0, 0), "globals: expected"),
    "an encoding there is not": (b"PMX " + pack("f9B", 2, 8, 2, 0, *[1] * 6), "globals: expected"),
    "five additional uvs": (b"PMX " + pack("f9B", 2, 8, 1, 5, *[1] * 6), "globals: expected"),
    "an index of three bytes": (pmx_header(2, (1, 1, 3, 1, 1, 1)), "globals: expected"),
    "a text that is too long": (pmx_header() + pack("i", 100), "name at byte 0x15: needs 100"),
    "a text of negative length": (pmx_header() + pack("i", -1), "name at byte 0x15: needs -1"),
    "more vertices than bytes": (
        pmx_header() + NAMES + pack("i", 2**30),
        "1073741824 are declared",
    ),
    "a negative count": (pmx_header() + NAMES + pack("i", -1), "-1 are declared"),
    "a deform type there is not": (
        with_list(0, pack("i", 2) + pmx_vertex(DEFORMS[0]) + pmx_vertex(b"\5\0")),
        "vertex 1 deform type at byte 0xa2: expected 0..4, found 5",
    ),
    "vertices that end early": (
        pmx_header() + NAMES + pack("i", 2) + pmx_vertex(DEFORMS[0]) + pmx_vertex(DEFORMS[3])[:-9],
        "vertex 1",
    ),
    "a face and a third": (with_list(1, pack("i4B", 4, 0, 1, 2, 0)), "multiple of 3, found 4"),
    "a face beyond the vertices": (
        with_list(1, pack("i6B", 6, 0, 1, 2, 0, 1, 6)),
        r"face 1: vertices \[0, 1, 6\], but there are 6",
    ),
    "materials of more faces": (with_list(1, pack("i3B", 3, 0, 1, 2)), "material 1: claims 3 of 3"),
    "a toon of neither kind": (
        with_list(3, pack("i", 1) + named("x") + bytes(65) + pack("3bB", 0, 0, 0, 2) + bytes(40)),
        "material 0 shared toon",
    ),
    "a parent beyond the bones": (
        with_bone("3fbiH3f", 0, 0, 0, 5, 0, 0, 0, 0, 0),
        "bone 0: parent 5, but the model has 1 bones",
    ),
    "an IK target beyond the bones": (
        with_bone("3fbiHbbifi", 0, 0, 0, -1, 0, 0x21, -1, 9, 1, 1.0, 0),
        "bone 0: IK target 9",
    ),
    "many IK links": (
        with_bone("3fbiHbbifi", 0, 0, 0, -1, 0, 0x21, -1, 0, 1, 1.0, 2**30),
        "bone 0 IK link list",
    ),
    "an IK limit flag of 2": (
        with_bone("3fbiHbbifibB", 0, 0, 0, -1, 0, 0x21, 0, 0, 1, 1.0, 1, 0, 2),
        "limit flag",
    ),
    "a morph kind there is not": (
        with_list(5, pack("i", 1) + named("x") + pack("BBi", 0, 11, 0)),
        "morph 0 kind",
    ),
    "more offsets than bytes": (
        with_list(5, pack("i", 1) + named("x") + pack("BBi", 0, 8, 2**28)),
        "morph 0 offsets",
    ),
    "a frame of neither bones nor morphs": (
        with_list(6, pack("i", 1) + named("x") + pack("BiBb", 0, 1, 2, 0)),
        "display frame 0 element kind",
    ),
    "no end": (whole_pmx()[:-1], "soft body 0 pins"),
}


@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID.keys())
def test_what_is_malformed_is_said(data: bytes, message: str):
    with pytest.raises(FormatError, match=message) as error:
        read_pmx(data, name="x.pmx")
    assert str(error.value).startswith("x.pmx: ")


def test_other_versions_are_refused():
    with pytest.raises(UnsupportedError, match=r"expected 2\.0 or 2\.1, found 1"):
        read_pmx(b"PMX " + pack("f", 1.0))


def test_every_field_is_where_it_belongs():
    model = read_pmx(whole_pmx())
    assert (model.version, model.encoding) == (pytest.approx(2.1), "utf-8")
    assert (model.name, model.name_english) == ("名前", "name")
    assert (model.comment, model.comment_english) == ("説明", "comment")
    assert model.textures == ("tex\\体.png", "a/b.sph")
    assert model.faces.tolist() == [[0, 1, 2], [5, 4, 3]]
    assert model.notes == ()

    vertices = model.vertices
    assert vertices.positions[3].tolist() == [3, 2, 3]
    assert vertices.normals[0].tolist() == [0, 1, 0]
    assert vertices.uvs[0].tolist() == [0.25, 0.75]
    assert vertices.additional_uvs.tolist() == [[[9, 8, 7, 6]]] * 6
    assert vertices.deform.tolist() == [0, 1, 2, 3, 4, 0]
    assert vertices.bones.tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 1, 2, -1],
        [2, 1, 0, 0],
        [2, 1, 0, 0],
        [2, 0, 0, 0],
    ]
    assert vertices.weights.tolist() == [
        [1, 0, 0, 0],
        [0.25, 0.75, 0, 0],
        [0.5, 0.25, 0.125, 0],
        [0.75, 0.25, 0, 0],
        [1, 1, 1, 1],
        [1, 0, 0, 0],
    ]
    assert vertices.sdef.tolist() == [[[0, 1, 2], [3, 4, 5], [6, 7, 8]]]
    assert vertices.edge_scales.tolist() == [0.5] * 6

    first, second = model.materials
    assert first.diffuse == (1, 0.5, 0.25, 1)
    assert first.specular == pytest.approx((0.1, 0.2, 0.3))
    assert first.specular_power == 5
    assert first.ambient == pytest.approx((0.4, 0.5, 0.6))
    assert (first.flags, first.edge_colour, first.edge_size) == (0x3F, (0, 0, 0, 1), 2)
    assert (first.texture, first.sphere_texture, first.sphere_mode) == (0, 1, 2)
    assert (first.shared_toon, first.toon, first.memo, first.index_count) == (True, 3, "memo", 3)
    assert (second.shared_toon, second.toon) == (False, -1)

    centre, arm, leg = model.bones
    assert (centre.name, centre.name_english, centre.parent) == ("センター", "center", -1)
    assert (centre.position, centre.tail) == ((0, 8, 0), (0, 1, 0))
    assert (arm.parent, arm.layer, arm.tail, arm.append) == (0, 1, 2, (0, -0.5))
    assert (arm.fixed_axis, arm.local_axes) == ((1, 0, 0), ((1, 0, 0), (0, 0, 1)))
    assert arm.external_key == 7
    assert leg.ik is not None
    assert (leg.ik.target, leg.ik.loops, leg.ik.step_limit) == (0, 40, 2)
    assert [link.bone for link in leg.ik.links] == [1, 2]
    assert [link.limits for link in leg.ik.links] == [None, ((-3, 0, 0), (-0.5, 0, 0))]

    assert [morph.kind for morph in model.morphs] == list(MorphKind)
    assert {morph.panel for morph in model.morphs} == {3}
    offsets = [morph.offsets.tolist() for morph in model.morphs]
    assert offsets[0] == [(1, 0.5), (0, 1)]
    assert [list(map(list_of, row)) for row in offsets[1]] == [[5, [1, 2, 3]]]
    assert [list(map(list_of, row)) for row in offsets[2]] == [[1, [1, 2, 3], [0, 0, 0, 1]]]
    assert model.morphs[7].offsets["offset"].tolist() == [[1, 2, 3, 4]]
    material = model.morphs[8].offsets
    assert material["material"].tolist() == [-1, 1]
    assert material["operation"].tolist() == [1, 0]
    assert material["edge_colour"][0].tolist() == [11, 12, 13, 14]
    assert material["toon"][1].tolist() == [24, 25, 26, 27]
    assert model.morphs[10].offsets["torque"].tolist() == [[4, 5, 6]]

    assert [frame.name for frame in model.frames] == ["Root", "表情"]
    assert model.frames[1].special == 1
    assert model.frames[1].elements.tolist() == [[1, 3], [1, 0]]

    body = model.bodies[0]
    assert (body.bone, body.group, body.mask, body.shape, body.mode) == (1, 15, 0xFFF0, 2, 1)
    assert (body.size, body.position, body.rotation) == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
    assert (body.mass, body.friction) == (0, 4)
    joint = model.joints[0]
    assert (joint.kind, joint.body_a, joint.body_b) == (5, 0, 1)
    assert (joint.position, joint.rotation_spring) == ((0, 1, 2), (21, 22, 23))
    soft = model.soft_bodies[0]
    assert (soft.shape, soft.material, soft.group, soft.mask, soft.flags) == (1, 0, 2, 0xABCD, 5)
    assert (soft.bend_distance, soft.cluster_count, soft.mass, soft.margin) == (1, 2, 0.5, 0.25)
    assert (soft.aero_model, soft.config[11], soft.cluster[5]) == (3, 11, 5)
    assert (soft.iterations, soft.stiffness) == ((0, 1, 2, 3), (0, 1, 2))
    assert soft.anchors.tolist() == [(1, 5, 1)]
    assert soft.pins.tolist() == [4, 5]


def list_of(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_what_was_read_is_written_bit_for_bit(tmp_path):
    data = whole_pmx()
    assert pmx_bytes(read_pmx(data)) == data
    write_pmx(read_pmx(data), tmp_path / "x.pmx")
    assert (tmp_path / "x.pmx").read_bytes() == data
    assert pmx_bytes(read_pmx(tmp_path / "x.pmx")) == data


LISTS = ("vertices", "faces", "textures", "materials", "bones", "morphs", "frames")
LISTS += ("bodies", "joints", "soft_bodies")


def test_each_list_is_encoded_as_it_was_read():
    data = whole_pmx()
    model = read_pmx(data)
    assert pmx_bytes(replace(model, origin=PmxOrigin())) == data
    sections = pmx_sections()[2:]
    for name, raw in zip(LISTS, sections, strict=True):
        part = getattr(model, name)
        kept = model.origin.section(name, part, model.encoding, IndexSizes())
        assert kept is not None
        assert kept.tobytes() == raw
        again = copy.copy(part) if name in ("vertices", "faces") else (*part[:1], *part[1:])
        assert again is not part
        assert model.origin.section(name, again, model.encoding, IndexSizes()) is None
        assert pmx_bytes(replace(model, **{name: again})) == data
        assert model.origin.section(name, part, "utf-16-le", IndexSizes()) is None
        assert model.origin.section(name, part, model.encoding, IndexSizes(bone=2)) is None


def test_lists_that_were_read_are_read_only_and_their_copies_are_written():
    model = read_pmx(whole_pmx())
    arrays = [getattr(model.vertices, each.name) for each in fields(model.vertices)]
    arrays += [model.faces, *(morph.offsets for morph in model.morphs)]
    arrays += [frame.elements for frame in model.frames]
    arrays += [model.soft_bodies[0].anchors, model.soft_bodies[0].pins]
    assert not any(array.flags.writeable for array in arrays)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert pmx_bytes(copied) == whole_pmx()
        copied.vertices.positions[0] = 7, 8, 9
        copied.morphs[0].offsets["weight"] = 3
        copied.faces[0] = 5
        again = read_pmx(pmx_bytes(copied))
        assert again.vertices.positions[0].tolist() == [7, 8, 9]
        assert again.morphs[0].offsets["weight"].tolist() == [3, 3]
        assert again.faces[0].tolist() == [5, 5, 5]


def test_what_changes_the_writing_of_all_lists_does():
    model = read_pmx(whole_pmx())
    other = read_pmx(pmx_bytes(replace(model, encoding="utf-16-le")))
    assert other.bones == model.bones
    assert other.encoding == "utf-16-le"
    older = replace(model, version=2.0, soft_bodies=())
    assert read_pmx(pmx_bytes(older)).joints == model.joints
    assert pmx_bytes(replace(older, version=2.1))[-4:] == bytes(4)


def test_a_file_may_end_with_a_count_of_nothing():
    whole = whole_pmx()
    data = whole[:-6] + bytes(4)  # no pins
    soft = read_pmx(data).soft_bodies[0]
    assert (len(soft.anchors), len(soft.pins)) == (1, 0)
    assert pmx_bytes(read_pmx(data)) == data
    empty = pmx_bytes(PmxFile())
    assert pmx_bytes(read_pmx(empty)) == empty


def test_oddities_survive():
    header = b"Pmx " + pack("f9B", 2.0, 10, 0, 0, 4, 4, 4, 4, 4, 4) + b"\x07\x08"
    odd = pack("i", 3) + b"A\0B"  # half a letter of UTF-16
    data = header + odd + text("\ud800"[:0]) * 3 + pack("9i", *[0] * 9) + b"more"
    model = read_pmx(data)
    assert model.name == "A�"
    assert model.extra_globals == b"\x07\x08"
    assert model.trailing == b"more"
    assert [note.code for note in model.notes] == ["names-undecoded", "trailing-bytes"]
    assert pmx_bytes(model) == data
    renamed = read_pmx(pmx_bytes(replace(model, name="新")))
    assert renamed.name == "新"


def test_vertex_indices_are_unsigned_and_all_others_signed():
    vertices = pack("i", 200) + pmx_vertex(pack("Bb", 0, -1)) * 200
    data = pmx_header(2.0) + NAMES + vertices + pack("i3B", 3, 0, 128, 199) + pack("7i", *[0] * 7)
    model = read_pmx(data)
    assert model.faces.tolist() == [[0, 128, 199]]
    assert model.vertices.bones[0].tolist() == [-1, 0, 0, 0]
    assert [note.code for note in model.notes] == ["faces-without-material"]
    assert pmx_bytes(model) == data


@pytest.mark.parametrize("size", [1, 2, 4])
def test_indices_of_every_size_say_the_same(size: int):
    model = read_pmx(whole_pmx())
    wide = replace(model, index_sizes=IndexSizes(*[size] * 6))
    again = read_pmx(pmx_bytes(wide))
    assert again.index_sizes == IndexSizes(*[size] * 6)
    assert pmx_bytes(replace(again, index_sizes=IndexSizes())) == whole_pmx()
    assert pmx_bytes(replace(again, index_sizes=None)) == whole_pmx()


def test_lists_that_outgrow_their_indices_get_larger_ones():
    bones = tuple(PmxBone(f"b{i}", parent=i - 1) for i in range(300))
    model = PmxFile(bones=bones, vertices=PmxVertices.empty(70_000))
    for sizes in (None, IndexSizes(), IndexSizes(morph=4)):
        again = read_pmx(pmx_bytes(replace(model, index_sizes=sizes)))
        assert again.index_sizes == IndexSizes(vertex=4, bone=2)
        assert again.bones == bones
        assert len(again.vertices) == 70_000
    last = np.full((70_000, 4), [299, 0, 0, 0], np.int32)
    heavy = replace(model, bones=tuple(PmxBone("x") for _ in range(300)), index_sizes=IndexSizes())
    heavy = replace(heavy, vertices=replace(heavy.vertices, bones=last))
    assert read_pmx(pmx_bytes(heavy)).vertices.bones[0, 0] == 299


def test_indices_smaller_than_the_lists_ask_for_are_kept_while_they_fit():
    bones = tuple(PmxBone(str(i)) for i in range(300))
    small = pmx_bytes(PmxFile(bones=bones, index_sizes=IndexSizes()))
    assert len(small) == len(pmx_bytes(PmxFile(bones=bones))) - 300
    assert pmx_bytes(read_pmx(small)) == small


def test_references_that_lead_nowhere_are_noted_and_kept():
    lost = read_pmx(with_list(2, pack("i", 0)))
    assert [(note.code, note.place) for note in lost.notes] == [
        ("index-out-of-range", "materials[0]"),
        ("index-out-of-range", "materials[1]"),
    ]
    assert lost.materials[0].texture == 0
    tail = read_pmx(with_bone("3fbiHb", 0, 0, 0, -1, 0, 1, 5))
    assert [str(note) for note in tail.notes] == [
        "bones: 1 × tail beyond the 1 there are: 5 [index-out-of-range]"
    ]
    data = with_list(5, pack("i", 0))
    assert [note.place for note in read_pmx(data).notes] == ["frames[1]"]
    assert pmx_bytes(read_pmx(data)) == data


UNWRITABLE = {
    "a letter": (PmxFile("\ud800"), "cannot be written as utf-16-le"),
    "a number": (
        PmxFile(materials=(PmxMaterial("x", flags=300),)),
        "material 0: cannot be written",
    ),
    "a float": (PmxFile(materials=(PmxMaterial("x", edge_size=1e39),)), "material 0"),
    "soft bodies in 2.0": (replace(read_pmx(whole_pmx()), version=2.0), "need version 2.1"),
    "an encoding": (PmxFile(encoding="cp932"), "expected an encoding"),
}


@pytest.mark.parametrize(("model", "message"), UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_what_cannot_be_written_is_said(model: PmxFile, message: str):
    with pytest.raises(FormatError, match=message):
        pmx_bytes(model)


def test_indices_too_large_to_be_written_are_not_cut():
    offsets = np.zeros(1, read_pmx(whole_pmx()).morphs[1].offsets.dtype)
    offsets["vertex"] = 300
    with pytest.raises(FormatError, match="vertex index does not fit"):
        pmx_bytes(PmxFile(morphs=(PmxMorph("x", offsets=offsets),)))


def test_documents_check_themselves():
    with pytest.raises(FormatError, match="contradict"):
        PmxBone("x", flags=0x20)
    with pytest.raises(FormatError, match="no GROUP records"):
        PmxMorph("x", kind=MorphKind.GROUP)
    with pytest.raises(FormatError, match="sdef: expected"):
        replace(PmxVertices.empty(3), deform=np.full(3, Deform.SDEF, np.uint8))
    with pytest.raises(FormatError, match="faces: expected"):
        PmxFile(faces=np.zeros((3, 3)))


def test_random_vertices_come_back():
    rng = np.random.default_rng(5)
    for extra in range(5):
        count = int(rng.integers(0, 40))
        deform = rng.integers(0, 5, count).astype(np.uint8)
        used = np.array([1, 2, 4, 2, 4], int)[deform]
        bones = np.where(np.arange(4) < used[:, None], rng.integers(-1, 9, (count, 4)), 0)
        weights = rng.uniform(0, 1, (count, 4)).astype(np.float32) * (np.arange(4) < used[:, None])
        weights[used == 1, 0] = 1
        weights[used == 2, 1] = 1 - weights[used == 2, 0]
        vertices = PmxVertices(
            rng.normal(size=(count, 3)).astype(np.float32),
            rng.normal(size=(count, 3)).astype(np.float32),
            rng.normal(size=(count, 2)).astype(np.float32),
            rng.normal(size=(count, extra, 4)).astype(np.float32),
            deform,
            bones.astype(np.int32),
            weights,
            rng.normal(size=(np.count_nonzero(deform == 3), 3, 3)).astype(np.float32),
            rng.normal(size=count).astype(np.float32),
        )
        model = PmxFile(vertices=vertices, bones=tuple(PmxBone(str(i)) for i in range(9)))
        again = read_pmx(pmx_bytes(model)).vertices
        for name in (f.name for f in fields(PmxVertices)):
            np.testing.assert_array_equal(getattr(again, name), getattr(vertices, name), name)


def test_names_that_are_not_of_the_encoding_are_counted():
    data = whole_pmx()
    for name in ("左腕", "材質", "説明"):
        data = data.replace(name.encode(), name.encode("cp932").ljust(len(name.encode()), b"x"))
    model = read_pmx(data)
    (note,) = model.notes
    assert note.code == "names-undecoded"
    assert note.message == (
        "1 texts of the model, 1 bones, 2 materials have names that are no utf-8, as '����xx';"
        " their bytes are kept"
    )
    assert pmx_bytes(model) == data
    assert read_pmx(pmx_bytes(PmxFile("a \ufffd b"))).notes == ()


@pytest.mark.parametrize("half", [b"\x00\xd8", b"\x00\xdc", b"A"])
def test_halves_of_letters_of_utf_16_are_counted(half: bytes):
    data = pmx_bytes(PmxFile("", bones=(PmxBone("AA"),)))
    odd = data.replace(pack("i", 4) + b"A\0A\0", pack("i", len(half)) + half)
    (note,) = read_pmx(odd).notes
    assert "1 bones have names that are no utf-16-le" in note.message
