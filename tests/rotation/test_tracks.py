"""Keyed tracks: invalid input, signs, slerp between keys, speeds, the spline."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import (
    angular_speed,
    continuous,
    key_velocities,
    nlerp,
    slerp,
    slerp_track,
    spline,
)
from bunraku.rotation import quaternion as quat

X, Y, Z = np.eye(3)
IDENTITY = quat.identity()

INVALID = [
    # function, arguments, what the message must say
    (continuous, (IDENTITY,), r"track of quaternions \(K, \.\.\., 4\), found \(4,\)"),
    (slerp_track, ([0, 1], [IDENTITY], 0.5), r"found \(2,\) and \(1, 4\)"),
    (slerp_track, ([], np.zeros((0, 4)), 0.5), "K >= 1"),
    (slerp_track, ([0, 1, 1], [IDENTITY] * 3, 0.5), "found 1.0 and then 1.0 at key 2"),
    (slerp_track, ([0, np.inf], [IDENTITY] * 2, 0.5), r"time \[1\].*inf"),
    (slerp_track, ([0, 1], [IDENTITY] * 2, [0, np.nan]), "found nan"),
    (slerp_track, ([0, 1], [IDENTITY] * 2, "now"), "expected an array of times"),
    (spline, ([1, 0], [IDENTITY] * 2, 0.5), "increasing"),
    (spline, ([0, 1], [IDENTITY, 0 * IDENTITY], 0.5), r"quaternion \[1\].*non-zero"),
    (key_velocities, ([0], IDENTITY), "K >= 1"),
    (angular_speed, ([0, 1], [0 * IDENTITY] * 2), "non-zero"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def turn(axis, degrees):
    return quat.from_axis_angle(axis, np.radians(degrees))


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


quick = settings(deadline=None, max_examples=100)
units = (
    arrays(np.float64, 4, elements=st.floats(-1, 1, allow_subnormal=False))
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(quat.normalize)
)
times = st.floats(0, 1)


def random_track(count, *shape, seed=0):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.random(count) + 0.05)
    steps = quat.from_rotation_vector(rng.normal(size=(count, *shape, 3)) * 0.6)
    keys = [steps[0]]
    for step in steps[1:]:
        keys.append(quat.multiply(keys[-1], step))
    signs = rng.choice([-1, 1], size=(count, *shape, 1))
    return times, np.stack(keys) * signs


def test_continuous_changes_signs_only():
    _, keys = random_track(50, 3)
    smooth = continuous(keys)
    np.testing.assert_array_equal(np.abs(smooth), np.abs(keys))
    np.testing.assert_array_equal(smooth[0], keys[0])
    assert np.all(quat.dot(smooth[1:], smooth[:-1]) > 0)


@pytest.mark.parametrize("sample", [slerp_track, spline])
def test_tracks_go_through_their_keys_and_hold_beyond(sample):
    times, keys = random_track(7, 2)
    close(quat.angle_between(sample(times, keys, times), keys), np.zeros((7, 2)), 1e-14)
    beyond = sample(times, keys, [times[0] - 5, times[-1] + 5])
    close(quat.angle_between(beyond, keys[[0, -1]]), np.zeros((2, 2)), 1e-14)
    assert sample(times, keys, times[:6].reshape(2, 3)).shape == (2, 3, 2, 4)
    assert sample(times, keys, 0.5).shape == (2, 4)
    assert sample(times, keys.astype(np.float32), 0.5).dtype == np.float32
    np.testing.assert_array_equal(sample([3], keys[:1], [0, 9]), np.stack([keys[0]] * 2))


def test_track_by_slerp_is_slerp_between_its_keys():
    times, keys = random_track(5, seed=1)
    at = times[2] + 0.3 * (times[3] - times[2])
    close(slerp_track(times, keys, at), slerp(keys[2], keys[3], 0.3), 1e-14)
    two = spline([0, 2], keys[:2], 0.5)
    close(quat.angle_between(two, slerp(keys[0], keys[1], 0.25)), 0, 1e-14)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(3, 6))
def test_spline_has_one_velocity_at_every_key(seed, count):
    times, keys = random_track(count, seed=seed)
    velocity = key_velocities(times, continuous(keys))
    h = 1e-5
    for side in (-h, h):
        inside = slice(1, None) if side < 0 else slice(0, -1)
        near = spline(times, keys, times[inside] + side)
        moved = quat.to_rotation_vector(quat.multiply(quat.conjugate(keys[inside]), near)) / side
        close(moved, velocity[inside], 3e-3 * (1 + np.abs(velocity).max() ** 2))
    close(
        np.linalg.norm(spline(times, keys, np.linspace(times[0], times[-1], 50)), axis=-1),
        np.ones(50),
    )


def test_spline_of_an_even_turn_is_that_turn():
    times = np.array([0, 0.1, 1, 1.5, 4])
    at = np.linspace(0, 4, 41)
    path = spline(times, turn([1, 2, 3], 30 * times), at)
    close(quat.angle_between(path, turn([1, 2, 3], 30 * at)), np.zeros(41), 1e-14)
    close(angular_speed(at, path), np.full(40, np.radians(30)), 1e-12)


def test_spline_turns_no_corner_where_slerp_does():
    times = [0, 1, 2]
    keys = [IDENTITY, turn(X, 90), quat.multiply(turn(X, 90), turn(Y, 90))]
    at = 1 + 1e-4 * np.arange(-1, 2)
    corner = [
        quat.to_rotation_vector(quat.multiply(quat.conjugate(path[:-1]), path[1:])) / 1e-4
        for path in (slerp_track(times, keys, at), spline(times, keys, at))
    ]
    assert np.linalg.norm(corner[0][1] - corner[0][0]) > 2
    assert np.linalg.norm(corner[1][1] - corner[1][0]) < 1e-3


def test_spline_does_not_depend_on_the_frame():
    times, keys = random_track(6, seed=3)
    frame = quat.normalize([1, -2, 0.5, 3])
    at = np.linspace(times[0], times[-1], 30)
    moved = spline(times, quat.multiply(frame, keys), at)
    close(
        quat.angle_between(moved, quat.multiply(frame, spline(times, keys, at))),
        np.zeros(30),
        1e-13,
    )


def test_slerp_turns_at_an_even_speed_and_nlerp_does_not():
    t = np.linspace(0, 1, 101)
    b = turn(Y, 170)
    speed = np.radians(170)
    close(angular_speed(t, slerp(IDENTITY, b, t)), np.full(100, speed), 1e-11)
    uneven = angular_speed(t, nlerp(IDENTITY, b, t))
    # the chord's even steps, seen from the centre
    close(uneven[[0, 50]], [2 * np.sin(speed / 2), 4 * np.tan(speed / 4)], 0.04)
