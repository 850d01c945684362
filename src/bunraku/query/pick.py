"""What stands under a ray on a character."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.model.arrays import Float64, Int32
from bunraku.model.mesh import Geometry
from bunraku.model.skin import Skin


@dataclass(frozen=True, eq=False, slots=True)
class Pick:
    """What a ray meets first on a stage.

    Shapes alone are asked: a place that a material's texture cuts out is met all the same, unless
    `Stage.pick` is told to ignore it (`render.CutOuts`), and so is a one-sided surface from behind.

    Attributes:
        node, mesh, geometry, part: indices; geometry and part count within the mesh.
        triangle: row of the part's faces.
        row: row of `Stage.triangles`; where a node turns a mesh inside out, that row has the
            corners the other way round.
        barycentrics: (3,) float64 weights of the corners in the order of `row`.
        point, normal: (3,) float64, world space; the normal is the triangle's own, of unit
            length, on the side from which the corners run counter-clockwise.
        distance: metres from the origin.
        joints: nodes that hold the point and their weights there, the heaviest first; empty
            where the mesh moves with its node.
    """

    node: int
    mesh: int
    geometry: int
    part: int
    triangle: int
    row: int
    barycentrics: Float64
    point: Float64
    normal: Float64
    distance: float
    joints: tuple[tuple[int, float], ...]


def held_by(
    geometry: Geometry, skin: Skin, corners: Int32, shares: Float64
) -> tuple[tuple[int, float], ...]:
    """Nodes that hold a point of a triangle, and their weights there, the heaviest first.

    >>> bent = Geometry(np.eye(3), joints=[[0], [1], [1]], weights=[[1], [1], [1]])
    >>> held_by(bent, Skin([5, 7]), np.array([0, 1, 2]), np.array([0.25, 0.5, 0.25]))
    ((7, 0.75), (5, 0.25))
    """
    if geometry.joints is None or geometry.weights is None:
        return ()
    weights = geometry.weights[corners] * shares[:, None]
    held = weights > 0
    nodes, slot = np.unique(skin.joints[geometry.joints[corners][held]], return_inverse=True)
    total = np.bincount(slot, weights[held], len(nodes))
    order = np.argsort(-total, kind="stable")
    return tuple((int(nodes[i]), float(total[i])) for i in order)
