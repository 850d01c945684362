"""The rest pose of a glTF document, straight from the specification: slow and obvious.

Works on the JSON tree, not on the model: matrices as the file has them, one node at a time,
one vertex formula (glTF 2.0, 3.7), float64 throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.formats.gltf.accessors import AccessorReader
from bunraku.formats.gltf.document import GltfFile

Primitive = tuple[int, int]  # (node, primitive)


def local_matrix(node: dict[str, Any]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = np.array(node.get("rotation", [0, 0, 0, 1]), float)
    length = np.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / length, y / length, z / length, w / length
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = rotation * np.array(node.get("scale", [1, 1, 1]), float)
    matrix[:3, 3] = node.get("translation", [0, 0, 0])
    return matrix


def world_matrices(file: GltfFile) -> np.ndarray:
    nodes = file.json.get("nodes", [])
    parents = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}
    world = np.zeros((len(nodes), 4, 4))
    for i in range(len(nodes)):
        matrix, node = np.eye(4), i
        while True:
            matrix = local_matrix(nodes[node]) @ matrix
            if node not in parents:
                break
            node = parents[node]
        world[i] = matrix
    return world


def rest_positions(file: GltfFile) -> dict[Primitive, np.ndarray]:
    """World-space positions of every primitive of every node that shows a mesh."""
    tree, reader, world = file.json, AccessorReader(file), world_matrices(file)
    result = {}
    for i, node in enumerate(tree.get("nodes", [])):
        if "mesh" not in node:
            continue
        mesh = tree["meshes"][node["mesh"]]
        for j, primitive in enumerate(mesh["primitives"]):
            if "POSITION" not in primitive["attributes"]:
                continue
            reader.open_draco(primitive, f"meshes[{node['mesh']}].primitives[{j}]")
            positions = reader.floats(primitive["attributes"]["POSITION"]).astype(float)
            weights = node.get("weights", mesh.get("weights", []))
            for target, weight in zip(primitive.get("targets", []), weights, strict=False):
                if "POSITION" in target:
                    positions = positions + weight * reader.floats(target["POSITION"])
            skinned = "skin" in node and "JOINTS_0" in primitive["attributes"]
            matrices = (
                blended(reader, primitive, tree["skins"][node["skin"]], world)
                if skinned
                else np.broadcast_to(world[i], (len(positions), 4, 4))
            )
            if skinned:
                held = matrices[:, 3, 3] > 0
                matrices[~held] = np.eye(4)
            homogeneous = np.column_stack([positions, np.ones(len(positions))])
            result[i, j] = np.einsum("vij,vj->vi", matrices, homogeneous)[:, :3]
    return result


def blended(
    reader: AccessorReader, primitive: dict[str, Any], skin: dict[str, Any], world: np.ndarray
) -> np.ndarray:
    """Σ w · G(joint) · IBM for every vertex, weights brought to a sum of 1."""
    joints = skin["joints"]
    inverse_bind = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    if "inverseBindMatrices" in skin:
        # `floats` gives rows and columns as mathematics has them.
        inverse_bind = reader.floats(skin["inverseBindMatrices"])[: len(joints)].astype(float)
    slots, weights, k = [], [], 0
    while f"JOINTS_{k}" in primitive["attributes"]:
        slots.append(reader.raw(primitive["attributes"][f"JOINTS_{k}"]).astype(int))
        weights.append(reader.floats(primitive["attributes"][f"WEIGHTS_{k}"]).astype(float))
        k += 1
    slot, weight = np.concatenate(slots, axis=1), np.concatenate(weights, axis=1)
    weight = np.where((weight > 0) & np.isfinite(weight), weight, 0)
    total = weight.sum(axis=1, keepdims=True)
    weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    palette = world[joints] @ inverse_bind
    return np.einsum("vk,vkij->vij", weight, palette[np.minimum(slot, len(joints) - 1)])
