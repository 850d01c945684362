"""powroupi/blender_mmd_tools #71: unused slots of BDEF4 written as bone -1 spoiled the weights.

https://github.com/powroupi/blender_mmd_tools/issues/71
"""

from dataclasses import replace

import numpy as np

from bunraku.formats.mmd import Deform, PmxBone, PmxFile, PmxVertices, pmx_bytes, read_pmx


def test_slots_that_are_not_used_are_bone_0_of_weight_0():
    three = np.array([[0.5, 0.25, 0.25, 0]], np.float32)
    vertices = replace(
        PmxVertices.empty(1), deform=np.full(1, Deform.BDEF4, np.uint8), weights=three
    )
    data = pmx_bytes(PmxFile(vertices=vertices, bones=(PmxBone("a"),)))
    model = read_pmx(data)
    assert model.vertices.bones.tolist() == [[0, 0, 0, 0]]
    np.testing.assert_array_equal(model.vertices.weights, three)


def test_files_that_say_minus_1_are_read_and_kept():
    bones = np.array([[0, 0, 0, -1]], np.int32)
    vertices = replace(PmxVertices.empty(1), deform=np.full(1, Deform.BDEF4, np.uint8), bones=bones)
    data = pmx_bytes(PmxFile(vertices=vertices, bones=(PmxBone("a"),)))
    assert read_pmx(data).vertices.bones.tolist() == [[0, 0, 0, -1]]
    assert pmx_bytes(read_pmx(data)) == data
