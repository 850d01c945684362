"""The interpolation bytes of VMD keys: Bezier curves from (0, 0) to (1, 1), and a switch.

A curve is x1, y1, x2, y2, each 0..127 for 0..1. It shapes the segment that *ends* at its
key. `LINEAR` is what MMD stores for a straight line.

The 64 bytes of a bone key are four rows: row 0 has x1, y1, x2, y2 of all four channels
(X, Y, Z, rotation), one value of each channel in turn; row k is row 0 without its first k
bytes. Channel k is therefore complete in row k, at bytes 16k, 16k + 4, 16k + 8, 16k + 12.
MMD since 7.40 overwrites bytes 2 and 3, x1 of Z and of the rotation in row 0, with the
physics switch of the bone: 00 00 on, 63 0F off. Reading row 0 alone gives wrong curves
(three.js issue 22282); some writers, in turn, fill nothing but row 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError

Array = npt.NDArray[Any]

LINEAR = (20, 20, 107, 107)
PHYSICS_OFF = (0x63, 0x0F)


def bone_curves(interpolation: Array) -> Array:
    """Curves of bone keys.

    Args:
        interpolation: (N, 64) uint8, field `interpolation` of `BONE_KEY`.

    Returns:
        (N, 4, 4) uint8: channels X, Y, Z, rotation; x1, y1, x2, y2 each. A key whose rows 1
        to 3 are empty is read from row 0.

    >>> bone_curves(encode_bone_curves([[LINEAR, LINEAR, LINEAR, (1, 2, 3, 4)]]))[0, 3].tolist()
    [1, 2, 3, 4]
    """
    rows = np.asarray(interpolation).reshape(-1, 4, 4, 4)  # key, row, value, channel
    curves = rows[..., 0].copy()
    only_first = ~rows[:, 1:].any(axis=(1, 2, 3))
    if only_first.any():
        curves[only_first] = rows[only_first, 0].swapaxes(1, 2)
    return curves


def physics_switch(interpolation: Array) -> Array:
    """(N,) bool: whether the bone's physics is on; keys of old versions have no switch and say on.

    >>> physics_switch(encode_bone_curves([[LINEAR] * 4] * 2, physics=[True, False])).tolist()
    [True, False]
    """
    return np.asarray((np.asarray(interpolation)[:, 2:4] != PHYSICS_OFF).any(axis=1))


def encode_bone_curves(curves: npt.ArrayLike, physics: npt.ArrayLike | None = None) -> Array:
    """The 64 bytes of each bone key, all four rows filled, so that every reader understands.

    Args:
        curves: (N, 4, 4) channels X, Y, Z, rotation; x1, y1, x2, y2 of 0..127.
        physics: (N,) the switch of current MMD; None writes the layout before 7.40, which
            has none, and in which nothing may look like one that is off.

    Raises:
        FormatError: another shape, or values outside 0..127.
    """
    values = _checked(curves, 4)
    first = values.swapaxes(1, 2).reshape(-1, 16)
    rows = np.zeros((len(first), 4, 16), np.uint8)
    for k in range(4):
        rows[:, k, : 16 - k] = first[:, k:]
    encoded = rows.reshape(-1, 64)
    if physics is not None:
        return encode_switches(encoded, physics)
    off = ~physics_switch(encoded)  # by chance: it is the curves that say so
    encoded[off, 2:4] = 0
    return encoded


def encode_switches(interpolation: Array, physics: npt.ArrayLike) -> Array:
    """(N, 64) bytes of bone keys with the switches (N,) of current MMD in their first rows."""
    switched = np.array(interpolation)
    switched[:, 2:4] = np.where(np.asarray(physics, bool)[:, None], 0, PHYSICS_OFF)
    return switched


def camera_curves(interpolation: Array) -> Array:
    """Curves of camera keys.

    Args:
        interpolation: (N, 24) uint8; each channel is stored as x1, x2, y1, y2.

    Returns:
        (N, 6, 4) uint8: channels X, Y, Z, rotation, distance, field of view; x1, y1, x2, y2.

    >>> camera_curves(np.tile(np.uint8([20, 107, 20, 107]), (1, 6)))[0, 0].tolist()
    [20, 20, 107, 107]
    """
    stored = np.asarray(interpolation).reshape(-1, 6, 4)
    return np.ascontiguousarray(stored[..., [0, 2, 1, 3]])


def encode_camera_curves(curves: npt.ArrayLike) -> Array:
    """(N, 24) bytes of (N, 6, 4) camera curves; the inverse of `camera_curves`."""
    return _checked(curves, 6)[..., [0, 2, 1, 3]].reshape(-1, 24)


def _checked(curves: npt.ArrayLike, channels: int) -> Array:
    values = np.asarray(curves)
    if values.ndim != 3 or values.shape[1:] != (channels, 4):
        raise FormatError(f"curves: expected (N, {channels}, 4), found {values.shape}")
    if values.size and not (values.min() >= 0 and values.max() <= 127):
        raise FormatError(f"curves: expected 0..127, found {values.min()}..{values.max()}")
    return values.astype(np.uint8)
