"""Meshopt filters in single precision, line by line from Appendix B of the specification.

https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Khronos/KHR_meshopt_compression
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
f = np.float32


def round_away(v: Floats) -> NDArray[np.float64]:
    v64 = v.astype(np.float64)
    return np.asarray(np.sign(v64) * np.floor(np.abs(v64) + 0.5))


def octahedral(v: Floats, most: np.float32) -> Floats:
    one = v[:, 2]
    x, y = v[:, 0] / one, v[:, 1] / one
    z = f(1) - np.abs(x) - np.abs(y)
    fold = np.minimum(z, f(0))
    x, y = x - np.copysign(fold, x), y - np.copysign(fold, y)
    length = np.sqrt(x * x + y * y + z * z)
    return np.stack([x / length * most, y / length * most, z / length * most, v[:, 3]], axis=1)


def quaternion(v: Floats, most: np.float32) -> Floats:
    last = v[:, 3].astype(np.int64)
    one = (last | 3).astype(f)
    x, y, z = (v[:, i] / one * f(1 / np.sqrt(2)) for i in range(3))
    w = np.sqrt(np.maximum(f(0), f(1) - x * x - y * y - z * z))
    out = np.empty_like(v)
    for i, component in enumerate((w, x, y, z)):
        out[np.arange(len(v)), (last + i) % 4] = component * most
    return out


def color(v: Floats, most: np.float32) -> Floats:
    """`v`: Y as it is, Co and Cg with their sign, alpha with its marker bit."""
    y, co, cg, marked = v.astype(np.int64).T
    full = np.array([2 ** int(alpha).bit_length() - 1 for alpha in marked])
    alpha = marked & (full >> 1)
    alpha = alpha << 1 | alpha & 1
    scale = most / full.astype(f)
    rgba = np.stack([y + co - cg, y + cg, y - co - cg, alpha], axis=1)
    return np.asarray(rgba.astype(f) * scale[:, None])


def exponential(data: Bytes) -> Bytes:
    packed = data.view("<i4")
    values: Floats = np.ldexp((packed << 8 >> 8).astype(f), packed >> 24)
    return values.view(np.uint8)


def apply_filter(data: Bytes, count: int, stride: int, name: str) -> Bytes:
    if name == "EXPONENTIAL":
        return exponential(data)
    integers = data.view(f"<i{stride // 4}").reshape(count, 4)
    v = integers.astype(f)
    if name == "COLOR":
        kind = np.dtype(f"<u{stride // 4}")
        unsigned = integers.view(kind)
        v[:, 0], v[:, 3] = unsigned[:, 0], unsigned[:, 3]
        out = color(v, f(np.iinfo(kind).max))
    else:
        kind = integers.dtype
        out = {"OCTAHEDRAL": octahedral, "QUATERNION": quaternion}[name](v, f(np.iinfo(kind).max))
    return round_away(out).astype(kind).view(np.uint8).reshape(-1)
