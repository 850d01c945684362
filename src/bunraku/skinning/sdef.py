"""Vertices that bend MMD's own ways, whatever the method of the others: SDEF and QDEF."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.model.arrays import Float32, Int32
from bunraku.model.mesh import Geometry


@dataclass(frozen=True)
class Special:
    """The vertices of a geometry that bend so: in both arrays the SDEF ones come first."""

    indices: Int32
    vertices: _core.sdef.Vertices


# Geometry never changes, so its special vertices are arranged for the kernels once.
_special: WeakKeyDictionary[Geometry, Special | None] = WeakKeyDictionary()


def special_vertices(geometry: Geometry) -> Special | None:
    """Those of a geometry, or None if it has none; vertices that no joint holds are not."""
    if geometry.spherical is None and geometry.dual is None:
        return None
    if geometry not in _special:
        _special[geometry] = _arranged(geometry)
    return _special[geometry]


def bend_special(
    geometry: Geometry,
    special: Special,
    palette: Float32,
    morph_weights: Float32 | None,
    positions: Float32,
    normals: Float32 | None,
    tangents: Float32 | None,
) -> None:
    """Overwrite the special vertices of bent arrays (F, V, 3 or 4).

    SDEF, with S the joints' matrices, R their rotations, q = slerp(R0, R1, w1) by the shorter way,
    and c_b = C + (R_b − w0 R0 − w1 R1) / 2 (there R0 and R1 are the vertex's own points):

        v' = q (v − C) + w0 S0 c0 + w1 S1 c1,    n' = q n

    QDEF: dual quaternions, signs chosen against the vertex's first joint. What a uniform scale of
    the joints does to a vertex is kept.

    Args:
        morph_weights: (F, T) of the geometry's morph targets, or None.
        normals, tangents: None where not asked for, or where the geometry has none.
    """

    def rest(name: str, of: Float32 | None) -> Float32 | None:
        return None if of is None else _morphed(geometry, name, of, special.indices, morph_weights)

    at_rest = rest("positions", geometry.positions)
    assert at_rest is not None
    _core.sdef.bend_into(
        special.vertices,
        palette,
        at_rest,
        None if normals is None else rest("normals", geometry.normals),
        None if tangents is None else rest("tangents", geometry.tangents),
        positions,
        normals,
        tangents,
    )


def _arranged(geometry: Geometry) -> Special | None:
    joints, weights = geometry.joints, geometry.weights
    if joints is None or weights is None:
        return None
    spherical, points = np.zeros(0, np.int32), np.zeros((0, 3, 3), np.float32)
    if geometry.spherical is not None:
        blend = geometry.spherical
        held = weights[blend.indices, :2].sum(axis=1) > 0
        spherical = np.ascontiguousarray(blend.indices[held])
        points = np.stack([blend.centers, blend.first, blend.second], axis=1)[held]
    dual = np.zeros(0, np.int32)
    if geometry.dual is not None:
        dual = np.ascontiguousarray(geometry.dual[weights[geometry.dual].any(axis=1)])
    indices = np.concatenate([spherical, dual])
    if not indices.size:
        return None
    return Special(
        indices,
        _core.sdef.Vertices(
            spherical,
            # vertices of one influence have no second slot, and none of them is spherical
            np.ascontiguousarray(joints[spherical, :2]).reshape(-1, 2),
            np.ascontiguousarray(weights[spherical, :2]).reshape(-1, 2),
            np.ascontiguousarray(points),
            dual,
            np.ascontiguousarray(joints[dual]),
            np.ascontiguousarray(weights[dual]),
        ),
    )


def _morphed(
    geometry: Geometry,
    name: str,
    values: Float32,
    indices: Int32,
    morph_weights: Float32 | None,
) -> Float32:
    """(1 or F, M, 3 or 4) these vertices at rest, with the active morph targets."""
    rest = values[indices][None]
    if morph_weights is None:
        return rest
    place = np.full(geometry.vertex_count, -1)
    place[indices] = np.arange(len(indices))
    for target in np.flatnonzero(morph_weights.any(axis=0)).tolist():
        morph = geometry.morphs[target]
        deltas: npt.NDArray[np.float32] | None = getattr(morph, name)
        here = place[morph.indices] >= 0
        if deltas is None or not here.any():
            continue
        if len(rest) == 1:
            rest = np.repeat(rest, len(morph_weights), axis=0)
        moved = morph_weights[:, target, None, None] * deltas[here]
        rest[:, place[morph.indices[here]], :3] += moved
    return rest
