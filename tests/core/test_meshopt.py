"""The core's meshopt decoders: refusals, the specification's examples, and a slow oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku._core import meshopt
from tests.reference import meshopt as reference
from tests.reference import meshopt_filter

DECODE = {
    "ATTRIBUTES": (meshopt.decode_vertex, reference.decode_vertex),
    "TRIANGLES": (meshopt.decode_triangles, reference.decode_triangles),
    "INDICES": (meshopt.decode_indices, reference.decode_indices),
}
quick = settings(deadline=None, max_examples=150)


def u8(*values: int) -> np.ndarray:
    return np.array(values, np.uint8)


def attributes(stride: int = 4, *, version: int = 1, tail: bytes | None = None) -> np.ndarray:
    """A stream of no element, whose tail is `tail` (default: zeros)."""
    size = {0: max(32, stride), 1: max(24, stride + stride // 4)}[version]
    return np.frombuffer(bytes([0xA0 + version]) + (tail or bytes(size)), np.uint8)


INVALID = [
    ("ATTRIBUTES", attributes(), 0, 6, "stride 6, expected a multiple of 4 from 4 to 256"),
    ("ATTRIBUTES", attributes(), 0, 260, "stride 260"),
    ("ATTRIBUTES", attributes(), 0, 0, "stride 0"),
    ("ATTRIBUTES", attributes(), -1, 4, "count -1 is negative"),
    ("ATTRIBUTES", attributes(), 2**62, 4, "need at least .* bytes, the stream has 25"),
    ("ATTRIBUTES", attributes(), 1, 4, "need at least 26 bytes, the stream has 25"),
    ("ATTRIBUTES", attributes(version=0), 17, 4, "need at least 37 bytes, the stream has 33"),
    ("ATTRIBUTES", attributes(version=0)[:-1], 0, 4, "need at least 33 bytes, the stream has 32"),
    ("ATTRIBUTES", u8(), 0, 4, "need at least 1 bytes, the stream has 0"),
    ("ATTRIBUTES", u8(0xA2), 0, 4, "header byte 0xa2, expected 0xa0 or 0xa1"),
    ("ATTRIBUTES", u8(0xE1), 0, 4, "header byte 0xe1, expected 0xa0 or 0xa1"),
    ("ATTRIBUTES", np.append(attributes(), u8(0)), 0, 4, "1 bytes are left over before the tail"),
    ("ATTRIBUTES", attributes(tail=bytes(23) + b"\x03"), 0, 4, "channel mode 3 of channel 0"),
    ("ATTRIBUTES", attributes(tail=bytes(23) + b"\x10"), 0, 4, "channel mode 16 of channel 0"),
    ("ATTRIBUTES", u8(0xA1, 0x02, *bytes(24)), 16, 4, "the attribute data ends early, in the delt"),
    ("ATTRIBUTES", u8(0xA1, 0xFF, *bytes(24)), 16, 4, "the attribute data ends early, in the delt"),
    ("TRIANGLES", u8(0xE1, *bytes(16)), 4, 2, "count 4 is no multiple of 3"),
    ("TRIANGLES", u8(0xE1, *bytes(16)), -3, 2, "count -3 is negative"),
    ("TRIANGLES", u8(0xE1, *bytes(16)), 0, 3, "index size 3, expected 2 or 4 bytes"),
    ("TRIANGLES", u8(0xE0, *bytes(16)), 0, 2, "header byte 0xe0, expected 0xe1"),
    ("TRIANGLES", u8(0xE1, *bytes(16)), 3, 2, "need at least 18 bytes, the stream has 17"),
    ("TRIANGLES", u8(0xE1, *bytes(17)), 0, 2, "1 bytes are left over before the tail"),
    ("TRIANGLES", u8(0xE1, *bytes(15), 1), 0, 2, "entry 15 of the triangle code table is 1"),
    ("TRIANGLES", u8(0xE1, 0xF0, *bytes(15)), 0, 2, "entry 0 of the triangle code table is 240"),
    ("TRIANGLES", u8(0xE1, 0x00, *bytes(16)), 3, 2, "an edge 0 back, but only 0 came before it"),
    ("TRIANGLES", u8(0xE1, 0xF0, 0x30, *bytes(16)), 6, 2, "an edge 3 back, but only 3 came"),
    ("TRIANGLES", u8(0xE1, 0xFE, 0x10, *bytes(16)), 3, 2, "a vertex 0 back, but only 0 came"),
    ("TRIANGLES", u8(0xE1, 0xFF, *bytes(16)), 3, 2, "the index data ends early"),
    ("INDICES", u8(0xD1, *bytes(4)), -1, 2, "count -1 is negative"),
    ("INDICES", u8(0xD1, *bytes(4)), 0, 1, "index size 1, expected 2 or 4 bytes"),
    ("INDICES", u8(0xD0, *bytes(4)), 0, 2, "header byte 0xd0, expected 0xd1"),
    ("INDICES", u8(0xD1, *bytes(4)), 1, 2, "need at least 6 bytes, the stream has 5"),
    ("INDICES", u8(0xD1, 0x80, *bytes(4)), 1, 2, "the index data ends early"),
    ("INDICES", u8(0xD1, *bytes(6)), 1, 2, "1 bytes are left over before the tail"),
    ("INDICES", u8(0xD1, *[0x80] * 5, *bytes(5)), 1, 2, "an index takes more than 5 bytes"),
]


@pytest.mark.parametrize(("mode", "data", "count", "size", "reason"), INVALID)
def test_malformed_streams_are_refused(
    mode: str, data: np.ndarray, count: int, size: int, reason: str
) -> None:
    with pytest.raises(ValueError, match=f"meshopt: .*{reason}"):
        DECODE[mode][0](data, count, size)


@pytest.mark.parametrize(
    ("name", "data", "count", "stride", "reason"),
    [
        ("NONE", u8(0, 0, 1, 0), 1, 4, 'filter "NONE", expected OCTAHEDRAL, QUATERNION'),
        ("OCTAHEDRAL", bytes(12), 1, 12, "stride 12 with filter OCTAHEDRAL, expected 4 or 8"),
        ("QUATERNION", bytes(4), 1, 4, "stride 4 with filter QUATERNION, expected 8"),
        ("EXPONENTIAL", bytes(6), 1, 6, "stride 6 with filter EXPONENTIAL, expected a multiple"),
        ("EXPONENTIAL", bytes(6), 1, 0, "stride 0 with filter EXPONENTIAL, expected a multiple"),
        ("COLOR", bytes(16), 1, 16, "stride 16 with filter COLOR, expected 4 or 8"),
        ("COLOR", bytes(16), 3, 4, "16 bytes, expected 3 elements of 4"),
        ("COLOR", bytes(16), -4, 4, "count -4 is negative"),
        ("OCTAHEDRAL", [0, 0, 1, 0, 1, 1, 0, 1], 2, 4, "element 1: the third component"),
        ("OCTAHEDRAL", [0, 0, 0x80, 0], 1, 4, "element 0: the third component"),
        ("QUATERNION", [0, 0, 0, 0, 0, 0, 0, 0x80], 1, 8, "element 0: the fourth component"),
        ("COLOR", [9, 9, 9, 0], 1, 4, "element 0: the fourth component of a color is 0"),
    ],
)
def test_malformed_filters_are_refused(
    name: str, data: Any, count: int, stride: int, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        meshopt.apply_filter(np.array(list(data), np.uint8), count, stride, name)


@pytest.mark.parametrize("data", [np.zeros(40, np.int8), np.zeros((4, 10), np.uint8)])
def test_only_one_row_of_bytes_is_taken(data: Any) -> None:
    with pytest.raises(TypeError):
        meshopt.decode_vertex(data, 0, 4)


def test_a_readonly_array_is_not_filtered() -> None:
    data = u8(0, 0, 127, 0)
    data.flags.writeable = False
    with pytest.raises(TypeError):
        meshopt.apply_filter(data, 1, 4, "OCTAHEDRAL")


# Worked examples of the specification


def test_deltas_of_the_specification() -> None:
    group = bytes.fromhex("175ff0bc77a9210034b5")
    deltas = [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0]
    stream = np.frombuffer(b"\xa0\x02" + group + bytes(3) + bytes(32), np.uint8)
    decoded = meshopt.decode_vertex(stream, 16, 4).reshape(16, 4)
    assert decoded[:, 0].tolist() == (np.cumsum(deltas) % 256).tolist()
    assert not decoded[:, 1:].any()


@pytest.mark.parametrize(
    ("varint", "value"),
    [("7f", 0x7F), ("8104", 0x201), ("ffa005", 0x1507F), ("ffffffff0f", 2**32 - 1)],
)
def test_varints_have_the_lowest_bits_first(varint: str, value: int) -> None:
    """The specification prints 0x1fd005 for ff a0 05, against its own second example."""
    stream = np.frombuffer(b"\xd1" + bytes.fromhex(varint) + bytes(4), np.uint8)
    index = meshopt.decode_indices(stream, 1, 4).view(np.uint32)[0]
    assert index == reference.unzigzag(value >> 1) % 2**32


def test_indices_keep_two_baselines() -> None:
    # +10 on the first, +1000 on the second, +1, +1, -1
    codes = [*reference.write_varint(10 << 2), *reference.write_varint(1000 << 2 | 1), 4, 5, 2]
    stream = u8(0xD1, *codes, 0, 0, 0, 0)
    assert meshopt.decode_indices(stream, 5, 2).view(np.uint16).tolist() == [
        10, 1000, 11, 1001, 10,
    ]  # fmt: skip


def test_triangle_codes() -> None:
    codes = [0xF0, 0x10, 0x02, 0x0D, 0x0E, 0x0F, 0xF1, 0xFE, 0xFF]
    data = [6 << 1, 0x1F, 4 << 1, 0x00, 9 << 1]
    stream = u8(0xE1, *codes, *data, 0x00, 0x02, *bytes(14))
    decoded = meshopt.decode_triangles(stream, 27, 4).view(np.uint32).reshape(-1, 3)
    assert decoded.tolist() == [
        [0, 1, 2],  # three new vertices
        [2, 1, 3],  # on the edge (2, 1), one edge back; a new vertex
        [2, 3, 1],  # on the newest edge (2, 3); of the vertices 3, 2, 1, 0 the one 2 back
        [2, 1, 2**32 - 1],  # last - 1
        [2, 2**32 - 1, 0],  # last + 1
        [2, 0, 6],  # last + 6
        [4, 5, 0],  # table entry 1, 0x02: two new vertices; of 6, 0, -1, … the one 1 back
        [6, 5, 10],  # 0x1f: new; the newest vertex; last + 4
        [19, 0, 1],  # last + 9; 0x00: the numbering restarts
    ]


# The slow oracle: what it packs comes back, and what is bent it refuses or reads as we do


def verdict(decode: Callable[..., np.ndarray], data: np.ndarray, count: int, size: int) -> Any:
    try:
        return decode(data, count, size).tobytes()
    except ValueError:
        return "refused"


@st.composite
def elements(draw: st.DrawFn) -> np.ndarray:
    """(count, stride) bytes: walks of 8-bit, 16-bit or float components, or sparse noise."""
    stride = draw(st.sampled_from([4, 8, 12, 20]))
    count = draw(st.sampled_from([0, 1, 2, 15, 16, 17, 40, 65]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["bytes", "shorts", "floats", "sparse"]))
    if kind == "floats":
        return np.cumsum(rng.normal(size=(count, stride // 4)), 0).astype(np.float32).view(np.uint8)
    if kind == "sparse":
        noise = rng.integers(0, 256, (count, stride))
        return np.where(rng.random((count, stride)) < 0.05, noise, 0).astype(np.uint8)
    step = 2 ** draw(st.integers(0, 9))
    lane = {"bytes": np.uint8, "shorts": np.uint16}[kind]
    width = stride // np.dtype(lane).itemsize
    return np.cumsum(rng.integers(-step, step, (count, width)), 0).astype(lane).view(np.uint8)


@st.composite
def packed_attributes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    source = draw(elements())
    stride = source.shape[1]
    if draw(st.booleans()):
        return source, reference.encode_vertex(source, version=0)
    modes = st.sampled_from([0x00, 0x01, 0x02, 0x12, 0x82, 0xF2])
    return source, reference.encode_vertex(
        source,
        modes=draw(st.lists(modes, min_size=stride // 4, max_size=stride // 4)),
        controls=draw(st.lists(st.integers(0, 3), min_size=stride, max_size=stride)),
    )


@quick
@given(packed_attributes())
def test_attributes_come_back(packed: tuple[np.ndarray, np.ndarray]) -> None:
    source, stream = packed
    assert np.array_equal(meshopt.decode_vertex(stream, *source.shape), source.reshape(-1))
    assert np.array_equal(reference.decode_vertex(stream, *source.shape), source.reshape(-1))


@pytest.mark.parametrize(("count", "stride"), [(600, 4), (256, 32), (257, 32), (70, 256)])
@pytest.mark.parametrize("version", [0, 1])
def test_attributes_span_blocks(count: int, stride: int, version: int) -> None:
    rng = np.random.default_rng(count)
    source = np.cumsum(rng.integers(-9, 9, (count, stride)), 0).astype(np.uint8)
    stream = reference.encode_vertex(source, version)
    assert np.array_equal(meshopt.decode_vertex(stream, count, stride), source.reshape(-1))


# A zigzag difference and the bit of its baseline share 32 bits, so an index has 30 of them.
corner = st.integers(0, 40) | st.integers(0, 2**30 - 1)
corners = st.lists(st.tuples(corner, corner, corner), max_size=40)


def grid(width: int) -> list[tuple[int, int, int]]:
    """Two triangles for each square, row by row."""
    first = [row * width + column for row in range(width - 1) for column in range(width - 1)]
    squares = [((i, i + 1, i + width), (i + width, i + 1, i + width + 1)) for i in first]
    return [triangle for square in squares for triangle in square]


@quick
@given(corners | st.integers(2, 6).map(grid), st.sampled_from([2, 4]))
def test_triangles_come_back_rotated(triangles: list[tuple[int, int, int]], size: int) -> None:
    stream = reference.encode_triangles(triangles)
    decoded = meshopt.decode_triangles(stream, 3 * len(triangles), size)
    assert np.array_equal(decoded, reference.decode_triangles(stream, 3 * len(triangles), size))
    found = decoded.view(f"u{size}").reshape(-1, 3).tolist()
    for (a, b, c), triangle in zip(triangles, found, strict=True):
        rotations = [(a, b, c), (b, c, a), (c, a, b)]
        assert triangle in [[i % 256**size for i in rotation] for rotation in rotations]


@quick
@given(st.lists(corner, max_size=60), st.sampled_from([2, 4]))
def test_indices_come_back(indices: list[int], size: int) -> None:
    stream = reference.encode_indices(indices)
    decoded = meshopt.decode_indices(stream, len(indices), size)
    assert decoded.view(f"u{size}").tolist() == [i % 256**size for i in indices]
    assert np.array_equal(decoded, reference.decode_indices(stream, len(indices), size))


@st.composite
def bent(draw: st.DrawFn, stream: np.ndarray) -> np.ndarray:
    data = bytearray(stream.tobytes())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["cut", "insert", "remove", "set"]))
        value = draw(st.binary(min_size=1, max_size=1))
        data[at:] = {
            "cut": b"",
            "insert": value + data[at:],
            "remove": data[at + 1 :],
            "set": value + data[at + 1 :],
        }[kind]
    return np.frombuffer(bytes(data), np.uint8)


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_bent_streams_are_refused_or_read_as_the_oracle_reads_them(data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from(sorted(DECODE)))
    if mode == "ATTRIBUTES":
        source, stream = data.draw(packed_attributes())
        count, size = source.shape
    elif mode == "TRIANGLES":
        triangles = data.draw(corners)
        stream, count, size = reference.encode_triangles(triangles), 3 * len(triangles), 4
    else:
        indices = data.draw(st.lists(corner, max_size=40))
        stream, count, size = reference.encode_indices(indices), len(indices), 2
    stream = data.draw(bent(stream))
    core, oracle = DECODE[mode]
    assert verdict(core, stream, count, size) == verdict(oracle, stream, count, size)


@pytest.mark.parametrize(
    ("stride", "bits"), [(stride, bits) for stride in (4, 8) for bits in range(2, 2 * stride + 1)]
)
def test_vectors_and_colors_are_filtered_as_specified(stride: int, bits: int) -> None:
    rng = np.random.default_rng(bits)
    most = 2 ** (bits - 1) - 1
    vectors = rng.integers(-most, most + 1, (500, 4))
    vectors[:, 2] = most
    check_filter(vectors.astype(f"i{stride // 4}"), "OCTAHEDRAL")
    if bits >= 4 and stride == 8:
        vectors[:, 3] = (most & ~3) | rng.integers(0, 4, 500)
        check_filter(vectors.astype("i2"), "QUATERNION")
    # colors in K-bit fixed point, taken apart as the reconstruction r, g, b needs it
    r, g, b = rng.integers(0, 2**bits, (3, 500))
    co = (r - b) // 2
    chroma = b + co
    cg = (g - chroma) // 2
    alpha = 2 ** (bits - 1) | rng.integers(0, 2 ** (bits - 1), 500)
    y = np.clip(chroma + cg, np.abs(co) + np.abs(cg), 2**bits - 1 - np.abs(co) - np.abs(cg))
    fits = (y >= 0) & (y >= np.abs(co) + np.abs(cg))
    color = np.stack([y, co, cg, alpha], 1)[fits]
    check_filter(color.astype(f"i{stride // 4}"), "COLOR")


def check_filter(elements: np.ndarray, name: str) -> None:
    count, stride = len(elements), elements.dtype.itemsize * 4
    data = np.ascontiguousarray(elements).view(np.uint8).reshape(-1)
    expected = meshopt_filter.apply_filter(data, count, stride, name)
    filtered = data.copy()
    meshopt.apply_filter(filtered, count, stride, name)
    assert np.array_equal(filtered, expected)


@pytest.mark.parametrize("exponent", range(-128, 128))
def test_exponentials_are_exact(exponent: int) -> None:
    mantissas = np.array([-(2**23), -12345, -1, 0, 1, 3, 2**23 - 1])
    data = (exponent << 24 | mantissas & 0xFFFFFF).astype(np.int64).astype(np.int32)
    filtered = data.view(np.uint8).copy()
    meshopt.apply_filter(filtered, len(data), 4, "EXPONENTIAL")
    exact = np.ldexp(mantissas.astype(np.float64), exponent)
    with np.errstate(over="ignore"):  # 2^127 times a mantissa is infinite in single precision
        assert np.array_equal(filtered.view(np.float32), exact.astype(np.float32))
