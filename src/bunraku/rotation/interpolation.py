"""Between two rotations and along tracks of them: linear, normalised and spherical.

Quaternions are unit and (x, y, z, w); t has the leading shape, without the component axis, and
broadcasts. t outside [0, 1] extrapolates. q and -q are one rotation but two points to start
from: `nlerp` and `slerp` flip b onto a's side first, so that they turn the short way; an inner
product of exactly 0 (half a turn apart, both ways equally long) keeps b as it is.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from bunraku import _core
from bunraku.errors import RigError
from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, SCALAR, Floats, read
from bunraku.rotation._elementwise import One, elementwise
from bunraku.rotation._tracks import at_times, of_keys


def lerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Floats:
    """Return (1 - t) a + t b, component by component: no flip, no normalising.

    Quaternions a, b (..., 4), t (...). Between rotations the result is shorter than 1.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> lerp([0, 0, 0, 1], [0, 0, 1, 0], 0.25)
    array([0.  , 0.  , 0.25, 0.75])
    """
    return _lerp(a, b, t)


def nlerp(a: ArrayLike, b: ArrayLike, t: ArrayLike, *, shortest: bool = True) -> Floats:
    """Return `lerp` scaled to length 1: slerp's path at an uneven speed, without trigonometry.

    Unit quaternions a, b (..., 4), t (...). With ``shortest=False`` b is taken as it is stored.

    Raises:
        RigError: wrong shapes, or the interpolated quaternion is zero (b = -a, t = 1/2,
            ``shortest=False``) and has no direction.

    >>> nlerp([0, 0, 0, 1], [0, 0, 1, 0], 0.25).round(4)
    array([0.    , 0.    , 0.3162, 0.9487])
    """
    return _nlerp(a, b, t, option=1 if shortest else 0)


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike, *, shortest: bool = True) -> Floats:
    """Return the rotation at t on the great arc from a to b, at even speed (Shoemake 1985).

    Unit quaternions a, b (..., 4), t (...). ``shortest=False`` takes b as it is stored, the long
    way round where the inner product is negative; from q to -q that is a full turn, about the
    local Z axis for want of a better one. The ends are exact, slerp(q, +-q, t) is q, and
    slerp(b, a, 1 - t) has the same bits.

    The angle comes from |b - a| and |b + a|, which keep every digit from nearly equal to nearly
    opposite quaternions (with an arccosine, float32 is off by 2e-5 near equality), and it is
    measured from the nearer end.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> slerp([0, 0, 0, 1], [0, 0, 1, 0], 0.25).round(4)
    array([0.    , 0.    , 0.3827, 0.9239])
    """
    return _slerp(a, b, t) if shortest else _slerp_as_stored(a, b, t)


def continuous(track: ArrayLike) -> Floats:
    """Return keys (K, ..., 4) with signs such that neighbours lie on the same side.

    The rotations stay what they are; the numbers then change no faster than they turn.

    Raises:
        RigError: the track is not (K, ..., 4).

    >>> continuous([[0, 0, 0, 1], [0, 0, 0, -1], [0, 0, 1, -1]])
    array([[ 0.,  0.,  0.,  1.],
           [-0., -0., -0.,  1.],
           [-0., -0., -1.,  1.]])
    """
    signed: Floats | None = _core.rotation.track_continuous(track)
    if signed is not None:
        return signed
    (keys,) = read((track, QUATERNION))
    if keys.ndim < 2:
        raise RigError(f"expected a track of quaternions (K, ..., 4), found {keys.shape}")
    return continuous(keys)


def slerp_track(times: ArrayLike, keys: ArrayLike, at: ArrayLike) -> Floats:
    """Return the rotations (*at, ..., 4) of a keyed track at any times, by slerp between keys.

    Times (K,) in increasing order, unit quaternions (K, ..., 4), `at` of any shape. Before the
    first key and after the last their values hold.

    Raises:
        RigError: the shapes do not fit, or times are not finite or do not increase.

    >>> slerp_track([0, 1], [[0, 0, 0, 1], [0, 0, 1, 0]], [-1, 0.5]).round(4)
    array([[0.    , 0.    , 0.    , 1.    ],
           [0.    , 0.    , 0.7071, 0.7071]])
    """
    return _slerp_track(times, keys, at)


def angular_speed(times: ArrayLike, track: ArrayLike) -> Floats:
    """Return the angular speeds (K - 1, ...) in rad/s between neighbours of a track (K, ..., 4).

    Of samples of a curve it shows whether its speed is constant: slerp's is, nlerp's is not.

    Raises:
        RigError: the shapes do not fit, or times are not finite or do not increase.

    >>> angular_speed([0, 1, 2], [[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 1, 0]]).round(4)
    array([1.5708, 1.5708])
    """
    return _angular_speed(times, track)


def toward(
    current: ArrayLike,
    target: ArrayLike,
    *,
    amount: ArrayLike | None = None,
    max_angle: ArrayLike | None = None,
) -> Floats:
    """Return rotations (..., 4) one step from current to target, the short way, never past it.

    Unit quaternions (..., 4). The step is either a part of the way, `amount` (...) in [0, 1], or an
    angle of at most `max_angle` (...) >= 0 in radians: a speed times dt turns at that speed and
    stops at the target.

    Raises:
        RigError: not exactly one of both is given, it is out of its range, or shapes do not fit.

    >>> import math
    >>> toward([0, 0, 0, 1], [0, 0, 1, 0], max_angle=math.pi / 2).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    if amount is None and max_angle is not None:
        return _toward(current, target, max_angle)
    if amount is None or max_angle is not None:
        raise RigError("expected an amount or a max_angle, one of both")
    return _toward_part(current, target, amount)


