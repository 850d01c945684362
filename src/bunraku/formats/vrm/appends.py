"""MMD's appends as rotation constraints: both take a share of another node's local turn.

They come to the same where neither node is turned at rest, since then an append's slerp from no
turn at all is the constraint's from rest. What an append has beside it a constraint has not: a
motion of the node's own, shares below 0 or above 1, translations, turns in the character's space.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from bunraku.errors import RigError
from bunraku.formats.vrm.descent import spans
from bunraku.model import Append, Character, Rig, RotationConstraint, Skeleton
from bunraku.model.rig import constraint_order


def rotation_constraints(
    character: Character, rig: Rig
) -> tuple[tuple[RotationConstraint, ...], Counter[str]]:
    """A constraint for each append that one can say, and how many of the others are left out why.

    Bones of the humanoid stay free: a constraint would take the place of their own motion.

    >>> pair = Skeleton(("lead", "follow"), [-1, -1])
    >>> rotation_constraints(Character(pair), Rig(appends=(Append(1, 0, 0.5),)))[0]
    (RotationConstraint(node=1, source=0, weight=0.5),)
    """
    skeleton = character.skeleton
    played = set(character.humanoid.bones.values()) if character.humanoid is not None else set()
    bound = {constraint.node for constraint in rig.constraints}
    late = _later_sources(rig, skeleton)
    rested = (skeleton.rotations == [0, 0, 0, 1]).all(axis=1)
    ranks, ends = spans(skeleton)
    made: list[RotationConstraint] = []
    left: Counter[str] = Counter()
    for append in rig.appends:
        node, source = append.node, append.source
        if append.translation or not append.rotation:
            left["moves"] += 1
        elif append.local:
            left["in the character's space"] += 1
        elif not 0 < append.ratio <= 1:
            left["share outside 0 … 1"] += 1
        elif node in played:
            left["of a humanoid bone"] += 1
        elif node in bound:
            left["has a constraint"] += 1
        elif append in late:
            left["source comes later"] += 1
        elif not (rested[node] and rested[source]):
            left["turned at rest"] += 1
        elif ranks[node] <= ranks[source] < ends[node]:
            left["source hangs on it"] += 1
        else:
            made.append(RotationConstraint(node, source, append.ratio))
    try:
        constraint_order(skeleton, (*rig.constraints, *made))
    except RigError:  # through parents, which an append does not wait for
        left["wait for each other"], made = len(made), []
    return tuple(made), left


def _later_sources(rig: Rig, skeleton: Skeleton) -> set[Append]:
    """Appends that MMD evaluates before what their source appends, which they then miss."""
    count = len(skeleton)
    layers = np.zeros(count, int) if rig.layers is None else rig.layers
    late = np.zeros(count, bool) if rig.after_physics is None else rig.after_physics
    appended = {append.node for append in rig.appends if append.rotation}

    def rank(node: int) -> tuple[bool, int, int]:
        return bool(late[node]), int(layers[node]), node

    return {
        append
        for append in rig.appends
        if append.source in appended and rank(append.source) > rank(append.node)
    }
