"""Buffers without the bytes that only dropped data covered.

Specification: glTF 2.0, section 3.6 (binary data) and its alignment rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from bunraku.formats.binary import Buffer
from bunraku.formats.gltf.layout import Layout
from bunraku.formats.gltf.rules import DRACO, MESHOPT
from bunraku.formats.gltf.uri import encode_data_uri, is_data_uri

Tree = dict[str, Any]
Range = tuple[int, int]

# Bytes move by multiples of this: whatever they were aligned to, they stay.
ALIGNMENT = 8


def close_up(
    tree: Tree,
    buffers: list[memoryview],
    views: list[Tree],
    accessors: list[Tree],
    pinned: set[int],
) -> set[int]:
    """Take dead bytes from the buffers of `tree`; returns those that hold nothing any more.

    A byte is dead when something dropped covers it and nothing that is left. What nothing ever
    covered stays, but for the few bytes that align dead ones. A bufferView that lost some of its
    accessors shrinks to the others.

    Args:
        tree: the document; lengths and offsets follow, in place.
        buffers: their data; replaced in place.
        views: bufferViews that were dropped.
        accessors: accessors that were dropped, with the index that their bufferView has now, or
            None if it was dropped too.
        pinned: bufferViews and buffers that are left as they are.
    """
    users = _users(tree, tree.get("accessors", ()))
    lost = _users(tree, accessors)
    shared = lost.keys() & users.keys() - _whole(tree) - pinned
    # an accessor without elements has no bytes by which its place could be told
    divided = {i for i in shared if all(size for _, size in users[i] + lost[i])}
    dead: dict[int, list[Range]] = {b: [] for b in range(len(buffers))}
    live: dict[int, list[Range]] = {b: [] for b in range(len(buffers))}
    for view in views:
        for part in ranges_of(view):
            dead[part["buffer"]].append(_range(part))
    for i, view in enumerate(tree.get("bufferViews", ())):
        if i in divided:
            start, _ = _range(view)
            dead[view["buffer"]] += [_extent(start, *each) for each in lost[i]]
            live[view["buffer"]] += [_extent(start, *each) for each in users[i]]
        else:
            for part in ranges_of(view):
                live[part["buffer"]].append(_range(part))
    closed = {
        b: _left(len(buffers[b]), dead[b], live[b])
        for b in range(len(buffers))
        if dead[b] and b not in pinned
    }
    emptied = {b for b, stretches in closed.items() if not stretches and not live[b]}
    moves = {b: _Moves(closed[b]) for b in closed.keys() - emptied if len(buffers[b])}
    for b, move in moves.items():
        buffers[b] = move.data(buffers[b])
        buffer = tree["buffers"][b]
        buffer["byteLength"] = len(buffers[b])
        if is_data_uri(buffer.get("uri", "")):
            buffer["uri"] = encode_data_uri("application/octet-stream", buffers[b])
    for i, view in enumerate(tree.get("bufferViews", ())):
        if i in divided and view["buffer"] in moves:
            _shrink(view, users[i], moves[view["buffer"]])
            continue
        for part in ranges_of(view):
            if part["buffer"] in moves:
                _set(part, moves[part["buffer"]](part.get("byteOffset", 0)))
    return emptied


def ranges_of(view: Tree) -> Iterator[Tree]:
    """The byte ranges a bufferView names: its own, and where its compressed data are."""
    yield view
    for name in MESHOPT:
        if name in view.get("extensions", {}):
            yield view["extensions"][name]


def _range(part: Tree) -> Range:
    start = part.get("byteOffset", 0)
    return start, start + max(1, part["byteLength"])


def _extent(start: int, part: Tree, size: int) -> Range:
    """Bytes of a buffer that a part of an accessor covers, from where the alignment begins."""
    offset = start + part.get("byteOffset", 0)
    return max(start, offset - offset % ALIGNMENT), offset + size


def _users(tree: Tree, accessors: Iterable[Tree]) -> dict[int, list[tuple[Tree, int]]]:
    """By bufferView: the parts of accessors that read it, and over how many bytes."""
    views = tree.get("bufferViews", [])
    found: dict[int, list[tuple[Tree, int]]] = {}
    for accessor in accessors:
        sparse = accessor.get("sparse", {})
        count = sparse.get("count", 0)
        indices, values = sparse.get("indices", {}), sparse.get("values", {})
        scalars = {"type": "SCALAR", **indices}
        for part, shape, elements in (
            (accessor, accessor, accessor["count"]),
            (indices, scalars, count),
            (values, accessor, count),
        ):
            index = part.get("bufferView")
            if index is None:
                continue
            layout = Layout.of(shape)
            stride = views[index].get("byteStride", layout.size if layout else 0)
            # what has no known layout reads all of its view
            size = layout.extent(elements, stride) if layout else views[index]["byteLength"]
            found.setdefault(index, []).append((part, size))
    return found


def _whole(tree: Tree) -> set[int]:
    """BufferViews that are read as one: pictures and compressed data."""
    found = {image["bufferView"] for image in tree.get("images", ()) if "bufferView" in image}
    for mesh in tree.get("meshes", ()):
        for primitive in mesh["primitives"]:
            if DRACO in primitive.get("extensions", {}):
                found.add(primitive["extensions"][DRACO]["bufferView"])
    views = enumerate(tree.get("bufferViews", ()))
    return found | {i for i, view in views if len([*ranges_of(view)]) > 1}


def _left(size: int, dead: list[Range], live: list[Range]) -> list[Range]:
    """Starts and ends of the stretches of a buffer that are not dead."""
    if not size:
        return []
    state = np.zeros(size, np.int8)
    for ranges, mark in ((dead, 1), (live, 2)):
        for start, end in ranges:
            state[start:end] = mark
    bounds = [0, *(np.flatnonzero(np.diff(state)) + 1).tolist(), size]
    marks = [2, *state[bounds[:-1]].tolist(), 2]
    kept: list[Range] = []
    for i, (start, end) in enumerate(pairwise(bounds)):
        before, mark, after = marks[i : i + 3]
        if mark == 1 or (mark == 0 and end - start < ALIGNMENT and 1 in (before, after)):
            continue
        if kept and kept[-1][1] == start:
            start = kept.pop()[0]
        kept.append((start, end))
    return kept


class _Moves:
    """Where the bytes of a buffer are once its stretches lie behind each other."""

    def __init__(self, stretches: list[Range]) -> None:
        self.stretches = stretches
        self.starts: list[int] = []
        size = 0
        for start, end in stretches:
            self.starts.append(size + (start - size) % ALIGNMENT)
            size = self.starts[-1] + end - start

    def __call__(self, offset: int) -> int:
        at = max(0, bisect_right(self.stretches, offset, key=lambda each: each[0]) - 1)
        return self.starts[at] + offset - self.stretches[at][0]

    def data(self, data: memoryview) -> memoryview:
        pieces: list[Buffer] = []
        size = 0
        for place, (start, end) in zip(self.starts, self.stretches, strict=True):
            pieces += (b"\0" * (place - size), data[start:end])
            size = place + end - start
        return memoryview(b"".join(pieces))


def _shrink(view: Tree, users: list[tuple[Tree, int]], move: _Moves) -> None:
    """Let a bufferView end and begin where the accessors do that still read it."""
    before, _ = _range(view)
    extents = [_extent(before, part, size) for part, size in users]
    start = move(min(first for first, _ in extents))
    places = [move(before + part.get("byteOffset", 0)) for part, _ in users]
    for (part, _), place in zip(users, places, strict=True):
        _set(part, place - start)
    _set(view, start)
    view["byteLength"] = (
        max(place + size for (_, size), place in zip(users, places, strict=True)) - start
    )


def _set(part: Tree, offset: int) -> None:
    if offset != part.get("byteOffset", 0):
        part["byteOffset"] = offset
