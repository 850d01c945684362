"""VMD motions: key frames of bones, morphs, camera, light, self-shadow and switches.

Keys stay the records of the file, as structured arrays over its own bytes: left-handed
space, frames at 30 per second, names as cp932 fields (`text.name_keys`), interpolation as
raw bytes (`vmd_curves` decodes them). Layout: as read by MikuMikuDance 9 and cross-checked
in babylon-mmd, nanoem, saba and mmd-anim; there is no specification.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, UnsupportedError
from bunraku.formats.binary import Buffer, ByteReader, read_source, write_files
from bunraku.formats.mmd.text import decode_field, encode_field

Array = npt.NDArray[Any]

MAGIC = b"Vocaloid Motion Data 0002"
OLD_MAGIC = b"Vocaloid Motion Data file"
MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)  # odd, of mixed bits
CAMERA_MODEL = "カメラ・照明"  # model name of a motion for camera and light

BONE_KEY = np.dtype(
    [
        ("name", "S15"),
        ("frame", "<u4"),
        ("translation", "<f4", (3,)),  # offset from rest
        ("rotation", "<f4", (4,)),  # x, y, z, w; all zero means identity
        ("interpolation", "u1", (64,)),
    ]
)
MORPH_KEY = np.dtype([("name", "S15"), ("frame", "<u4"), ("weight", "<f4")])
CAMERA_KEY = np.dtype(
    [
        ("frame", "<u4"),
        ("distance", "<f4"),  # negative: in front of the centre
        ("centre", "<f4", (3,)),
        ("rotation", "<f4", (3,)),  # radians
        ("interpolation", "u1", (24,)),
        ("fov", "<u4"),  # degrees
        ("projection", "u1"),  # 0 perspective
    ]
)
LIGHT_KEY = np.dtype([("frame", "<u4"), ("colour", "<f4", (3,)), ("direction", "<f4", (3,))])
# mode 0 off, 1, 2; the distance MMD shows is 10000 - 100000 * distance
SHADOW_KEY = np.dtype([("frame", "<u4"), ("mode", "u1"), ("distance", "<f4")])
IK_STATE = np.dtype([("name", "S20"), ("enabled", "u1")])

_SECTIONS = (
    ("bones", BONE_KEY),
    ("morphs", MORPH_KEY),
    ("cameras", CAMERA_KEY),
    ("lights", LIGHT_KEY),
    ("shadows", SHADOW_KEY),
)


def _none(dtype: np.dtype[Any]) -> Callable[[], Array]:
    return lambda: np.empty(0, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class PropertyKey:
    """Visibility and IK switches from one frame on.

    Attributes:
        frame: 30 per second.
        visible: 0 hides the model.
        ik: (n,) `IK_STATE`, one for each IK bone of the model.
    """

    frame: int
    visible: int
    ik: Array = field(default_factory=_none(IK_STATE), repr=False)


@dataclass(frozen=True, eq=False)
class VmdFile:
    """A VMD motion as it is in the file. Treat it as immutable.

    Attributes:
        model_name: the model it was made for; `CAMERA_MODEL` for camera and light.
        bones, morphs, cameras, lights, shadows: (N,) records `BONE_KEY` … `SHADOW_KEY`, in
            file order, which is not the order of time.
        properties: visibility and IK switches.
        header: the 30 bytes before the model name; 10 bytes of name follow the old magic.
        sections: how many of the six sections the file has; old and odd files end early.
        trailing: bytes after the last section.
        source: name of the file, for messages.
        notes: what was irregular but readable.
    """

    model_name: str = ""
    bones: Array = field(default_factory=_none(BONE_KEY), repr=False)
    morphs: Array = field(default_factory=_none(MORPH_KEY), repr=False)
    cameras: Array = field(default_factory=_none(CAMERA_KEY), repr=False)
    lights: Array = field(default_factory=_none(LIGHT_KEY), repr=False)
    shadows: Array = field(default_factory=_none(SHADOW_KEY), repr=False)
    properties: tuple[PropertyKey, ...] = field(default=(), repr=False)
    header: bytes = MAGIC.ljust(30, b"\0")
    sections: int = 6
    trailing: bytes = field(default=b"", repr=False)
    source: str = "VMD"
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name, dtype in _SECTIONS:
            keys = getattr(self, name)
            if keys.ndim != 1 or keys.dtype != dtype:
                raise FormatError(f"{self.source}: {name}: expected (N,) records of {dtype}")


def read_vmd(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> VmdFile:
    """Read a VMD motion.

    Args:
        source: a path, or the bytes themselves.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: more is declared than the file holds.
        UnsupportedError: the magic is of no known version.
        OSError: the path cannot be read.

    >>> motion = read_vmd(vmd_bytes(VmdFile("初音ミク", bones=np.zeros(2, BONE_KEY))))
    >>> motion.model_name, len(motion.bones), motion.sections
    ('初音ミク', 2, 6)
    """
    data, name = read_source(source, name, "VMD")
    reader = ByteReader(data, name)
    header = bytes(reader.take(min(30, len(data)), "header"))
    if not header.startswith((MAGIC, OLD_MAGIC)):
        raise UnsupportedError(f"{name}: expected {MAGIC.decode()!r}, found {header[:25]!r}")
    model = bytes(reader.take(_model_size(header), "model name"))
    sections: dict[str, Any] = {}
    for section, dtype in _SECTIONS:
        if reader.remaining < 4:
            break
        count = reader.fits(reader.u32(f"{section} count"), dtype.itemsize, section)
        sections[section] = reader.array(dtype, count, section)
    found = len(sections)
    if found == len(_SECTIONS) and reader.remaining >= 4:
        sections["properties"] = _read_properties(reader)
        found += 1
    trailing = bytes(reader.take(reader.remaining, "rest"))
    notes = []
    if trailing:
        notes.append(Note("trailing-bytes", f"{len(trailing)} bytes follow the last section"))
    return VmdFile(
        decode_field(model),
        **sections,
        header=header,
        sections=found,
        trailing=trailing,
        source=name,
        notes=tuple(notes),
    )


def _model_size(header: bytes) -> int:
    return 10 if header.startswith(OLD_MAGIC) else 20


def _read_properties(reader: ByteReader) -> tuple[PropertyKey, ...]:
    count = reader.fits(reader.u32("property count"), 9, "properties")
    keys, none = [], np.empty(0, IK_STATE)
    for i in range(count):
        what = f"property {i}"
        frame, visible, states = reader.unpack("IBI", what)
        reader.fits(states, IK_STATE.itemsize, what)
        ik = reader.array(IK_STATE, states, what) if states else none
        keys.append(PropertyKey(frame, visible, ik))
    return tuple(keys)


def vmd_bytes(file: VmdFile) -> bytes:
    """The bytes of the file; those it was read from, if nothing was changed."""
    if len(file.header) != 30 or not file.header.startswith((MAGIC, OLD_MAGIC)):
        raise FormatError(f"{file.source}: header: expected 30 bytes that start with a VMD magic")
    size = _model_size(file.header)
    pieces = [file.header, encode_field(file.model_name, size, f"{file.source}: model name")]
    filled = [i + 1 for i, (name, _) in enumerate(_SECTIONS) if len(getattr(file, name))]
    sections = 6 if file.properties else max([file.sections, *filled])
    for name, _ in _SECTIONS[:sections]:
        keys = getattr(file, name)
        pieces += [len(keys).to_bytes(4, "little"), keys.tobytes()]
    if sections == 6:
        pieces.append(len(file.properties).to_bytes(4, "little"))
        for i, key in enumerate(file.properties):
            what = f"{file.source}: property {i}"
            if key.ik.dtype != IK_STATE or not 0 <= key.frame < 2**32 or not 0 <= key.visible < 256:
                raise FormatError(f"{what}: a frame, an 8-bit visibility and IK_STATE are expected")
            pieces += [key.frame.to_bytes(4, "little"), bytes([key.visible])]
            pieces += [len(key.ik).to_bytes(4, "little"), key.ik.tobytes()]
    return b"".join([*pieces, file.trailing])


def write_vmd(file: VmdFile, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all.

    Raises:
        FormatError: a name that cp932 cannot spell.
        OSError: the path cannot be written.
    """
    write_files({Path(path): [vmd_bytes(file)]})


