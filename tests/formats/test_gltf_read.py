from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.gltf import character_from_gltf, clips_from_gltf, read_gltf
from bunraku.model import Character
from tests.formats.sketch import Sketch, skinned, triangle


def character(sketch: Sketch) -> Character:
    return character_from_gltf(read_gltf(sketch.glb(), name="x.glb"))


def codes(found: Character) -> list[str]:
    return [note.code for note in found.notes]


def with_positions(values: Any) -> Sketch:
    sketch = Sketch(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    position = sketch.add(values)
    sketch.tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": position}}]}]
    return sketch


def with_indices(indices: list[int], mode: int = 4, dtype: str = "u1") -> Sketch:
    sketch = with_positions(np.arange(18).reshape(6, 3))
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    primitive |= {"indices": sketch.add(indices, dtype), "mode": mode}
    return sketch


def animated(path: str, times: Any, values: Any, dtype: str = "f4", **sampler: Any) -> Sketch:
    sketch = Sketch(nodes=[{}], scenes=[{"nodes": [0]}])
    extra = {} if dtype == "f4" else {"normalized": True}
    output = sketch.add(values, dtype, **extra)
    samplers = [{"input": sketch.add(times), "output": output, **sampler}]
    channels = [{"sampler": 0, "target": {"node": 0, "path": path}}]
    sketch.tree["animations"] = [{"name": "move", "channels": channels, "samplers": samplers}]
    return sketch


TURNS = [[0, 0, 0, 1], [0, 0, 1, 0]]

INVALID = {
    "a vertex index beyond the last": (
        with_indices([0, 1, 6]),
        "meshes[0].primitives[0].indices: expected vertices below 6, found 6",
    ),
    "a restart index": (with_indices([0, 1, 255]), "found 255"),
    "an index beyond int32": (with_indices([0, 1, 2**32 - 1], dtype="u4"), "found 4294967295"),
    "positions that are no numbers": (
        with_positions([[0, 0, np.nan]] * 3),
        "meshes[0].primitives[0]: geometry.positions[0, 2]: expected finite numbers",
    ),
    "a joint slot beyond the skin": (
        skinned([[1, 0, 0, 0]] * 3, joints=[[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]]),
        "nodes[0]: its mesh uses joint slot 2, but skins[0] has 2 joints",
    ),
    "times that run back": (
        animated("rotation", [1, 0], TURNS),
        "expected increasing times, found 0 after 1 at key 1",
    ),
    "times that are no numbers": (animated("rotation", [0, np.nan], TURNS), "are not finite"),
    "a rotation of zero": (
        animated("rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 0, 0]]),
        "animations[0].channels[0]: the rotation at key 1 is zero",
    ),
    "values that are no numbers": (
        animated("translation", [0], [[0, np.inf, 0]]),
        "animations[0].channels[0]: track 0 translation.values",
    ),
}


@pytest.mark.parametrize(("sketch", "message"), INVALID.values(), ids=INVALID.keys())
def test_data_that_contradict_themselves(sketch: Sketch, message: str):
    with pytest.raises(FormatError) as caught:
        character(sketch)
    assert str(caught.value).startswith("x.glb: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "indices", "topology", "faces"),
    [
        (0, [0, 2], "points", [[0], [2]]),
        (1, [0, 1, 2, 3], "lines", [[0, 1], [2, 3]]),
        (2, [0, 1, 2], "lines", [[0, 1], [1, 2], [2, 0]]),
        (3, [0, 1, 2], "lines", [[0, 1], [1, 2]]),
        (4, [0, 1, 2, 2, 1, 3], "triangles", [[0, 1, 2], [2, 1, 3]]),
        (5, [0, 1, 2, 3, 4], "triangles", [[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        (6, [5, 1, 2, 3], "triangles", [[1, 2, 5], [2, 3, 5]]),
        (5, [0, 1], "triangles", []),
        (2, [3], "lines", []),
    ],
)
def test_every_mode_becomes_separate_faces(mode, indices, topology, faces):
    (mesh,) = character(with_indices(indices, mode)).meshes
    assert mesh.parts[0].topology == topology
    assert mesh.parts[0].faces.tolist() == faces
    assert mesh.parts[0].faces.dtype == np.int32


def test_without_indices_vertices_follow_each_other():
    (mesh,) = character(with_positions(np.zeros((6, 3)))).meshes
    assert mesh.parts[0].faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_left_over_corners_are_ignored_with_a_note():
    found = character(with_indices([0, 1, 2, 3]))
    assert codes(found) == ["primitive-incomplete"]
    assert found.meshes[0].parts[0].faces.tolist() == [[0, 1, 2]]


def test_primitives_that_share_accessors_share_a_geometry():
    sketch = triangle(NORMAL=([[0, 0, 1]] * 3, "f4", {}))
    first = sketch.tree["meshes"][0]["primitives"][0]
    other = {"attributes": {"POSITION": first["attributes"]["POSITION"]}}
    custom = {"attributes": {**first["attributes"], "_HEAT": 0}, "material": 0}
    sketch.tree["materials"] = [{}]
    sketch.tree["meshes"][0]["primitives"] = [first, other, first, custom]
    sketch.tree["meshes"].append({"primitives": [first]})
    found = character(sketch)
    assert [part.geometry for part in found.meshes[0].parts] == [0, 1, 0, 0]
    assert len(found.meshes[0].geometries) == 2
    assert found.meshes[1].geometries[0] is found.meshes[0].geometries[0]
    assert codes(found) == ["attributes-carried"]


def test_a_primitive_without_positions_shows_nothing():
    sketch = with_indices([0, 1, 2])
    shared = sketch.tree["meshes"][0]["primitives"][0]["indices"]
    empty = {"attributes": {}, "indices": shared}
    sketch.tree["meshes"][0]["primitives"].insert(0, empty)
    found = character(sketch)
    assert [len(part.faces) for part in found.meshes[0].parts] == [0, 1]
    assert codes(found) == ["primitive-without-position"]


def test_quantized_attributes_become_floats():
    sketch = triangle(
        NORMAL=([[127, 0, 0], [-128, 0, 0], [0, 127, 0]], "i1", {"normalized": True}),
        TEXCOORD_0=([[0, 255], [51, 0], [0, 0]], "u1", {"normalized": True}),
        TEXCOORD_1=([[1, 2], [3, 4], [5, 6]], "u2", {}),
        COLOR_0=([[65535, 0, 0]] * 3, "u2", {"normalized": True}),
    )
    geometry = character(sketch).meshes[0].geometries[0]
    assert geometry.normals is not None
    assert geometry.normals[1].tolist() == [-1, 0, 0]
    assert geometry.uvs[0].tolist() == [[0, 1], [np.float32(0.2), 0], [0, 0]]
    assert geometry.uvs[1].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert geometry.colors[0].tolist() == [[1, 0, 0, 1]] * 3


def test_normals_that_are_no_numbers_become_zero_with_a_note():
    found = character(triangle(NORMAL=([[np.nan, 0, 1]] * 3, "f4", {})))
    normals = found.meshes[0].geometries[0].normals
    assert normals is not None
    assert normals.tolist() == [[0, 0, 1]] * 3
    assert "not-finite" in codes(found)


class TestInfluences:
    @pytest.mark.parametrize(
        ("row", "expected", "code"),
        [
            ([0.7, 0.3, 0, 0], [0.7, 0.3, 0, 0], None),
            ([0.5, 0, 0.5, 0], [0.5, 0, 0.5, 0], None),
            ([0.8, 0.4, 0, 0], [2 / 3, 1 / 3, 0, 0], "weights-renormalised"),
            ([0.2, 0.2, 0, 0], [0.5, 0.5, 0, 0], "weights-renormalised"),
            ([0.7, 0.299, 0, 0], [0.7 / 0.999, 0.299 / 0.999, 0, 0], "weights-rounded"),
            ([0, 0, 0, 0], [0, 0, 0, 0], "weights-zero-sum"),
            ([1.5, -0.5, 0, 0], [1, 0, 0, 0], "weights-negative"),
            ([np.nan, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], "weights-not-finite"),
            ([np.inf, 0, 1, 0], [0, 0, 1, 0], "weights-not-finite"),
            ([np.nan, -1, 0, 0], [0, 0, 0, 0], "weights-zero-sum"),
        ],
    )
    def test_rows_sum_to_one_or_nothing(self, row, expected, code):
        sketch = skinned([[1, 0, 0, 0], row, [0, 1, 0, 0]])
        found = character(sketch)
        weights = found.meshes[0].geometries[0].weights
        assert weights is not None
        assert np.allclose(weights[1], expected, rtol=1e-7, atol=0)
        assert weights[[0, 2]].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
        weight_codes = [name for name in codes(found) if name.startswith("weights")]
        assert (code in weight_codes) if code else not weight_codes

    def test_bytes_that_do_not_sum_to_255_are_evened_out(self):
        found = character(skinned([[85, 85, 84, 0]] * 3, "u1"))
        weights = found.meshes[0].geometries[0].weights
        assert weights is not None
        assert np.abs(weights.sum(axis=1, dtype=np.float64) - 1).max() < 1e-7
        assert codes(found) == ["weights-rounded"]

    def test_all_sets_count(self):
        row = np.array([[0.1, 0.2, 0.05, 0.05, 0.1, 0.2, 0.1, 0.1, 0.025, 0.025, 0.025, 0.025]])
        slots = np.tile([0, 1, 0, 1], (3, 3))
        found = character(skinned(np.tile(row, (3, 1)), joints=slots))
        geometry = found.meshes[0].geometries[0]
        assert geometry.joints is not None
        assert geometry.weights is not None
        assert geometry.joints.shape == geometry.weights.shape == (3, 12)
        assert np.array_equal(geometry.joints, slots)
        assert np.allclose(geometry.weights, row, atol=1e-7)

    def test_a_slot_without_weight_may_be_out_of_range(self):
        found = character(skinned([[1, 0, 0, 0]] * 3, joints=[[1, 9, 9, 9]] * 3))
        assert found.attachments[0].skin == 0


class TestSkins:
    def test_missing_inverse_bind_matrices_are_identity(self):
        (skin,) = character(skinned([[1, 0, 0, 0]] * 3)).skins
        assert skin.inverse_bind_matrices.tolist() == [np.eye(4).tolist()] * 2

    def test_matrices_are_stored_by_column_and_may_be_more_than_joints(self):
        sketch = skinned([[1, 0, 0, 0]] * 3)
        matrices = np.tile(np.eye(4), (3, 1, 1))
        matrices[1, :3, 3] = [1, 2, 3]
        sketch.tree["skins"][0]["inverseBindMatrices"] = sketch.add(matrices)
        (skin,) = character(sketch).skins
        assert skin.inverse_bind_matrices.shape == (2, 4, 4)
        assert skin.inverse_bind_matrices[1, :, 3].tolist() == [1, 2, 3, 1]
        start = sketch.tree["bufferViews"][-1]["byteOffset"] + 64 + 48
        assert struct.unpack_from("<3f", sketch.data, start) == (1, 2, 3)

    def test_a_wrong_last_row_is_repaired_with_a_note(self):
        sketch = skinned([[1, 0, 0, 0]] * 3)
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[0, 3, 3] = 0
        sketch.tree["skins"][0]["inverseBindMatrices"] = sketch.add(matrices)
        found = character(sketch)
        assert found.skins[0].inverse_bind_matrices[0, 3].tolist() == [0, 0, 0, 1]
        assert codes(found) == ["inverse-bind-last-row"]


class TestNodes:
    def test_nodes_keep_their_order_and_names(self):
        sketch = Sketch(nodes=[{"name": "b"}, {"name": "a", "children": [0, 2]}, {}])
        skeleton = character(sketch).skeleton
        assert skeleton.names == ("b", "a", "")
        assert skeleton.parents.tolist() == [1, -1, 1]

    @pytest.mark.parametrize("scale", [(1, 1, 1), (2, 3, 4), (-2, 1, 1), (-1, -1, -1), (0, 1, 1)])
    @pytest.mark.parametrize("turn", [(0, 0, 0, 1), (0.5, 0.5, 0.5, 0.5), (0, 1, 0, 0)])
    def test_matrices_are_decomposed(self, scale, turn):
        x, y, z, w = turn
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        matrix = np.eye(4)
        matrix[:3, :3] = rotation * scale
        matrix[:3, 3] = [1, 2, 3]
        found = character(Sketch(nodes=[{"matrix": matrix.T.ravel().tolist()}]))
        skeleton = found.skeleton
        assert codes(found) == []
        assert skeleton.translations[0].tolist() == [1, 2, 3]
        qx, qy, qz, qw = skeleton.rotations[0]
        again = np.array(
            [
                [1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qz * qw), 2 * (qx * qz + qy * qw)],
                [2 * (qx * qy + qz * qw), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qx * qw)],
                [2 * (qx * qz - qy * qw), 2 * (qy * qz + qx * qw), 1 - 2 * (qx * qx + qy * qy)],
            ]
        )
        assert np.allclose(again * skeleton.scales[0], matrix[:3, :3], atol=1e-12)

    def test_shear_is_left_out_with_a_note(self):
        matrix = np.eye(4)
        matrix[0, 1] = 0.5
        found = character(Sketch(nodes=[{"matrix": matrix.T.ravel().tolist()}]))
        assert codes(found) == ["matrix-not-trs"]
        assert np.isfinite(found.skeleton.rotations).all()

    def test_a_matrix_of_zeros_hides(self):
        matrix = [0.0] * 15 + [1.0]
        found = character(Sketch(nodes=[{"matrix": matrix}]))
        assert found.skeleton.scales[0].tolist() == [0, 0, 0]
        assert codes(found) == []

    def test_a_long_rotation_is_normalised(self):
        found = character(Sketch(nodes=[{"rotation": [0, 0, 3, 4]}]))
        assert found.skeleton.rotations[0].tolist() == [0, 0, 0.6, 0.8]
        assert codes(found) == ["rotation-not-unit"]

    def test_scenes(self):
        sketch = Sketch(
            nodes=[{}, {}], scenes=[{"nodes": [1], "name": "one"}, {"nodes": [0, 1]}, {}], scene=1
        )
        found = character(sketch)
        assert [scene.roots.tolist() for scene in found.scenes] == [[1], [0, 1], []]
        assert found.scenes[0].name == "one"
        assert found.default_scene == 1
        assert character(Sketch(nodes=[{}])).scenes == ()
        assert character(Sketch(nodes=[{}])).default_scene is None

    def test_instances_and_cameras_are_carried_with_a_note(self):
        sketch = triangle()
        sketch.tree["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {}}}
        sketch.tree["cameras"] = [{"type": "perspective"}]
        assert codes(character(sketch)) == ["carried", "instances-carried"]


def morphed() -> Sketch:
    sketch = triangle(NORMAL=([[0, 0, 1]] * 3, "f4", {}))
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    primitive["targets"] = [
        {"POSITION": sketch.add([[0, 0, 0], [0, 0, 2], [0, 0, 0]])},
        {
            "POSITION": sketch.add([[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
            "NORMAL": sketch.add([[0, 0, 0], [0, 0, 0], [0, 1, 0]]),
        },
        {"NORMAL": sketch.add([[0, 0, 0]] * 3)},
    ]
    return sketch


class TestMorphs:
    def test_only_rows_that_move_are_kept(self):
        first, second, third = character(morphed()).meshes[0].geometries[0].morphs
        assert first.indices.tolist() == [1]
        assert first.positions is not None
        assert first.positions.tolist() == [[0, 0, 2]]
        assert first.normals is None
        assert second.indices.tolist() == [0, 2]
        assert second.positions is not None
        assert second.normals is not None
        assert second.positions.tolist() == [[1, 0, 0], [0, 0, 0]]
        assert second.normals.tolist() == [[0, 0, 0], [0, 1, 0]]
        assert third.positions is None
        assert third.normals is not None
        assert third.normals.shape == (0, 3)

    def test_tangent_deltas_have_three_components(self):
        sketch = triangle(TANGENT=([[1, 0, 0, 1]] * 3, "f4", {}))
        target = {"TANGENT": sketch.add([[0, 0, 0], [0, 1, 0], [0, 0, 0]])}
        sketch.tree["meshes"][0]["primitives"][0]["targets"] = [target]
        (morph,) = character(sketch).meshes[0].geometries[0].morphs
        assert morph.tangents is not None
        assert morph.tangents.tolist() == [[0, 1, 0]]

    def test_sparse_targets_are_not_spread_out(self):
        sketch = triangle()
        indices, values = sketch.view(b"\1\2"), sketch.view(np.float32([0] * 3 + [1] * 3).tobytes())
        sparse = {
            "count": 2,
            "indices": {"bufferView": indices, "componentType": 5121},
            "values": {"bufferView": values},
        }
        bounds = {"min": [0, 0, 0], "max": [1, 1, 1]}
        index = sketch.accessor(componentType=5126, count=3, type="VEC3", sparse=sparse, **bounds)
        sketch.tree["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": index}]
        (morph,) = character(sketch).meshes[0].geometries[0].morphs
        assert morph.indices.tolist() == [2]
        assert morph.positions is not None
        assert morph.positions.tolist() == [[1, 1, 1]]

    def test_quantized_deltas(self):
        sketch = triangle()
        target = {"POSITION": sketch.add([[0, 0, 0], [0, 0, -3], [0, 0, 0]], "i1")}
        sketch.tree["meshes"][0]["primitives"][0]["targets"] = [target]
        (morph,) = character(sketch).meshes[0].geometries[0].morphs
        assert morph.positions is not None
        assert morph.positions.tolist() == [[0, 0, -3]]

    @pytest.mark.parametrize("holder", ["mesh", "primitive"])
    def test_names(self, holder: str):
        sketch = morphed()
        mesh = sketch.tree["meshes"][0]
        extras = {"targetNames": ["smile", 7]}
        (mesh if holder == "mesh" else mesh["primitives"][0])["extras"] = extras
        assert character(sketch).meshes[0].morph_names == ("smile", "", "")

    def test_weights_come_from_the_node_then_the_mesh_then_nothing(self):
        sketch = morphed()
        sketch.tree["meshes"][0]["weights"] = [0.5, 0, 1]
        sketch.tree["nodes"] = [{"mesh": 0}, {"mesh": 0, "weights": [0, 0.25, 0]}]
        found = character(sketch)
        assert found.meshes[0].morph_weights.tolist() == [0.5, 0, 1]
        weights = [attachment.morph_weights for attachment in found.attachments]
        assert [w.tolist() for w in weights if w is not None] == [[0.5, 0, 1], [0, 0.25, 0]]
        assert character(morphed()).meshes[0].morph_weights.tolist() == [0, 0, 0]

    def test_primitives_with_fewer_targets_are_filled_up(self):
        sketch = morphed()
        plain = {"attributes": sketch.tree["meshes"][0]["primitives"][0]["attributes"]}
        sketch.tree["meshes"][0]["primitives"].append(plain)
        found = character(sketch)
        assert [len(g.morphs) for g in found.meshes[0].geometries] == [3, 3]
        assert codes(found) == ["targets-unequal"]


class TestAnimations:
    def test_translation_and_scale(self):
        for path in ("translation", "scale"):
            (clip,) = character(animated(path, [0.5, 2], [[1, 2, 3], [4, 5, 6]])).clips
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
        (clip,) = character(animated("rotation", [0, 1], values, dtype)).clips
        assert clip.tracks[0].values.tolist() == TURNS
        assert clip.tracks[0].values.dtype == np.float32

    def test_cubic_keys_are_in_tangent_value_out_tangent(self):
        values = np.arange(18).reshape(6, 3)
        sketch = animated("translation", [0, 1], values, interpolation="CUBICSPLINE")
        (track,) = character(sketch).clips[0].tracks
        assert track.values.tolist() == values.reshape(2, 3, 3).tolist()

    def weights(self, values: Any, **sampler: Any) -> Sketch:
        sketch = morphed()
        samplers = [{"input": sketch.add([0, 1]), "output": sketch.add(values), **sampler}]
        channels = [{"sampler": 0, "target": {"node": 0, "path": "weights"}}]
        sketch.tree["animations"] = [{"channels": channels, "samplers": samplers}]
        return sketch

    def test_weights_are_one_flat_stream(self):
        (track,) = character(self.weights(np.arange(6))).clips[0].tracks
        assert track.values.tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_cubic_weights_hold_all_in_tangents_then_values_then_out_tangents(self):
        sketch = self.weights(np.arange(18), interpolation="CUBICSPLINE")
        (track,) = character(sketch).clips[0].tracks
        assert track.values.tolist() == [
            [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
            [[9, 10, 11], [12, 13, 14], [15, 16, 17]],
        ]

    def test_keys_at_the_same_time_are_kept_as_a_cut(self):
        found = character(animated("translation", [0, 1, 1, 1, 2], np.arange(15).reshape(5, 3)))
        times = found.clips[0].tracks[0].times
        assert (np.diff(times) > 0).all()
        assert np.allclose(times, [0, 1, 1, 1, 2], rtol=0, atol=1e-8)
        assert codes(found) == ["times-repeated"]

    def test_times_before_zero(self):
        found = character(animated("translation", [-1, 1], np.zeros((2, 3))))
        assert found.clips[0].start == -1
        assert codes(found) == ["times-negative"]

    def test_rotations_off_unit_are_normalised(self):
        found = character(animated("rotation", [0, 1], [[0, 0, 0, 2], [0, 0, 1.003, 0]]))
        values = found.clips[0].tracks[0].values
        assert values[0].tolist() == [0, 0, 0, 1]
        assert values[1, 2] == np.float32(1.003)  # rounding of stored forms is left alone
        assert codes(found) == ["rotation-not-unit"]

    def test_tangents_of_cubic_rotations_are_left_alone(self):
        values = np.array([[5, 0, 0, 0], [0, 0, 0, 2], [0, 7, 0, 0]] * 2)
        sketch = animated("rotation", [0, 1], values, interpolation="CUBICSPLINE")
        (track,) = character(sketch).clips[0].tracks
        assert track.values[0].tolist() == [[5, 0, 0, 0], [0, 0, 0, 1], [0, 7, 0, 0]]

    def test_the_first_of_two_channels_on_one_target_is_played(self):
        sketch = animated("translation", [0], [[1, 2, 3]])
        animation = sketch.tree["animations"][0]
        other = sketch.add([[7, 8, 9]])
        animation["samplers"].append({"input": animation["samplers"][0]["input"], "output": other})
        target = {"node": 0, "path": "translation"}
        animation["channels"].append({"sampler": 1, "target": target})
        found = character(sketch)
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
        found = character(sketch)
        assert len(found.clips[0].tracks) == 1
        assert codes(found) == ["animation-pointer", "channel-without-node"]

    def test_clips_can_be_read_alone(self):
        file = read_gltf(animated("translation", [0], [[1, 2, 3]]).glb())
        (clip,) = clips_from_gltf(file)
        assert clip.tracks[0].target == 0


class TestSurfaces:
    PNG = b"\x89PNG\r\n\x1a\n"

    def sketch(self) -> Sketch:
        sketch = triangle(TEXCOORD_0=(np.zeros((3, 2)), "f4", {}))
        sketch.tree["images"] = [
            {"bufferView": sketch.view(self.PNG + b"0"), "mimeType": "image/png", "name": "skin"},
            {"uri": "data:image/jpeg;base64,/9j/"},
        ]
        sketch.tree["textures"] = [
            {"source": 1},
            {"extensions": {"EXT_texture_webp": {"source": 0}}},
            {},
        ]
        sketch.tree["materials"] = [
            {
                "name": "face",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [1, 0.5, 0.25, 0.125],
                    "baseColorTexture": {"index": 0, "texCoord": 0},
                },
                "alphaMode": "MASK",
                "alphaCutoff": 0.25,
                "doubleSided": True,
            },
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}, "alphaMode": "BLEND"},
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": 2}}},
            {},
        ]
        return sketch

    def test_materials(self):
        face, hair, none, plain = character(self.sketch()).materials
        assert (face.name, face.base_color) == ("face", (1, 0.5, 0.25, 0.125))
        assert (face.image, face.alpha_mode, face.alpha_cutoff) == (1, "mask", 0.25)
        assert face.double_sided
        assert (hair.image, hair.alpha_mode) == (0, "blend")
        assert none.image is None
        assert plain.base_color == (1, 1, 1, 1)

    def test_images(self):
        first, second = character(self.sketch()).images
        assert (first.data, first.mime_type, first.name) == (self.PNG + b"0", "image/png", "skin")
        assert (second.data, second.mime_type) == (b"\xff\xd8\xff", "image/jpeg")

    def test_a_missing_image_is_noted(self, tmp_path):
        sketch = triangle()
        sketch.tree["images"] = [{"uri": "gone.png"}, {}, {"uri": "../gone.png"}]
        (tmp_path / "x.glb").write_bytes(sketch.glb())
        found = character_from_gltf(read_gltf(tmp_path / "x.glb"))
        assert codes(found) == ["image-missing"] * 3
        assert [image.data for image in found.images] == [b""] * 3
