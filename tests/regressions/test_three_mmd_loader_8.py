"""three-mmd-loader #8: an analytic shortcut for two bones bent knees past their limits.

https://github.com/yohawing/three-mmd-loader/issues/8
"""

import numpy as np

from bunraku.model import IkChain, IkLink, Pose, Rig, Skeleton
from bunraku.posing import solve
from bunraku.rotation import quaternion
from tests.reference import mmd

REST = [[0, 2, 0], [0, -1, 0.05], [0, -1, -0.05], [0, 0, 0]]
LEG = Skeleton(("足", "ひざ", "足首", "足ＩＫ"), [-1, 0, 1, -1], REST)
LIMITS = np.radians([[0.5, 0, 0], [180, 0, 0]])


def test_knees_keep_to_their_limits_wherever_the_goal_is():
    rng = np.random.default_rng(8)
    rig = Rig(
        layers=[0, 0, 0, 1],
        chains=(IkChain(3, 2, (IkLink(1, LIMITS), IkLink(0)), 20, 2.0),),
    )
    moves = np.tile(REST, (60, 1, 1)).astype(float)
    moves[:, 3] = rng.normal(size=(60, 3)) + [0, 1, 0]
    pose = Pose(moves, np.tile(LEG.rotations, (60, 1, 1)), np.ones((60, 4, 3)))
    world = solve(LEG, rig, pose)
    knees = quaternion.from_matrix(np.swapaxes(world[:, 0, :, :3], 1, 2) @ world[:, 1, :, :3])
    angles = np.degrees(quaternion.to_rotation_vector(knees))
    np.testing.assert_allclose(angles[:, 1:], 0, atol=1e-6)
    assert (angles[:, 0] > 0.5 - 1e-6).all()
    np.testing.assert_allclose(world, mmd.solve(LEG, rig, pose), atol=1e-9)
