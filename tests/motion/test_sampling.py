"""Sampling: invalid input, worked examples, the oracle, properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Character, Clip, Track
from bunraku.motion import bind, sample
from bunraku.rotation import quaternion
from tests.motion.puppets import puppet, sampled
from tests.reference.sampling import sample_track

HALF = 0.5**0.5


INVALID = [
    # times, what the message must say
    (np.nan, r"times\[0\]: .*found nan"),
    ([0, np.inf], r"times\[1\]: .*found inf"),
    ([[0, 1]], r"expected shape \(\) or \(frames,\), found \(1, 2\)"),
    ("soon", "expected numbers of seconds, found 'soon'"),
    ([[0], [1, 2]], "expected numbers of seconds"),
    (None, r"times\[0\]: .*found nan"),
]


@pytest.mark.parametrize(("times", "message"), INVALID)
def test_invalid_times_are_refused(times, message):
    with pytest.raises(RigError, match=message):
        sample(bind(Clip("c", ()), puppet()), times)


TRACK = [0, 1, 0, 1, 0, 3]
BROKEN = [
    # arguments of the core that differ from a good call, what the message must say
    ({"timeline_starts": [0, 2, 2]}, "at least one key"),
    ({"timeline_starts": [0, 3]}, "to end where key_times does"),
    ({"timeline_starts": [1, 2]}, "to start at 0"),
    ({"tracks": [TRACK[:5]]}, "6 columns"),
    ({"tracks": [[1, *TRACK[1:]]]}, r"tracks\[0\]: no such timeline"),
    ({"tracks": [TRACK, [0, 7, *TRACK[2:]]]}, r"tracks\[1\]: no such kind"),
    ({"tracks": [[0, 1, 0, 4, 0, 3]]}, "no such output"),
    ({"tracks": [[0, 1, 0, -1, 0, 3]]}, "no such output"),
    ({"tracks": [[0, 1, 0, 1, 2, 3]]}, "beyond a frame"),
    ({"tracks": [[0, 1, 0, 1, -1, 3]]}, "beyond a frame"),
    ({"tracks": [[0, 1, 0, 1, 2**63 - 1, 3]]}, "beyond a frame"),
    ({"tracks": [[0, 1, 1, 1, 0, 3]]}, "beyond the rows"),
    ({"tracks": [[0, 1, -1, 1, 0, 3]]}, "beyond the rows"),
    ({"tracks": [[0, 3, 0, 1, 0, 3]]}, "beyond the rows"),
    ({"tracks": [[0, 5, 0, 1, 0, 3]]}, "beyond the rows"),
    ({"tracks": [[0, 2, 0, 1, 0, 3]]}, "expected quaternions"),
    ({"tracks": [[0, 6, 0, 1, 0, 3]]}, "expected quaternions"),
    ({"times": [0.0]}, "one row per time"),
]


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_the_core_refuses_to_read_or_write_out_of_bounds(changes, message):
    arguments = {
        "key_times": [0.0, 1.0],
        "timeline_starts": [0, 2],
        "rows": np.zeros(6),
        "tracks": [TRACK],
        "times": [0.0, 0.5],
    }
    integers = {"timeline_starts", "tracks"}
    call = {
        name: np.array(value, np.int64 if name in integers else np.float64)
        for name, value in (arguments | changes).items()
    }
    rests = {
        f"rest_{name}": np.zeros(4) for name in ("translations", "rotations", "scales", "weights")
    }
    outputs = {name.removeprefix("rest_"): np.zeros((2, 4)) for name in rests}
    with pytest.raises(ValueError, match=message):
        _core.sampling.sample(**call, **rests, **outputs)


# ---------------------------------------------------------------- worked examples


def test_a_single_time_is_one_frame_and_none_are_none():
    bound = bind(Clip("c", ()), puppet(3))
    assert sample(bound, 0.5).frames == 1
    assert sample(bound, []).translations.shape == (0, 3, 3)


def test_without_tracks_everything_is_at_rest_to_the_bit():
    character = puppet(3, morphs=2)
    rest, pose = character.rest_pose(), sample(bind(Clip("c", ()), character), [0, 7])
    for ours, still in (
        (pose.translations, rest.translations),
        (pose.rotations, rest.rotations),
        (pose.scales, rest.scales),
        (pose.morph_weights[0], rest.morph_weights[0]),
    ):
        np.testing.assert_array_equal(ours, np.repeat(still, 2, axis=0))


def test_a_track_moves_its_own_path_of_its_own_node_alone():
    character = puppet(3, morphs=2)
    track = Track(1, "scale", [0, 1], [[1, 1, 1], [2, 3, 4]])
    rest, pose = character.rest_pose(), sample(bind(Clip("c", (track,)), character), 0.5)
    np.testing.assert_array_equal(pose.scales[0], [[0.3] * 3, [1.5, 2, 2.5], [0.3] * 3])
    np.testing.assert_array_equal(pose.translations, rest.translations)
    np.testing.assert_array_equal(pose.rotations, rest.rotations)
    np.testing.assert_array_equal(pose.morph_weights[0], rest.morph_weights[0])


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        ("STEP", [2, 2, 2, 4, 4]),
        ("LINEAR", [2, 2, 2.5, 4, 4]),
        ("CUBICSPLINE", [2, 2, 2.3125, 4, 4]),
    ],
)
def test_values_between_keys_and_beyond(interpolation, expected):
    values = np.array([[2, 0, 0], [4, 0, 0]])
    if interpolation == "CUBICSPLINE":
        values = np.stack([np.zeros_like(values), values, np.zeros_like(values)], axis=1)
    track = Track(0, "translation", [1, 3], values, interpolation)
    np.testing.assert_array_equal(sampled(track, [0, 1, 1.5, 3, 99])[:, 0], expected)


def test_cubic_tangents_are_scaled_by_the_time_between_keys():
    # Slopes 1 and −2 over 4 s from 0 to 0: at u = ½ the formula gives 4/8·1 + 4/8·2 = 1.5.
    values = [[[9], [0], [1]], [[-2], [0], [9]]]
    track = Track(0, "weights", [10, 14], values, "CUBICSPLINE")
    np.testing.assert_array_equal(sampled(track, [12], puppet(morphs=1)), [[1.5]])


@pytest.mark.parametrize("end", [[0, 0, HALF, HALF], [0, 0, -HALF, -HALF]])
@pytest.mark.parametrize(("u", "degrees"), [(0.25, 22.5), (0.5, 45), (0.75, 67.5)])
def test_rotations_turn_evenly_on_the_shorter_arc(end, u, degrees):
    track = Track(0, "rotation", [0, 1], [[0, 0, 0, 1], end])
    half = np.radians(degrees) / 2
    ours = sampled(track, u)[0]
    np.testing.assert_allclose(ours, [0, 0, np.sin(half), np.cos(half)], atol=1e-15)


@pytest.mark.parametrize("u", [0.1, 0.5, 0.9])
def test_identity_to_350_degrees_goes_back_by_10(u):
    end = quaternion.from_axis_angle([0, 1, 0], np.radians(350)).astype("f4")
    ours = sampled(Track(0, "rotation", [0, 1], [[0, 0, 0, 1], end]), u)[0]
    expected = quaternion.from_axis_angle([0, 1, 0], np.radians(-10 * u))
    np.testing.assert_allclose(ours, expected, atol=2e-7)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("away", [0, 1e-30, 1e-7, 1e-4])
def test_equal_and_nearly_equal_rotations(sign, away):
    keys = np.array([[0.5, 0.5, 0.5, 0.5], [0.5 + away, 0.5, 0.5, 0.5]]) * [[1], [sign]]
    ours = sampled(Track(0, "rotation", [0, 1], keys), np.linspace(0, 0.9, 10))
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(ours, np.tile(keys[0], (10, 1)), atol=2 * away + 1e-15)


def test_opposite_rotations_turn_by_half_a_turn():
    ours = sampled(Track(0, "rotation", [0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]]), [0.25, 0.5, 0.75])
    half = np.radians([22.5, 45, 67.5])
    expected = np.stack([0 * half, np.sin(half), 0 * half, np.cos(half)], axis=1)
    np.testing.assert_allclose(ours, expected, atol=1e-15)


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("path", ["translation", "rotation", "scale", "weights"])
def test_a_time_within_a_microsecond_of_a_key_is_that_key(path, interpolation):
    rng = np.random.default_rng(4)
    width = 4 if path == "rotation" else 3
    shape = (5, 3, width) if interpolation == "CUBICSPLINE" else (5, width)
    times = np.array([0.1, 0.3, 0.4, 0.7, 1.1], "f4")
    track = Track(0, path, times, rng.normal(size=shape), interpolation)
    keys = (track.values[:, 1] if interpolation == "CUBICSPLINE" else track.values).astype("f8")
    character = puppet(morphs=3)
    for shift in (-9e-7, 0, 9e-7):
        ours = sampled(
            track, [0.1 + shift, 0.3 + shift, 0.4 + shift, 0.7 + shift, 1.1 + shift], character
        )
        if path == "rotation":
            np.testing.assert_allclose(ours, quaternion.normalize(keys), rtol=2e-16 * 2)
        else:
            np.testing.assert_array_equal(ours, keys)


def test_steps_cut_on_the_frame_at_30_per_second():
    frames = np.arange(300)
    track = Track(0, "translation", (frames / 30).astype("f4"), np.tile(frames[:, None], 3), "STEP")
    np.testing.assert_array_equal(sampled(track, frames / 30)[:, 0], frames)


def test_a_track_of_one_key_holds_it():
    values = [[[5, 5, 5], [1, 2, 3], [7, 7, 7]]]
    track = Track(0, "translation", [2], values, "CUBICSPLINE")
    np.testing.assert_array_equal(sampled(track, [-1, 2, 3]), np.tile([1, 2, 3], (3, 1)))


def test_a_cubic_rotation_that_vanishes_is_the_nearer_key():
    still, q = np.zeros(4), np.array([0, 0.6, 0, 0.8])
    track = Track(0, "rotation", [0, 1], [[still, q, still], [still, -q, still]], "CUBICSPLINE")
    np.testing.assert_allclose(sampled(track, [0.4, 0.5, 0.6]), [q, q, -q], atol=1e-7)
    nothing = Track(0, "rotation", [0, 1], np.zeros((2, 3, 4)), "CUBICSPLINE")
    np.testing.assert_array_equal(sampled(nothing, [0.5]), [[0, 0, 0, 1]])


# ---------------------------------------------------------------- oracle and properties


@st.composite
def motions(draw) -> tuple[Clip, Character, np.ndarray]:
    """Tracks of every path and interpolation, and times before, between, on and after keys."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = draw(st.integers(1, 4))
    character = puppet(nodes, morphs=draw(st.integers(1, 6)))
    shared = np.cumsum(rng.uniform(0.01, 0.5, draw(st.integers(1, 9))))
    tracks, times = [], [shared]
    for node in range(nodes):
        for path in ("translation", "rotation", "scale", "weights"):
            if rng.random() < 0.3 or (path == "weights" and node):
                continue
            kinds = ["STEP", "LINEAR", "CUBICSPLINE", "BEZIER"]
            interpolation = str(rng.choice(kinds[:3] if path == "weights" else kinds))
            keys = (
                shared
                if rng.random() < 0.5
                else np.cumsum(rng.uniform(1e-3, 1, rng.integers(1, 9)))
            )
            width = {"rotation": 4, "weights": len(character.meshes[0].morph_names)}.get(path, 3)
            shape = (len(keys), 3, width) if interpolation == "CUBICSPLINE" else (len(keys), width)
            curves = None
            if interpolation == "BEZIER":
                curves = rng.uniform(0, 1, (len(keys), 1 if path == "rotation" else 3, 4))
            tracks.append(Track(node, path, keys, rng.normal(size=shape), interpolation, curves))
            times.append(keys)
    end = max(float(keys[-1]) for keys in times)
    return (
        Clip("c", tuple(tracks)),
        character,
        np.sort(np.concatenate([*times, rng.uniform(-0.1, end + 0.1, draw(st.integers(0, 60)))])),
    )


