"""Forward kinematics, one 4×4 product after another: slow and obvious."""

from __future__ import annotations

import numpy as np


def local_matrix(t: np.ndarray, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """T · R · S of one node; the rotation's columns are the turned axes q·e·q*."""
    x, y, z, w = q
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    right = np.array([[w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z], [x, y, z, w]])
    matrix = left @ right
    matrix[:3, :3] *= s
    matrix[:3, 3] = t
    matrix[3] = [0, 0, 0, 1]
    return matrix


def global_transforms(parents: np.ndarray, pose) -> np.ndarray:
    """(F, N, 3, 4): the product of the local matrices of all ancestors, for each node anew."""
    out = np.empty((pose.frames, len(parents), 3, 4))
    for f in range(pose.frames):
        for n in range(len(parents)):
            matrix, node = np.eye(4), n
            while node >= 0:
                local = local_matrix(
                    pose.translations[f, node], pose.rotations[f, node], pose.scales[f, node]
                )
                matrix = local @ matrix
                node = parents[node]
            out[f, n] = matrix[:3]
    return out
