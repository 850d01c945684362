"""Reading animations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.formats.gltf import clips_from_gltf, read_gltf
from tests.formats.reading import codes, read
from tests.formats.sketch import Sketch, animated, morphed

TURNS = [[0, 0, 0, 1], [0, 0, 1, 0]]


class TestAnimations:
    def test_translation_and_scale(self):
        for path in ("translation", "scale"):
            (clip,) = read(animated(path, [0.5, 2], [[1, 2, 3], [4, 5, 6]])).clips
            (track,) = clip.tracks
            assert (clip.name, track.target, track.path) == ("move", 0, path)
            assert track.times.tolist() == [0.5, 2]
            assert track.values.tolist() == [[1, 2, 3], [4, 5, 6]]
            assert track.interpolation == "LINEAR"

    @pytest.mark.parametrize(
        ("dtype", "values"),
        [
            ("f4", TURNS),
            ("i1", [[0, 0, 0, 127], [0, 0, 127, 0]]),
            ("u1", [[0, 0, 0, 255], [0, 0, 255, 0]]),
            ("i2", [[0, 0, 0, 32767], [0, 0, 32767, 0]]),
            ("u2", [[0, 0, 0, 65535], [0, 0, 65535, 0]]),
        ],
    )
    def test_rotations_in_every_stored_form(self, dtype: str, values: Any):
        (clip,) = read(animated("rotation", [0, 1], values, dtype)).clips
        assert clip.tracks[0].values.tolist() == TURNS
        assert clip.tracks[0].values.dtype == np.float32

    def test_cubic_keys_are_in_tangent_value_out_tangent(self):
        values = np.arange(18).reshape(6, 3)
        sketch = animated("translation", [0, 1], values, interpolation="CUBICSPLINE")
        (track,) = read(sketch).clips[0].tracks
        assert track.values.tolist() == values.reshape(2, 3, 3).tolist()

    def weights(self, values: Any, **sampler: Any) -> Sketch:
        sketch = morphed()
        samplers = [{"input": sketch.add([0, 1]), "output": sketch.add(values), **sampler}]
        channels = [{"sampler": 0, "target": {"node": 0, "path": "weights"}}]
        sketch.tree["animations"] = [{"channels": channels, "samplers": samplers}]
        return sketch

    def test_weights_are_one_flat_stream(self):
        (track,) = read(self.weights(np.arange(6))).clips[0].tracks
        assert track.values.tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_cubic_weights_hold_all_in_tangents_then_values_then_out_tangents(self):
        sketch = self.weights(np.arange(18), interpolation="CUBICSPLINE")
        (track,) = read(sketch).clips[0].tracks
        assert track.values.tolist() == [
            [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
            [[9, 10, 11], [12, 13, 14], [15, 16, 17]],
        ]

    def test_keys_at_the_same_time_are_kept_as_a_cut(self):
        found = read(animated("translation", [0, 1, 1, 1, 2], np.arange(15).reshape(5, 3)))
        times = found.clips[0].tracks[0].times
        assert (np.diff(times) > 0).all()
        assert np.allclose(times, [0, 1, 1, 1, 2], rtol=0, atol=1e-8)
        assert codes(found) == ["times-repeated"]

    def test_times_before_zero(self):
        found = read(animated("translation", [-1, 1], np.zeros((2, 3))))
        assert found.clips[0].start == -1
        assert codes(found) == ["times-negative"]

    def test_rotations_off_unit_are_normalised(self):
        found = read(animated("rotation", [0, 1], [[0, 0, 0, 2], [0, 0, 1.003, 0]]))
        values = found.clips[0].tracks[0].values
        assert values[0].tolist() == [0, 0, 0, 1]
        assert values[1, 2] == np.float32(1.003)  # rounding of stored forms is left alone
        assert codes(found) == ["rotation-not-unit"]

    def test_tangents_of_cubic_rotations_are_left_alone(self):
        values = np.array([[5, 0, 0, 0], [0, 0, 0, 2], [0, 7, 0, 0]] * 2)
        sketch = animated("rotation", [0, 1], values, interpolation="CUBICSPLINE")
        (track,) = read(sketch).clips[0].tracks
        assert track.values[0].tolist() == [[5, 0, 0, 0], [0, 0, 0, 1], [0, 7, 0, 0]]

    def test_the_first_of_two_channels_on_one_target_is_played(self):
        sketch = animated("translation", [0], [[1, 2, 3]])
        animation = sketch.tree["animations"][0]
        other = sketch.add([[7, 8, 9]])
        animation["samplers"].append({"input": animation["samplers"][0]["input"], "output": other})
        target = {"node": 0, "path": "translation"}
        animation["channels"].append({"sampler": 1, "target": target})
        found = read(sketch)
        assert [track.values.tolist() for track in found.clips[0].tracks] == [[[1, 2, 3]]]
        assert codes(found) == ["duplicate-target"]

    def test_pointers_and_missing_nodes_are_carried(self):
        sketch = animated("translation", [0], [[1, 2, 3]])
        pointer = {"KHR_animation_pointer": {"pointer": "/materials/0/emissiveFactor"}}
        sketch.tree["animations"][0]["channels"] += [
            {"sampler": 0, "target": {"path": "pointer", "extensions": pointer}},
            {"sampler": 0, "target": {"path": "scale"}},
        ]
        sketch.tree["extensionsUsed"] = ["KHR_animation_pointer"]
        found = read(sketch)
        assert len(found.clips[0].tracks) == 1
        assert codes(found) == ["animation-pointer", "channel-without-node"]

    def test_clips_can_be_read_alone(self):
        file = read_gltf(animated("translation", [0], [[1, 2, 3]]).glb())
        (clip,) = clips_from_gltf(file)
        assert clip.tracks[0].target == 0
