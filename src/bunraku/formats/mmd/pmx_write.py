"""Writing PMX models."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError
from bunraku.formats.binary import Buffer, write_files
from bunraku.formats.mmd.pmx import IndexSizes, PmxBone, PmxFile, PmxFrame, PmxMaterial
from bunraku.formats.mmd.pmx_layout import LETTERS, layout_of
from bunraku.formats.mmd.pmx_morphs import PmxMorph, convert, index_of, stored
from bunraku.formats.mmd.pmx_physics import PmxBody, PmxJoint, PmxSoftBody
from bunraku.formats.mmd.pmx_read import ENCODINGS
from bunraku.formats.mmd.pmx_vertices import vertex_bytes
from bunraku.formats.mmd.text import encode_text

Array = npt.NDArray[Any]


def write_pmx(file: PmxFile, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all.

    Raises:
        FormatError: a text or number that the file has no way to say.
        OSError: the path cannot be written.
    """
    write_files({Path(path): [pmx_bytes(file)]})


def pmx_bytes(file: PmxFile) -> bytes:
    """The bytes of the file; those it was read from, if nothing was changed.

    >>> from bunraku.formats.mmd.pmx_read import read_pmx
    >>> model = read_pmx(pmx_bytes(PmxFile("ミク", bones=(PmxBone("センター"),))))
    >>> model.name, model.bones[0].name
    ('ミク', 'センター')
    """
    wanted = sizes_for(file)
    if file.index_sizes not in (None, wanted):
        with suppress(FormatError):  # some index does not fit
            return b"".join(_Writer(file, file.index_sizes).pieces())
    return b"".join(_Writer(file, wanted).pieces())


def sizes_for(file: PmxFile) -> IndexSizes:
    """The smallest index sizes that reach the end of every list."""
    counts = (
        len(file.vertices),
        len(file.textures),
        len(file.materials),
        len(file.bones),
        len(file.morphs),
        len(file.bodies),
    )
    limits = ((255, 65535), *[(127, 32767)] * 5)
    return IndexSizes(
        *(
            1 if count <= small else 2 if count <= large else 4
            for count, (small, large) in zip(counts, limits, strict=True)
        )
    )


