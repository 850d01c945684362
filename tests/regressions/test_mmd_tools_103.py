"""powroupi/blender_mmd_tools #103: vertices that name a bone twice, or weigh little, stood still.

https://github.com/powroupi/blender_mmd_tools/issues/103
"""

from dataclasses import replace

import numpy as np

from bunraku.formats.mmd import Deform, PmxBone, PmxFile, PmxVertices, character_from_pmx


def test_shares_of_the_same_bone_add_up_and_small_ones_count():
    vertices = replace(
        PmxVertices.empty(2),
        deform=np.full(2, Deform.BDEF4, np.uint8),
        bones=np.array([[1, 1, 0, 0], [1, 0, 0, 0]], np.int32),
        weights=np.array([[0.5, 0.5, 0, 0], [1e-6, 0, 0, 0]], np.float32),
    )
    file = PmxFile(vertices=vertices, bones=(PmxBone("a"), PmxBone("下半身")))
    geometry = character_from_pmx(file).meshes[0].geometries[0]
    shares = np.zeros((2, 2))
    for slot in range(geometry.joints.shape[1]):
        np.add.at(shares, ([0, 1], geometry.joints[:, slot]), geometry.weights[:, slot])
    assert shares.tolist() == [[0, 1], [0, 1]]
