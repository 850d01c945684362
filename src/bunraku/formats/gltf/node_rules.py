"""Rules for nodes, scenes, skins and animations.

Specification: glTF 2.0, sections 3.5 (scenes and nodes), 3.7.3 (skins), 3.11 (animations).
"""

from __future__ import annotations

import math
from typing import Any

from bunraku.errors import FormatError
from bunraku.formats.gltf.context import Context, Place, spell

Tree = dict[str, Any]

VISIBILITY = "KHR_node_visibility"
TRS = ("translation", "rotation", "scale")
# glTF stores quaternions as floats or 16-bit integers; beyond this something else was meant.
UNIT_TOLERANCE = 1e-3
# More scenes than this are not searched for skins whose joints lie elsewhere.
SCENES_CHECKED = 64


def parents_of(tree: Tree) -> list[int]:
    """Parent of every node, −1 for roots."""
    parents = [-1] * len(tree.get("nodes", []))
    for i, node in enumerate(tree.get("nodes", [])):
        for child in node.get("children", ()):
            parents[child] = i
    return parents


def hidden_nodes(tree: Tree) -> set[int]:
    """Nodes that KHR_node_visibility leaves undrawn: those that it hides, and all below them."""
    nodes = tree.get("nodes", ())
    waiting = [i for i, node in enumerate(nodes) if not _says_visible(node)]
    hidden: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in hidden:
            hidden.add(node)
            waiting += nodes[node].get("children", ())
    return hidden


def _says_visible(node: Tree) -> bool:
    extension = node.get("extensions", {}).get(VISIBILITY, {})
    return not isinstance(extension, dict) or extension.get("visible") is not False


def roots_of(tree: Tree, parents: list[int]) -> list[int]:
    """Topmost ancestor of every node, −1 for nodes on or below a cycle."""
    nodes = tree.get("nodes", [])
    roots = [-1] * len(parents)
    for start, parent in enumerate(parents):
        if parent >= 0:
            continue
        roots[start] = start
        stack = [start]
        while stack:
            for child in nodes[stack.pop()].get("children", ()):
                roots[child] = start
                stack.append(child)
    return roots


def check_nodes(tree: Tree, context: Context) -> None:
    nodes = tree.get("nodes", [])
    owner: dict[int, int] = {}
    for i, node in enumerate(nodes):
        place: Place = ("nodes", i)
        for c, child in enumerate(node.get("children", ())):
            if child in owner:
                raise FormatError(
                    f"{context.source}: {spell((*place, 'children', c))}: node {child} already has"
                    f" the parent {owner[child]}"
                )
            owner[child] = i
        if "rotation" in node:
            _check_unit(node["rotation"], (*place, "rotation"), context)
        if "matrix" in node and not node.keys().isdisjoint(TRS):
            _check_agreement(node, place, context)
        _check_shown(tree, node, place, context)
    parents = parents_of(tree)
    roots = roots_of(tree, parents)
    if -1 in roots:
        raise FormatError(
            f"{context.source}: nodes[{roots.index(-1)}]: is its own ancestor or below one;"
            " nodes must form trees"
        )
    for s, scene in enumerate(tree.get("scenes", [])):
        for r, root in enumerate(scene.get("nodes", ())):
            if parents[root] >= 0:
                place = ("scenes", s, "nodes", r)
                raise FormatError(
                    f"{context.source}: {spell(place)}: expected a root node, found node {root},"
                    f" whose parent is {parents[root]}"
                )
    _check_skin_scenes(tree, roots, context)


def _check_agreement(node: Tree, place: Place, context: Context) -> None:
    """A node has a matrix or TRS; where it has both they must at least say the same."""
    rotation = node.get("rotation", (0, 0, 0, 1))
    x, y, z, w = (number / math.hypot(*rotation) for number in rotation)
    columns = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0),
    )
    scale = node.get("scale", (1, 1, 1))
    product = [n * s for column, s in zip(columns, scale, strict=True) for n in column]
    product += [*node.get("translation", (0, 0, 0)), 1]
    size = max(map(abs, node["matrix"]))
    apart = max(abs(a - b) for a, b in zip(node["matrix"], product, strict=True))
    if apart > 1e-5 * size:
        raise FormatError(
            f"{context.source}: {spell(place)}: has a matrix as well as translation, rotation"
            f" or scale, and they differ by {apart:.3g}; expected one or the other"
        )
    message = "has a matrix as well as translation, rotation or scale; they agree"
    context.note("matrix-and-trs", place, message)


