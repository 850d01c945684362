"""Angular velocity, drift, IMU filters: invalid input, worked examples, closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.rotation import (
    angular_velocity,
    filters,
    integrate,
    integrate_first_order,
    quaternion,
    relative_angular_velocity,
    renormalize,
)

X, Y, Z = np.eye(3)
IDENTITY = quaternion.identity()
TWO = np.tile(IDENTITY, (2, 1))

INVALID = [
    # function, arguments, what the message must say
    (integrate, (IDENTITY, [0, 0], 1), r"vectors.*found \(2,\)"),
    (integrate, (IDENTITY, [0, np.inf, 0], 1), "found inf"),
    (integrate, ([0, 0, 1], X, 1), r"found \(3,\)"),
    (integrate_first_order, ([0, 0, 0, 0], X, 1), "non-zero length"),
    (integrate_first_order, (IDENTITY, X, np.nan), "nan"),
    (angular_velocity, ([0, 1], IDENTITY), r"keys \(K, \.\.\., 4\)"),
    (angular_velocity, ([0, 0], TWO), "increasing times, found 0.0 and then 0.0 at key 1"),
    (angular_velocity, ([0, np.nan], TWO), "nan"),
    (angular_velocity, ([0, 1, 2], TWO), r"found \(3,\) and \(2, 4\)"),
    (relative_angular_velocity, ([0, 1], TWO, np.zeros((3, 4))), "broadcast"),
    (renormalize, ([0, 0, 0, 1.2],), "length near 1, found 1.2"),
    (renormalize, ([0, 0, 0, np.nan],), "length near 1, found nan"),
    (filters.madgwick, (IDENTITY, X, [0, 1], 0.1), r"found \(2,\)"),
    (filters.madgwick, (IDENTITY, [np.nan, 0, 0], Y, 0.1), "nan"),
    (filters.madgwick, (IDENTITY, [1e300, 0, 0], Y, 0.1), r"rate of \(1e\+300, 0, 0\)"),
    (filters.madgwick, (0 * IDENTITY, X, Y, 0.1), "quaternion: .*non-zero length"),
    (filters.madgwick, (IDENTITY, X, [0, np.inf, 0], 0.1), "acceleration: .*found inf"),
    (filters.mahony, (IDENTITY, [0, 0], X, Y, 0.1), r"found \(2,\)"),
    (filters.mahony, (IDENTITY, X, [0, 1e300, 0], Y, 0.1), r"rate of \(0, 1e\+300, 0\)"),
    (filters.mahony, (IDENTITY, [np.nan, 0, 0], X, Y, 0.1), "bias: .*found nan"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


quick = settings(deadline=None, max_examples=50)
seeds = st.integers(0, 2**32 - 1)


def random_units(*shape, seed=0):
    return quaternion.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))


# ---------------------------------------------------------------- integration


def test_the_formula_of_the_text():
    q, w, dt = random_units(), np.array([0.3, -1, 2]), 0.01
    by_hand = q + dt / 2 * quaternion.multiply([*w, 0], q)
    close(integrate_first_order(q, w, dt), by_hand / np.linalg.norm(by_hand))


def test_constant_velocity_is_exact_by_the_exponential_map():
    q = IDENTITY
    for _ in range(1000):
        q = integrate(q, Z, 1e-3)
    close(q, quaternion.from_axis_angle(Z, 1.0), 1e-13)
    close(integrate(IDENTITY, Z, 1.0), quaternion.from_axis_angle(Z, 1.0))


@pytest.mark.parametrize("step", [0.3, 0.1, 0.01])
def test_first_order_lags_by_a_twelfth_of_the_cube(step):
    turned = 2 * np.arctan2(*integrate_first_order(IDENTITY, Z, step)[[2, 3]])
    close(turned, 2 * np.arctan(step / 2))
    assert abs((step - turned) - step**3 / 12) < step**5 / 50


@quick
@given(seeds)
def test_velocity_of_a_track_leads_along_the_track(seed):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.random(6) + 0.01)
    track = random_units(6, 2, seed=seed)
    velocity = angular_velocity(times, track)
    assert velocity.shape == (5, 2, 3)
    moved = integrate(track[:-1], velocity, np.diff(times)[:, None])
    close(quaternion.angle_between(moved, track[1:]), np.zeros((5, 2)), 1e-14)
    assert np.all(np.linalg.norm(velocity, axis=-1) * np.diff(times)[:, None] <= np.pi + 1e-12)


def test_relative_velocity_is_seen_from_the_other_track():
    times = np.linspace(0, 1, 11)
    forearm = quaternion.from_axis_angle(Y, 2 * times)
    hand = quaternion.multiply(forearm, quaternion.from_axis_angle(X, 3 * times))
    close(relative_angular_velocity(times, hand, forearm), np.tile(3 * X, (10, 1)), 1e-13)
    close(angular_velocity(times, forearm), np.tile(2 * Y, (10, 1)), 1e-13)


def test_types_are_kept():
    q, w = IDENTITY.astype(np.float32), X.astype(np.float32)
    assert integrate(q, w, 0.1).dtype == np.float32
    assert integrate_first_order(q, w, 0.1).dtype == np.float32
    assert angular_velocity([0.0, 0.1], np.stack([q, q])).dtype == np.float32
    assert renormalize(q).dtype == np.float32
    assert filters.madgwick(q, w, w, 0.1).dtype == np.float32
    assert integrate(np.zeros((3, 1, 4)) + IDENTITY, np.zeros((5, 3)), 0.1).shape == (3, 5, 4)


@quick
@given(st.floats(-0.05, 0.05))
def test_renormalising_leaves_the_square_of_the_error(error):
    length = np.linalg.norm(renormalize(random_units() * (1 + error)))
    close(length, 1 - 1.5 * error**2 - 0.5 * error**3, 1e-15)


# ---------------------------------------------------------------- filters


def tilt_of(q):
    """Angle between the estimated and the true up."""
    up = quaternion.rotate(q, Y)
    return np.arctan2(np.linalg.norm(np.cross(up, Y)), up @ Y)


@pytest.mark.parametrize("angle", [0.3, 1.5, 3.0])
def test_both_filters_find_up_from_the_accelerometer(angle):
    # A sensor at rest in the world's frame sees gravity's reaction along +Y.
    wrong = quaternion.from_axis_angle([1, 0, 0.5], angle)
    q = learned = wrong
    bias = np.zeros(3)
    for _ in range(4000):
        q = filters.madgwick(q, [0, 0, 0], 9.81 * Y, 0.01, gain=0.5)
        learned, bias = filters.mahony(learned, bias, [0, 0, 0], 9.81 * Y, 0.01, integral=0)
    assert tilt_of(q) < 0.02  # its step has a constant length, 2 gain dt
    assert tilt_of(learned) < 1e-6
    close(np.linalg.norm([q, learned], axis=-1), [1, 1])


def test_madgwick_steps_straight_to_up_at_twice_the_gain():
    tilted = quaternion.from_axis_angle(Z, 0.5)
    after = filters.madgwick(tilted, [0, 0, 0], Y, 0.01, gain=0.2)
    close(after, quaternion.from_axis_angle(Z, 0.5 - 2 * 0.2 * 0.01))


def test_mahony_learns_the_bias():
    bias_of_sensor = np.array([0.02, -0.01, 0.03])
    q, bias = IDENTITY, np.zeros(3)
    for i in range(20_000):
        # turning slowly about X, so that every axis of the bias becomes visible
        true = quaternion.from_axis_angle(X, 0.005 * i)
        seen = quaternion.rotate(quaternion.conjugate(true), Y)
        q, bias = filters.mahony(q, bias, 0.5 * X + bias_of_sensor, seen, 0.01, integral=0.3)
    close(bias, bias_of_sensor, 1e-3)
    now = quaternion.from_axis_angle(X, 0.005 * 20_000)
    assert tilt_of(quaternion.multiply(q, quaternion.conjugate(now))) < 1e-3


def test_without_acceleration_the_gyroscope_alone_counts():
    expected = quaternion.from_axis_angle(Z, 0.1)
    close(filters.madgwick(IDENTITY, Z, [0, 0, 0], 0.1), expected)
    q, bias = filters.mahony(IDENTITY, np.zeros(3), Z, [0, 0, 0], 0.1)
    close(q, expected)
    np.testing.assert_array_equal(bias, np.zeros(3))


def test_filters_run_many_sensors_at_once():
    q = random_units(7)
    together = filters.madgwick(q, 0.1 * q[:, :3], q[:, 1:], 0.01)
    alone = [filters.madgwick(a, 0.1 * a[:3], a[1:], 0.01) for a in q]
    np.testing.assert_array_equal(together, alone)
