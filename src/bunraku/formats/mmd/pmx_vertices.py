"""Vertices of a PMX: arrays in memory, records of five different lengths in the file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import FormatError

Array = npt.NDArray[Any]


class Deform(IntEnum):
    """How bones move a vertex."""

    BDEF1 = 0
    BDEF2 = 1
    BDEF4 = 2
    SDEF = 3
    QDEF = 4


@dataclass(frozen=True, slots=True, eq=False)
class PmxVertices:
    """All vertices, in the file's own space and unit.

    Attributes:
        positions, normals: (V, 3) float32.
        uvs: (V, 2) float32, origin at the top left.
        additional_uvs: (V, n, 4) float32, n = 0..4.
        deform: (V,) uint8 `Deform`.
        bones: (V, 4) int32; slots a type does not have are 0, a bone of -1 is none.
        weights: (V, 4) float32. BDEF1 has 1, 0, 0, 0. BDEF2 and SDEF have w and 1 − w, of
            which w alone is written. Those of BDEF4 and QDEF need not sum to 1.
        sdef: (S, 3, 3) float32: C, R0, R1 of the SDEF vertices in their order.
        edge_scales: (V,) float32.
    """

    positions: Array
    normals: Array
    uvs: Array
    additional_uvs: Array
    deform: Array
    bones: Array
    weights: Array
    sdef: Array
    edge_scales: Array

    def __post_init__(self) -> None:
        count = len(self.positions)
        extra = self.additional_uvs.shape[1] if self.additional_uvs.ndim == 3 else -1
        if not 0 <= extra <= 4:
            raise FormatError("vertices: additional_uvs: expected (V, 0 to 4, 4)")
        expected: dict[str, tuple[tuple[int, ...], str]] = {
            "positions": ((count, 3), "f4"),
            "normals": ((count, 3), "f4"),
            "uvs": ((count, 2), "f4"),
            "additional_uvs": ((count, extra, 4), "f4"),
            "deform": ((count,), "u1"),
            "bones": ((count, 4), "i4"),
            "weights": ((count, 4), "f4"),
            "sdef": ((int(np.count_nonzero(self.deform == Deform.SDEF)), 3, 3), "f4"),
            "edge_scales": ((count,), "f4"),
        }
        for name, (shape, dtype) in expected.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.dtype(dtype):
                raise FormatError(
                    f"vertices: {name}: expected {shape} {np.dtype(dtype)},"
                    f" found {array.shape} {array.dtype}"
                )

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def empty(cls, count: int = 0, additional_uvs: int = 0) -> PmxVertices:
        """`count` vertices at the origin, BDEF1 on bone 0."""
        weights = np.zeros((count, 4), np.float32)
        weights[:, :1] = 1
        return cls(
            np.zeros((count, 3), np.float32),
            np.zeros((count, 3), np.float32),
            np.zeros((count, 2), np.float32),
            np.zeros((count, additional_uvs, 4), np.float32),
            np.zeros(count, np.uint8),
            np.zeros((count, 4), np.int32),
            weights,
            np.zeros((0, 3, 3), np.float32),
            np.ones(count, np.float32),
        )


def read_vertices(
    data: Array, start: int, count: int, sdef_count: int, additional_uvs: int, bone_size: int
) -> PmxVertices:
    """The vertices of a file that the core has scanned, in arrays that are read-only."""
    arrays: dict[str, Array] = {
        "positions": np.empty((count, 3), np.float32),
        "normals": np.empty((count, 3), np.float32),
        "uvs": np.empty((count, 2), np.float32),
        "additional_uvs": np.empty((count, additional_uvs, 4), np.float32),
        "deform": np.empty(count, np.uint8),
        "bones": np.empty((count, 4), np.int32),
        "weights": np.empty((count, 4), np.float32),
        "sdef": np.empty((sdef_count, 3, 3), np.float32),
        "edge_scales": np.empty(count, np.float32),
    }
    _core.pmx.read_vertices(data, start, bone_size, **arrays)
    for array in arrays.values():
        array.flags.writeable = False
    return PmxVertices(**arrays)


def vertex_bytes(vertices: PmxVertices, bone_size: int) -> Array:
    """The records of all vertices, as bytes.

    Raises `FormatError` for a deform type there is not, and for bones that do not fit.
    """
    names = PmxVertices.__slots__
    arrays = {name: np.ascontiguousarray(getattr(vertices, name)) for name in names}
    try:
        return _core.pmx.write_vertices(bone_size, **arrays)
    except ValueError as error:
        raise FormatError(f"vertices: {error}") from None
