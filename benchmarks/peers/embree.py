"""Embree by its C interface, out of the library that embreex brings: builds, updates, bytes."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

INDEX, VERTEX = 0, 1
FLOAT3, UINT3 = 0x9003, 0x5003
LOW, MEDIUM, REFIT = 0, 1, 3
DYNAMIC, ROBUST = 1, 4


def library() -> ctypes.CDLL | None:
    """embreex's own copy of Embree 4, or None."""
    spec = find_spec("embreex")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parents[1].glob("embreex.libs/libembree4*"))
    if not found:
        return None
    import embreex.rtcore_scene  # noqa: F401  loads what the library needs

    lib = ctypes.CDLL(str(found[0]))
    for name in ("rtcNewDevice", "rtcNewScene", "rtcNewGeometry"):
        getattr(lib, name).restype = ctypes.c_void_p
    return lib


class Scene:
    """One mesh in one scene, robust, committed; `bytes` is what the device then holds."""

    def __init__(
        self, lib: ctypes.CDLL, vertices: Any, faces: Any, threads: int, moving: int | None
    ):
        self.lib, self.bytes = lib, 0
        self.vertices = np.zeros((len(vertices) + 2, 3), np.float32)  # Embree reads past the end
        self.vertices[: len(vertices)] = vertices
        self.faces = np.ascontiguousarray(faces, np.uint32)
        self.device = ctypes.c_void_p(lib.rtcNewDevice(f"threads={threads}".encode()))
        monitor = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_bool)

        def count(_: Any, size: int, __: bool) -> bool:
            self.bytes += size
            return True

        self.monitor = monitor(count)
        lib.rtcSetDeviceMemoryMonitorFunction(self.device, self.monitor, None)
        self.scene = ctypes.c_void_p(lib.rtcNewScene(self.device))
        lib.rtcSetSceneFlags(self.scene, ROBUST | (0 if moving is None else DYNAMIC))
        self.geometry = ctypes.c_void_p(lib.rtcNewGeometry(self.device, 0))
        self._share(VERTEX, FLOAT3, self.vertices, len(vertices))
        self._share(INDEX, UINT3, self.faces, len(faces))
        lib.rtcSetGeometryBuildQuality(self.geometry, MEDIUM if moving is None else moving)
        lib.rtcCommitGeometry(self.geometry)
        lib.rtcAttachGeometry(self.scene, self.geometry)
        lib.rtcCommitScene(self.scene)

    def _share(self, kind: int, form: int, array: Any, count: int) -> None:
        self.lib.rtcSetSharedGeometryBuffer(
            self.geometry,
            kind,
            0,
            form,
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_size_t(0),
            ctypes.c_size_t(12),
            ctypes.c_size_t(count),
        )

    def update(self, vertices: Any) -> None:
        self.vertices[: len(vertices)] = vertices
        self.lib.rtcUpdateGeometryBuffer(self.geometry, VERTEX, 0)
        self.lib.rtcCommitGeometry(self.geometry)
        self.lib.rtcCommitScene(self.scene)

    def release(self) -> None:
        self.lib.rtcReleaseGeometry(self.geometry)
        self.lib.rtcReleaseScene(self.scene)
        self.lib.rtcReleaseDevice(self.device)
