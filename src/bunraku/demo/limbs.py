"""Arms and legs, each one closed shell, and the hands and feet at their ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.demo import weights
from bunraku.demo.atlas import region
from bunraku.demo.figure import ANKLE, ARM_HEIGHT, ELBOW, KNEE, LEG_SIDE, SHOULDER, WRIST
from bunraku.demo.forms import Detail, tube
from bunraku.demo.shells import (
    Shell,
    around,
    circle,
    close,
    dome,
    ring,
    ring_uvs,
    stations,
    through,
)
from bunraku.model.arrays import Float64


def arm(detail: Detail) -> Shell:
    """The left arm with its palm, one closed shell from inside the sleeve to the knuckles."""
    # Place along x, reach up and down, reach forward and back (z).
    table = [
        (SHOULDER + 0.02, 0.035, 0.035),
        (SHOULDER + 0.10, 0.039, 0.039),
        (ELBOW - 0.08, 0.036, 0.036),
        (ELBOW, 0.0345, 0.0345),
        (ELBOW + 0.07, 0.037, 0.037),
        (WRIST - 0.10, 0.031, 0.032),
        (WRIST - 0.02, 0.0235, 0.026),
        (WRIST + 0.02, 0.0205, 0.031),
        (WRIST + 0.055, 0.0185, 0.0395),
        (WRIST + 0.087, 0.0150, 0.0385),
    ]
    start, end, caps = SHOULDER + 0.02, WRIST + 0.087, (0.035, 0.012)
    at = stations(start, end, detail(34), caps)
    reach = through(table, at) * dome(at, start, end, caps)[:, None]
    sides = detail(12)
    y, z = ring(*circle(sides), reach[:, 0], reach[:, 0], reach[:, 1], 2.1)
    rings = np.stack([np.broadcast_to(at[:, None], y.shape), y + ARM_HEIGHT, z], -1)
    positions, faces = close(rings, [start, ARM_HEIGHT, 0], [end, ARM_HEIGHT, 0])
    uvs = ring_uvs(around(sides), (at - start) / (end - start), region("arm"))
    return Shell("leftArm", positions, faces, uvs, weights.arm(positions))


def fingers(detail: Detail) -> list[Shell]:
    """Thumb and four fingers of the left hand, tubes with their roots in the palm.

    They are hinged as wood is, without a soft blend.
    """

    def finger_held(points: Float64) -> Float64:
        joints = ("leftHand", "leftMiddleProximal", "leftMiddleIntermediate")
        return weights.chain(points[:, 0], joints, ((0.706, 0.008), (0.744, 0.008)))

    def thumb_held(points: Float64) -> Float64:
        along = (points - (0.652, 1.258, 0.024)) @ (0.67, -0.10, 0.73)
        joints = ("leftHand", "leftThumbProximal", "leftThumbDistal")
        return weights.chain(along, joints, ((0.002, 0.008), (0.038, 0.009)))

    shells = []
    for name, z, length in (
        ("Index", 0.0275, 0.073),
        ("Middle", 0.0095, 0.081),
        ("Ring", -0.0085, 0.075),
        ("Little", -0.0262, 0.060),
    ):
        height = ARM_HEIGHT - 0.001
        path = np.array([(0.690, height, z), (0.735, height + 0.001, 1.05 * z)])
        path = np.concatenate([path, [(0.706 + length, height - 0.003, 1.10 * z)]])
        shells.append(
            tube(
                f"left{name}",
                path,
                [0.0102, 0.0098, 0.0078],
                sides=detail(6),
                count=detail(2),
                up=(0, 1, 0),
                paint="finger",
                held=finger_held,
            )
        )
    shells.append(
        tube(
            "leftThumb",
            [(0.640, 1.259, 0.012), (0.668, 1.256, 0.040), (0.704, 1.2535, 0.070)],
            [0.0135, 0.0115, 0.0088],
            sides=detail(6),
            count=detail(2),
            up=(0, 1, 0),
            paint="finger",
            held=thumb_held,
        )
    )
    return shells


def leg(detail: Detail) -> Shell:
    """The left leg from inside the skirt to inside the foot."""
    # Height, reach to the front, to the back, sideways.
    table = [
        (0.045, 0.034, 0.034, 0.033),
        (ANKLE, 0.034, 0.036, 0.033),
        (0.16, 0.035, 0.040, 0.036),
        (0.30, 0.043, 0.062, 0.050),
        (KNEE - 0.06, 0.047, 0.056, 0.050),
        (KNEE, 0.054, 0.050, 0.051),
        (0.56, 0.062, 0.060, 0.060),
        (0.70, 0.066, 0.066, 0.066),
    ]
    start, end, caps = 0.045, 0.70, (0.02, 0.05)
    at = stations(start, end, detail(24), caps)
    reach = through(table, at) * dome(at, start, end, caps)[:, None]
    sides = detail(12)
    z, x = ring(*circle(sides), reach[:, 0], reach[:, 1], reach[:, 2])
    rings = np.stack([x + LEG_SIDE, np.broadcast_to(at[:, None], x.shape), z], -1)
    positions, faces = close(rings, [LEG_SIDE, start, 0], [LEG_SIDE, end, 0])
    uvs = ring_uvs(around(sides), (end - at) / (end - start), region("leg"))
    return Shell("leftLeg", positions, faces, uvs, weights.leg(positions))


def foot(detail: Detail) -> list[Shell]:
    """The left foot in its white tabi, on a straw sandal with a vermilion thong."""

    def held(points: Float64) -> Float64:
        return weights.chain(points[:, 2], ("leftFoot", "leftToes"), ((0.095, 0.03),))

    def slab(
        name: str, table: Sequence[tuple[float, ...]], squareness: float, paint: str, caps: float
    ) -> Shell:
        start, end = table[0][0], table[-1][0]
        at = stations(start, end, detail(6), (caps, caps))
        top, bottom, side = through(table, at).T
        round_ends = dome(at, start, end, (caps, caps))
        middle = (top + bottom) / 2
        half, sides = (top - bottom) / 2 * round_ends, detail(10)
        y, x = ring(*circle(sides), half, half, side * round_ends, squareness)
        rings = np.stack(
            [LEG_SIDE - x, middle[:, None] + y, np.broadcast_to(at[:, None], x.shape)], -1
        )
        poles = ([LEG_SIDE, middle[0], start], [LEG_SIDE, middle[-1], end])
        positions, faces = close(rings, *poles)
        uvs = ring_uvs(around(sides), (at - start) / (end - start), region(paint))
        return Shell(name, positions, faces, uvs, held(positions))

    tabi = [
        (-0.058, 0.070, 0.022, 0.028),
        (-0.030, 0.105, 0.022, 0.035),
        (0.010, 0.105, 0.022, 0.036),
        (0.060, 0.074, 0.022, 0.041),
        (0.105, 0.056, 0.022, 0.045),
        (0.150, 0.042, 0.022, 0.036),
    ]
    sole = [
        (-0.070, 0.024, 0.0, 0.036),
        (0.0, 0.024, 0.0, 0.041),
        (0.10, 0.024, 0.0, 0.050),
        (0.168, 0.024, 0.0, 0.042),
    ]
    shells = [slab("leftTabi", tabi, 2.4, "white", 0.026)]
    shells.append(slab("leftSandal", sole, 4.0, "straw", 0.024))
    for name, side in (("Inner", -1), ("Outer", 1)):
        path = [
            (LEG_SIDE, 0.040, 0.132),
            (LEG_SIDE + 0.026 * side, 0.066, 0.090),
            (LEG_SIDE + 0.047 * side, 0.022, 0.030),
        ]
        shells.append(
            tube(
                f"left{name}Thong",
                path,
                [0.006, 0.006, 0.006],
                sides=detail(4),
                count=detail(4),
                up=(0, 1, 0),
                paint="vermilion",
                held=held,
            )
        )
    return shells
