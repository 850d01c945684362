"""The outside of a glTF: GLB chunks, and JSON text read strictly.

Specification: glTF 2.0, sections 2.7 (JSON encoding) and 4 (GLB).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.errors import FormatError, Note, UnsupportedError
from bunraku.formats.binary import Buffer, ByteReader

MAGIC = b"glTF"
JSON_CHUNK = 0x4E4F534A
BIN_CHUNK = 0x004E4942

# Deeper than any real file by far, and well below the interpreter's recursion limit.
MAX_DEPTH = 128


@dataclass(frozen=True, slots=True)
class Chunk:
    """One GLB chunk as read: its type and its bytes, padding included."""

    kind: int
    data: memoryview


def split_glb(data: Buffer, source: str) -> tuple[tuple[Chunk, ...], list[Note]]:
    """Chunks of a GLB in file order, the JSON chunk first.

    Raises `FormatError` for anything that leaves the content in doubt; what is merely
    irregular (bytes after the end, odd chunk lengths, BIN not second) becomes a `Note`.
    """
    notes: list[Note] = []
    reader = ByteReader(data, source)
    if bytes(reader.take(4, "GLB magic")) != MAGIC:
        raise FormatError(f"{source}: GLB magic: expected 'glTF', found {bytes(data[:4])!r}")
    version = reader.u32("GLB version")
    if version != 2:
        raise UnsupportedError(f"{source}: GLB version: expected 2, found {version}")
    length = reader.u32("GLB length")
    if length < 20 or length > len(data):
        raise FormatError(
            f"{source}: GLB length: header declares {length} bytes (at least 20 are needed),"
            f" the file has {len(data)}"
        )
    if length < len(data):
        extra = len(data) - length
        notes.append(Note("glb-extra-data", f"{extra} bytes after the declared end are ignored"))
        reader.data = reader.data[:length]

    chunks: list[Chunk] = []
    while reader.remaining:
        place = f"GLB chunk {len(chunks)}"
        size, kind = reader.unpack("II", f"{place} header")
        if size % 4:
            notes.append(
                Note("glb-chunk-unaligned", f"its length {size} is not a multiple of 4", place)
            )
        chunks.append(Chunk(kind, reader.take(size, place)))
    kinds = [chunk.kind for chunk in chunks]
    if kinds[0] != JSON_CHUNK:
        raise FormatError(f"{source}: GLB chunk 0: expected JSON, found type {kinds[0]:#010x}")
    for kind, name in ((JSON_CHUNK, "JSON"), (BIN_CHUNK, "BIN")):
        if kinds.count(kind) > 1:
            raise FormatError(f"{source}: GLB has {kinds.count(kind)} {name} chunks, expected 1")
    if BIN_CHUNK in kinds[2:]:
        where = f"GLB chunk {kinds.index(BIN_CHUNK)}"
        notes.append(Note("glb-bin-not-second", "the BIN chunk should come second", where))
    return tuple(chunks), notes


def join_glb(chunks: tuple[Chunk, ...]) -> list[Buffer]:
    """Pieces of the GLB file that has these chunks."""
    size = 12 + sum(8 + len(chunk.data) for chunk in chunks)
    if size >= 2**32:
        raise UnsupportedError(f"a GLB cannot exceed 4 GiB, this one would have {size} bytes")
    pieces: list[Buffer] = [MAGIC, (2).to_bytes(4, "little"), size.to_bytes(4, "little")]
    for chunk in chunks:
        pieces += [len(chunk.data).to_bytes(4, "little"), chunk.kind.to_bytes(4, "little")]
        pieces.append(chunk.data)
    return pieces


def pad(data: Buffer, filler: bytes) -> memoryview:
    """The bytes filled up to a multiple of four."""
    return memoryview(bytes(data) + filler * (-len(data) % 4) if len(data) % 4 else data)


def parse_json(text: Buffer, source: str) -> tuple[dict[str, Any], list[Note]]:
    """The JSON object in UTF-8 `text`; duplicate keys, NaN literals and deep nesting are errors.

    Specification: section 2.7 (UTF-8 without BOM, unique keys); RFC 8259 knows no NaN.
    """
    notes: list[Note] = []
    raw = bytes(text)
    if raw.startswith(b"\xef\xbb\xbf"):
        notes.append(Note("json-bom", "the byte order mark before the JSON is ignored"))
        raw = raw[3:]
    if raw.endswith(b"\0"):
        notes.append(Note("json-nul-padding", "JSON is padded with zero bytes instead of spaces"))
        raw = raw.rstrip(b"\0")
    if raw.lstrip()[:1] != b"{":
        start = raw[:8].decode("ascii", "backslashreplace")
        raise FormatError(f"{source}: expected a GLB or a JSON object, found {start!r}")
    try:
        _check_depth(raw, source)
        tree = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
        if re.search(rb"\\u[dD][89a-fA-F]", raw):
            json.dumps(tree, ensure_ascii=False).encode("utf-8")  # a lone surrogate fails here
    except UnicodeDecodeError as error:
        found = raw[error.start : error.start + 1].hex()
        raise FormatError(
            f"{source}: JSON byte {error.start:#x}: expected UTF-8, found 0x{found}"
        ) from None
    except UnicodeEncodeError:
        raise FormatError(f"{source}: JSON: a string holds half a surrogate pair") from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{source}: JSON line {error.lineno} column {error.colno}: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source}: JSON: {error}") from None
    return tree, notes


def dump_json(tree: dict[str, Any], *, indent: int | None = None) -> bytes:
    """UTF-8 text of the tree; numbers keep every digit they need."""
    separators = None if indent else (",", ":")
    try:
        text = json.dumps(
            tree, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
        )
    except ValueError:
        raise FormatError("glTF JSON: a number is out of range (NaN or infinity)") from None
    return text.encode("utf-8")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"key {key[:80]!r} occurs twice in one object")
            seen.add(key)
    return result


def _no_constant(literal: str) -> float:
    raise ValueError(f"{literal} is not a JSON number")


def _check_depth(raw: bytes, source: str) -> None:
    """Refuse nesting that later recursion (comparing, copying, dumping) could not follow."""
    without_escapes = re.sub(rb"\\.", b"", raw) if b"\\" in raw else raw
    skeleton = without_escapes.translate(None, _NEITHER_BRACKET_NOR_QUOTE)
    brackets = np.frombuffer(re.sub(rb'"[^"]*"', b"", skeleton), np.uint8)
    # "[" and "{" open (0x5b, 0x7b), "]" and "}" close (0x5d, 0x7d)
    steps = np.where(brackets & 0x06 == 0x02, np.int32(1), np.int32(-1))
    if steps.size and int(np.cumsum(steps, dtype=np.int32).max()) > MAX_DEPTH:
        raise FormatError(f"{source}: JSON is nested deeper than {MAX_DEPTH} levels")


_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
