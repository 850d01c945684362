"""How elements of an accessor lie in memory.

Specification: glTF 2.0, section 3.6.2 (accessors).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.formats.binary import Buffer

Array = npt.NDArray[Any]

# bufferView.target
VERTICES = 34962
INDICES = 34963

COMPONENTS: dict[int, np.dtype[Any]] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
# Rows and columns of an element; vectors are one column.
SHAPES: dict[str, tuple[int, int]] = {
    "SCALAR": (1, 1),
    "VEC2": (2, 1),
    "VEC3": (3, 1),
    "VEC4": (4, 1),
    "MAT2": (2, 2),
    "MAT3": (3, 3),
    "MAT4": (4, 4),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How the elements of an accessor lie in memory.

    Matrix columns start on multiples of four bytes, so MAT2 of bytes and MAT3 of bytes or
    shorts have gaps (section 3.6.2.4).
    """

    dtype: np.dtype[Any]
    rows: int
    columns: int

    @classmethod
    def of(cls, accessor: dict[str, Any]) -> Layout | None:
        """Layout of an accessor, or None when its type is not one glTF 2.0 knows."""
        shape = SHAPES.get(accessor["type"])
        return None if shape is None else cls(COMPONENTS[accessor["componentType"]], *shape)

    @property
    def column_size(self) -> int:
        size = self.rows * self.dtype.itemsize
        return size if self.columns == 1 else size + -size % 4

    @property
    def size(self) -> int:
        """Bytes from one tightly packed element to the next."""
        return self.column_size * self.columns

    @property
    def occupied(self) -> int:
        """Bytes the last element needs: the gap after its last column may be missing."""
        return self.column_size * (self.columns - 1) + self.rows * self.dtype.itemsize

    def extent(self, count: int, stride: int) -> int:
        """Bytes `count` elements reach over."""
        return stride * (count - 1) + self.occupied if count else 0

    def view(self, data: Buffer, offset: int, count: int, stride: int) -> Array:
        """The elements over `data`, not copied: (count, rows); matrices (count, rows, columns)."""
        item = self.dtype.itemsize
        if self.columns == 1:
            shape: tuple[int, ...] = (count, self.rows)
            strides: tuple[int, ...] = (stride, item)
        else:
            shape = (count, self.rows, self.columns)
            strides = (stride, item, self.column_size)
        if count == 0:
            return self.zeros(0)
        return np.ndarray(shape, self.dtype, data, offset, strides)

    def zeros(self, count: int) -> Array:
        """What an accessor without a bufferView holds."""
        shape = (count, self.rows) if self.columns == 1 else (count, self.rows, self.columns)
        return np.zeros(shape, self.dtype)
