"""glTF #1929: what becomes of vertices whose weights are all zero?

https://github.com/KhronosGroup/glTF/issues/1929
"""

from bunraku.formats.gltf import character_from_gltf, read_gltf
from tests.formats.sketch import skinned


def test_they_stay_without_weight_and_are_reported():
    rows = [[0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]]
    character = character_from_gltf(read_gltf(skinned(rows).glb()))
    weights = character.meshes[0].geometries[0].weights
    assert weights is not None
    assert weights.tolist() == rows
    (note,) = character.notes
    assert note.code == "weights-zero-sum"
    assert note.message.startswith("2 of 3 vertices have no weight at all")
    assert note.place == "meshes[0].primitives[0].attributes"
