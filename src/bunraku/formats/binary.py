"""Reading bytes that nobody vouches for, and writing files that are never half there.

Every size a file declares is compared with the bytes that exist before anything is
allocated: `ByteReader` does it for cursors, `Budget` for data a file may describe
without holding it (zero-filled or compressed arrays).
"""

from __future__ import annotations

import errno
import os
import secrets
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError

Buffer = bytes | memoryview

# The promise of the library: reading a file never needs more than this.
BUDGET_FACTOR = 64
BUDGET_FLOOR = 16 * 2**20


class ByteReader:
    """A little-endian cursor that refuses to leave its bytes.

    Args:
        data: the bytes to read; never copied.
        source: name of the file, for error messages.

    >>> reader = ByteReader(b"\\x02\\x00\\x00\\x00\\x07\\x08", "tiny.bin")
    >>> count = reader.u32("count")
    >>> reader.array(np.uint8, count, "values").tolist()
    [7, 8]
    >>> reader.u8("one more")
    Traceback (most recent call last):
        ...
    bunraku.errors.FormatError: tiny.bin: one more at byte 0x6: needs 1 byte, but 0 are left
    """

    __slots__ = ("data", "position", "source")

    def __init__(self, data: Buffer, source: str) -> None:
        self.data = memoryview(data)
        self.source = source
        self.position = 0

    @property
    def remaining(self) -> int:
        """Bytes between the cursor and the end."""
        return len(self.data) - self.position

    def error(self, what: str, problem: str) -> FormatError:
        """A `FormatError` that names the file, the thing being read and the byte it starts at."""
        return FormatError(f"{self.source}: {what} at byte {self.position:#x}: {problem}")

    def take(self, size: int, what: str) -> memoryview:
        """The next `size` bytes as a view."""
        if size < 0 or size > self.remaining:
            unit = "byte" if size == 1 else "bytes"
            raise self.error(what, f"needs {size} {unit}, but {self.remaining} are left")
        view = self.data[self.position : self.position + size]
        self.position += size
        return view

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        """Values of a `struct` layout, little-endian and without padding."""
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout), what))

    def u8(self, what: str) -> int:
        return self.take(1, what)[0]

    def u16(self, what: str) -> int:
        return int.from_bytes(self.take(2, what), "little")

    def u32(self, what: str) -> int:
        return int.from_bytes(self.take(4, what), "little")

    def i32(self, what: str) -> int:
        return int.from_bytes(self.take(4, what), "little", signed=True)

    def f32(self, what: str) -> float:
        return float(self.unpack("f", what)[0])

    def array(self, dtype: npt.DTypeLike, count: int, what: str) -> npt.NDArray[Any]:
        """`count` values as a read-only array over the file's own bytes (no copy)."""
        kind = np.dtype(dtype).newbyteorder("<")
        view = np.frombuffer(self.take(count * kind.itemsize, what), dtype=kind)
        view.flags.writeable = False
        return view

    def fits(self, count: int, size: int, what: str) -> int:
        """`count` itself, once as many records of at least `size` bytes can still follow."""
        if count < 0 or count * size > self.remaining:
            raise self.error(
                what, f"{count} are declared, but {self.remaining} bytes hold {size} or more each"
            )
        return count


class Budget:
    """What reading one file may still allocate: 64 × its size + 16 MB in all.

    Compression and zero-filled arrays let a small file describe enormous data; whoever
    is about to allocate for such a description spends here first.

    >>> budget = Budget(1000, "bomb.gltf")
    >>> budget.spend(10**9, "accessors[0]")
    Traceback (most recent call last):
        ...
    bunraku.errors.FormatError: bomb.gltf: accessors[0]: needs 1000000000 bytes, but a file \
of 1000 bytes is granted 16841216 (64 times its size and 16 MB)
    """

    __slots__ = ("file_size", "granted", "left", "source")

    def __init__(self, file_size: int, source: str) -> None:
        self.source = source
        self.file_size = file_size
        self.granted = self.left = BUDGET_FACTOR * file_size + BUDGET_FLOOR

    def spend(self, size: int, place: str) -> None:
        """Account for `size` bytes about to be allocated for `place`; raises `FormatError`."""
        if size > self.left:
            raise FormatError(
                f"{self.source}: {place}: needs {size} bytes"
                + ("" if self.left == self.granted else f" with {self.left} left")
                + f", but a file of {self.file_size} bytes is granted {self.granted}"
                " (64 times its size and 16 MB)"
            )
        self.left -= size


def read_source(
    source: str | os.PathLike[str] | Buffer, name: str, fallback: str
) -> tuple[bytes, str]:
    """The bytes of a path, or those given, and what to call them in messages.

    >>> read_source(b"data", "", "VMD")
    (b'data', 'VMD')
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return path.read_bytes(), name or path.name
    return bytes(source), name or fallback


def folder_of(source: str | os.PathLike[str] | Buffer) -> Path | None:
    """Where files beside a source are; None for bytes, which lie nowhere."""
    return Path(source).parent if isinstance(source, str | os.PathLike) else None


def write_files(files: Mapping[Path, Iterable[Buffer]]) -> None:
    """Write files whole: temporary siblings first, renamed in order when all are complete.

    Args:
        files: content of each file as pieces; the file others refer to comes first, the one
            that refers to them last.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for path, pieces in files.items():
            target = Path(os.path.realpath(path))  # a link stays a link
            if not target.parent.is_dir():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
            temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.tmp")
            with open(temporary, "xb") as handle:
                staged.append((temporary, target))
                for piece in pieces:
                    handle.write(piece)
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o7777)
        for temporary, target in staged:
            os.replace(temporary, target)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
