"""Files beside a glTF: which URIs are followed, and which are not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bunraku.errors import BunrakuError, FormatError, UnsupportedError
from bunraku.formats.gltf import GltfFile, read_gltf
from tests.formats.sketch import triangle


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