def tracks(keys: Array) -> dict[bytes, Array]:
    """Which keys belong to which name.

    Args:
        keys: (N,) records with `name` and `frame`.

    Returns:
        For each name (`text.name_key`), in order of first appearance: its keys by frame,
        as indices; keys of the same frame stay in file order.

    >>> keys = np.array([(b"b", 3, 0), (b"a", 1, 0), (b"b", 2, 0)], MORPH_KEY)
    >>> {name: order.tolist() for name, order in tracks(keys).items()}
    {b'b': [2, 0], b'a': [1]}
    """
    first, owner = _distinct(keys["name"])
    numbers: dict[bytes, int] = {}
    merged = np.empty(len(first), np.int64)  # fields that differ after the first NUL are one name
    for number in np.argsort(first).tolist():
        raw = bytes(keys["name"][first[number]]).partition(b"\0")[0]
        merged[number] = numbers.setdefault(raw, len(numbers))
    owner = merged[owner]
    order = np.lexsort((keys["frame"], owner))
    ends = np.cumsum(np.bincount(owner, minlength=len(numbers)))
    return dict(zip(numbers, np.split(order, ends[:-1]), strict=True)) if numbers else {}


def _distinct(names: Array) -> tuple[Array, Array]:
    """Where each field of 15 bytes is first, and which of them each is.

    By sums of two words, which takes half as long as a dictionary of 100,000 names does.
    """
    padded = np.zeros(len(names), "S16")
    padded[:] = names
    words = padded.view(np.uint64).reshape(-1, 2)
    sums = words[:, 0] * MIXERS[0] + words[:, 1] * MIXERS[1]
    _, first, owner = np.unique(sums, return_index=True, return_inverse=True)
    if (words != words[first][owner]).any():  # two of them have the same sum
        _, first, owner = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return first, owner
