"""powroupi/blender_mmd_tools #299: motions for bones with names past 15 bytes were lost.

https://github.com/powroupi/blender_mmd_tools/issues/299
"""

import numpy as np

from bunraku.formats.mmd import BONE_KEY, VmdFile, name_key, read_vmd, tracks, vmd_bytes


def test_a_long_name_is_found_by_its_first_fifteen_bytes():
    names = ["左袖ひらひら_上_1_先", "左袖ひらひら_上_2_先"]
    keys = np.zeros(2, BONE_KEY)
    keys["name"] = [name_key(name) for name in names]
    motion = read_vmd(vmd_bytes(VmdFile(bones=keys)))
    found = tracks(motion.bones)
    assert all(len(name_key(name) or b"") == 15 for name in names)
    assert name_key(names[0]) in found
    # both names are the same to MMD: their first difference comes after byte 15
    assert name_key(names[0]) == name_key(names[1])
    assert {name: order.tolist() for name, order in found.items()} == {name_key(names[0]): [0, 1]}
