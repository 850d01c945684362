"""The core's walk through a PMX, beside a plain reader of single records."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from bunraku import _core
from tests.formats.mmd.sketch import pack, pmx_sections, whole_pmx

SIZES = np.ones(6, np.int64)
HEAD = len(b"".join(pmx_sections()[:2]))


def scan(data: bytes, start: int = HEAD, **changes: object) -> dict[str, np.ndarray]:
    sizes = np.array(changes.get("sizes", SIZES), np.int64)
    uvs = changes.get("uvs", 1)
    return _core.pmx.scan(np.frombuffer(data, np.uint8), start, uvs, sizes, True)


INVALID = [
    (lambda: scan(b"", 0), "vertex count at byte 0x0: needs 4 bytes, but 0 are left"),
    (lambda: scan(b"", 1), "start 1 is outside"),
    (lambda: scan(b"", -1), "start -1 is outside"),
    (lambda: scan(whole_pmx(), uvs=5), "5 additional UVs"),
    (lambda: scan(whole_pmx(), sizes=[1, 1, 1, 1, 1, 3]), "an index of 3 bytes"),
    (lambda: scan(whole_pmx(), sizes=[1] * 5), "expected six"),
    (lambda: scan(pack("i", 2**31 - 1) + bytes(99), 0), "vertices at byte 0x4: 2147483647 are"),
    (lambda: read(uvs=0), "vertex 2 is no record"),
    (lambda: read(count=7), "vertex 6 is no record"),
    (lambda: read(sdef=0), "vertex 3 is no record"),
    (lambda: read(sdef=2), "fewer vertices are SDEF"),
    (lambda: read(bone_size=3), "a bone index of 3 bytes"),
    (lambda: read(start=10**6), "outside"),
    (lambda: read(positions=np.empty((5, 3), np.float32)), r"positions: expected \(6, 3\)"),
    (lambda: read(bones=np.empty((6, 3), np.int32)), r"bones: expected \(6, 4\)"),
    (lambda: read(additional_uvs=np.empty((6, 1, 3), np.float32)), "expected additional_uvs"),
    (lambda: read(edge_scales=np.empty(5, np.float32)), "edge_scales"),
]


def read(
    start: int = HEAD + 4,
    bone_size: int = 1,
    count: int = 6,
    uvs: int = 1,
    sdef: int = 1,
    **changes: np.ndarray,
) -> dict[str, np.ndarray]:
    arrays = {
        "positions": np.empty((count, 3), np.float32),
        "normals": np.empty((count, 3), np.float32),
        "uvs": np.empty((count, 2), np.float32),
        "additional_uvs": np.empty((count, uvs, 4), np.float32),
        "deform": np.empty(count, np.uint8),
        "bones": np.empty((count, 4), np.int32),
        "weights": np.empty((count, 4), np.float32),
        "sdef": np.empty((sdef, 3, 3), np.float32),
        "edge_scales": np.empty(count, np.float32),
    }
    arrays |= changes
    _core.pmx.read_vertices(np.frombuffer(whole_pmx(), np.uint8), start, bone_size, **arrays)
    return arrays


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_what_is_wrong_is_said(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()


def test_arrays_that_may_not_be_written_are_not():
    fixed = np.zeros((6, 3), np.float32)
    fixed.flags.writeable = False
    with pytest.raises(TypeError):
        read(positions=fixed)


def test_texts_are_between_marks():
    data = whole_pmx()
    found = scan(data)
    names = [data[a + 4 : b].decode() for a, b in found["bones"][:, :2].tolist()]
    assert names == ["センター", "左腕", "足ＩＫ"]
    paths = [data[a + 4 : b].decode() for a, b in found["textures"].tolist()]
    assert paths == ["tex\\体.png", "a/b.sph"]
    assert found["starts"][-1] == len(data)
    assert found["vertices"].tolist() == [6, 1]
    assert found["elements"].tolist()[-2:] == [[1, 3], [1, 0]]
    (key,) = struct.unpack_from("<i", data, found["bones"][1, 8])
    assert key == 7


@pytest.mark.parametrize("size", [1, 2, 4])
def test_vertices_are_written_as_they_are_read(size: int):
    arrays = read()
    written = _core.pmx.write_vertices(size, **arrays).tobytes()
    plain = b"".join(record(arrays, i, size) for i in range(6))
    assert written == plain
    if size == 1:
        assert pack("i", 6) + plain == pmx_sections()[2]
    again = {name: np.empty_like(array) for name, array in arrays.items()}
    _core.pmx.read_vertices(np.frombuffer(written, np.uint8), 0, size, **again)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, again[name], name)


def record(arrays: dict[str, np.ndarray], i: int, size: int) -> bytes:
    """One vertex, field by field."""
    deform = int(arrays["deform"][i])
    bones = arrays["bones"][i].tolist()[: (1, 2, 4, 2, 4)[deform]]
    weights = arrays["weights"][i].tolist()[: (0, 1, 4, 1, 4)[deform]]
    out = b"".join(
        arrays[name][i].tobytes() for name in ("positions", "normals", "uvs", "additional_uvs")
    )
    out += pack("B", deform) + b"".join(
        bone.to_bytes(size, "little", signed=True) for bone in bones
    )
    out += pack(f"{len(weights)}f", *weights)
    if deform == 3:
        out += arrays["sdef"][0].tobytes()
    return out + pack("f", arrays["edge_scales"][i])
