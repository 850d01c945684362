"""Rigid bodies, joints and soft bodies of a PMX, carried as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Vec3 = tuple[float, float, float]
ZERO = (0.0, 0.0, 0.0)

ANCHOR = np.dtype([("body", "<i4"), ("vertex", "<i4"), ("near", "u1")])


@dataclass(frozen=True, slots=True)
class PmxBody:
    """A rigid body.

    Attributes:
        bone: the bone it follows or drives.
        group: 0..15.
        mask: bit set: it collides with that group.
        shape: 0 sphere, 1 box, 2 capsule.
        size: radius; half extents; radius and height.
        position: in model space.
        rotation: angles about x, y, z, applied in the order y, x, z.
        mode: 0 follows its bone, 1 dynamic, 2 dynamic but held at its bone.
    """

    name: str
    name_english: str = ""
    bone: int = -1
    group: int = 0
    mask: int = 0xFFFF
    shape: int = 0
    size: Vec3 = ZERO
    position: Vec3 = ZERO
    rotation: Vec3 = ZERO
    mass: float = 1.0
    linear_damping: float = 0.0
    angular_damping: float = 0.0
    restitution: float = 0.0
    friction: float = 0.0
    mode: int = 0


@dataclass(frozen=True, slots=True)
class PmxJoint:
    """A joint of two rigid bodies.

    Attributes:
        kind: 0 six degrees of freedom with springs; of version 2.1: 1 without springs,
            2 point to point, 3 cone twist, 4 slider, 5 hinge.
        position, rotation: its frame, as for bodies.
        position_lower, position_upper, rotation_lower, rotation_upper: limits by axis.
        position_spring, rotation_spring: stiffness by axis.
    """

    name: str
    name_english: str = ""
    kind: int = 0
    body_a: int = -1
    body_b: int = -1
    position: Vec3 = ZERO
    rotation: Vec3 = ZERO
    position_lower: Vec3 = ZERO
    position_upper: Vec3 = ZERO
    rotation_lower: Vec3 = ZERO
    rotation_upper: Vec3 = ZERO
    position_spring: Vec3 = ZERO
    rotation_spring: Vec3 = ZERO


@dataclass(frozen=True, slots=True, eq=False)
class PmxSoftBody:
    """A soft body (version 2.1), in the terms of Bullet.

    Attributes:
        shape: 0 triangle mesh, 1 rope.
        material: whose faces it is made of.
        group, mask: as for rigid bodies.
        flags: 1 make bending links, 2 make clusters, 4 links may cross.
        bend_distance, cluster_count: how they are made.
        aero_model: 0 to 4.
        config: VCF, DP, DG, LF, PR, VC, DF, MT, CHR, KHR, SHR, AHR.
        cluster: SRHR_CL, SKHR_CL, SSHR_CL, SR_SPLT_CL, SK_SPLT_CL, SS_SPLT_CL.
        iterations: V, P, D, C.
        stiffness: LST, AST, VST; floats in most readers, integers in some: same bytes.
        anchors: (n,) `ANCHOR`: rigid body and vertex fastened to each other.
        pins: (n,) int32 vertices that stay where they are.
    """

    name: str
    name_english: str = ""
    shape: int = 0
    material: int = -1
    group: int = 0
    mask: int = 0xFFFF
    flags: int = 0
    bend_distance: int = 0
    cluster_count: int = 0
    mass: float = 1.0
    margin: float = 0.0
    aero_model: int = 0
    config: tuple[float, ...] = (0.0,) * 12
    cluster: tuple[float, ...] = (0.0,) * 6
    iterations: tuple[int, ...] = (0,) * 4
    stiffness: Vec3 = ZERO
    anchors: Array = field(default_factory=lambda: np.empty(0, ANCHOR))
    pins: Array = field(default_factory=lambda: np.empty(0, np.int32))
