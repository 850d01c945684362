"""Random skins and poses for tests, and what a posed query has to answer."""

from __future__ import annotations

import numpy as np

from bunraku.model import Geometry, MorphTarget
from bunraku.query import Bvh


def skin(rng, *, vertices, influences, joints, morphs=0, local=True):
    """A soup of small triangles; joints hold what is near them if `local`, else anything."""
    corners = rng.uniform(-1, 1, (vertices, 1, 3)) + rng.normal(size=(vertices, 3, 3)) * 0.05
    positions = corners.reshape(-1, 3).astype(np.float32)
    count = len(positions)
    slots = rng.integers(0, joints, (count, influences))
    if local:
        centers = rng.uniform(-1, 1, (joints, 3))
        distance = np.linalg.norm(positions[:, None] - centers, axis=-1)
        slots[:, : min(influences, joints)] = np.argsort(distance, axis=1)[:, :influences]
    weights = rng.random((count, influences)) ** 2
    weights[rng.random(weights.shape) < 0.3] = 0
    weights[rng.random(count) < 0.02] = 0  # held by nobody
    total = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    targets = []
    for _ in range(morphs):
        moved = np.sort(rng.permutation(count)[: rng.integers(0, count)])
        targets.append(MorphTarget(moved, rng.normal(size=(len(moved), 3)) * 0.2))
    geometry = Geometry(positions, joints=slots, weights=weights, morphs=tuple(targets))
    return geometry, np.arange(count, dtype=np.int32).reshape(-1, 3)


def palette(rng, joints, kind):
    """(J, 3, 4): turns of up to a radian, or any, and what `kind` adds."""
    axis = rng.normal(size=(joints, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    angle = rng.uniform(0, np.pi if kind == "wild" else 1, (joints, 1, 1))
    k = np.zeros((joints, 3, 3))
    k[:, [2, 0, 1], [1, 2, 0]], k[:, [1, 2, 0], [2, 0, 1]] = axis, -axis
    turns = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    if kind == "stretched":
        turns = turns * rng.uniform(0.3, 2, (joints, 1, 3))
    if kind == "mirrored":
        turns = turns * [-1.5, 1.5, 1.5]
    if kind == "sheared":
        turns = turns + rng.normal(size=turns.shape) * 0.4
    if kind == "collapsed":
        turns[::2] = 0
    if kind == "alike":
        turns = turns @ np.diag([2.0, 0.5, 1.0])
    moves = rng.normal(size=(joints, 3, 1)) * (1e5 if kind == "far" else 0.3)
    return np.concatenate([turns, moves], axis=-1).astype(np.float32)


KINDS = ("rigid", "wild", "stretched", "mirrored", "sheared", "collapsed", "alike", "far")


def rays_at(rng, positions, count):
    """At the surface from all around, along axes, and into the void."""
    finite = positions[np.isfinite(positions).all(axis=1)]
    size = max(float(np.ptp(finite, axis=0).max()), 1e-3) if len(finite) else 1.0
    aims = finite[rng.integers(0, len(finite), count)] if len(finite) else np.zeros((count, 3))
    origins = aims + rng.normal(size=(count, 3)) * size
    directions = aims + rng.normal(size=(count, 3)) * 0.02 * size - origins
    straight = np.eye(3)[rng.integers(0, 3, count)] * rng.choice([-1, 1], (count, 1))
    along = rng.random(count) < 0.2
    directions[along] = straight[along]
    return origins.astype(np.float32), directions.astype(np.float32)


def assert_same(posed, bent, faces, origins, directions, **limits):
    """Closest, any and all hits are those of brute force over the bent mesh, bit for bit."""
    whole = Bvh(bent, faces)
    expected = whole.closest_hit(origins, directions, normals=True, by_force=True, **limits)
    found = posed.closest_hit(origins, directions, normals=True, **limits)
    for name in ("t", "primitive", "u", "v", "normal"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    hit = posed.any_hit(origins, directions, **limits)
    np.testing.assert_array_equal(hit, expected.hit)
    every, wanted = (s.all_hits(origins, directions, **limits) for s in (posed, whole))
    for name in ("first", "t", "primitive", "u", "v"):
        assert getattr(every, name).tobytes() == getattr(wanted, name).tobytes(), name
    return int(expected.hit.sum())
