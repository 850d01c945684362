"""MMD-Blender/blender_mmd_tools #281: a motion with names that are no cp932 did not load.

https://github.com/MMD-Blender/blender_mmd_tools/issues/281
"""

import numpy as np

from bunraku.formats.mmd import (
    BONE_KEY,
    VmdFile,
    decode_field,
    name_key,
    read_vmd,
    tracks,
    vmd_bytes,
)


def test_names_in_gbk_are_kept_and_can_be_found():
    name = "骨骼飘带左"
    keys = np.zeros(2, BONE_KEY)
    keys["name"] = [name.encode("gbk"), b"\x81\xff\xfe"]
    data = vmd_bytes(VmdFile(bones=keys))
    motion = read_vmd(data)
    assert vmd_bytes(motion) == data
    assert name_key(name) is None
    assert name_key(name, encoding="gbk") in tracks(motion.bones)
    assert "�" in decode_field(motion.bones["name"][1])


def test_a_name_that_mmd_could_not_spell_is_empty():
    keys = np.zeros(1, BONE_KEY)
    keys["name"] = b"\0\x8d\xb6"
    assert list(tracks(keys)) == [b""]
