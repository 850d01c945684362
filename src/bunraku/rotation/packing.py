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

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, Floats, Layout
from bunraku.rotation._elementwise import One, elementwise, no_direction


def pack_32(q: ArrayLike) -> NDArray[np.uint32]:
    """Return rotations (..., 4), any length but zero, as uint32 (...).

    From the highest bit: 2 bits number of the component left out, then ten bits each for the
    others in their order, plus 511.

    Raises:
        RigError: a quaternion has no direction, or is not (..., 4).

    >>> int(pack_32([0, 0, 0, 1])) == (3 << 30) + (511 << 20) + (511 << 10) + 511
    True
    """
    return _pack_32(q)


def unpack_32(packed: ArrayLike, dtype: DTypeLike = np.float64) -> Floats:
    """Return unit quaternions (..., 4) of float type `dtype` from the numbers of `pack_32` (...).

    Raises:
        RigError: the numbers are not uint32, or not those of a rotation.

    >>> unpack_32(pack_32([0, 0, 0, -1]))
    array([0., 0., 0., 1.])
    """
    return _unpack_32(packed, option=_size(dtype))


def pack_48(q: ArrayLike) -> NDArray[np.uint16]:
    """Return rotations (..., 4), any length but zero, as three uint16 (..., 3).

    Each holds one of the three components, plus 16383, in its lower fifteen bits; the highest bits
    of the first two are the number of the component left out, high bit first.

    Raises:
        RigError: a quaternion has no direction, or is not (..., 4).

    >>> pack_48([0, 0, 0, 1])
    array([49151, 49151, 16383], dtype=uint16)
    """
    return _pack_48(q)


def unpack_48(packed: ArrayLike, dtype: DTypeLike = np.float64) -> Floats:
    """Return unit quaternions (..., 4) of float type `dtype` from the words of `pack_48` (..., 3).

    Raises:
        RigError: the words are not uint16 (..., 3), or not those of a rotation.

    >>> unpack_48(pack_48([0, 0, 0, -1]))
    array([0., 0., 0., 1.])
    """
    return _unpack_48(packed, option=_size(dtype))


def _bound(steps: int) -> float:
    h = np.sqrt(0.5) / (2 * steps)
    r = np.sqrt(3) / 2 + np.sqrt(3) * h
    return float(2 * np.sqrt(3) * h / np.sqrt(1 - r * r))


ERROR_32 = _bound(511)
ERROR_48 = _bound(16383)


def _size(dtype: DTypeLike) -> int:
    """The bytes of a float type, which the core goes by."""
    return _arrays.float_type(dtype).itemsize


def _no_packed(index: tuple[int, ...], elements: list[Any]) -> str:
    found = ", ".join(f"{int(number):#x}" for number in np.ravel(elements[0]))
    return (
        f"{_arrays.place('packed rotation', index)}: expected a rotation, "
        f"found numbers longer than 1 in {found}"
    )


_pack_32: Callable[..., NDArray[np.uint32]] = elementwise(
    "pack_32", QUATERNION, faults=(no_direction(0),)
)
_unpack_32: One = elementwise(
    "unpack_32", Layout("packed rotation", (), dtype=np.uint32), faults=(_no_packed,)
)
_pack_48: Callable[..., NDArray[np.uint16]] = elementwise(
    "pack_48", QUATERNION, faults=(no_direction(0),)
)
_unpack_48: One = elementwise(
    "unpack_48", Layout("packed rotation", (3,), dtype=np.uint16), faults=(_no_packed,)
)
