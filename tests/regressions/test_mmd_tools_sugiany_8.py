"""sugiany/blender_mmd_tools #8: bones of weights were read with the size of vertex indices.

https://github.com/sugiany/blender_mmd_tools/issues/8
"""

from dataclasses import replace

import numpy as np

from bunraku.formats.mmd import IndexSizes, PmxBone, PmxFile, PmxVertices, pmx_bytes, read_pmx


def test_vertex_and_bone_indices_of_different_sizes():
    vertices = replace(
        PmxVertices.empty(3),
        deform=np.array([2, 1, 0], np.uint8),
        bones=np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], np.int32),
    )
    for sizes in (IndexSizes(vertex=4, bone=1), IndexSizes(vertex=1, bone=4)):
        bones = (PmxBone("a"), PmxBone("b"))
        model = read_pmx(pmx_bytes(PmxFile(vertices=vertices, bones=bones, index_sizes=sizes)))
        assert model.index_sizes == sizes
        assert model.vertices.deform.tolist() == [2, 1, 0]
        np.testing.assert_array_equal(model.vertices.bones, vertices.bones)
