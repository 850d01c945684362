"""Asking where things are: rays, closest points and overlaps.

`shapes` has the formulas for one shape at a time; `Bvh` is a tree over many triangles, boxes or
spheres; `Scene` places many trees in one world.
"""

from bunraku.query import shapes
from bunraku.query.bvh import Bvh
from bunraku.query.hits import AllHits, Hits, Nearest
from bunraku.query.scene import Scene, SceneHits

__all__ = ["AllHits", "Bvh", "Hits", "Nearest", "Scene", "SceneHits", "shapes"]