@settings(max_examples=40, deadline=None)
@given(motions())
def test_equals_the_oracle(motion):
    clip, character, times = motion
    pose = sample(bind(clip, character), times)
    for track in clip.tracks:
        expected = np.stack([sample_track(track, time) for time in times])
        ours = (
            pose.morph_weights[0]
            if track.path == "weights"
            else getattr(pose, f"{track.path}s")[:, track.target]
        )
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(motions(), st.randoms(use_true_random=False))
def test_the_order_of_times_does_not_change_a_bit(motion, random):
    clip, character, times = motion
    bound = bind(clip, character)
    shuffled = list(range(len(times)))
    random.shuffle(shuffled)
    in_order, mixed = sample(bound, times), sample(bound, times[shuffled])
    for a, b in zip(
        (in_order.translations, in_order.rotations, in_order.scales, *in_order.morph_weights),
        (mixed.translations, mixed.rotations, mixed.scales, *mixed.morph_weights),
        strict=True,
    ):
        assert a[shuffled].tobytes() == b.tobytes()


@settings(max_examples=25, deadline=None)
@given(motions())
def test_rotations_are_of_unit_length(motion):
    clip, character, times = motion
    lengths = np.linalg.norm(sample(bind(clip, character), times).rotations, axis=-1)
    np.testing.assert_allclose(lengths, 1, atol=1e-14)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(6)
    tracks = []
    for node in range(40):
        keys = np.cumsum(rng.uniform(0.01, 1, 20))
        tracks.append(Track(node, "rotation", keys, rng.normal(size=(20, 4))))
        tracks.append(Track(node, "translation", keys, rng.normal(size=(20, 3, 3)), "CUBICSPLINE"))
    bound = bind(Clip("c", tuple(tracks)), puppet(40))
    results = []
    for threads in (1, 2, 3):
        _core.set_thread_count(threads)
        pose = sample(bound, np.linspace(0, 9, 999))
        results.append(pose.rotations.tobytes() + pose.translations.tobytes())
    _core.set_thread_count(0)
    assert results[0] == results[1] == results[2]
