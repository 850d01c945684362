"""Accessors decoded one number at a time: the slow, obvious version.

Specification: glTF 2.0, section 3.6.2.
"""

from __future__ import annotations

import struct
from typing import Any

FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
ROWS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 2, "MAT3": 3, "MAT4": 4}
COLUMNS = {"MAT2": 2, "MAT3": 3, "MAT4": 4}


def element_offsets(kind: str, component: int) -> list[list[int]]:
    """Byte offset of [row][column] within an element; matrix columns start at multiples of 4."""
    size = struct.calcsize(FORMATS[component])
    columns = COLUMNS.get(kind, 1)
    pitch = ROWS[kind] * size
    if columns > 1:
        pitch = (pitch + 3) // 4 * 4
    return [[c * pitch + r * size for c in range(columns)] for r in range(ROWS[kind])]


def element_size(kind: str, component: int) -> int:
    size = struct.calcsize(FORMATS[component])
    columns = COLUMNS.get(kind, 1)
    pitch = ROWS[kind] * size
    return pitch if columns == 1 else (pitch + 3) // 4 * 4 * columns


def decode(tree: dict[str, Any], data: bytes, index: int) -> list[Any]:
    """Elements as nested lists: numbers for vectors, rows of numbers for matrices."""
    accessor = tree["accessors"][index]
    kind, component = accessor["type"], accessor["componentType"]
    offsets = element_offsets(kind, component)

    def element(start: int) -> Any:
        rows = [
            [struct.unpack_from("<" + FORMATS[component], data, start + o)[0] for o in row]
            for row in offsets
        ]
        return rows if kind in COLUMNS else [row[0] for row in rows]

    def start_of(part: dict[str, Any]) -> int:
        view = tree["bufferViews"][part["bufferView"]]
        return int(view.get("byteOffset", 0) + part.get("byteOffset", 0))

    tight = element_size(kind, component)
    if "bufferView" in accessor:
        stride = tree["bufferViews"][accessor["bufferView"]].get("byteStride", tight)
        result = [element(start_of(accessor) + i * stride) for i in range(accessor["count"])]
    else:
        zero = [[0] * len(row) for row in offsets]
        blank = zero if kind in COLUMNS else [row[0] for row in zero]
        result = [blank for _ in range(accessor["count"])]
    if "sparse" in accessor:
        sparse = accessor["sparse"]
        code = FORMATS[sparse["indices"]["componentType"]]
        for i in range(sparse["count"]):
            at = start_of(sparse["indices"]) + i * struct.calcsize(code)
            (row,) = struct.unpack_from("<" + code, data, at)
            result[row] = element(start_of(sparse["values"]) + i * tight)
    return result


def dequantized(value: float, component: int) -> float:
    """A normalized integer as the number it stands for."""
    largest = {5120: 127, 5121: 255, 5122: 32767, 5123: 65535}[component]
    return max(value / largest, -1.0)
