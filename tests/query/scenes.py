"""Meshes and rays for tests, each from its seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Mesh = tuple[Any, Any]


def icosphere(subdivisions: int, bumps: float = 0.0) -> Mesh:
    """A closed sphere of 20 · 4ⁿ triangles, front outside; `bumps` disturbs its radius."""
    golden = (1 + 5**0.5) / 2
    corners = [(-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0)]
    v = np.array([np.roll(c, k) for k in range(3) for c in corners], float)
    edge = np.linalg.norm(v[:, None] - v, axis=-1)
    near = np.isclose(edge, 2)
    triples = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    f = np.array(triples)
    flipped = (
        np.einsum(
            "ij,ij->i", np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]]), v[f[:, 0]]
        )
        < 0
    )
    f[flipped] = f[flipped][:, ::-1]
    for _ in range(subdivisions):
        edges = np.sort(f[:, [[0, 1], [1, 2], [2, 0]]], axis=-1).reshape(-1, 2)
        unique, inverse = np.unique(edges, axis=0, return_inverse=True)
        middle = inverse.reshape(-1, 3) + len(v)
        v = np.concatenate([v, v[unique].mean(1)])
        a, b, c = f.T
        x, y, z = middle.T
        f = np.concatenate([np.stack(t, 1) for t in ((a, x, z), (b, y, x), (c, z, y), (x, y, z))])
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    v *= 1 + bumps * np.sin(9 * v[:, :1]) * np.sin(7 * v[:, 1:2]) * np.sin(8 * v[:, 2:])
    return v.astype(np.float32), f.astype(np.int32)


def soup(count: int, size: float, seed: int) -> Mesh:
    """Triangles that have nothing to do with one another, in a cube of side 2."""
    rng = np.random.default_rng(seed)
    v = rng.uniform(-1, 1, (count, 1, 3)) + size * rng.standard_normal((count, 3, 3))
    return v.reshape(-1, 3).astype(np.float32), np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def _squashed(mesh: Mesh, factor: float, seed: int) -> Mesh:
    """Slivers: each triangle's third corner brought close to the line of the other two."""
    v, f = mesh
    rng = np.random.default_rng(seed)
    tri = v[f].astype(float)
    share = rng.random((len(f), 1))
    foot = tri[:, 0] * share + tri[:, 1] * (1 - share)
    tri[:, 2] = foot + factor * (tri[:, 2] - foot)
    return tri.reshape(-1, 3).astype(np.float32), f


def _moved(mesh: Mesh, scale: float, offset: float) -> Mesh:
    return (mesh[0].astype(float) * scale + offset).astype(np.float32), mesh[1]


def random_scenes() -> Iterator[tuple[str, Mesh]]:
    """Name and mesh of scenes that have broken trees: all sizes, shapes and places."""
    yield "soup", soup(400, 0.1, 1)
    yield "few", soup(5, 0.5, 2)
    yield "one", soup(1, 1.0, 3)
    yield "nine", soup(9, 0.5, 4)
    yield "large triangles", soup(100, 2.0, 5)
    yield "slivers", _squashed(soup(300, 0.4, 6), 1e-4, 6)
    yield "needles", _squashed(soup(300, 0.4, 7), 1e-9, 7)
    v, f = soup(200, 0.2, 8)
    v[f[::3, 1]] = v[f[::3, 0]]
    yield "degenerate", (v, f)
    v, f = soup(40, 0.3, 9)
    yield "duplicated", (v, np.repeat(f, 9, axis=0))
    yield "all the same", (v, np.repeat(f[:1], 100, axis=0))
    yield "tiny", _moved(soup(200, 0.2, 10), 1e-12, 0)
    yield "huge", _moved(soup(200, 0.2, 11), 1e12, 0)
    yield "far", _moved(soup(200, 0.2, 12), 100, 1e7)
    yield "closed", icosphere(3, 0.1)
    yield "flat", (soup(200, 0.2, 13)[0] * np.array([1, 1, 0], np.float32), soup(200, 0.2, 13)[1])
    scales = 10.0 ** np.random.default_rng(14).uniform(-6, 3, (200, 1, 1))
    v = soup(200, 0.2, 14)[0].reshape(-1, 3, 3) * scales
    yield "mixed sizes", (v.reshape(-1, 3).astype(np.float32), f_of(200))


def f_of(count: int) -> Any:
    return np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def random_rays(vertices: Any, count: int, seed: int) -> tuple[Any, Any]:
    """Half at random, a quarter at vertices, an eighth along axes, an eighth from far away."""
    rng = np.random.default_rng(seed)
    low, high = vertices.min(0).astype(float), vertices.max(0).astype(float)
    size = max((high - low).max(), 1e-30)
    o = rng.uniform(low - 0.3 * size, high + 0.3 * size, (count, 3))
    d = rng.standard_normal((count, 3))
    quarter, eighth = count // 4, count // 8
    d[:quarter] = vertices[rng.integers(len(vertices), size=quarter)] - o[:quarter]
    d[quarter : quarter + eighth] = np.eye(3)[rng.integers(3, size=eighth)] * -1.0
    o[-eighth:] = (low + high) / 2 - 30 * size * d[-eighth:]
    return o.astype(np.float32), d.astype(np.float32)
