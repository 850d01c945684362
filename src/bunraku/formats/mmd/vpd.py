"""VPD poses: one moment of a model, as text.

The file is cp932 (some are UTF-8), left-handed, translations are offsets from rest. It says
how many bones it has, and MMD reads just so many. `Morph` blocks are an extension of
MikuMikuMoving. `//` begins a comment.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from bunraku.errors import FormatError, Note
from bunraku.formats.binary import Buffer, read_source, write_files
from bunraku.formats.mmd.text import decode_text, encode_text
from bunraku.model.names import CP932

MAGIC = b"Vocaloid Pose Data file"

# No second byte of a cp932 letter is '/', ';', ',' or a line end, so bytes may be searched.
_COMMENT = re.compile(rb"(?<![^\s;])//[^\r\n]*")
_HEAD = re.compile(rb"\s*([^;]*);\s*([+-]?\d+)\s*;")
_BLOCK = re.compile(rb"\s*(Bone|Morph)\s*\d*\s*\{([^\r\n]*)[\r\n]([^}]*)\}")


@dataclass(frozen=True, slots=True)
class VpdBone:
    """Offset from rest and rotation (x, y, z, w) of a bone."""

    name: str
    translation: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class VpdMorph:
    """Weight of a morph."""

    name: str
    weight: float


@dataclass(frozen=True)
class VpdFile:
    """A VPD pose as it is in the file. Treat it as immutable.

    Attributes:
        model: file name of the model it was made on, such as `miku.osm`.
        bones: all bones there are; `posed` are those MMD reads.
        bone_count: what the file declares; None for just as many as there are.
        encoding: "cp932", "utf-8" or "utf-8-sig".
        text: the file as read; written again as long as the rest still says the same.
        source: name of the file, for messages.
        notes: what was irregular but readable.
    """

    model: str = ""
    bones: tuple[VpdBone, ...] = field(default=(), repr=False)
    morphs: tuple[VpdMorph, ...] = field(default=(), repr=False)
    bone_count: int | None = None
    encoding: str = CP932
    text: bytes = field(default=b"", repr=False, compare=False)
    source: str = field(default="VPD", compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def posed(self) -> tuple[VpdBone, ...]:
        """The bones MMD would read: no more than the file declares."""
        return self.bones if self.bone_count is None else self.bones[: self.bone_count]


def read_vpd(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> VpdFile:
    """Read a VPD pose.

    Args:
        source: a path, or the bytes themselves.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: the text is no VPD; the message names the line.
        OSError: the path cannot be read.

    >>> pose = read_vpd(vpd_bytes(VpdFile("miku.osm", (VpdBone("右腕"),), (VpdMorph("あ", 0.5),))))
    >>> pose.model, pose.bones[0].name, pose.morphs[0].weight
    ('miku.osm', '右腕', 0.5)
    """
    data, name = read_source(source, name, "VPD")
    encoding = _encoding(data)
    body = data.removeprefix(b"\xef\xbb\xbf")
    start = body.find(MAGIC)
    if start < 0 or body[:start].strip():
        raise FormatError(f"{name}: expected {MAGIC.decode()!r}, found {body[:24]!r}")
    clean = _COMMENT.sub(b"", body)
    head = _HEAD.match(clean, start + len(MAGIC))
    if head is None or not 0 <= _integer(head[2]) < 2**31:
        raise FormatError(f"{name}: expected the model's name and a number of bones, each with ';'")
    codec = encoding.removesuffix("-sig")
    bones: list[VpdBone] = []
    morphs: list[VpdMorph] = []
    at = head.end()
    while match := _BLOCK.match(clean, at):
        kind, label = match[1].decode(), decode_text(match[2].strip(), codec)
        numbers = _numbers(match[3], 7 if kind == "Bone" else 1)
        if numbers is None:
            raise FormatError(f"{name}: {_line(clean, match.start(1))}: bad numbers in {kind}")
        if kind == "Bone":
            bones.append(VpdBone(label, numbers[:3], numbers[3:]))
        else:
            morphs.append(VpdMorph(label, numbers[0]))
        at = match.end()
    if clean[at:].strip(b" \t\r\n\0\x1a"):
        rest = clean[at:].lstrip()
        place = _line(clean, len(clean) - len(rest))
        raise FormatError(f"{name}: {place}: expected a Bone or Morph block, found {rest[:24]!r}")
    declared = _integer(head[2])
    notes = []
    if declared != len(bones):
        message = f"{declared} bones are declared, {len(bones)} are there"
        notes.append(Note("bone-count", message))
    return VpdFile(
        decode_text(head[1].strip(), codec),
        tuple(bones),
        tuple(morphs),
        declared,
        encoding,
        data,
        name,
        tuple(notes),
    )


def _encoding(data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    for encoding in (CP932, "utf-8"):
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return CP932


def _integer(digits: bytes) -> int:
    return int(digits) if len(digits) < 20 else 2**31


def _numbers(text: bytes, count: int) -> tuple[float, ...] | None:
    words = text.replace(b",", b" ").replace(b";", b" ").split()
    try:
        numbers = tuple(map(float, words))
    except ValueError:
        return None
    return numbers if len(numbers) == count and all(map(math.isfinite, numbers)) else None


def _line(text: bytes, at: int) -> str:
    return f"line {text.count(bytes([10]), 0, at) + 1}"


def vpd_bytes(file: VpdFile) -> bytes:
    """The bytes of the file; those it was read from, if nothing was changed.

    What was changed or made is laid out as MMD does: six decimals, or as many as the number
    needs to come back.
    """
    if file.text and read_vpd(file.text) == file:
        return file.text
    codec = file.encoding.removesuffix("-sig")
    count = len(file.bones) if file.bone_count is None else file.bone_count
    comments = ["親ファイル名", "総ポーズボーン数"]
    head, total = (encode_text(c, codec, file.source) for c in comments)
    model = encode_text(file.model, codec, f"{file.source}: model")
    pieces = [b"\xef\xbb\xbf"] if file.encoding == "utf-8-sig" else []
    pieces += [MAGIC, b"\r\n\r\n", model, b";\t\t// ", head, b"\r\n"]
    pieces += [str(count).encode(), b";\t\t\t\t// ", total, b"\r\n\r\n"]
    for i, bone in enumerate(file.bones):
        name = _name(bone.name, codec, f"{file.source}: bone {i}")
        translation, rotation = _decimals(bone.translation), _decimals(bone.rotation)
        pieces += [b"Bone%d{%b\r\n" % (i, name)]
        pieces += [b"  %b;\t\t\t\t// trans x,y,z\r\n" % translation]
        pieces += [b"  %b;\t\t// Quaternion x,y,z,w\r\n}\r\n\r\n" % rotation]
    for i, morph in enumerate(file.morphs):
        name = _name(morph.name, codec, f"{file.source}: morph {i}")
        pieces += [b"Morph%d{%b\r\n  %b;\r\n}\r\n\r\n" % (i, name, _decimals((morph.weight,)))]
    return b"".join(pieces)


def _name(name: str, codec: str, place: str) -> bytes:
    data = encode_text(name, codec, place)
    if data != data.strip() or b"\n" in data or b"\r" in data or _COMMENT.search(data):
        raise FormatError(f"{place}: {name!r}: spaces around it, line ends or // cannot be written")
    return data


def _decimals(values: tuple[float, ...]) -> bytes:
    texts = (f"{value:.6f}" for value in values)
    exact = (t if float(t) == v else repr(v) for t, v in zip(texts, values, strict=True))
    return ",".join(exact).encode()


def write_vpd(file: VpdFile, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all.

    Raises:
        FormatError: a name that the encoding cannot spell.
        OSError: the path cannot be written.
    """
    write_files({Path(path): [vpd_bytes(file)]})
