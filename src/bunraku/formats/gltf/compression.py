"""Compressed geometry: meshopt bufferViews and Draco primitives.

Specification: EXT_meshopt_compression, KHR_meshopt_compression, KHR_draco_mesh_compression.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.binary import Buffer

Array = npt.NDArray[Any]


def decode_meshopt(data: Buffer, packed: dict[str, Any], where: str) -> memoryview:
    """Bytes of a bufferView from its meshopt stream.

    Args:
        data: the compressed bytes.
        packed: the extension object (mode, filter, count, byteStride).
        where: file and place, for errors.
    """
    try:
        from bunraku._core import meshopt  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        raise UnsupportedError(
            f"{where}: meshopt data needs the compiled core, which this installation lacks"
        ) from None
    count, stride, mode = packed["count"], packed["byteStride"], packed["mode"]
    source = np.frombuffer(data, np.uint8)
    try:
        if mode == "ATTRIBUTES":
            decoded = meshopt.decode_vertex(source, count, stride)
        elif mode == "TRIANGLES":
            decoded = meshopt.decode_triangles(source, count, stride)
        else:
            decoded = meshopt.decode_indices(source, count, stride)
        name = packed.get("filter", "NONE")
        if name != "NONE":
            meshopt.apply_filter(decoded, count, stride, name)
    except ValueError as error:
        raise FormatError(f"{where}: malformed {mode} stream: {error}") from None
    return memoryview(decoded)  # type: ignore[arg-type, unused-ignore]


def decode_draco(
    data: Buffer, attributes: dict[str, int], where: str
) -> tuple[Array, dict[str, Array]]:
    """Faces (F, 3) and attribute arrays (V, C) of a Draco mesh.

    Args:
        data: the compressed bytes.
        attributes: semantic → unique id, as in the extension object.
        where: file and place, for errors.
    """
    try:
        import DracoPy  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UnsupportedError(
            f"{where}: Draco data needs DracoPy: pip install 'bunraku[draco]'"
        ) from None
    try:
        mesh = DracoPy.decode(bytes(data))
    except Exception as error:  # whatever the decoder raises, the data are at fault
        raise FormatError(f"{where}: malformed Draco data: {error}") from None
    faces = getattr(mesh, "faces", None)
    if faces is None:
        raise FormatError(f"{where}: expected a Draco mesh, found a point cloud")
    by_id = {attribute["unique_id"]: attribute["data"] for attribute in mesh.attributes}
    arrays = {}
    for name, unique_id in attributes.items():
        if unique_id not in by_id:
            raise FormatError(
                f"{where}: {name[:80]}: expected one of the Draco attributes"
                f" {sorted(by_id)[:16]}, found {unique_id}"
            )
        arrays[name] = np.asarray(by_id[unique_id])
    return np.asarray(faces).reshape(-1, 3), arrays
