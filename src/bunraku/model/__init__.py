"""Validated data of a rigged character; no algorithms live here."""

from bunraku.model.character import Attachment, Character, Scene
from bunraku.model.clip import Clip, Interpolation, Path, Track
from bunraku.model.compare import differences
from bunraku.model.expression import (
    Bind,
    Expression,
    GroupBind,
    JointBind,
    MaterialBind,
    MorphBind,
    UvBind,
)
from bunraku.model.humanoid import Humanoid
from bunraku.model.material import Image, Material
from bunraku.model.mesh import Geometry, Mesh, MorphTarget, Part, SphericalBlend, Topology
from bunraku.model.pose import Pose
from bunraku.model.rig import (
    AimConstraint,
    Append,
    Constraint,
    FixedAxis,
    IkChain,
    IkLink,
    LookAt,
    RangeMap,
    Rig,
    RollConstraint,
    RotationConstraint,
)
from bunraku.model.skeleton import Skeleton
from bunraku.model.skin import Skin
from bunraku.model.spring import Collider, Spring, SpringJoint

__all__ = [
    "AimConstraint",
    "Append",
    "Attachment",
    "Bind",
    "Character",
    "Clip",
    "Collider",
    "Constraint",
    "Expression",
    "FixedAxis",
    "Geometry",
    "GroupBind",
    "Humanoid",
    "IkChain",
    "IkLink",
    "Image",
    "Interpolation",
    "JointBind",
    "LookAt",
    "Material",
    "MaterialBind",
    "Mesh",
    "MorphBind",
    "MorphTarget",
    "Part",
    "Path",
    "Pose",
    "RangeMap",
    "Rig",
    "RollConstraint",
    "RotationConstraint",
    "Scene",
    "Skeleton",
    "Skin",
    "SphericalBlend",
    "Spring",
    "SpringJoint",
    "Topology",
    "Track",
    "UvBind",
    "differences",
]
