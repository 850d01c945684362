"""NumPy's own files, written without ever holding the whole array."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.formats.binary import write_files

Array = npt.NDArray[Any]


def write_npy(path: Path, shape: tuple[int, ...], frames: Iterable[Array]) -> None:
    """Write float32 `frames`, concatenated along the first axis, as one .npy array of `shape`.

    Raises:
        RigError: the frames that came do not add up to `shape`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> target = Path(folder.name) / "walk.npy"
    >>> write_npy(target, (3, 2, 3), (np.zeros((1, 2, 3)) for _ in range(3)))
    >>> np.load(target).shape
    (3, 2, 3)
    >>> folder.cleanup()
    """
    write_files({path: _npy_pieces(shape, frames)})


def write_npz(
    path: Path,
    shape: tuple[int, ...],
    frames: Iterable[Mapping[str, Array]],
    streamed: tuple[str, ...],
    arrays: Mapping[str, Array],
) -> None:
    """Write an uncompressed .npz: `arrays` whole, and the `streamed` names frame by frame.

    Each item of `frames` holds one block per streamed name, each concatenating to `shape`.
    A .npz holds one array after the other, so all but the first streamed array wait in an
    anonymous temporary file beside the target until the frames are through.
    """
    write_files({path: _npz_pieces(path, shape, frames, streamed, arrays)})


def _npy_header(shape: tuple[int, ...], dtype: npt.DTypeLike) -> bytes:
    stream = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue()


def _npy_pieces(shape: tuple[int, ...], frames: Iterable[Array]) -> Iterator[bytes]:
    yield _npy_header(shape, "<f4")
    count = 0
    for block in frames:
        if block.shape[1:] != shape[1:]:
            raise RigError(f"frame {count}: expected shape {shape[1:]}, found {block.shape[1:]}")
        count += len(block)
        yield np.ascontiguousarray(block, "<f4").tobytes()
    if count != shape[0]:
        raise RigError(f"expected {shape[0]} frames, found {count}")


class _Outbox(io.RawIOBase):
    """A file that only collects: zipfile writes, the generator hands on."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.pieces.append(bytes(data))
        return len(self.pieces[-1])

    def empty(self) -> Iterator[bytes]:
        yield from self.pieces
        self.pieces.clear()


def _npz_pieces(
    path: Path,
    shape: tuple[int, ...],
    frames: Iterable[Mapping[str, Array]],
    streamed: tuple[str, ...],
    arrays: Mapping[str, Array],
) -> Iterator[bytes]:
    outbox = _Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            yield from outbox.empty()
        waiting: dict[str, IO[bytes]] = {
            name: tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 - closed below
            for name in streamed[1:]
        }

        def first() -> Iterator[Array]:
            for block in frames:
                for name, file in waiting.items():
                    file.write(np.ascontiguousarray(block[name], "<f4").tobytes())
                yield block[streamed[0]]

        try:
            with archive.open(f"{streamed[0]}.npy", "w", force_zip64=True) as entry:
                for piece in _npy_pieces(shape, first()):
                    entry.write(piece)
                    yield from outbox.empty()
            for name, file in waiting.items():
                file.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    entry.write(_npy_header(shape, "<f4"))
                    while piece := file.read(1 << 20):
                        entry.write(piece)
                        yield from outbox.empty()
        finally:
            for file in waiting.values():
                file.close()
    yield from outbox.empty()
