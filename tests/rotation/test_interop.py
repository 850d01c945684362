"""To SciPy and back, and against SciPy where inputs are nasty."""

import sys

import numpy as np
import pytest

from bunraku.errors import RigError, UnsupportedError
from bunraku.rotation import from_scipy, quaternion, to_scipy


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.spatial.transform", None)
    with pytest.raises(UnsupportedError, match="pip install scipy"):
        to_scipy([0, 0, 0, 1])


def test_what_scipy_refuses_is_an_error_of_ours():
    pytest.importorskip("scipy")
    with pytest.raises(RigError, match="SciPy refuses"):
        to_scipy([0, 0, 0, 0])
    with pytest.raises(RigError, match=r"\(\.\.\., 4\)"):
        to_scipy([0, 0, 1])
    with pytest.raises(RigError, match="expected a Rotation of SciPy, found list"):
        from_scipy([0, 0, 0, 1])


def test_there_and_back():
    pytest.importorskip("scipy")
    q = quaternion.normalize(np.random.default_rng(0).normal(size=(20, 4)))
    for some in (q, q[0], q.astype(np.float32)):
        close(from_scipy(to_scipy(some)), some, 1e-7 if some.dtype == np.float32 else 1e-15)


def nasty():
    """Unit quaternions: random, half turns, tiny turns, denormals, turns next to pi."""
    axes = np.concatenate((np.eye(3), -np.eye(3), [[1, 1, 0], [0, -1, 1], [1, 2, 3]]))
    turns = [0, 5e-324, 1e-310, 1e-160, 1e-20, 1e-8, 1e-3, 1, np.pi - 1e-9, np.pi, np.pi + 1e-9]
    special = [quaternion.from_axis_angle(a, t) for a in axes for t in turns]
    exact = np.concatenate((np.eye(4), -np.eye(4)))
    random = quaternion.normalize(np.random.default_rng(1).normal(size=(300, 4)))
    return np.concatenate((random, special, exact))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_scipy_on_nasty_rotations(dtype):
    pytest.importorskip("scipy")
    q = nasty().astype(dtype)
    theirs = to_scipy(q.astype(np.float64))
    rounding = float(np.finfo(dtype).eps)
    close(quaternion.to_matrix(q), theirs.as_matrix(), 4 * rounding)
    vectors = np.random.default_rng(2).normal(size=(len(q), 3))
    close(quaternion.rotate(q, vectors.astype(dtype)), theirs.apply(vectors), 30 * rounding)
    # at half a turn both ends of the axis are right
    ours, other = quaternion.to_rotation_vector(q).astype(float), theirs.as_rotvec()
    flipped = np.where((ours * other).sum(-1, keepdims=True) < 0, -1, 1)
    near_pi = np.linalg.norm(other, axis=-1) > np.pi - 1e-6
    assert np.all((flipped[:, 0] == 1) | near_pi)
    close(ours, other * flipped, 8 * rounding)
    back = quaternion.from_matrix(theirs.as_matrix().astype(dtype))
    close(quaternion.angle_between(back, q), np.zeros(len(q)), 8 * rounding)
    product = (theirs * theirs[::-1]).as_quat()
    off = quaternion.angle_between(quaternion.multiply(q, q[::-1]).astype(float), product)
    close(off, np.zeros(len(q)), 4 * rounding)


def test_rotation_vectors_agree_with_scipy_from_denormals_to_thousands_of_turns():
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    sizes = [0, 5e-324, 1e-300, 1e-150, 1e-10, 1, 3, 7, 1e3, 9e5, 1.1e6, 1e9]
    vectors = np.outer(sizes, np.array([2, -1, 2]) / 3)
    theirs = rotation.from_rotvec(vectors).as_quat()
    found = quaternion.from_rotation_vector(vectors)
    # an angle of 1e9 is known to 1e-7: the products that make it differ in the last digit
    off = quaternion.angle_between(found, theirs)
    assert np.all(off <= 4e-16 * np.maximum(1, sizes))
