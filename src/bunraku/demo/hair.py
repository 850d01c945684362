"""The dressed hair and what is stuck in it."""

from __future__ import annotations

from functools import partial

import numpy as np

from bunraku.demo import weights
from bunraku.demo.forms import Detail, blob, tube
from bunraku.demo.shells import Shell
from bunraku.model.arrays import Float64


def hair(detail: Detail) -> list[Shell]:
    """The dressed hair: a roll over the brow, wings at the sides, the bun and its ribbon."""
    lock = partial(blob, sides=detail(12), rings=detail(8), paint="hair")
    wing = lock("leftWing", (0.079, 1.474, -0.030), (0.034, 0.058, 0.058), tilt=0.16)
    shells = [
        wing,
        wing.mirror("rightWing"),
        lock("browRoll", (0, 1.562, 0.032), (0.062, 0.030, 0.044)),
        lock("nape", (0, 1.415, -0.092), (0.050, 0.050, 0.036)),
        lock("bun", (0, 1.606, -0.046), (0.058, 0.040, 0.052)),
    ]
    ribbon = blob(
        "ribbon",
        (0, 1.5775, -0.043),
        (0.054, 0.013, 0.048),
        sides=detail(12),
        rings=4,
        paint="vermilion",
        squareness=2.4,
    )
    return [*shells, ribbon]


def ornaments(detail: Detail) -> list[Shell]:
    """A golden comb, a pin through the bun, and a plum blossom over the left temple."""

    def held(points: Float64) -> Float64:
        return weights.held_by(len(points), "head")

    pin = tube(
        "pin",
        [(-0.105, 1.588, -0.044), (0, 1.594, -0.046), (0.105, 1.588, -0.044)],
        [0.0032, 0.0032, 0.0032],
        sides=detail(6),
        count=detail(4),
        up=(0, 1, 0),
        paint="gold",
        held=held,
    )
    bead = partial(blob, sides=detail(6), rings=detail(4))
    shells = [pin]
    pearl = bead("leftPearl", (0.108, 1.588, -0.044), (0.009,) * 3, paint="vermilion")
    shells += [pearl, pearl.mirror("rightPearl")]
    comb = blob(
        "comb",
        (0, 1.588, 0.022),
        (0.030, 0.018, 0.0055),
        sides=detail(10),
        rings=detail(4),
        paint="gold",
    )
    shells.append(comb)
    # The blossom faces outward between front and left.
    centre, out = np.array([0.078, 1.532, 0.042]), np.array([0.72, 0.22, 0.66])
    out /= np.linalg.norm(out)
    right = np.cross([0, 1, 0], out)
    right /= np.linalg.norm(right)
    top = np.cross(out, right)
    for k in range(5):
        turn = 2 * np.pi * k / 5
        place = centre + 0.0135 * (np.sin(turn) * right + np.cos(turn) * top)
        petal = bead(f"petal{k}", place, (0.0105, 0.0105, 0.0085), paint="blossom")
        shells.append(petal)
    heart = centre + 0.006 * out
    shells.append(bead("heart", heart, (0.0065,) * 3, paint="gold"))
    return shells
