from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.gltf import character_from_gltf, read_accessor, read_gltf
from bunraku.formats.gltf.accessors import AccessorReader
from bunraku.model import differences
from tests.formats.sketch import Sketch, triangle

DracoPy = pytest.importorskip("DracoPy", reason="pip install 'bunraku[draco]'")
DRACO = "KHR_draco_mesh_compression"

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.5]], np.float32)
FACES = np.array([[0, 1, 2], [2, 1, 3]], np.uint32)


def draco_sketch(**changes: Any) -> Sketch:
    """Two triangles with positions, texture coordinates and joints, by unique id."""
    joints = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]], np.uint16)
    weights = np.tile(np.float32([1, 0, 0, 0]), (4, 1))
    encoded = DracoPy.encode(
        POINTS,
        FACES,
        quantization_bits=0,
        preserve_order=True,
        generic_attributes={7: joints, 9: weights},
    )
    position = next(
        attribute["unique_id"]
        for attribute in DracoPy.decode(encoded).attributes
        if attribute["attribute_type"] == 0
    )
    sketch = Sketch(
        nodes=[{"mesh": 0}],
        scenes=[{"nodes": [0]}],
        extensionsUsed=[DRACO],
        extensionsRequired=[DRACO],
    )
    view = sketch.view(encoded)
    attributes = {
        "POSITION": sketch.accessor(
            componentType=5126, count=4, type="VEC3", min=[0, 0, 0], max=[1, 1, 0.5]
        ),
        "JOINTS_0": sketch.accessor(componentType=5123, count=4, type="VEC4"),
        "WEIGHTS_0": sketch.accessor(componentType=5126, count=4, type="VEC4"),
    }
    indices = sketch.accessor(componentType=5123, count=6, type="SCALAR")
    ids = {"POSITION": position, "JOINTS_0": 7, "WEIGHTS_0": 9}
    extension = {"bufferView": view, "attributes": ids}
    primitive = {
        "attributes": attributes,
        "indices": indices,
        "extensions": {DRACO: extension | changes},
    }
    sketch.tree["meshes"] = [{"primitives": [primitive]}]
    return sketch


INVALID = {
    "an id the data do not have": (
        {"attributes": {"POSITION": 5}},
        "POSITION: expected one of the Draco attributes [7, 9, 10], found 5",
    ),
    "an id of another width": (
        {"attributes": {"POSITION": 7}},
        "attributes.POSITION: expected 4 VEC3 elements, found Draco data of shape (4, 4)",
    ),
}


@pytest.mark.parametrize(("changes", "message"), INVALID.values(), ids=INVALID.keys())
def test_invalid_draco_references(changes: dict[str, Any], message: str):
    with pytest.raises(FormatError) as caught:
        character_from_gltf(read_gltf(draco_sketch(**changes).glb(), name="x.glb"))
    assert "x.glb: meshes[0].primitives[0]." in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("damage", ["truncated", "nonsense", "another file"])
def test_malformed_draco_data(damage: str):
    sketch = draco_sketch()
    view = sketch.tree["bufferViews"][0]
    if damage == "truncated":
        view["byteLength"] //= 2
    elif damage == "nonsense":
        sketch.data[10:40] = b"\xff" * 30
    else:
        sketch.data[:5] = b"OTHER"
    with pytest.raises(FormatError, match="malformed Draco data"):
        character_from_gltf(read_gltf(sketch.glb()))


def test_attributes_are_found_by_unique_id():
    (mesh,) = character_from_gltf(read_gltf(draco_sketch().glb())).meshes
    geometry = mesh.geometries[0]
    assert geometry.positions.tolist() == POINTS.tolist()
    assert geometry.joints is not None
    assert geometry.joints[:, 0].tolist() == [0, 1, 2, 3]
    assert geometry.joints.dtype == np.int32
    assert mesh.parts[0].faces.tolist() == FACES.tolist()


def test_attributes_outside_the_draco_data_keep_their_own():
    sketch = draco_sketch(attributes={"POSITION": 10, "WEIGHTS_0": 9})
    (mesh,) = character_from_gltf(read_gltf(sketch.glb())).meshes
    joints = mesh.geometries[0].joints
    assert joints is not None
    assert not joints.any()  # an accessor over nothing is zeros


def test_sparse_values_go_on_top_of_decoded_data():
    sketch = draco_sketch()
    sketch.tree["accessors"][0]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": sketch.view(b"\2"), "componentType": 5121},
        "values": {"bufferView": sketch.view(np.float32([9, 8, 7]).tobytes())},
    }
    (mesh,) = character_from_gltf(read_gltf(sketch.glb())).meshes
    expected = POINTS.copy()
    expected[2] = [9, 8, 7]
    assert mesh.geometries[0].positions.tolist() == expected.tolist()


def test_plain_data_are_preferred_where_draco_is_optional():
    sketch = triangle()
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    broken = sketch.view(b"DRACO but broken")
    primitive["extensions"] = {DRACO: {"bufferView": broken, "attributes": {"POSITION": 0}}}
    sketch.tree["extensionsUsed"] = [DRACO]
    (mesh,) = character_from_gltf(read_gltf(sketch.glb())).meshes
    assert mesh.geometries[0].vertex_count == 3


