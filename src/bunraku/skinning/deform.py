"""Linear-blend and dual-quaternion skinning of one geometry, in any number of frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model.arrays import Float32, checked, regular
from bunraku.model.frozen import Shown
from bunraku.model.mesh import Geometry
from bunraku.skinning.sdef import bend_special, special_vertices

Method = Literal["lbs", "dqs"]
METHODS: tuple[Method, ...] = ("lbs", "dqs")
OUTPUTS = ("positions", "normals", "tangents")

_Deltas = tuple[npt.NDArray[np.int32], Float32 | None, Float32 | None, Float32 | None]

_FLOAT32 = np.dtype(np.float32)  # an array's type is compared with it in a fifth of the time
# Geometry never changes, so its influences are arranged for the kernels once.
_rigs: WeakKeyDictionary[Geometry, _core.skinning.Rig] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False, repr=False)
class Deformed(Shown):
    """One vertex buffer, bent.

    Attributes:
        positions: (F, V, 3) float32, metres.
        normals: (F, V, 3) float32 unit vectors, or None; a rest normal of (0, 0, 0) stays so.
        tangents: (F, V, 4) float32 unit vectors and handedness, or None.
        method: "lbs" or "dqs".
    """

    positions: Float32
    normals: Float32 | None
    tangents: Float32 | None
    method: Method


def deform(
    geometry: Geometry,
    palette: npt.ArrayLike,
    *,
    method: Method = "lbs",
    morph_weights: npt.ArrayLike | None = None,
    mix: npt.ArrayLike | None = None,
    normals: bool = True,
    tangents: bool = True,
) -> Deformed:
    """Bend a geometry by a palette of matrices.

    Morph targets come first, then the skin. "lbs" transforms by the weighted sum of the
    matrices; normals by its inverse transpose (out of cofactors, so that it exists), which keeps
    them outward under mirrors and non-uniform scale, and where the blend collapses by that of
    the vertex's heaviest joint. "dqs" splits each matrix
    into rotation and stretch (polar decomposition, mirrors stay in the stretch), applies the
    blended stretch, then the rigid motion blended as dual quaternions (Kavan et al. 2008); a
    quaternion that points away from the heaviest joint's is negated first. Vertices that the
    geometry lists as `spherical` or `dual` bend MMD's ways under both (see `sdef`). Results do not
    depend on the number of threads, the instruction set, or which frames share a call; except that
    "lbs" sums positions in another way, half as fast again, where neither normals nor tangents
    are wanted: these differ from the others in their last bits, and with the instruction set.

    A vertex whose weights sum to 0 stays where it is in the geometry. Without influences the
    palette's single matrix moves every vertex.

    Args:
        geometry: what to bend.
        palette: (F, J, 3, 4) float32, or (J, 3, 4) for one frame; joint global × inverse bind
            matrix of each joint slot, acting on column vectors.
        method: "lbs" or "dqs".
        morph_weights: (F, T) or (T,), T the geometry's morph targets; none active if omitted.
        mix: (V,) share of "dqs" in each vertex, the rest being "lbs", as in Maya.
        normals, tangents: False to leave them out even if the geometry has them.

    Raises:
        RigError: wrong shapes, numbers that are not finite, a joint slot that the palette
            lacks, an unknown method, `mix` outside [0, 1] or with "lbs".

    >>> arm = Geometry([[2, 1, 0]], joints=[[0, 1]], weights=[[0.5, 0.5]])
    >>> upper = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    >>> elbow_at_90 = [[0, -1, 0, 2], [1, 0, 0, -2], [0, 0, 1, 0]]
    >>> deform(arm, [upper, elbow_at_90]).positions
    array([[[1.5, 0.5, 0. ]]], dtype=float32)
    >>> deform(arm, [upper, elbow_at_90], method="dqs").positions.round(3)
    array([[[1.293, 0.707, 0.   ]]], dtype=float32)
    """
    matrices = _by_frame(palette)
    shape = (len(matrices), geometry.vertex_count)
    has_normals = normals and geometry.normals is not None
    has_tangents = tangents and geometry.tangents is not None
    result = Deformed(
        np.empty((*shape, 3), np.float32),
        np.empty((*shape, 3), np.float32) if has_normals else None,
        np.empty((*shape, 4), np.float32) if has_tangents else None,
        method,
    )
    deform_into(
        geometry,
        matrices,
        result.positions,
        result.normals,
        result.tangents,
        method=method,
        morph_weights=morph_weights,
        mix=mix,
    )
    return result


def deform_into(
    geometry: Geometry,
    palette: npt.ArrayLike,
    positions: Float32,
    normals: Float32 | None = None,
    tangents: Float32 | None = None,
    *,
    method: Method = "lbs",
    morph_weights: npt.ArrayLike | None = None,
    mix: npt.ArrayLike | None = None,
) -> None:
    """Bend a geometry by a palette of matrices, into arrays the caller owns; see `deform`.

    Args:
        positions, normals: (F, V, 3) float32; tangents: (F, V, 4). Contiguous within a frame;
            frames may lie any stride apart, so that ``all[:, start:stop]`` of an array that
            holds several geometries will do. Normals and tangents that the geometry lacks are
            filled with 0.

    Raises:
        RigError: as `deform`, and outputs of the wrong shape, type or layout.

    >>> triangle = Geometry([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> both = np.zeros((1, 6, 3), np.float32)
    >>> deform_into(triangle, [[[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0]]], both[:, 3:])
    >>> both[0, 3:]
    array([[5., 0., 0.],
           [6., 0., 0.],
           [5., 1., 0.]], dtype=float32)
    """
    if method not in METHODS:
        raise RigError(f"method: expected {list(METHODS)}, found {method!r}")
    matrices, rig = _by_frame(palette), _rig(geometry)
    if geometry.joints is None:
        _check_joints(geometry, rig, matrices)
    frames, count = len(matrices), geometry.vertex_count
    targets: list[_Deltas] = []
    active_weights = None
    if morph_weights is not None:
        targets, active_weights = _active_morphs(geometry, morph_weights, frames)
    share = None if mix is None else _share(mix, count, method)
    rest_normals = rest_tangents = out_normals = out_tangents = None
    if normals is not None:
        if geometry.normals is None:
            _check_output(normals, (frames, count, 3), "normals")
            normals[...] = 0
        else:
            rest_normals, out_normals = geometry.normals, normals
    if tangents is not None:
        if geometry.tangents is None:
            _check_output(tangents, (frames, count, 4), "tangents")
            tangents[...] = 0
        else:
            rest_tangents, out_tangents = geometry.tangents, tangents
    rest = (geometry.positions, rest_normals, rest_tangents, share, targets, active_weights)
    out = (positions, out_normals, out_tangents)
    try:
        _core.skinning.deform_into(rig, matrices, method, *rest, *out)
    except (TypeError, ValueError) as error:
        # The kernels have checked it all; looking first would take half of a small call's time.
        matrices = _palette(palette)
        _check_joints(geometry, rig, matrices)
        for array, width, place in zip(out, (3, 3, 4), OUTPUTS, strict=True):
            if array is not None or place == "positions":
                _check_output(array, (frames, count, width), place)
        if isinstance(error, ValueError):
            raise RigError(str(error)) from None
        _core.skinning.deform_into(rig, matrices, method, *rest, *out)
    special = special_vertices(geometry)
    if special is not None and frames > 0:
        weights = _all_weights(morph_weights, frames)
        bend_special(geometry, special, matrices, weights, *out)


def _by_frame(palette: npt.ArrayLike) -> Float32:
    """The palette with an axis of frames; an array otherwise as it is, for the kernels to check."""
    if isinstance(palette, np.ndarray) and palette.ndim in (3, 4):
        return palette if palette.ndim == 4 else palette[None]
    return _palette(palette)


def _palette(palette: npt.ArrayLike) -> Float32:
    array = regular(palette, "palette")
    if array.ndim == 3:
        array = array[None]
    return checked(array, np.float32, (None, None, 3, 4), "palette")


def _rig(geometry: Geometry) -> _core.skinning.Rig:
    rig = _rigs.get(geometry)
    if rig is None:
        if geometry.joints is None or geometry.weights is None:
            shape = (geometry.vertex_count, 1)
            rig = _core.skinning.Rig(np.zeros(shape, np.int32), np.ones(shape, np.float32))
        else:
            rig = _core.skinning.Rig(geometry.joints, geometry.weights)
        _rigs[geometry] = rig
    return rig


def _check_joints(geometry: Geometry, rig: _core.skinning.Rig, palette: Float32) -> None:
    count = palette.shape[1]
    if geometry.joints is None and count != 1:
        raise RigError(f"palette: expected 1 matrix for a geometry without joints, found {count}")
    if rig.joint_count > count:
        raise RigError(
            f"palette: expected at least {rig.joint_count} joints for this geometry, found {count}"
        )


def _all_weights(morph_weights: npt.ArrayLike | None, frames: int) -> Float32 | None:
    if morph_weights is None:
        return None
    given = np.asarray(morph_weights, np.float32)
    return np.broadcast_to(given, (frames, given.shape[-1]))


def _active_morphs(
    geometry: Geometry, morph_weights: npt.ArrayLike, frames: int
) -> tuple[list[_Deltas], Float32 | None]:
    """The targets with a weight other than 0 in some frame, and their (F, A) weights."""
    given = regular(morph_weights, "morph_weights")
    if given.ndim == 1:
        given = np.broadcast_to(given, (frames, len(given)))
    weights = checked(given, np.float32, (frames, len(geometry.morphs)), "morph_weights")
    active = np.flatnonzero(weights.any(axis=0))
    if not active.size:
        return [], None
    morphs = [geometry.morphs[i] for i in active]
    targets = [(m.indices, m.positions, m.normals, m.tangents) for m in morphs]
    return targets, np.ascontiguousarray(weights[:, active])


def _share(mix: npt.ArrayLike, count: int, method: Method) -> Float32:
    if method != "dqs":
        raise RigError(f"mix: expected only with method 'dqs', found {method!r}")
    share: Float32 = checked(mix, np.float32, (count,), "mix")
    if share.size and not (share.min() >= 0 and share.max() <= 1):
        raise RigError(f"mix: expected 0 … 1, found {share.min()} … {share.max()}")
    return share


def _check_output(array: object, shape: tuple[int, ...], place: str) -> None:
    if not isinstance(array, np.ndarray):
        raise RigError(f"{place}: expected {shape} float32, found {type(array).__name__}")
    flags = array.flags
    if array.dtype != _FLOAT32 or array.shape != shape:
        raise RigError(f"{place}: expected {shape} float32, found {array.shape} {array.dtype}")
    if not flags.behaved:
        raise RigError(f"{place}: expected a writeable array, aligned to its numbers")
    if flags.c_contiguous:
        return
    inner = array.strides[1:] if array.shape[1] > 1 else (4 * shape[2], array.strides[2])
    if array.size and (inner != (4 * shape[2], 4) or array.strides[0] % 4):
        raise RigError(f"{place}: expected vertices contiguous within a frame")
