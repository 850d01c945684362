"""Reading nodes, scenes and skins."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.formats.reading import codes, read
from tests.formats.sketch import Sketch, skinned, triangle


class TestSkins:
    def test_missing_inverse_bind_matrices_are_identity(self):
        (skin,) = read(skinned([[1, 0, 0, 0]] * 3)).skins
        assert skin.inverse_bind_matrices.tolist() == [np.eye(4).tolist()] * 2

    def test_matrices_are_stored_by_column_and_may_be_more_than_joints(self):
        sketch = skinned([[1, 0, 0, 0]] * 3)
        matrices = np.tile(np.eye(4), (3, 1, 1))
        matrices[1, :3, 3] = [1, 2, 3]
        sketch.tree["skins"][0]["inverseBindMatrices"] = sketch.add(matrices)
        (skin,) = read(sketch).skins
        assert skin.inverse_bind_matrices.shape == (2, 4, 4)
        assert skin.inverse_bind_matrices[1, :, 3].tolist() == [1, 2, 3, 1]
        start = sketch.tree["bufferViews"][-1]["byteOffset"] + 64 + 48
        assert struct.unpack_from("<3f", sketch.data, start) == (1, 2, 3)

    def test_a_wrong_last_row_is_repaired_with_a_note(self):
        sketch = skinned([[1, 0, 0, 0]] * 3)
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[0, 3, 3] = 0
        sketch.tree["skins"][0]["inverseBindMatrices"] = sketch.add(matrices)
        found = read(sketch)
        assert found.skins[0].inverse_bind_matrices[0, 3].tolist() == [0, 0, 0, 1]
        assert codes(found) == ["inverse-bind-last-row"]


class TestNodes:
    def test_nodes_keep_their_order_and_names(self):
        sketch = Sketch(nodes=[{"name": "b"}, {"name": "a", "children": [0, 2]}, {}])
        skeleton = read(sketch).skeleton
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
        found = read(Sketch(nodes=[{"matrix": matrix.T.ravel().tolist()}]))
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
        found = read(Sketch(nodes=[{"matrix": matrix.T.ravel().tolist()}]))
        assert codes(found) == ["matrix-not-trs"]
        assert np.isfinite(found.skeleton.rotations).all()

    def test_a_matrix_of_zeros_hides(self):
        matrix = [0.0] * 15 + [1.0]
        found = read(Sketch(nodes=[{"matrix": matrix}]))
        assert found.skeleton.scales[0].tolist() == [0, 0, 0]
        assert codes(found) == []

    def test_a_long_rotation_is_normalised(self):
        found = read(Sketch(nodes=[{"rotation": [0, 0, 3, 4]}]))
        assert found.skeleton.rotations[0].tolist() == [0, 0, 0.6, 0.8]
        assert codes(found) == ["rotation-not-unit"]

    def test_scenes(self):
        sketch = Sketch(
            nodes=[{}, {}], scenes=[{"nodes": [1], "name": "one"}, {"nodes": [0, 1]}, {}], scene=1
        )
        found = read(sketch)
        assert [scene.roots.tolist() for scene in found.scenes] == [[1], [0, 1], []]
        assert found.scenes[0].name == "one"
        assert found.default_scene == 1
        assert read(Sketch(nodes=[{}])).scenes == ()
        assert read(Sketch(nodes=[{}])).default_scene is None

    def test_instances_and_cameras_are_carried_with_a_note(self):
        sketch = triangle()
        sketch.tree["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {}}}
        sketch.tree["cameras"] = [{"type": "perspective"}]
        assert codes(read(sketch)) == ["carried", "instances-carried"]
