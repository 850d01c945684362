"""Skinning as the textbooks write it: one vertex, one frame at a time, in double precision."""

from __future__ import annotations

import numpy as np

from bunraku.model import Geometry

COLLAPSED = 1e-6


def deform(geometry: Geometry, palette, method="lbs", morph_weights=None, mix=None):
    """(positions, normals, tangents), each (F, V, ·) float64 or None."""
    palette = np.asarray(palette, np.float64)
    frames, count = len(palette), geometry.vertex_count
    positions = np.zeros((frames, count, 3))
    normals = None if geometry.normals is None else np.zeros((frames, count, 3))
    tangents = None if geometry.tangents is None else np.zeros((frames, count, 4))
    for f in range(frames):
        rest = morphed(geometry, None if morph_weights is None else morph_weights[f])
        for v in range(count):
            matrices, weights = influences(geometry, palette[f], v)
            share = float(method == "dqs") if mix is None else float(mix[v])
            bends = [(1 - share, linear), (share, dual_quaternion)]
            results = [
                (part, bend(matrices, weights, *(None if r is None else r[v] for r in rest)))
                for part, bend in bends
                if part > 0
            ]
            positions[f, v] = sum(part * result[0] for part, result in results)
            if normals is not None:
                normals[f, v] = unit(sum(part * result[1] for part, result in results))
            if tangents is not None:
                tangents[f, v, :3] = unit(sum(part * result[2][:3] for part, result in results))
                tangents[f, v, 3] = max(results, key=lambda pair: pair[0])[1][2][3]
    return positions, normals, tangents


def morphed(geometry: Geometry, weights):
    """Rest positions, normals and tangents with the morph targets added."""
    rest = [
        None if array is None else np.array(array, np.float64)
        for array in (geometry.positions, geometry.normals, geometry.tangents)
    ]
    for weight, morph in zip([] if weights is None else weights, geometry.morphs, strict=True):
        for array, deltas in zip(
            rest, (morph.positions, morph.normals, morph.tangents), strict=True
        ):
            if array is not None and deltas is not None:
                array[morph.indices, :3] += weight * np.asarray(deltas, np.float64)
    return rest


def influences(geometry: Geometry, palette, vertex: int):
    """Matrices and weights of a vertex in ascending joint slots; the identity if it has none."""
    if geometry.joints is None:
        return palette[:1], np.ones(1)
    total: dict[int, float] = {}
    for joint, weight in zip(geometry.joints[vertex], geometry.weights[vertex], strict=True):
        if weight > 0:
            total[int(joint)] = total.get(int(joint), 0.0) + float(weight)
    if not total:
        return np.eye(4)[None, :3], np.ones(1)
    slots = sorted(total)
    weights = np.array([total[slot] for slot in slots])
    return palette[slots], weights / weights.sum()


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else np.zeros_like(vector)


def cofactors(a):
    """det(A)·A⁻ᵀ, which exists for singular matrices too."""
    return np.array([np.cross(a[1], a[2]), np.cross(a[2], a[0]), np.cross(a[0], a[1])])


def normal_matrix(a, collapsed):
    """Cofactors, turned back where a mirror turns normals round, as A⁻ᵀ would not."""
    return -cofactors(a) if np.linalg.det(a) < -collapsed else cofactors(a)


def direction(candidates, rest, collapsed):
    """The first candidate longer than `collapsed`, else the first non-zero one, else rest."""
    rest = unit(rest)
    if not rest.any():
        return np.zeros(3)
    blend, heaviest = (candidate @ rest for candidate in candidates)
    if np.linalg.norm(blend) > collapsed:
        return unit(blend)
    return unit(heaviest) if np.linalg.norm(heaviest) > 1e-12 else rest


def oriented(blend, matrices, weights, normal, tangent):
    heaviest = matrices[int(np.argmax(weights))][:, :3]
    size = np.linalg.norm(heaviest)
    if normal is not None:
        candidates = (
            normal_matrix(blend, COLLAPSED * size**3),
            normal_matrix(heaviest, COLLAPSED * np.abs(heaviest).max() ** 3),
        )
        normal = direction(candidates, normal, COLLAPSED * size**2)
    if tangent is not None:
        det = np.linalg.det(blend)
        if abs(det) <= COLLAPSED * size**3:
            det = np.linalg.det(heaviest)
        handedness = -tangent[3] if det < 0 else tangent[3]
        xyz = direction((blend, heaviest), tangent[:3], COLLAPSED * size)
        tangent = np.append(xyz, handedness)
    return normal, tangent


def linear(matrices, weights, position, normal, tangent):
    blend = np.einsum("j,jrc->rc", weights, matrices)
    moved = blend[:, :3] @ position + blend[:, 3]
    return moved, *oriented(blend[:, :3], matrices, weights, normal, tangent)


def polar(a):
    """A = R·S with R proper: for a mirror both orthogonal factor and stretch change sign."""
    u, s, vt = np.linalg.svd(a)
    if np.linalg.det(u @ vt) < 0:
        if np.linalg.det(a) < -1e-20 * np.abs(a).max() ** 3:
            u, s = -u, -s
        else:
            u[:, 2] *= -1
    return u @ vt, vt.T @ np.diag(s) @ vt


def quaternion(r):
    """Unit (x, y, z, w) of a rotation: the eigenvector of Davenport's matrix."""
    k = np.zeros((4, 4))
    k[:3, :3] = r + r.T - np.trace(r) * np.eye(3)
    k[:3, 3] = k[3, :3] = [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]
    k[3, 3] = np.trace(r)
    return np.linalg.eigh(k)[1][:, -1]


def product(a, b):
    """Hamilton product of (x, y, z, w) quaternions."""
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(v, a[3] * b[3] - a[:3] @ b[:3])


def dual_quaternion(matrices, weights, position, normal, tangent):
    parts = [polar(matrix[:, :3]) for matrix in matrices]
    stretch = sum(w * s for w, (_, s) in zip(weights, parts, strict=True))
    reals = [quaternion(r) for r, _ in parts]
    duals = [
        0.5 * product(np.append(matrix[:, 3], 0), real)
        for matrix, real in zip(matrices, reals, strict=True)
    ]
    heaviest = reals[int(np.argmax(weights))]
    signs = [-1 if heaviest @ real < 0 else 1 for real in reals]
    real = sum(w * s * q for w, s, q in zip(weights, signs, reals, strict=True))
    dual = sum(w * s * q for w, s, q in zip(weights, signs, duals, strict=True))
    size = np.linalg.norm(real)
    real, dual = real / size, dual / size
    conjugate = real * [-1, -1, -1, 1]
    translation = 2 * product(dual, conjugate)[:3]
    rotation = np.array(
        [product(product(real, np.append(axis, 0)), conjugate)[:3] for axis in np.eye(3)]
    ).T
    moved = rotation @ (stretch @ position) + translation
    return moved, *oriented(rotation @ stretch, matrices, weights, normal, tangent)
