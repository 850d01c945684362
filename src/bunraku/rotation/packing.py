"""Rotations in 32 or 48 bits by the smallest three components.

Of q and -q the one whose largest component is positive is taken, that component is left out (the
other three give it back, the length being 1), and its number is sent in two bits. The others lie
within +-1/sqrt(2) and are rounded to whole numbers from -m to m, m = 511 or 16383, so that 0, and
with it the identity, is exact.

**Error bound.** Each number is off by at most h = 1/(2 m sqrt(2)), the three by sqrt(3) h. On the
sphere a step in three components is at most 1/sqrt(1 - r^2) times as long, r their length, here at
most sqrt(3)/2 + sqrt(3) h; a rotation turns by twice the arc. So no rotation is off by more than
2 sqrt(3) h / sqrt(1 - r^2): 4.82e-3 rad (0.276 degrees) in 32 bits, 1.50e-4 rad (0.0086 degrees)
in 48. `ERROR_32` and `ERROR_48` are these bounds; rounding adds some 1e-15 (1e-6 for float32).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bunraku.errors import RigError
from bunraku.rotation import quaternion
from bunraku.rotation._arrays import QUATERNION, Floats, read


def pack_32(q: ArrayLike) -> NDArray[np.uint32]:
    """Return rotations (..., 4), any length but zero, as uint32 (...).

    From the highest bit: 2 bits number of the component left out, then ten bits each for the
    others in their order, plus 511.

    Raises:
        RigError: a quaternion has no direction, or is not (..., 4).

    >>> int(pack_32([0, 0, 0, 1])) == (3 << 30) + (511 << 20) + (511 << 10) + 511
    True
    """
    largest, three = _smallest_three(q, 511)
    number = largest.astype(np.uint32)
    for k in range(3):
        number = number << np.uint32(10) | three[..., k].astype(np.uint32)
    return np.asarray(number)


def unpack_32(packed: ArrayLike, dtype: DTypeLike = np.float64) -> Floats:
    """Return unit quaternions (..., 4) of float type `dtype` from the numbers of `pack_32` (...).

    Raises:
        RigError: the numbers are not uint32, or not those of a rotation.

    >>> unpack_32(pack_32([0, 0, 0, -1]))
    array([0., 0., 0., 1.])
    """
    number = np.asarray(packed)
    if number.dtype != np.uint32:
        raise RigError(f"expected packed rotations of type uint32, found {number.dtype}")
    three = np.stack([number >> np.uint32(10 * k) & np.uint32(1023) for k in (2, 1, 0)], axis=-1)
    return _restored(number >> np.uint32(30), three, 511, dtype)


def pack_48(q: ArrayLike) -> NDArray[np.uint16]:
    """Return rotations (..., 4), any length but zero, as three uint16 (..., 3).

    Each holds one of the three components, plus 16383, in its lower fifteen bits; the highest bits
    of the first two are the number of the component left out, high bit first.

    Raises:
        RigError: a quaternion has no direction, or is not (..., 4).

    >>> pack_48([0, 0, 0, 1])
    array([49151, 49151, 16383], dtype=uint16)
    """
    largest, three = _smallest_three(q, 16383)
    words = three.astype(np.uint16)
    words[..., 0] |= (largest >> 1 << 15).astype(np.uint16)
    words[..., 1] |= ((largest & 1) << 15).astype(np.uint16)
    return words


def unpack_48(packed: ArrayLike, dtype: DTypeLike = np.float64) -> Floats:
    """Return unit quaternions (..., 4) of float type `dtype` from the words of `pack_48` (..., 3).

    Raises:
        RigError: the words are not uint16 (..., 3), or not those of a rotation.

    >>> unpack_48(pack_48([0, 0, 0, -1]))
    array([0., 0., 0., 1.])
    """
    words = np.asarray(packed)
    if words.dtype != np.uint16 or words.shape[-1:] != (3,):
        raise RigError(
            f"expected packed rotations of type uint16 (..., 3), found {words.dtype} {words.shape}"
        )
    high = words >> np.uint16(15)
    return _restored(2 * high[..., 0] + high[..., 1], words & np.uint16(0x7FFF), 16383, dtype)


def _bound(steps: int) -> float:
    h = np.sqrt(0.5) / (2 * steps)
    r = np.sqrt(3) / 2 + np.sqrt(3) * h
    return float(2 * np.sqrt(3) * h / np.sqrt(1 - r * r))


ERROR_32 = _bound(511)
ERROR_48 = _bound(16383)

# The components that are kept when component k is left out.
_KEPT = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


def _smallest_three(q: ArrayLike, steps: int) -> tuple[NDArray[np.intp], Floats]:
    (q_,) = read((quaternion.normalize(q), QUATERNION))
    largest = np.abs(q_).argmax(axis=-1)
    kept = np.take_along_axis(q_, _KEPT[largest], axis=-1).astype(np.float64)
    dropped = np.take_along_axis(q_, largest[..., np.newaxis], axis=-1)
    scaled = np.rint(kept * np.where(dropped < 0, -1, 1) * np.sqrt(2) * steps)
    return largest, np.clip(scaled, -steps, steps) + steps


def _restored(
    largest: NDArray[np.unsignedinteger],
    three: NDArray[np.unsignedinteger],
    steps: int,
    dtype: DTypeLike,
) -> Floats:
    kept = (three.astype(np.float64) - steps) * (np.sqrt(0.5) / steps)
    square = (kept * kept).sum(axis=-1, keepdims=True)
    if np.any(square > 1) or np.any(three > 2 * steps):
        raise RigError("expected packed rotations, found numbers longer than 1")
    result = np.empty((*kept.shape[:-1], 4))
    index = largest.astype(np.intp)
    np.put_along_axis(result, _KEPT[index], kept, axis=-1)
    np.put_along_axis(result, index[..., np.newaxis], np.sqrt(1 - square), axis=-1)
    return result.astype(dtype)
