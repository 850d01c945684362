"""Wavefront OBJ, one file per frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.formats.binary import write_files

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Faces:
    """A named group of triangles over the vertices of the whole file.

    Attributes:
        name: becomes an `o` line.
        triangles: (F, 3) int32 vertices, counted from 0.
    """

    name: str
    triangles: Array


def write_obj(
    path: Path,
    positions: Array,
    groups: Sequence[Faces],
    *,
    normals: Array | None = None,
    uvs: Array | None = None,
) -> None:
    """Write one frame: (V, 3) positions, optional (V, 3) normals and (V, 2) uvs, triangles.

    OBJ puts the origin of texture coordinates at the bottom left, so v is turned over.
    Nine digits are written: enough to give back every float32 exactly.
    """

    def pieces() -> Iterator[bytes]:
        yield b"# +Y up, metres\n"
        yield _lines("v", positions)
        if uvs is not None:
            yield _lines("vt", np.column_stack([uvs[:, 0], 1 - uvs[:, 1]]))
        if normals is not None:
            yield _lines("vn", normals)
        corner = "%d"
        if uvs is not None and normals is not None:
            corner = "%d/%d/%d"
        elif uvs is not None:
            corner = "%d/%d"
        elif normals is not None:
            corner = "%d//%d"
        for group in groups:
            yield f"o {group.name}\n".encode()
            numbers = np.repeat(group.triangles.reshape(-1) + 1, corner.count("%d"))
            line = f"f {corner} {corner} {corner}\n"
            yield (line * len(group.triangles) % tuple(numbers.tolist())).encode()

    write_files({path: pieces()})


def _lines(keyword: str, rows: Array) -> bytes:
    line = keyword + " %.9g" * rows.shape[1] + "\n"
    text: str = line * len(rows) % tuple(rows.reshape(-1).tolist())
    return text.encode()
