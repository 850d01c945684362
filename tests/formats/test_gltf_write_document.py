"""Writing a glTF document: bytes that stay, and bytes that change."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from bunraku.errors import FormatError
from bunraku.formats.gltf import GltfFile, read_gltf, write_gltf
from tests.formats.sketch import chunk, glb, triangle


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
