"""Springs and colliders into VRMC_springBone and 0.x secondaryAnimation.

Springs are written anew as a whole when any of them changed: collider groups are shared.
"""

from __future__ import annotations

from typing import Any

from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.encoding import put
from bunraku.formats.vrm.fields import Tree
from bunraku.formats.vrm.read_springs import EXTENDED, VIRTUAL_TAIL
from bunraku.model import Collider, Rig, Skeleton, Spring, SpringJoint

# Where a shape that plain VRMC_springBone does not know does no harm.
FAR_AWAY = {"sphere": {"radius": 0.0, "offset": [0.0, -10000.0, 0.0]}}


def springs_1(before: Tree, rig: Rig, nodes: list[Tree]) -> Tree:
    """VRMC_springBone of a rig; a joint whose tail is no node gets one, appended to `nodes`."""
    known = {
        joint.get("node"): joint
        for spring in before.get("springs") or ()
        for joint in spring.get("joints") or ()
    }
    named = {spring.get("name", ""): spring for spring in before.get("springs") or ()}
    groups: list[Tree] = []
    springs = []
    for spring in rig.springs:
        tree = dict(named.get(spring.name) or {})
        put(tree, "name", spring.name, "")
        put(tree, "center", spring.center, None)
        put(tree, "colliderGroups", _group(groups, spring), [])
        for chain in _chains(spring):
            joints = [{**known.get(j.node, {}), **_setting_1(j)} for j in chain]
            end = chain[-1].child
            if end is None:
                end = _tail_node(chain[-1], nodes)
            joints.append({**known.get(end, {}), "node": end})
            springs.append({**tree, "joints": joints})
        if not spring.joints:
            springs.append({**tree, "joints": tree.get("joints", [])})
    result = {"specVersion": "1.0", **before}
    put(result, "colliders", [_collider_1(each) for each in rig.colliders], [])
    put(result, "colliderGroups", groups, [])
    put(result, "springs", springs, [])
    return result


def _group(groups: list[Tree], spring: Spring) -> list[int]:
    """Index of a group with the spring's colliders, new if there is none yet."""
    if not spring.colliders:
        return []
    colliders = list(spring.colliders)
    for i, group in enumerate(groups):
        if group["colliders"] == colliders:
            return [i]
    groups.append({"colliders": colliders})
    return [len(groups) - 1]


def _chains(spring: Spring) -> list[list[SpringJoint]]:
    """The joints of a spring as chains without branches."""
    ends: dict[int, list[SpringJoint]] = {}
    chains: list[list[SpringJoint]] = []
    for joint in spring.joints:
        chain = ends.pop(joint.node, None)
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(joint)
        if joint.child is not None:
            ends[joint.child] = chain
    return chains


def _tail_node(joint: SpringJoint, nodes: list[Tree]) -> int:
    assert joint.tail is not None
    parent = nodes[joint.node]
    name = f"{parent.get('name', 'node')}_end"
    nodes.append({"name": name, "translation": joint.tail.tolist()})
    parent["children"] = [*parent.get("children", ()), len(nodes) - 1]
    return len(nodes) - 1


def _setting_1(joint: SpringJoint) -> Tree:
    return {
        "node": joint.node,
        "hitRadius": joint.hit_radius,
        "stiffness": joint.stiffness,
        "gravityPower": joint.gravity_power,
        "gravityDir": list(joint.gravity_direction),
        "dragForce": joint.drag,
    }


def _collider_1(collider: Collider) -> Tree:
    shape: dict[str, Any] = {"offset": collider.offset.tolist()}
    if collider.shape == "plane":
        assert collider.normal is not None
        shape["normal"] = collider.normal.tolist()
    else:
        shape["radius"] = collider.radius
    if collider.shape == "capsule":
        assert collider.tail is not None
        shape["tail"] = collider.tail.tolist()
    if not collider.inside and collider.shape != "plane":
        return {"node": collider.node, "shape": {collider.shape: shape}}
    if collider.inside:
        shape["inside"] = True
    extended = {"specVersion": "1.0", "shape": {collider.shape: shape}}
    return {"node": collider.node, "shape": FAR_AWAY, "extensions": {EXTENDED: extended}}


