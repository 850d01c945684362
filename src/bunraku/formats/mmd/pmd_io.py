"""Reading and writing PMD models."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, UnsupportedError
from bunraku.formats.binary import Buffer, ByteReader, folder_of, read_source, write_files
from bunraku.formats.mmd import pmd
from bunraku.formats.mmd.pmd import PmdEnglish, PmdFile, PmdIk, PmdSkin
from bunraku.formats.mmd.text import decode_field, encode_field, note_undecoded
from bunraku.model.names import CP932

Array = npt.NDArray[Any]

# The parts after the display frames; a file may end before any of them.
_TAIL = ("english", "toons", "bodies", "joints")


def read_pmd(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> PmdFile:
    """Read a PMD model.

    Args:
        source: a path, or the bytes themselves.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: the content is malformed, or faces, weights, parents or IK refer to what
            is not there.
        UnsupportedError: another version than 1.0.
        OSError: the path cannot be read.

    >>> model = read_pmd(pmd_bytes(PmdFile("初音ミク", bones=np.zeros(2, pmd.BONE))))
    >>> model.name, len(model.bones)
    ('初音ミク', 2)
    """
    data, name = read_source(source, name, "PMD")
    reader = ByteReader(data, name)
    magic = bytes(reader.take(3, "magic"))
    if magic != b"Pmd":
        raise FormatError(f"{name}: magic: expected 'Pmd', found {magic!r}")
    version = reader.f32("version")
    if abs(version - 1) > 1e-3:
        raise UnsupportedError(f"{name}: PMD version: expected 1.0, found {version:.6g}")
    parts: dict[str, Any] = {"name": _text(reader, 20), "comment": _text(reader, 256)}
    parts["vertices"] = reader.array(pmd.VERTEX, reader.u32("vertex count"), "vertices")
    corners = reader.u32("index count")
    if corners % 3:
        raise reader.error("index count", f"expected a multiple of 3, found {corners}")
    parts["faces"] = reader.array("<u2", corners, "faces").reshape(-1, 3)
    parts["materials"] = reader.array(pmd.MATERIAL, reader.u32("material count"), "materials")
    parts["bones"] = reader.array(pmd.BONE, reader.u16("bone count"), "bones")
    count = reader.fits(reader.u16("IK count"), 11, "IK list")
    parts["iks"] = tuple([_read_ik(reader, f"IK {i}") for i in range(count)])
    count = reader.fits(reader.u16("skin count"), 25, "skin list")
    parts["skins"] = tuple([_read_skin(reader, f"skin {i}") for i in range(count)])
    parts["skin_frame"] = reader.array("<u2", reader.u8("skin frame"), "skin frame")
    parts["frame_names"] = reader.array(pmd.FRAME_NAME, reader.u8("frames"), "frame names")
    parts["frame_bones"] = reader.array(pmd.FRAME_BONE, reader.u32("frame bones"), "frame bones")
    tail = 0
    while tail < len(_TAIL) and reader.remaining >= (1, pmd.TOON.itemsize * 10, 4, 4)[tail]:
        parts[_TAIL[tail]] = _read_tail(reader, _TAIL[tail], parts)
        tail += 1
    trailing = bytes(reader.take(reader.remaining, "rest"))
    notes = []
    if trailing:
        notes.append(Note("trailing-bytes", f"{len(trailing)} bytes follow the last part"))
    file = PmdFile(
        **parts,
        tail=tail,
        version=version,
        trailing=trailing,
        source=name,
        folder=folder_of(source),
    )
    _check_references(file)
    return replace(file, notes=(*_undecoded(file), *notes))


def _undecoded(file: PmdFile) -> list[Note]:
    english = file.english or PmdEnglish()
    fields = {
        "bones": (file.bones["name"], english.bones),
        "morphs": (english.skins,),
        "frames": (file.frame_names, english.frames),
        "textures": (file.materials["texture"], file.toons),
        "bodies": (file.bodies["name"],),
        "joints": (file.joints["name"],),
    }
    texts = {
        kind: [decode_field(raw) for array in arrays for raw in array.tolist()]
        for kind, arrays in fields.items()
    }
    texts["morphs"] += [skin.name for skin in file.skins]
    whole = [file.name, file.comment, english.name, english.comment]
    return note_undecoded({"texts of the model": whole, **texts}, CP932)


def _text(reader: ByteReader, size: int) -> str:
    return decode_field(bytes(reader.take(size, "text")))


def _read_ik(reader: ByteReader, what: str) -> PmdIk:
    bone, target, links, iterations, weight = reader.unpack("HHBHf", what)
    return PmdIk(bone, target, iterations, weight, reader.array("<u2", links, f"{what} links"))


def _read_skin(reader: ByteReader, what: str) -> PmdSkin:
    name, count, panel = _text(reader, 20), reader.u32(what), reader.u8(what)
    return PmdSkin(name, panel, reader.array(pmd.SKIN_OFFSET, count, f"{what} offsets"))


def _read_tail(reader: ByteReader, part: str, parts: dict[str, Any]) -> Any:
    if part == "toons":
        return reader.array(pmd.TOON, pmd.TOON_COUNT, part)
    if part != "english":
        return reader.array(
            pmd.BODY if part == "bodies" else pmd.JOINT, reader.u32(f"{part} count"), part
        )
    flag = reader.u8("English flag")
    if flag > 1:
        raise reader.error("English flag", f"expected 0 or 1, found {flag}")
    if not flag:
        return None
    return PmdEnglish(
        _text(reader, 20),
        _text(reader, 256),
        reader.array(pmd.NAME, len(parts["bones"]), "English bone names"),
        reader.array(pmd.NAME, max(len(parts["skins"]) - 1, 0), "English skin names"),
        reader.array(pmd.FRAME_NAME, len(parts["frame_names"]), "English frame names"),
    )


def _check_references(file: PmdFile) -> None:
    vertices, bones = len(file.vertices), len(file.bones)
    weight = file.vertices["weight"][:, None]
    # a bone of no weight may be any number
    has_weight = np.concatenate([weight > 0, weight < 100], axis=1)
    parents = file.bones["parent"]
    checks: list[tuple[str, Array, int]] = [
        ("faces: vertex", file.faces, vertices),
        ("vertices: bone", file.vertices["bones"][has_weight], bones),
        ("bones: parent", parents[parents != pmd.NONE], bones),
    ]
    for i, ik in enumerate(file.iks):
        checks.append((f"IK {i}: bone", np.array([ik.bone, ik.target, *ik.links]), bones))
    for what, indices, count in checks:
        if indices.size and int(indices.max()) >= count:
            raise FormatError(f"{file.source}: {what} {indices.max()}, but there are {count}")
    claimed = int(file.materials["index_count"].sum(dtype=np.int64))
    if claimed > file.faces.size:
        raise FormatError(f"{file.source}: materials claim {claimed} of {file.faces.size} indices")


def pmd_bytes(file: PmdFile) -> bytes:
    """The bytes of the file; those it was read from, if nothing was changed."""
    source = file.source
    pieces = [
        struct.pack("<3sf", b"Pmd", file.version),
        encode_field(file.name, 20, f"{source}: name"),
        encode_field(file.comment, 256, f"{source}: comment"),
        _list(file.vertices, 4, "vertices"),
        _list(file.faces.reshape(-1), 4, "faces"),
        _list(file.materials, 4, "materials"),
        _list(file.bones, 2, "bones"),
        _count(file.iks, 2, "iks"),
    ]
    for i, ik in enumerate(file.iks):
        values = (ik.bone, ik.target, len(ik.links), ik.iterations, ik.weight)
        try:
            pieces += [struct.pack("<HHBHf", *values), ik.links.astype("<u2").tobytes()]
        except (struct.error, OverflowError) as error:
            raise FormatError(f"{source}: IK {i}: {values} cannot be written: {error}") from None
    pieces.append(_count(file.skins, 2, "skins"))
    for i, skin in enumerate(file.skins):
        if skin.offsets.dtype != pmd.SKIN_OFFSET or not 0 <= skin.panel < 256:
            raise FormatError(
                f"{source}: skin {i}: expected SKIN_OFFSET records and an 8-bit panel"
            )
        pieces.append(encode_field(skin.name, 20, f"{source}: skin {i}"))
        pieces += [_count(skin.offsets, 4, "offsets"), bytes([skin.panel]), skin.offsets.tobytes()]
    pieces += [
        _list(file.skin_frame, 1, "skin frame"),
        _list(file.frame_names, 1, "frame names"),
        _list(file.frame_bones, 4, "frame bones"),
    ]
    tail = [
        _english(file),
        file.toons.tobytes(),
        _list(file.bodies, 4, "bodies"),
        _list(file.joints, 4, "joints"),
    ]
    used = (file.english is not None, bool(file.toons.any()), len(file.bodies), len(file.joints))
    parts = max([file.tail, *(i + 1 for i, filled in enumerate(used) if filled)])
    return b"".join([*pieces, *tail[:parts], file.trailing])


def write_pmd(file: PmdFile, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all.

    Raises:
        FormatError: a text or number that the file has no way to say.
        OSError: the path cannot be written.
    """
    write_files({Path(path): [pmd_bytes(file)]})


def _english(file: PmdFile) -> bytes:
    english = file.english
    if english is None:
        return b"\0"
    counts = (len(file.bones), max(len(file.skins) - 1, 0), len(file.frame_names))
    lists = (english.bones, english.skins, english.frames)
    if counts != tuple(map(len, lists)):
        raise FormatError(
            f"{file.source}: English names: expected {counts} of bones, skins without the base"
            f" and frames, found {tuple(map(len, lists))}"
        )
    pieces = [
        b"\1",
        encode_field(english.name, 20, f"{file.source}: English name"),
        encode_field(english.comment, 256, f"{file.source}: English comment"),
    ]
    for names, dtype in zip(lists, (pmd.NAME, pmd.NAME, pmd.FRAME_NAME), strict=True):
        pieces.append(names.astype(dtype, copy=False).tobytes())
    return b"".join(pieces)


def _count(records: Any, size: int, what: str) -> bytes:
    if len(records) >= 256**size:
        raise FormatError(f"PMD: {what}: {len(records)} are more than the format can count")
    return len(records).to_bytes(size, "little")


def _list(records: Array, size: int, what: str) -> bytes:
    return _count(records, size, what) + records.tobytes()
