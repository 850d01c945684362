"""Rotations from directions, swing and twist: invalid input, exact cases, properties."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import between_vectors, look_at, quaternion, swing_twist

X, Y, Z = np.eye(3)
IDENTITY = quaternion.identity()

INVALID = [
    # function, arguments, what the message must say
    (between_vectors, ([0, 0, 0], X), "vector: expected a finite, non-zero"),
    (between_vectors, (X, [[1, 0, 0], [0, np.inf, 0]]), r"vector \[1\]: .*\(0, inf, 0\)"),
    (between_vectors, (X, [1, 0]), r"found \(2,\)"),
    (look_at, ([0, 0, 0],), "non-zero"),
    (look_at, (X, [0, 0, 0]), "up vector: .*non-zero"),
    (look_at, (IDENTITY,), r"found \(4,\)"),
    (swing_twist, ([0, 0, 0, 0], X), "quaternion: .*non-zero"),
    (swing_twist, (IDENTITY, [0, 0, 0]), "vector: .*non-zero"),
    (swing_twist, (IDENTITY, IDENTITY), r"found \(4,\)"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


directions = arrays(np.float64, 3, elements=st.floats(-1, 1)).filter(
    lambda v: np.linalg.norm(v) > 1e-3
)
units = (
    arrays(np.float64, 4, elements=st.floats(-1, 1, allow_subnormal=False))
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(quaternion.normalize)
)
quick = settings(deadline=None, max_examples=100)


# ---------------------------------------------------------------- between two vectors


def test_a_quarter_turn():
    close(between_vectors(3 * X, 0.2 * Y), quaternion.from_axis_angle(Z, np.pi / 2))
    np.testing.assert_array_equal(between_vectors(Y, Y), IDENTITY)


@pytest.mark.parametrize("a", [X, Y, Z, X + Y, X - Z, X + Y + Z])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_opposite_directions_turn_by_180_degrees(a, dtype):
    a = a.astype(dtype)
    q = between_vectors(a, -a)
    assert q[3] == 0
    close(quaternion.rotate(q, a), -a, 4 * np.finfo(dtype).eps)
    # the documented axis: a x e, e the axis that a is least along
    e = np.eye(3)[np.abs(a).argmin()]
    close(q[:3], np.cross(a, e) / np.linalg.norm(np.cross(a, e)), 2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("off", [1e-200, 1e-30, 1e-17, 1e-12, 1e-8, 1e-4, 1e-2])
@pytest.mark.parametrize("sign", [1, -1])
def test_nearly_parallel_directions_keep_their_digits(off, sign):
    b = np.array([sign, off, 0])
    q = between_vectors(X, b)
    turned = quaternion.rotate(q, X)
    close(turned, b / np.linalg.norm(b))
    close(np.linalg.norm(q), 1)
    angle = np.arctan2(off, sign)
    close(2 * np.arctan2(np.linalg.norm(q[:3]), q[3]), angle)
    close(q[:3], Z * np.sin(angle / 2))


@quick
@given(directions, directions)
def test_it_turns_a_onto_b_by_the_shortest_way(a, b):
    q = between_vectors(a, b)
    close(np.linalg.norm(q), 1)
    close(quaternion.rotate(q, a / np.linalg.norm(a)), b / np.linalg.norm(b), 2e-15)
    between = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
    close(quaternion.to_axis_angle(q)[1], between, 1e-14)


# ---------------------------------------------------------------- look_at


def test_looking_along_the_axes():
    np.testing.assert_array_equal(look_at(Z), IDENTITY)
    close(look_at(X), quaternion.from_axis_angle(Y, np.pi / 2))
    close(np.abs(look_at(-Z)), [0, 1, 0, 0])


@pytest.mark.parametrize("direction", [Y, -Y, 1e-3 * Y])
def test_looking_straight_up_or_down_takes_the_shortest_turn(direction):
    q = look_at(direction)
    close(q, between_vectors(Z, direction))
    close(quaternion.rotate(q, Z), direction / np.linalg.norm(direction))


@quick
@given(directions, directions)
@example(np.array([0.49609375, 0.5, 0.5]), np.array([0.5, 0.49609375, 0.5]))  # nearly parallel
@example(np.array([2e-313, 0, -1]), Z)  # opposite to +Z but for less than a float holds
def test_it_faces_there_and_keeps_up_up(direction, up):
    q = look_at(direction, up)
    z = direction / np.linalg.norm(direction)
    close(quaternion.rotate(q, Z), z, 2e-15)
    sine = np.linalg.norm(np.cross(z, up / np.linalg.norm(up)))
    if sine > 1e-6:
        # across the plane of direction and up, and on up's side
        assert abs(quaternion.rotate(q, X) @ up) < 1e-9
        assert quaternion.rotate(q, Y) @ up > 0


# ---------------------------------------------------------------- swing and twist


def test_a_pure_twist_and_a_pure_swing():
    twist_only = quaternion.from_axis_angle(Z, 0.7)
    swing, twist = swing_twist(twist_only, 5 * Z)
    close(swing, IDENTITY)
    close(twist, twist_only)
    swing_only = quaternion.from_axis_angle(X, 0.7)
    swing, twist = swing_twist(swing_only, Z)
    close(swing, swing_only)
    np.testing.assert_array_equal(twist, IDENTITY)


def test_a_swing_of_half_a_turn_has_no_twist():
    half_turn = quaternion.from_axis_angle(X + Y, np.pi)
    half_turn[3] = 0
    swing, twist = swing_twist(half_turn, Z)
    np.testing.assert_array_equal(twist, IDENTITY)
    close(swing, half_turn)


@quick
@given(units, directions)
def test_swing_times_twist_is_the_rotation(q, axis):
    swing, twist = swing_twist(q, axis)
    close(quaternion.multiply(swing, twist), q, 1e-14)
    unit = axis / np.linalg.norm(axis)
    close(np.cross(twist[:3], unit), np.zeros(3), 1e-14)
    if np.hypot(q[3], q[:3] @ unit) > 1e-6:
        close(swing[:3] @ unit, 0, 1e-9)
    close(np.linalg.norm([swing, twist], axis=-1), [1, 1])
    # the twist leaves the axis where it is, so the swing alone moves it
    close(quaternion.rotate(swing, unit), quaternion.rotate(q, unit), 1e-14)
