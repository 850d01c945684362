"""The vertex axis of a stage: which geometry of which node lies where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.model import Character
from bunraku.model.arrays import Float64, Int32


@dataclass(frozen=True)
class Range:
    """Where one geometry that one node shows lies among the vertices of a stage.

    Attributes:
        start, stop: vertices [start, stop) of the stage's vertex axis.
        attachment: index into `Character.attachments`.
        node, mesh: what that attachment names.
        geometry: index into the mesh's geometries.
        parts: the mesh's parts that are made of this geometry.
        mirrored: the node turns a mesh without skin inside out, as it stands at time 0: corners
            of its faces then run the other way round (glTF 2.0, 3.7.4).
    """

    start: int
    stop: int
    attachment: int
    node: int
    mesh: int
    geometry: int
    parts: tuple[int, ...]
    mirrored: bool = False

    def wound(self, faces: Int32) -> Int32:
        """Faces of the geometry, (F, 3), with corners in the order that this node shows them."""
        return faces[:, ::-1] if self.mirrored else faces


def lay_out(character: Character, transforms: Float64) -> tuple[Range, ...]:
    """Walk the shown scene depth-first in file order and give every geometry its vertices."""
    skeleton = character.skeleton
    shown = character.default_scene
    if shown is None and character.scenes:
        shown = 0
    roots = character.scenes[shown].roots if shown is not None else skeleton.children(-1)
    attachments = {each.node: i for i, each in enumerate(character.attachments)}
    children: list[list[int]] = [[] for _ in range(len(skeleton))]
    for node, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    ranges: list[Range] = []
    start = 0
    waiting = roots.tolist()[::-1]
    while waiting:
        node = waiting.pop()
        waiting += children[node][::-1]
        if node not in attachments:
            continue
        attachment = attachments[node]
        mesh_index = character.attachments[attachment].mesh
        mesh = character.meshes[mesh_index]
        skinned = character.attachments[attachment].skin is not None
        mirrored = not skinned and bool(np.linalg.det(transforms[node, :, :3]) < 0)
        for i, geometry in enumerate(mesh.geometries):
            stop = start + geometry.vertex_count
            parts = tuple(j for j, part in enumerate(mesh.parts) if part.geometry == i)
            ranges.append(Range(start, stop, attachment, node, mesh_index, i, parts, mirrored))
            start = stop
    return tuple(ranges)
