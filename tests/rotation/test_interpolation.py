"""lerp, nlerp, slerp: invalid input, the worked examples, properties, agreement with SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import (
    damp,
    lerp,
    nlerp,
    slerp,
    toward,
)
from bunraku.rotation import quaternion as quat

X, Y, Z = np.eye(3)
IDENTITY = quat.identity()

INVALID = [
    # function, arguments, keyword arguments, what the message must say
    (lerp, ([0, 0, 1], IDENTITY, 0.5), {}, r"\(x, y, z, w\) of shape \(\.\.\., 4\), found \(3,\)"),
    (nlerp, (IDENTITY, [0, 0, 1], 0.5), {}, r"found \(3,\)"),
    (slerp, (IDENTITY, np.eye(3), 0.5), {}, r"found \(3, 3\)"),
    (slerp, (IDENTITY, IDENTITY, "half"), {}, "expected an array of numbers"),
    (slerp, (np.zeros((2, 4)), np.zeros((3, 4)), 0.5), {}, "broadcast"),
    (slerp, (np.zeros((2, 4)), np.zeros((2, 4)), [0.1, 0.2, 0.3]), {}, r"broadcast.*number \(3,\)"),
    (nlerp, (IDENTITY, -IDENTITY, 0.5), {"shortest": False}, "non-zero length"),
    (nlerp, ([0, 0, 0, 0], [0, 0, 0, 0], 0.5), {}, r"\(0, 0, 0, 0\)"),
    (nlerp, (IDENTITY, [0, 0, 0, np.nan], 0.5), {}, "nan"),
    (toward, (IDENTITY, IDENTITY), {}, "one of both"),
    (toward, (IDENTITY, IDENTITY), {"amount": 1, "max_angle": 1}, "one of both"),
    (toward, (IDENTITY, IDENTITY), {"max_angle": [1, np.nan]}, r"angle \[1\]: .*found nan"),
    (toward, (IDENTITY, IDENTITY), {"amount": 1.5}, r"in \[0, 1\], found 1.5"),
    (toward, (IDENTITY, IDENTITY), {"amount": [0.5, np.nan]}, r"in \[0, 1\]"),
    (toward, (IDENTITY, IDENTITY), {"max_angle": -1}, "angles >= 0, found -1"),
    (damp, (IDENTITY, IDENTITY, 0, 0.1), {}, "half_life > 0"),
    (damp, (IDENTITY, IDENTITY, 1, -0.1), {}, "dt >= 0"),
]


@pytest.mark.parametrize(("function", "arguments", "keywords", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, keywords, message):
    with pytest.raises(RigError, match=message):
        function(*arguments, **keywords)


# ---------------------------------------------------------------- worked examples


def turn(axis, degrees):
    return quat.from_axis_angle(axis, np.radians(degrees))


def degrees_of(q):
    return np.degrees(2 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), q[..., 3]))


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def test_the_identity_behind_the_slerp_weights():
    theta, t = np.pi / 4, 0.25
    by_hand = np.sin(theta) * np.cos(t * theta) - np.cos(theta) * np.sin(t * theta)
    close(by_hand, 0.55557, 5e-6)
    # The weight of the first end, times sin(theta), for two unit quaternions theta apart.
    halfway = slerp(IDENTITY, turn(Z, 90), t)
    close(halfway[3] * np.sin(theta) - halfway[2] * np.cos(theta), by_hand)


@pytest.mark.parametrize(
    ("interpolate", "axis", "t", "expected"),
    [
        (slerp, Z, 0.5, (0.9239, 0, 0, 0.3827)),
        (slerp, Z, 0.25, (0.9808, 0, 0, 0.1951)),
        (lerp, Z, 0.25, (0.9268, 0, 0, 0.1768)),
        (nlerp, Z, 0.25, (0.9823, 0, 0, 0.1874)),
        (slerp, Y, 0.5, (0.9239, 0, 0.3827, 0)),
    ],
)
def test_from_identity_to_a_quarter_turn(interpolate, axis, t, expected):
    close(interpolate(IDENTITY, turn(axis, 90), t), quat.from_wxyz(expected), 5e-5)


def test_plain_lerp_is_short():
    close(np.linalg.norm(lerp(IDENTITY, turn(Z, 90), 0.25)), 0.9435, 5e-5)


def test_half_way_both_ends_weigh_the_same():
    b = turn(Y, 90)
    close(slerp(IDENTITY, b, 0.5), 0.5412 * (IDENTITY + b), 5e-5)


def test_half_turn_by_all_three():
    t = np.array([0, 0.25, 0.5, 0.75, 1])
    b = turn(Y, 180)
    close(degrees_of(slerp(IDENTITY, b, t)), [0, 45, 90, 135, 180], 1e-13)
    close(degrees_of(nlerp(IDENTITY, b, t)), [0, 36.87, 90, 143.13, 180], 5e-3)
    close(np.linalg.norm(lerp(IDENTITY, b, t), axis=-1), [1, 0.7906, 0.7071, 0.7906, 1], 5e-5)


def test_350_degrees_is_ten_degrees_the_other_way():
    b = turn(Y, 350)
    close(quat.dot(IDENTITY, b), -0.9962, 5e-5)
    close(quat.to_rotation_vector(slerp(IDENTITY, b, 0.5)), Y * np.radians(-5))
    close(quat.to_rotation_vector(nlerp(IDENTITY, b, 0.5)), Y * np.radians(-5))


def test_350_degrees_the_long_way_when_asked():
    for interpolate in (slerp, nlerp):
        for no, yes in ((False, True), (np.False_, np.True_), (0, 2)):
            middle = interpolate(IDENTITY, turn(Y, 350), 0.5, shortest=no)
            close(quat.to_rotation_vector(middle), Y * np.radians(175), 1e-14)
            middle = interpolate(IDENTITY, turn(Y, 350), 0.5, shortest=yes)
            close(quat.to_rotation_vector(middle), Y * np.radians(-5))


def test_yaw_170_to_minus_170_turns_twenty_degrees():
    t = np.linspace(0, 1, 5)
    as_angles = 170 + t * (-170 - 170)
    close(as_angles, [170, 85, 0, -85, -170])  # the long way, 340 degrees
    path = slerp(turn(Y, 170), turn(Y, -170), t)
    close(np.degrees(quat.angle_between(path[:-1], path[1:])), np.full(4, 5), 1e-12)
    close(np.degrees(quat.angle_between(path[0], path[-1])), 20, 1e-12)
    close(np.degrees(quat.angle_between(path[2], turn(Y, 180))), 0, 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gap", [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-12, 1e-20, 1e-30])
@pytest.mark.parametrize("shortest", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_nearly_equal_and_nearly_opposite_are_stable(dtype, gap, shortest, sign):
    # Both ends differ from the exact turn by rounding alone, and so must everything between.
    t = np.linspace(0, 1, 101).astype(dtype)
    a = IDENTITY.astype(dtype)
    b = (sign * quat.from_rotation_vector(X * gap)).astype(dtype)
    rounding = np.finfo(dtype).eps
    path = slerp(a, b, t, shortest=shortest).astype(np.float64)
    close(np.linalg.norm(path, axis=-1), np.ones(101), 2 * rounding)
    arc = gap if shortest or sign > 0 else 2 * np.pi - gap
    close(quat.angle_between(path[0], path), np.minimum(t * arc, 2 * np.pi - t * arc), 8 * rounding)


def test_full_turn_is_finite_and_even():
    q = quat.normalize([0.1, -0.2, 0.3, 0.4])
    t = np.linspace(0, 1, 9)
    path = slerp(q, -q, t, shortest=False)
    close(np.linalg.norm(path, axis=-1), np.ones(9))
    close(np.degrees(quat.angle_between(path[:-1], path[1:])), np.full(8, 45), 1e-12)
    about_local_z = quat.multiply(q, quat.from_axis_angle(Z, 2 * np.pi * t))
    close(quat.angle_between(path, about_local_z), np.zeros(9), 1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_opposite_but_for_rounding_is_a_full_turn_too(dtype):
    rng = np.random.default_rng(7)
    q = quat.normalize(rng.normal(size=(500, 1, 4))).astype(dtype)
    rounding = np.finfo(dtype).eps
    b = (-q * (1 + rounding * rng.integers(-1, 2, size=q.shape))).astype(dtype)
    path = slerp(q, b, np.linspace(0, 1, 5).astype(dtype), shortest=False).astype(np.float64)
    close(np.linalg.norm(path, axis=-1), np.ones((500, 5)), 4 * rounding)
    close(quat.angle_between(path[:, :-1], path[:, 1:]), np.full((500, 4), np.pi / 2), 8 * rounding)


@pytest.mark.parametrize("interpolate", [nlerp, slerp])
def test_half_a_turn_either_way_keeps_the_sign_that_is_stored(interpolate):
    half_turn = np.array([0.0, 0, 1, 0])
    close(interpolate(IDENTITY, half_turn, 0.5), turn(Z, 90))
    close(interpolate(IDENTITY, -half_turn, 0.5), turn(Z, -90))


def test_extrapolation_goes_on_turning():
    t = np.array([-1, -0.5, 1.5, 2, 5])
    close(slerp(IDENTITY, turn(Z, 40), t), turn(Z, 40 * t), 1e-14)
    close(lerp([0, 0, 0, 1], [0, 0, 0, 3], 2.0), [0, 0, 0, 5])


# ---------------------------------------------------------------- types and shapes


@pytest.mark.parametrize("interpolate", [lerp, nlerp, slerp])
def test_float32_is_kept_unless_a_float64_array_comes_in(interpolate):
    a = IDENTITY.astype(np.float32)
    b = turn(Z, 90).astype(np.float32)
    assert interpolate(a, b, 0.5).dtype == np.float32
    assert interpolate(a, b, 0).dtype == np.float32
    assert interpolate(np.tile(a, (2, 1)), b, np.float32([0.1, 0.9])).dtype == np.float32
    assert interpolate(a, b, np.array([0.1, 0.9])).dtype == np.float64
    assert interpolate(a, b.astype(np.float64), 0.5).dtype == np.float64


@pytest.mark.parametrize("interpolate", [lerp, nlerp, slerp])
def test_t_broadcasts_against_the_leading_axes(interpolate):
    a = np.tile(IDENTITY, (3, 1))  # three joints
    b = turn(np.eye(3), 60)
    t = np.linspace(0, 1, 5)[:, None]  # five frames
    result = interpolate(a, b, t)
    assert result.shape == (5, 3, 4)
    np.testing.assert_array_equal(result[3, 1], interpolate(a[1], b[1], 0.75))
    assert interpolate(IDENTITY, IDENTITY, np.zeros((0,))).shape == (0, 4)


# ---------------------------------------------------------------- properties

quick = settings(deadline=None, max_examples=100)
units = (
    arrays(np.float64, 4, elements=st.floats(-1, 1, allow_subnormal=False))
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(quat.normalize)
)
times = st.floats(0, 1)


@quick
@given(units, units, times, st.booleans())
def test_slerp_stays_on_the_sphere_and_hits_its_ends(a, b, t, shortest):
    close(np.linalg.norm(slerp(a, b, t, shortest=shortest)), 1, 1e-15)
    np.testing.assert_array_equal(slerp(a, b, 0, shortest=shortest), a)
    end = -b if shortest and quat.dot(a, b) < 0 else b
    np.testing.assert_array_equal(slerp(a, b, 1, shortest=shortest), end)


@quick
@given(units, units, st.integers(0, 256).map(lambda i: i / 256))
def test_slerp_read_backwards_is_the_same_path(a, b, t):
    # Dyadic t, so that 1 - t is exact: then the two agree to the last bit.
    forwards, backwards = slerp(a, b, t), slerp(b, a, 1 - t)
    sign = -1 if quat.dot(a, b) < 0 else 1
    np.testing.assert_array_equal(forwards, sign * backwards)


@quick
@given(units, units, times)
def test_slerp_speed_is_even_and_never_more_than_half_a_turn(a, b, t):
    whole = quat.angle_between(a, b)
    assert whole <= np.pi
    q = slerp(a, b, t)
    close(quat.angle_between(a, q), t * whole, 4e-15)
    close(quat.angle_between(q, b), (1 - t) * whole, 4e-15)


@quick
@given(units, times)
def test_between_a_rotation_and_itself_there_is_nothing_else(q, t):
    for interpolate in (slerp, nlerp):
        close(interpolate(q, q, t), q, 3e-16)
        close(interpolate(q, -q, t), q, 3e-16)


@quick
@given(units, units, units, times)
def test_slerp_does_not_depend_on_the_frame(a, b, frame, t):
    moved = slerp(quat.multiply(frame, a), quat.multiply(frame, b), t)
    if abs(quat.dot(a, b)) > 1e-12:
        close(quat.angle_between(moved, quat.multiply(frame, slerp(a, b, t))), 0, 1e-14)


@quick
@given(units, units)
def test_nlerp_and_slerp_agree_in_the_middle(a, b):
    close(nlerp(a, b, 0.5), slerp(a, b, 0.5), 1e-15)


# ---------------------------------------------------------------- steps, damping


def test_a_step_toward_never_passes_the_target():
    target = turn(Z, 30)
    close(toward(IDENTITY, target, max_angle=np.radians(10)), turn(Z, 10))
    close(toward(IDENTITY, target, max_angle=np.radians(100)), target)
    close(toward(IDENTITY, -target, max_angle=np.radians(10)), turn(Z, 10))
    np.testing.assert_array_equal(toward(target, target, max_angle=0), target)
    close(toward(IDENTITY, target, amount=0.5), turn(Z, 15))
    q = IDENTITY.astype(np.float32)
    assert toward(q, target.astype(np.float32), max_angle=0.1).dtype == np.float32
    assert toward(q, target.astype(np.float32), amount=0.1).dtype == np.float32
    angles = np.radians([5, 10, 50])
    close(
        toward(IDENTITY, target, max_angle=angles),
        turn(Z, np.degrees([angles[0], angles[1], np.pi / 6])),
    )


@quick
@given(units, units, st.floats(0.01, 10), st.floats(0, 10), st.integers(1, 5))
def test_damping_does_not_depend_on_the_frame_rate(a, b, half_life, dt, steps):
    once = damp(a, b, half_life, dt)
    often = a
    for _ in range(steps):
        often = damp(often, b, half_life, dt / steps)
    if abs(quat.dot(a, b)) > 1e-9:
        close(quat.angle_between(once, often), 0, 1e-13)
    left = quat.angle_between(a, b) * 0.5 ** (dt / half_life)
    close(quat.angle_between(once, b), left, 1e-13)
    assert damp(a.astype(np.float32), b.astype(np.float32), 0.1, 0.1).dtype == np.float32


# ---------------------------------------------------------------- SciPy


def test_agrees_with_scipy():
    transform = pytest.importorskip("scipy.spatial.transform")
    t = np.linspace(0, 1, 33)
    keys = quat.normalize(np.random.default_rng(5).normal(size=(50, 2, 4)))
    for a, b in keys:
        theirs = transform.Slerp([0, 1], transform.Rotation.from_quat([a, b]))(t).as_quat()
        close(quat.angle_between(slerp(a, b, t), theirs), np.zeros(33), 1e-13)
