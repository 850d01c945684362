"""three.js #21249: legs that take their turn from others (足D) did not move with these under IK.

https://github.com/mrdoob/three.js/pull/21249
"""

import numpy as np

from bunraku.model import Append, IkChain, IkLink, Pose, Rig, Skeleton
from bunraku.posing import solve

REST = [
    [0, 2, 0],
    [0, -1, 0.05],
    [0, -1, -0.05],
    [0, 2, 0],
    [0, -1, 0.05],
    [0, -1, -0.05],
    [0, 0, 0],
]
LEGS = Skeleton(
    ("足", "ひざ", "足首", "足D", "ひざD", "足首D", "足ＩＫ"), [-1, 0, 1, -1, 3, 4, -1], REST
)


def test_bones_that_take_from_links_follow_them_to_the_goal():
    rig = Rig(
        layers=[0, 0, 0, 2, 2, 2, 1],
        appends=(Append(3, 0, 1.0), Append(4, 1, 1.0), Append(5, 2, 1.0)),
        chains=(IkChain(6, 2, (IkLink(1), IkLink(0)), 40, 2.0),),
    )
    moved = [*REST[:6], [0.1, 0.8, 0.3]]
    world = solve(LEGS, rig, Pose([moved], LEGS.rotations[None], LEGS.scales[None]))[0]
    np.testing.assert_allclose(world[3:6], world[:3], atol=1e-12)
    np.testing.assert_allclose(world[5, :, 3], moved[6], atol=2e-3)
