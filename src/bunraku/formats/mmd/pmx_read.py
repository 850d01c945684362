"""Reading PMX models."""

from __future__ import annotations

import os
from dataclasses import replace

from bunraku.errors import FormatError, Note, UnsupportedError
from bunraku.formats.binary import Buffer, ByteReader, folder_of, read_source
from bunraku.formats.mmd.pmx import IndexSizes, PmxFile, PmxOrigin
from bunraku.formats.mmd.pmx_lists import PmxLists
from bunraku.formats.mmd.pmx_rules import check_references
from bunraku.formats.mmd.text import decode_text, note_undecoded

ENCODINGS = ("utf-16-le", "utf-8")


def read_pmx(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> PmxFile:
    """Read a PMX model.

    Args:
        source: a path, or the bytes themselves.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: the content is malformed, or faces, weights or bones refer to what is
            not there. Other references that lead nowhere stay as they are and become Notes.
        UnsupportedError: another version than 2.0 and 2.1.
        OSError: the path cannot be read.
    """
    data, name = read_source(source, name, "PMX")
    reader = ByteReader(data, name)
    magic = bytes(reader.take(4, "magic"))
    if magic not in (b"PMX ", b"Pmx "):
        raise FormatError(f"{name}: magic: expected 'PMX ', found {magic!r}")
    version = reader.f32("version")
    if not any(abs(version - known) < 1e-3 for known in (2.0, 2.1)):
        raise UnsupportedError(f"{name}: PMX version: expected 2.0 or 2.1, found {version:.6g}")
    globals_ = bytes(reader.take(reader.u8("global count"), "globals"))
    if (
        len(globals_) < 8
        or globals_[0] > 1
        or globals_[1] > 4
        or not set(globals_[2:8]) <= {1, 2, 4}
    ):
        raise FormatError(
            f"{name}: globals: expected encoding 0 or 1, 0 to 4 additional UVs and six index sizes"
            f" of 1, 2 or 4, found {list(globals_[:16])}"
        )
    encoding, sizes = ENCODINGS[globals_[0]], IndexSizes(*globals_[2:8])
    texts = []
    for what in ("name", "English name", "comment", "English comment"):
        texts.append(decode_text(bytes(reader.take(reader.i32(what), what)), encoding))
    try:
        lists = PmxLists(data, reader.position, globals_[1], encoding, sizes, version > 2.05)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
    read = lists.read()
    file = PmxFile(
        texts[0],
        texts[1],
        texts[2],
        texts[3],
        **read,
        version=version,
        encoding=encoding,
        index_sizes=sizes,
        magic=magic,
        extra_globals=globals_[8:],
        trailing=data[lists.starts[-1] :],
        source=name,
        folder=folder_of(source),
        origin=PmxOrigin(encoding, sizes, lists.sections(read)),
    )
    notes = [*_undecoded(file), *check_references(file)]
    if file.trailing:
        notes.append(Note("trailing-bytes", f"{len(file.trailing)} bytes follow the model"))
    return replace(file, notes=tuple(notes))


def _undecoded(file: PmxFile) -> list[Note]:
    named = ("bones", "morphs", "materials", "frames", "bodies", "joints")
    texts = {
        "texts of the model": [*(file.name, file.name_english, file.comment, file.comment_english)],
        "textures": file.textures,
        **{
            kind: [name for each in getattr(file, kind) for name in (each.name, each.name_english)]
            for kind in named
        },
    }
    return note_undecoded(texts, file.encoding)
