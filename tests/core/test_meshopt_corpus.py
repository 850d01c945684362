"""Real files: what their meshopt streams decode to, beside the same data stored uncompressed."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku._core import meshopt
from tests.conftest import shared_folder
from tests.reference import meshopt as reference
from tests.reference import meshopt_filter

CUBES = (
    "loaders.gl/modules/gltf/test/data/meshopt/MeshoptCubeTest/glTF-Meshopt/MeshoptCubeTest.gltf"
)
PIPELINE = "gltf-pipeline/specs/data/2.0/extensions/{0}_meshopt_compression/meshopt-{1}"
COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
CORE = {
    "ATTRIBUTES": meshopt.decode_vertex,
    "TRIANGLES": meshopt.decode_triangles,
    "INDICES": meshopt.decode_indices,
}
ORACLE = {
    "ATTRIBUTES": reference.decode_vertex,
    "TRIANGLES": reference.decode_triangles,
    "INDICES": reference.decode_indices,
}


class Asset:
    """Just enough of a glTF reader for these files."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        binary = None
        if raw[:4] == b"glTF":
            (length,) = struct.unpack_from("<I", raw, 12)
            raw, binary = raw[20 : 20 + length], raw[28 + length :]
        self.json: dict[str, Any] = json.loads(raw)
        uris = [buffer.get("uri") for buffer in self.json["buffers"]]
        self.buffers = [(path.parent / uri).read_bytes() if uri else binary for uri in uris]

    def slice(self, where: dict[str, Any]) -> np.ndarray:
        buffer = self.buffers[where["buffer"]]
        assert buffer is not None
        start = where.get("byteOffset", 0)
        return np.frombuffer(buffer[start : start + where["byteLength"]], np.uint8)

    def packed(self, view: dict[str, Any]) -> dict[str, Any] | None:
        for name, extension in view.get("extensions", {}).items():
            if name in ("EXT_meshopt_compression", "KHR_meshopt_compression"):
                return dict(extension)
        return None

    def decoded(self, view: dict[str, Any]) -> np.ndarray:
        packed = self.packed(view)
        if packed is None:
            return self.slice(view)
        count, stride = packed["count"], packed["byteStride"]
        out = CORE[packed["mode"]](self.slice(packed), count, stride)
        if packed.get("filter", "NONE") != "NONE":
            meshopt.apply_filter(out, count, stride, packed["filter"])
        return out

    def accessor(self, index: int) -> np.ndarray:
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        kind = np.dtype(COMPONENTS[accessor["componentType"]])
        size = kind.itemsize * WIDTHS[accessor["type"]]
        first = accessor.get("byteOffset", 0)
        starts = first + view.get("byteStride", size) * np.arange(accessor["count"])
        rows: np.ndarray = self.decoded(view)[starts[:, None] + np.arange(size)]
        return rows.reshape(-1).view(kind).reshape(len(rows), -1)

    def primitives(self) -> list[dict[str, Any]]:
        return [p for mesh in self.json["meshes"] for p in mesh["primitives"]]


def same_triangles(a: np.ndarray, b: np.ndarray) -> bool:
    """Row by row the same corners (triangles, 3, …), wherever a triangle starts."""
    equal = [
        np.all(np.roll(a, turn, axis=1) == b, axis=tuple(range(1, b.ndim))) for turn in range(3)
    ]
    return bool(np.any(equal, axis=0).all())


def soup(asset: Asset, primitive: dict[str, Any], names: list[str]) -> list[tuple[Any, ...]]:
    """The primitive's triangles, sorted, each from its least corner on."""
    rows = [asset.accessor(primitive["attributes"][name]) for name in names]
    vertices = [tuple(row) for row in np.concatenate(rows, axis=1, dtype=np.int64).tolist()]
    triangles = []
    for corners in asset.accessor(primitive["indices"]).reshape(-1, 3).tolist():
        a, b, c = (vertices[corner] for corner in corners)
        triangles.append(min((a, b, c), (b, c, a), (c, a, b)))
    return sorted(triangles)


FOLDER = shared_folder("corpus")
GLTF = FOLDER / "gltf_usd_fbx_bvh" if FOLDER is not None else None
FILES = [
    *(GLTF.glob("generated/*gltfpack-cc*.gl*") if GLTF else []),
    *(GLTF.glob("generated/*khr.glb") if GLTF else []),
    *(GLTF.glob("generated/*meshopt*.glb") if GLTF else []),
    *(GLTF.glob("gltf-transform/packages/extensions/test/in/BoxMeshopt.gl*") if GLTF else []),
    *(GLTF.glob(PIPELINE.format("*", "*") + "/*.gltf") if GLTF else []),
    *([GLTF / CUBES] if GLTF else []),
]
needs_files = pytest.mark.skipif(not FILES, reason="no corpus: set BUNRAKU_CORPUS")


@pytest.fixture
def gltf(corpus: Path) -> Path:
    return corpus / "gltf_usd_fbx_bvh"


