from __future__ import annotations

import json
import struct

import pytest

from bunraku.errors import BunrakuError, FormatError, UnsupportedError
from bunraku.formats.gltf import read_gltf
from bunraku.formats.gltf.container import dump_json, parse_json
from tests.formats.sketch import chunk, glb

ASSET = b'{"asset":{"version":"2.0"}}'
WHOLE = glb(ASSET)

INVALID = {
    "nothing at all": (b"", "expected a GLB or a JSON object, found ''"),
    "something else": (b"\x89PNG....", "expected a GLB or a JSON object"),
    "a JSON array": (b"[1]", "expected a GLB or a JSON object"),
    "only the magic": (b"glTF", "GLB version at byte 0x4: needs 4 bytes, but 0 are left"),
    "GLB version 1": (b"glTF" + struct.pack("<II", 1, 20) + b"\0" * 8, "expected 2, found 1"),
    "a length beyond the file": (WHOLE[:-1], "the file has"),
    "a length within the header": (
        b"glTF" + struct.pack("<II", 2, 12) + WHOLE[12:],
        "header declares 12 bytes",
    ),
    "a chunk beyond the end": (
        b"glTF" + struct.pack("<III", 2, 20, 4096) + b"JSON",
        "GLB chunk 0 at byte 0x14: needs 4096 bytes, but 0 are left",
    ),
    "BIN first": (
        b"glTF" + struct.pack("<II", 2, 24) + chunk(b"BIN\0", b"1234"),
        "expected JSON, found type 0x004e4942",
    ),
    "two BIN chunks": (
        glb(ASSET, b"1234", chunk(b"BIN\0", b"1234")),
        "GLB has 2 BIN chunks, expected 1",
    ),
    "two JSON chunks": (glb(ASSET, None, chunk(b"JSON", ASSET)), "GLB has 2 JSON chunks"),
    "a key twice": (b'{"asset":{"version":"2.0","version":"2.0"}}', "'version' occurs twice"),
    "NaN": (b'{"asset":{"version":"2.0"},"extras":NaN}', "NaN is not a JSON number"),
    "infinity": (b'{"asset":{"version":"2.0"},"extras":-Infinity}', "-Infinity is not"),
    "a trailing comma": (b'{"asset":{},}', "JSON line 1 column 13"),
    "a raw control character": (b'{"asset":"\x01"}', "Invalid control character"),
    "Latin-1": (b'{"asset":"\xe9"}', "JSON byte 0xa: expected UTF-8, found 0xe9"),
    "half a surrogate pair": (rb'{"asset":"\ud83d"}', "half a surrogate pair"),
    "a number of 5000 digits": (b'{"asset":' + b"9" * 5000 + b"}", "JSON: Exceeds the limit"),
    "nesting of 200": (b'{"extras":' + b"[" * 200 + b"]" * 200 + b"}", "deeper than 128 levels"),
    "nesting of 100000": (b'{"a":' + b'{"a":' * 100000, "deeper than 128 levels"),
    "two values": (ASSET + ASSET, "Extra data"),
}


@pytest.mark.parametrize(("data", "message"), INVALID.values(), ids=INVALID.keys())
def test_invalid_containers(data: bytes, message: str):
    with pytest.raises(BunrakuError) as caught:
        read_gltf(data, name="bad.glb")
    assert str(caught.value).startswith("bad.glb: ")
    assert message in str(caught.value)


def test_another_glb_version_is_unsupported_rather_than_malformed():
    with pytest.raises(UnsupportedError, match="GLB version"):
        read_gltf(b"glTF" + struct.pack("<II", 3, 20) + b"\0" * 8)


IRREGULAR = {
    "a byte order mark": (b"\xef\xbb\xbf" + ASSET, "json-bom"),
    "a byte order mark in a GLB": (glb(b"\xef\xbb\xbf" + ASSET), "json-bom"),
    "zeros after the JSON": (glb(ASSET + b"\0"), "json-nul-padding"),
    "bytes after the end": (WHOLE + b"more", "glb-extra-data"),
    "a chunk of odd length": (
        b"glTF" + struct.pack("<III", 2, 20 + len(ASSET), len(ASSET)) + b"JSON" + ASSET,
        "glb-chunk-unaligned",
    ),
    "BIN third": (
        glb(
            b'{"asset":{"version":"2.0"},"buffers":[{"byteLength":4}]}',
            None,
            chunk(b"XTRA", b"...."),
            chunk(b"BIN\0", b"1234"),
        ),
        "glb-bin-not-second",
    ),
    "BIN four bytes longer than the buffer": (
        glb(b'{"asset":{"version":"2.0"},"buffers":[{"byteLength":4}]}', b"12345678"),
        "glb-bin-longer",
    ),
}


@pytest.mark.parametrize(("data", "code"), IRREGULAR.values(), ids=IRREGULAR.keys())
def test_irregular_containers_are_read_with_a_note(data: bytes, code: str):
    file = read_gltf(data)
    assert [note.code for note in file.notes] == [code]
    assert file.json["asset"] == {"version": "2.0"}


def test_bin_may_be_three_bytes_longer_than_the_buffer():
    file = read_gltf(glb(b'{"asset":{"version":"2.0"},"buffers":[{"byteLength":5}]}', b"12345"))
    assert bytes(file.buffers[0]) == b"12345"
    assert file.notes == ()


def test_unknown_chunks_are_skipped_and_kept():
    data = glb(ASSET, None, chunk(b"XTRA", b"kept"))
    file = read_gltf(data)
    assert bytes(file.chunks[1].data) == b"kept"
    assert file.notes == ()


def test_brackets_and_quotes_in_strings_do_not_count_as_nesting():
    deep = json.dumps({"asset": {"version": "2.0"}, "extras": '\\"[{' * 1000 + "\\"})
    assert read_gltf(deep.encode()).json["extras"].startswith('\\"[{')


def test_numbers_survive_a_round_trip():
    tree = {"a": [0.1, 1e-308, 123456789012345678, -0.0, 1.0], "b": "文楽 \U0001f600"}
    assert parse_json(dump_json(tree), "x")[0] == tree
    assert parse_json(dump_json(tree, indent=2), "x")[0] == tree


def test_format_errors_are_value_errors():
    with pytest.raises(ValueError, match="GLB"):
        read_gltf(b"glTF")
    assert issubclass(FormatError, BunrakuError)
