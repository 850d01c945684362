from __future__ import annotations

import json
from typing import Any

import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.gltf import GltfFile, read_gltf
from tests.formats.sketch import Sketch, glb, skinned


def whole() -> dict[str, Any]:
    """A document with one of everything, to break in one place at a time."""
    sketch = skinned([[0.5, 0.5, 0, 0]] * 3)
    tree = sketch.tree
    primitive = tree["meshes"][0]["primitives"][0]
    primitive["indices"] = sketch.add([0, 1, 2], "u2")
    primitive["targets"] = [{"POSITION": sketch.add([[0, 0, 1]] * 3)}]
    primitive["material"] = 0
    tree["materials"] = [{"name": "skin"}]
    ibm = sketch.add([[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]] * 2)
    tree["skins"][0]["inverseBindMatrices"] = ibm
    times, turns = sketch.add([0, 1]), sketch.add([[0, 0, 0, 1]] * 2)
    tree["animations"] = [
        {
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
            "samplers": [{"input": times, "output": turns}],
        }
    ]
    sparse = {
        "count": 1,
        "indices": {"bufferView": sketch.view(b"\2"), "componentType": 5121},
        "values": {"bufferView": sketch.view(b"\0" * 12)},
    }
    sketch.accessor(componentType=5126, count=3, type="VEC3", sparse=sparse)
    return {**sketch.finished(), "_data": bytes(sketch.data)}


def read(tree: dict[str, Any]) -> GltfFile:
    data = tree.pop("_data")
    # a number too large for a double is legal JSON text; Python has no other way to write it
    text = json.dumps(tree).replace("Infinity", "1e999")
    return read_gltf(glb(text.encode(), data), name="bad.glb")


def put(tree: Any, path: str, value: Any) -> None:
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    for key in parents:
        tree = tree[key]
    if value is None:
        del tree[last]
    elif isinstance(tree, list) and last == len(tree):
        tree.append(value)
    else:
        tree[last] = value


