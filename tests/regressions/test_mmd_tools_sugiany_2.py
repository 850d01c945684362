"""sugiany/blender_mmd_tools #2: a name cut through a letter stopped the import.

https://github.com/sugiany/blender_mmd_tools/issues/2
"""

import numpy as np

from bunraku.formats.mmd import MORPH_KEY, VmdFile, name_key, read_vmd, tracks, vmd_bytes


def test_half_a_letter_at_the_end_of_a_name():
    model = "こっち向いてBabyキオゴスミク".encode("cp932")[:18] + b"\x88\0"
    keys = np.zeros(1, MORPH_KEY)
    name = "スカート後ろ左長い"
    keys["name"] = name.encode("cp932")[:15]  # ends within 左
    data = bytearray(vmd_bytes(VmdFile(morphs=keys)))
    data[30:50] = model
    motion = read_vmd(bytes(data))
    assert motion.model_name.endswith("�")
    assert list(tracks(motion.morphs)) == [name_key(name)]
    assert vmd_bytes(motion) == data
