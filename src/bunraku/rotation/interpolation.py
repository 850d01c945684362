"""Between two rotations: plain, normalised and spherical linear interpolation.

Quaternions are unit and (x, y, z, w); t has the leading shape, without the component axis, and
broadcasts. t outside [0, 1] extrapolates. q and -q are one rotation but two points to start
from: `nlerp` and `slerp` flip b onto a's side first, so that they turn the short way; an inner
product of exactly 0 (half a turn apart, both ways equally long) keeps b as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, SCALAR, Floats, read
from bunraku.rotation.quaternion import normalize


def lerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Floats:
    """Return (1 - t) a + t b, component by component: no flip, no normalising.

    Quaternions a, b (..., 4), t (...). Between rotations the result is shorter than 1.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> lerp([0, 0, 0, 1], [0, 0, 1, 0], 0.25)
    array([0.  , 0.  , 0.25, 0.75])
    """
    p, q, s = _read(a, b, t)
    return (1 - s) * p + s * q


def nlerp(a: ArrayLike, b: ArrayLike, t: ArrayLike, *, shortest: bool = True) -> Floats:
    """Return `lerp` scaled to length 1: slerp's path at an uneven speed, without trigonometry.

    Unit quaternions a, b (..., 4), t (...). With ``shortest=False`` b is taken as it is stored.

    Raises:
        RigError: wrong shapes, or the interpolated quaternion is zero (b = -a, t = 1/2,
            ``shortest=False``) and has no direction.

    >>> nlerp([0, 0, 0, 1], [0, 0, 1, 0], 0.25).round(4)
    array([0.    , 0.    , 0.3162, 0.9487])
    """
    p, q, s = _read(a, b, t)
    if shortest:
        q = _flip_towards(p, q)
    return normalize((1 - s) * p + s * q)


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike, *, shortest: bool = True) -> Floats:
    """Return the rotation at t on the great arc from a to b, at even speed (Shoemake 1985).

    Unit quaternions a, b (..., 4), t (...). ``shortest=False`` takes b as it is stored, the long
    way round where the inner product is negative; from q to -q that is a full turn, about the
    local Z axis for want of a better one. The ends are exact and slerp(q, +-q, t) is q.

    The arc is halved at m = (a + b) / |a + b| and measured from the nearer end: then every
    division is by the sine of an angle of at most 90 degrees that is known to full precision,
    from nearly equal to nearly opposite quaternions. (With an arccosine, float32 is off by 2e-5
    near equality.)

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> slerp([0, 0, 0, 1], [0, 0, 1, 0], 0.25).round(4)
    array([0.    , 0.    , 0.3827, 0.9239])
    """
    p, q, s = _read(a, b, t)
    if shortest:
        q = _flip_towards(p, q)
    middle, half_arc = _halve_arc(p, q)
    first_half = s <= 0.5
    end = np.where(first_half, p, q)
    u = np.where(first_half, 2 * s, 2 - 2 * s)
    sine = np.sin(half_arc)
    moves = sine > 0
    sine = np.where(moves, sine, 1)
    towards_end = np.where(moves, np.sin((1 - u) * half_arc) / sine, 1)
    towards_middle = np.where(moves, np.sin(u * half_arc) / sine, 0)
    result: Floats = towards_end * end + towards_middle * middle
    return result


def _read(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> tuple[Floats, Floats, Floats]:
    p, q, s = read((a, QUATERNION), (b, QUATERNION), (t, SCALAR))
    return p, q, s[..., np.newaxis]


def _flip_towards(p: Floats, q: Floats) -> Floats:
    return np.where(_arrays.dot(p, q)[..., np.newaxis] < 0, -q, q)


def _halve_arc(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the middle of the arc from p to q (..., 4) and half its length (..., 1)."""
    total, gap = p + q, q - p
    gap_length = _arrays.length(gap)[..., np.newaxis]
    # Nearly opposite, the sum is so short that rounding in |p| and |q| tilts it: stand it upright.
    wide = gap_length > _arrays.length(total)[..., np.newaxis]
    tilt = _arrays.dot(total, gap)[..., np.newaxis] / np.where(wide, gap_length**2, 1)
    total = total - np.where(wide, tilt, 0) * gap
    total_length = _arrays.length(total)[..., np.newaxis]

    opposite = total_length <= 4 * np.finfo(p.dtype).eps  # what is left is rounding noise
    local_z_turn = p[..., [1, 0, 3, 2]] * np.array((1, -1, 1, -1), dtype=p.dtype)  # p times k
    middle = np.where(opposite, local_z_turn, total / np.where(opposite, 1, total_length))
    return middle, np.arctan2(gap_length, total_length)
