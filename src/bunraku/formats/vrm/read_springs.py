"""Springs and colliders of VRMC_springBone and of 0.x secondaryAnimation.

Sources: VRMC_springBone 1.0, VRMC_springBone_extended_collider 1.0, VRM 0.0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np

from bunraku.errors import FormatError
from bunraku.formats.binary import Budget
from bunraku.formats.gltf.context import spell
from bunraku.formats.vrm.descent import spans
from bunraku.formats.vrm.fields import Fields, Tree
from bunraku.model import Collider, Skeleton, Spring, SpringJoint

SPRINGS = "VRMC_springBone"
EXTENDED = "VRMC_springBone_extended_collider"
JOINT_BYTES = 800  # of a spring joint, generously
# A 0.x chain ends in a tail that is not in the file, this far on.
VIRTUAL_TAIL = 0.07

Springs = tuple[tuple[Spring, ...], tuple[Collider, ...]]
Vector = tuple[float, float, float]


class SpringReader:
    """Reads springs over one skeleton; a node swings in one spring only, the first."""

    def __init__(self, nodes: list[Tree], skeleton: Skeleton, budget: Budget) -> None:
        self.nodes = nodes
        self.skeleton = skeleton
        self.budget = budget
        self.taken: set[int] = set()
        self._spans: tuple[list[int], list[int]] | None = None

    def springs_1(self, extension: Fields) -> Springs:
        """The springs of VRMC_springBone and all its colliders."""
        colliders: list[Collider] = []
        places: dict[int, int] = {}
        for i, fields in enumerate(extension.objects("colliders")):
            collider = _collider_1(fields)
            if collider is not None:
                places[i] = len(colliders)
                colliders.append(collider)
        count = len(extension.objects("colliders"))
        groups = [
            [places[i] for i in fields.indices("colliders", "colliders", count) if i in places]
            for fields in extension.objects("colliderGroups")
        ]
        springs = [self._spring_1(fields, groups) for fields in extension.objects("springs")]
        return tuple(springs), tuple(colliders)

    def _spring_1(self, fields: Fields, groups: list[list[int]]) -> Spring:
        chain = [
            (node, each)
            for each in fields.objects("joints")
            if (node := each.index("node", "nodes")) is not None
        ]
        self.budget.spend(JOINT_BYTES * len(chain), spell(fields.place))
        joints = []
        for (node, each), (child, _) in pairwise(chain):
            if not self._is_above(node, child):
                each.note("spring-apart", f"node {child}, its tail, is not below it; left out")
            elif self._free(node, each):
                joints.append(
                    SpringJoint(
                        node,
                        child,
                        None,
                        each.number("stiffness", 1.0),
                        each.number("gravityPower", 0.0),
                        cast(Vector, each.vector("gravityDir", (0.0, -1.0, 0.0))),
                        each.number("dragForce", 0.5),
                        each.number("hitRadius", 0.0),
                    )
                )
        return Spring(
            fields.text("name"),
            tuple(joints),
            self._colliders(fields, groups),
            fields.index("center", "nodes"),
        )

    def _is_above(self, node: int, child: int) -> bool:
        if self._spans is None:
            self._spans = spans(self.skeleton)
        ranks, ends = self._spans
        return ranks[node] < ranks[child] < ends[node]

    def _free(self, node: int, fields: Fields) -> bool:
        if node in self.taken:
            fields.note("spring-twice", f"node {node} swings already; the first spring counts")
            return False
        self.taken.add(node)
        return True

    def _colliders(self, fields: Fields, groups: list[list[int]]) -> tuple[int, ...]:
        named = fields.indices("colliderGroups", "collider groups", len(groups))
        self.budget.spend(64 * sum(len(groups[g]) for g in named), spell(fields.place))
        return tuple(collider for g in named for collider in groups[g])

    def springs_0(self, extension: Fields) -> Springs:
        """Every node below the roots swings, towards its first child or a virtual tail."""
        secondary = extension.fields("secondaryAnimation")
        if secondary is None:
            return (), ()
        colliders: list[Collider] = []
        groups: list[list[int]] = []
        for fields in secondary.objects("colliderGroups"):
            node = fields.index("node", "nodes")
            groups.append([])
            for each in fields.objects("colliders"):
                x, y, z = each.vector("offset", (0.0, 0.0, 0.0))
                radius = each.number("radius", 0.0)
                if node is not None:
                    groups[-1].append(len(colliders))
                    offset = np.array((x, y, -z))  # the one place where 0.x is left-handed
                    colliders.append(Collider(node, "sphere", offset, radius))
        springs = [self._spring_0(fields, groups) for fields in secondary.objects("boneGroups")]
        return tuple(springs), tuple(colliders)

    def _spring_0(self, fields: Fields, groups: list[list[int]]) -> Spring:
        setting = (
            fields.number("stiffiness", 1.0),  # so it is spelled in the specification
            fields.number("gravityPower", 0.0),
            cast(Vector, fields.vector("gravityDir", (0.0, -1.0, 0.0))),
            fields.number("dragForce", 0.4),
            fields.number("hitRadius", 0.0),
        )
        joints = []
        stack = fields.indices("bones", "nodes")[::-1]
        while stack:
            node = stack.pop()
            children = self.nodes[node].get("children", [])
            if not self._free(node, fields):
                continue
            stack += children[::-1]
            self.budget.spend(JOINT_BYTES, spell(fields.place))
            if children:
                joints.append(SpringJoint(node, children[0], None, *setting))
                continue
            length = np.linalg.norm(self.skeleton.translations[node])
            if length > 0:
                tail = self.skeleton.translations[node] * (VIRTUAL_TAIL / length)
                joints.append(SpringJoint(node, None, tail, *setting))
            else:
                message = f"node {node} ends a chain at no distance from its parent; left out"
                fields.note("spring-without-tail", message, "bones")
        return Spring(
            fields.text("comment"),
            tuple(joints),
            self._colliders(fields, groups),
            fields.index("center", "nodes"),
        )


def _collider_1(fields: Fields) -> Collider | None:
    """A collider by its extended shape, else by its plain one; None if it has no node or shape."""
    node = fields.index("node", "nodes")
    shape, kinds = fields.fields("shape"), ("sphere", "capsule")
    extensions = fields.fields("extensions")
    extended = None if extensions is None else extensions.fields(EXTENDED)
    if extended is not None and extended.fields("shape") is not None:
        shape, kinds = extended.fields("shape"), ("sphere", "capsule", "plane")  # type: ignore[assignment]
    kind = next((kind for kind in kinds if shape and shape.tree.get(kind) is not None), None)
    if kind is None or shape is None:
        fields.note("collider-unknown", "has no shape that is known; left out", "shape")
        return None
    inner = shape.fields(kind)
    assert inner is not None
    given: dict[str, Any] = {"offset": inner.vector("offset", (0.0, 0.0, 0.0))}
    if kind == "plane":
        given["normal"] = inner.vector("normal", (0.0, 0.0, 1.0))
        if not any(given["normal"]):
            raise FormatError(
                f"{fields.context.source}: {spell(inner.at('normal'))}: expected a direction,"
                " found (0, 0, 0)"
            )
    else:
        given["radius"] = inner.number("radius", 0.0)
        given["inside"] = inner.flag("inside")
    if kind == "capsule":
        given["tail"] = inner.vector("tail", (0.0, 0.0, 0.0))
    return None if node is None else Collider(node, kind, **given)  # type: ignore[arg-type]