class _Writer:
    """Pieces of one file; `place` is the record that errors are about."""

    def __init__(self, file: PmxFile, sizes: IndexSizes) -> None:
        self.file = file
        self.sizes = sizes
        self.layout = layout_of(sizes)
        self.place = file.source

    def pieces(self) -> Iterator[Buffer]:
        file = self.file
        if file.encoding not in ENCODINGS or len(file.magic) != 4 or len(file.extra_globals) > 247:
            raise FormatError(
                f"{file.source}: expected an encoding of {ENCODINGS}, 4 bytes of magic and at"
                f" most 247 extra globals"
            )
        sizes = self.sizes
        header = [ENCODINGS.index(file.encoding), file.vertices.additional_uvs.shape[1]]
        header += [sizes.vertex, sizes.texture, sizes.material, sizes.bone, sizes.morph, sizes.body]
        yield file.magic + struct.pack("<fB", file.version, 8 + len(file.extra_globals))
        yield bytes(header) + file.extra_globals
        for text in (file.name, file.name_english, file.comment, file.comment_english):
            yield self.text(text)
        lists: dict[str, Callable[[], Iterable[Buffer]]] = {
            "vertices": self.vertices,
            "faces": self.faces,
            "textures": lambda: self.each("texture", file.textures, self.texture),
            "materials": lambda: self.each("material", file.materials, self.material),
            "bones": lambda: self.each("bone", file.bones, self.bone),
            "morphs": lambda: self.each("morph", file.morphs, self.morph),
            "frames": lambda: self.each("display frame", file.frames, self.frame),
            "bodies": lambda: self.each("rigid body", file.bodies, self.rigid_body),
            "joints": lambda: self.each("joint", file.joints, self.joint),
        }
        if file.is_2_1:
            lists["soft_bodies"] = lambda: self.each("soft body", file.soft_bodies, self.soft_body)
        elif file.soft_bodies:
            raise FormatError(f"{file.source}: soft bodies need version 2.1")
        for name, pieces in lists.items():
            raw = file.origin.section(name, getattr(file, name), file.encoding, sizes)
            if raw is not None and len(raw):
                yield raw.data
            else:
                yield from pieces()
        yield file.trailing

    def each(
        self, kind: str, records: Sequence[Any], write: Callable[[Any], Iterator[bytes]]
    ) -> Iterator[bytes]:
        yield count(records)
        for i, record in enumerate(records):
            self.place = f"{self.file.source}: {kind} {i}"
            yield from write(record)

    def pack(self, codes: str, *values: Any) -> bytes:
        try:
            return struct.pack("<" + codes, *values)
        except (struct.error, OverflowError) as error:
            raise FormatError(f"{self.place}: {values} cannot be written: {error}") from None

    def text(self, text: str) -> bytes:
        data = encode_text(text, self.file.encoding, self.place)
        return len(data).to_bytes(4, "little") + data

    def names(self, record: Any) -> bytes:
        return self.text(record.name) + self.text(record.name_english)

    def index(self, kind: str, value: int) -> bytes:
        return self.pack(LETTERS[self.sizes.code(kind)], value)

    def indices(self, values: Array, kind: str) -> bytes:
        """Many indices at once; those that do not fit would come back as others."""
        made = values.astype("<" + self.sizes.code(kind))
        if not np.array_equal(made, values):
            raise FormatError(f"{self.place}: a {kind} index does not fit into {made.itemsize} B")
        return made.tobytes()

    def vertices(self) -> Iterator[Buffer]:
        yield count(self.file.vertices)
        yield vertex_bytes(self.file.vertices, self.sizes.bone).data

    def faces(self) -> Iterator[bytes]:
        yield count(self.file.faces.reshape(-1))
        yield self.indices(self.file.faces, "vertex")

    def texture(self, texture: str) -> Iterator[bytes]:
        yield self.text(texture)

    def material(self, material: PmxMaterial) -> Iterator[bytes]:
        yield self.names(material) + self.layout.material.write(material, self.place)
        toon = self.layout.shared_toon if material.shared_toon else self.layout.own_toon
        yield toon.write(material, self.place) + self.text(material.memo)
        yield self.layout.index_count.write(material, self.place)

    def bone(self, bone: PmxBone) -> Iterator[bytes]:
        yield self.names(bone) + self.layout.bone.write(bone, self.place)
        if isinstance(bone.tail, int):
            yield self.index("bone", bone.tail)
        else:
            yield self.pack("3f", *bone.tail)
        if bone.append is not None:
            yield self.index("bone", bone.append[0]) + self.pack("f", bone.append[1])
        if bone.fixed_axis is not None:
            yield self.pack("3f", *bone.fixed_axis)
        if bone.local_axes is not None:
            yield self.pack("6f", *bone.local_axes[0], *bone.local_axes[1])
        if bone.external_key is not None:
            yield self.pack("i", bone.external_key)
        if bone.ik is not None:
            yield self.layout.ik.write(bone.ik, self.place) + count(bone.ik.links)
            for link in bone.ik.links:
                yield self.index("bone", link.bone) + bytes([link.limits is not None])
                if link.limits is not None:
                    yield self.pack("6f", *link.limits[0], *link.limits[1])

    def morph(self, morph: PmxMorph) -> Iterator[bytes]:
        yield self.names(morph) + self.layout.morph.write(morph, self.place)
        kind = index_of(morph.kind)
        self.indices(morph.offsets[kind], kind)
        record = stored(morph.kind, self.sizes.code(kind))
        yield count(morph.offsets) + convert(morph.offsets, record).tobytes()

    def frame(self, frame: PmxFrame) -> Iterator[bytes]:
        yield self.names(frame) + self.pack("B", frame.special) + count(frame.elements)
        for kind, index in frame.elements.tolist():
            yield self.pack("B", kind) + self.index(("bone", "morph")[kind], index)

    def rigid_body(self, body: PmxBody) -> Iterator[bytes]:
        yield self.names(body) + self.layout.body.write(body, self.place)

    def joint(self, joint: PmxJoint) -> Iterator[bytes]:
        yield self.names(joint) + self.layout.joint.write(joint, self.place)

    def soft_body(self, body: PmxSoftBody) -> Iterator[bytes]:
        yield self.names(body) + self.layout.soft_body.write(body, self.place)
        yield count(body.anchors)
        for rigid, vertex, near in body.anchors.tolist():
            yield self.index("body", rigid) + self.index("vertex", vertex) + bytes([near])
        yield count(body.pins) + self.indices(body.pins, "vertex")


def count(records: Any) -> bytes:
    """The number of records as the file has it."""
    return len(records).to_bytes(4, "little")
