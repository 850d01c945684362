"""The rotation kernels that a Python user would write with numba: plain loops, fast maths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

jit = njit(parallel=True, fastmath=True)


@jit
def multiply(a: Any, b: Any) -> Any:
    out = np.empty_like(a)
    for i in prange(len(a)):
        ax, ay, az, aw = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        bx, by, bz, bw = b[i, 0], b[i, 1], b[i, 2], b[i, 3]
        out[i, 0] = aw * bx + ax * bw + ay * bz - az * by
        out[i, 1] = aw * by - ax * bz + ay * bw + az * bx
        out[i, 2] = aw * bz + ax * by - ay * bx + az * bw
        out[i, 3] = aw * bw - ax * bx - ay * by - az * bz
    return out


@jit
def rotate(q: Any, v: Any) -> Any:
    out = np.empty_like(v)
    for i in prange(len(q)):
        x, y, z, w = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        a, b, c = v[i, 0], v[i, 1], v[i, 2]
        tx = y * c - z * b + w * a
        ty = z * a - x * c + w * b
        tz = x * b - y * a + w * c
        out[i, 0] = a + (y * tz - z * ty) + (y * tz - z * ty)
        out[i, 1] = b + (z * tx - x * tz) + (z * tx - x * tz)
        out[i, 2] = c + (x * ty - y * tx) + (x * ty - y * tx)
    return out


@jit
def slerp(a: Any, b: Any, t: Any) -> Any:
    out = np.empty_like(a)
    one = a.dtype.type(1)
    for i in prange(len(a)):
        d = a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2] + a[i, 3] * b[i, 3]
        sign = one if d >= 0 else -one
        d = min(abs(d), one)
        angle = math.acos(d)
        sine = math.sin(angle)
        if sine > 1e-6:
            p, q = math.sin((one - t[i]) * angle) / sine, sign * math.sin(t[i] * angle) / sine
        else:
            p, q = one - t[i], sign * t[i]
        for k in range(4):
            out[i, k] = p * a[i, k] + q * b[i, k]
    return out


@jit
def to_matrix(q: Any) -> Any:
    out = np.empty((len(q), 3, 3), q.dtype)
    one = q.dtype.type(1)
    for i in prange(len(q)):
        x, y, z, w = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        x2, y2, z2 = x + x, y + y, z + z
        out[i, 0, 0] = one - (y * y2 + z * z2)
        out[i, 0, 1] = x * y2 - w * z2
        out[i, 0, 2] = x * z2 + w * y2
        out[i, 1, 0] = x * y2 + w * z2
        out[i, 1, 1] = one - (x * x2 + z * z2)
        out[i, 1, 2] = y * z2 - w * x2
        out[i, 2, 0] = x * z2 - w * y2
        out[i, 2, 1] = y * z2 + w * x2
        out[i, 2, 2] = one - (x * x2 + y * y2)
    return out


@jit
def from_matrix(m: Any) -> Any:
    """Shepperd's branches; what comes in is not checked."""
    out = np.empty((len(m), 4), m.dtype)
    one, half = m.dtype.type(1), m.dtype.type(0.5)
    for i in prange(len(m)):
        a, b, c = m[i, 0, 0], m[i, 1, 1], m[i, 2, 2]
        if a + b + c > 0:
            s = math.sqrt(one + a + b + c)
            r = half / s
            out[i, 0] = (m[i, 2, 1] - m[i, 1, 2]) * r
            out[i, 1] = (m[i, 0, 2] - m[i, 2, 0]) * r
            out[i, 2] = (m[i, 1, 0] - m[i, 0, 1]) * r
            out[i, 3] = half * s
        elif a >= b and a >= c:
            s = math.sqrt(one + a - b - c)
            r = half / s
            out[i, 0] = half * s
            out[i, 1] = (m[i, 1, 0] + m[i, 0, 1]) * r
            out[i, 2] = (m[i, 0, 2] + m[i, 2, 0]) * r
            out[i, 3] = (m[i, 2, 1] - m[i, 1, 2]) * r
        elif b >= c:
            s = math.sqrt(one - a + b - c)
            r = half / s
            out[i, 0] = (m[i, 1, 0] + m[i, 0, 1]) * r
            out[i, 1] = half * s
            out[i, 2] = (m[i, 2, 1] + m[i, 1, 2]) * r
            out[i, 3] = (m[i, 0, 2] - m[i, 2, 0]) * r
        else:
            s = math.sqrt(one - a - b + c)
            r = half / s
            out[i, 0] = (m[i, 0, 2] + m[i, 2, 0]) * r
            out[i, 1] = (m[i, 2, 1] + m[i, 1, 2]) * r
            out[i, 2] = half * s
            out[i, 3] = (m[i, 1, 0] - m[i, 0, 1]) * r
    return out


@jit
def to_euler_xyz(q: Any) -> Any:
    """The textbook's arctangents and arcsine, without a case for gimbal lock."""
    out = np.empty((len(q), 3), q.dtype)
    one, two = q.dtype.type(1), q.dtype.type(2)
    for i in prange(len(q)):
        x, y, z, w = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        out[i, 0] = math.atan2(two * (w * x + y * z), one - two * (x * x + y * y))
        out[i, 1] = math.asin(max(-one, min(one, two * (w * y - z * x))))
        out[i, 2] = math.atan2(two * (w * z + x * y), one - two * (y * y + z * z))
    return out


@jit
def from_euler_xyz(e: Any) -> Any:
    out = np.empty((len(e), 4), e.dtype)
    half = e.dtype.type(0.5)
    for i in prange(len(e)):
        a, b, c = half * e[i, 0], half * e[i, 1], half * e[i, 2]
        sa, ca, sb, cb = math.sin(a), math.cos(a), math.sin(b), math.cos(b)
        sc, cc = math.sin(c), math.cos(c)
        out[i, 0] = sa * cb * cc - ca * sb * sc
        out[i, 1] = ca * sb * cc + sa * cb * sc
        out[i, 2] = ca * cb * sc - sa * sb * cc
        out[i, 3] = ca * cb * cc + sa * sb * sc
    return out
