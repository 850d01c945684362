"""Small glTF files for tests, assembled by hand: nothing of the code under test is used."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import numpy as np

CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}


class Sketch:
    """A document under construction: a JSON tree and one buffer."""

    def __init__(self, **tree: Any) -> None:
        self.tree: dict[str, Any] = {"asset": {"version": "2.0"}, **tree}
        self.data = bytearray()

    def view(self, data: bytes, **extra: Any) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        views = self.tree.setdefault("bufferViews", [])
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **extra}
        views.append(view)
        self.data += data
        return len(views) - 1

    def add(self, values: Any, dtype: str = "f4", **extra: Any) -> int:
        """An accessor over its own bufferView; scalars (n,), vectors (n, C), MAT4 (n, 4, 4)."""
        array = np.asarray(values, dtype)
        flat = array.reshape(len(array), -1)
        if array.ndim == 3:
            flat = array.transpose(0, 2, 1).reshape(len(array), -1)
        kind = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[flat.shape[1]]
        accessor: dict[str, Any] = {
            "bufferView": self.view(np.ascontiguousarray(flat).tobytes()),
            "componentType": CODES[dtype],
            "count": len(flat),
            "type": kind,
        }
        if len(flat) and kind != "MAT4" and np.isfinite(flat).all():  # JSON knows no NaN
            accessor |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        return self.accessor(**(accessor | extra))

    def accessor(self, **accessor: Any) -> int:
        accessors = self.tree.setdefault("accessors", [])
        accessors.append(accessor)
        return len(accessors) - 1

    def finished(self, uri: str | None = None) -> dict[str, Any]:
        """The tree with its buffer declared."""
        tree = dict(self.tree)
        if self.data and "buffers" not in tree:
            tree["buffers"] = [{"byteLength": len(self.data)}]
            if uri is not None:
                tree["buffers"][0]["uri"] = uri
        return tree

    def glb(self) -> bytes:
        text = json.dumps(self.finished()).encode()
        return glb(text, bytes(self.data) if self.data else None)

    def gltf(self) -> bytes:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        return json.dumps(self.finished(uri)).encode()


def chunk(kind: bytes, data: bytes, filler: bytes = b"\0") -> bytes:
    data += filler * (-len(data) % 4)
    return struct.pack("<I", len(data)) + kind + data


def glb(text: bytes, binary: bytes | None = None, *more: bytes) -> bytes:
    body = chunk(b"JSON", text, b" ")
    if binary is not None:
        body += chunk(b"BIN\0", binary)
    body += b"".join(more)
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def triangle(**attributes: Any) -> Sketch:
    """One node that shows one triangle; extra attributes are accessor arguments."""
    sketch = Sketch(
        nodes=[{"mesh": 0}],
        scenes=[{"nodes": [0]}],
        scene=0,
    )
    position = sketch.add([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    primitive: dict[str, Any] = {"attributes": {"POSITION": position}}
    for name, (values, dtype, extra) in attributes.items():
        primitive["attributes"][name] = sketch.add(values, dtype, **extra)
    sketch.tree["meshes"] = [{"primitives": [primitive]}]
    return sketch


def skinned(weights: Any, dtype: str = "f4", joints: Any = None, **skin: Any) -> Sketch:
    """A triangle held by two joints; `weights` and `joints` are (3, 4 n) tables."""
    table = np.asarray(weights)
    slots = np.tile([0, 1, 0, 0], (3, table.shape[1] // 4)) if joints is None else joints
    slots = np.asarray(slots)
    extra = {} if dtype == "f4" else {"normalized": True}
    sketch = triangle()
    attributes = sketch.tree["meshes"][0]["primitives"][0]["attributes"]
    for n in range(table.shape[1] // 4):
        four = slice(4 * n, 4 * n + 4)
        attributes[f"JOINTS_{n}"] = sketch.add(slots[:, four], "u1")
        attributes[f"WEIGHTS_{n}"] = sketch.add(table[:, four], dtype, **extra)
    sketch.tree["nodes"] = [
        {"mesh": 0, "skin": 0},
        {"name": "upper", "children": [2]},
        {"name": "lower", "translation": [0, 1, 0]},
    ]
    sketch.tree["scenes"] = [{"nodes": [0, 1]}]
    sketch.tree["skins"] = [{"joints": [1, 2], **skin}]
    return sketch


def with_positions(values: Any) -> Sketch:
    sketch = Sketch(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    position = sketch.add(values)
    sketch.tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": position}}]}]
    return sketch


def with_indices(indices: list[int], mode: int = 4, dtype: str = "u1") -> Sketch:
    sketch = with_positions(np.arange(18).reshape(6, 3))
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    primitive |= {"indices": sketch.add(indices, dtype), "mode": mode}
    return sketch


def animated(path: str, times: Any, values: Any, dtype: str = "f4", **sampler: Any) -> Sketch:
    sketch = Sketch(nodes=[{}], scenes=[{"nodes": [0]}])
    extra = {} if dtype == "f4" else {"normalized": True}
    output = sketch.add(values, dtype, **extra)
    samplers = [{"input": sketch.add(times), "output": output, **sampler}]
    channels = [{"sampler": 0, "target": {"node": 0, "path": path}}]
    sketch.tree["animations"] = [{"name": "move", "channels": channels, "samplers": samplers}]
    return sketch


def morphed() -> Sketch:
    sketch = triangle(NORMAL=([[0, 0, 1]] * 3, "f4", {}))
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    primitive["targets"] = [
        {"POSITION": sketch.add([[0, 0, 0], [0, 0, 2], [0, 0, 0]])},
        {
            "POSITION": sketch.add([[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
            "NORMAL": sketch.add([[0, 0, 0], [0, 0, 0], [0, 1, 0]]),
        },
        {"NORMAL": sketch.add([[0, 0, 0]] * 3)},
    ]
    return sketch
