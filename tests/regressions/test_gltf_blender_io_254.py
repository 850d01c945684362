"""glTF-Blender-IO #254: antipodal keys of AnimatedTriangle were interpolated the long way.

https://github.com/KhronosGroup/glTF-Blender-IO/issues/254
"""

import numpy as np

from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample
from bunraku.rotation import nlerp, quaternion, slerp


def test_the_last_quarter_turn_goes_forward_by_45_degrees():
    a, b = quaternion.normalize([[0, 0, 0.707, -0.707], [0, 0, 0, 1]])
    t = np.linspace(0, 1, 9)
    expected = quaternion.from_axis_angle([0, 0, 1], np.radians(270 + 90 * t))
    off = quaternion.angle_between(slerp(a, b, t), expected)
    np.testing.assert_allclose(off, 0, atol=1e-15)
    middle = quaternion.angle_between(nlerp(a, b, 0.5), expected[4])
    np.testing.assert_allclose(middle, 0, atol=1e-15)


def test_so_it_does_in_a_clip():
    keys = [[0, 0, 0.707, -0.707], [0, 0, 0, 1]]
    track = Track("triangle", "rotation", [0.75, 1], keys)
    bound = bind(Clip("turn", (track,)), Character(Skeleton(("triangle",), [-1])))
    u = np.linspace(0, 1, 9)
    expected = quaternion.from_axis_angle([0, 0, 1], np.radians(270 + 90 * u))
    off = quaternion.angle_between(sample(bound, 0.75 + u / 4).rotations[:, 0], expected)
    np.testing.assert_allclose(off, 0, atol=1e-15)
