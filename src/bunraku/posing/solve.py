"""Local transforms to global ones, with everything a rig has to say about it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Pose, Rig, Skeleton
from bunraku.model.arrays import Float64
from bunraku.posing.constraints import constrain
from bunraku.posing.kinematics import global_transforms

# Rigs and skeletons never change, so what follows from both is worked out once.
_plans: WeakKeyDictionary[Rig, WeakKeyDictionary[Skeleton, _core.rig.Plan]] = WeakKeyDictionary()


def solve(
    skeleton: Skeleton,
    rig: Rig | None,
    pose: Pose,
    *,
    keep_best: bool = False,
    plain_step: bool = False,
) -> Float64:
    """Return (F, N, 3, 4) float64 node-to-world transforms of every node, rigged.

    Without a rig this is `global_transforms`; with one without layers, the same after its
    constraints (VRM, see `constraints.constrain`).

    MMD's rigs: nodes are evaluated by (after physics, layer, index), each with its append, and a
    chain right after its goal. A node whose parent comes later waits for it, and a goal for the
    parents of its chain; MMD itself shows such nodes a frame late. An append takes what its
    source has by then: its own motion and, if the source appends the same kind, what that gave;
    of a link, its turn by IK too; of a source that appends but comes later, nothing. "Local"
    appends take the source's motion in the character's space. Nodes are taken to have no rest
    rotation, as in PMX, and what local appends take, no scale; fixed axes are `on_fixed_axes`.

    Chains turn their links one after the other, nearest the effector first, until it is within
    8 µm of the goal or all loops are done, by babylon-mmd's rules (which came from saba): limits
    about the axes of an Euler split, in the first half of the loops mirrored at, and link k turns
    by (k + 1) × step at most, as its parent sees the goal: also below nodes that scale or mirror,
    which MMD has not. Links of a chain that is off do not turn. Frames do not depend on each
    other. Results are the same bits at every thread count and, where there is a rig, at every
    instruction set.

    Args:
        pose: F frames; `ik` says which chains are on.
        keep_best: end a chain before a pass over its links that brings the effector no nearer.
        plain_step: a link turns by `step` at most, whichever link it is, and by any angle where
            `step` is 0: mmd-anim's rule, said to be MMD's own.

    Raises:
        RigError: the pose is not of this skeleton and rig, or the rig is one that would take
            more than a hundred million matrices per frame.

    >>> from bunraku.model import IkChain, IkLink
    >>> rest = [[0, 2, 0], [0, -1, 0.1], [0, -1, 0], [0, 0, 0]]
    >>> leg = Skeleton(("hip", "knee", "foot", "goal"), [-1, 0, 1, -1], rest)
    >>> rig = Rig(layers=[0, 0, 0, 1], chains=(IkChain(3, 2, (IkLink(1), IkLink(0)), 40, 2.0),))
    >>> lifted = Pose([[*rest[:3], [0, 0.5, 0]]], leg.rotations[None], leg.scales[None])
    >>> np.allclose(solve(leg, rig, lifted)[0, 2, :, 3], [0, 0.5, 0], atol=1e-3)
    True
    """
    if rig is None:
        return global_transforms(skeleton, pose)
    if rig.layers is None:
        return global_transforms(skeleton, constrain(skeleton, rig, pose))
    nodes = pose.translations.shape[1]
    if nodes != len(skeleton):
        raise RigError(f"pose: {nodes} nodes, but the skeleton has {len(skeleton)}")
    if pose.ik.shape[1] not in (0, len(rig.chains)):
        raise RigError(f"pose.ik: {pose.ik.shape[1]} chains, but the rig has {len(rig.chains)}")
    out = np.empty((pose.frames, nodes, 3, 4))
    switches = np.ascontiguousarray(pose.ik) if pose.ik.size else None
    _core.rig.solve(
        _plan(skeleton, rig),
        pose.translations,
        pose.rotations,
        pose.scales,
        switches,
        bool(keep_best),
        bool(plain_step),
        out,
    )
    return out


def _plan(skeleton: Skeleton, rig: Rig) -> _core.rig.Plan:
    plans = _plans.setdefault(rig, WeakKeyDictionary())
    plan = plans.get(skeleton)
    if plan is None:
        plan = plans[skeleton] = _prepared(skeleton, rig)
    return plan


def _prepared(skeleton: Skeleton, rig: Rig) -> _core.rig.Plan:
    links = [link for chain in rig.chains for link in chain.links]
    limits = np.full((len(links), 2, 3), np.nan)
    for i, link in enumerate(links):
        if link.limits is not None:
            limits[i] = link.limits
    appends = [(a.node, a.source) for a in rig.appends]
    kinds = [(a.rotation, a.translation, a.local) for a in rig.appends]
    chains = [(c.goal, c.effector, min(c.loops, 2**31 - 1), len(c.links)) for c in rig.chains]
    assert rig.layers is not None
    assert rig.after_physics is not None
    try:
        return _core.rig.Plan(
            skeleton.parents,
            skeleton.translations,
            rig.layers,
            np.ascontiguousarray(rig.after_physics),
            np.array(appends, np.int32).reshape(-1, 2),
            np.array([append.ratio for append in rig.appends], np.float64),
            np.array(kinds, bool).reshape(-1, 3),
            np.array(chains, np.int32).reshape(-1, 4),
            np.array([chain.step for chain in rig.chains], np.float64),
            np.array([link.node for link in links], np.int32),
            limits,
        )
    except ValueError as error:
        raise RigError(f"rig: {error}") from None
