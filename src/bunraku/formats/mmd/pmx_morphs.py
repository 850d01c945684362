"""Morphs of a PMX: what a slider changes, as records of eleven kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError

Array = npt.NDArray[Any]


class MorphKind(IntEnum):
    """What the offsets of a morph are; FLIP and IMPULSE are of version 2.1."""

    GROUP = 0
    VERTEX = 1
    BONE = 2
    UV = 3
    UV1 = 4
    UV2 = 5
    UV3 = 6
    UV4 = 7
    MATERIAL = 8
    FLIP = 9
    IMPULSE = 10


_GROUP = [("morph", "<i4"), ("weight", "<f4")]
_UV = [("vertex", "<i4"), ("offset", "<f4", (4,))]

# The first field is an index, in the file of the size the header says.
OFFSETS: dict[MorphKind, np.dtype[Any]] = {
    MorphKind.GROUP: np.dtype(_GROUP),
    MorphKind.VERTEX: np.dtype([("vertex", "<i4"), ("offset", "<f4", (3,))]),
    MorphKind.BONE: np.dtype(
        [("bone", "<i4"), ("translation", "<f4", (3,)), ("rotation", "<f4", (4,))]
    ),
    **{kind: np.dtype(_UV) for kind in MorphKind if MorphKind.UV <= kind <= MorphKind.UV4},
    MorphKind.MATERIAL: np.dtype(
        [
            ("material", "<i4"),  # -1: all
            ("operation", "u1"),  # 0 multiply, 1 add
            ("diffuse", "<f4", (4,)),
            ("specular", "<f4", (3,)),
            ("specular_power", "<f4"),
            ("ambient", "<f4", (3,)),
            ("edge_colour", "<f4", (4,)),
            ("edge_size", "<f4"),
            ("texture", "<f4", (4,)),
            ("sphere", "<f4", (4,)),
            ("toon", "<f4", (4,)),
        ]
    ),
    MorphKind.FLIP: np.dtype(_GROUP),
    MorphKind.IMPULSE: np.dtype(
        [("body", "<i4"), ("local", "u1"), ("velocity", "<f4", (3,)), ("torque", "<f4", (3,))]
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class PmxMorph:
    """A morph.

    Attributes:
        panel: 0 system, 1 brow, 2 eye, 3 mouth, 4 other.
        offsets: (n,) records `OFFSETS[kind]`. Material: multiply starts from 1 and takes
            1 + (value − 1)·weight, add takes value·weight. A group may name a group, or itself.
    """

    name: str
    name_english: str = ""
    panel: int = 4
    kind: MorphKind = MorphKind.VERTEX
    offsets: Array = field(default_factory=lambda: np.empty(0, OFFSETS[MorphKind.VERTEX]))

    def __post_init__(self) -> None:
        if self.offsets.ndim != 1 or self.offsets.dtype != OFFSETS[self.kind]:
            raise FormatError(f"morph {self.name!r}: offsets are no {self.kind.name} records")


def index_of(kind: MorphKind) -> str:
    """What the first field of its records is an index of."""
    return (OFFSETS[kind].names or ("",))[0]


def stored(kind: MorphKind, index_code: str) -> np.dtype[Any]:
    """The record in a file whose indices are of this type."""
    record = OFFSETS[kind]
    first, *rest = record.names or ()
    return np.dtype([(first, "<" + index_code), *((name, record[name]) for name in rest)])


def convert(offsets: Array, dtype: np.dtype[Any]) -> Array:
    """The same records with an index of another size."""
    if offsets.dtype == dtype:
        return offsets
    result = np.empty(len(offsets), dtype)
    for name in dtype.names or ():
        result[name] = offsets[name]
    return result
