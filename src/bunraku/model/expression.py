"""Expressions: named faces, gestures and surface changes, and what each of them moves.

One per VRM expression, one per PMX morph at the same index.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Float64, Int32, checked, unit_quaternions
from bunraku.model.frozen import Frozen, Plain

Override = Literal["none", "block", "blend"]
Mode = Literal["toward", "multiply", "add"]


@dataclass(frozen=True)
class MorphBind(Plain):
    """Adds `weight` × the expression's weight to one morph target of a shown mesh.

    Attributes:
        attachment: index into `Character.attachments`.
        target: index of the mesh's morph target.
        weight: at full expression.
    """

    attachment: int
    target: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class JointBind(Frozen):
    """Moves and turns a node in its parent's axes, before appends and IK (PMX bone morphs).

    Attributes:
        node: index into the skeleton.
        translation: (3,) float64 metres at weight 1, added to the local translation.
        rotation: (4,) float64 unit quaternion (x, y, z, w) at weight 1.
    """

    node: int
    translation: Float64
    rotation: Float64

    if TYPE_CHECKING:

        def __init__(
            self,
            node: int,
            translation: npt.ArrayLike,
            rotation: npt.ArrayLike,
        ) -> None: ...

    def __post_init__(self) -> None:
        place = f"joint bind of node {self.node}"
        move = checked(self.translation, np.float64, (3,), f"{place}.translation")
        turn = unit_quaternions(self.rotation, (4,), f"{place}.rotation")
        object.__setattr__(self, "translation", move)
        object.__setattr__(self, "rotation", turn)
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class UvBind(Frozen):
    """Shifts texture coordinates (PMX UV morphs).

    Attributes:
        mesh, geometry: whose vertices.
        uv_set: which of the geometry's `uvs`; 0 is the first.
        indices: (M,) int32 vertices.
        offsets: (M, 2) float32 at weight 1.
    """

    mesh: int
    geometry: int
    uv_set: int
    indices: Int32
    offsets: Float32

    if TYPE_CHECKING:

        def __init__(
            self,
            mesh: int,
            geometry: int,
            uv_set: int,
            indices: npt.ArrayLike,
            offsets: npt.ArrayLike,
        ) -> None: ...

    def __post_init__(self) -> None:
        indices = checked(self.indices, np.int32, (None,), "uv bind.indices")
        offsets = checked(self.offsets, np.float32, (len(indices), 2), "uv bind.offsets")
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "offsets", offsets)
        super().__post_init__()


@dataclass(frozen=True)
class MaterialBind(Plain):
    """Changes one property of a material, or of all.

    Attributes:
        material: index into `Character.materials`, or None for all.
        property: the format's name of it: "base_color", "emission", "specular", "ambient",
            "edge_color", "edge_size", "texture", "uv_scale", "uv_offset", …
        value: at weight 1.
        mode: "toward" blends from the material's own value to `value` (VRM; colours are linear
            light), "multiply" by a factor that starts from 1 and "add" of a term that starts from
            0 (PMX; all factors come before all terms; colours are display values, sRGB).
    """

    material: int | None
    property: str
    value: tuple[float, ...]
    mode: Mode = "toward"

    if TYPE_CHECKING:

        def __init__(
            self,
            material: int | None,
            property: str,
            value: Iterable[float],
            mode: Mode = "toward",
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", tuple(self.value))
        if self.mode not in get_args(Mode):
            raise RigError(f"material bind: expected {get_args(Mode)}, found {self.mode!r}")
        super().__post_init__()


@dataclass(frozen=True)
class GroupBind(Plain):
    """Adds `weight` × the expression's weight to another expression (PMX group morphs)."""

    expression: int
    weight: float = 1.0


Bind = MorphBind | JointBind | UvBind | MaterialBind | GroupBind


@dataclass(frozen=True, eq=False, repr=False)
class Expression(Frozen):
    """A named set of binds.

    Attributes:
        name: the file's own, e.g. "まばたき" or "blink".
        binds: what it moves; may be empty.
        preset: the standard name where the format has standard names ("aa", "blinkLeft", …).
        binary: fully on above one half, else off (VRM 1.0 isBinary).
        override_mouth, override_blink, override_look: what this expression does to those of
            the kind: nothing, switch off ("block"), or fade by its own weight ("blend").

    >>> Expression("smile", (MorphBind(0, 3),)).binds[0].target
    3
    """

    name: str
    binds: tuple[Bind, ...] = ()
    preset: str | None = None
    binary: bool = False
    override_mouth: Override = "none"
    override_blink: Override = "none"
    override_look: Override = "none"

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            binds: Iterable[Bind] = (),
            preset: str | None = None,
            binary: bool = False,
            override_mouth: Override = "none",
            override_blink: Override = "none",
            override_look: Override = "none",
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "binds", tuple(self.binds))
        for name in ("override_mouth", "override_blink", "override_look"):
            if getattr(self, name) not in get_args(Override):
                raise RigError(
                    f"expression {self.name!r}: {name}: expected {get_args(Override)}, "
                    f"found {getattr(self, name)!r}"
                )
