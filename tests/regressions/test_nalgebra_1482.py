"""nalgebra #1482: in gimbal lock the sign of the one remaining angle was wrong.

https://github.com/dimforge/nalgebra/issues/1482
"""

import numpy as np
import pytest

from bunraku.rotation import from_euler, to_euler


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_the_remaining_angle_is_roll_minus_or_plus_yaw(pitch):
    # about x, y, z of the world: at +90 degrees only roll - yaw is known, at -90 the sum
    roll, yaw = 0.3, 1.1
    found = to_euler(from_euler([roll, pitch, yaw], "xyz"), "xyz")
    expected = roll - yaw if pitch > 0 else roll + yaw
    np.testing.assert_allclose(found, [expected, pitch, 0], atol=1e-7)
