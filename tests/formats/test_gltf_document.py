from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bunraku.errors import BunrakuError, FormatError, UnsupportedError
from bunraku.formats.gltf import GltfFile, read_gltf, write_gltf
from tests.formats.sketch import Sketch, chunk, glb, skinned, triangle


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


class TestUris:
    SECRET = "secret.bin"

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / self.SECRET).write_bytes(b"1234")
        inside = tmp_path / "model"
        inside.mkdir()
        (inside / "a b.bin").write_bytes(b"5678")
        (inside / "sub").mkdir()
        (inside / "sub" / "c.bin").write_bytes(b"90ab")
        os.symlink(tmp_path / self.SECRET, inside / "link.bin")
        os.symlink(tmp_path, inside / "up")
        os.mkfifo(inside / "pipe.bin")
        return inside

    def read(self, folder: Path, uri: str) -> GltfFile:
        path = folder / "x.gltf"
        buffers = [{"byteLength": 4, "uri": uri}]
        path.write_text(json.dumps({"asset": {"version": "2.0"}, "buffers": buffers}))
        return read_gltf(path)

    @pytest.mark.parametrize(
        ("uri", "content"),
        [
            ("a%20b.bin", b"5678"),
            ("a b.bin", b"5678"),
            ("./sub/../a%20b.bin", b"5678"),
            ("sub/c.bin", b"90ab"),
            ("sub%2Fc.bin", b"90ab"),
            ("sub\\c.bin", b"90ab"),
            ("data:application/octet-stream;base64,MTIzNA==", b"1234"),
            ("data:application/gltf-buffer;base64,MTIzNA", b"1234"),
            ("data:application/octet-stream,%31234", b"1234"),
        ],
    )
    def test_what_a_uri_names(self, folder: Path, uri: str, content: bytes):
        assert bytes(self.read(folder, uri).buffers[0]) == content

    @pytest.mark.parametrize(
        "uri",
        [
            "../secret.bin",
            "%2e%2e/secret.bin",
            "..%2Fsecret.bin",
            "..\\secret.bin",
            "sub/../../secret.bin",
            "/etc/hostname",
            "\\etc\\hostname",
            "//host/share.bin",
            "link.bin",
            "up/secret.bin",
            "file:///etc/hostname",
            "http://example.org/a.bin",
            "C:/a.bin",
            "C:%5Ca.bin",
            "%66ile:a.bin",
            "a.bin%00.png",
            "pipe.bin",
            "sub",
            "missing.bin",
            "",
            "x" * 5000,
            "data:application/octet-stream;base64,MTIz!DA=",
            "data:application/octet-stream;base64",
        ],
    )
    def test_what_is_refused(self, folder: Path, uri: str):
        with pytest.raises(BunrakuError, match=r"x\.gltf: buffers\[0\]\.uri: ") as caught:
            self.read(folder, uri)
        assert len(str(caught.value)) < 400

    def test_bytes_have_no_folder(self):
        sketch = triangle()
        data = json.dumps(sketch.finished("a.bin")).encode()
        with pytest.raises(UnsupportedError, match="was read from bytes"):
            read_gltf(data)

    def test_a_longer_file_is_read_as_far_as_declared(self, folder: Path):
        (folder / "a b.bin").write_bytes(b"56789")
        assert bytes(self.read(folder, "a b.bin").buffers[0]) == b"5678"

    def test_a_shorter_file_is_refused(self, folder: Path):
        (folder / "a b.bin").write_bytes(b"567")
        with pytest.raises(FormatError, match="byteLength is 4, but there are 3 bytes"):
            self.read(folder, "a b.bin")


