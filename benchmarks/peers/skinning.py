"""Peers of linear-blend and dual-quaternion skinning, as many as are installed."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import numba
except ImportError:
    numba = None
try:
    import scipy.sparse
except ImportError:
    scipy = None
try:
    import igl
except ImportError:
    igl = None
try:
    import torch
except ImportError:
    torch = None
try:
    import warp
except ImportError:
    warp = None

from benchmarks.harness import Contender
from bunraku.model import Geometry


def contenders(
    geometry: Geometry, palette: Any, method: str, oriented: bool, threads: int
) -> dict[str, Contender]:
    """Each returns (F, V, 3) positions; normals are computed beside them where `oriented`.

    Those that know one thread only take part in the cases of one thread.
    """
    peers: dict[str, Contender] = {}
    if numba is not None:
        peers["numba"] = _numba(geometry, palette, method, oriented, threads)
    if method != "lbs":
        return peers
    if threads == 1:
        peers["numpy"] = lambda: _numpy(geometry, palette, oriented)
    if oriented:
        return peers
    if scipy is not None and threads == 1:
        peers["scipy"] = _scipy(geometry, palette)
    if igl is not None and threads == 2:  # its product takes all threads BLAS has
        peers["igl"] = _igl(geometry, palette)
    if torch is not None:
        peers["torch"] = _torch(geometry, palette, threads)
    if warp is not None and threads == 1:
        peers["warp"] = _warp(geometry, palette)
    return peers


def _numpy(geometry: Geometry, palette: Any, oriented: bool) -> Any:
    """Frame by frame: gather, blend, transform."""
    out = np.empty((len(palette), geometry.vertex_count, 3), np.float32)
    for f, matrices in enumerate(palette):
        blend = np.einsum("vk,vkrc->vrc", geometry.weights, matrices[geometry.joints])
        out[f] = np.einsum("vrc,vc->vr", blend[..., :3], geometry.positions) + blend[..., 3]
        if oriented:
            a, b, c = blend[:, 0, :3], blend[:, 1, :3], blend[:, 2, :3]
            cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
            normals = np.einsum("vrc,vc->vr", cofactors, geometry.normals)
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return out


def _scipy(geometry: Geometry, palette: Any) -> Contender:
    """One sparse (V, 4J) matrix of weighted coordinates times the whole motion (4J, 3F)."""
    count = geometry.vertex_count
    homogeneous = np.concatenate([geometry.positions, np.ones((count, 1), np.float32)], axis=1)
    data = geometry.weights[..., None] * homogeneous[:, None]
    columns = geometry.joints[..., None] * 4 + np.arange(4)
    starts = np.arange(count + 1) * columns[0].size
    matrix = scipy.sparse.csr_array(
        (data.ravel(), columns.ravel(), starts), (count, 4 * palette.shape[1]), dtype=np.float32
    )
    moves = np.ascontiguousarray(palette.transpose(1, 3, 0, 2).reshape(4 * palette.shape[1], -1))
    return lambda: (matrix @ moves).reshape(count, len(palette), 3).transpose(1, 0, 2)


def _igl(geometry: Geometry, palette: Any) -> Contender:
    """The same with libigl's dense matrix."""
    weights = np.zeros((geometry.vertex_count, palette.shape[1]))
    np.put_along_axis(weights, geometry.joints, geometry.weights, axis=1)
    dense = igl.lbs_matrix(geometry.positions.astype(np.float64), weights).astype(np.float32)
    moves = np.ascontiguousarray(palette.transpose(1, 3, 0, 2).reshape(4 * palette.shape[1], -1))
    count = geometry.vertex_count
    return lambda: (dense @ moves).reshape(count, len(palette), 3).transpose(1, 0, 2)


def _torch(geometry: Geometry, palette: Any, threads: int) -> Contender:
    torch.set_num_threads(threads)
    weights = torch.zeros((geometry.vertex_count, palette.shape[1]))
    weights.scatter_(
        1, torch.tensor(geometry.joints, dtype=torch.int64), torch.tensor(geometry.weights)
    )
    matrices, positions = torch.tensor(palette), torch.tensor(geometry.positions)

    def skin() -> Any:
        blend = (weights @ matrices.reshape(len(palette), palette.shape[1], 12)).reshape(
            len(palette), -1, 3, 4
        )
        moved = (blend[..., :3] @ positions[..., None])[..., 0] + blend[..., 3]
        return moved.numpy()

    return skin


def _warp(geometry: Geometry, palette: Any) -> Contender:
    warp.config.quiet = True
    warp.init()
    shape = (len(palette), geometry.vertex_count, 3)
    given = [
        warp.array(palette.reshape(len(palette), palette.shape[1], 12), dtype=float, device="cpu"),
        warp.array(geometry.joints, dtype=int, device="cpu"),
        warp.array(geometry.weights, dtype=float, device="cpu"),
        warp.array(geometry.positions, dtype=float, device="cpu"),
        warp.empty(shape, dtype=float, device="cpu"),
    ]

    def skin() -> Any:
        warp.launch(warp_lbs, dim=shape[:2], inputs=given, device="cpu")
        return given[-1].numpy()

    return skin


if warp is not None:

    @warp.kernel
    def warp_lbs(
        palette: warp.array3d(dtype=float),  # type: ignore[valid-type]
        joints: warp.array2d(dtype=int),  # type: ignore[valid-type]
        weights: warp.array2d(dtype=float),  # type: ignore[valid-type]
        positions: warp.array2d(dtype=float),  # type: ignore[valid-type]
        out: warp.array3d(dtype=float),  # type: ignore[valid-type]
    ) -> None:
        """One thread a vertex and frame."""
        f, v = warp.tid()
        x, y, z = positions[v, 0], positions[v, 1], positions[v, 2]
        for r in range(3):
            total = float(0.0)  # noqa: UP018  a variable, to Warp
            for k in range(4):
                j = joints[v, k]
                total += weights[v, k] * (
                    palette[f, j, 4 * r] * x
                    + palette[f, j, 4 * r + 1] * y
                    + palette[f, j, 4 * r + 2] * z
                    + palette[f, j, 4 * r + 3]
                )
            out[f, v, r] = total


def _numba(
    geometry: Geometry, palette: Any, method: str, oriented: bool, threads: int
) -> Contender:
    from benchmarks.peers import skinning_numba as kernels

    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    shape = (len(palette), geometry.vertex_count, 3)
    out, directions = np.empty(shape, np.float32), np.empty(shape, np.float32)
    positions, normals, held = (
        geometry.positions,
        geometry.normals,
        (geometry.joints, geometry.weights),
    )
    matrices = palette.reshape(len(palette), -1, 12)
    duals = kernels.dual_quaternions(palette)

    def skin() -> Any:
        if method == "dqs":
            kernels.dqs(positions, normals, *held, duals, out, directions, oriented)
        elif oriented:
            kernels.lbs_normals(positions, normals, *held, matrices, out, directions)
        else:
            kernels.lbs(positions, *held, matrices, out)
        return out

    return skin
