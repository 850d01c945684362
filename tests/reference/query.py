"""Rays and points against every primitive, slowly: float32 step by step, and float64."""

from __future__ import annotations

from typing import Any

import numpy as np

F = np.float32
STEP = F(2.0**-24)
STEEPEST = F(2.0**40)
LARGEST = F(2.0**60)


def _shear(origin: Any, direction: Any) -> tuple[int, int, int, Any, Any]:
    d = np.asarray(direction, F)
    z = 0 if abs(d[0]) >= abs(d[1]) else 1
    if abs(d[2]) > abs(d[z]):
        z = 2
    x, y = (z + 1) % 3, (z + 2) % 3
    if d[z] < 0:
        x, y = y, x
    return x, y, z, F(d[x] / d[z]), F(d[y] / d[z])


def _edge(a: Any, b: Any) -> float:
    return float(a[0]) * float(b[1]) - float(a[1]) * float(b[0])


def hit_triangle(triangle: Any, origin: Any, direction: Any) -> tuple[Any, Any, Any] | None:
    """(t, u, v) of the line against one triangle, float32 as the core computes it, or None."""
    tri, o, d = np.asarray(triangle, F), np.asarray(origin, F), np.asarray(direction, F)
    if not (np.abs(tri) <= LARGEST).all():
        return None
    x, y, z, sx, sy = _shear(o, d)
    p = (tri - o).astype(F)
    flat = [(F(q[x] - F(sx * q[z])), F(q[y] - F(sy * q[z]))) for q in p]
    a, b, c = flat
    sides = [F(F(s[0] * e[1]) - F(s[1] * e[0])) for s, e in ((c, b), (a, c), (b, a))]
    if not (all(s >= 0 for s in sides) or all(s <= 0 for s in sides)):
        return None
    if any(s == 0 for s in sides):
        exact = [_edge(c, b), _edge(a, c), _edge(b, a)]
        if not (all(s >= 0 for s in exact) or all(s <= 0 for s in exact)):
            return None
        total = (exact[0] + exact[1]) + exact[2]
        if total == 0:
            return None
        weights = [F(s / total) for s in exact]
    else:
        share = F(F(1) / F(F(sides[0] + sides[1]) + sides[2]))
        weights = [F(s * share) for s in sides]

    low, high = p.min(0), p.max(0)
    margin = F(max(F(0), *(-low), *high) * F(16 * STEP))
    scale = abs(d[z])
    enter, leave = F(-np.inf), F(np.inf)
    for k in range(3):
        steep = not F(abs(d[k]) * STEEPEST) > scale
        inverse = F(np.copysign(STEEPEST, d[k])) if steep else F(scale / d[k])
        one, other = F(F(low[k] - margin) * inverse), F(F(high[k] + margin) * inverse)
        enter, leave = max(enter, min(one, other)), min(leave, max(one, other))
    if not enter <= leave:
        return None
    along = F(F(F(weights[0] * p[0][z]) + F(weights[1] * p[1][z])) + F(weights[2] * p[2][z]))
    depth = -along if d[z] < 0 else along
    return F(min(max(depth, enter), leave) / scale), weights[1], weights[2]


def closest(
    vertices: Any, faces: Any, origin: Any, direction: Any, t_min: float = 0, t_max: float = np.inf
) -> tuple[Any, int, Any, Any]:
    """(t, face, u, v) of the closest hit of one ray, the lowest face of several at the same t."""
    best: tuple[Any, int, Any, Any] = (F(np.inf), -1, F(0), F(0))
    with np.errstate(all="ignore"):
        for i, face in enumerate(np.asarray(faces)):
            found = hit_triangle(np.asarray(vertices, F)[face], origin, direction)
            if found is None or not t_min <= found[0] <= t_max or not found[0] < best[0]:
                continue
            best = (found[0], i, found[1], found[2])
    return best


def precise(vertices: Any, faces: Any, origins: Any, directions: Any) -> tuple[Any, Any]:
    """Closest hit in float64 (Möller and Trumbore 1997), and how far from an edge it passes.

    Returns t (inf for a miss) and the least barycentric over all faces that lie within reach of
    a different verdict: small where rounding decides.
    """
    tri = np.asarray(vertices, np.float64)[faces]
    a, ab, ac = tri[:, 0], tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0]
    times, margins = [], []
    with np.errstate(all="ignore"):
        for o, d in zip(
            np.asarray(origins, np.float64), np.asarray(directions, np.float64), strict=True
        ):
            p = np.cross(d, ac)
            inverse = 1 / np.einsum("ij,ij->i", ab, p)
            s = o - a
            u = np.einsum("ij,ij->i", s, p) * inverse
            q = np.cross(s, ab)
            v = (q @ d) * inverse
            t = np.einsum("ij,ij->i", ac, q) * inverse
            inner = np.minimum(np.minimum(u, v), 1 - u - v)
            ahead = np.isfinite(t) & (t >= -1e-5)
            hit = ahead & (inner >= 0) & (t >= 0)
            times.append(t[hit].min() if hit.any() else np.inf)
            margins.append(np.abs(inner[ahead]).min() if ahead.any() else np.inf)
    return np.array(times), np.array(margins)


def closest_point(vertices: Any, faces: Any, point: Any) -> float:
    """Least distance of a point to the triangles, in float64."""
    p = np.asarray(point, np.float64)
    a, b, c = np.asarray(vertices, np.float64)[faces].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    above = np.ones(len(a), bool)
    candidates = []
    with np.errstate(all="ignore"):
        height = np.einsum("ij,ij->i", p - a, normal) / np.linalg.norm(normal, axis=1)
        foot = p - (height / np.linalg.norm(normal, axis=1))[:, None] * normal
        for s, e in ((a, b), (b, c), (c, a)):
            along = np.einsum("ij,ij->i", p - s, e - s) / np.einsum("ij,ij->i", e - s, e - s)
            at = s + np.nan_to_num(np.clip(along, 0, 1))[:, None] * (e - s)
            candidates.append(np.linalg.norm(at - p, axis=1))
            above &= np.einsum("ij,ij->i", np.cross(e - s, foot - s), normal) >= 0
    candidates.append(np.where(above, np.abs(height), np.inf))
    return float(np.min(candidates))
