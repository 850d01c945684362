"""The lists of a PMX, made of what the core found in the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from itertools import islice, pairwise, repeat
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.formats.mmd.fields import Fields
from bunraku.formats.mmd.pmx import (
    IndexSizes,
    PmxBone,
    PmxFrame,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
)
from bunraku.formats.mmd.pmx_layout import layout_of
from bunraku.formats.mmd.pmx_morphs import OFFSETS, MorphKind, PmxMorph, convert, index_of, stored
from bunraku.formats.mmd.pmx_physics import ANCHOR, PmxBody, PmxJoint, PmxSoftBody
from bunraku.formats.mmd.pmx_vertices import PmxVertices, read_vertices
from bunraku.formats.mmd.text import decode_text

Array = npt.NDArray[Any]
Record = TypeVar("Record")


class PmxLists:
    """Makes records out of the parts that the core has found; core/pmx/pmx.hpp says which.

    Args:
        start: where the lists begin in `data`.
        soft_bodies: whether the version has them.

    Raises:
        ValueError: what is malformed, and where.
    """

    def __init__(
        self,
        data: bytes,
        start: int,
        additional_uvs: int,
        encoding: str,
        sizes: IndexSizes,
        soft_bodies: bool,
    ) -> None:
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        self.additional_uvs = additional_uvs
        self.encoding = encoding
        self.sizes = sizes
        self.layout = layout_of(sizes)
        each = np.array(astuple(sizes), np.int64)
        self.marks = _core.pmx.scan(self.bytes, start, additional_uvs, each, soft_bodies)
        self.starts = self.marks["starts"].tolist()

    def read(self) -> dict[str, Any]:
        """The lists of a file by their names, in its order."""
        return {
            "vertices": self.vertices(),
            "faces": self.faces(),
            "textures": tuple(self.texts(*self.marks["textures"].T)),
            "materials": self.materials(*self.marks["materials"].T),
            "bones": self.bones(*self.marks["bones"].T),
            "morphs": self.morphs(*self.marks["morphs"].T),
            "frames": self.frames(*self.marks["frames"].T),
            "bodies": self.named(PmxBody, self.layout.body, "bodies"),
            "joints": self.named(PmxJoint, self.layout.joint, "joints"),
            "soft_bodies": self.soft_bodies(*self.marks["soft_bodies"].T),
        }

    def sections(self, read: dict[str, Any]) -> dict[str, tuple[object, Array]]:
        """Each list with its bytes; of no length for soft bodies that the version has not."""
        spans = pairwise(self.starts)
        return {
            name: (read[name], self.bytes[a:b]) for name, (a, b) in zip(read, spans, strict=True)
        }

    def texts(self, starts: Array, ends: Array) -> list[str]:
        """Texts that begin with their length, of four bytes."""
        data, encoding = self.data, self.encoding
        spans = zip((starts + 4).tolist(), ends.tolist(), strict=True)
        return [decode_text(data[start:end], encoding) for start, end in spans]

    def columns(self, fields: Fields, starts: Array) -> list[list[Any]]:
        return fields.columns(self.data, starts)

    def rows(self, fields: Fields, starts: Array) -> Iterator[Any]:
        """The fields of each record, or the one field that there is; None where it has none."""
        there = starts >= 0
        if not there.any():
            return repeat(None, len(starts))
        columns = self.columns(fields, starts[there])
        found = iter(columns[0] if len(columns) == 1 else zip(*columns, strict=True))
        return (next(found) if each else None for each in there.tolist())

    def array(self, record: np.dtype[Any], start: int, count: int) -> Array:
        return np.frombuffer(self.data, record, count, start)

    def named(self, kind: Callable[..., Record], fields: Fields, name: str) -> tuple[Record, ...]:
        """Records of nothing but two names and fields."""
        first, second, at = self.marks[name].T
        columns = self.texts(first, second), self.texts(second, at), *self.columns(fields, at)
        return tuple([kind(*row) for row in zip(*columns, strict=True)])

    def vertices(self) -> PmxVertices:
        count, sdef_count = self.marks["vertices"].tolist()
        start = self.starts[0] + 4
        return read_vertices(
            self.bytes, start, count, sdef_count, self.additional_uvs, self.sizes.bone
        )

    def faces(self) -> Array:
        corners = self.bytes[self.starts[1] + 4 : self.starts[2]].view(
            "<" + self.sizes.code("vertex")
        )
        return frozen(corners.astype(np.int32).reshape(-1, 3))

    def materials(
        self, name: Array, english: Array, fields: Array, toon: Array, memo: Array, count: Array
    ) -> tuple[PmxMaterial, ...]:
        layout = self.layout
        columns = self.columns(layout.material, fields)
        shared = columns[-1] = [bool(each) for each in columns[-1]]
        own = np.array(shared, bool)
        toons = self.rows(layout.shared_toon, np.where(own, toon, -1))
        others = self.rows(layout.own_toon, np.where(own, -1, toon))
        rows = zip(
            self.texts(name, english),
            self.texts(english, fields),
            *columns,
            either(toons, others),
            self.texts(memo, count),
            *self.columns(layout.index_count, count),
            strict=True,
        )
        return tuple([PmxMaterial(*row) for row in rows])

    def bones(
        self,
        name: Array,
        english: Array,
        fields: Array,
        tail_bone: Array,
        tail_offset: Array,
        append: Array,
        axis: Array,
        axes: Array,
        key: Array,
        ik: Array,
    ) -> tuple[PmxBone, ...]:
        layout = self.layout
        rows = zip(
            self.texts(name, english),
            self.texts(english, fields),
            *self.columns(layout.bone, fields),
            either(self.rows(layout.bone_index, tail_bone), self.rows(layout.vector, tail_offset)),
            self.rows(layout.append, append),
            self.rows(layout.vector, axis),
            self.rows(layout.two_vectors, axes),
            self.rows(layout.key, key),
            self.iks(ik),
            strict=True,
        )
        return tuple([PmxBone(*row) for row in rows])

    def iks(self, starts: Array) -> Iterator[PmxIk | None]:
        bone, limits = self.marks["links"].T
        (bones,) = self.columns(self.layout.bone_index, bone)
        links = map(PmxIkLink, bones, self.rows(self.layout.two_vectors, limits))
        counts = self.rows(
            self.layout.count, np.where(starts < 0, -1, starts + self.layout.ik.size)
        )
        for fields, count in zip(self.rows(self.layout.ik, starts), counts, strict=True):
            if fields is None:
                yield None
            else:
                target, loops, step_limit = fields
                yield PmxIk(target, loops, step_limit, tuple(islice(links, count)))

    def morphs(self, name: Array, english: Array, fields: Array) -> tuple[PmxMorph, ...]:
        panels, numbers = self.columns(self.layout.morph, fields)
        (counts,) = self.columns(self.layout.count, fields + 2)
        kinds = [MorphKind(number) for number in numbers]
        indices = {kind: self.sizes.code(index_of(kind)) for kind in set(kinds)}
        records = {kind: stored(kind, code) for kind, code in indices.items()}
        offsets = [
            frozen(convert(self.array(records[kind], start, count), OFFSETS[kind]))
            for kind, start, count in zip(kinds, (fields + 6).tolist(), counts, strict=True)
        ]
        names = self.texts(name, english), self.texts(english, fields)
        rows = zip(*names, panels, kinds, offsets, strict=True)
        return tuple([PmxMorph(*row) for row in rows])

    def frames(self, name: Array, english: Array, fields: Array) -> tuple[PmxFrame, ...]:
        (counts,) = self.columns(self.layout.count, fields + 1)
        elements = frozen(self.marks["elements"].astype(np.int32))
        ends = np.cumsum(counts, dtype=np.int64).tolist()
        names = self.texts(name, english), self.texts(english, fields)
        (special,) = self.columns(self.layout.frame, fields)
        shares = [elements[end - n : end] for end, n in zip(ends, counts, strict=True)]
        return tuple([PmxFrame(*row) for row in zip(*names, special, shares, strict=True)])

    def soft_bodies(
        self, name: Array, english: Array, fields: Array, anchors: Array, pins: Array
    ) -> tuple[PmxSoftBody, ...]:
        body, vertex = "<" + self.sizes.code("body"), "<" + self.sizes.code("vertex")
        anchor = np.dtype([("body", body), ("vertex", vertex), ("near", "u1")])
        rows = zip(
            self.texts(name, english),
            self.texts(english, fields),
            *self.columns(self.layout.soft_body, fields),
            [frozen(convert(each, ANCHOR)) for each in self.counted(anchor, anchors)],
            [frozen(each.astype(np.int32)) for each in self.counted(np.dtype(vertex), pins)],
            strict=True,
        )
        return tuple([PmxSoftBody(*row) for row in rows])

    def counted(self, record: np.dtype[Any], starts: Array) -> Iterator[Array]:
        """Records behind their number."""
        (counts,) = self.columns(self.layout.count, starts)
        return map(self.array, repeat(record), (starts + 4).tolist(), counts)


def either(first: Iterable[Any], second: Iterable[Any]) -> Iterator[Any]:
    """Of each pair the one that is there."""
    return (b if a is None else a for a, b in zip(first, second, strict=True))


def frozen(array: Array) -> Array:
    """The array itself, read-only from now on."""
    array.flags.writeable = False
    return array
