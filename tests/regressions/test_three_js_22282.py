"""three.js #22282: curves of Z and rotation were read where MMD keeps its physics switch.

https://github.com/mrdoob/three.js/issues/22282
"""

from bunraku.formats.mmd import bone_curves

# a key of current MMD: row 0 has 00 00 instead of x1 of Z and of the rotation
ROW_0 = bytes([20, 20, 0, 0, 20, 20, 20, 0, 107, 107, 107, 20, 107, 107, 107, 127])
FULL = bytes([20, 20, 20, 60, 20, 20, 20, 0, 107, 107, 107, 20, 107, 107, 107, 127])


def test_the_rotation_curve_starts_where_the_file_says():
    import numpy as np

    raw = ROW_0 + FULL[1:] + b"\1" + FULL[2:] + b"\1\0" + FULL[3:] + b"\1\0\0"
    curves = bone_curves(np.frombuffer(raw, np.uint8)[None])
    assert curves[0].tolist() == [[20, 20, 107, 107]] * 3 + [[60, 0, 20, 127]]
