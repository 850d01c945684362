"""PC2 point caches, which Blender's Mesh Cache modifier and others read."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.formats.binary import write_files


def write_pc2(
    path: Path,
    vertex_count: int,
    frame_count: int,
    frames: Iterable[npt.NDArray[Any]],
    *,
    start: float = 0.0,
    step: float = 1.0,
) -> None:
    """Write (f, V, 3) blocks of positions as a PC2 point cache.

    The file is a 32-byte header (magic ``POINTCACHE2\\0``, int32 version 1, int32 points,
    float32 start, float32 step, int32 samples; little-endian) and then float32 x, y, z of
    every point, sample after sample. `start` and `step` count in frames of the scene that
    plays the cache. Coordinates are written as they are: +Y up, metres.

    Raises:
        RigError: blocks of another vertex count, or other than `frame_count` frames in all.
    """

    def pieces() -> Iterator[bytes]:
        yield struct.pack("<12siiffi", b"POINTCACHE2\0", 1, vertex_count, start, step, frame_count)
        count = 0
        for block in frames:
            if block.shape[1:] != (vertex_count, 3):
                raise RigError(
                    f"frame {count}: expected {vertex_count} vertices, found {block.shape[1:]}"
                )
            count += len(block)
            yield np.ascontiguousarray(block, "<f4").tobytes()
        if count != frame_count:
            raise RigError(f"expected {frame_count} frames, found {count}")

    write_files({path: pieces()})
