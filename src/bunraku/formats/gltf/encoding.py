"""Arrays into bytes, bufferViews and accessors; integers that stand for fractions.

Specification: glTF 2.0, section 3.6; KHR_mesh_quantization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.formats.gltf.layout import COMPONENTS, VERTICES, Array


def quantize(values: npt.ArrayLike, dtype: npt.DTypeLike) -> Array:
    """The nearest normalized integers; the inverse of `dequantize`.

    >>> quantize([0.5, 1.0], np.uint8).tolist()
    [128, 255]
    """
    kind = np.dtype(dtype)
    limits = np.iinfo(kind)
    scaled = np.rint(np.asarray(values, np.float64) * limits.max)
    return np.clip(scaled, -limits.max if kind.kind == "i" else 0, limits.max).astype(kind)


def quantize_weights(weights: npt.ArrayLike, dtype: npt.DTypeLike) -> Array:
    """Weights (V, K) as normalized integers whose rows sum to exactly 255 or 65535.

    What rounding leaves over goes to the largest weight of the row (section 3.7.3.3); rows
    that sum to zero stay zero.

    >>> quantize_weights([[0.2, 0.2, 0.2, 0.4]], np.uint8).sum()
    np.uint64(255)
    """
    kind = np.dtype(dtype)
    largest = np.iinfo(kind).max
    exact = np.asarray(weights, np.float64)
    result = np.rint(exact * largest).astype(np.int64)
    # hundreds of tiny weights may round up to more than the largest could give back
    over = result.sum(axis=1) - largest >= result.max(axis=1, initial=0)
    result[over] = np.floor(exact[over] * largest)
    rows = np.flatnonzero(exact.sum(axis=1) > 0)
    result[rows, exact[rows].argmax(axis=1)] += largest - result[rows].sum(axis=1)
    return result.astype(kind)


def put(tree: dict[str, Any], key: str, value: Any, default: Any) -> None:
    """Write a property, or leave it out when it has its default."""
    if value == default:
        tree.pop(key, None)
    else:
        tree[key] = value


class BufferBuilder:
    """Appends arrays to a document: bytes, bufferViews and accessors.

    Args:
        tree: the document to extend in place.
        buffer: index of the buffer the bytes will go to.
        start: bytes that buffer already has.
    """

    def __init__(self, tree: dict[str, Any], buffer: int = 0, start: int = 0) -> None:
        self.tree = tree
        self.buffer = buffer
        self.size = start
        self.pieces: list[bytes] = []

    def view(self, data: bytes, *, stride: int | None = None, target: int | None = None) -> int:
        """Append raw bytes on a four-byte boundary; returns the index of the new bufferView."""
        gap = -self.size % 4
        self.pieces += [b"\0" * gap, data]
        view: dict[str, Any] = {"buffer": self.buffer, "byteOffset": self.size + gap}
        view["byteLength"] = len(data)
        if stride is not None:
            view["byteStride"] = stride
        if target is not None:
            view["target"] = target
        self.size += gap + len(data)
        self.tree.setdefault("bufferViews", []).append(view)
        return len(self.tree["bufferViews"]) - 1

    def accessor(
        self,
        values: Array,
        *,
        target: int | None = None,
        normalized: bool = False,
        bounds: bool = False,
    ) -> int:
        """Append scalars (n,), vectors (n, C) or matrices (n, C, C); returns the accessor's index.

        Vertex attributes (`target` 34962) are padded to a multiple of four bytes per element
        (section 3.6.2.4). `bounds` writes min and max in stored units.
        """
        stored = values.astype(values.dtype.newbyteorder("<"), copy=False)
        flat = stored.reshape(len(stored), 1) if stored.ndim == 1 else stored
        if flat.ndim == 3:
            kind = f"MAT{flat.shape[1]}"
            flat = flat.transpose(0, 2, 1).reshape(len(flat), -1)
        else:
            kind = "SCALAR" if flat.shape[1] == 1 else f"VEC{flat.shape[1]}"
        stride = None
        packed = flat
        if target == VERTICES:
            width = flat.shape[1] * flat.dtype.itemsize
            stride = width + -width % 4
            if stride != width:
                packed = np.zeros((len(flat), stride // flat.dtype.itemsize), flat.dtype)
                packed[:, : flat.shape[1]] = flat
        view = self.view(packed.tobytes(), stride=stride, target=target)
        component = next(code for code, dtype in COMPONENTS.items() if dtype == flat.dtype)
        accessor: dict[str, Any] = {"bufferView": view, "componentType": component}
        if normalized:
            accessor["normalized"] = True
        accessor |= {"count": len(flat), "type": kind}
        if bounds and len(flat):
            accessor |= {"max": flat.max(axis=0).tolist(), "min": flat.min(axis=0).tolist()}
        self.tree.setdefault("accessors", []).append(accessor)
        return len(self.tree["accessors"]) - 1

    def sparse(self, count: int, rows: Array, values: Array) -> int:
        """Append an accessor of `count` zeros with `values` at `rows` (strictly increasing).

        Rows that move nothing are left out; min and max say what comes out.
        """
        moved = (values != 0).any(axis=1)
        rows, values = rows[moved], values[moved]
        if len(rows) > 0.7 * count:  # a plain accessor is smaller: no indices
            dense = np.zeros((count, values.shape[1]), values.dtype)
            dense[rows] = values
            return self.accessor(dense, target=VERTICES, bounds=True)
        ends = np.concatenate([values, np.zeros((1, values.shape[1]), values.dtype)])
        accessor: dict[str, Any] = {"componentType": 5126, "count": count}
        accessor["type"] = f"VEC{values.shape[1]}"
        accessor |= {"max": ends.max(axis=0).tolist(), "min": ends.min(axis=0).tolist()}
        if len(rows):
            kind, code = (np.uint16, 5123) if rows[-1] < 65536 else (np.uint32, 5125)
            accessor["sparse"] = {
                "count": len(rows),
                "indices": {
                    "bufferView": self.view(rows.astype(kind).tobytes()),
                    "componentType": code,
                },
                "values": {"bufferView": self.view(np.ascontiguousarray(values).tobytes())},
            }
        self.tree.setdefault("accessors", []).append(accessor)
        return len(self.tree["accessors"]) - 1
