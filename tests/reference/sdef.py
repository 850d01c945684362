"""SDEF and QDEF, vertex by vertex, as their formulas are written."""

from __future__ import annotations

import numpy as np

from bunraku.rotation import dual_quaternion, quaternion, slerp


def spherical(position, normal, palette, weights, center, r0, r1):
    """A vertex between two rigid joints; palette (2, 3, 4), weights w0 and w1."""
    w0, w1 = weights
    mean = w0 * r0 + w1 * r1
    c0, c1 = (center + (r - mean) / 2 for r in (r0, r1))
    q = slerp(*quaternion.from_matrix(palette[:, :, :3]), w1)
    moved = w0 * (palette[0] @ [*c0, 1]) + w1 * (palette[1] @ [*c1, 1])
    return quaternion.rotate(q, position - center) + moved, quaternion.rotate(q, normal)


def dual(position, normal, palette, weights):
    """A vertex among rigid joints, the first of which has a weight above 0."""
    turns = quaternion.from_matrix(palette[:, :, :3])
    motions = dual_quaternion.from_rotation_translation(turns, palette[:, :, 3])
    signs = np.where(turns @ turns[0] < 0, -1, 1)
    blend = ((weights * signs)[:, None] * motions).sum(axis=0)
    blend /= np.linalg.norm(blend[:4])
    turn, moved = dual_quaternion.to_rotation_translation(blend)
    return quaternion.rotate(turn, position) + moved, quaternion.rotate(turn, normal)
