"""Meshopt streams, read and written slowly, as Appendix A of the specification says.

KHR_meshopt_compression; its version 0 attributes are those of EXT_meshopt_compression:
https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Khronos/KHR_meshopt_compression
A malformed stream raises ValueError.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

# Widths of a delta by header bits, for each control mode; version 0 has no control modes.
WIDTHS_V0 = (0, 2, 4, 8)
WIDTHS_V1 = {0: (0, 1, 2, 4), 1: (1, 2, 4, 8)}
ALL_ZERO, LITERAL = 2, 3
LEAST_TAIL = {0: 32, 1: 24}


def unzigzag(v: int) -> int:
    return ~(v >> 1) if v & 1 else v >> 1


def zigzag(v: int) -> int:
    return ~(v << 1) if v < 0 else v << 1


def signed(v: int, bits: int) -> int:
    v %= 1 << bits
    return v - (1 << bits) if v >> (bits - 1) else v


class Reader:
    """Bytes taken one after another; the end comes as a ValueError."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise ValueError("ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        """LEB128, least significant seven bits first.

        The third example of the specification (ff a0 05 = 0x1fd005) has the most significant
        bits first. Its second example, its reference to LEB128 and every encoder disagree.
        """
        value = 0
        for i in range(5):
            byte = self.byte()
            value |= (byte & 0x7F) << 7 * i
            if byte < 0x80:
                return value % 2**32
        raise ValueError("varint of more than 5 bytes")

    def end(self) -> None:
        if self.at != len(self.data):
            raise ValueError("left over bytes")


def write_varint(v: int) -> bytes:
    out = []
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    return bytes([*out, v])


def split(data: Bytes, headers: tuple[int, ...], tail: int) -> tuple[int, Reader, bytes]:
    """Header byte, what lies between it and the tail, and the tail."""
    raw = data.tobytes()
    if len(raw) < 1 + tail or raw[0] not in headers:
        raise ValueError("too short, or another header")
    return raw[0], Reader(raw[1 : len(raw) - tail]), raw[len(raw) - tail :]


# Attributes


