"""Reading PMX models."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, UnsupportedError
from bunraku.formats.binary import Buffer, ByteReader, folder_of, read_source
from bunraku.formats.mmd.pmx import (
    APPENDS,
    BoneFlag,
    IndexSizes,
    PmxBone,
    PmxFile,
    PmxFrame,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
)
from bunraku.formats.mmd.pmx_layout import Layout
from bunraku.formats.mmd.pmx_morphs import OFFSETS, MorphKind, PmxMorph, convert, stored
from bunraku.formats.mmd.pmx_physics import ANCHOR, PmxBody, PmxJoint, PmxSoftBody
from bunraku.formats.mmd.pmx_rules import check_references
from bunraku.formats.mmd.pmx_vertices import read_vertices
from bunraku.formats.mmd.text import decode_text

Array = npt.NDArray[Any]
Record = TypeVar("Record")

ENCODINGS = ("utf-16-le", "utf-8")
_TEXT = 4  # bytes of an empty text


def read_pmx(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> PmxFile:
    """Read a PMX model.

    Args:
        source: a path, or the bytes themselves.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: the content is malformed, or faces, weights or bones refer to what is
            not there. Other references that lead nowhere stay as they are and become Notes.
        UnsupportedError: another version than 2.0 and 2.1.
        OSError: the path cannot be read.
    """
    data, name = read_source(source, name, "PMX")
    reader = ByteReader(data, name)
    magic = bytes(reader.take(4, "magic"))
    if magic not in (b"PMX ", b"Pmx "):
        raise FormatError(f"{name}: magic: expected 'PMX ', found {magic!r}")
    version = reader.f32("version")
    if not any(abs(version - known) < 1e-3 for known in (2.0, 2.1)):
        raise UnsupportedError(f"{name}: PMX version: expected 2.0 or 2.1, found {version:.6g}")
    globals_ = bytes(reader.take(reader.u8("global count"), "globals"))
    if (
        len(globals_) < 8
        or globals_[0] > 1
        or globals_[1] > 4
        or not set(globals_[2:8]) <= {1, 2, 4}
    ):
        raise FormatError(
            f"{name}: globals: expected encoding 0 or 1, 0 to 4 additional UVs and six index sizes"
            f" of 1, 2 or 4, found {list(globals_[:16])}"
        )
    sizes = IndexSizes(*globals_[2:8])
    body = _Sections(reader, ENCODINGS[globals_[0]], sizes)
    name_, name_english, comment, comment_english = (
        body.text(what) for what in ("name", "English name", "comment", "English comment")
    )
    vertices = read_vertices(reader, reader.i32("vertex count"), globals_[1], sizes.code("bone"))
    faces = body.faces()
    textures = body.records("texture", _TEXT, body.text)
    materials = body.records("material", 80, body.material)
    bones = body.records("bone", 27, body.bone)
    morphs = body.records("morph", 14, body.morph)
    frames = body.records("display frame", 13, body.frame)
    bodies = body.records("rigid body", 69, body.rigid_body)
    joints = body.records("joint", 107, body.joint)
    soft_bodies: tuple[PmxSoftBody, ...] = ()
    if version > 2.05:
        soft_bodies = body.records("soft body", 142, body.soft_body)
    file = PmxFile(
        name_,
        name_english,
        comment,
        comment_english,
        vertices=vertices,
        faces=faces,
        textures=textures,
        materials=materials,
        bones=bones,
        morphs=morphs,
        frames=frames,
        bodies=bodies,
        joints=joints,
        soft_bodies=soft_bodies,
        version=version,
        encoding=ENCODINGS[globals_[0]],
        index_sizes=sizes,
        magic=magic,
        extra_globals=globals_[8:],
        trailing=bytes(reader.take(reader.remaining, "rest")),
        source=name,
        folder=folder_of(source),
    )
    notes = check_references(file)
    if file.trailing:
        notes.append(Note("trailing-bytes", f"{len(file.trailing)} bytes follow the model"))
    return replace(file, notes=tuple(notes))


class _Sections:
    """Reads one record at a time; what it is called in errors comes from the caller."""

    def __init__(self, reader: ByteReader, encoding: str, sizes: IndexSizes) -> None:
        self.reader = reader
        self.encoding = encoding
        self.sizes = sizes
        self.layout = Layout(sizes)

    def records(self, kind: str, minimum: int, read: Callable[[str], Record]) -> tuple[Record, ...]:
        """A counted list of records of at least `minimum` bytes each."""
        count = self.reader.fits(self.reader.i32(f"{kind} count"), minimum, f"{kind} list")
        return tuple([read(f"{kind} {i}") for i in range(count)])

    def text(self, what: str) -> str:
        return decode_text(bytes(self.reader.take(self.reader.i32(what), what)), self.encoding)

    def named(self, what: str) -> dict[str, Any]:
        """The two names every record begins with."""
        return {"name": self.text(what), "name_english": self.text(what)}

    def index(self, kind: str, what: str) -> int:
        code = self.sizes.code(kind)
        raw = self.reader.take(int(code[1]), what)
        return int.from_bytes(raw, "little", signed=code[0] == "i")

    def flag(self, value: int, what: str) -> bool:
        """A byte that decides what follows, so that nothing but 0 and 1 can be understood."""
        if value > 1:
            raise self.reader.error(what, f"expected 0 or 1, found {value}")
        return bool(value)

    def faces(self) -> Array:
        code = self.sizes.code("vertex")
        count = self.reader.i32("index count")
        if count % 3:
            raise self.reader.error("index count", f"expected a multiple of 3, found {count}")
        corners = self.reader.array(code, count, "faces")
        return corners.astype(np.int32).reshape(-1, 3)

    def material(self, what: str) -> PmxMaterial:
        fields = self.named(what) | self.layout.material.read(self.reader, what)
        shared = fields["shared_toon"] = self.flag(fields["shared_toon"], f"{what} shared toon")
        toon = self.layout.shared_toon if shared else self.layout.own_toon
        fields |= toon.read(self.reader, what)
        fields["memo"] = self.text(what)
        return PmxMaterial(**fields, **self.layout.index_count.read(self.reader, what))

    def bone(self, what: str) -> PmxBone:
        fields = self.named(what) | self.layout.bone.read(self.reader, what)
        flags = fields["flags"]
        if flags & BoneFlag.TAIL_IS_BONE:
            fields["tail"] = self.index("bone", what)
        else:
            fields["tail"] = self.reader.unpack("3f", what)
        if flags & APPENDS:
            fields["append"] = (self.index("bone", what), self.reader.f32(what))
        if flags & BoneFlag.FIXED_AXIS:
            fields["fixed_axis"] = self.reader.unpack("3f", what)
        if flags & BoneFlag.LOCAL_AXES:
            fields["local_axes"] = (self.reader.unpack("3f", what), self.reader.unpack("3f", what))
        if flags & BoneFlag.EXTERNAL_PARENT:
            fields["external_key"] = self.reader.i32(what)
        if flags & BoneFlag.IK:
            ik = self.layout.ik.read(self.reader, what)
            links = self.records(f"{what} IK link", 1 + self.sizes.bone, self.ik_link)
            fields["ik"] = PmxIk(**ik, links=links)
        return PmxBone(**fields)

    def ik_link(self, what: str) -> PmxIkLink:
        bone = self.index("bone", what)
        if not self.flag(self.reader.u8(what), f"{what} limit flag"):
            return PmxIkLink(bone)
        return PmxIkLink(bone, (self.reader.unpack("3f", what), self.reader.unpack("3f", what)))

    def morph(self, what: str) -> PmxMorph:
        fields = self.named(what) | self.layout.morph.read(self.reader, what)
        if fields["kind"] > max(MorphKind):
            raise self.reader.error(f"{what} kind", f"expected 0..10, found {fields['kind']}")
        kind = fields["kind"] = MorphKind(fields["kind"])
        record = stored(kind, self.sizes.code(OFFSETS[kind].names[0]))  # type: ignore[index]
        offsets = self.reader.array(record, self.reader.i32(what), f"{what} offsets")
        return PmxMorph(**fields, offsets=convert(offsets, OFFSETS[kind]))

    def frame(self, what: str) -> PmxFrame:
        names = self.named(what)
        special = self.reader.u8(what)
        elements = array("i")
        for _ in range(self.reader.fits(self.reader.i32(what), 2, f"{what} elements")):
            is_morph = self.flag(self.reader.u8(what), f"{what} element kind")
            elements.extend((is_morph, self.index("morph" if is_morph else "bone", what)))
        return PmxFrame(
            **names, special=special, elements=np.array(elements, np.int32).reshape(-1, 2)
        )

    def rigid_body(self, what: str) -> PmxBody:
        return PmxBody(**self.named(what), **self.layout.body.read(self.reader, what))

    def joint(self, what: str) -> PmxJoint:
        return PmxJoint(**self.named(what), **self.layout.joint.read(self.reader, what))

    def soft_body(self, what: str) -> PmxSoftBody:
        fields = self.named(what) | self.layout.soft_body.read(self.reader, what)
        body, vertex = self.sizes.code("body"), self.sizes.code("vertex")
        record = np.dtype([("body", "<" + body), ("vertex", "<" + vertex), ("near", "u1")])
        anchors = self.reader.array(record, self.reader.i32(what), f"{what} anchors")
        pins = self.reader.array(vertex, self.reader.i32(what), f"{what} pins")
        return PmxSoftBody(**fields, anchors=convert(anchors, ANCHOR), pins=pins.astype(np.int32))
