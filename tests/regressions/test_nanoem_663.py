"""hkrn/nanoem #663: a baked motion moved bones that follow others twice.

https://github.com/hkrn/nanoem/issues/663

The model makes them follow again, so that what they follow must not be in their keys.
"""

from pathlib import Path

import numpy as np

from bunraku import Clip, Stage, Track, bake, load_clips
from bunraku.formats.mmd import BoneFlag, PmxBone, PmxFile, character_from_pmx
from bunraku.rotation import quaternion


def test_keys_of_a_bone_that_follows_do_not_hold_what_it_follows(tmp_path: Path):
    follows = PmxBone("").flags | BoneFlag.APPEND_ROTATION
    model = character_from_pmx(
        PmxFile(bones=(PmxBone("源"), PmxBone("従", append=(0, 0.5), flags=follows)))
    )
    turns = quaternion.from_axis_angle([0, 0, 1], np.array([0, 1.5]))
    own = quaternion.from_axis_angle([1, 0, 0], np.array([0, 0.5]))
    tracks = (Track("源", "rotation", [0, 1], turns), Track("従", "rotation", [0, 1], own))
    bake(Stage(model, Clip("c", tracks)), tmp_path / "baked.vmd")
    (baked,) = load_clips(tmp_path / "baked.vmd")
    keys = {track.target: track.values[-1] for track in baked.tracks}
    np.testing.assert_allclose(keys["源"], turns[-1], atol=1e-6)
    np.testing.assert_allclose(keys["従"], own[-1], atol=1e-6)
