"""Forward kinematics: local transforms of a whole motion down a hierarchy of joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

try:
    import numba
    from numba import prange
except ImportError:
    numba = None
    prange = range

from benchmarks.harness import Contender, Row, compare, table
from bunraku import _core
from bunraku.posing import forward_kinematics

JOINTS = 100


def run() -> Iterator[str]:
    """Yield one table: float32 and float64, one thread and two, short and long motions."""
    rows = []
    for frames in (64, 10_000):
        for dtype in (np.float32, np.float64):
            for threads in (1, 2):
                case = f"{frames} frames, {np.dtype(dtype).name}, {threads} thread(s)"
                contenders = _contenders(*_motion(frames, dtype), threads)
                rows.append(Row(case, compare(contenders), frames * JOINTS))
    _core.set_thread_count(0)
    yield table(f"Forward kinematics of {JOINTS} joints", "joints per second", rows)


def _motion(frames: int, dtype: type) -> tuple[Any, ...]:
    rng = np.random.default_rng(20)
    rotations = rng.normal(size=(frames, JOINTS, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    translations = rng.normal(size=(frames, JOINTS, 3))
    scales = rng.uniform(0.9, 1.1, (frames, JOINTS, 3))
    parents = np.array([-1] + [max(0, i - rng.integers(1, 5)) for i in range(1, JOINTS)], np.int32)
    return (*(a.astype(dtype) for a in (translations, rotations, scales)), parents)


def _contenders(t: Any, r: Any, s: Any, parents: Any, threads: int) -> dict[str, Contender]:
    _core.set_thread_count(threads)
    order = np.arange(JOINTS, dtype=np.int32)
    contenders: dict[str, Contender] = {
        "bunraku": lambda: forward_kinematics(t, r, s, parents, order),
        "numpy": lambda: numpy_kinematics(t, r, s, parents),
    }
    if numba is not None:
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        walk = numba.njit(parallel=True, fastmath=True)(loop_kinematics)
        contenders["numba"] = lambda: walk(t, r, s, parents)
    return contenders


def numpy_kinematics(t: Any, r: Any, s: Any, parents: Any, block: int = 1024) -> Any:
    """Joint by joint with the frames last, so that every operation runs along them.

    Several times as fast as `matmul` of stacks of 3×3 and 3×4 matrices.
    """
    out = np.empty((*r.shape[:2], 3, 4), r.dtype)
    for start in range(0, len(r), block):
        frames = slice(start, start + block)
        x, y, z, w = np.ascontiguousarray(r[frames].transpose(2, 1, 0))
        a, b, c = np.ascontiguousarray(s[frames].transpose(2, 1, 0))
        m = np.empty((3, 4, *x.shape), r.dtype)
        m[0, 0] = (1 - 2 * (y * y + z * z)) * a
        m[0, 1] = 2 * (x * y - z * w) * b
        m[0, 2] = 2 * (x * z + y * w) * c
        m[1, 0] = 2 * (x * y + z * w) * a
        m[1, 1] = (1 - 2 * (x * x + z * z)) * b
        m[1, 2] = 2 * (y * z - x * w) * c
        m[2, 0] = 2 * (x * z - y * w) * a
        m[2, 1] = 2 * (y * z + x * w) * b
        m[2, 2] = (1 - 2 * (x * x + y * y)) * c
        m[:, 3] = t[frames].transpose(2, 1, 0)
        for joint, parent in enumerate(parents):
            if parent >= 0:
                above, own = m[:, :, parent], m[:, :, joint]
                moved = above[:, 0, None] * own[0]
                moved += above[:, 1, None] * own[1]
                moved += above[:, 2, None] * own[2]
                moved[:, 3] += above[:, 3]
                m[:, :, joint] = moved
        out[frames] = m.transpose(3, 2, 0, 1)
    return out


def loop_kinematics(t: Any, r: Any, s: Any, parents: Any) -> Any:
    """Frame by frame, joint by joint, in scalars: what one writes for numba."""
    frames, joints = r.shape[:2]
    out = np.empty((frames, joints, 3, 4), r.dtype)
    one = r.dtype.type(1)
    for f in prange(frames):
        for j in range(joints):
            x, y, z, w = r[f, j, 0], r[f, j, 1], r[f, j, 2], r[f, j, 3]
            x2, y2, z2 = x + x, y + y, z + z
            a, b, c = s[f, j, 0], s[f, j, 1], s[f, j, 2]
            m00, m01, m02 = (
                (one - y * y2 - z * z2) * a,
                (x * y2 - w * z2) * b,
                (x * z2 + w * y2) * c,
            )
            m10, m11, m12 = (
                (x * y2 + w * z2) * a,
                (one - x * x2 - z * z2) * b,
                (y * z2 - w * x2) * c,
            )
            m20, m21, m22 = (
                (x * z2 - w * y2) * a,
                (y * z2 + w * x2) * b,
                (one - x * x2 - y * y2) * c,
            )
            p = parents[j]
            for i in range(3):
                if p < 0:
                    k0, k1, k2 = one * (i == 0), one * (i == 1), one * (i == 2)
                    k3 = one * 0
                else:
                    k0, k1, k2 = out[f, p, i, 0], out[f, p, i, 1], out[f, p, i, 2]
                    k3 = out[f, p, i, 3]
                out[f, j, i, 0] = k0 * m00 + k1 * m10 + k2 * m20
                out[f, j, i, 1] = k0 * m01 + k1 * m11 + k2 * m21
                out[f, j, i, 2] = k0 * m02 + k1 * m12 + k2 * m22
                out[f, j, i, 3] = k0 * t[f, j, 0] + k1 * t[f, j, 1] + k2 * t[f, j, 2] + k3
    return out
