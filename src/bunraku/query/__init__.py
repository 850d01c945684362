"""Asking where things are: rays, closest points and overlaps.

`shapes` has the formulas for one shape at a time; `Bvh` is a tree over many triangles, boxes or
spheres; `SkinTree` is one over a geometry at rest that answers rays in any pose; `Scene`
places many trees in one world; `Camera` has the rays through the pixels of a picture.
"""

from bunraku.query import shapes
from bunraku.query.bvh import Bvh
from bunraku.query.camera import Camera
from bunraku.query.group import PosedGroup
from bunraku.query.hits import AllHits, Hits, Nearest
from bunraku.query.pick import Pick
from bunraku.query.posed import Posed, SkinTree
from bunraku.query.rays import Limits, Reach
from bunraku.query.scene import Scene, SceneAllHits, SceneHits

__all__ = [
    "AllHits",
    "Bvh",
    "Camera",
    "Hits",
    "Limits",
    "Nearest",
    "Pick",
    "Posed",
    "PosedGroup",
    "Reach",
    "Scene",
    "SceneAllHits",
    "SceneHits",
    "SkinTree",
    "shapes",
]
