"""A smooth curve through keyed rotations, for any spacing of the keys.

Slerp through keys turns a corner at every key; *squad* (Shoemake 1987) is smooth only where the
keys are evenly spaced. The choice here is a cubic Bezier curve per span, built from great arcs (de
Casteljau's construction on the sphere, Shoemake 1985), whose handles follow one angular velocity
per key: direction *and* speed are continuous (C1) for any times. The velocity at a key is that of
the parabola through it and its neighbours (Bessel: each span's mean velocity, weighted by the
length of the other span); at the ends it is the span's own. Where a long span meets a short, fast
one, that velocity is lowered until no handle (a third of a span's time) turns by more than half a
turn. Two keys give slerp.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from bunraku.rotation import interpolation, quaternion
from bunraku.rotation._arrays import Floats, length


def spline(times: ArrayLike, keys: ArrayLike, at: ArrayLike) -> Floats:
    """Return the rotations (*at, ..., 4) of a C1 curve through keys (K, ..., 4) at times (K,).

    Times in increasing order and seconds, unit quaternions, `at` of any shape. Each span turns the
    short way. Before the first key and after the last their values hold.

    Raises:
        RigError: the shapes do not fit, or times are not finite or do not increase.

    >>> spline([0, 1, 3], [[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 1, 0]], [0.5, 2]).round(3)
    array([[0.   , 0.   , 0.398, 0.917],
           [0.   , 0.   , 0.947, 0.321]])
    """
    times_, keys_ = interpolation.read_track(times, keys)
    keys_ = interpolation.continuous(quaternion.normalize(keys_))
    span, t = interpolation.find(times_, at)
    if len(times_) == 1:
        return np.broadcast_to(keys_[0], (*t.shape, *keys_.shape[1:])).copy()
    trailing = (1,) * (keys_.ndim - 2)
    t = t.reshape(t.shape + trailing).astype(keys_.dtype)
    third = (np.diff(times_)[span] / 3).reshape(t.shape + (1,)).astype(keys_.dtype)
    velocity = key_velocities(times_, keys_)
    start, end = keys_[span], keys_[span + 1]
    out = quaternion.from_rotation_vector(third * velocity[span])
    back = quaternion.from_rotation_vector(-third * velocity[span + 1])
    points = [start, quaternion.multiply(start, out), quaternion.multiply(end, back), end]
    while len(points) > 1:
        arcs = pairwise(points)
        points = [interpolation.slerp(a, b, t, shortest=False) for a, b in arcs]
    return points[0]


def key_velocities(times: ArrayLike, keys: ArrayLike) -> Floats:
    """Return the angular velocity (K, ..., 3) in rad/s of `spline` at its keys, in the key's frame.

    Raises:
        RigError: as `spline`.

    >>> turn = quaternion.from_axis_angle([0, 0, 1], [0.0, 1.0, 2.0])
    >>> key_velocities([0, 1, 2], turn)[:, 2]
    array([1., 1., 1.])
    """
    times_, keys_ = interpolation.read_track(times, keys)
    if len(times_) == 1:
        return np.zeros_like(keys_[..., :3])
    steps = np.diff(times_).reshape((-1,) + (1,) * (keys_.ndim - 1)).astype(keys_.dtype)
    turns = quaternion.multiply(quaternion.conjugate(keys_[:-1]), keys_[1:])
    mean = quaternion.to_rotation_vector(turns) / steps
    inner = (steps[1:] * mean[:-1] + steps[:-1] * mean[1:]) / (steps[1:] + steps[:-1])
    handle = np.maximum(steps[1:], steps[:-1]) / 3 * length(inner)[..., np.newaxis]
    inner = inner * np.minimum(1, np.pi / np.maximum(handle, 1)).astype(keys_.dtype)
    return np.concatenate((mean[:1], inner, mean[-1:]))
