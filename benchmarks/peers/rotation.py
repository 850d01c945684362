"""Peers of the rotation room, as many as are installed: what each does in the benchmark's cases.

Every function gets the numbers in the type and layout that its library likes best, prepared
outside the clock. Where a library has nothing for float32 or for pairs of arrays, it stays out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bunraku import _core
from bunraku.rotation import from_euler, quaternion, slerp, to_euler

Functions = dict[str, Callable[[], Any]]


class Data:
    """Random unit quaternions a and b, vectors, times, matrices and angles of one float type."""

    def __init__(self, dtype: type[np.floating[Any]], count: int) -> None:
        rng = np.random.default_rng(0)
        self.a, self.b = (
            quaternion.normalize(rng.normal(size=(count, 4))).astype(dtype) for _ in range(2)
        )
        self.v = rng.normal(size=(count, 3)).astype(dtype)
        self.t = rng.random(count).astype(dtype)
        self.m = quaternion.to_matrix(self.a)
        self.e = to_euler(self.a, "xyz")


def bunraku(d: Data) -> Functions:
    return {
        "multiply": lambda: quaternion.multiply(d.a, d.b),
        "rotate": lambda: quaternion.rotate(d.a, d.v),
        "slerp": lambda: slerp(d.a, d.b, d.t),
        "to matrix": lambda: quaternion.to_matrix(d.a),
        "from matrix": lambda: quaternion.from_matrix(d.m),
        "to Euler xyz": lambda: to_euler(d.a, "xyz"),
        "from Euler xyz": lambda: from_euler(d.e, "xyz"),
    }


def scipy(d: Data) -> Functions:
    from scipy.spatial.transform import Rotation

    a, b = Rotation.from_quat(d.a), Rotation.from_quat(d.b)
    t = d.t[:, None]
    return {
        "multiply": lambda: a * b,
        "rotate": lambda: a.apply(d.v),
        "slerp": lambda: a * Rotation.from_rotvec(t * (a.inv() * b).as_rotvec()),
        "to matrix": a.as_matrix,
        "from matrix": lambda: Rotation.from_matrix(d.m),
        "to Euler xyz": lambda: a.as_euler("xyz"),
        "from Euler xyz": lambda: Rotation.from_euler("xyz", d.e),
    }


def numpy_quaternion(d: Data) -> Functions:
    npq = importlib.import_module("quaternion")

    if d.a.dtype != np.float64:
        return {}
    a, b = (npq.from_float_array(quaternion.to_wxyz(q)) for q in (d.a, d.b))
    return {
        "multiply": lambda: a * b,
        "slerp": lambda: np.slerp_vectorized(a, b, d.t),  # type: ignore[attr-defined]
        "to matrix": lambda: npq.as_rotation_matrix(a),
        "to Euler xyz": lambda: npq.as_euler_angles(a),
        "from Euler xyz": lambda: npq.from_euler_angles(d.e),
        # from_rotation_matrix takes 25 microseconds each (an eigenvector), too long for a million
    }


def quaternionic(d: Data) -> Functions:
    module = importlib.import_module("quaternionic")
    if d.a.dtype != np.float64:
        return {}
    a, b = (module.array(quaternion.to_wxyz(q)) for q in (d.a, d.b))
    return {
        "multiply": lambda: a * b,
        "slerp": lambda: module.slerp(a, b, d.t),
        "to matrix": lambda: a.to_rotation_matrix,
        "to Euler xyz": lambda: a.to_euler_angles,
        "from Euler xyz": lambda: module.array.from_euler_angles(d.e),
    }


def pytransform3d(d: Data) -> Functions:
    batch = importlib.import_module("pytransform3d.batch_rotations")
    a, b = quaternion.to_wxyz(d.a), quaternion.to_wxyz(d.b)
    return {
        "multiply": lambda: batch.batch_concatenate_quaternions(a, b),
        # one pair at many times, which is less to read
        "slerp": lambda: batch.quaternion_slerp_batch(a[0], b[0], d.t, shortest_path=True),
        "to matrix": lambda: batch.matrices_from_quaternions(a),
        "from matrix": lambda: batch.quaternions_from_matrices(d.m),
        "from Euler xyz": lambda: batch.active_matrices_from_extrinsic_euler_angles(0, 1, 2, d.e),
    }


def roma(d: Data) -> Functions:
    module, torch = importlib.import_module("roma"), importlib.import_module("torch")
    torch.set_num_threads(_core.thread_count())
    a, b, v, t, m, e = (torch.from_numpy(x) for x in (d.a, d.b, d.v, d.t, d.m, d.e))
    return {
        "multiply": lambda: module.quat_product(a, b),
        "rotate": lambda: module.quat_action(a, v),
        # every pair at the same times, here one
        "slerp": lambda: module.unitquat_slerp(a, b, t[:1], shortest_arc=True),
        "to matrix": lambda: module.unitquat_to_rotmat(a),
        "from matrix": lambda: module.rotmat_to_unitquat(m),
        "to Euler xyz": lambda: module.unitquat_to_euler("xyz", a, as_tuple=True),
        "from Euler xyz": lambda: module.euler_to_unitquat("xyz", e),
    }


def numba(d: Data) -> Functions:
    kernels = importlib.import_module("benchmarks.peers.rotation_numba")
    importlib.import_module("numba").set_num_threads(_core.thread_count())
    return {
        "multiply": lambda: kernels.multiply(d.a, d.b),
        "rotate": lambda: kernels.rotate(d.a, d.v),
        "slerp": lambda: kernels.slerp(d.a, d.b, d.t),
        "to matrix": lambda: kernels.to_matrix(d.a),
        "from matrix": lambda: kernels.from_matrix(d.m),
        "to Euler xyz": lambda: kernels.to_euler_xyz(d.a),
        "from Euler xyz": lambda: kernels.from_euler_xyz(d.e),
    }


ALL = (bunraku, scipy, roma, pytransform3d, quaternionic, numpy_quaternion, numba)