# JSON path, value (None: removed), place and part of the message.
INVALID: dict[str, tuple[str, Any, str]] = {
    "no asset": ("asset", None, "glTF: asset is missing"),
    "no version": ("asset/version", None, "asset: version is missing"),
    "an odd version": ("asset/version", "two", "asset.version: expected a version"),
    "accessors no array": ("accessors", {}, "accessors: expected an array, found an object"),
    "an accessor no object": ("accessors/0", 5, "accessors[0]: expected an object, found 5"),
    "no count": ("accessors/0/count", None, "accessors[0]: count is missing"),
    "a negative count": ("accessors/0/count", -1, "expected an integer 0 … 2147483647, found -1"),
    "count no integer": ("accessors/0/count", 3.5, "found 3.5"),
    "count true": ("accessors/0/count", True, "found True"),
    "a huge count": ("accessors/0/count", 10**30, "found a huge integer"),
    "a count beyond the view": (
        "accessors/0/count",
        4,
        "accessors[0]: 4 elements end at byte 48, but bufferViews[0] has 36 bytes",
    ),
    "an offset beyond the view": ("accessors/0/byteOffset", 4, "end at byte 40"),
    "an unknown component type": ("accessors/0/componentType", 5124, "expected one of 5120"),
    "a wrong view": (
        "accessors/0/bufferView",
        99,
        "accessors[0].bufferView: expected an index into bufferViews, of which there are",
    ),
    "a view beyond the buffer": (
        "bufferViews/0/byteLength",
        10**6,
        "bufferViews[0]: ends at byte 1000000, but its buffer has",
    ),
    "a stride below the element": (
        "bufferViews/0/byteStride",
        4,
        "its elements have 12 bytes, but the byteStride of bufferViews[0] is 4",
    ),
    "a buffer beyond the chunk": ("buffers/0/byteLength", 10**6, "byteLength is 1000000, but"),
    "a buffer of nothing": ("buffers/0/byteLength", 0, "expected an integer ≥ 1, found 0"),
    "more sparse values than elements": (
        "accessors/8/sparse/count",
        4,
        "accessors[8].sparse.count: expected at most the accessor's count of 3, found 4",
    ),
    "sparse indices beyond their view": (
        "accessors/8/sparse/count",
        2,
        "accessors[8].sparse.indices: 2 elements end at byte 2",
    ),
    "sparse indices of floats": (
        "accessors/8/sparse/indices/componentType",
        5126,
        "expected one of 5121, 5123, 5125",
    ),
    "a mesh without primitives": (
        "meshes/0/primitives",
        [],
        "meshes[0].primitives: expected at least one element",
    ),
    "a wrong attribute accessor": (
        "meshes/0/primitives/0/attributes/POSITION",
        99,
        "meshes[0].primitives[0].attributes.POSITION: expected an index into accessors",
    ),
    "positions of two components": ("accessors/0/type", "VEC2", "expected VEC3 data, found 'VEC2'"),
    "attributes of different length": (
        "accessors/1/count",
        2,
        "expected 3 vertices like its siblings, found 2",
    ),
    "joints without weights": (
        "meshes/0/primitives/0/attributes/WEIGHTS_0",
        None,
        "JOINTS_0 has no WEIGHTS_0",
    ),
    "indices of floats": ("meshes/0/primitives/0/indices", 0, "expected SCALAR data"),
    "an unknown mode": ("meshes/0/primitives/0/mode", 7, "expected an integer 0 … 6, found 7"),
    "a target of other length": ("accessors/4/count", 2, "expected 3 vertices, found 2"),
    "an unknown material": ("meshes/0/primitives/0/material", 1, "an index into materials"),
    "a child that is not there": ("nodes/1/children/0", 7, "expected an index into nodes"),
    "a child of two": ("nodes/0/children", [2], "nodes[1].children[0]: node 2 already has the par"),
    "a node below itself": ("nodes/2/children", [1], "is its own ancestor"),
    "a matrix beside a translation": (
        "nodes/2/matrix",
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
        "nodes[2]: has a matrix as well as translation",
    ),
    "a matrix of 15": ("nodes/1/matrix", [1] * 15, "expected an array of 16 numbers"),
    "a rotation of zero": ("nodes/1/rotation", [0, 0, 0, 0], "expected a unit quaternion"),
    "infinity by exponent": ("nodes/1/scale", [1e999, 1, 1], "nodes[1].scale[0]"),
    "a scene of children": ("scenes/0/nodes", [2], "expected a root node, found node 2"),
    "an unknown scene": ("scene", 3, "expected an index into scenes"),
    "a skin without joints": ("skins/0/joints", [], "skins[0].joints: expected at least one"),
    "too few bind matrices": ("accessors/5/count", 1, "expected a matrix for each of the 2 joints"),
    "bind matrices of vectors": ("skins/0/inverseBindMatrices", 0, "expected MAT4 of floats"),
    "a sampler that is not there": (
        "animations/0/channels/0/sampler",
        1,
        "animations[0].channels[0].sampler: expected an index into 1 samplers, found 1",
    ),
    "vectors for a rotation": (
        "animations/0/samplers/0/output",
        0,
        "expected VEC4 output for rotation as floats or normalized integers",
    ),
    "times that are vectors": ("animations/0/samplers/0/input", 0, "expected SCALAR floats"),
    "too few outputs": ("accessors/7/count", 1, "expected 2 keys × 1 = 2 output elements, found 1"),
    "too few cubic outputs": (
        "animations/0/samplers/0/interpolation",
        "CUBICSPLINE",
        "expected 2 keys × 3 = 6 output elements, found 2",
    ),
    "a name of numbers": ("nodes/0/name", 42, "nodes[0].name: expected a string, found 42"),
    "a mesh without a buffer": ("buffers", None, "an index into buffers, of which there are 0"),
}


@pytest.mark.parametrize(("path", "value", "message"), INVALID.values(), ids=INVALID.keys())
def test_contradictions_are_refused_with_their_place(path: str, value: Any, message: str):
    tree = whole()
    put(tree, path, value)
    with pytest.raises(FormatError) as caught:
        read(tree)
    assert str(caught.value).startswith("bad.glb: ")
    assert message in str(caught.value)


def test_the_document_those_are_made_from_is_valid():
    assert read(whole()).notes == ()


