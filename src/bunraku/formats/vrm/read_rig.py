"""Bones, gaze and node constraints.

Sources: VRMC_vrm 1.0, humanoid and lookAt; VRM 0.0, humanoid and firstPerson;
VRMC_node_constraint 1.0.
"""

from __future__ import annotations

import math
from typing import Literal, cast

from bunraku.errors import FormatError
from bunraku.formats.gltf.context import Context, Place, spell
from bunraku.formats.vrm.descent import bones_apart
from bunraku.formats.vrm.fields import Fields, Tree
from bunraku.formats.vrm.names import AXES, RANGE_MAPS, THUMBS_OF_0
from bunraku.model import (
    AimConstraint,
    Constraint,
    Humanoid,
    LookAt,
    RangeMap,
    RollConstraint,
    RotationConstraint,
    Skeleton,
)
from bunraku.model.humanoid import PARENTS
from bunraku.model.rig import Axis

CONSTRAINT = "VRMC_node_constraint"
# Linear, as Unity's animation curve says it: time, value, in-tangent, out-tangent of two keys.
LINEAR_CURVE = [0, 0, 0, 1, 1, 1, 1, 0]


def read_humanoid(extension: Fields, old: bool, skeleton: Skeleton) -> Humanoid | None:
    """Who plays which bone; None without a humanoid object.

    Drafts of 1.0 named thumbs as 0.x does; what has a middle joint of that name is read so.

    Raises:
        FormatError: a bone that two nodes play, or a node that plays two bones.
    """
    human = extension.fields("humanoid")
    if human is None:
        extension.note("humanoid-missing", "there is no humanoid: motions find no bones")
        return None
    bones: dict[str, int] = {}
    players: dict[int, str] = {}
    named = _bones(human, old)
    if not old and any(name.endswith("ThumbIntermediate") for name, _ in named):
        human.note("thumbs-renamed", "thumbs have the names of VRM 0.x; read as such")
        named = [(THUMBS_OF_0.get(name, name), fields) for name, fields in named]
    for name, fields in named:
        if name not in PARENTS:
            fields.note("unknown-bone", f"{name[:40]!r} is no bone of a humanoid; left out")
            continue
        if name in bones:
            found = f"another one, after node {bones[name]}"
            raise _ambiguous(fields, f"one node for {name}", found)
        node = fields.index("node", "nodes")
        if node is None:
            continue
        if node in players:
            found = f"node {node} for {players[node]} and {name}"
            raise _ambiguous(fields, "one bone for each node", found)
        bones[name] = node
        players[node] = name
    humanoid = Humanoid(bones)
    if humanoid.missing:
        message = f"nobody plays {', '.join(humanoid.missing)}, which VRM requires"
        human.note("humanoid-incomplete", message)
    for message in bones_apart(humanoid, skeleton):
        human.note("bone-apart", message)
    return humanoid


def _ambiguous(fields: Fields, expected: str, found: str) -> FormatError:
    place = spell(fields.place)
    return FormatError(f"{fields.context.source}: {place}: expected {expected}, found {found}")


def _bones(human: Fields, old: bool) -> list[tuple[str, Fields]]:
    if not old:
        bones = human.fields("humanBones")
        return [] if bones is None else list(bones.members())
    named = [(fields.text("bone"), fields) for fields in human.objects("humanBones")]
    return [(THUMBS_OF_0.get(name, name), fields) for name, fields in named]


def read_look_at(extension: Fields, old: bool) -> LookAt | None:
    """The gaze; angles in radians, weights of expressions as they are."""
    fields = extension.fields("firstPerson" if old else "lookAt")
    if fields is None or (old and not any(key.startswith("lookAt") for key in fields.tree)):
        return None
    if old:
        kinds = {"Bone": "bone", "BlendShape": "expression"}
        kind = kinds[fields.choice("lookAtTypeName", tuple(kinds), "Bone")]
        x, y, z = fields.vector("firstPersonBoneOffset", (0.0, 0.06, 0.0))
        offset = (x, y, -z)
    else:
        kind = fields.choice("type", ("bone", "expression"), "bone")
        offset = cast(tuple[float, float, float], fields.vector("offsetFromHeadBone", (0, 0.06, 0)))
    maps = {name: _range_map(fields, keys[old], kind, old) for name, keys in RANGE_MAPS.items()}
    return LookAt(cast(Literal["bone", "expression"], kind), offset, **maps)


def _range_map(fields: Fields, key: str, kind: str, old: bool) -> RangeMap:
    given = fields.fields(key) or Fields({}, fields.at(key), fields.context)
    limit = given.number("xRange" if old else "inputMaxValue", 90.0)
    output = given.number("yRange" if old else "outputScale", 10.0 if kind == "bone" else 1.0)
    if old and given.tree.get("curve") not in (None, LINEAR_CURVE):
        given.note("gaze-curve-carried", "is not linear; read as linear", "curve")
    return RangeMap(math.radians(limit), math.radians(output) if kind == "bone" else output)


def read_constraints(nodes: list[Tree], context: Context) -> tuple[Constraint, ...]:
    """Constraints of all nodes, in node order."""
    found = []
    for i, node in enumerate(nodes):
        value = node.get("extensions", {}).get(CONSTRAINT)
        if value is None:
            continue
        place: Place = ("nodes", i, "extensions", CONSTRAINT)
        inner = Fields.of(value, place, context).fields("constraint")
        constraint = None if inner is None else _constraint(i, inner)
        if constraint is not None:
            found.append(constraint)
    return tuple(found)


def _constraint(node: int, fields: Fields) -> Constraint | None:
    kinds = [kind for kind in ("roll", "aim", "rotation") if fields.tree.get(kind) is not None]
    if not kinds:
        fields.note("constraint-unknown", "is neither roll, aim nor rotation; left out")
        return None
    if len(kinds) > 1:
        fields.note("constraint-ambiguous", f"has {' and '.join(kinds)}; {kinds[0]} counts")
    inner = fields.fields(kinds[0])
    assert inner is not None
    weight = inner.number("weight", 1.0)
    if not 0 <= weight <= 1:
        inner.note("weight-clamped", f"is {weight:g}; moved into 0 … 1", "weight")
        weight = min(max(weight, 0.0), 1.0)
    source = inner.index("source", "nodes")
    if kinds[0] == "roll":
        roll = cast(Literal["X", "Y", "Z"], inner.choice("rollAxis", ("X", "Y", "Z"), "X"))
    elif kinds[0] == "aim":
        aim = cast(Axis, AXES[inner.choice("aimAxis", tuple(AXES), "PositiveX")])
    if source is None:
        inner.note("constraint-without-source", "has no source; left out")
        return None
    if kinds[0] == "roll":
        return RollConstraint(node, source, roll, weight)
    if kinds[0] == "aim":
        return AimConstraint(node, source, aim, weight)
    return RotationConstraint(node, source, weight)
