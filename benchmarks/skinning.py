"""Skinning: linear blend and dual quaternions, on a figure and on the worst case of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Row, compare, table
from benchmarks.peers import skinning as peers
from bunraku import _core
from bunraku.model import Geometry
from bunraku.skinning import Method, deform_into

JOINTS = 60


def run() -> Iterator[str]:
    """Yield two tables: positions by both methods, and positions with normals."""
    for oriented in (False, True):
        rows = []
        for method in ("lbs", "dqs"):
            for mesh, build in (("figure", figure), ("random joints", scattered)):
                for vertices, frames in ((100_000, 64), (100_000, 1), (5_000, 1)):
                    geometry, palette = build(vertices), motion(frames)
                    for threads in (1, 2):
                        contenders = _contenders(geometry, palette, method, oriented, threads)
                        case = f"{method}, {mesh}, {vertices} × {frames}, {threads} thread(s)"
                        rows.append(Row(case, compare(contenders, 5), vertices * frames))
        what = "positions and normals" if oriented else "positions"
        yield table(f"Skinning, {what}: 4 influences, {JOINTS} joints", "vertices per second", rows)
    _core.set_thread_count(0)


def motion(frames: int) -> Any:
    """(F, J, 3, 4) rigid palette: every joint turns up to 60° about an axis of its own."""
    rng = np.random.default_rng(7)
    axis = rng.normal(size=(JOINTS, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half = np.sin(np.linspace(0, 6, frames)[:, None] + np.arange(JOINTS)) * 0.5
    q = np.concatenate([axis * np.sin(half)[..., None], np.cos(half)[..., None]], axis=-1)
    x, y, z, w = np.moveaxis(q, -1, 0)
    palette = np.empty((frames, JOINTS, 3, 4), np.float32)
    palette[..., 0, :3] = np.stack(
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], -1
    )
    palette[..., 1, :3] = np.stack(
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], -1
    )
    palette[..., 2, :3] = np.stack(
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1
    )
    palette[..., 3] = rng.normal(size=(JOINTS, 3))
    return palette


def figure(vertices: int) -> Geometry:
    """Five limbs of twelve joints, ring by ring as meshes are made, with smooth weights."""
    limb, ring = JOINTS // 5, 40
    along = np.arange(vertices) // ring * ring / vertices * 5  # limb, then the way along it
    way = (along % 1)[:, None] * limb
    near = np.clip(np.clip(np.floor(way) - 1, 0, limb - 4) + np.arange(4), 0, limb - 1)
    weights = np.maximum(2.2 - np.abs(near + 0.5 - way), 0.01) ** 2
    joints = near + np.floor(along)[:, None] * limb
    return _geometry(vertices, joints, weights)


def scattered(vertices: int) -> Geometry:
    """Four joints per vertex, drawn at random from all."""
    rng = np.random.default_rng(3)
    quarter = JOINTS // 4
    joints = rng.integers(0, quarter, (vertices, 4)) + quarter * np.arange(4)
    return _geometry(vertices, joints, rng.uniform(0.1, 1, (vertices, 4)))


def _geometry(vertices: int, joints: Any, weights: Any) -> Geometry:
    rng = np.random.default_rng(5)
    normals = rng.normal(size=(vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Geometry(
        rng.uniform(-1, 1, (vertices, 3)),
        normals,
        joints=joints.astype(np.int32),
        weights=weights / weights.sum(axis=1, keepdims=True),
    )


def _contenders(
    geometry: Geometry, palette: Any, method: Method, oriented: bool, threads: int
) -> dict[str, Contender]:
    """Ours and the peers', after a check that the positions agree."""
    _core.set_thread_count(threads)
    shape = (len(palette), geometry.vertex_count, 3)
    out, directions = np.empty(shape, np.float32), np.empty(shape, np.float32)

    def ours() -> Any:
        deform_into(geometry, palette, out, directions if oriented else None, method=method)
        return out

    contenders = {"bunraku": ours, **peers.contenders(geometry, palette, method, oriented, threads)}
    expected = ours()
    for name, contender in contenders.items():
        answer = contender()
        if not np.allclose(answer, expected, atol=1e-4):
            raise AssertionError(f"{name} disagrees by {np.abs(answer - expected).max()}")
    return contenders
