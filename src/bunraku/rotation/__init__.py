"""Rotations and rigid transforms: arrays in, arrays out.

Quaternions are (x, y, z, w), scalar last; ``multiply(a, b)`` turns by ``b`` first, then by
``a``, exactly as ``A @ B`` does for the matrices. Every function broadcasts over leading
axes. float32 stays float32 when every array that comes in is float32 (plain Python numbers
follow the arrays); anything else is computed and returned in float64. Large arrays are spread
over the threads of the core, with the interpreter lock released.

`quaternion` and `dual_quaternion` share verbs (multiply, conjugate, normalize ...), so they
are used by module name:

>>> from bunraku.rotation import quaternion, slerp
>>> quarter_turn = quaternion.from_axis_angle([0, 0, 1], 1.5707963267948966)
>>> quaternion.rotate(slerp(quaternion.identity(), quarter_turn, 0.5), [1, 0, 0]).round(4)
array([0.7071, 0.7071, 0.    ])
"""

from bunraku.rotation import dual_quaternion, filters, interpolation, packing, quaternion
from bunraku.rotation.alignment import align_points, align_vectors
from bunraku.rotation.averaging import mean
from bunraku.rotation.directions import between_vectors, look_at, swing_twist
from bunraku.rotation.dynamics import (
    angular_velocity,
    integrate,
    integrate_first_order,
    relative_angular_velocity,
    renormalize,
)
from bunraku.rotation.euler import (
    from_euler,
    from_yaw_pitch_roll,
    gimbal_locked,
    to_euler,
    to_yaw_pitch_roll,
)
from bunraku.rotation.interop import from_scipy, to_scipy
from bunraku.rotation.interpolation import (
    angular_speed,
    continuous,
    damp,
    lerp,
    nlerp,
    slerp,
    slerp_track,
    toward,
)
from bunraku.rotation.splines import key_velocities, spline

__all__ = [
    "align_points",
    "align_vectors",
    "angular_speed",
    "angular_velocity",
    "between_vectors",
    "continuous",
    "damp",
    "dual_quaternion",
    "filters",
    "from_euler",
    "from_scipy",
    "from_yaw_pitch_roll",
    "gimbal_locked",
    "integrate",
    "integrate_first_order",
    "interpolation",
    "key_velocities",
    "lerp",
    "look_at",
    "mean",
    "nlerp",
    "packing",
    "quaternion",
    "relative_angular_velocity",
    "renormalize",
    "slerp",
    "slerp_track",
    "spline",
    "swing_twist",
    "to_euler",
    "to_scipy",
    "to_yaw_pitch_roll",
    "toward",
]
