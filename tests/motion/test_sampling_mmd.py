"""Sampling what MMD adds: Bezier curves, offsets from rest, expressions, switches."""

import numpy as np
import pytest

from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Expression,
    Geometry,
    IkChain,
    Mesh,
    MorphTarget,
    Rig,
    Skeleton,
    Track,
)
from bunraku.motion import bind, sample
from tests.motion.puppets import puppet, sampled
from tests.reference.sampling import height

HALF = 0.5**0.5


MMD_CURVES = [
    # x1, y1, x2, y2 as MMD stores them, of 127; the last two are vertical and flat in places
    (20, 20, 107, 107),
    (64, 0, 64, 127),
    (0, 127, 127, 0),
    (127, 0, 0, 127),
    (0, 0, 127, 127),
    (0, 0, 0, 127),
    (127, 127, 127, 0),
]


def face(*names: str) -> Character:
    return Character(Skeleton(("root",), [-1]), expressions=tuple(map(Expression, names)))


def heights(curve, times) -> np.ndarray:
    """How far an expression that rises from 0 to 1 along a curve has come."""
    curves = [[[0, 0, 1, 1]], [np.array(curve) / 127]]
    track = Track("smile", "expression", [0, 1], [[0], [1]], "BEZIER", curves)
    return sample(bind(Clip("c", (track,)), face("smile")), times).expressions[:, 0]


@pytest.mark.parametrize("curve", MMD_CURVES)
def test_a_curve_is_solved_to_the_last_digits(curve):
    times = np.linspace(0.01, 0.99, 25)
    exact = [height(np.float32(np.array(curve) / 127).astype(float), time) for time in times]
    np.testing.assert_allclose(heights(curve, times), exact, rtol=0, atol=2e-13)


@pytest.mark.parametrize("curve", MMD_CURVES)
def test_on_a_key_the_value_is_that_of_the_key(curve):
    assert heights(curve, [-1, 0, 9e-7, 1 - 9e-7, 1, 2]).tolist() == [0, 0, 0, 1, 1, 1]


def test_the_steepest_curve_rises_as_its_cubic_root():
    u = np.array([0.5 - 1e-3, 0.5, 0.5 + 1e-3, 0.9])
    t = np.cbrt((u - 0.5) / 4)
    expected = 0.5 + 1.5 * t - 2 * t**3
    np.testing.assert_allclose(heights((127, 0, 0, 127), u), expected, atol=1e-9)


def test_the_curve_of_a_key_leads_to_it():
    late, early = [0.9, 0, 1, 0.1], [0, 0.9, 0.1, 1]
    values = [[0, 0, 0], [1, 1, 1], [0, 0, 0]]
    curves = [[early] * 3, [late] * 3, [early] * 3]
    track = Track(0, "translation", [0, 1, 2], values, "BEZIER", curves)
    risen, fallen = sampled(track, [0.5, 1.5])[:, 0]
    assert risen < 0.1
    assert fallen < 0.1


def test_each_axis_has_a_curve_of_its_own_and_a_rotation_one():
    curves = np.float32([[20, 20, 107, 107], [64, 0, 64, 127], [10, 100, 40, 120]]) / 127
    track = Track(0, "translation", [0, 1], [[0, 0, 0], [1, 2, 4]], "BEZIER", [curves] * 2)
    shares = [height(curve.astype(float), 0.3) for curve in curves]
    np.testing.assert_allclose(sampled(track, 0.3)[0], shares * np.array([1, 2, 4]), atol=1e-15)
    turn = [[0, 0, 0, 1], [0, 0, HALF, HALF]]
    track = Track(0, "rotation", [0, 1], turn, "BEZIER", curves[None, 1:2].repeat(2, 0))
    half = np.radians(90 * shares[1]) / 2
    expected = [0, 0, np.sin(half), np.cos(half)]
    np.testing.assert_allclose(sampled(track, 0.3)[0], expected, atol=1e-15)


def test_straight_curves_are_linear_to_the_bit():
    rng = np.random.default_rng(3)
    keys, times = rng.normal(size=(6, 3)), rng.uniform(0, 5, 50)
    line = np.tile(np.float32([20, 20, 107, 107]) / 127, (6, 3, 1))
    mixed = line.copy()
    mixed[3, 1] = [0, 0.5, 1, 0.5]
    linear = sampled(Track(0, "translation", np.arange(6), keys), times)
    straight = Track(0, "translation", np.arange(6), keys, "BEZIER", line)
    np.testing.assert_array_equal(sampled(straight, times), linear)
    elsewhere = (times < 2) | (times > 3)
    bent = sampled(Track(0, "translation", np.arange(6), keys, "BEZIER", mixed), times)
    np.testing.assert_array_equal(bent[elsewhere], linear[elsewhere])
    assert (bent[~elsewhere, 1] != linear[~elsewhere, 1]).all()


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "BEZIER"])
def test_relative_translations_are_added_to_rest(interpolation):
    curves = np.zeros((2, 3, 4)) if interpolation == "BEZIER" else None
    keys = [[1, 2, 3], [4, 5, 6]]
    track = Track(1, "translation", [0, 1], keys, interpolation, curves, relative=True)
    pose = sample(bind(Clip("c", (track,)), puppet(2)), [0, 1])
    np.testing.assert_allclose(pose.translations[:, 1], np.array(keys) + [3.1, 4.1, 5.1])


def test_expressions_switches_and_visibility_are_sampled_beside_morphs():
    skeleton = Skeleton(("root", "goal", "knee"), [-1, -1, 0])
    rig = Rig(layers=[0, 0, 0], chains=(IkChain(1, 2, (), 1, 1.0), IkChain(2, 1, (), 1, 1.0)))
    lifted = MorphTarget([0], positions=[[0, 1, 0]])
    mesh = Mesh("face", (Geometry([[0, 0, 0]], morphs=(lifted,)),), (), ("m",))
    character = Character(
        skeleton,
        (mesh,),
        attachments=(Attachment(0, 0),),
        expressions=(Expression("a"), Expression("b")),
        rig=rig,
    )
    tracks = (
        Track("b", "expression", [0, 1], [[0], [1]]),
        Track("knee", "ik", [0, 1], [[1], [0]], "STEP"),
        Track("", "visible", [0.5, 1], [[0], [1]], "STEP"),
        Track("root", "weights", [0, 1], [[0], [2]]),
    )
    pose = sample(bind(Clip("c", tracks), character), [0, 0.75, 1])
    assert pose.expressions.tolist() == [[0, 0], [0, 0.75], [0, 1]]
    assert pose.ik.tolist() == [[True, True], [True, True], [True, False]]
    assert pose.visible.tolist() == [False, False, True]
    assert pose.morph_weights[0].tolist() == [[0], [1.5], [2]]
    still = sample(bind(Clip("c", ()), character), [0])
    assert (still.expressions.tolist(), still.ik.all(), still.visible.all()) == (
        [[0, 0]],
        True,
        True,
    )
