"""Random rigs for tests: geometry and a palette with every kind of matrix."""

from __future__ import annotations

import numpy as np

from bunraku.model import Geometry, MorphTarget
from bunraku.rotation import quaternion

KINDS = ("rigid", "scale", "mirror", "shear", "hidden")


def geometry(vertices, influences, joints, *, seed=0, morphs=0):
    """Normals and tangents included; the first normal is zero, vertex 3 is held by no joint."""
    rng = np.random.default_rng(seed)
    weights = rng.random((vertices, influences)) ** 3 + 1e-3
    weights /= weights.sum(axis=1, keepdims=True)
    weights[3:4] = 0
    normals = rng.normal(size=(vertices, 3))
    normals[:1] = 0
    targets = []
    for i in range(morphs):
        moved = np.sort(rng.permutation(vertices)[: vertices // 2])
        deltas = rng.normal(size=(3, len(moved), 3)) * 0.3
        targets.append(
            MorphTarget(
                moved, deltas[0], deltas[1] if i % 2 else None, deltas[2] if i % 3 else None
            )
        )
    return Geometry(
        rng.normal(size=(vertices, 3)),
        normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9),
        np.concatenate([rng.normal(size=(vertices, 3)), rng.choice([-1, 1], (vertices, 1))], 1),
        joints=rng.integers(0, joints, (vertices, influences)),
        weights=weights,
        morphs=tuple(targets),
    )


def palette(frames, joints, kind, *, seed=0):
    """(F, J, 3, 4) float32: rotations and translations, and what `kind` adds to them."""
    rng = np.random.default_rng(seed + 1)
    turns = quaternion.normalize(rng.normal(size=(frames, joints, 4)))
    matrices = quaternion.to_matrix(turns)
    stretch = np.zeros((frames, joints, 3, 3)) + np.eye(3)
    if kind in ("scale", "shear", "hidden"):
        stretch *= rng.uniform(0.5, 1.5, (frames, joints, 1, 3))
    if kind == "mirror":
        stretch *= rng.uniform(0.5, 1.5, (frames, joints, 1, 3))
        stretch *= rng.choice([-1, 1], (frames, joints, 1, 3))
    if kind == "shear":
        stretch += rng.normal(size=(frames, joints, 3, 3)) * 0.3
    if kind == "hidden":
        stretch[:, ::2] = 0
    moves = rng.normal(size=(frames, joints, 3, 1))
    return np.concatenate([matrices @ stretch, moves], axis=-1).astype(np.float32)
