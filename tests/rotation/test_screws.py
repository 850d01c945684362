"""Screw motions: invalid input, a corkscrew, tiny turns, and ScLERP along them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import dual_quaternion as dual
from bunraku.rotation import quaternion as quat
from bunraku.rotation import slerp
from tests.reference import rotation as slow

X, Y, Z = np.eye(3)
UNIT = np.array([0.0, 0, 0, 1, 0, 0, 0, 0])

INVALID = [
    # function, arguments, what the message must say
    (dual.to_screw, (np.zeros(8),), r"real part of dual quaternion: .*\(0, 0, 0, 0\)"),
    (dual.from_screw, (dual.Screw([0, 0, 0], X, 1.0, 1.0),), "non-zero length"),
    (dual.from_screw, (dual.Screw(X, X, np.inf, 1.0),), "angle: .*found inf"),
    (dual.from_screw, (dual.Screw(X, X * np.nan, 1.0, 1.0),), "moment: .*found nan"),
    (dual.sclerp, (UNIT, UNIT[:4], 0.5), r"\(\.\.\., 8\)"),
    (dual.sclerp, ([UNIT, UNIT], [UNIT, UNIT], [0, 0.5, 1]), "broadcast"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def about(pivot, rotation):
    """A rotation about a point, as a dual quaternion."""
    return dual.from_rotation_translation(rotation, pivot - quat.rotate(rotation, pivot))


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


quick = settings(deadline=None, max_examples=100)
units = (
    arrays(np.float64, 4, elements=st.floats(-1, 1, allow_subnormal=False))
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(quat.normalize)
)
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10, allow_subnormal=False))
rigid = st.builds(dual.from_rotation_translation, units, vectors)


def test_a_corkscrew():
    # Half a turn about the line x = 1 along Z, rising by 3.
    dq = dual.multiply(
        dual.from_rotation_translation(quat.identity(), [0, 0, 3]),
        about(X, quat.from_axis_angle(Z, np.pi)),
    )
    screw = dual.to_screw(dq)
    close(screw.axis, Z)
    close(screw.angle, np.pi)
    close(screw.advance, 3)
    close(np.cross(screw.axis, screw.moment), X)
    close(dual.transform_points(dual.sclerp(UNIT, dq, 0.5), [0, 0, 0]), [1, -1, 1.5])
    close(dual.to_screw(dual.sclerp(UNIT, dq, 0.25)).advance, 0.75)


def test_a_pure_translation_and_the_identity_are_screws_too():
    screw = dual.to_screw(dual.from_rotation_translation(quat.identity(), [0, 3, 4]))
    close(screw.axis, [0, 0.6, 0.8])
    np.testing.assert_array_equal(screw.moment, [0, 0, 0])
    assert (screw.angle, screw.advance) == (0, 5)
    screw = dual.to_screw(-UNIT)
    np.testing.assert_array_equal(screw.axis, X)
    assert (screw.angle, screw.advance) == (0, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_tiny_turn_is_a_screw_as_far_as_it_is_one_to_rounding(dtype):
    epsilon = np.finfo(dtype).eps
    translation = np.array([1, 2, 3], dtype)
    for power in (*range(0, 310, 5), 158, 400):
        turned = quat.from_rotation_vector(np.array([dtype(10.0**-power), 0, 0]))
        dq = dual.from_rotation_translation(turned.astype(dtype), translation)
        screw = dual.to_screw(dq)
        assert np.isfinite(np.concatenate([np.ravel(part) for part in screw])).all()
        assert np.linalg.norm(screw.moment) < 10 / epsilon
        np.testing.assert_allclose(dual.from_screw(screw), dq, rtol=0, atol=4 * epsilon)
        if 10.0**-power < epsilon / 2:
            assert screw.angle == 0
            np.testing.assert_allclose(screw.advance, np.sqrt(14), rtol=epsilon)
        else:
            np.testing.assert_allclose(screw.angle, 10.0**-power, rtol=4 * epsilon)


@quick
@given(rigid)
@example(dual.from_rotation_translation([3.29211197e-158, 0, 0, 1], [1, 1, 1]))
def test_screw_round_trip(dq):
    screw = dual.to_screw(dq)
    close(dual.to_matrix(dual.from_screw(screw)), dual.to_matrix(dq), 1e-13)
    # the line runs off to infinity as the angle goes to 0
    reach = 1 + float(np.linalg.norm(screw.moment))
    close(screw.axis @ screw.moment, 0, 1e-13 * reach)
    assert 0 <= screw.angle <= np.pi


@quick
@given(rigid, rigid, st.floats(0, 1))
def test_sclerp_follows_the_screw(a, b, t):
    between = dual.multiply(dual.conjugate(a), b)
    half_angle = np.arctan2(np.linalg.norm(between[:3]), abs(between[3]))
    if not 1e-3 < half_angle < np.pi / 2 - 1e-3:
        return
    expected = slow.screw_between(dual.to_matrix(a), dual.to_matrix(b), t)
    close(dual.to_matrix(dual.sclerp(a, b, t)), expected, 1e-8)


@quick
@given(rigid, rigid, rigid, st.floats(0, 1), vectors)
def test_sclerp_is_a_unit_hits_its_ends_and_ignores_frames_and_signs(a, b, frame, t, point):
    path = dual.sclerp(a, b, t)
    close(np.linalg.norm(path[:4]), 1, 1e-14)
    close(path[:4] @ path[4:], 0, 1e-12)
    close(dual.to_matrix(dual.sclerp(a, b, 0)), dual.to_matrix(a), 1e-13)
    close(dual.to_matrix(dual.sclerp(a, b, 1)), dual.to_matrix(b), 1e-12)
    if abs(a[:4] @ b[:4]) < 1e-9:
        return
    close(
        dual.transform_points(dual.sclerp(-a, b, t), point),
        dual.transform_points(path, point),
        1e-11,
    )
    close(
        dual.transform_points(dual.sclerp(b, a, 1 - t), point),
        dual.transform_points(path, point),
        1e-10,
    )
    moved = dual.sclerp(dual.multiply(frame, a), dual.multiply(frame, b), t)
    close(
        dual.transform_points(moved, point),
        dual.transform_points(dual.multiply(frame, path), point),
        1e-10,
    )


@pytest.mark.parametrize("angle", [0, 1e-300, 1e-160, 1e-20, 1e-12, 1e-8, 1e-4])
def test_sclerp_of_tiny_turns_still_translates(angle):
    b = dual.from_rotation_translation(quat.from_rotation_vector(X * angle), [1, 2, 3])
    rotation, translation = dual.to_rotation_translation(dual.sclerp(UNIT, b, 0.25))
    close(translation, [0.25, 0.5, 0.75], 1e-15 + 2 * angle)
    np.testing.assert_allclose(quat.to_rotation_vector(rotation), X * angle / 4, atol=1e-17)


def test_sclerp_of_rotations_is_slerp():
    a, b = quat.normalize(np.random.default_rng(1).normal(size=(2, 50, 4)))
    t = np.linspace(0, 1, 50)
    turned = dual.sclerp(
        dual.from_rotation_translation(a, [0, 0, 0]),
        dual.from_rotation_translation(b, [0, 0, 0]),
        t,
    )
    close(quat.angle_between(turned[:, :4], slerp(a, b, t)), np.zeros(50), 1e-14)
    np.testing.assert_array_equal(turned[:, 4:], np.zeros((50, 4)))