@needs_files
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_streams_decode_as_the_oracle_decodes_them(path: Path) -> None:
    asset, seen = Asset(path), 0
    for view in asset.json["bufferViews"]:
        packed = asset.packed(view)
        if packed is None:
            continue
        seen += 1
        size = (packed["count"], packed["byteStride"])
        if size[0] * size[1] > 20_000:  # the oracle takes seconds for 100 kB
            assert asset.decoded(view).size == size[0] * size[1]
            continue
        expected = ORACLE[packed["mode"]](asset.slice(packed), *size)
        if packed.get("filter", "NONE") != "NONE":
            expected = meshopt_filter.apply_filter(expected, *size, packed["filter"])
        assert np.array_equal(asset.decoded(view), expected)
    assert seen


@pytest.mark.parametrize(
    "name",
    [
        "generated/Fox.gltfpack-cc-fallback.gltf",
        PIPELINE.format("EXT", "fallback") + "/meshopt-fallback.gltf",
        PIPELINE.format("KHR", "fallback") + "/meshopt-fallback.gltf",
    ],
)
def test_fallback_buffers_hold_the_same(gltf: Path, name: str) -> None:
    asset = Asset(gltf / name)
    for view in asset.json["bufferViews"]:
        packed = asset.packed(view)
        if packed is None:
            continue
        ours, stored = asset.decoded(view), asset.slice(view)
        if packed["mode"] == "TRIANGLES":
            kind = f"<u{packed['byteStride']}"
            assert same_triangles(ours.view(kind).reshape(-1, 3), stored.view(kind).reshape(-1, 3))
        elif packed.get("filter", "NONE") == "NONE":
            assert np.array_equal(ours, stored)
        else:  # the gltfpack of these files stored the normals as they are before the filter
            size = (packed["count"], packed["byteStride"])
            assert np.array_equal(meshopt.decode_vertex(asset.slice(packed), *size), stored)
            normals = ours.view(np.int8).reshape(-1, 4)[:, :3].astype(float)
            assert np.abs(np.linalg.norm(normals, axis=1) - 127).max() <= 1


@pytest.mark.parametrize("row", [1, 2, 3, 4])
@pytest.mark.parametrize("column", range(5))
def test_cubes_equal_the_uncompressed_cube(gltf: Path, row: int, column: int) -> None:
    """Row 0 is stored as it is, 1 as INDICES, 2 as TRIANGLES, 3 with filters, 4 with codec 1."""
    asset = Asset(gltf / CUBES)
    cubes = asset.primitives()[10:]  # ten labels come first
    plain, packed = cubes[column], cubes[5 * row + column]
    for name, index in plain["attributes"].items():
        ours = asset.accessor(packed["attributes"][name]).astype(float)
        stored = asset.accessor(index).astype(float)
        # Y, Co and Cg have the bits of a component, and so lose the last one of a color.
        assert np.abs(ours - stored).max() <= (1 if name == "COLOR_0" and row > 2 else 0)
    ours, stored = (asset.accessor(p["indices"]).reshape(-1, 3) for p in (packed, plain))
    assert np.array_equal(ours, stored) if row == 1 else same_triangles(ours, stored)


def test_cube_rotations_equal_the_uncompressed_ones(gltf: Path) -> None:
    asset = Asset(gltf / CUBES)
    (animation,) = asset.json["animations"]
    plain, *packed = (asset.accessor(sampler["output"]) for sampler in animation["samplers"])
    assert len(packed) == 4
    assert all(np.array_equal(rotations, plain) for rotations in packed)


@pytest.mark.parametrize("name", ["AnimatedMorphCube", "MorphStressTest", "Fox", "RiggedSimple"])
def test_gltfpack_packs_the_triangles_it_stores(gltf: Path, name: str) -> None:
    """`-cc` orders vertices and triangles differently, so the sets of triangles are compared."""
    plain = Asset(gltf / f"generated/{name}.gltfpack-q.glb")
    packed = Asset(gltf / f"generated/{name}.gltfpack-cc.glb")
    for stored, ours in zip(plain.primitives(), packed.primitives(), strict=True):
        # normals pass through the octahedral filter and lose precision
        names = [attribute for attribute in stored["attributes"] if attribute != "NORMAL"]
        assert soup(packed, ours, names) == soup(plain, stored, names)


@pytest.mark.parametrize("name", ["Fox", "RiggedSimple", "RecursiveSkeletons"])
def test_gltfpack_packs_the_keys_it_stores(gltf: Path, name: str) -> None:
    plain = Asset(gltf / f"generated/{name}.gltfpack-q.glb")
    packed = Asset(gltf / f"generated/{name}.gltfpack-cc.glb")
    for stored, ours in zip(
        plain.json["animations"][0]["samplers"][:60],
        packed.json["animations"][0]["samplers"][:60],
        strict=True,
    ):
        assert np.array_equal(plain.accessor(stored["input"]), packed.accessor(ours["input"]))
        a, b = plain.accessor(stored["output"]), packed.accessor(ours["output"])
        if a.dtype == np.int16:  # quaternions of 12 bits, of which q and -q are the same
            q, p = a.astype(float), b.astype(float)
            p *= np.sign(np.sum(q * p, axis=1, keepdims=True))
            assert np.abs(q - p).max() <= 8
        else:  # translations of 15 bits, in units of 0.01
            assert np.abs(a - b).max() <= 1e-3
