"""How a function of keyed tracks reaches its kernel in the core, as `_elementwise` does.

The core reads times (K,) and queries in float64 and keys (K, ..., 4) in place where they are
contiguous and fine, and answers with None for anything else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku import _core
from bunraku.errors import RigError
from bunraku.rotation import _arrays, quaternion
from bunraku.rotation._arrays import QUATERNION, Floats, Layout, read

_TIME = Layout("time", ())


def of_keys(name: str) -> Callable[..., Floats]:
    """Return a function of times (K,) and the keys (K, ..., 4) of one track or two."""
    kernel: Callable[..., Floats | None] = getattr(_core.rotation, name)

    def run(times: ArrayLike, *tracks: ArrayLike) -> Floats:
        try:
            result = kernel(times, *tracks)
            if result is None:
                result = kernel(*_read_tracks(times, *tracks))
        except _core.rotation.NoAnswerError:
            raise _no_direction(tracks) from None
        assert result is not None  # what it has been given now is fine
        return result

    return run


def at_times(name: str) -> Callable[..., Floats]:
    """Return a function of times (K,), keys (K, ..., 4) and the times of queries, of any shape."""
    kernel: Callable[..., Floats | None] = getattr(_core.rotation, name)

    def run(times: ArrayLike, keys: ArrayLike, at: ArrayLike) -> Floats:
        try:
            result = kernel(times, keys, at)
            if result is None:
                result = kernel(*_read_tracks(times, keys), _read_queries(at))
        except _core.rotation.NoAnswerError:
            raise _no_direction((keys,)) from None
        assert result is not None
        return result

    return run


def _read_tracks(times: ArrayLike, *tracks: ArrayLike) -> tuple[Floats, ...]:
    keys = read(*((track, QUATERNION) for track in tracks))
    times_ = np.require(read((times, _TIME))[0], np.float64, ("C", "A"))
    shape = np.broadcast_shapes(*(track.shape for track in keys))
    if times_.ndim != 1 or len(shape) < 2 or len(times_) != shape[0] or not len(times_):
        raise RigError(
            f"expected times (K,) and keys (K, ..., 4) with K >= 1, "
            f"found {times_.shape} and {shape}"
        )
    _arrays.require_finite(times_, "time")
    if not np.all(np.diff(times_) > 0):
        index = int(np.argmin(np.diff(times_) > 0))
        raise RigError(
            f"expected increasing times, found {times_[index]} and then {times_[index + 1]} "
            f"at key {index + 1}"
        )
    return times_, *keys


def _read_queries(at: ArrayLike) -> NDArray[np.float64]:
    queries = np.require(read((at, _TIME))[0], np.float64, ("C", "A"))
    if np.isnan(queries).any():
        raise RigError("expected times, found nan")
    return queries


def _no_direction(tracks: tuple[ArrayLike, ...]) -> RigError:
    """Why there is no rotation between keys; the first that is none is named by `normalize`."""
    try:
        for track in tracks:
            quaternion.normalize(track)
    except RigError as error:
        return error
    return RigError("expected keys whose products have a finite, non-zero length")
