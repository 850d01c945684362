"""babylon-mmd #97: an append that runs after physics did not see what its source did by then.

https://github.com/noname0310/babylon-mmd/issues/97
"""

import numpy as np
import pytest

from bunraku.model import Append, Pose, Rig, Skeleton
from bunraku.posing import solve
from bunraku.rotation import quaternion

TRIO = Skeleton(("follower", "source", "lead"), [-1, -1, -1])
TURN = quaternion.from_axis_angle([0, 0, 1], np.radians(40))


@pytest.mark.parametrize(("late", "expected"), [(True, 40), (False, 0)])
def test_an_append_after_physics_takes_what_was_appended_before(late, expected):
    # The source, which takes from the lead, stands behind its follower in file and layers.
    rig = Rig(
        layers=[0, 3, 0],
        after_physics=[late, False, False],
        appends=(Append(0, 1, 1.0), Append(1, 2, 1.0)),
    )
    still = [0, 0, 0, 1]
    pose = Pose(TRIO.translations[None], [[still, still, TURN]], TRIO.scales[None])
    found = quaternion.from_matrix(solve(TRIO, rig, pose)[0, 0, :, :3])
    assert np.degrees(quaternion.to_rotation_vector(found))[2] == pytest.approx(expected)
