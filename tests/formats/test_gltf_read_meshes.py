"""Reading primitives, influences and morph targets."""

from __future__ import annotations

import numpy as np
import pytest

from tests.formats.reading import codes, read
from tests.formats.sketch import morphed, skinned, triangle, with_indices, with_positions


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
    (mesh,) = read(with_indices(indices, mode)).meshes
    assert mesh.parts[0].topology == topology
    assert mesh.parts[0].faces.tolist() == faces
    assert mesh.parts[0].faces.dtype == np.int32


def test_without_indices_vertices_follow_each_other():
    (mesh,) = read(with_positions(np.zeros((6, 3)))).meshes
    assert mesh.parts[0].faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_left_over_corners_are_ignored_with_a_note():
    found = read(with_indices([0, 1, 2, 3]))
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
    found = read(sketch)
    assert [part.geometry for part in found.meshes[0].parts] == [0, 1, 0, 0]
    assert len(found.meshes[0].geometries) == 2
    assert found.meshes[1].geometries[0] is found.meshes[0].geometries[0]
    assert codes(found) == ["attributes-carried"]


def test_a_primitive_without_positions_shows_nothing():
    sketch = with_indices([0, 1, 2])
    shared = sketch.tree["meshes"][0]["primitives"][0]["indices"]
    empty = {"attributes": {}, "indices": shared}
    sketch.tree["meshes"][0]["primitives"].insert(0, empty)
    found = read(sketch)
    assert [len(part.faces) for part in found.meshes[0].parts] == [0, 1]
    assert codes(found) == ["primitive-without-position"]


def test_quantized_attributes_become_floats():
    sketch = triangle(
        NORMAL=([[127, 0, 0], [-128, 0, 0], [0, 127, 0]], "i1", {"normalized": True}),
        TEXCOORD_0=([[0, 255], [51, 0], [0, 0]], "u1", {"normalized": True}),
        TEXCOORD_1=([[1, 2], [3, 4], [5, 6]], "u2", {}),
        COLOR_0=([[65535, 0, 0]] * 3, "u2", {"normalized": True}),
    )
    geometry = read(sketch).meshes[0].geometries[0]
    assert geometry.normals is not None
    assert geometry.normals[1].tolist() == [-1, 0, 0]
    assert geometry.uvs[0].tolist() == [[0, 1], [np.float32(0.2), 0], [0, 0]]
    assert geometry.uvs[1].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert geometry.colors[0].tolist() == [[1, 0, 0, 1]] * 3


def test_normals_that_are_no_numbers_become_zero_with_a_note():
    found = read(triangle(NORMAL=([[np.nan, 0, 1]] * 3, "f4", {})))
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
        found = read(sketch)
        weights = found.meshes[0].geometries[0].weights
        assert weights is not None
        assert np.allclose(weights[1], expected, rtol=1e-7, atol=0)
        assert weights[[0, 2]].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
        weight_codes = [name for name in codes(found) if name.startswith("weights")]
        assert (code in weight_codes) if code else not weight_codes

    def test_bytes_that_do_not_sum_to_255_are_evened_out(self):
        found = read(skinned([[85, 85, 84, 0]] * 3, "u1"))
        weights = found.meshes[0].geometries[0].weights
        assert weights is not None
        assert np.abs(weights.sum(axis=1, dtype=np.float64) - 1).max() < 1e-7
        assert codes(found) == ["weights-rounded"]

    def test_all_sets_count(self):
        row = np.array([[0.1, 0.2, 0.05, 0.05, 0.1, 0.2, 0.1, 0.1, 0.025, 0.025, 0.025, 0.025]])
        slots = np.tile([0, 1, 0, 1], (3, 3))
        found = read(skinned(np.tile(row, (3, 1)), joints=slots))
        geometry = found.meshes[0].geometries[0]
        assert geometry.joints is not None
        assert geometry.weights is not None
        assert geometry.joints.shape == geometry.weights.shape == (3, 12)
        assert np.array_equal(geometry.joints, slots)
        assert np.allclose(geometry.weights, row, atol=1e-7)

    def test_a_slot_without_weight_may_be_out_of_range(self):
        found = read(skinned([[1, 0, 0, 0]] * 3, joints=[[1, 9, 9, 9]] * 3))
        assert found.attachments[0].skin == 0


class TestMorphs:
    def test_only_rows_that_move_are_kept(self):
        first, second, third = read(morphed()).meshes[0].geometries[0].morphs
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
        (morph,) = read(sketch).meshes[0].geometries[0].morphs
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
        (morph,) = read(sketch).meshes[0].geometries[0].morphs
        assert morph.indices.tolist() == [2]
        assert morph.positions is not None
        assert morph.positions.tolist() == [[1, 1, 1]]

    def test_quantized_deltas(self):
        sketch = triangle()
        target = {"POSITION": sketch.add([[0, 0, 0], [0, 0, -3], [0, 0, 0]], "i1")}
        sketch.tree["meshes"][0]["primitives"][0]["targets"] = [target]
        (morph,) = read(sketch).meshes[0].geometries[0].morphs
        assert morph.positions is not None
        assert morph.positions.tolist() == [[0, 0, -3]]

    @pytest.mark.parametrize("holder", ["mesh", "primitive"])
    def test_names(self, holder: str):
        sketch = morphed()
        mesh = sketch.tree["meshes"][0]
        extras = {"targetNames": ["smile", 7]}
        (mesh if holder == "mesh" else mesh["primitives"][0])["extras"] = extras
        assert read(sketch).meshes[0].morph_names == ("smile", "", "")

    def test_weights_come_from_the_node_then_the_mesh_then_nothing(self):
        sketch = morphed()
        sketch.tree["meshes"][0]["weights"] = [0.5, 0, 1]
        sketch.tree["nodes"] = [{"mesh": 0}, {"mesh": 0, "weights": [0, 0.25, 0]}]
        found = read(sketch)
        assert found.meshes[0].morph_weights.tolist() == [0.5, 0, 1]
        weights = found.rest_pose().morph_weights
        assert [w.tolist() for w in weights] == [[[0.5, 0, 1]], [[0, 0.25, 0]]]
        assert read(morphed()).meshes[0].morph_weights.tolist() == [0, 0, 0]

    def test_primitives_with_fewer_targets_are_filled_up(self):
        sketch = morphed()
        plain = {"attributes": sketch.tree["meshes"][0]["primitives"][0]["attributes"]}
        sketch.tree["meshes"][0]["primitives"].append(plain)
        found = read(sketch)
        assert [len(g.morphs) for g in found.meshes[0].geometries] == [3, 3]
        assert codes(found) == ["targets-unequal"]
