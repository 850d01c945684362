"""Poses of one character mixed: cross-fades, and motions added on top of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model import Pose, Skeleton
from bunraku.model.arrays import Float64, checked, in_range
from bunraku.model.pose import Values, difference_of, widened
from bunraku.rotation import quaternion, slerp

Joints: TypeAlias = npt.ArrayLike | None


def blend(a: Pose, b: Pose, amount: npt.ArrayLike, *, joints: Joints = None) -> Pose:
    """Return the poses between a and b: a itself at amount 0, b itself at 1.

    Translations, scales and the weights of morphs and expressions are mixed linearly, rotations
    turn at even speed on the shorter arc; switches are those of the nearer pose. A
    cross-fade of two clips is a blend whose amount rises with time:
    ``blend(sample(walk, t), sample(run, t - start), np.clip((t - start) / duration, 0, 1))``.

    Args:
        a, b: poses of the same character, F frames each; a pose of one frame serves for all.
        amount: () or (F,) in [0, 1].
        joints: which nodes take part: (N,) bool, (N,) float shares in [0, 1] that `amount` is
            multiplied by, or integer node indices; all if None. Other nodes, and with `joints`
            given also all weights and switches, stay as in a. See `joint_mask`.

    Raises:
        RigError: poses of different characters or frame counts, an amount or share outside
            [0, 1], a node that does not exist.

    >>> flat = Pose([[[0, 0, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    >>> half_turn = Pose([[[0, 2, 0]]], [[[0, 0, 1, 0]]], [[[1, 1, 1]]])
    >>> blend(flat, half_turn, [0.25, 0.5]).translations[:, 0, 1]
    array([0.5, 1. ])
    """
    share, morph_share = _shares(a, b, amount, joints, "blend", (0.0, 1.0))
    u = share[..., None]
    turned = slerp(a.rotations, b.rotations, share)
    return Pose.of_unit(
        _mix(a.translations, b.translations, u),
        np.where(u == 0, a.rotations, np.where(u == 1, b.rotations, turned)),
        _mix(a.scales, b.scales, u),
        tuple(
            _mix(*pair, morph_share) for pair in zip(a.morph_weights, b.morph_weights, strict=True)
        ),
        _mix(*_filled(a.expressions, b.expressions, 0.0), morph_share),
        np.where(morph_share > 0.5, *_filled(a.ik, b.ik, True)[::-1]),
        np.where(morph_share[:, 0] > 0.5, b.visible, a.visible),
    )


def additive(pose: Pose, reference: Pose) -> Pose:
    """Return what `pose` does beyond `reference`, to be put on top of another pose by `add`.

    Translations, scales and weights are plain differences (a scale of 0 changes nothing), switches
    those of `pose`; rotations are conj(reference) · pose: turns in the joint's own frame, so that a
    nod added to a head that already looks sideways nods in the direction it looks.
    ``add(reference, additive(pose, reference))`` is `pose`.

    Args:
        pose, reference: poses of the same character, F frames each; a pose of one frame serves
            for all.

    Raises:
        RigError: poses of different characters or frame counts.

    >>> rest = Pose([[[0, 1, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    >>> additive(rest, rest).translations, additive(rest, rest).scales
    (array([[[0., 0., 0.]]]), array([[[0., 0., 0.]]]))
    """
    frames = _frames(pose, reference, "additive")
    turned = quaternion.multiply(quaternion.conjugate(reference.rotations), pose.rotations)
    return Pose.of_unit(
        pose.translations - reference.translations,
        turned.astype(np.float64, copy=False),
        pose.scales - reference.scales,
        tuple(p - r for p, r in zip(pose.morph_weights, reference.morph_weights, strict=True)),
        np.subtract(*_filled(pose.expressions, reference.expressions, 0.0)),
        np.broadcast_to(pose.ik, (frames, pose.ik.shape[1])),
        np.broadcast_to(pose.visible, (frames,)),
    )


def add(
    base: Pose, difference: Pose, amount: npt.ArrayLike = 1.0, *, joints: Joints = None
) -> Pose:
    """Return `base` with `amount` times a difference made by `additive` put on top.

    Rotations become base · slerp(identity, difference, amount); switches are those of `base`.

    Args:
        base, difference: F frames each; a pose of one frame serves for all.
        amount: () or (F,), any finite number: beyond 1 exaggerates, below 0 does the opposite.
        joints: as in `blend`.

    Raises:
        RigError: poses of different characters or frame counts, amounts that are not finite,
            a share outside [0, 1], a node that does not exist.

    >>> rest = Pose([[[0, 1, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    >>> jump = Pose([[[0, 3, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    >>> add(rest, additive(jump, rest), 0.5).translations
    array([[[0., 2., 0.]]])
    """
    share, morph_share = _shares(base, difference, amount, joints, "add", (-np.inf, np.inf))
    u = share[..., None]
    turn = slerp(quaternion.identity(), difference.rotations, share)
    expressions, changes = _filled(base.expressions, difference.expressions, 0.0)
    translations = base.translations + u * difference.translations
    return Pose.of_unit(
        translations,
        np.where(u == 0, base.rotations, quaternion.multiply(base.rotations, turn)),
        base.scales + u * difference.scales,
        tuple(
            weights + morph_share * change
            for weights, change in zip(base.morph_weights, difference.morph_weights, strict=True)
        ),
        expressions + morph_share * changes,
        np.broadcast_to(base.ik, (len(translations), base.ik.shape[1])),
        np.broadcast_to(base.visible, (len(translations),)),
    )


def joint_mask(
    skeleton: Skeleton, roots: str | SupportsIndex | Iterable[str | SupportsIndex]
) -> npt.NDArray[np.bool_]:
    """Return (N,) bool: the nodes named by `roots` and everything below them.

    Multiply by a number for a partial share: ``blend(a, b, 1, joints=0.3 * mask)``.

    Args:
        roots: a node index or name, or several of them.

    Raises:
        RigError: no such node.

    >>> joint_mask(Skeleton(("hips", "spine", "head", "leg"), [-1, 0, 1, 0]), "spine")
    array([False,  True,  True, False])
    """
    mask = np.zeros(len(skeleton), bool)
    if isinstance(roots, str) or not isinstance(roots, Iterable):
        roots = [roots]
    for root in roots:
        mask[skeleton.index(root)] = True
    for node in skeleton.order:
        parent = skeleton.parents[node]
        mask[node] |= parent >= 0 and mask[parent]
    return mask


def _mix(a: Float64, b: Float64, u: Float64) -> Float64:
    # In this form equal values stay as they are; where u is 1 the rounding of b − a is not wanted.
    return np.where(u == 1, b, a + u * (b - a))


def _filled(a: Values, b: Values, unsaid: float) -> tuple[Values, Values]:
    """Both as wide as the wider one."""
    width = max(a.shape[1], b.shape[1])
    return widened(a, width, unsaid), widened(b, width, unsaid)


def _shares(
    a: Pose,
    b: Pose,
    amount: npt.ArrayLike,
    joints: Joints,
    place: str,
    limits: tuple[float, float],
) -> tuple[Float64, Float64]:
    """How much of b is taken by each node, (F, N), and by weights and switches, (F, 1)."""
    frames = _frames(a, b, place)
    given = np.asarray(amount)
    if given.dtype.kind not in "biuf":
        raise RigError(f"{place}.amount: expected numbers, found {given.dtype}")
    amounts = given.astype(np.float64)
    if amounts.ndim > 1 or (frames != 1 and amounts.size not in (1, frames)):
        raise RigError(f"{place}.amount: expected shape () or ({frames},), found {amounts.shape}")
    low, high = limits
    bad = ~(np.isfinite(amounts) & (amounts >= low) & (amounts <= high))
    if bad.any():
        raise RigError(
            f"{place}.amount: expected finite numbers in [{low:g}, {high:g}], "
            f"found {amounts[bad].flat[0]:g}"
        )
    amounts = amounts.reshape(-1, 1)
    mask = _mask(joints, a.translations.shape[1], place)
    return amounts * mask, amounts * (1.0 if joints is None else 0.0)


def _frames(a: Pose, b: Pose, place: str) -> int:
    """Frames of the result, once it is known that both poses are of the same character."""
    what = difference_of(a, b)
    if what:
        raise RigError(f"{place}: expected poses of one character, found {what}")
    if a.frames != b.frames and 1 not in (a.frames, b.frames):
        raise RigError(f"{place}: expected as many frames, found {a.frames} and {b.frames}")
    return a.frames if b.frames == 1 else b.frames


def _mask(joints: Joints, nodes: int, place: str) -> Float64:
    """(N,) the share of each node."""
    if joints is None:
        return np.ones(nodes)
    mask = np.asarray(joints)
    if mask.dtype.kind in "iu" or mask.size == 0:
        indices = checked(mask.reshape(-1), np.int32, (None,), f"{place}.joints")
        in_range(indices, nodes, f"{place}.joints", "node")
        chosen = np.zeros(nodes)
        chosen[indices] = 1
        return chosen
    if mask.dtype.kind == "b":
        mask = mask.astype(np.float64)
    shares = checked(mask, np.float64, (nodes,), f"{place}.joints")
    outside = (shares < 0) | (shares > 1)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise RigError(f"{place}.joints[{at}]: expected a share in [0, 1], found {shares[at]:g}")
    return shares
