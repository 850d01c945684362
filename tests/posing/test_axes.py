"""Fixed axes: worked examples and properties."""

import numpy as np
import pytest

from bunraku.model import FixedAxis, Pose, Rig
from bunraku.posing import on_fixed_axes
from bunraku.rotation import quaternion
from tests.reference import mmd

X = np.array([1.0, 0, 0])


def turned(*vectors) -> Pose:
    """One node, a frame per rotation vector in degrees."""
    turns = quaternion.from_rotation_vector(np.radians(vectors))[:, None]
    shape = (len(turns), 1, 3)
    return Pose(np.zeros(shape), turns, np.ones(shape))


def about(axis, pose: Pose) -> np.ndarray:
    rig = Rig(fixed_axes=(FixedAxis(0, np.array(axis, float)),))
    return on_fixed_axes(rig, pose).rotations[:, 0]


def test_without_fixed_axes_nothing_is_done():
    pose = turned([10, 20, 30])
    assert on_fixed_axes(None, pose) is pose
    assert on_fixed_axes(Rig(), pose) is pose


@pytest.mark.parametrize("degrees", [0, 5, 105, 179])
def test_the_whole_angle_is_kept_in_the_sense_of_the_axis(degrees):
    bent = np.array([0.6, 0.8, 0]) * degrees
    expected = quaternion.from_axis_angle(X, np.radians([degrees, -degrees]))
    np.testing.assert_allclose(about(X, turned(bent, -bent)), expected, atol=1e-12)


def test_a_turn_across_the_axis_counts_as_positive():
    expected = quaternion.from_axis_angle(X, np.radians([40, 40]))
    np.testing.assert_allclose(about(X, turned([0, 40, 0], [0, -40, 0])), expected, atol=1e-12)


def test_a_turn_about_the_axis_stays_as_it_is():
    pose = turned([30, 0, 0], [-170, 0, 0])
    np.testing.assert_allclose(about(X, pose), pose.rotations[:, 0], atol=1e-15)


def test_an_axis_of_no_direction_holds_still():
    assert about([0, 0, 0], turned([10, 20, 30])).tolist() == [[0, 0, 0, 1]]


def test_equals_the_oracle_on_any_turn_and_axis():
    rng = np.random.default_rng(2)
    for _ in range(50):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        pose = turned(*(rng.normal(size=(4, 3)) * 100))
        expected = [mmd.about_axis(q, axis) for q in pose.rotations[:, 0]]
        np.testing.assert_allclose(about(axis, pose), expected, atol=1e-12)