def test_a_missing_decoder_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'bunraku\[draco\]'"):
        character_from_gltf(read_gltf(draco_sketch().glb()))


@pytest.mark.parametrize(
    ("compressed", "plain"),
    [
        (
            "khronos-sample-assets/Models/RiggedSimple/glTF-Draco/RiggedSimple.gltf",
            "khronos-sample-assets/Models/RiggedSimple/glTF/RiggedSimple.gltf",
        ),
        ("generated/Fox.gt-draco.glb", "khronos-sample-assets/Models/Fox/glTF-Binary/Fox.glb"),
    ],
)
def test_draco_shows_the_same_surface(corpus: Path, compressed: str, plain: str):
    """Vertex order may change, so corners of faces are compared as a set of points."""
    root = corpus / "gltf_usd_fbx_bvh"
    clouds = []
    for name in (compressed, plain):
        (mesh,) = character_from_gltf(read_gltf(root / name)).meshes
        geometry, faces = mesh.geometries[0], mesh.parts[0].faces
        clouds.append(geometry.positions[faces.reshape(-1)])
    size = np.ptp(clouds[1], axis=0).max()
    assert len(clouds[0]) == len(clouds[1])
    assert np.abs(clouds[0].mean(axis=0) - clouds[1].mean(axis=0)).max() < 1e-3 * size
    assert np.abs(np.sort(clouds[0], axis=0) - np.sort(clouds[1], axis=0)).max() < 2e-3 * size


MESHOPT = Path("gltf_usd_fbx_bvh/gltf-pipeline/specs/data/2.0/extensions")


@pytest.mark.parametrize("prefix", ["EXT", "KHR"])
def test_meshopt_data_equal_their_fallback(corpus: Path, prefix: str):
    """Where no filter changes them: attributes bit for bit, triangles up to their first corner."""
    pytest.importorskip("bunraku._core")
    name = f"{prefix}_meshopt_compression"
    file = read_gltf(corpus / MESHOPT / name / "meshopt-fallback" / "meshopt-fallback.gltf")
    reader = AccessorReader(file)
    modes = []
    for i, view in enumerate(file.json["bufferViews"]):
        packed = view.get("extensions", {}).get(name)
        if packed is None or "filter" in packed:
            continue
        start = view.get("byteOffset", 0)
        fallback = bytes(file.buffers[view["buffer"]][start : start + view["byteLength"]])
        found = bytes(reader.view(i))
        modes.append(packed["mode"])
        if packed["mode"] == "TRIANGLES":
            assert turned(found) == turned(fallback)
        else:
            assert found == fallback
    assert sorted(modes) == ["ATTRIBUTES", "TRIANGLES"]


def turned(data: bytes) -> list[list[int]]:
    """Triangles that begin with their smallest corner."""
    faces = np.frombuffer(data, np.uint16).reshape(-1, 3)
    return [np.roll(face, -int(face.argmin())).tolist() for face in faces]


@pytest.mark.parametrize("prefix", ["EXT", "KHR"])
def test_meshopt_needs_no_fallback(corpus: Path, prefix: str):
    pytest.importorskip("bunraku._core")
    folder = corpus / MESHOPT / f"{prefix}_meshopt_compression"
    with_it = read_gltf(folder / "meshopt-fallback" / "meshopt-fallback.gltf")
    without = read_gltf(folder / "meshopt-no-fallback" / "meshopt-no-fallback.gltf")
    assert without.notes == ()
    assert len(without.buffers[1]) == 0
    a, b = character_from_gltf(with_it), character_from_gltf(without)
    assert differences(a.meshes, b.meshes) == []


def meshopt_sketch(**changes: Any) -> Sketch:
    sketch = triangle()
    packed = {"buffer": 0, "byteLength": 16, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}
    sketch.tree["bufferViews"][0]["extensions"] = {"EXT_meshopt_compression": packed | changes}
    return sketch


def test_malformed_meshopt_data_are_named():
    pytest.importorskip("bunraku._core")
    with pytest.raises(FormatError, match=r"bufferViews\[0\]\.extensions\.EXT_meshopt.*malformed"):
        read_accessor(read_gltf(meshopt_sketch().glb()), 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "POINTS"}, "mode: expected one of 'ATTRIBUTES'"),
        ({"filter": "ROUND"}, "filter: expected one of 'NONE'"),
        ({"count": 4}, "expected count × byteStride = 36 bytes, found 48"),
        ({"byteLength": 4000}, "ends at byte 4000, but its buffer has 36 bytes"),
        ({"buffer": 1}, "buffer: expected an index into buffers"),
        ({"byteStride": 0}, "byteStride: expected an integer 1 … 256"),
    ],
)
def test_invalid_meshopt_extensions(changes: dict[str, Any], message: str):
    with pytest.raises(FormatError) as caught:
        read_gltf(meshopt_sketch(**changes).glb())
    assert "bufferViews[0].extensions.EXT_meshopt_compression" in str(caught.value)
    assert message in str(caught.value)
