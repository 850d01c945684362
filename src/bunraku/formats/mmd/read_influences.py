"""Who holds the vertices of a PMX, and how they bend."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.pmx_vertices import Deform, PmxVertices
from bunraku.formats.mmd.space import metres
from bunraku.model import SphericalBlend

Array = npt.NDArray[Any]

# Float32 sums of four weights are off by a few 1e-7; more than this is no rounding.
TOLERANCE = 1e-5


def read_influences(vertices: PmxVertices, notes: list[Note]) -> tuple[Array, Array]:
    """Joint slots (V, K) int32 and weights (V, K) float32, K being as many as are used.

    Slots are bones, in the order of the file: SDEF needs its two in their places. Weights that
    do not sum to 1 are renormalised; sums of 0 stay.
    """
    joints = vertices.bones
    weights = vertices.weights.astype(np.float64)
    place = "vertices"
    odd = ~((weights >= 0) & (weights < np.inf))
    if odd.any():
        message = (
            f"{int(odd.any(axis=1).sum())} vertices have weights that are below 0 or no numbers"
        )
        notes.append(Note("weights-repaired", message + "; 0 is used", place))
        weights[odd] = 0
    nobody = (joints < 0) & (weights > 0)
    if nobody.any():
        message = f"{int(nobody.any(axis=1).sum())} vertices give weight to no bone; it is dropped"
        notes.append(Note("weight-without-bone", message, place))
        weights[nobody] = 0
    sums = weights[:, 0] + weights[:, 1] + weights[:, 2] + weights[:, 3]
    off = (np.abs(sums - 1) > TOLERANCE) & (sums > 0)
    if off.any():
        worst = sums[off][np.argmax(np.abs(sums[off] - 1))]
        message = (
            f"{int(off.sum())} vertices have weights that do not sum to 1 ({worst:.6g} at worst)"
        )
        notes.append(Note("weights-renormalised", message + "; renormalised", place))
        weights[off] /= weights[off].max(axis=1, keepdims=True)  # no sum overflows
        weights[off] /= weights[off].sum(axis=1, keepdims=True)
    if (sums == 0).any():
        message = f"{int((sums == 0).sum())} vertices are held by no bone"
        notes.append(Note("weights-zero", message, place))
    used = [k for k in range(4) if weights[:, k].any()]
    width = max(used[-1] + 1 if used else 1, 2 if len(vertices.sdef) else 1)
    kept = weights[:, :width].astype(np.float32)
    return np.where(kept > 0, joints[:, :width], np.int32(0)), kept


def read_spherical(vertices: PmxVertices, notes: list[Note]) -> SphericalBlend | None:
    """The SDEF vertices with their centres; those without two bones or numbers bend linearly."""
    indices = np.flatnonzero(vertices.deform == Deform.SDEF)
    centres = metres(vertices.sdef).astype(np.float32)
    usable = np.isfinite(centres).all(axis=(1, 2)) & (vertices.bones[indices, :2] >= 0).all(axis=1)
    usable &= np.isfinite(vertices.weights[indices, 0])
    if not usable.all():
        message = f"{int((~usable).sum())} SDEF vertices lack a bone or have centres that are no"
        notes.append(Note("sdef-linear", message + " numbers; blended linearly", "vertices"))
    if not usable.any():
        return None
    chosen = centres[usable]
    return SphericalBlend(indices[usable], chosen[:, 0], chosen[:, 1], chosen[:, 2])


def read_dual(vertices: PmxVertices) -> Array | None:
    """The QDEF vertices, or None."""
    indices = np.flatnonzero(vertices.deform == Deform.QDEF).astype(np.int32)
    return indices if len(indices) else None
