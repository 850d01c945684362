"""A glTF file as it is: JSON tree, buffers, and what is needed to write it back bit for bit."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bunraku.errors import FormatError, Note
from bunraku.formats.binary import Buffer
from bunraku.formats.gltf.container import (
    BIN_CHUNK,
    MAGIC,
    Chunk,
    parse_json,
    split_glb,
)
from bunraku.formats.gltf.rules import MESHOPT, check_rules
from bunraku.formats.gltf.schema import check
from bunraku.formats.gltf.uri import decode_data_uri, is_data_uri, read_local

_BUFFER_MEDIA = ("application/octet-stream", "application/gltf-buffer")


@dataclass(frozen=True, eq=False)
class GltfFile:
    """A glTF document, in the file's own units and order. Treat it as immutable.

    Attributes:
        json: the whole JSON tree, whatever it holds.
        buffers: bytes of each buffer (views of what was read, not copies); empty for a
            fallback buffer of compressed data that has none.
        chunks: chunks of a GLB as read, JSON first; empty for a .gltf.
        text: the JSON as read; written again as long as `json` still says the same.
        source: name of the file, for messages.
        folder: where relative URIs are looked up; None when read from bytes.
        notes: what was irregular but readable.
    """

    json: dict[str, Any] = field(repr=False)
    buffers: tuple[memoryview, ...] = field(default=(), repr=False)
    chunks: tuple[Chunk, ...] = field(default=(), repr=False)
    text: bytes = field(default=b"", repr=False)
    source: str = "glTF"
    folder: Path | None = None
    notes: tuple[Note, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles, which cannot hold views of what was read."""
        chunks = tuple((chunk.kind, bytes(chunk.data)) for chunk in self.chunks)
        return vars(self) | {"buffers": tuple(map(bytes, self.buffers)), "chunks": chunks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        chunks = tuple(Chunk(kind, memoryview(data)) for kind, data in state["chunks"])
        buffers = tuple(memoryview(data) for data in state["buffers"])
        self.__dict__.update(state | {"buffers": buffers, "chunks": chunks})

    @property
    def size(self) -> int:
        """Bytes the file has, buffers beside it included."""
        inside = sum(len(chunk.data) for chunk in self.chunks) or len(self.text)
        own = self.chunks and self.buffers and "uri" not in self.json["buffers"][0]
        return inside + sum(len(data) for data in self.buffers[1 if own else 0 :])


def read_gltf(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> GltfFile:
    """Read a .gltf or .glb (also .vrm and .vrma) and check its structure.

    Args:
        source: a path, or the bytes themselves; bytes cannot refer to other files.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: the content is malformed or contradicts itself.
        UnsupportedError: another glTF version, or a required extension Bunraku does not know.
        OSError: the path cannot be read.

    >>> read_gltf(b'{"asset": {"version": "2.0"}, "nodes": [{"name": "root"}]}').json["nodes"]
    [{'name': 'root'}]
    """
    folder = None
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        data: Buffer = path.read_bytes()
        folder, name = path.parent, name or path.name
    else:
        data = memoryview(source)
        name = name or "glTF"
    chunks: tuple[Chunk, ...] = ()
    notes: list[Note] = []
    text: Buffer = data
    if bytes(data[:4]) == MAGIC:
        chunks, notes = split_glb(data, name)
        text = chunks[0].data
    tree, json_notes = parse_json(text, name)
    context = check(tree, name)
    check_rules(tree, context)
    buffers, buffer_notes = _read_buffers(tree, chunks, folder, name)
    return GltfFile(
        tree,
        buffers,
        chunks,
        bytes(text),
        name,
        folder,
        (*notes, *json_notes, *context.all_notes(), *buffer_notes),
    )


def _read_buffers(
    tree: dict[str, Any], chunks: tuple[Chunk, ...], folder: Path | None, source: str
) -> tuple[tuple[memoryview, ...], list[Note]]:
    notes: list[Note] = []
    binary = next((chunk.data for chunk in chunks if chunk.kind == BIN_CHUNK), None)
    fallbacks = _fallback_buffers(tree)
    buffers = []
    for i, buffer in enumerate(tree.get("buffers", [])):
        place, size = f"buffers[{i}]", buffer["byteLength"]
        where = f"{source}: {place}"
        uri = buffer.get("uri")
        if uri is None:
            if i == 0 and binary is not None:
                data: Buffer = binary
                if len(binary) > size + 3:
                    message = f"the BIN chunk is {len(binary) - size} bytes longer than the buffer"
                    notes.append(Note("glb-bin-longer", message, place))
            else:
                data = b""
                if i not in fallbacks:
                    message = "has neither a uri nor a BIN chunk; its data cannot be used"
                    notes.append(Note("buffer-without-data", message, place))
        elif is_data_uri(uri):
            media, data = decode_data_uri(uri, f"{where}.uri")
            if media not in _BUFFER_MEDIA:
                message = f"data URI of type {media[:60]!r}, expected {_BUFFER_MEDIA[0]!r}"
                notes.append(Note("data-uri-type", message, place))
        else:
            try:
                data = read_local(uri, folder, f"{where}.uri", size)
            except FormatError as error:
                if i not in fallbacks:
                    raise
                notes.append(Note("fallback-missing", str(error), place))
                data = b""
        if 0 < len(data) < size or (uri is not None and i not in fallbacks and len(data) < size):
            raise FormatError(f"{where}: byteLength is {size}, but there are {len(data)} bytes")
        buffers.append(memoryview(data)[:size])
    return tuple(buffers), notes


def _fallback_buffers(tree: dict[str, Any]) -> set[int]:
    """Buffers that only stand in for, or repeat, compressed data: nothing reads them."""
    read = {view["buffer"] for view in tree.get("bufferViews", []) if not _is_compressed(view)}
    used = {view["buffer"] for view in tree.get("bufferViews", [])}
    return used - read


def _is_compressed(view: dict[str, Any]) -> bool:
    return any(name in view.get("extensions", {}) for name in MESHOPT)
