"""Validated data of a rigged character; no algorithms live here."""

from bunraku.model.character import Attachment, Character, Scene
from bunraku.model.clip import Clip, Interpolation, Path, Track
from bunraku.model.compare import differences
from bunraku.model.material import Image, Material
from bunraku.model.mesh import Geometry, Mesh, MorphTarget, Part, Topology
from bunraku.model.pose import Pose
from bunraku.model.skeleton import Skeleton
from bunraku.model.skin import Skin

__all__ = [
    "Attachment",
    "Character",
    "Clip",
    "Geometry",
    "Image",
    "Interpolation",
    "Material",
    "Mesh",
    "MorphTarget",
    "Part",
    "Path",
    "Pose",
    "Scene",
    "Skeleton",
    "Skin",
    "Topology",
    "Track",
    "differences",
]