def uses_extended(rig: Rig) -> bool:
    return any(each.inside or each.shape == "plane" for each in rig.colliders)


def springs_0(before: Tree, rig: Rig, skeleton: Skeleton, context: Context) -> Tree:
    """The secondaryAnimation of a rig; what 0.x cannot say is noted."""
    runs = [_runs_0(rig, spring.colliders, context) for spring in rig.springs]
    used = {collider for spring in rig.springs for collider in spring.colliders}
    unused = tuple(i for i in range(len(rig.colliders)) if i not in used)
    known = sorted({run for found in [*runs, _runs_0(rig, unused, context)] for run in found})
    named = {group.get("comment", ""): group for group in before.get("boneGroups") or ()}
    groups = []
    for i, (spring, found) in enumerate(zip(rig.springs, runs, strict=True)):
        place: Place = ("springs", i)
        swinging = {joint.node for joint in spring.joints}
        roots = [j.node for j in spring.joints if int(skeleton.parents[j.node]) not in swinging]
        if any(not _plain_0(joint, skeleton) for joint in spring.joints):
            message = f"{spring.name!r}: VRM 0.x swings every node below the roots, to its end"
            context.note("spring-extended", place, message)
        settings = [_setting_0(joint) for joint in spring.joints]
        if any(setting != settings[0] for setting in settings):
            message = f"{spring.name!r}: VRM 0.x has one setting for all joints, the first one's"
            context.note("spring-setting", place, message)
        group = {
            **named.get(spring.name, {}),
            **(settings[0] if settings else {}),
            "center": -1 if spring.center is None else spring.center,
            "bones": roots,
            "colliderGroups": [known.index(run) for run in found],
        }
        put(group, "comment", spring.name, "")
        groups.append(group)
    colliders = [_collider_group_0(rig, run) for run in known]
    return {**before, "boneGroups": groups, "colliderGroups": colliders}


def _plain_0(joint: SpringJoint, skeleton: Skeleton) -> bool:
    """Whether 0.x would come to the same tail: a child of the node, or seven centimetres on."""
    if joint.child is not None:
        return int(skeleton.parents[joint.child]) == joint.node
    assert joint.tail is not None
    length = float((joint.tail @ joint.tail) ** 0.5)
    return abs(length - VIRTUAL_TAIL) < 1e-6 and not (skeleton.parents == joint.node).any()


def _setting_0(joint: SpringJoint) -> Tree:
    x, y, z = joint.gravity_direction
    return {
        "stiffiness": joint.stiffness,
        "gravityPower": joint.gravity_power,
        "gravityDir": {"x": x, "y": y, "z": z},
        "dragForce": joint.drag,
        "hitRadius": joint.hit_radius,
    }


def _runs_0(rig: Rig, indices: tuple[int, ...], context: Context) -> list[tuple[int, ...]]:
    """Colliders 0.x can say, those that follow each other on one node together."""
    runs: list[list[int]] = []
    for index in indices:
        collider = rig.colliders[index]
        if collider.shape != "sphere" or collider.inside:
            message = "VRM 0.x knows only spheres that keep tails out; left out"
            context.note("collider-dropped", ("colliders", index), message)
        elif runs and rig.colliders[runs[-1][0]].node == collider.node:
            runs[-1].append(index)
        else:
            runs.append([index])
    return [tuple(run) for run in runs]


def _collider_group_0(rig: Rig, run: tuple[int, ...]) -> Tree:
    balls = []
    for index in run:
        x, y, z = rig.colliders[index].offset.tolist()
        ball = {"offset": {"x": x, "y": y, "z": -z}, "radius": rig.colliders[index].radius}
        balls.append(ball)
    return {"node": rig.colliders[run[0]].node, "colliders": balls}
