"""One frame of a skeleton made by hand, and how far it turned."""

import numpy as np

from bunraku.model import Pose, Skeleton
from bunraku.rotation import quaternion


def posed(skeleton: Skeleton, turns=(), moves=(), **more) -> Pose:
    """One frame: rest, but for nodes turned by (axis, degrees) and moved by an offset."""
    rotations, translations = skeleton.rotations[None].copy(), skeleton.translations[None].copy()
    for node, (axis, degrees) in dict(turns).items():
        rotations[0, node] = quaternion.from_axis_angle(np.eye(3)[axis], np.radians(degrees))
    for node, offset in dict(moves).items():
        translations[0, node] += offset
    return Pose(translations, rotations, skeleton.scales[None], **more)


def angle(matrix: np.ndarray, axis: int = 2) -> float:
    """Degrees of a turn about one axis alone."""
    turn = quaternion.to_rotation_vector(quaternion.from_matrix(matrix[:, :3]))
    np.testing.assert_allclose(np.delete(turn, axis), 0, atol=1e-9)
    return float(np.degrees(turn[axis]))
