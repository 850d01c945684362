"""powroupi/blender_mmd_tools #25: weights 0.008 and 0.765 became 0.235 and 0.765.

https://github.com/powroupi/blender_mmd_tools/issues/25
"""

from dataclasses import replace

import numpy as np

from bunraku.formats.mmd import (
    Deform,
    PmxBone,
    PmxFile,
    PmxVertices,
    character_from_pmx,
    pmx_bytes,
    pmx_from_character,
    read_pmx,
)


def test_weights_are_divided_by_their_sum_not_filled_up():
    loose = np.array([[0.008, 0.765, 0, 0]], np.float32)
    vertices = replace(
        PmxVertices.empty(1),
        deform=np.full(1, Deform.BDEF4, np.uint8),
        bones=np.array([[0, 1, 0, 0]], np.int32),
        weights=loose,
    )
    file = read_pmx(pmx_bytes(PmxFile(vertices=vertices, bones=(PmxBone("a"), PmxBone("b")))))
    character = character_from_pmx(file)
    geometry = character.meshes[0].geometries[0]
    np.testing.assert_allclose(geometry.weights, [[0.01035, 0.98965]], atol=1e-5)
    assert [note.code for note in character.notes] == ["weights-renormalised"]
    anew = pmx_from_character(replace(character, document=None))[0].vertices
    np.testing.assert_allclose(anew.weights[0, :2], [0.01035, 0.98965], atol=1e-5)
    assert anew.deform.tolist() == [Deform.BDEF2]
    # what was read and not changed stays as it was
    assert pmx_from_character(character)[0].vertices.weights.tolist() == loose.tolist()
