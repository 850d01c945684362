"""What moves the bones of a PMX beside a motion: appends, fixed axes, IK, and their order.

Whatever leads back to itself is cut, so that every evaluation ends (the document keeps it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.pmx import BoneFlag, PmxBone, PmxIk
from bunraku.formats.mmd.space import mirrored, mirrored_limits
from bunraku.model import Append, FixedAxis, IkChain, IkLink, Rig

Array = npt.NDArray[Any]

LOOPS = 256  # MMD's own limit (babylon-mmd)


def read_parents(bones: Sequence[PmxBone], notes: list[Note]) -> Array:
    """(N,) int32 parents; the first bone of each cycle becomes a root."""
    parents = np.array([bone.parent for bone in bones], np.int32)
    for bone in first_of_cycles(parents.tolist()):
        message = f"{_named(bones, bone)} is its own ancestor; made a root"
        notes.append(Note("parent-cycle", message, f"bones[{bone}]"))
        parents[bone] = -1
    return parents


def first_of_cycles(next_: Sequence[int]) -> list[int]:
    """The lowest member of each cycle of a chain of references; below 0 a chain ends.

    >>> first_of_cycles([-1, 3, 1, 2, 4, 1])
    [1, 4]
    """
    seen = [-1] * len(next_)
    found = []
    for start in range(len(next_)):
        at = start
        while at >= 0 and seen[at] < 0:
            seen[at] = start
            at = next_[at]
        if at >= 0 and seen[at] == start:  # a cycle that this walk has closed
            members = [at]
            while next_[members[-1]] != at:
                members.append(next_[members[-1]])
            found.append(min(members))
    return found


def read_rig(bones: Sequence[PmxBone], notes: list[Note]) -> Rig:
    """Layers, appends, fixed axes and IK chains, in the model's space."""
    return Rig(
        layers=np.array([bone.layer for bone in bones], np.int32),
        after_physics=np.array([bool(bone.flags & BoneFlag.AFTER_PHYSICS) for bone in bones], bool),
        appends=_appends(bones, notes),
        fixed_axes=_fixed_axes(bones, notes),
        chains=_chains(bones, notes),
    )


def _appends(bones: Sequence[PmxBone], notes: list[Note]) -> tuple[Append, ...]:
    sources = [-1 if bone.append is None else bone.append[0] for bone in bones]
    cut = set(first_of_cycles(sources))
    appends = []
    for i, bone in enumerate(bones):
        if bone.append is None or bone.append[0] < 0:
            continue
        source, ratio = bone.append
        if i in cut or not math.isfinite(ratio):
            reason = "follows itself" if i in cut else f"follows by a ratio of {ratio}"
            message = f"{_named(bones, i)} {reason}; it follows nobody"
            notes.append(Note("append-dropped", message, f"bones[{i}]"))
            continue
        turns = bool(bone.flags & BoneFlag.APPEND_ROTATION)
        moves = bool(bone.flags & BoneFlag.APPEND_TRANSLATION)
        local = bool(bone.flags & BoneFlag.APPEND_LOCAL)
        appends.append(Append(i, source, ratio, turns, moves, local))
    return tuple(appends)


def _fixed_axes(bones: Sequence[PmxBone], notes: list[Note]) -> tuple[FixedAxis, ...]:
    axes = []
    for i, bone in enumerate(bones):
        if bone.fixed_axis is None:
            continue
        if all(map(math.isfinite, bone.fixed_axis)):
            axes.append(FixedAxis(i, mirrored(bone.fixed_axis)))
        else:
            message = f"the fixed axis of {_named(bones, i)} is no numbers; it turns freely"
            notes.append(Note("fixed-axis-dropped", message, f"bones[{i}]"))
    return tuple(axes)


def _chains(bones: Sequence[PmxBone], notes: list[Note]) -> tuple[IkChain, ...]:
    # an effector that is the goal of another chain is solved with it, and that must end
    targets = [-1 if bone.ik is None else bone.ik.target for bone in bones]
    cut = set(first_of_cycles(targets))
    chains = []
    for i, bone in enumerate(bones):
        if bone.ik is None:
            continue
        place = f"bones[{i}].ik"
        why = "reaches for itself" if i in cut else "has no effector" if bone.ik.target < 0 else ""
        if not math.isfinite(bone.ik.step_limit):
            why = f"turns by steps of {bone.ik.step_limit}"
        if why:
            message = f"the IK of {_named(bones, i)} {why}; it is left out"
            notes.append(Note("ik-dropped", message, place))
            continue
        chains.append(_chain(i, bone.ik, place, notes))
    return tuple(chains)


def _chain(goal: int, ik: PmxIk, place: str, notes: list[Note]) -> IkChain:
    links = []
    for j, link in enumerate(ik.links):
        limits = link.limits
        if link.bone < 0:
            notes.append(Note("ik-link-dropped", "a link is no bone", f"{place}.links[{j}]"))
            continue
        if limits is not None and not np.isfinite(limits).all():
            message = "limits are no numbers; it turns freely"
            notes.append(Note("ik-limits-dropped", message, f"{place}.links[{j}]"))
            limits = None
        links.append(IkLink(link.bone, None if limits is None else mirrored_limits(limits)))
    loops = min(max(ik.loops, 0), LOOPS)
    if loops != ik.loops:
        message = f"{ik.loops} passes are declared; {loops} are made"
        notes.append(Note("ik-loops", message, place))
    return IkChain(goal, ik.target, tuple(links), loops, ik.step_limit)


def _named(bones: Sequence[PmxBone], bone: int) -> str:
    return f"bone {bones[bone].name[:60]!r}"
