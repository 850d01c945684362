"""Turning what a caller hands over into a checked, read-only array."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


def checked(
    value: npt.ArrayLike,
    dtype: type[np.generic],
    shape: Sequence[int | None],
    place: str,
    *,
    finite: bool = True,
) -> npt.NDArray[Any]:
    """Return `value` as a C-contiguous, read-only array of `dtype` and `shape`.

    `None` in `shape` stands for any length. An array that already fits is not copied (the
    caller's own array stays writable); integers are never made from numbers with a fraction.

    Raises:
        RigError: wrong shape, numbers that do not fit the type, or NaN/infinity in `finite` data.

    >>> checked([[1, 2, 3]], np.float32, (None, 3), "positions")
    array([[1., 2., 3.]], dtype=float32)
    >>> checked([[1, 2]], np.float32, (None, 3), "positions")
    Traceback (most recent call last):
      ...
    bunraku.errors.RigError: positions: expected shape (any, 3), found (1, 2)
    """
    array = regular(value, place)
    if array.size == 0 and array.dtype == np.float64 and array.ndim == 1 and len(shape) > 1:
        array = array.reshape([0 if length is None else length for length in shape])
    if array.ndim != len(shape) or any(
        want is not None and want != have for want, have in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise RigError(f"{place}: expected shape ({wanted}), found {array.shape}")
    if array.dtype.kind not in "iuf":
        raise RigError(f"{place}: expected numbers, found {array.dtype}")
    if np.issubdtype(dtype, np.integer):
        array = _integers(array, dtype, place)
    else:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, dtype=dtype)
        if finite and not np.isfinite(array).all():
            at = np.argwhere(~np.isfinite(array))[0].tolist()
            raise RigError(f"{place}{at}: expected finite numbers, found {array[tuple(at)]}")
    return frozen(array)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view of an array, which itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def regular(value: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """Return `value` as an array of whatever type and shape.

    Raises:
        RigError: rows of different lengths.
    """
    try:
        return np.asarray(value)
    except ValueError as error:
        raise RigError(f"{place}: expected a regular array, found {error}") from None


def unit_quaternions(rotations: npt.ArrayLike, shape: Sequence[int | None], place: str) -> Float64:
    """Check quaternions (x, y, z, w) for unit length within 1e-3 and normalise them exactly.

    Files hold float32 or 16-bit quaternions, so a small deviation is ordinary; a larger one
    means that something else was handed over. Lengths already within 1e-9 are left alone:
    numbers that came from a file go back to it unchanged.

    Raises:
        RigError: as `checked`, or a quaternion that is longer or shorter.

    >>> unit_quaternions([[0, 0, 0.6, 0.8001]], (None, 4), "turns").round(6)
    array([[0.      , 0.      , 0.599952, 0.800036]])
    """
    array = checked(rotations, np.float64, shape, place, finite=False)
    squares = np.einsum("...i,...i", array, array)
    # What is not finite fails here too: most arrays are looked at once.
    if not squares.size or (squares.min() >= 1 - 2e-9 and squares.max() <= 1 + 2e-9):
        return array
    array = checked(array, np.float64, shape, place)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(array, axis=-1)
    off = np.abs(lengths - 1)
    if off.max() > 1e-3:
        at = [int(i) for i in np.unravel_index(np.argmax(off), off.shape)]
        raise RigError(
            f"{place}{at or ''}: expected a unit quaternion (x, y, z, w), "
            f"found length {lengths[tuple(at)]:.6g}"
        )
    divisors = np.where(off > 1e-9, lengths, 1.0)
    return checked(array / divisors[..., None], np.float64, shape, place)


def _integers(array: npt.NDArray[Any], dtype: type[np.generic], place: str) -> npt.NDArray[Any]:
    if array.size == 0:
        return np.ascontiguousarray(array, dtype=dtype)
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    if array.dtype.kind == "f" and not (array == np.floor(array)).all():
        raise RigError(f"{place}: expected whole numbers, found {array.dtype} with fractions")
    if array.min() < limits.min or array.max() > limits.max:
        raise RigError(f"{place}: expected {limits.min} … {limits.max}, found {array.max()}")
    return np.ascontiguousarray(array, dtype=dtype)


def in_range(indices: Int32, count: int, place: str, what: str, *, none: bool = False) -> None:
    """Raise RigError unless every index lies in [0, count), or is -1 where `none` is allowed.

    >>> in_range(np.array([0, 3], np.int32), 3, "skins[0].joints", "node")
    Traceback (most recent call last):
      ...
    bunraku.errors.RigError: skins[0].joints[1]: node 3, but there are 3
    """
    if indices.size == 0:
        return
    bad = (indices < (-1 if none else 0)) | (indices >= count)
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        raise RigError(f"{place}{at}: {what} {indices[tuple(at)]}, but there are {count}")


def number(value: npt.ArrayLike, place: str) -> float:
    """One finite number, of Python or NumPy, as a float.

    Raises:
        RigError: something else.

    >>> number(np.float32([30, 60]), "fps")
    Traceback (most recent call last):
      ...
    bunraku.errors.RigError: fps: expected one finite number, found shape (2,)
    """
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iuf" or not np.isfinite(array):
        found = f"shape {array.shape}" if array.ndim else f"{value!r:.60}"
        raise RigError(f"{place}: expected one finite number, found {found}")
    return float(array)


def per_frame(value: npt.ArrayLike, frames: int, place: str) -> Float64:
    """Numbers () or (F,) as (F,) float64.

    Raises:
        RigError: neither one number nor one per frame, or one that is not finite.

    >>> per_frame(2, 3, "yaw")
    array([2., 2., 2.])
    """
    if np.ndim(value) == 0:
        return np.full(frames, number(value, place))
    numbers = checked(value, np.float64, (None,), place)
    if len(numbers) not in (1, frames):
        raise RigError(f"{place}: expected one or {frames}, found {len(numbers)}")
    return np.broadcast_to(numbers, (frames,))


def whole(value: object) -> int | None:
    """A whole number of Python's or NumPy's as an int; None for all else, bools too.

    >>> whole(np.int64(3)), whole(3.0), whole(True)
    (3, None, None)
    """
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def index(value: object, count: int, place: str, what: str) -> int:
    """A whole number in [0, count) as an int.

    Raises:
        RigError: something else, or a number that is out of range.

    >>> index(np.int64(2), 3, "attachments[0].node", "node")
    2
    """
    number = whole(value)
    if number is None:
        raise RigError(f"{place}: expected the index of a {what}, found {value!r:.60}")
    if not 0 <= number < count:
        raise RigError(f"{place}: {what} {number}, but there are {count}")
    return number


def selected(which: npt.ArrayLike, count: int, place: str, what: str) -> Int32:
    """The indices that are meant by (K,) indices or a mask (count,).

    Raises:
        RigError: something else, or an index that is out of range.

    >>> selected([False, True, True], 3, "nodes", "node")
    array([1, 2], dtype=int32)
    """
    given = np.asarray(which)
    if given.dtype == np.bool_ and given.ndim:
        if given.shape != (count,):
            raise RigError(f"{place}: expected a mask of shape ({count},), found {given.shape}")
        return np.flatnonzero(given).astype(np.int32)
    indices = checked(given, np.int32, (None,), place)
    in_range(indices, count, place, what)
    return indices
