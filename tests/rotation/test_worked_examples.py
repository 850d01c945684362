"""The worked examples of the texts on rotations, one by one."""

import numpy as np
import pytest

from bunraku.rotation import quaternion as quat

X, Y, Z = np.eye(3)
H = np.sqrt(0.5)
NAN, INF = float("nan"), float("inf")
QUARTER = np.pi / 2


def wxyz(w, x, y, z):
    """The texts write (w, x, y, z)."""
    return quat.from_wxyz([w, x, y, z])


def turn(axis, degrees):
    return quat.from_axis_angle(axis, np.radians(degrees))


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def test_x_then_y_is_not_y_then_x():
    x90, y90 = turn(X, 90), turn(Y, 90)
    close(quat.rotate(quat.multiply(y90, x90), X), [0, 0, -1])
    close(quat.rotate(quat.multiply(x90, y90), X), [0, 1, 0])


@pytest.mark.parametrize(("yaw", "roll"), [(30, 0), (50, 20)])
def test_gimbal_lock_two_sets_of_angles_are_one_rotation(yaw, roll):
    q = quat.multiply(quat.multiply(turn(Y, yaw), turn(X, 90)), turn(Z, roll))
    close(q, wxyz(0.6830, 0.6830, 0.1830, -0.1830), 5e-5)
    close(quat.to_matrix(q), [[0.866, 0.5, 0], [0, 0, -1], [-0.5, 0.866, 0]], 5e-5)


def test_rodrigues_about_the_diagonal():
    q = turn([1, 1, 1], 120)
    close(q, [0.5, 0.5, 0.5, 0.5])
    close(quat.rotate(q, X), Y)
    close(quat.to_matrix(q), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_rodrigues_in_general_by_matrix_and_by_quaternion():
    q = quat.from_axis_angle([1, 2, 3], 0.7)
    v = np.array([0.3, -1, 2])
    close(quat.rotate(q, v), [1.5069, -0.8098, 1.4709], 5e-5)
    close(quat.to_matrix(q) @ v, quat.rotate(q, v))


def test_products_of_quaternions_of_any_length():
    np.testing.assert_array_equal(
        quat.multiply(wxyz(1, 1, 1, 0), wxyz(2, 0, 0, 1)), wxyz(2, 3, 1, 1)
    )
    np.testing.assert_array_equal(
        quat.multiply(wxyz(1, 2, 0, 0), wxyz(3, 0, 1, 0)), wxyz(3, 6, 1, 2)
    )
    np.testing.assert_array_equal(
        quat.multiply(wxyz(3, 0, 1, 0), wxyz(1, 2, 0, 0)), wxyz(3, 6, 1, -2)
    )


def test_sandwich_product_half_way_and_done():
    q, p = turn(Z, 90), np.array([1.0, 0, 0, 0])
    half_way = quat.multiply(q, p)
    close(half_way, [H, H, 0, 0])
    close(quat.multiply(half_way, quat.conjugate(q)), [0, 1, 0, 0])


def test_two_quarter_turns_make_a_third_of_a_turn():
    q = quat.multiply(turn(Y, 90), turn(X, 90))
    close(q, wxyz(0.5, 0.5, 0.5, -0.5))
    axis, angle = quat.to_axis_angle(q)
    close(axis, np.array([1, 1, -1]) / np.sqrt(3))
    close(np.degrees(angle), 120, 1e-13)
    close(quat.rotate(q, X), -Z)


@pytest.mark.parametrize(
    ("axis", "degrees", "before", "after"),
    [(Z, 90, [1, 2, 3], [-2, 1, 3]), (X, 180, [0, 1, 0], [0, -1, 0])],
)
def test_turns_of_vectors(axis, degrees, before, after):
    close(quat.rotate(turn(axis, degrees), before), after, 1e-15)


def test_keyframe_is_normalised_then_turns_by_its_angle():
    key = quat.normalize([0.11, 0.19, -0.30, 0.93])
    close(np.degrees(quat.to_axis_angle(key)[1]), 43.6, 0.05)


def test_scalar_first_identity_is_a_half_turn_here():
    stored_scalar_first = np.array([1.0, 0, 0, 0])
    axis, angle = quat.to_axis_angle(stored_scalar_first)
    np.testing.assert_array_equal(axis, X)
    assert angle == np.pi
    np.testing.assert_array_equal(quat.from_wxyz(stored_scalar_first), quat.identity())
    np.testing.assert_array_equal(quat.to_wxyz(quat.identity()), stored_scalar_first)


def test_float32_products_drift_unless_normalised():
    step = quat.from_axis_angle(Z.astype(np.float32), 0.001)
    drifting = kept = quat.identity(dtype=np.float32)
    for _ in range(1_000_000):
        drifting = quat.multiply(step, drifting)
    for _ in range(20_000):
        kept = quat.normalize(quat.multiply(step, kept))
    assert abs(np.linalg.norm(drifting.astype(np.float64)) - 1.0021) < 2e-4
    assert abs(np.linalg.norm(kept.astype(np.float64)) - 1) < 1e-7


def test_angular_velocity_is_integrated_step_by_step():
    velocity, dt, steps = np.array([0, 0, 1.0, 0]), 1e-3, 1000
    q = quat.identity()
    for _ in range(steps):
        q = quat.normalize(q + dt / 2 * quat.multiply(velocity, q))
    close(q, quat.from_axis_angle(Z, 1.0), 1e-7)
