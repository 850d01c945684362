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

from numpy.typing import ArrayLike

from bunraku.rotation._arrays import Floats
from bunraku.rotation._tracks import at_times, of_keys


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
    return _spline(times, keys, at)


def key_velocities(times: ArrayLike, keys: ArrayLike) -> Floats:
    """Return the angular velocity (K, ..., 3) in rad/s of `spline` at its keys, in the key's frame.

    Raises:
        RigError: as `spline`.

    >>> from bunraku.rotation import quaternion
    >>> turn = quaternion.from_axis_angle([0, 0, 1], [0.0, 1.0, 2.0])
    >>> key_velocities([0, 1, 2], turn)[:, 2]
    array([1., 1., 1.])
    """
    return _key_velocities(times, keys)


_spline = at_times("track_spline")
_key_velocities = of_keys("track_key_velocities")
