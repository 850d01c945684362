"""BVH motion capture: a hierarchy with channels, and a table of their values.

Nothing is converted: offsets and positions in the unit of the file, angles in degrees, the
rotations of a joint applied in the order its channels are listed. There is no specification;
every writer has its own idea of white space, case and how many frames it declares.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note
from bunraku.formats.binary import Buffer, read_source, write_files

Array = npt.NDArray[Any]

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")
_CHANNEL = {name.lower(): name for name in CHANNELS}
_BOM = b"\xef\xbb\xbf"
_MOTION = re.compile(rb"(?:^|[\r\n])[ \t]*MOTION\b", re.IGNORECASE)
_HEAD = re.compile(rb"\s*Frames\s*:\s*(\d{1,18})\s+Frame\s*Time\s*:\s*(\S+)", re.IGNORECASE)
_INDENT = 24  # deeper levels are not indented further, so that a chain stays linear in size


@dataclass(frozen=True, slots=True)
class BvhJoint:
    """A joint, or the end of a bone.

    Attributes:
        parent: an earlier joint, -1 for a root.
        offset: from the parent.
        channels: names as in `CHANNELS`, in the order their rotations are applied.
        is_end: an `End Site`: where the bone ends, without channels.
    """

    name: str
    parent: int = -1
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    channels: tuple[str, ...] = ()
    is_end: bool = False


@dataclass(frozen=True, eq=False)
class BvhFile:
    """A BVH motion as it is in the file. Treat it as immutable.

    Attributes:
        joints: depth first, as in the file.
        frame_time: seconds.
        values: (F, C) float64: channels of all joints one after the other; gaps may be NaN.
        declared_frames: what the file says; None for just as many as there are.
        encoding: of the names.
        text: the file as read; written again as long as the rest still says the same.
        source: name of the file, for messages.
        notes: what was irregular but readable.
    """

    joints: tuple[BvhJoint, ...] = field(repr=False)
    frame_time: float
    values: Array = field(repr=False)
    declared_frames: int | None = None
    encoding: str = "utf-8"
    text: bytes = field(default=b"", repr=False)
    source: str = "BVH"
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for i, joint in enumerate(self.joints):
            if not -1 <= joint.parent < i or (joint.is_end and joint.channels):
                raise FormatError(
                    f"{self.source}: joint {i}: expected an earlier parent, and no channels at an"
                    f" end; found {joint.parent} and {joint.channels}"
                )
        width = sum(len(joint.channels) for joint in self.joints)
        if self.values.ndim != 2 or self.values.shape[1] != width:
            raise FormatError(
                f"{self.source}: values: expected (F, {width}), found {self.values.shape}"
            )

    @property
    def first_channels(self) -> Array:
        """(J,) column of `values` where the channels of each joint begin."""
        return np.cumsum([0] + [len(joint.channels) for joint in self.joints])[:-1]


def read_bvh(source: str | os.PathLike[str] | Buffer, *, name: str = "") -> BvhFile:
    """Read a BVH motion.

    Any order of channels, any white space, `End Site` with or without, several roots. All
    whole frames there are are kept, whatever number was declared (a Note tells).

    Args:
        source: a path, or the bytes themselves.
        name: what to call the file in messages; the file name by default.

    Raises:
        FormatError: the text is no BVH, or ends within a frame.
        OSError: the path cannot be read.

    >>> motion = read_bvh(
    ...     b"HIERARCHY ROOT Hips { OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation }\\n"
    ...     b"MOTION Frames: 2 Frame Time: 0.04  10 20 30  1e1 -.5 0"
    ... )
    >>> motion.joints[0].channels, motion.values.tolist()
    (('Zrotation', 'Xrotation', 'Yrotation'), [[10.0, 20.0, 30.0], [10.0, -0.5, 0.0]])
    """
    data, name = read_source(source, name, "BVH")
    motion = _MOTION.search(data)
    if motion is None:
        raise FormatError(f"{name}: expected a line MOTION, found none")
    hierarchy, encoding = _decode(data[: motion.start()])
    joints = _read_hierarchy(hierarchy, name)
    head = _HEAD.match(data, motion.end())
    if head is None:
        found = data[motion.end() :][:40].split()
        raise FormatError(f"{name}: MOTION: expected 'Frames:' and 'Frame Time:', found {found}")
    frame_time = _number(head[2], f"{name}: frame time")
    width = sum(len(joint.channels) for joint in joints)
    values = _read_values(data[head.end() :], width, name)
    declared, notes = int(head[1]), []
    if declared != len(values):
        message = f"{declared} frames are declared, {len(values)} are there"
        notes.append(Note("frame-count", message, "MOTION"))
    return BvhFile(joints, frame_time, values, declared, encoding, data, name, tuple(notes))


def _decode(hierarchy: bytes) -> tuple[str, str]:
    encodings = ("utf-8-sig",) if hierarchy.startswith(_BOM) else ("utf-8", "cp932")
    for encoding in encodings:
        try:
            return hierarchy.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return hierarchy.decode("latin-1"), "latin-1"


def _is_number(word: str | bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _number(word: str | bytes, place: str) -> float:
    if not _is_number(word) or not math.isfinite(float(word)):
        raise FormatError(f"{place}: expected a number, found {word[:40]!r}")
    return float(word)


def _read_hierarchy(text: str, source: str) -> tuple[BvhJoint, ...]:
    words = iter(text.replace("{", " { ").replace("}", " } ").split())
    joints: list[BvhJoint] = []
    open_joints: list[int] = []

    def place() -> str:
        return f"{source}: joint {open_joints[-1]}" if open_joints else f"{source}: HIERARCHY"

    def following(what: str) -> str:
        word = next(words, None)
        if word is None:
            raise FormatError(f"{place()}: expected {what}, found MOTION")
        return word

    if next(words, "").upper() != "HIERARCHY":
        raise FormatError(f"{source}: expected HIERARCHY, found {text[:24]!r}")
    offsets: dict[int, tuple[float, ...]] = {}
    channels: dict[int, tuple[str, ...]] = {}
    names: list[tuple[str, int, bool]] = []
    for word in words:
        keyword = word.upper()
        current = open_joints[-1] if open_joints else -1
        if keyword in ("ROOT", "JOINT", "END"):
            if (keyword == "ROOT") is (current >= 0) or (current >= 0 and names[current][2]):
                raise FormatError(f"{place()}: {word} is not expected here")
            label = []
            while (part := following("'{'")) != "{":
                label.append(part)
            names.append((" ".join(label), current, keyword == "END"))
            open_joints.append(len(names) - 1)
        elif keyword == "}" and open_joints:
            open_joints.pop()
        elif keyword == "OFFSET" and current >= 0 and current not in offsets:
            offsets[current] = tuple(
                _number(following("OFFSET x y z"), f"{place()}: OFFSET") for _ in range(3)
            )
        elif keyword == "CHANNELS" and current >= 0 and current not in channels:
            count = _number(following("a number of channels"), f"{place()}: CHANNELS")
            if count not in range(7):
                raise FormatError(f"{place()}: CHANNELS: expected 0 to 6, found {count:g}")
            found = [following("a channel") for _ in range(int(count))]
            unknown = [channel for channel in found if channel.lower() not in _CHANNEL]
            if unknown:
                raise FormatError(f"{place()}: CHANNELS: unknown {unknown[0][:40]!r}")
            channels[current] = tuple(_CHANNEL[channel.lower()] for channel in found)
        else:
            raise FormatError(f"{place()}: {word[:40]!r} is not expected here")
    if open_joints:
        raise FormatError(f"{place()}: expected '}}', found MOTION")
    for i, (joint, parent, is_end) in enumerate(names):
        if i not in offsets:
            raise FormatError(f"{source}: joint {i} ({joint[:40]}): expected an OFFSET, found none")
        joints.append(BvhJoint(joint, parent, offsets[i], channels.get(i, ()), is_end))
    return tuple(joints)


def _read_values(text: bytes, width: int, source: str) -> Array:
    text = text.rstrip(b" \t\r\n\0\x1a")
    if text and width:
        # a table of one frame to a line is the rule, and NumPy reads it twice as fast
        with suppress(ValueError):
            table = np.loadtxt(io.BytesIO(text), comments=None, ndmin=2)
            if table.shape[1] == width:
                return table
    words = text.split()
    try:
        values = np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        i = next(i for i, word in enumerate(words) if not _is_number(word))
        frame, channel = divmod(i, max(width, 1))
        place = f"{source}: frame {frame}, channel {channel}"
        raise FormatError(f"{place}: expected a number, found {words[i][:40]!r}") from None
    frames, left = divmod(len(words), width) if width else (0, len(words))
    if left:
        raise FormatError(f"{source}: frame {frames}: expected {width} values, found {left}")
    return values.reshape(frames, width)


def bvh_bytes(file: BvhFile) -> bytes:
    """The bytes of the file; those it was read from, if nothing was changed.

    Numbers that were changed or made have as many digits as they need to come back.
    """
    if file.text and _same(read_bvh(file.text), file):
        return file.text
    frames = len(file.values) if file.declared_frames is None else file.declared_frames
    lines = ["HIERARCHY", *_hierarchy_lines(file), "MOTION", f"Frames: {frames}"]
    lines.append(f"Frame Time: {file.frame_time!r}")
    lines += [" ".join(map(repr, row)) for row in file.values.tolist()]
    try:
        return ("\n".join(lines) + "\n").encode(file.encoding)
    except UnicodeEncodeError as error:
        letter = error.object[error.start : error.start + 1]
        raise FormatError(
            f"{file.source}: {letter!r} cannot be written as {file.encoding}"
        ) from None


def _same(one: BvhFile, other: BvhFile) -> bool:
    return (
        one.joints == other.joints
        and one.frame_time == other.frame_time
        and one.declared_frames == other.declared_frames
        and one.encoding == other.encoding
        and np.array_equal(one.values, other.values, equal_nan=True)
    )


def _hierarchy_lines(file: BvhFile) -> Iterator[str]:
    opened: list[int] = []
    for i, joint in enumerate(file.joints):
        while opened and opened[-1] != joint.parent:
            opened.pop()
            yield "\t" * min(len(opened), _INDENT) + "}"
        if joint.parent >= 0 and not opened:
            raise FormatError(f"{file.source}: joint {i}: joints are not depth first")
        if joint.name != " ".join(joint.name.split()) or set(joint.name) & set("{}"):
            raise FormatError(f"{file.source}: joint {i}: {joint.name!r} cannot be written")
        indent = "\t" * min(len(opened), _INDENT)
        keyword = "End" if joint.is_end else "JOINT" if opened else "ROOT"
        yield f"{indent}{keyword} {joint.name}"
        yield indent + "{"
        opened.append(i)
        indent = "\t" * min(len(opened), _INDENT)
        yield f"{indent}OFFSET " + " ".join(map(repr, joint.offset))
        if not joint.is_end:
            yield f"{indent}CHANNELS {len(joint.channels)} " + " ".join(joint.channels)
    while opened:
        opened.pop()
        yield "\t" * min(len(opened), _INDENT) + "}"


def write_bvh(file: BvhFile, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all.

    Raises:
        FormatError: joints that are not depth first, or a name that cannot be written.
        OSError: the path cannot be written.
    """
    write_files({Path(path): [bvh_bytes(file)]})
