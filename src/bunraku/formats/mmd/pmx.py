"""PMX 2.0 and 2.1 models as they are in the file.

Left-handed space, +Y up, the model faces −Z, one unit is about 0.08 m; angles in radians,
quaternions x, y, z, w; an index of -1 names nothing. Facts were cross-checked in
babylon-mmd, nanoem, saba and mmd-anim; there is no public specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note
from bunraku.formats.mmd.pmx_morphs import PmxMorph
from bunraku.formats.mmd.pmx_physics import PmxBody, PmxJoint, PmxSoftBody
from bunraku.formats.mmd.pmx_vertices import PmxVertices

Array = npt.NDArray[Any]
Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]
ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class IndexSizes:
    """Bytes of an index into each list: 1, 2 or 4."""

    vertex: int = 1
    texture: int = 1
    material: int = 1
    bone: int = 1
    morph: int = 1
    body: int = 1

    def code(self, kind: str) -> str:
        """Its NumPy type: indices of vertices are unsigned up to two bytes, all others signed."""
        size: int = getattr(self, kind)
        return f"u{size}" if kind == "vertex" and size < 4 else f"i{size}"


class MaterialFlag(IntEnum):
    """Bits of `PmxMaterial.flags`; those from 0x20 on are of version 2.1."""

    DOUBLE_SIDED = 0x01
    GROUND_SHADOW = 0x02
    CASTS_SHADOW = 0x04
    RECEIVES_SHADOW = 0x08
    EDGE = 0x10
    VERTEX_COLOUR = 0x20
    POINTS = 0x40
    LINES = 0x80


@dataclass(frozen=True, slots=True)
class PmxMaterial:
    """A material and its part of the faces; the order of materials is the order of drawing.

    Attributes:
        flags: `MaterialFlag` bits.
        texture, sphere_texture: into `PmxFile.textures`.
        sphere_mode: 0 off, 1 multiply, 2 add, 3 sub-texture by the first additional UV.
        shared_toon: whether `toon` is a number 0..9 (toon01.bmp …) instead of a texture.
        index_count: corners, three for each face.
    """

    name: str
    name_english: str = ""
    diffuse: Vec4 = (1.0, 1.0, 1.0, 1.0)
    specular: Vec3 = ZERO
    specular_power: float = 0.0
    ambient: Vec3 = ZERO
    flags: int = 0
    edge_colour: Vec4 = (0.0, 0.0, 0.0, 1.0)
    edge_size: float = 1.0
    texture: int = -1
    sphere_texture: int = -1
    sphere_mode: int = 0
    shared_toon: bool = True
    toon: int = 0
    memo: str = ""
    index_count: int = 0


class BoneFlag(IntEnum):
    """Bits of `PmxBone.flags`."""

    TAIL_IS_BONE = 0x0001
    ROTATABLE = 0x0002
    MOVABLE = 0x0004
    VISIBLE = 0x0008
    OPERABLE = 0x0010
    IK = 0x0020
    APPEND_LOCAL = 0x0080
    APPEND_ROTATION = 0x0100
    APPEND_TRANSLATION = 0x0200
    FIXED_AXIS = 0x0400
    LOCAL_AXES = 0x0800
    AFTER_PHYSICS = 0x1000
    EXTERNAL_PARENT = 0x2000


APPENDS = BoneFlag.APPEND_ROTATION | BoneFlag.APPEND_TRANSLATION
# as plain numbers: the arithmetic of enumerations takes longer than the rest of a bone
_TAIL, _APPENDS, _AXIS, _AXES, _KEY, _IK = map(
    int,
    (
        BoneFlag.TAIL_IS_BONE,
        APPENDS,
        BoneFlag.FIXED_AXIS,
        BoneFlag.LOCAL_AXES,
        BoneFlag.EXTERNAL_PARENT,
        BoneFlag.IK,
    ),
)


@dataclass(frozen=True, slots=True)
class PmxIkLink:
    """A bone that IK turns; `limits` are lower and upper angles about x, y, z."""

    bone: int
    limits: tuple[Vec3, Vec3] | None = None


@dataclass(frozen=True, slots=True)
class PmxIk:
    """How the links bring `target` to the bone that has this.

    Attributes:
        target: the bone that is brought there (the effector).
        loops: iterations at most.
        step_limit: angle at most for each step.
        links: from the target upwards.
    """

    target: int
    loops: int
    step_limit: float
    links: tuple[PmxIkLink, ...] = ()


@dataclass(frozen=True, slots=True)
class PmxBone:
    """A bone; its rest orientation is the identity.

    Attributes:
        position: in model space.
        layer: deform layer (変形階層): bones of lower layers are evaluated first.
        flags: `BoneFlag` bits; they agree with which of the fields below are there.
        tail: a bone if `TAIL_IS_BONE`, else an offset.
        append: bone and ratio it follows, if `APPEND_ROTATION` or `APPEND_TRANSLATION`.
        fixed_axis: the one axis it turns about, if `FIXED_AXIS`.
        local_axes: x and z axes of its handle, if `LOCAL_AXES`; of no effect on posing.
        external_key: if `EXTERNAL_PARENT`.
        ik: if `IK`.
    """

    name: str
    name_english: str = ""
    position: Vec3 = ZERO
    parent: int = -1
    layer: int = 0
    flags: int = BoneFlag.ROTATABLE | BoneFlag.VISIBLE | BoneFlag.OPERABLE
    tail: int | Vec3 = ZERO
    append: tuple[int, float] | None = None
    fixed_axis: Vec3 | None = None
    local_axes: tuple[Vec3, Vec3] | None = None
    external_key: int | None = None
    ik: PmxIk | None = None

    def __post_init__(self) -> None:
        flags = self.flags
        if (
            bool(flags & _TAIL) is not isinstance(self.tail, int)
            or bool(flags & _APPENDS) is (self.append is None)
            or bool(flags & _AXIS) is (self.fixed_axis is None)
            or bool(flags & _AXES) is (self.local_axes is None)
            or bool(flags & _KEY) is (self.external_key is None)
            or bool(flags & _IK) is (self.ik is None)
        ):
            raise FormatError(f"bone {self.name!r}: flags {flags:#x} contradict its fields")


@dataclass(frozen=True, slots=True, eq=False)
class PmxFrame:
    """A display frame: what MMD lists together in its timeline.

    Attributes:
        special: 1 for the two that every model has, `Root` and `表情`.
        elements: (n, 2) int32: kind (0 bone, 1 morph) and index.
    """

    name: str
    name_english: str = ""
    special: int = 0
    elements: Array = field(default_factory=lambda: np.empty((0, 2), np.int32))


class PmxOrigin:
    """The bytes that the lists of a model were read from.

    They are written again as long as a list is the very object that was read from them, and
    the header still says how. Arrays of lists that were read are read-only, so that such an
    object is the same inside, too; those of a deep copy are not, and a copy of this is empty.
    """

    __slots__ = ("_encoding", "_read", "_sizes")

    def __init__(
        self,
        encoding: str = "",
        sizes: IndexSizes | None = None,
        read: Mapping[str, tuple[object, Array]] = MappingProxyType({}),
    ) -> None:
        self._encoding = encoding
        self._sizes = sizes
        self._read = read

    def section(self, name: str, part: object, encoding: str, sizes: IndexSizes) -> Array | None:
        """The bytes of a list; None if it is another one, or would be written otherwise."""
        was, data = self._read.get(name, (None, None))
        same = part is was and (encoding, sizes) == (self._encoding, self._sizes)
        return data if same else None

    def __reduce__(self) -> tuple[type[PmxOrigin], tuple[()]]:
        return PmxOrigin, ()


@dataclass(frozen=True, eq=False)
class PmxFile:
    """A PMX model as it is in the file. Treat it as immutable.

    Attributes:
        faces: (F, 3) int32 vertices; first the faces of the first material, and so on.
        textures: paths as written, with `\\` or `/`, meant without regard to case.
        encoding: "utf-16-le" or "utf-8".
        index_sizes: as read, kept while all indices fit; None for what the counts ask for.
        magic: `PMX `, in very old files `Pmx `.
        extra_globals: header bytes after the eight that are known.
        trailing: bytes after the end.
        source: name of the file, for messages.
        folder: where its textures are looked up; None when read from bytes.
        notes: what was irregular but readable.
        origin: the bytes that unchanged lists are written as.
    """

    name: str = ""
    name_english: str = ""
    comment: str = field(default="", repr=False)
    comment_english: str = field(default="", repr=False)
    vertices: PmxVertices = field(default_factory=PmxVertices.empty, repr=False)
    faces: Array = field(default_factory=lambda: np.empty((0, 3), np.int32), repr=False)
    textures: tuple[str, ...] = field(default=(), repr=False)
    materials: tuple[PmxMaterial, ...] = field(default=(), repr=False)
    bones: tuple[PmxBone, ...] = field(default=(), repr=False)
    morphs: tuple[PmxMorph, ...] = field(default=(), repr=False)
    frames: tuple[PmxFrame, ...] = field(default=(), repr=False)
    bodies: tuple[PmxBody, ...] = field(default=(), repr=False)
    joints: tuple[PmxJoint, ...] = field(default=(), repr=False)
    soft_bodies: tuple[PmxSoftBody, ...] = field(default=(), repr=False)
    version: float = 2.0
    encoding: str = "utf-16-le"
    index_sizes: IndexSizes | None = None
    magic: bytes = b"PMX "
    extra_globals: bytes = b""
    trailing: bytes = field(default=b"", repr=False)
    source: str = "PMX"
    folder: Path | None = None
    notes: tuple[Note, ...] = ()
    origin: PmxOrigin = field(default_factory=PmxOrigin, repr=False)

    def __post_init__(self) -> None:
        shape, dtype = self.faces.shape, self.faces.dtype
        if shape[1:] != (3,) or dtype != np.int32:
            raise FormatError(f"{self.source}: faces: expected (F, 3) int32, found {shape} {dtype}")

    @property
    def is_2_1(self) -> bool:
        """Whether soft bodies follow the joints."""
        return self.version > 2.05
