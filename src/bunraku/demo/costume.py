"""What is worn: kimono, sleeves, collars, sash and bow."""

from __future__ import annotations

import numpy as np

from bunraku.demo import weights
from bunraku.demo.atlas import region
from bunraku.demo.figure import ARM_HEIGHT
from bunraku.demo.forms import Detail, blob, surface
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

# Height, half width, reach to the front, reach to the back.
_TRUNK = np.array(
    [
        (0.82, 0.128, 0.100, 0.098),
        (0.90, 0.124, 0.098, 0.096),
        (1.00, 0.120, 0.095, 0.092),
        (1.09, 0.128, 0.102, 0.094),
        (1.17, 0.140, 0.104, 0.098),
        (1.23, 0.144, 0.090, 0.092),
        (1.275, 0.118, 0.066, 0.076),
        (1.305, 0.066, 0.044, 0.058),
    ]
)
_SQUARE = 2.3


def trunk(detail: Detail) -> Shell:
    """The upper kimono, from inside the skirt to the shoulders."""
    start, end, caps = _TRUNK[0, 0], _TRUNK[-1, 0], (0.04, 0.012)
    at = stations(start, end, detail(12), caps)
    side, front, back = (through(_TRUNK, at) * dome(at, start, end, caps)[:, None]).T
    sides = detail(22)
    z, x = ring(*circle(sides), front, back, side, _SQUARE)
    rings = np.stack([x, np.broadcast_to(at[:, None], x.shape), z], -1)
    positions, faces = close(rings, [0, start, 0], [0, end, 0])
    uvs = ring_uvs(around(sides), (end - at) / (end - start), region("trunk"))
    return Shell("trunk", positions, faces, uvs, weights.trunk(positions))


def sash(detail: Detail) -> Shell:
    """The obi: a stiff band round the waist, a little wider than the kimono under it."""
    at = np.array([0.945, 0.945, 0.949, 0.965, 0.99, 1.02, 1.05, 1.075, 1.091, 1.095, 1.095])
    grow = np.array([-0.012, 0.004, 0.009, 0.011, 0.012, 0.012, 0.012, 0.011, 0.009, 0.004, -0.012])
    side, front, back = (through(_TRUNK, at) + grow[:, None]).T
    sides = detail(22)
    z, x = ring(*circle(sides), front, back, side, _SQUARE)
    rings = np.stack([x, np.broadcast_to(at[:, None], x.shape), z], -1)
    positions, faces = close(rings, [0, at[0], 0], [0, at[-1], 0])
    length = np.concatenate([[0], np.cumsum(np.hypot(np.diff(at), np.diff(grow)))])
    uvs = ring_uvs(around(sides), 1 - length / length[-1], region("sash"))
    return Shell("sash", positions, faces, uvs, weights.trunk(positions))


def skirt(detail: Detail) -> Shell:
    """The lower kimono: down to the hem, in again, and up inside, so that it looks open below."""
    # Place along the profile, height, half width, reach to the front, reach to the back.
    outside = np.array(
        [
            (0.00, 0.985, 0.112, 0.086, 0.084),
            (0.06, 0.930, 0.130, 0.103, 0.100),
            (0.20, 0.850, 0.152, 0.120, 0.116),
            (0.40, 0.720, 0.176, 0.134, 0.128),
            (0.60, 0.580, 0.190, 0.146, 0.138),
            (0.78, 0.430, 0.202, 0.160, 0.148),
        ]
    )
    inside = np.array(
        [
            (0.80, 0.422, 0.200, 0.158, 0.146),
            (0.82, 0.424, 0.194, 0.152, 0.140),
            (0.88, 0.480, 0.186, 0.142, 0.134),
            (0.96, 0.580, 0.174, 0.132, 0.124),
            (1.00, 0.600, 0.090, 0.070, 0.070),
        ]
    )
    at = np.concatenate([np.linspace(0, 0.78, detail(12)), inside[:, 0]])
    table = np.concatenate([through(outside, at[: -len(inside)]), inside[:, 1:]])
    height, side, front, back = table.T
    sides = detail(28)
    z, x = ring(*circle(sides), front, back, side, 2.15)
    # Strung from top to bottom, so the ring turns the other way.
    rings = np.stack([-x, np.broadcast_to(height[:, None], x.shape), z], -1)
    positions, faces = close(rings, [0, 0.99, 0], [0, 0.602, 0])
    uvs = ring_uvs(around(sides), at, region("skirt"))
    return Shell("skirt", positions, faces, uvs, weights.skirt(positions))


def sleeve(detail: Detail) -> Shell:
    """The left sleeve with its hanging pocket; the cuff turns in like the skirt's hem."""
    # Place along the profile, x, reach above the arm, below it, forward and back.
    outside = np.array(
        [
            (0.00, 0.075, 0.034, 0.040, 0.040),
            (0.08, 0.110, 0.042, 0.070, 0.056),
            (0.25, 0.170, 0.050, 0.135, 0.058),
            (0.45, 0.245, 0.054, 0.195, 0.058),
            (0.74, 0.352, 0.056, 0.215, 0.057),
        ]
    )
    inside = np.array(
        [
            (0.76, 0.356, 0.053, 0.211, 0.054),
            (0.79, 0.353, 0.049, 0.205, 0.050),
            (0.94, 0.300, 0.046, 0.190, 0.046),
            (1.00, 0.292, 0.025, 0.090, 0.022),
        ]
    )
    at = np.concatenate([np.linspace(0, 0.74, detail(10)), inside[:, 0]])
    along, above, below, side = np.concatenate(
        [through(outside, at[: -len(inside)]), inside[:, 1:]]
    ).T
    sides = detail(16)
    y, z = ring(*circle(sides), above, below, side, 2.9)
    z = z * (1 - 0.35 * np.clip(-y / 0.21, 0, 1))  # the pocket hangs flat
    rings = np.stack([np.broadcast_to(along[:, None], y.shape), y + ARM_HEIGHT, z], -1)
    poles = ([0.07, ARM_HEIGHT, 0], [0.292, ARM_HEIGHT - 0.05, 0])
    positions, faces = close(rings, *poles)
    uvs = ring_uvs(around(sides), at, region("sleeve"), turned=True)
    return Shell("leftSleeve", positions, faces, uvs, weights.sleeve(positions))


