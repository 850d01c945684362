"""Every function of the core, through a public one where it has its own."""

import numpy as np

from bunraku import _core, rotation
from bunraku.rotation import dual_quaternion, filters, packing, quaternion

# Name, function of (quaternions, vectors, times).
FUNCTIONS = {
    "multiply": lambda q, v, t: quaternion.multiply(q, q[::-1]),
    "conjugate": lambda q, v, t: quaternion.conjugate(q),
    "inverse": lambda q, v, t: quaternion.inverse(q),
    "normalize": lambda q, v, t: quaternion.normalize(q * 3),
    "dot": lambda q, v, t: quaternion.dot(q, q[::-1]),
    "angle_between": lambda q, v, t: quaternion.angle_between(q, q[::-1]),
    "rotate": lambda q, v, t: quaternion.rotate(q, v),
    "to_wxyz": lambda q, v, t: quaternion.to_wxyz(q),
    "from_wxyz": lambda q, v, t: quaternion.from_wxyz(q),
    "from_rotation_vector": lambda q, v, t: quaternion.from_rotation_vector(v),
    "to_rotation_vector": lambda q, v, t: quaternion.to_rotation_vector(q),
    "exp": lambda q, v, t: quaternion.exp(q),
    "log": lambda q, v, t: quaternion.log(q),
    "integrate": lambda q, v, t: rotation.integrate(q, v, t),
    "integrate_first_order": lambda q, v, t: rotation.integrate_first_order(q, v, t),
    "toward": lambda q, v, t: rotation.toward(q, q[::-1], max_angle=t),
    "from_axis_angle": lambda q, v, t: quaternion.from_axis_angle(v, t),
    "to_axis_angle": lambda q, v, t: joined(quaternion.to_axis_angle(q)),
    "power": lambda q, v, t: quaternion.power(q, t),
    "swing_twist": lambda q, v, t: joined(rotation.swing_twist(q, v)),
    "to_matrix": lambda q, v, t: quaternion.to_matrix(q),
    "to_matrix4": lambda q, v, t: quaternion.to_matrix(q, size=4),
    "from_matrix": lambda q, v, t: quaternion.from_matrix(quaternion.to_matrix(q)),
    "from_matrix4": lambda q, v, t: quaternion.from_matrix(quaternion.to_matrix(q, size=4)),
    "nearest_rotation": lambda q, v, t: quaternion.from_matrix(
        quaternion.to_matrix(q) + v[:, None] / 100, nearest=True
    ),
    "dominant_eigenvector": lambda q, v, t: _core.rotation.dominant_eigenvector(
        q[:, :, None] * q[:, None, :] + t[:, None, None] * np.eye(4, dtype=q.dtype), 0
    ),
    "from_euler": lambda q, v, t: rotation.from_euler(v, "zxz"),
    "to_euler": lambda q, v, t: rotation.to_euler(q, "YXZ"),
    "between_vectors": lambda q, v, t: rotation.between_vectors(v, v[::-1]),
    "look_at": lambda q, v, t: rotation.look_at(v, q[:, :3]),
    "lerp": lambda q, v, t: rotation.lerp(q, q[::-1], t),
    "nlerp": lambda q, v, t: rotation.nlerp(q, q[::-1], t),
    "slerp": lambda q, v, t: rotation.slerp(q, q[::-1], t),
    "slerp_as_stored": lambda q, v, t: rotation.slerp(q, q[::-1], t, shortest=False),
    "nearest_rotation4": lambda q, v, t: quaternion.from_matrix(
        quaternion.to_matrix(q, size=4), nearest=True
    ),
    "renormalize": lambda q, v, t: rotation.renormalize(q),
    "gimbal_locked": lambda q, v, t: rotation.gimbal_locked(np.round(q), "xyz"),
    "from_three_angles": lambda q, v, t: rotation.from_yaw_pitch_roll(t, v[:, 0], v[:, 1]),
    "to_three_angles": lambda q, v, t: joined(rotation.to_yaw_pitch_roll(q)),
    "toward_part": lambda q, v, t: rotation.toward(q, q[::-1], amount=t),
    "damp": lambda q, v, t: rotation.damp(q, q[::-1], 1 + t, 2 * t),
    "pack_32": lambda q, v, t: packing.pack_32(q),
    "unpack_32": lambda q, v, t: packing.unpack_32(packing.pack_32(q), q.dtype),
    "pack_48": lambda q, v, t: packing.pack_48(q),
    "unpack_48": lambda q, v, t: packing.unpack_48(packing.pack_48(q), q.dtype),
    "madgwick": lambda q, v, t: filters.madgwick(q, v, v[:, [1, 2, 0]], t),
    "mahony": lambda q, v, t: joined(filters.mahony(q, v / 9, v, v[:, [1, 2, 0]], t)),
    "angular_velocity": lambda q, v, t: _core.rotation.angular_velocity(q, q[::-1], t, 0),
    "relative_angular_velocity": lambda q, v, t: _core.rotation.relative_angular_velocity(
        q, q[::-1], q[::-1], q, t, 0
    ),
    "angular_speed": lambda q, v, t: _core.rotation.angular_speed(q, q[::-1], t, 0),
    "body_velocity": lambda q, v, t: _core.rotation.body_velocity(q, q[::-1], t, 0),
    "key_velocity": lambda q, v, t: _core.rotation.key_velocity(v, v[::-1], t, t[::-1], 0),
    "spline_span": lambda q, v, t: _core.rotation.spline_span(q, q[::-1], v, v[::-1], t, t, 0),
    "track_continuous": lambda q, v, t: rotation.continuous(track(q))[2],
    "track_slerp": lambda q, v, t: rotation.slerp_track(TIMES, track(q), 0.7),
    "track_spline": lambda q, v, t: rotation.spline(TIMES, track(q), 0.7),
    "track_key_velocities": lambda q, v, t: rotation.key_velocities(TIMES, track(q))[1],
    "track_angular_velocity": lambda q, v, t: rotation.angular_velocity(TIMES, track(q))[1],
    "track_relative_angular_velocity": lambda q, v, t: rotation.relative_angular_velocity(
        TIMES, track(q), track(q[::-1])
    )[1],
    "track_angular_speed": lambda q, v, t: rotation.angular_speed(TIMES, track(q))[1],
    "fit_mean": lambda q, v, t: rotation.mean(row(q)),
    "fit_blend": lambda q, v, t: dual_quaternion.blend(row(dual(q, v)), row(t)),
    "fit_vectors": lambda q, v, t: rotation.align_vectors(row(v), row(q[:, :3]), row(t)),
    "fit_points": lambda q, v, t: joined(rotation.align_points(row(v), row(q[:, :3]), row(t))),
    "dual_multiply": lambda q, v, t: dual_quaternion.multiply(dual(q, v), dual(q, v)),
    "dual_conjugate": lambda q, v, t: dual_quaternion.full_conjugate(dual(q, v)),
    "dual_inverse": lambda q, v, t: dual_quaternion.inverse(3 * dual(q, v)),
    "dual_normalize": lambda q, v, t: dual_quaternion.normalize(3 * dual(q, v)),
    "dual_from_rigid": lambda q, v, t: dual(q, v),
    "dual_to_rigid": lambda q, v, t: joined(dual_quaternion.to_rotation_translation(dual(q, v))),
    "dual_to_matrix": lambda q, v, t: dual_quaternion.to_matrix(dual(q, v)),
    "dual_from_matrix": lambda q, v, t: dual_quaternion.from_matrix(
        dual_quaternion.to_matrix(dual(q, v))[..., :3, :]
    ),
    "dual_from_matrix4": lambda q, v, t: dual_quaternion.from_matrix(
        dual_quaternion.to_matrix(dual(q, v))
    ),
    "to_screw": lambda q, v, t: joined(dual_quaternion.to_screw(dual(q, v))),
    "from_screw": lambda q, v, t: dual_quaternion.from_screw(
        dual_quaternion.Screw(v, q[..., :3], t, 3 * t)
    ),
    "dual_transform_vectors": lambda q, v, t: dual_quaternion.transform_vectors(dual(q, v), v),
    "dual_transform_points": lambda q, v, t: dual_quaternion.transform_points(dual(q, v), v),
    "dual_screw_interpolation": lambda q, v, t: dual_quaternion.sclerp(
        dual(q, v), dual(q[::-1], v), t
    ),
}


TIMES = np.array([0.0, 0.5, 2, 2.5])


def track(q):
    """Four keys of as many tracks."""
    return np.stack([q, q[::-1], -q, q])


def row(x):
    """Three slots of as many rows."""
    return np.stack([x, x[::-1], x * x.dtype.type(0.5)], axis=1)


def joined(results):
    return np.concatenate([x.reshape(len(x), -1) for x in results], axis=-1)


def dual(q, v):
    return dual_quaternion.from_rotation_translation(q, v)


def sample(count, dtype, seed=3):
    made = np.random.default_rng(seed)
    q = quaternion.normalize(made.normal(size=(count, 4))).astype(dtype)
    return q, made.normal(size=(count, 3)).astype(dtype), made.random(count).astype(dtype)
