"""Bones, gaze and node constraints into a document."""

from __future__ import annotations

import math
from typing import Any

from bunraku.formats.gltf.context import Context
from bunraku.formats.gltf.encoding import put
from bunraku.formats.vrm.descent import spans
from bunraku.formats.vrm.fields import Tree
from bunraku.formats.vrm.names import AXES, RANGE_MAPS, THUMBS_OF_0
from bunraku.formats.vrm.read_rig import CONSTRAINT, LINEAR_CURVE
from bunraku.model import (
    AimConstraint,
    Constraint,
    Humanoid,
    LookAt,
    RangeMap,
    RollConstraint,
    Skeleton,
    differences,
)
from bunraku.model.humanoid import PARENTS, REQUIRED

_THUMBS_0 = {new: old for old, new in THUMBS_OF_0.items()}
_AXES_1 = {axis: name for name, axis in AXES.items()}


def write_humanoid_1(extension: Tree, humanoid: Humanoid) -> None:
    """Bring the humanoid of VRMC_vrm or VRMC_vrm_animation to these bones."""
    human = dict(extension.get("humanoid") or {})
    before = human.get("humanBones") or {}
    human["humanBones"] = {
        bone: {**(before.get(bone) or {}), "node": node} for bone, node in humanoid.bones.items()
    }
    extension["humanoid"] = human


def write_humanoid_0(extension: Tree, humanoid: Humanoid) -> None:
    human = dict(extension.get("humanoid") or {})
    before = {each.get("bone"): each for each in human.get("humanBones") or ()}
    bones = []
    for bone, node in humanoid.bones.items():
        name = _THUMBS_0.get(bone, bone)
        old = before.get(name) or {"bone": name, "useDefaultValues": True}
        bones.append({**old, "node": node})
    human["humanBones"] = bones
    extension["humanoid"] = human


def nested(humanoid: Humanoid, skeleton: Skeleton, context: Context) -> Humanoid:
    """The humanoid of a model of MMD, each bone below the next one above where it can be (noted).

    MMD's lower and upper body stand side by side: hips become the node that both hang on, which
    carries the figure in MMD, too. Bones that VRM does not require are left out where they hang
    elsewhere, as toes below a foot that only follows.
    """
    bones = dict(humanoid.bones)
    ranks, ends = spans(skeleton)

    def below(node: int, above: int) -> bool:
        return ranks[above] < ranks[node] < ends[above]

    carried = [bones[b] for b in ("spine", "leftUpperLeg", "rightUpperLeg") if b in bones]
    hips = bones.get("hips", -1)
    while hips >= 0 and not all(below(node, hips) for node in carried):
        hips = int(skeleton.parents[hips])
    if hips >= 0 and hips not in bones.values():
        message = (
            f"node {hips}, {skeleton.names[hips][:60]!r}, plays hips: spine and legs hang on it,"
            f" not on node {bones['hips']}, {skeleton.names[bones['hips']][:60]!r}"
        )
        context.note("hips-raised", ("humanoid",), message)
        bones["hips"] = hips
    for bone in PARENTS:
        above = Humanoid(bones).parent(bone) if bone in bones else None
        if above is None or below(bones[bone], bones[above]) or bone in REQUIRED:
            continue
        name = skeleton.names[bones[bone]]
        message = f"{bone}, {name[:60]!r}, is not below {above}; the bone is left out"
        context.note("bone-apart", ("humanoid",), message)
        del bones[bone]
    return Humanoid(bones)


def write_look_at_1(extension: Tree, gaze: LookAt | None) -> None:
    if gaze is None:
        extension.pop("lookAt", None)
        return
    tree = dict(extension.get("lookAt") or {})
    tree |= {"type": gaze.kind, "offsetFromHeadBone": gaze.offset.tolist()}
    for name, (key, _) in RANGE_MAPS.items():
        limit, output = _degrees(getattr(gaze, name), gaze.kind)
        tree[key] = {**(tree.get(key) or {}), "inputMaxValue": limit, "outputScale": output}
    extension["lookAt"] = tree


def write_look_at_0(extension: Tree, old: LookAt | None, gaze: LookAt | None) -> None:
    tree = dict(extension.get("firstPerson") or {})
    if gaze is None:
        for key in ("lookAtTypeName", *(old_key for _, old_key in RANGE_MAPS.values())):
            tree.pop(key, None)
    else:
        x, y, z = gaze.offset.tolist()
        tree["firstPersonBoneOffset"] = {"x": x, "y": y, "z": -z}
        tree["lookAtTypeName"] = "Bone" if gaze.kind == "bone" else "BlendShape"
        for name, (_, key) in RANGE_MAPS.items():
            given = getattr(gaze, name)
            if old is not None and (old.kind, getattr(old, name)) == (gaze.kind, given):
                continue  # with the curve it may have
            limit, output = _degrees(given, gaze.kind)
            kept = {**(tree.get(key) or {}), "xRange": limit, "yRange": output}
            tree[key] = {**kept, "curve": LINEAR_CURVE}
    put(extension, "firstPerson", tree, {})


def _degrees(given: RangeMap, kind: str) -> tuple[float, float]:
    output = _in_degrees(given.output) if kind == "bone" else given.output
    return _in_degrees(given.limit), output


def _in_degrees(radians: float) -> float:
    """Degrees as somebody wrote them: 12, not 11.999999999999998."""
    return float(f"{math.degrees(radians):.12g}")


def write_constraints(
    nodes: list[Tree], old: tuple[Constraint, ...], new: tuple[Constraint, ...]
) -> bool:
    """Bring the nodes' constraints from `old` to `new`; whether any was written."""
    before = {each.node: each for each in old}
    after = {each.node: each for each in new}
    for node in before.keys() - after.keys():
        extensions = dict(nodes[node]["extensions"])
        extensions.pop(CONSTRAINT, None)
        put(nodes[node], "extensions", extensions, {})
    changed = {node: each for node, each in after.items() if before.get(node) != each}
    for node, constraint in changed.items():
        extensions = dict(nodes[node].get("extensions") or {})
        kept = extensions.get(CONSTRAINT) or {"specVersion": "1.0"}
        extensions[CONSTRAINT] = {**kept, "constraint": _constraint(constraint)}
        nodes[node]["extensions"] = extensions
    return bool(changed)


def _constraint(constraint: Constraint) -> Tree:
    inner: dict[str, Any] = {"source": constraint.source}
    if isinstance(constraint, RollConstraint):
        kind = "roll"
        inner["rollAxis"] = constraint.axis
    elif isinstance(constraint, AimConstraint):
        kind = "aim"
        inner["aimAxis"] = _AXES_1[constraint.axis]
    else:
        kind = "rotation"
    put(inner, "weight", constraint.weight, 1.0)
    return {kind: inner}


def same(a: object, b: object) -> bool:
    return not differences(a, b)
