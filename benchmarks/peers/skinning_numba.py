"""Skinning in numba: threads over blocks and frames, vertex by vertex, with fast-math."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit, prange

BLOCK = 1024


@njit(parallel=True, fastmath=True)
def lbs(positions, joints, weights, palette, out):
    frames, count = len(palette), len(positions)
    blocks = (count + BLOCK - 1) // BLOCK
    for task in prange(blocks * frames):
        f, begin = task % frames, task // frames * BLOCK
        matrices = palette[f]
        for v in range(begin, min(begin + BLOCK, count)):
            x, y, z = positions[v]
            px = py = pz = np.float32(0)
            for k in range(joints.shape[1]):
                m, w = matrices[joints[v, k]], weights[v, k]
                px += w * (m[0] * x + m[1] * y + m[2] * z + m[3])
                py += w * (m[4] * x + m[5] * y + m[6] * z + m[7])
                pz += w * (m[8] * x + m[9] * y + m[10] * z + m[11])
            out[f, v, 0], out[f, v, 1], out[f, v, 2] = px, py, pz


@njit(parallel=True, fastmath=True)
def lbs_normals(positions, normals, joints, weights, palette, out, directions):
    frames, count = len(palette), len(positions)
    blocks = (count + BLOCK - 1) // BLOCK
    for task in prange(blocks * frames):
        f, begin = task % frames, task // frames * BLOCK
        matrices = palette[f]
        b = np.empty(12, np.float32)
        for v in range(begin, min(begin + BLOCK, count)):
            for r in range(12):
                b[r] = 0
            for k in range(joints.shape[1]):
                m, w = matrices[joints[v, k]], weights[v, k]
                for r in range(12):
                    b[r] += w * m[r]
            x, y, z = positions[v]
            out[f, v, 0] = b[0] * x + b[1] * y + b[2] * z + b[3]
            out[f, v, 1] = b[4] * x + b[5] * y + b[6] * z + b[7]
            out[f, v, 2] = b[8] * x + b[9] * y + b[10] * z + b[11]
            x, y, z = normals[v]
            nx = (
                (b[5] * b[10] - b[6] * b[9]) * x
                + (b[6] * b[8] - b[4] * b[10]) * y
                + (b[4] * b[9] - b[5] * b[8]) * z
            )
            ny = (
                (b[9] * b[2] - b[10] * b[1]) * x
                + (b[10] * b[0] - b[8] * b[2]) * y
                + (b[8] * b[1] - b[9] * b[0]) * z
            )
            nz = (
                (b[1] * b[6] - b[2] * b[5]) * x
                + (b[2] * b[4] - b[0] * b[6]) * y
                + (b[0] * b[5] - b[1] * b[4]) * z
            )
            scale = np.float32(1) / np.float32(sqrt(nx * nx + ny * ny + nz * nz))
            directions[f, v, 0] = nx * scale
            directions[f, v, 1] = ny * scale
            directions[f, v, 2] = nz * scale


@njit(inline="always")
def _blend(duals, joints, weights, v, q):
    heaviest = 0
    for k in range(1, joints.shape[1]):
        if weights[v, k] > weights[v, heaviest]:
            heaviest = k
    h = duals[joints[v, heaviest]]
    for r in range(8):
        q[r] = 0
    for k in range(joints.shape[1]):
        m, w = duals[joints[v, k]], weights[v, k]
        if h[0] * m[0] + h[1] * m[1] + h[2] * m[2] + h[3] * m[3] < 0:
            w = -w
        for r in range(8):
            q[r] += w * m[r]
    scale = np.float32(1) / np.float32(sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2))
    for r in range(8):
        q[r] *= scale


@njit(inline="always")
def _rotate(q, x, y, z):
    cx = q[1] * z - q[2] * y + q[3] * x
    cy = q[2] * x - q[0] * z + q[3] * y
    cz = q[0] * y - q[1] * x + q[3] * z
    two = np.float32(2)
    return (
        x + two * (q[1] * cz - q[2] * cy),
        y + two * (q[2] * cx - q[0] * cz),
        z + two * (q[0] * cy - q[1] * cx),
    )


@njit(parallel=True, fastmath=True)
def dqs(positions, normals, joints, weights, palette, out, directions, oriented):
    frames, count = len(palette), len(positions)
    blocks = (count + BLOCK - 1) // BLOCK
    two = np.float32(2)
    for task in prange(blocks * frames):
        f, begin = task % frames, task // frames * BLOCK
        q = np.empty(8, np.float32)
        for v in range(begin, min(begin + BLOCK, count)):
            _blend(palette[f], joints, weights, v, q)
            x, y, z = _rotate(q, positions[v, 0], positions[v, 1], positions[v, 2])
            out[f, v, 0] = x + two * (q[3] * q[4] - q[7] * q[0] + q[1] * q[6] - q[2] * q[5])
            out[f, v, 1] = y + two * (q[3] * q[5] - q[7] * q[1] + q[2] * q[4] - q[0] * q[6])
            out[f, v, 2] = z + two * (q[3] * q[6] - q[7] * q[2] + q[0] * q[5] - q[1] * q[4])
            if oriented:
                x, y, z = _rotate(q, normals[v, 0], normals[v, 1], normals[v, 2])
                directions[f, v, 0], directions[f, v, 1], directions[f, v, 2] = x, y, z


def dual_quaternions(palette):
    """(F, J, 8) of rigid matrices (F, J, 3, 4); not part of what is measured."""
    rotation = palette[..., :3].astype(np.float64)
    trace = np.trace(rotation, axis1=-2, axis2=-1)
    q = np.empty((*palette.shape[:2], 4))
    q[..., 3] = np.sqrt(np.maximum(1 + trace, 1e-12)) / 2
    q[..., 0] = (rotation[..., 2, 1] - rotation[..., 1, 2]) / (4 * q[..., 3])
    q[..., 1] = (rotation[..., 0, 2] - rotation[..., 2, 0]) / (4 * q[..., 3])
    q[..., 2] = (rotation[..., 1, 0] - rotation[..., 0, 1]) / (4 * q[..., 3])
    t = palette[..., 3].astype(np.float64)
    dual = np.empty_like(q)
    dual[..., :3] = 0.5 * (q[..., 3:] * t + np.cross(t, q[..., :3]))
    dual[..., 3] = -0.5 * (t * q[..., :3]).sum(-1)
    return np.concatenate([q, dual], axis=-1).astype(np.float32)
