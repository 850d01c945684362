"""babylon-mmd #80: a VMD that ends before its last sections was an error.

https://github.com/noname0310/babylon-mmd/issues/80 (also MMD.js #4)
"""

import numpy as np

from bunraku.formats.mmd import BONE_KEY, CAMERA_KEY, VmdFile, read_vmd, vmd_bytes


def test_a_motion_may_end_before_lights_self_shadow_and_switches():
    whole = vmd_bytes(VmdFile("m", bones=np.ones(3, BONE_KEY), cameras=np.ones(2, CAMERA_KEY)))
    for missing in (1, 2, 3):
        cut = read_vmd(whole[: -4 * missing])
        assert (len(cut.bones), len(cut.cameras), cut.sections) == (3, 2, 6 - missing)
        assert (len(cut.lights), len(cut.shadows), len(cut.properties)) == (0, 0, 0)
        assert cut.notes == ()
        assert vmd_bytes(cut) == whole[: -4 * missing]