NOTED: dict[str, tuple[str, Any, str, str]] = {
    "an empty array": ("cameras", [], "empty-array", "cameras"),
    "an unaligned accessor": ("bufferViews/3/byteOffset", 81, "accessor-unaligned", "accessors[3]"),
    "an unknown accessor type": ("accessors/8/type", "VEC5", "accessor-type-unknown", "accessors"),
    "floats said to be normalized": ("accessors/0/normalized", True, "normalized-ignored", ""),
    "bounds of another length": ("accessors/7/min", [0], "bounds-ignored", "accessors[7].min"),
    "positions without bounds": ("accessors/0/min", None, "bounds-missing", "POSITION"),
    "an attribute nobody knows": (
        "meshes/0/primitives/0/attributes/HEAT",
        0,
        "attribute-unknown",
        "attributes.HEAT",
    ),
    "an extra weight": ("meshes/0/weights", [1, 2], "weights-miscounted", "meshes[0].weights"),
    "a skin without a mesh": ("nodes/0/mesh", None, "skin-without-mesh", "nodes[0].skin"),
    "a rotation of length 2": ("nodes/1/rotation", [0, 0, 0, 2], "rotation-not-unit", "nodes[1]"),
    "a matrix that agrees": (
        "nodes/2/matrix",
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1],
        "matrix-and-trs",
        "nodes[2]",
    ),
    "a camera that is not there": ("nodes/1/camera", 3, "dangling-reference", "nodes[1].camera"),
    "joints of two trees": ("nodes/1/children", None, "skin-without-common-root", "skins[0]"),
    "a joint outside the scene": ("scenes/0/nodes", [0], "skin-outside-scene", "nodes[0]"),
    "a skeleton beside the joints": ("skins/0/skeleton", 0, "skeleton-not-ancestor", "skins[0]"),
    "a joint twice": ("skins/0/joints/1", 1, "duplicate-reference", "skins[0].joints"),
    "an unknown interpolation": (
        "animations/0/samplers/0/interpolation",
        "SMOOTH",
        "unknown-interpolation",
        "animations[0].channels[0]",
    ),
    "an unknown path": (
        "animations/0/channels/0/target/path",
        "colour",
        "unknown-path",
        "animations[0].channels[0]",
    ),
    "a channel without a node": (
        "animations/0/channels/0/target/node",
        None,
        "channel-without-node",
        "animations[0].channels[0]",
    ),
    "weights without morph targets": (
        "animations/0/channels/0/target/path",
        "weights",
        "weights-without-targets",
        "animations[0].channels[0]",
    ),
    "an extension that is no object": ("extensions", {"X": []}, "extension-not-object", "X"),
    "a material nobody draws": ("materials/0/alphaMode", "GLOW", "unknown-value", "materials[0]"),
    "a shared view": ("accessors/3/bufferView", 0, "view-shared", "bufferViews[0]"),
    "a target for something else": ("bufferViews/0/target", 34963, "view-target", "bufferViews"),
}


@pytest.mark.parametrize(("path", "value", "code", "place"), NOTED.values(), ids=NOTED.keys())
def test_flaws_that_leave_no_doubt_are_noted(path: str, value: Any, code: str, place: str):
    tree = whole()
    put(tree, path, value)
    notes = [note for note in read(tree).notes if note.code == code]
    assert notes
    assert place in notes[0].place


def test_many_notes_of_one_kind_are_counted():
    tree = {"asset": {"version": "2.0"}, "nodes": [{"children": []}] * 1000}
    notes = read_gltf(json.dumps(tree).encode()).notes
    assert len(notes) == 21
    assert notes[-1].message == "980 more notes of this kind are not listed"


def test_unknown_required_extensions_are_named():
    names = ["KHR_materials_unlit", "VRMC_vrm", "ACME_holes", "ACME_knots"]
    tree = {"asset": {"version": "2.0"}, "extensionsUsed": names, "extensionsRequired": names}
    with pytest.raises(UnsupportedError, match="cannot be read without ACME_holes, ACME_knots"):
        read_gltf(json.dumps(tree).encode())
    tree["extensionsRequired"] = names[:2]
    assert read_gltf(json.dumps(tree).encode()).notes == ()


@pytest.mark.parametrize("asset", [{"version": "1.0"}, {"version": "2.0", "minVersion": "2.1"}])
def test_other_versions_are_unsupported(asset: dict[str, str]):
    with pytest.raises(UnsupportedError, match=r"expected glTF 2\.0"):
        read_gltf(json.dumps({"asset": asset}).encode())


def test_an_accessor_over_nothing_does_not_allocate_what_it_claims():
    from bunraku.formats.gltf import read_accessor

    sketch = Sketch()
    sketch.accessor(componentType=5126, count=10**9, type="MAT4")
    file = read_gltf(sketch.glb(), name="bomb.glb")
    with pytest.raises(FormatError, match=r"bomb\.glb: accessors\[0\]: needs 64000000000 bytes"):
        read_accessor(file, 0)