def _check_unit(rotation: list[float], place: Place, context: Context) -> None:
    length = math.hypot(*rotation)
    if length < 1e-6:
        raise context.fail(place, "a unit quaternion (x, y, z, w)", rotation)
    if abs(length - 1) > UNIT_TOLERANCE:
        message = f"has length {length:.6g} instead of 1; normalised"
        context.note("rotation-not-unit", place, message)


def _check_shown(tree: Tree, node: Tree, place: Place, context: Context) -> None:
    """Skin and weights belong to a mesh that can use them."""
    if "mesh" not in node:
        for name in ("skin", "weights"):
            if name in node:
                message = f"has {name} but no mesh; ignored"
                context.note(f"{name}-without-mesh", (*place, name), message)
        return
    primitives = tree["meshes"][node["mesh"]]["primitives"]
    held = any("JOINTS_0" in primitive["attributes"] for primitive in primitives)
    if "skin" in node and not held:
        message = "has a skin, but its mesh has no joints and weights"
        context.note("skin-without-influences", place, message)
    if "weights" in node:
        count = max(len(primitive.get("targets", ())) for primitive in primitives)
        if len(node["weights"]) != count:
            message = f"{len(node['weights'])} weights for {count} morph targets"
            context.note("weights-miscounted", (*place, "weights"), message)


def _check_skin_scenes(tree: Tree, roots: list[int], context: Context) -> None:
    skins = [{roots[joint] for joint in skin["joints"]} for skin in tree.get("skins", [])]
    for s, skin_roots in enumerate(skins):
        if len(skin_roots) > 1:
            message = f"its joints lie below {len(skin_roots)} different root nodes"
            context.note("skin-without-common-root", ("skins", s, "joints"), message)
    skinned = [
        (i, node["skin"])
        for i, node in enumerate(tree.get("nodes", []))
        if "skin" in node and "mesh" in node
    ]
    for s, scene in enumerate(tree.get("scenes", [])[:SCENES_CHECKED]):
        shown = set(scene.get("nodes", ()))
        elsewhere = {k for k, skin_roots in enumerate(skins) if not skin_roots <= shown}
        for i, skin in skinned:
            if skin in elsewhere and roots[i] in shown:
                message = f"is in scene {s}, but joints of its skin are not"
                context.note("skin-outside-scene", ("nodes", i), message)


def check_skins(tree: Tree, context: Context) -> None:
    accessors = tree.get("accessors", [])
    parents = parents_of(tree)
    for i, skin in enumerate(tree.get("skins", [])):
        place: Place = ("skins", i)
        if "inverseBindMatrices" in skin:
            inner = (*place, "inverseBindMatrices")
            accessor = accessors[skin["inverseBindMatrices"]]
            kind = (accessor["type"], accessor["componentType"])
            if kind != ("MAT4", 5126) or accessor.get("normalized"):
                raise context.fail(inner, "MAT4 of floats", " of ".join(map(str, kind)))
            if accessor["count"] < len(skin["joints"]):
                expected = f"a matrix for each of the {len(skin['joints'])} joints"
                raise context.fail(inner, expected, accessor["count"])
        if "skeleton" in skin:
            _check_skeleton(skin, parents, place, context)


def _check_skeleton(skin: Tree, parents: list[int], place: Place, context: Context) -> None:
    below = {skin["skeleton"]}
    outside: set[int] = set()
    for joint in skin["joints"]:
        path = []
        node = joint
        # every node is decided once, however deep the tree and however many the joints
        while node >= 0 and node not in below and node not in outside:
            path.append(node)
            node = parents[node]
        (below if node in below else outside).update(path)
        if joint in outside:
            message = f"node {skin['skeleton']} is no ancestor of joint {joint}; it has no effect"
            context.note("skeleton-not-ancestor", (*place, "skeleton"), message)
            return


WIDTHS = {"translation": 3, "rotation": 4, "scale": 3, "weights": 1}
_TYPES = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3", "weights": "SCALAR"}


def target_count(tree: Tree, node: int) -> int:
    """Morph targets of the mesh a node shows, 0 without a mesh."""
    mesh = tree["nodes"][node].get("mesh")
    if mesh is None:
        return 0
    primitives = tree["meshes"][mesh]["primitives"]
    return max(len(primitive.get("targets", ())) for primitive in primitives)


