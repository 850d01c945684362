"""trimesh 5.2 ignores the sparse part of an accessor: the vertices stay where they were.

https://github.com/mikedh/trimesh
"""

from pathlib import Path

import numpy as np

from bunraku.formats import load


def test_sparse_values_replace_those_below(corpus: Path):
    folder = corpus / "gltf_usd_fbx_bvh/khronos-sample-assets/Models/SimpleSparseAccessor"
    character = load(folder / "glTF" / "SimpleSparseAccessor.gltf")
    positions = character.meshes[0].geometries[0].positions
    # a strip of 2 × 7 vertices, three of whose upper row are raised
    moved = {8: [1, 2, 0], 10: [3, 3, 0], 12: [5, 4, 0]}
    grid = np.array([[x, y, 0] for y in (0, 1) for x in range(7)], np.float32)
    for vertex, place in moved.items():
        grid[vertex] = place
    assert positions.tolist() == grid.tolist()
