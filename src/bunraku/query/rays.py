"""What a caller gives as rays, and the arrays that the core makes of them."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Int32, regular

FLOAT32 = np.dtype(np.float32)
INFINITY = float("inf")
LOWEST, HIGHEST = -(2**31), 2**31 - 1

# Origins, directions, t_min, t_max, skip and front_only, in the core's order.
Rays = tuple[Float32, Float32, Float32, Float32, Int32, bool]


class Reach(TypedDict, total=False):
    """How far rays reach, and which sides they meet.

    Attributes:
        t_min, t_max: for all rays, or for each: a hit has t_min ≤ t ≤ t_max; by default 0 and inf.
        front_only: leave out triangles seen from behind; False by default.
    """

    t_min: npt.ArrayLike
    t_max: npt.ArrayLike
    front_only: bool


class Limits(Reach, total=False):
    """As `Reach`, and a primitive that is left out.

    Attributes:
        skip: int, for all rays or for each: a primitive that does not exist for the ray, -1 for
            none. A ray that starts on a face is best given that face.
    """

    skip: npt.ArrayLike | None


def _constant(value: float, dtype: type[np.generic]) -> npt.NDArray[Any]:
    array = np.array([value], dtype)
    array.flags.writeable = False
    return array


NO_SKIP: Int32 = _constant(-1, np.int32)
# What callers mostly leave t_min and t_max at.
USUAL: dict[float, Float32] = {t: _constant(t, np.float32) for t in (0.0, INFINITY)}


def numbers(value: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """An array of real numbers of any type.

    Raises:
        RigError: rows of different lengths, or not numbers.
    """
    array = regular(value, place)
    if array.dtype.kind not in "iuf":
        raise RigError(f"{place}: expected numbers, found {array.dtype}")
    return array


def triples(value: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """As `numbers`, and (…, 3).

    Raises:
        RigError: another shape, or not real numbers.
    """
    array = numbers(value, place)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise RigError(f"{place}: expected shape (…, 3), found {array.shape}")
    return array


def points_of(value: npt.ArrayLike, place: str) -> Float32:
    """(…, 3) float32, C-contiguous; not copied if it is already.

    Raises:
        RigError: another shape, or not real numbers.
    """
    if (
        type(value) is np.ndarray
        and value.dtype is FLOAT32
        and value.shape[-1:] == (3,)
        and value.flags.c_contiguous
    ):
        return value  # half a microsecond before anything else is asked
    array = triples(value, place)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def per_ray(
    value: npt.ArrayLike, dtype: type[np.generic], shape: tuple[int, ...], place: str
) -> npt.NDArray[Any]:
    """One value for all rays, or one for each, as a flat array of 1 or N.

    Raises:
        RigError: neither one value nor the rays' shape, not numbers, or beyond an integer type.
    """
    if type(value) is float and value in USUAL:
        return USUAL[value]
    array = numbers(value, place)
    if dtype is np.int32:
        _require_fitting(array, place)
    if array.ndim != 0 and array.shape != shape:
        raise RigError(f"{place}: expected one value or shape {shape}, found {array.shape}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype).reshape(-1)


def _require_fitting(array: npt.NDArray[Any], place: str) -> None:
    if array.dtype.kind == "f":
        raise RigError(f"{place}: expected int32, found {array.dtype}")
    if array.size and not np.can_cast(array.dtype, np.int32):
        ends = (array.min(), array.max()) if array.ndim else (array,)
        for found in map(int, ends):
            if not LOWEST <= found <= HIGHEST:
                raise RigError(f"{place}: expected {LOWEST} … {HIGHEST}, found {found}")


def truth(value: object, place: str) -> bool:
    """A switch as the core takes it, which knows neither NumPy's booleans nor 0 and 1.

    Raises:
        RigError: more than one value.
    """
    try:
        return bool(value)
    except ValueError:
        raise RigError(f"{place}: expected True or False, found {value!r}") from None


def ray_arrays(
    origins: npt.ArrayLike, directions: npt.ArrayLike
) -> tuple[Float32, Float32, tuple[int, ...]]:
    """Origins and directions as (N, 3), broadcast against one another, and their leading shape."""
    o, d = points_of(origins, "origins"), points_of(directions, "directions")
    if o.shape == d.shape and o.ndim == 2:
        return o, d, o.shape[:-1]
    if o.shape != d.shape:
        try:
            shape = np.broadcast_shapes(o.shape, d.shape)
        except ValueError:
            raise RigError(
                f"directions: expected a shape that broadcasts with origins {o.shape}, "
                f"found {d.shape}"
            ) from None
        o = np.ascontiguousarray(np.broadcast_to(o, shape))
        d = np.ascontiguousarray(np.broadcast_to(d, shape))
    return o.reshape(-1, 3), d.reshape(-1, 3), o.shape[:-1]


def broadcast_rays(
    origins: npt.ArrayLike,
    directions: npt.ArrayLike,
    *,
    t_min: npt.ArrayLike = 0.0,
    t_max: npt.ArrayLike = INFINITY,
    skip: npt.ArrayLike | None = None,
    front_only: bool = False,
    **unknown: object,
) -> tuple[Rays, tuple[int, ...]]:
    """Rays as the core takes them, N of them or one value for all, and the caller's shape.

    Raises:
        RigError: wrong shapes or types.
        TypeError: a limit by a name that there is not; callers pass on what they were given.
    """
    for name in unknown:
        raise TypeError(
            f"unexpected keyword argument {name!r}: "
            "rays are limited by t_min, t_max, skip and front_only"
        )
    o, d, shape = ray_arrays(origins, directions)
    near, far = (
        per_ray(t_min, np.float32, shape, "t_min"),
        per_ray(t_max, np.float32, shape, "t_max"),
    )
    skipped = NO_SKIP if skip is None else per_ray(skip, np.int32, shape, "skip")
    return (o, d, near, far, skipped, truth(front_only, "front_only")), shape
