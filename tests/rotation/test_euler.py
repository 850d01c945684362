"""Euler angles: invalid input, the worked examples, all 24 orders against SciPy and the oracle."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.rotation import (
    from_euler,
    from_yaw_pitch_roll,
    gimbal_locked,
    quaternion,
    to_euler,
    to_yaw_pitch_roll,
)
from tests.reference import rotation as slow

EXTRINSIC = ["".join(p) for p in product("xyz", repeat=3) if p[0] != p[1] != p[2]]
ORDERS = EXTRINSIC + [order.upper() for order in EXTRINSIC]
PROPER = {order for order in ORDERS if order[0] == order[2]}
IDENTITY = [0, 0, 0, 1]

INVALID = [
    # function, arguments, what the message must say
    (from_euler, ([0, 0, 0], "xyX"), "order of three letters.*found 'xyX'"),
    (from_euler, ([0, 0, 0], ["x", "y", "z"]), r"order of three letters.*found \['x', 'y', 'z'\]"),
    (to_euler, ([0, 0, 0, 1], None), "order of three letters.*found None"),
    (from_yaw_pitch_roll, (0, "up", 0), "expected an array of pitches"),
    (from_euler, ([0, 0, 0], "xxy"), "neighbours different"),
    (from_euler, ([0, 0, 0], "zyy"), "neighbours different"),
    (from_euler, ([0, 0, 0], "xy"), "found 'xy'"),
    (from_euler, ([0, 0, 0], "xyzx"), "found 'xyzx'"),
    (from_euler, ([0, 0, 0], "abc"), "found 'abc'"),
    (from_euler, ([0, 0, 0], ""), "found ''"),
    (from_euler, ([0, 0, 0], 123), "found 123"),
    (from_euler, ([0, 0], "xyz"), r"Euler angles of shape \(\.\.\., 3\), found \(2,\)"),
    (from_euler, ([[0, 0, 0], [0, np.nan, 0]], "xyz"), r"angle \[1\]: .*found nan"),
    (from_euler, ([0, 0, np.inf], "xyz"), "found inf"),
    (to_euler, ([0, 0, 0, 0], "xyz"), "non-zero length"),
    (to_euler, ([0, 0, np.nan, 1], "xyz"), "nan"),
    (to_euler, ([0, 0, 1], "xyz"), r"\(x, y, z, w\)"),
    (to_euler, (IDENTITY, "XyZ"), "found 'XyZ'"),
    (gimbal_locked, (IDENTITY, "q"), "found 'q'"),
    (from_yaw_pitch_roll, (np.zeros(2), np.zeros(3), 0), "broadcast"),
    (from_yaw_pitch_roll, (0, np.nan, 0), "found nan"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


# ---------------------------------------------------------------- worked examples


def test_there_are_24_orders():
    assert len(set(ORDERS)) == 24


def test_two_sets_of_angles_are_one_rotation_in_gimbal_lock():
    for yaw, pitch, roll in ((30, 90, 0), (50, 90, 20)):
        q = from_yaw_pitch_roll(*np.radians([yaw, pitch, roll]))
        close(quaternion.to_wxyz(q), [0.6830, 0.6830, 0.1830, -0.1830], 5e-5)
        close(quaternion.to_matrix(q), [[0.866, 0.5, 0], [0, 0, -1], [-0.5, 0.866, 0]], 5e-5)
        assert gimbal_locked(q, "YXZ")
        # The documented choice: the last angle, roll, is 0.
        close(np.degrees(to_yaw_pitch_roll(q)), [30, 90, 0], 1e-6)


def test_a_vmd_key_read_as_euler_angles():
    key = quaternion.normalize([0.11, 0.19, -0.30, 0.93])
    close(np.degrees(to_euler(key, "XYZ")[2]), -38.6, 0.05)
    close(np.degrees(to_euler(key, "ZXY")[0]), -36.9, 0.05)


def test_yaw_pitch_roll_is_ry_rx_rz():
    yaw, pitch, roll = 0.3, -0.5, 1.1
    by_hand = quaternion.multiply(
        quaternion.from_axis_angle([0, 1, 0], yaw),
        quaternion.multiply(
            quaternion.from_axis_angle([1, 0, 0], pitch),
            quaternion.from_axis_angle([0, 0, 1], roll),
        ),
    )
    close(from_yaw_pitch_roll(yaw, pitch, roll), by_hand)
    close(to_yaw_pitch_roll(by_hand), [yaw, pitch, roll])
    assert from_yaw_pitch_roll(np.zeros((4, 1)), np.zeros(3), 0).shape == (4, 3, 4)


def test_euler_angles_interpolated_as_numbers_go_the_long_way():
    close(np.linspace(170, -170, 5), [170, 85, 0, -85, -170])
    ends = from_yaw_pitch_roll(np.radians([170, -170]), 0, 0)
    close(np.degrees(quaternion.angle_between(*ends)), 20, 1e-12)


# ---------------------------------------------------------------- all 24 orders


@pytest.mark.parametrize("order", ORDERS)
def test_from_euler_is_one_turn_after_another(order):
    angles = np.random.default_rng(1).uniform(-7, 7, size=(20, 3))
    expected = np.array([slow.from_euler(a, order) for a in angles]).astype(float)
    close(from_euler(angles, order), expected)
    close(from_euler(angles.astype(np.float32), order), expected, 1e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_intrinsic_is_extrinsic_read_backwards(order):
    angles = np.random.default_rng(2).uniform(-3, 3, size=(20, 3))
    np.testing.assert_array_equal(
        from_euler(angles, order), from_euler(angles[:, ::-1], order[::-1].swapcase())
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip_and_ranges(order, dtype):
    q = quaternion.normalize(np.random.default_rng(3).normal(size=(2000, 4))).astype(dtype)
    angles = to_euler(q, order)
    assert angles.dtype == dtype
    low, high = (0, np.pi) if order in PROPER else (-np.pi / 2, np.pi / 2)
    assert np.all((angles[:, 1] >= low - 1e-6) & (angles[:, 1] <= high + 1e-6))
    assert np.all(np.abs(angles[:, [0, 2]]) <= dtype(np.pi))
    back = from_euler(angles, order)
    close(quaternion.angle_between(back, q), np.zeros(2000), 8 * np.finfo(dtype).eps)
    close(to_euler(-4 * q, order), angles, 20 * np.finfo(dtype).eps)


def middle_at_lock(order):
    return (0.0, np.pi) if order in PROPER else (-np.pi / 2, np.pi / 2)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("off", [0, 1e-16, 1e-12, 1e-9, 9e-8, 1.2e-7, 1e-6, 1e-3])
def test_gimbal_lock_has_no_third_angle(order, off):
    rng = np.random.default_rng(4)
    inside = off < 1e-7
    for lock in middle_at_lock(order):
        angles = rng.uniform(-np.pi, np.pi, size=(50, 3))
        angles[:, 1] = lock + (off if lock <= 0 else -off)
        q = from_euler(angles, order)
        found = to_euler(q, order)
        assert np.all(gimbal_locked(q, order) == inside)
        if inside:
            np.testing.assert_array_equal(found[:, 2], np.zeros(50))
        back = from_euler(found, order)
        close(
            quaternion.angle_between(back, q),
            np.zeros(50),
            max(4 * off, 1e-14) if inside else 1e-14,
        )


# ---------------------------------------------------------------- SciPy


def scipy_rotation():
    return pytest.importorskip("scipy.spatial.transform").Rotation


def adversarial():
    """Random rotations, half turns, tiny turns, denormals, the axes' own."""
    rng = np.random.default_rng(5)
    axes = np.concatenate((np.eye(3), -np.eye(3), np.ones((1, 3)), [[1, 1, 0], [0, -1, 1]]))
    turns = [np.pi, np.pi / 2, -np.pi / 2, 1e-3, 1e-8, 1e-160, 5e-324, 0, np.pi - 1e-9]
    special = [quaternion.from_axis_angle(a, t) for a in axes for t in turns]
    return np.concatenate((quaternion.normalize(rng.normal(size=(500, 4))), special))


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("order", ORDERS)
def test_agrees_with_scipy(order):
    rotation = scipy_rotation()
    q = adversarial()
    theirs = rotation.from_quat(q)
    angles = to_euler(q, order)
    same_angle(angles, theirs.as_euler(order), 1e-9)
    built = rotation.from_euler(order, angles).as_quat()
    close(quaternion.angle_between(from_euler(angles, order), built), np.zeros(len(q)), 1e-14)


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("off", [0, 1e-15, 1e-12, 1e-9, -1e-9])
def test_agrees_with_scipy_in_gimbal_lock(order, off):
    rotation = scipy_rotation()
    for lock in middle_at_lock(order):
        angles = np.random.default_rng(6).uniform(-np.pi, np.pi, size=(50, 3))
        angles[:, 1] = lock + off
        q = from_euler(angles, order)
        same_angle(to_euler(q, order), rotation.from_quat(q).as_euler(order), 1e-9)
        back = from_euler(to_euler(q, order), order)
        close(quaternion.angle_between(back, q), np.zeros(50), 1e-8)


def same_angle(a, b, tolerance):
    """-pi and pi are one angle."""
    close((a - b + np.pi) % (2 * np.pi), np.full(a.shape, np.pi), tolerance)


@settings(deadline=None, max_examples=100)
@given(
    st.tuples(*[st.floats(-3.1, 3.1)] * 3),
    st.sampled_from(ORDERS),
)
def test_angles_survive_the_quaternion(angles, order):
    # the middle angle within its range and out of lock
    angles = np.array(angles)
    angles[1] = angles[1] / 2 + (np.pi / 2 if order in PROPER else 0)
    back = to_euler(from_euler(angles, order), order)
    same_angle(back, angles, 1e-13)
