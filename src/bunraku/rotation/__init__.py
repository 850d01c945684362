"""Rotations and rigid transforms: arrays in, arrays out.

Quaternions are (x, y, z, w), scalar last; ``multiply(a, b)`` turns by ``b`` first, then by
``a``, exactly as ``A @ B`` does for the matrices. Every function broadcasts over leading
axes. float32 stays float32 when every array that comes in is float32 (plain Python numbers
follow the arrays); anything else is computed and returned in float64.

`quaternion` and `dual_quaternion` share verbs (multiply, conjugate, normalize ...), so they
are used by module name:

>>> from bunraku.rotation import quaternion, slerp
>>> quarter_turn = quaternion.from_axis_angle([0, 0, 1], 1.5707963267948966)
>>> quaternion.rotate(slerp(quaternion.identity(), quarter_turn, 0.5), [1, 0, 0]).round(4)
array([0.7071, 0.7071, 0.    ])
"""

from bunraku.rotation import dual_quaternion, interpolation, quaternion
from bunraku.rotation.interpolation import lerp, nlerp, slerp

__all__ = ["dual_quaternion", "interpolation", "lerp", "nlerp", "quaternion", "slerp"]
