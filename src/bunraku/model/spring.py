"""Springs: chains of joints that swing after the body, and the shapes they stay out of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float64, checked
from bunraku.model.frozen import Frozen

Shape = Literal["sphere", "capsule", "plane"]


@dataclass(frozen=True, eq=False, repr=False)
class Collider(Frozen):
    """A shape on a node that keeps tails out, or in.

    Attributes:
        node: that carries it.
        shape: "sphere", "capsule" or "plane".
        offset: (3,) float64 centre, first end or a point of the plane, in the node's space.
        radius: metres; not scaled by the node.
        tail: (3,) float64 the capsule's other end, in the node's space.
        normal: (3,) float64 the plane's.
        inside: keeps tails inside (VRMC_springBone_extended_collider).
    """

    node: int
    shape: Shape
    offset: Float64
    radius: float = 0.0
    tail: Float64 | None = None
    normal: Float64 | None = None
    inside: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            node: int,
            shape: Shape,
            offset: npt.ArrayLike,
            radius: float = 0.0,
            tail: npt.ArrayLike | None = None,
            normal: npt.ArrayLike | None = None,
            inside: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        place = f"collider on node {self.node}"
        if self.shape not in get_args(Shape):
            raise RigError(f"{place}: expected {get_args(Shape)}, found {self.shape!r}")
        for name, needed in (
            ("offset", True),
            ("tail", self.shape == "capsule"),
            ("normal", self.shape == "plane"),
        ):
            value = getattr(self, name)
            if value is None:
                if needed:
                    raise RigError(f"{place}: a {self.shape} needs {name}")
                continue
            object.__setattr__(self, name, checked(value, np.float64, (3,), f"{place}.{name}"))
        if not np.isfinite(self.radius):
            raise RigError(f"{place}.radius: expected a finite number, found {self.radius}")
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class SpringJoint(Frozen):
    """A node that turns so that its tail swings.

    Attributes:
        node: that turns.
        child: the node at its tail, or None where `tail` says where that is.
        tail: (3,) float64 in the node's space, metres, or None.
        stiffness: pull back to rest, per second.
        gravity_power, gravity_direction: steady pull in world space.
        drag: 0 … 1 of the speed that is lost in each step.
        hit_radius: of the tail against colliders, metres.
    """

    node: int
    child: int | None = None
    tail: Float64 | None = None
    stiffness: float = 1.0
    gravity_power: float = 0.0
    gravity_direction: tuple[float, float, float] = (0.0, -1.0, 0.0)
    drag: float = 0.5
    hit_radius: float = 0.0

    if TYPE_CHECKING:

        def __init__(
            self,
            node: int,
            child: int | None = None,
            tail: npt.ArrayLike | None = None,
            stiffness: float = 1.0,
            gravity_power: float = 0.0,
            gravity_direction: tuple[float, float, float] = (0.0, -1.0, 0.0),
            drag: float = 0.5,
            hit_radius: float = 0.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        place = f"spring joint of node {self.node}"
        if (self.child is None) == (self.tail is None):
            raise RigError(f"{place}: expected either a child or a tail")
        if self.tail is not None:
            object.__setattr__(self, "tail", checked(self.tail, np.float64, (3,), f"{place}.tail"))
        numbers = (self.stiffness, self.gravity_power, self.drag, self.hit_radius)
        if not np.isfinite([*numbers, *self.gravity_direction]).all():
            raise RigError(f"{place}: expected finite numbers")
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class Spring(Frozen):
    """A chain of joints.

    Attributes:
        name: may be empty.
        joints: ancestors first.
        colliders: indices into `Rig.colliders`, in the order they push.
        center: the node in whose space inertia is felt, or None for the world.
    """

    name: str
    joints: tuple[SpringJoint, ...]
    colliders: tuple[int, ...] = ()
    center: int | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            joints: Iterable[SpringJoint],
            colliders: Iterable[int] = (),
            center: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "colliders", tuple(self.colliders))
        super().__post_init__()