def collars(detail: Detail) -> list[Shell]:
    """Two collar bands and the white ones under them, the left over the right."""
    # Middle line of the left band: position, then the way it faces. From the throat down it
    # lies on the trunk, and it ends behind the sash.
    knots = np.array(
        [
            (-0.006, 1.324, -0.070, 0.0, 0.45, -0.90),
            (0.044, 1.321, -0.050, 0.35, 0.75, -0.55),
            (0.066, 1.312, -0.008, 0.45, 0.88, 0.15),
            (0.061, 1.283, 0.050, 0.25, 0.60, 0.76),
            (0.042, 1.232, 0.000, 0.18, 0.25, 0.95),
            (0.012, 1.172, 0.000, 0.05, 0.05, 1.0),
            (-0.020, 1.115, 0.000, -0.10, 0.0, 1.0),
            (-0.040, 1.075, 0.000, -0.20, 0.0, 0.98),
        ]
    )
    on_trunk = surface(_TRUNK, knots[4:, 0], knots[4:, 1], _SQUARE)
    knots[4:, 2] = on_trunk + [0.003, 0.003, 0.002, -0.004]
    places = np.linspace(0, 1, len(knots))
    start, end, caps = 0.0, 1.0, (0.01, 0.01)
    at = stations(start, end, detail(10), caps)
    table = through(np.column_stack([places, knots]), at)
    along = np.gradient(table[:, :3], at, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    faces_out = table[:, 3:] - along * (table[:, 3:] * along).sum(axis=1, keepdims=True)
    faces_out /= np.linalg.norm(faces_out, axis=1, keepdims=True)
    across = np.cross(along, faces_out)
    sides = detail(6)
    shells = []
    for name, paint, raised, shifted, half in (
        ("Collar", "vermilion", 0.004, 0.004, 0.0165),
        ("UnderCollar", "white", 0.000, 0.011, 0.0150),
    ):
        thick = np.full(len(at), 0.0045) * dome(at, start, end, caps)
        wide = np.full(len(at), half)
        u, v = ring(*circle(sides), thick, thick, wide, 2.6)
        for side, lift in (("left", 0.0052), ("right", 0.0)):
            # Only in front do the two lie on each other.
            crossing = lift * weights.smooth_step((0.62 - np.abs(at - 0.72)) / 0.3)
            middle = table[:, :3] + faces_out * (raised + crossing)[:, None]
            middle = middle + across * shifted
            rings = (
                middle[:, None] + u[..., None] * faces_out[:, None] + v[..., None] * across[:, None]
            )
            positions, faces = close(rings, middle[0], middle[-1])
            uvs = ring_uvs(around(sides), at, region(paint))
            held = weights.trunk(positions)
            shell = Shell(f"left{name}", positions, faces, uvs, held)
            shells.append(shell if side == "left" else shell.mirror(f"right{name}"))
    return shells


def bow(detail: Detail) -> list[Shell]:
    """The sash's bow at the back: two loops, two tails, a knot."""

    def pillow(name: str, table: list[tuple[float, ...]], paint: str) -> Shell:
        """A flat cushion along +X: place, middle height, half height, middle z, half depth."""
        start, end, caps = table[0][0], table[-1][0], (0.012, 0.015)
        at = stations(start, end, detail(4), caps)
        middle, half, depth, thick = through(table, at).T
        round_ends = dome(at, start, end, caps)
        sides = detail(8)
        y, z = ring(*circle(sides), half * round_ends, half * round_ends, thick * round_ends, 2.8)
        rings = np.stack(
            [
                np.broadcast_to(at[:, None], y.shape),
                y + middle[:, None],
                z + depth[:, None],
            ],
            -1,
        )
        poles = ([start, middle[0], depth[0]], [end, middle[-1], depth[-1]])
        positions, faces = close(rings, *poles)
        uvs = ring_uvs(around(sides), (at - start) / (end - start), region(paint), turned=True)
        return Shell(name, positions, faces, uvs, weights.held_by(len(positions), "spine"))

    loop = pillow(
        "leftLoop",
        [
            (0.000, 1.045, 0.030, -0.128, 0.018),
            (0.050, 1.050, 0.052, -0.138, 0.026),
            (0.110, 1.040, 0.066, -0.134, 0.026),
            (0.160, 1.024, 0.060, -0.122, 0.018),
        ],
        "bow",
    )
    tail = pillow(
        "leftTail",
        [
            (0.008, 0.965, 0.085, -0.122, 0.008),
            (0.040, 0.950, 0.105, -0.126, 0.008),
            (0.078, 0.935, 0.110, -0.122, 0.007),
        ],
        "tail",
    )
    knot = blob(
        "knot",
        (0, 1.045, -0.142),
        (0.027, 0.036, 0.024),
        sides=detail(8),
        rings=detail(4),
        paint="gold",
        joint="spine",
        squareness=2.6,
    )
    return [loop, loop.mirror("rightLoop"), tail, tail.mirror("rightTail"), knot]
