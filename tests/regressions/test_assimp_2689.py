"""assimp #2689: keys of cubic splines were read one element apart instead of three.

https://github.com/assimp/assimp/issues/2689
"""

import numpy as np

from bunraku.formats.gltf import clips_from_gltf, read_gltf
from tests.formats.sketch import Sketch


def test_the_value_of_key_k_is_element_3k_plus_1():
    sketch = Sketch(nodes=[{}])
    elements = np.arange(27, dtype=np.float32).reshape(9, 3)
    sampler = {
        "input": sketch.add([0, 1, 2]),
        "output": sketch.add(elements),
        "interpolation": "CUBICSPLINE",
    }
    target = {"node": 0, "path": "translation"}
    sketch.tree["animations"] = [
        {"channels": [{"sampler": 0, "target": target}], "samplers": [sampler]}
    ]
    (clip,) = clips_from_gltf(read_gltf(sketch.glb()))
    (track,) = clip.tracks
    assert track.values[:, 1].tolist() == elements[1::3].tolist()
    assert track.values[:, 0].tolist() == elements[0::3].tolist()
    assert track.values[:, 2].tolist() == elements[2::3].tolist()