def blocks(count: int, stride: int) -> list[int]:
    """How many elements each block holds."""
    largest = min(8192 // stride // 16 * 16, 256)
    return [min(largest, count - first) for first in range(0, count, largest)]


def codes_to_bytes(codes: list[int], width: int) -> bytes:
    """Codes side by side; 1-bit codes fill a byte from below, wider ones from above."""
    per_byte = 8 // width
    out = []
    for first in range(0, len(codes), per_byte):
        chunk = codes[first : first + per_byte]
        if width == 1:
            chunk = chunk[::-1]
        out.append(int("".join(f"{code:0{width}b}" for code in chunk), 2))
    return bytes(out)


def bytes_to_codes(data: bytes, width: int) -> list[int]:
    codes: list[int] = []
    for byte in data:
        text = f"{byte:08b}"
        chunk = [int(text[i : i + width], 2) for i in range(0, 8, width)]
        codes += chunk[::-1] if width == 1 else chunk
    return codes


def pack_fours(values: list[int]) -> bytes:
    """2-bit values, four to a byte, the first in the lowest bits."""
    return bytes(
        a | b << 2 | c << 4 | d << 6 for a, b, c, d in zip(*[iter(values)] * 4, strict=True)
    )


def unpack_fours(data: bytes) -> list[int]:
    return [byte >> shift & 3 for byte in data for shift in (0, 2, 4, 6)]


def write_group(deltas: list[int], width: int) -> bytes:
    if width == 0:
        return b""
    if width == 8:
        return bytes(deltas)
    sentinel = 2**width - 1
    codes = [min(delta, sentinel) for delta in deltas]
    return codes_to_bytes(codes, width) + bytes(d for d in deltas if d >= sentinel)


def read_group(reader: Reader, width: int) -> list[int]:
    if width == 0:
        return [0] * 16
    if width == 8:
        return list(reader.take(16))
    codes = bytes_to_codes(reader.take(2 * width), width)
    return [reader.byte() if code == 2**width - 1 else code for code in codes]


def write_plane(deltas: list[int], widths: tuple[int, ...]) -> bytes:
    deltas = deltas + [0] * (-len(deltas) % 16)
    headers, groups = [], b""
    for first in range(0, len(deltas), 16):
        group = deltas[first : first + 16]
        packed = [write_group(group, w) for w in widths if w > 0 or not any(group)]
        best = min(packed, key=len)
        headers.append(packed.index(best) + len(widths) - len(packed))
        groups += best
    headers += [0] * (-len(headers) % 4)
    return pack_fours(headers) + groups


def read_plane(reader: Reader, elements: int, widths: tuple[int, ...]) -> list[int]:
    groups = -(-elements // 16)
    packed = reader.take(-(-groups // 4))
    headers = unpack_fours(packed)
    deltas = [d for header in headers[:groups] for d in read_group(reader, widths[header])]
    return deltas[:elements]


def lane_type(mode: int) -> str:
    return {0: "u1", 1: "<u2", 2: "<u4"}[mode & 15]


def rotate_right(v: int, r: int) -> int:
    return (v >> r | v << (32 - r)) % 2**32


def encode_vertex(
    elements: Bytes,
    version: int = 1,
    modes: list[int] | None = None,
    controls: list[int] | None = None,
) -> Bytes:
    """Pack (count, stride) bytes with `modes` per channel.

    `controls`, per byte, is used where it can hold the data; else the shortest is.
    """
    count, stride = elements.shape
    modes = modes or [0] * (stride // 4)
    baseline = elements[:1] if count else np.zeros((1, stride), np.uint8)
    deltas = np.zeros((count, stride), np.uint8)
    for channel, mode in enumerate(modes):
        place = slice(4 * channel, 4 * channel + 4)
        values = np.concatenate([baseline, elements])[:, place].copy().view(lane_type(mode))
        bits = 8 * values.itemsize
        for lane, column in enumerate(values.T.tolist()):
            for i, (before, after) in enumerate(pairwise(column)):
                if mode & 15 == 2:
                    delta = rotate_right(before ^ after, (32 - (mode >> 4)) % 32)
                else:
                    delta = zigzag(signed(after - before, bits)) % (1 << bits)
                first = 4 * channel + lane * values.itemsize
                deltas[i, first : first + values.itemsize] = list(
                    delta.to_bytes(bits // 8, "little")
                )
    out, at = bytes([0xA0 + version]), 0
    for size in blocks(count, stride):
        chosen, packed = [], []
        for byte in range(stride):
            plane = deltas[at : at + size, byte].tolist()
            if version == 0:
                packed.append(write_plane(plane, WIDTHS_V0))
                continue
            choices = {c: write_plane(plane, widths) for c, widths in WIDTHS_V1.items()}
            choices[LITERAL] = bytes(plane)
            if not any(plane):
                choices[ALL_ZERO] = b""
            control = min(choices, key=lambda c: len(choices[c]))
            if controls is not None and controls[byte] in choices:
                control = controls[byte]
            chosen.append(control)
            packed.append(choices[control])
        out += pack_fours(chosen) + b"".join(packed)
        at += size
    tail = baseline.tobytes() + (bytes(modes) if version else b"")
    return np.frombuffer(out + tail.rjust(LEAST_TAIL[version], b"\0"), np.uint8)


def decode_vertex(data: Bytes, count: int, stride: int) -> Bytes:
    if stride % 4 or not 4 <= stride <= 256 or count < 0 or len(data) == 0:
        raise ValueError("stride, count or data")
    version = int(data[0]) - 0xA0
    if version not in LEAST_TAIL:
        raise ValueError("header")
    channels = stride // 4
    tail_size = max(stride + channels * version, LEAST_TAIL[version])
    _, reader, tail = split(data, (0xA0, 0xA1), tail_size)
    modes = list(tail[-channels:]) if version else [0] * channels
    if any(mode & 15 > 2 or (mode & 15 < 2 and mode > 15) for mode in modes):
        raise ValueError("channel mode")
    planes = np.zeros((count, stride), np.uint8)
    at = 0
    for size in blocks(count, stride):
        controls: list[int] = []
        if version:
            controls = unpack_fours(reader.take(channels))
        for byte in range(stride):
            if not version:
                plane = read_plane(reader, size, WIDTHS_V0)
            elif controls[byte] == ALL_ZERO:
                plane = [0] * size
            elif controls[byte] == LITERAL:
                plane = list(reader.take(size))
            else:
                plane = read_plane(reader, size, WIDTHS_V1[controls[byte]])
            planes[at : at + size, byte] = plane
        at += size
    reader.end()
    baseline = np.frombuffer(tail[-stride - channels * version :][:stride], np.uint8)
    out = np.zeros((count, stride), np.uint8)
    for channel, mode in enumerate(modes):
        place = slice(4 * channel, 4 * channel + 4)
        deltas = planes[:, place].copy().view(lane_type(mode))
        bits = 8 * deltas.itemsize
        last = baseline[place].view(lane_type(mode)).tolist()
        for i, row in enumerate(deltas.tolist()):
            if mode & 15 == 2:
                last = [v ^ rotate_right(d, mode >> 4) for v, d in zip(last, row, strict=True)]
            else:
                last = [(v + unzigzag(d)) % (1 << bits) for v, d in zip(last, row, strict=True)]
            out[i, place] = np.array(last, lane_type(mode)).view(np.uint8)
    return out.reshape(-1)


# Indices and triangles


def index_bytes(indices: list[int], index_size: int) -> Bytes:
    wrapped = [i % (1 << 8 * index_size) for i in indices]
    return np.array(wrapped, f"<u{index_size}").view(np.uint8)


def encode_indices(indices: list[int]) -> Bytes:
    """Pack indices; each takes the nearer of the two baselines."""
    out, last = b"\xd1", [0, 0]
    for index in indices:
        nearer = 0 if abs(index - last[0]) <= abs(index - last[1]) else 1
        out += write_varint(zigzag(index - last[nearer]) << 1 | nearer)
        last[nearer] = index
    return np.frombuffer(out + bytes(4), np.uint8)


def decode_indices(data: Bytes, count: int, index_size: int) -> Bytes:
    if index_size not in (2, 4) or count < 0:
        raise ValueError("index size or count")
    _, reader, _ = split(data, (0xD1,), 4)
    last, out = [0, 0], []
    for _ in range(count):
        v = reader.varint()
        last[v & 1] = (last[v & 1] + unzigzag(v >> 1)) % 2**32
        out.append(last[v & 1])
    reader.end()
    return index_bytes(out, index_size)


class Queues:
    """The state that encoder and decoder of triangles keep in step; index 0 is the newest."""

    def __init__(self) -> None:
        self.edges: list[tuple[int, int]] = []
        self.vertices: list[int] = []
        self.next = self.last = 0

    def push(self, edges: list[tuple[int, int]], vertices: list[int]) -> None:
        for edge in edges:
            self.edges = [edge, *self.edges][:16]
        for vertex in vertices:
            self.vertices = [vertex, *self.vertices][:16]

    def take_next(self) -> int:
        self.next = (self.next + 1) % 2**32
        return (self.next - 1) % 2**32

    def near_last(self, v: int) -> int:
        self.last = (self.last + unzigzag(v)) % 2**32
        return self.last

    def from_last(self, index: int) -> bytes:
        delta = signed(index - self.last, 32)
        self.last = index
        return write_varint(zigzag(delta) % 2**32)


# Where b and c of frequent triangles come from: 0 the next index, n the n-th newest vertex.
CODEAUX = bytes.fromhex("00100112212002311323324334450000")


def encode_triangles(triangles: list[tuple[int, int, int]]) -> Bytes:
    """Pack triangles; each may come back with its corners rotated."""
    q = Queues()
    codes, data = b"", b""
    for triangle in triangles:
        rotations = [(triangle[i], triangle[(i + 1) % 3], triangle[(i + 2) % 3]) for i in range(3)]
        found = [(q.edges[:15].index(r[:2]), r) for r in rotations if r[:2] in q.edges[:15]]
        if found:
            age, (a, b, c) = min(found)
            pushed = [c]
            if c == q.next:
                low = 0
                q.take_next()
            elif c in q.vertices[1:13]:
                low, pushed = q.vertices[1:13].index(c) + 1, []
            elif c in (q.last - 1, q.last + 1):
                low = 13 if c < q.last else 14
                q.last = c
            else:
                low = 15
                data += q.from_last(c)
            codes += bytes([age << 4 | low])
            q.push([(c, b), (a, c)], pushed)
            continue
        a, b, c = next((r for r in rotations if r[0] == q.next), triangle)
        starts_next = a == q.next
        explicit = b""
        if starts_next:
            q.take_next()
        else:
            explicit += q.from_last(a)
        sources: list[int] = []
        pushed = [a]
        for v in (b, c):
            # Both from `next` without a leading one would read as a restart of the numbering.
            if v == q.next and (starts_next or sources != [0]):
                sources.append(0)
                q.take_next()
                pushed.append(v)
            elif v in q.vertices[:14]:
                sources.append(q.vertices[:14].index(v) + 1)
            else:
                sources.append(15)
                explicit += q.from_last(v)
                pushed.append(v)
        packed = sources[0] << 4 | sources[1]
        if starts_next and packed in CODEAUX[:14]:
            codes += bytes([0xF0 | CODEAUX[:14].index(packed)])
        else:
            codes += b"\xfe" if starts_next else b"\xff"
            data += bytes([packed]) + explicit
        q.push([(b, a), (c, b), (a, c)], pushed)
    return np.frombuffer(b"\xe1" + codes + data + CODEAUX, np.uint8)


def decode_triangles(data: Bytes, count: int, index_size: int) -> Bytes:
    if index_size not in (2, 4) or count < 0 or count % 3:
        raise ValueError("index size or count")
    _, reader, codeaux = split(data, (0xE1,), 16)
    if any(b >> 4 == 15 or b & 15 == 15 for b in codeaux) or any(codeaux[14:]):
        raise ValueError("code table")
    q, out = Queues(), []
    for code in reader.take(count // 3):
        high, low = code >> 4, code & 15
        if high < 15:
            a, b = recent(q.edges, high)
            if low == 0:
                c = q.take_next()
            elif low < 13:
                c = recent(q.vertices, low)
            elif low < 15:
                c = q.last = (q.last + (1 if low == 14 else -1)) % 2**32
            else:
                c = q.near_last(reader.varint())
            q.push([(c, b), (a, c)], [] if 0 < low < 13 else [c])
        else:
            packed = codeaux[low] if low < 14 else reader.byte()
            if low >= 14 and packed == 0:
                q.next = 0
            a = q.take_next() if low < 15 else q.near_last(reader.varint())
            pushed, corners = [a], []
            for source in (packed >> 4, packed & 15):
                if source == 0:
                    corners.append(q.take_next())
                elif source < 15:
                    corners.append(recent(q.vertices, source - 1))
                else:
                    corners.append(q.near_last(reader.varint()))
                if source in (0, 15):
                    pushed.append(corners[-1])
            b, c = corners
            q.push([(b, a), (c, b), (a, c)], pushed)
        out += [a, b, c]
    reader.end()
    return index_bytes(out, index_size)


T = TypeVar("T")


def recent(entries: list[T], age: int) -> T:
    if age >= len(entries):
        raise ValueError("never written")
    return entries[age]