def damp(current: ArrayLike, target: ArrayLike, half_life: ArrayLike, dt: ArrayLike) -> Floats:
    """Return rotations (..., 4) that halve the angle to the target every `half_life` seconds.

    Unit quaternions (..., 4), half_life and dt (...) in seconds. Two steps of dt / 2 end where one
    of dt does, so the motion does not depend on the frame rate, as it does when a fixed part of
    the way is gone per frame.

    Raises:
        RigError: a half-life is not positive, a dt is negative, or the shapes do not fit.

    >>> import math
    >>> from bunraku.rotation import quaternion
    >>> angle = quaternion.angle_between([0, 0, 1, 0], damp([0, 0, 0, 1], [0, 0, 1, 0], 0.1, 0.2))
    >>> round(float(angle) / math.pi, 4)
    0.25
    """
    return _damp(current, target, half_life, dt)


_slerp_track = at_times("track_slerp")
_angular_speed = of_keys("track_angular_speed")
_lerp: One = elementwise("lerp", QUATERNION, QUATERNION, SCALAR)
_slerp: One = elementwise("slerp", QUATERNION, QUATERNION, SCALAR)
_slerp_as_stored: One = elementwise("slerp_as_stored", QUATERNION, QUATERNION, SCALAR)


def _negative(index: tuple[int, ...], elements: list[Floats]) -> str:
    return f"{_arrays.place('angle', index)}: expected angles >= 0, found {elements[2]}"


_toward: One = elementwise("toward", QUATERNION, QUATERNION, SCALAR, faults=(_negative,))


def _no_part(index: tuple[int, ...], elements: list[Floats]) -> str:
    return f"{_arrays.place('amount', index)}: expected amounts in [0, 1], found {elements[2]}"


def _no_time(index: tuple[int, ...], elements: list[Floats]) -> str:
    return (
        f"{_arrays.place('half-life', index)}: expected half_life > 0 and dt >= 0, "
        f"found {elements[2]} and {elements[3]}"
    )


_toward_part: One = elementwise("toward_part", QUATERNION, QUATERNION, SCALAR, faults=(_no_part,))
_damp: One = elementwise("damp", QUATERNION, QUATERNION, SCALAR, SCALAR, faults=(_no_time,))


def _no_direction_between(index: tuple[int, ...], elements: list[Floats]) -> str:
    a, b, t = elements
    return (
        f"{_arrays.place('quaternion', index)}: expected a finite, non-zero length, between "
        f"{_arrays.listed(a)} and {_arrays.listed(b)} at {t}"
    )


_nlerp: One = elementwise("nlerp", QUATERNION, QUATERNION, SCALAR, faults=(_no_direction_between,))
