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

# A corner of a face with texture coordinates or not, with a normal or not.
_CORNERS = {
    (False, False): "%d",
    (False, True): "%d//%d",
    (True, False): "%d/%d",
    (True, True): "%d/%d/%d",
}


@dataclass(frozen=True, eq=False)
class Faces:
    """A named group of triangles over the vertices of the whole file.

    Attributes:
        name: becomes an `o` line.
        triangles: (F, 3) int32 vertices, counted from 0.
        normals, uvs: False where the file's mean nothing for its vertices: programs take what a
            face refers to for the truth, and shade by a normal of (0, 0, 0).
    """

    name: str
    triangles: Array
    normals: bool = True
    uvs: bool = True


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
        if uvs is not None and any(group.uvs for group in groups):
            yield _lines("vt", np.column_stack([uvs[:, 0], 1 - uvs[:, 1]]))
        if normals is not None and any(group.normals for group in groups):
            yield _lines("vn", normals)
        for group in groups:
            yield f"o {group.name}\n".encode()
            corner = _CORNERS[uvs is not None and group.uvs, normals is not None and group.normals]
            numbers = np.repeat(group.triangles.reshape(-1) + 1, corner.count("%d"))
            line = f"f {corner} {corner} {corner}\n"
            yield (line * len(group.triangles) % tuple(numbers.tolist())).encode()

    write_files({path: pieces()})


def _lines(keyword: str, rows: Array) -> bytes:
    line = keyword + " %.9g" * rows.shape[1] + "\n"
    text: str = line * len(rows) % tuple(rows.reshape(-1).tolist())
    return text.encode()