class TestWriting:
    @pytest.mark.parametrize("suffix", [".glb", ".vrm", ".vrma"])
    def test_an_unchanged_binary_is_written_bit_for_bit(self, tmp_path: Path, suffix: str):
        sketch = triangle()
        text = json.dumps(sketch.finished(), indent=3).encode() + b"\n"
        data = glb(text, bytes(sketch.data) + b"\0\0", chunk(b"XTRA", b"kept"))
        target = tmp_path / f"out{suffix}"
        assert write_gltf(read_gltf(data), target) == ()
        assert target.read_bytes() == data

    def test_an_unchanged_text_file_is_written_bit_for_bit(self, tmp_path: Path):
        sketch = triangle()
        text = json.dumps(sketch.finished("tri%20angle.bin"), indent=5).encode()
        source, other = tmp_path / "source.gltf", tmp_path / "other" / "out.gltf"
        other.parent.mkdir()
        source.write_bytes(text)
        (tmp_path / "tri angle.bin").write_bytes(sketch.data)
        assert write_gltf(read_gltf(source), other) == ()
        assert other.read_bytes() == text
        assert (other.parent / "tri angle.bin").read_bytes() == sketch.data

    def test_a_changed_tree_keeps_the_rest(self, tmp_path: Path):
        sketch = triangle()
        sketch.tree["extras"] = {"人形": [0.1, 1e-7, True, None]}
        file = read_gltf(glb(json.dumps(sketch.finished()).encode(), bytes(sketch.data)))
        tree = copy.deepcopy(file.json)
        tree["nodes"][0]["name"] = "changed"
        write_gltf(GltfFile(tree, file.buffers, file.chunks, file.text), tmp_path / "out.glb")
        again = read_gltf(tmp_path / "out.glb")
        assert again.json == tree
        assert bytes(again.buffers[0]) == bytes(file.buffers[0])

    @pytest.mark.parametrize("embed", [False, True])
    def test_binary_to_text_and_back(self, tmp_path: Path, embed: bool):
        sketch = triangle()
        file = read_gltf(sketch.glb())
        write_gltf(file, tmp_path / "model.gltf", embed=embed)
        assert (tmp_path / "model.bin").exists() != embed
        text = read_gltf(tmp_path / "model.gltf")
        assert bytes(text.buffers[0]) == bytes(sketch.data)
        write_gltf(text, tmp_path / "back.glb")
        assert read_gltf(tmp_path / "back.glb").json == file.json

    def test_a_binary_gathers_all_buffers_and_images(self, tmp_path: Path):
        tree = {
            "asset": {"version": "2.0"},
            "buffers": [
                {"byteLength": 3, "uri": "a.bin"},
                {"byteLength": 4},
                {"byteLength": 5, "uri": "b.bin"},
            ],
            "bufferViews": [
                {"buffer": 0, "byteLength": 3},
                {"buffer": 2, "byteOffset": 1, "byteLength": 4},
                {
                    "buffer": 1,
                    "byteLength": 4,
                    "extensions": {
                        "EXT_meshopt_compression": {
                            "buffer": 2,
                            "byteOffset": 2,
                            "byteLength": 3,
                            "byteStride": 4,
                            "count": 1,
                            "mode": "ATTRIBUTES",
                        }
                    },
                },
            ],
            "images": [{"uri": "i.png"}, {"uri": "gone.png"}],
        }
        (tmp_path / "a.bin").write_bytes(b"123")
        (tmp_path / "b.bin").write_bytes(b"abcde")
        (tmp_path / "i.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        (tmp_path / "x.gltf").write_text(json.dumps(tree))
        notes = write_gltf(read_gltf(tmp_path / "x.gltf"), tmp_path / "x.glb")
        assert [(note.code, note.place) for note in notes] == [("image-missing", "images[1]")]
        file = read_gltf(tmp_path / "x.glb")
        views = file.json["bufferViews"]

        def content(part: dict[str, Any]) -> bytes:
            start = part.get("byteOffset", 0)
            return bytes(file.buffers[part["buffer"]][start : start + part["byteLength"]])

        assert content(views[0]) == b"123"
        assert content(views[1]) == b"bcde"
        assert content(views[2]["extensions"]["EXT_meshopt_compression"]) == b"cde"
        assert views[2]["buffer"] == 1
        assert file.json["buffers"][1] == {"byteLength": 4}
        image = file.json["images"][0]
        assert image == {"bufferView": 3, "mimeType": "image/png"}
        assert content(views[3]) == b"\x89PNG\r\n\x1a\n"
        assert file.json["images"][1] == {"uri": "gone.png"}

    def test_a_text_file_has_no_room_for_chunks(self, tmp_path: Path):
        file = read_gltf(glb(b'{"asset":{"version":"2.0"}}', None, chunk(b"XTRA", b"lost")))
        (note,) = write_gltf(file, tmp_path / "out.gltf")
        assert note.code == "chunk-dropped"

    def test_files_of_others_are_not_overwritten(self, tmp_path: Path):
        sketch = triangle()
        (tmp_path / "in").mkdir()
        (tmp_path / "out").mkdir()
        source = tmp_path / "in" / "x.gltf"
        source.write_text(json.dumps(sketch.finished("data.bin")))
        (tmp_path / "in" / "data.bin").write_bytes(sketch.data)
        (tmp_path / "out" / "data.bin").write_bytes(b"of another model")
        write_gltf(read_gltf(source), tmp_path / "out" / "x.gltf")
        assert (tmp_path / "out" / "data.bin").read_bytes() == b"of another model"
        again = read_gltf(tmp_path / "out" / "x.gltf")
        assert again.json["buffers"][0]["uri"] == "x_data.bin"
        assert bytes(again.buffers[0]) == bytes(sketch.data)

    def test_a_binary_follows_a_buffer_beside_it_that_had_to_be_renamed(self, tmp_path: Path):
        buffers = [{"byteLength": 4}, {"byteLength": 4, "uri": "data.bin"}]
        text = json.dumps({"asset": {"version": "2.0"}, "buffers": buffers}).encode()
        (tmp_path / "in").mkdir()
        (tmp_path / "out").mkdir()
        (tmp_path / "in" / "x.glb").write_bytes(glb(text, b"1234"))
        (tmp_path / "in" / "data.bin").write_bytes(b"5678")
        (tmp_path / "out" / "data.bin").write_bytes(b"of another model")
        write_gltf(read_gltf(tmp_path / "in" / "x.glb"), tmp_path / "out" / "x.glb")
        again = read_gltf(tmp_path / "out" / "x.glb")
        assert [bytes(data) for data in again.buffers] == [b"1234", b"5678"]
        assert again.json["buffers"][1]["uri"] == "x_data.bin"

    def test_own_files_are_overwritten(self, tmp_path: Path):
        file = read_gltf(triangle().glb())
        (tmp_path / "x.bin").write_bytes(b"an older version")
        write_gltf(file, tmp_path / "x.gltf")
        assert (tmp_path / "x.bin").read_bytes() == bytes(file.buffers[0])

    def test_a_broken_tree_is_not_written(self, tmp_path: Path):
        file = read_gltf(triangle().glb())
        tree = copy.deepcopy(file.json)
        tree["nodes"][0]["mesh"] = 5
        with pytest.raises(FormatError, match=r"nodes\[0\]\.mesh"):
            write_gltf(GltfFile(tree, file.buffers), tmp_path / "x.glb")
        assert list(tmp_path.iterdir()) == []

    def test_numbers_json_cannot_say_are_not_written(self, tmp_path: Path):
        tree = {"asset": {"version": "2.0"}, "extras": float("inf")}
        with pytest.raises(FormatError, match="out of range"):
            write_gltf(GltfFile(tree), tmp_path / "x.glb")
        assert list(tmp_path.iterdir()) == []

    def test_writing_over_the_source(self, tmp_path: Path):
        source = tmp_path / "x.gltf"
        write_gltf(read_gltf(triangle().glb()), source)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        write_gltf(read_gltf(source), source)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
