"""Sampling: LINEAR tracks of every joint of a figure at many times, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Row, compare, table
from bunraku import _core
from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample

try:
    import numba
    from numba import prange
except ImportError:
    numba = None
    prange = range

try:
    from scipy.spatial.transform import Rotation, Slerp
except ImportError:
    Slerp = None

JOINTS = 100
KEYS = 100


def run() -> Iterator[str]:
    """Yield one table: tracks with times in common and each with its own, one thread and two."""
    rows = []
    for frames in (64, 10_000):
        for shared in (True, False):
            motion = _motion(shared)
            for threads in (1, 2):
                _core.set_thread_count(threads)
                own = "common times" if shared else "own times"
                case = f"{frames} frames, {own}, {threads} thread(s)"
                contenders = _contenders(*motion, np.linspace(-0.1, 10.1, frames), threads)
                rows.append(Row(case, compare(contenders, rounds=5), 3 * frames * JOINTS))
    _core.set_thread_count(0)
    title = f"Sampling translation, rotation and scale of {JOINTS} joints, {KEYS} keys each"
    yield table(title, "track samples per second", rows)


def _motion(shared: bool) -> tuple[Any, ...]:
    """Key times (joints, 3, keys), translations, rotations, scales (joints, keys, ·)."""
    rng = np.random.default_rng(21)
    times = np.sort(rng.uniform(0, 10, (JOINTS, 3, KEYS)), axis=-1)
    if shared:
        times[:] = times[0, 0]
    rotations = rng.normal(size=(JOINTS, KEYS, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    translations, scales = rng.normal(size=(2, JOINTS, KEYS, 3))
    return times, translations, rotations, scales


def _contenders(times: Any, t: Any, r: Any, s: Any, at: Any, threads: int) -> dict[str, Contender]:
    tracks = [
        Track(joint, path, times[joint, i], values[joint])  # type: ignore[arg-type]
        for joint in range(JOINTS)
        for i, (path, values) in enumerate((("translation", t), ("rotation", r), ("scale", s)))
    ]
    skeleton = Skeleton(("",) * JOINTS, np.arange(JOINTS, dtype=np.int32) - 1)
    bound = bind(Clip("", tuple(tracks)), Character(skeleton))
    contenders: dict[str, Contender] = {
        "bunraku": lambda: sample(bound, at),
        "numpy": lambda: numpy_sampling(times, t, r, s, at),
    }
    if numba is not None:
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        walk = numba.njit(parallel=True, fastmath=True)(loop_sampling)
        contenders["numba"] = lambda: walk(times, t, r, s, at)
    if Slerp is not None:
        slerps = [Slerp(times[j, 1], Rotation.from_quat(r[j])) for j in range(JOINTS)]
        contenders["scipy"] = lambda: scipy_sampling(slerps, times, t, s, at)
    return contenders


def numpy_sampling(times: Any, t: Any, r: Any, s: Any, at: Any) -> Any:
    """Track by track, all times at once."""
    out = [np.empty((len(at), JOINTS, width)) for width in (3, 4, 3)]
    for joint in range(JOINTS):
        for i, values in enumerate((t, r, s)):
            keys = times[joint, i]
            k = np.clip(np.searchsorted(keys, at, side="right") - 1, 0, KEYS - 2)
            u = np.clip((at - keys[k]) / (keys[k + 1] - keys[k]), 0, 1)[:, None]
            a, b = values[joint, k], values[joint, k + 1]
            out[i][:, joint] = _numpy_slerp(a, b, u) if i == 1 else a + u * (b - a)
    return out


def _numpy_slerp(a: Any, b: Any, u: Any) -> Any:
    dot = (a * b).sum(axis=1, keepdims=True)
    b = np.where(dot < 0, -b, b)
    angle = np.arccos(np.minimum(np.abs(dot), 1))
    sine = np.sin(angle)
    near = sine < 1e-6
    safe = np.where(near, 1, sine)
    return np.where(near, 1 - u, np.sin((1 - u) * angle) / safe) * a + (
        np.where(near, u, np.sin(u * angle) / safe) * b
    )


def scipy_sampling(slerps: Any, times: Any, t: Any, s: Any, at: Any) -> Any:
    """SciPy's Slerp for each joint's rotations, NumPy's interp for each number of the rest."""
    out = [np.empty((len(at), JOINTS, width)) for width in (3, 4, 3)]
    for joint in range(JOINTS):
        keys = times[joint, 1]
        out[1][:, joint] = slerps[joint](np.clip(at, keys[0], keys[-1])).as_quat()
        for i, values in ((0, t), (2, s)):
            for c in range(3):
                out[i][:, joint, c] = np.interp(at, times[joint, i], values[joint, :, c])
    return out


def loop_sampling(times: Any, t: Any, r: Any, s: Any, at: Any) -> Any:
    """Frame by frame, track by track, in scalars: what one writes for numba."""
    frames, joints, keys = len(at), times.shape[0], times.shape[2]
    translations = np.empty((frames, joints, 3))
    rotations = np.empty((frames, joints, 4))
    scales = np.empty((frames, joints, 3))
    for f in prange(frames):
        for joint in range(joints):
            for i in range(3):
                track = times[joint, i]
                k = min(max(np.searchsorted(track, at[f], side="right") - 1, 0), keys - 2)
                u = min(max((at[f] - track[k]) / (track[k + 1] - track[k]), 0.0), 1.0)
                if i == 0:
                    for c in range(3):
                        a = t[joint, k, c]
                        translations[f, joint, c] = a + u * (t[joint, k + 1, c] - a)
                elif i == 2:
                    for c in range(3):
                        a = s[joint, k, c]
                        scales[f, joint, c] = a + u * (s[joint, k + 1, c] - a)
                else:
                    dot = 0.0
                    for c in range(4):
                        dot += r[joint, k, c] * r[joint, k + 1, c]
                    angle = np.arccos(min(abs(dot), 1.0))
                    near, far = 1.0 - u, u
                    if angle > 1e-6:
                        sine = np.sin(angle)
                        near, far = np.sin((1.0 - u) * angle) / sine, np.sin(u * angle) / sine
                    if dot < 0:
                        far = -far
                    for c in range(4):
                        rotations[f, joint, c] = near * r[joint, k, c] + far * r[joint, k + 1, c]
    return translations, rotations, scales
