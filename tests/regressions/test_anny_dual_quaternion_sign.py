"""Anny's dual-quaternion blend let the dual part decide the sign, and its result was NaN.

The product of the dual parts is -(10 / 2)^2 here, which outweighs the 1 of the equal real parts:
the two cancelled. Only the real parts (the rotations) may decide.
"""

import numpy as np

from bunraku.rotation import dual_quaternion, quaternion


def test_two_translations_across_the_origin_blend_to_their_middle():
    dqs = dual_quaternion.from_rotation_translation(
        quaternion.identity(), [[10, 0, 0], [-10, 0, 0]]
    )
    blended = dual_quaternion.blend(dqs, [0.5, 0.5])
    rotation, translation = dual_quaternion.to_rotation_translation(blended)
    np.testing.assert_array_equal(rotation, quaternion.identity())
    np.testing.assert_array_equal(translation, [0, 0, 0])
