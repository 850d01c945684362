"""What rays are asked of, range by range; trees are kept with the meshes they are over."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from bunraku.model import Character, Geometry, Mesh
from bunraku.model.arrays import Float32, Int32
from bunraku.query import Bvh, SkinTree
from bunraku.query.posed import IDLE
from bunraku.stage.ranges import Range

# Meshes never change: their trees are built for the first ray, by (held by
# joints, geometry, mirrored).
_trees: WeakKeyDictionary[Mesh, dict[tuple[bool, int, bool], SkinTree]] = WeakKeyDictionary()
# Geometry with influences, as nodes without a skin show it.
_free: WeakKeyDictionary[Geometry, Geometry] = WeakKeyDictionary()
# Trees over bent geometry that no pose needs any more: a refit takes a fraction of a build.
_idle: WeakKeyDictionary[Mesh, dict[tuple[int, bool], deque[Bvh]]] = WeakKeyDictionary()


def geometry_of(character: Character, span: Range) -> Geometry:
    """The geometry of a range, without influences where its node has no skin.

    They mean nothing there (glTF 2.0, 3.7.3.3).
    """
    geometry = character.meshes[span.mesh].geometries[span.geometry]
    if geometry.joints is None or character.attachments[span.attachment].skin is not None:
        return geometry
    free = _free.get(geometry)
    if free is None:
        free = replace(geometry, joints=None, weights=None, spherical=None, dual=None)
        _free[geometry] = free
    return free


def tree_over(character: Character, span: Range) -> SkinTree:
    """The tree over a range at rest."""
    trees = _trees.setdefault(character.meshes[span.mesh], {})
    geometry = geometry_of(character, span)
    key = (geometry.joints is not None, span.geometry, span.mirrored)
    if key not in trees:
        trees[key] = SkinTree(geometry, _faces(character, span))
    return trees[key]


def bent_tree(character: Character, span: Range, positions: Float32) -> tuple[Bvh, deque[Bvh]]:
    """A tree over bent positions, and where it may go back to when it is no longer needed."""
    idle = _idle.setdefault(character.meshes[span.mesh], {})
    waiting = idle.setdefault((span.geometry, span.mirrored), deque(maxlen=IDLE))
    try:
        tree = waiting.pop()
    except IndexError:
        return Bvh(positions, _faces(character, span)), waiting
    tree.update(positions)
    return tree, waiting


def _faces(character: Character, span: Range) -> Int32:
    parts = (character.meshes[span.mesh].parts[i] for i in span.parts)
    faces = [span.wound(part.faces) for part in parts if part.topology == "triangles"]
    return np.concatenate(faces) if faces else np.zeros((0, 3), np.int32)
