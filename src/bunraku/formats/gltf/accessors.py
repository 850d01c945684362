"""Typed arrays out of bytes, and bytes out of typed arrays.

Specification: glTF 2.0, sections 3.6 (binary data) and 3.11 (dequantisation of normalized
integers), KHR_mesh_quantization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError
from bunraku.formats.binary import Budget, Buffer
from bunraku.formats.gltf.compression import decode_draco, decode_meshopt
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.layout import COMPONENTS, Array, Layout
from bunraku.formats.gltf.rules import DRACO, MESHOPT

Float32 = npt.NDArray[np.float32]


def dequantize(values: Array, normalized: bool) -> Float32:
    """Stored numbers as float32; normalized integers map to [0, 1] or [−1, 1].

    Signed ones divide by the largest value and clamp, so that both −127 and −128 are −1
    (section 3.11).

    >>> dequantize(np.array([[-128, -127, 0, 127]], np.int8), True).tolist()
    [[-1.0, -1.0, 0.0, 1.0]]
    """
    # the core reads floats in place: they must start on multiples of four bytes
    result: Float32 = np.require(values, np.float32, ["C_CONTIGUOUS", "ALIGNED"])
    if normalized and values.dtype.kind in "iu":
        result = result / np.float32(np.iinfo(values.dtype).max)
        if values.dtype.kind == "i":
            np.maximum(result, np.float32(-1), out=result)
    return result


class AccessorReader:
    """Decodes accessors of one document, each once, within the file's memory budget.

    Arrays are views of the file's bytes wherever the stored form allows it.
    """

    def __init__(self, file: GltfFile) -> None:
        self.file = file
        self.budget = Budget(file.size, file.source)
        self._views: dict[int, Buffer] = {}
        self._raw: dict[int, Array] = {}
        self._floats: dict[int, Float32] = {}
        self._faces: dict[int, Array] = {}

    def where(self, place: str) -> str:
        """File and place, as errors name them."""
        return f"{self.file.source}: {place}"

    def raw(self, index: int) -> Array:
        """Stored numbers: (count, components), or (count, rows, columns) for matrices."""
        if index not in self._raw:
            self._raw[index] = self._decode(index)
        return self._raw[index]

    def floats(self, index: int) -> Float32:
        """Numbers as float32, normalized integers dequantised; same shapes as `raw`."""
        if index not in self._floats:
            stored = self.raw(index)
            if stored.dtype != np.float32 or not (
                stored.flags.c_contiguous and stored.flags.aligned
            ):
                self.budget.spend(8 * stored.size, f"accessors[{index}]")
            accessor = self.file.json["accessors"][index]
            self._floats[index] = dequantize(stored, accessor.get("normalized", False))
        return self._floats[index]

    def nonzero_rows(self, index: int) -> tuple[npt.NDArray[np.int32], Float32]:
        """Rows of an accessor with any non-zero number, and their float32 values.

        A sparse accessor over nothing is not spread out first: files hold hundreds of morph
        targets that move a few vertices each.
        """
        accessor = self.file.json["accessors"][index]
        sparse = accessor.get("sparse")
        if sparse and "bufferView" not in accessor and index not in self._raw:
            layout = Layout.of(accessor)
            assert layout is not None  # the rules of morph targets allow VEC3 only
            self.budget.spend(32 * sparse["count"], f"accessors[{index}]")
            rows, stored = self._sparse(accessor, layout, f"accessors[{index}]")
            values = dequantize(stored, accessor.get("normalized", False))
        else:
            values = self.floats(index)
            rows = np.arange(len(values))
        moved = np.flatnonzero((values != 0).any(axis=1))
        if len(moved) == len(values):
            return rows.astype(np.int32), values
        return rows[moved].astype(np.int32), values[moved]

    def view(self, index: int) -> Buffer:
        """Bytes of a bufferView, decompressed if need be."""
        if index not in self._views:
            self._views[index] = self._open(index)
        return self._views[index]

    def _open(self, index: int) -> Buffer:
        view = self.file.json["bufferViews"][index]
        extensions = view.get("extensions", {})
        for name in MESHOPT:
            if name in extensions:
                place = f"bufferViews[{index}]"
                # decoded bytes and the decoder's scratch
                self.budget.spend(2 * view["byteLength"], place)
                where = self.where(f"{place}.extensions.{name}")
                packed = extensions[name]
                return decode_meshopt(self._slice(packed, place), packed, where)
        return self._slice(view, f"bufferViews[{index}]")

    def _slice(self, part: dict[str, Any], place: str) -> Buffer:
        data: memoryview = self.file.buffers[part["buffer"]]
        start, size = part.get("byteOffset", 0), part["byteLength"]
        if len(data) < start + size:
            raise FormatError(self.where(f"{place}: buffers[{part['buffer']}] has no data"))
        return data[start : start + size]

    def _decode(self, index: int) -> Array:
        accessor = self.file.json["accessors"][index]
        place = f"accessors[{index}]"
        layout = Layout.of(accessor)
        if layout is None:
            raise FormatError(self.where(f"{place}: unknown type {accessor['type'][:40]!r}"))
        count = accessor["count"]
        if "bufferView" in accessor:
            view = self.file.json["bufferViews"][accessor["bufferView"]]
            stride = view.get("byteStride", layout.size)
            data = self.view(accessor["bufferView"])
            values = layout.view(data, accessor.get("byteOffset", 0), count, stride)
        else:
            self.budget.spend(count * layout.rows * layout.columns * layout.dtype.itemsize, place)
            values = layout.zeros(count)
        return self._overlay(values, accessor, layout, place)

    def _overlay(
        self, values: Array, accessor: dict[str, Any], layout: Layout, place: str
    ) -> Array:
        sparse = accessor.get("sparse")
        if sparse is None or sparse["count"] == 0:
            return values
        self.budget.spend(values.size * values.dtype.itemsize + 24 * sparse["count"], place)
        rows, replacements = self._sparse(accessor, layout, place)
        result = values.copy()
        result[rows] = replacements
        return result

    def _sparse(
        self, accessor: dict[str, Any], layout: Layout, place: str
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Rows that sparse values replace, strictly increasing and in range, and the values."""
        sparse = accessor["sparse"]
        count = sparse["count"]
        scalar = Layout(COMPONENTS[sparse["indices"]["componentType"]], 1, 1)
        parts = []
        for part, part_layout in ((sparse["indices"], scalar), (sparse["values"], layout)):
            data = self.view(part["bufferView"])
            parts.append(part_layout.view(data, part.get("byteOffset", 0), count, part_layout.size))
        rows = parts[0][:, 0].astype(np.int64)
        steps = np.flatnonzero(np.diff(rows) <= 0)
        if steps.size:
            at = int(steps[0]) + 1
            raise FormatError(
                self.where(
                    f"{place}.sparse.indices[{at}]: expected more than {rows[at - 1]},"
                    f" found {rows[at]} (they must strictly increase)"
                )
            )
        if count and rows[-1] >= accessor["count"]:
            raise FormatError(
                self.where(
                    f"{place}.sparse.indices[{count - 1}]: expected less than"
                    f" {accessor['count']}, found {rows[-1]}"
                )
            )
        return rows, parts[1]

    def open_draco(self, primitive: dict[str, Any], place: str) -> Array | None:
        """Fill the accessors of a Draco primitive; returns its faces (F, 3), None without Draco.

        Accessors that have plain data as well are read from those when the extension is not
        required: both say the same, and plain data need no decoder.
        """
        extension = primitive.get("extensions", {}).get(DRACO)
        if extension is None:
            return None
        accessors = self.file.json["accessors"]
        attributes = {
            name: unique_id
            for name, unique_id in extension["attributes"].items()
            if name in primitive["attributes"]
        }
        users = [primitive["attributes"][name] for name in attributes]
        users += [primitive["indices"]] if "indices" in primitive else []
        required = DRACO in self.file.json.get("extensionsRequired", ())
        if not required and all("bufferView" in accessors[user] for user in users):
            return None
        key = extension["bufferView"]
        if key not in self._faces:
            where = self.where(f"{place}.extensions.{DRACO}")
            data = self.view(key)
            faces, arrays = decode_draco(data, attributes, where)
            self.budget.spend(8 * faces.size, place)
            for name, array in arrays.items():
                self.budget.spend(2 * array.nbytes, place)
                self._fill(primitive["attributes"][name], array, f"{place}.attributes.{name}")
            self._faces[key] = faces
        return self._faces[key]

    def _fill(self, index: int, array: Array, place: str) -> None:
        accessor = self.file.json["accessors"][index]
        layout = Layout.of(accessor)
        if layout is None or array.shape != (accessor["count"], layout.rows):
            raise FormatError(
                self.where(
                    f"{place}: expected {accessor['count']} {accessor['type']} elements,"
                    f" found Draco data of shape {array.shape}"
                )
            )
        stored = array.astype(layout.dtype)
        if layout.dtype.kind != "f" and (stored != array).any():
            raise FormatError(
                self.where(f"{place}: Draco data do not fit component type {layout.dtype}")
            )
        self._raw[index] = self._overlay(stored, accessor, layout, f"accessors[{index}]")


def read_accessor(file: GltfFile, index: int) -> Array:
    """Stored numbers of one accessor, strides, sparse values and compression resolved.

    Returns (count, components), or (count, rows, columns) for matrices; `dequantize` makes
    fractions of normalized integers. Draco primitives decode all their accessors together:
    use `AccessorReader.open_draco` first.
    """
    return AccessorReader(file).raw(index)