def unplayable(tree: Tree, animation: Tree, channel: Tree) -> tuple[str, str] | None:
    """Why a channel makes no track (code and message), or None when it does.

    Such channels stay in the document.
    """
    target = channel["target"]
    sampler = animation["samplers"][channel["sampler"]]
    path = target["path"]
    if "KHR_animation_pointer" in target.get("extensions", {}) or path == "pointer":
        return "animation-pointer", "animates a property by pointer; carried, not played"
    if path not in WIDTHS:
        return "unknown-path", f"animates {path[:40]!r}, which glTF 2.0 does not know; carried"
    if "node" not in target:
        return "channel-without-node", "has no target node; carried, not played"
    interpolation = sampler.get("interpolation", "LINEAR")
    if interpolation not in ("STEP", "LINEAR", "CUBICSPLINE"):
        return "unknown-interpolation", f"is interpolated by {interpolation[:40]!r}; not played"
    if path == "weights" and target_count(tree, target["node"]) == 0:
        return "weights-without-targets", "animates weights of a node without morph targets"
    if tree["accessors"][sampler["input"]]["count"] == 0:
        return "channel-without-keys", "has no keys; carried, not played"
    return None


def check_animations(tree: Tree, context: Context) -> None:
    accessors = tree.get("accessors", [])
    for i, animation in enumerate(tree.get("animations", [])):
        place: Place = ("animations", i)
        for s, sampler in enumerate(animation["samplers"]):
            inner = (*place, "samplers", s, "input")
            accessor = accessors[sampler["input"]]
            kind = (accessor["type"], accessor["componentType"])
            if kind != ("SCALAR", 5126):
                raise context.fail(inner, "SCALAR floats", " of ".join(map(str, kind)))
            if "min" not in accessor or "max" not in accessor:
                context.note("bounds-missing", inner, "has no min and max, which are required")
            if sampler.get("interpolation") == "CUBICSPLINE" and accessor["count"] == 1:
                message = "a cubic spline needs two keys; its only value is held"
                context.note("too-few-keys", inner, message)
        targets: set[tuple[int, str]] = set()
        for c, channel in enumerate(animation["channels"]):
            inner = (*place, "channels", c)
            if channel["sampler"] >= len(animation["samplers"]):
                expected = f"an index into {len(animation['samplers'])} samplers"
                raise context.fail((*inner, "sampler"), expected, channel["sampler"])
            reason = unplayable(tree, animation, channel)
            if reason is not None:
                context.note(reason[0], inner, reason[1])
                continue
            _check_channel(tree, animation, channel, inner, context)
            target = (channel["target"]["node"], channel["target"]["path"])
            if target in targets:
                message = f"animates {target[1]} of node {target[0]} again; the first one is played"
                context.note("duplicate-target", inner, message)
            targets.add(target)


def _check_channel(
    tree: Tree, animation: Tree, channel: Tree, place: Place, context: Context
) -> None:
    accessors = tree["accessors"]
    sampler = animation["samplers"][channel["sampler"]]
    node, path = channel["target"]["node"], channel["target"]["path"]
    keys, output = accessors[sampler["input"]]["count"], accessors[sampler["output"]]
    small = output["componentType"] in (5120, 5121, 5122, 5123) and output.get("normalized")
    allowed = output["componentType"] == 5126 or (small and path in ("rotation", "weights"))
    if output["type"] != _TYPES[path] or not allowed:
        raise context.fail(
            (*place, "sampler"),
            f"{_TYPES[path]} output for {path}"
            + (" as floats or normalized integers" if path in ("rotation", "weights") else ""),
            f"{output['type']} of {output['componentType']}",
        )
    per_key = 3 if sampler.get("interpolation") == "CUBICSPLINE" else 1
    if path == "weights":
        per_key *= target_count(tree, node)
    if output["count"] != keys * per_key:
        expected = f"{keys} keys × {per_key} = {keys * per_key} output elements"
        raise context.fail((*place, "sampler"), expected, output["count"])
    if "matrix" in tree["nodes"][node] and path != "weights":
        message = f"animates {path} of node {node}, which has a matrix; the matrix is decomposed"
        context.note("animated-matrix", (*place, "target"), message)
