"""The pose of a bound clip at any times."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Pose
from bunraku.model.arrays import Float64
from bunraku.motion.binding import BoundClip


def sample(bound: BoundClip, times: npt.ArrayLike) -> Pose:
    """Return the pose at one time or at many, in any order.

    Before its first and after its last key a track holds that key's value; nodes, weights and
    switches without a track are at rest (glTF 2.0, 3.11). A time within 1e-6 s of a key is that
    key, and gets the value as stored: files keep times as float32. Rotations are normalised in
    float64: LINEAR ones turn at even speed on the shorter arc, CUBICSPLINE ones are normalised
    after the formula of appendix C, without any flip (where it gives zero, the nearer key counts).
    BEZIER is LINEAR after the time between two keys was bent by the curve of the later one, whose
    x is solved for to the last digits (babylon-mmd's 15 halvings are off by up to 8e-5).
    Results are the same bits at every instruction set and thread count, and for any order of
    the times.

    Args:
        bound: see `bind`.
        times: () or (F,) seconds; a single time gives one frame.

    Raises:
        RigError: a time is not a finite number, or the times are not () or (F,).

    >>> from bunraku.model import Character, Clip, Skeleton, Track
    >>> from bunraku.motion import bind
    >>> slide = Track("root", "translation", [1, 3], [[0, 0, 0], [4, 0, 0]])
    >>> bound = bind(Clip("slide", (slide,)), Character(Skeleton(("root",), [-1])))
    >>> sample(bound, [0, 2, 9]).translations[:, 0, 0]
    array([0., 2., 4.])
    """
    moments = as_moments(times)
    frames, rest = len(moments), bound.rest
    nodes = rest.translations.shape[1]
    others = (*rest.morph_weights, rest.expressions, rest.ik, rest.visible[:, None])
    widths = [each.shape[1] for each in others]
    translations = np.empty((frames, nodes, 3))
    rotations = np.empty((frames, nodes, 4))
    scales = np.empty((frames, nodes, 3))
    weights = np.empty((frames, sum(widths)))
    _core.sampling.sample(
        bound.key_times,
        bound.timeline_starts,
        bound.rows,
        bound.tracks,
        moments,
        rest.translations.reshape(-1),
        rest.rotations.reshape(-1),
        rest.scales.reshape(-1),
        np.concatenate([each[0].astype(np.float64) for each in others]),
        translations.reshape(frames, nodes * 3),
        rotations.reshape(frames, nodes * 4),
        scales.reshape(frames, nodes * 3),
        weights,
    )
    *morphs, expressions, ik, visible = (
        weights[:, start:stop] for start, stop in pairwise(np.cumsum([0, *widths]))
    )
    return Pose.of_unit(
        translations, rotations, scales, tuple(morphs), expressions, ik > 0.5, visible[:, 0] > 0.5
    )


def as_moments(times: npt.ArrayLike) -> Float64:
    """Times () or (F,) as (F,) float64.

    Raises:
        RigError: a time is not a finite number, or the times are not () or (F,).

    >>> as_moments(0.5)
    array([0.5])
    """
    try:
        moments = np.asarray(times, np.float64)
    except (TypeError, ValueError):
        raise RigError(f"times: expected numbers of seconds, found {times!r:.60}") from None
    if moments.ndim > 1:
        raise RigError(f"times: expected shape () or (frames,), found {moments.shape}")
    moments = np.ascontiguousarray(np.atleast_1d(moments))
    if not np.isfinite(moments).all():
        at = int(np.flatnonzero(~np.isfinite(moments))[0])
        raise RigError(f"times[{at}]: expected a finite number of seconds, found {moments[at]}")
    return moments
