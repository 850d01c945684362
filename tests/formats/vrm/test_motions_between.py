"""A motion on one figure, written as a VRM animation, is the same motion for any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.formats import load, save_clip
from bunraku.motion import bind, sample
from bunraku.posing import global_transforms
from bunraku.retargeting import retarget

FIGURES = {
    "0.x": "V-Sekai__godot-vrm__Godette_vrm_v4.vrm",
    "1.0": "arkavo-org__VRMMetalKit__smoke_spring.vrm",
}
TARGETS = ["vrm-c__UniVRM__EmissionMigration_v0.107.0.vrm"]
TARGETS += ["vrm-c__vrm-specification__VRMC_materials_mtoon_UV_Animation_Test.vrm"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES.keys())
def test_by_way_of_a_file(corpus: Path, tmp_path: Path, figure: str, target: str):
    folder = corpus / "vrm_mmd"
    dancer = load(folder / "pixiv__ChatVRM__idle_loop.vrma")
    middle, end = load(folder / figure), load(folder / target)
    on_middle = retarget(dancer.clips[0], dancer, middle)
    save_clip(on_middle, tmp_path / "x.vrma", middle)
    again = load(tmp_path / "x.vrma")
    carried = retarget(again.clips[0], again, end)
    direct = retarget(dancer.clips[0], dancer, end)
    times = np.array([0.0, 2.5, 7.0])
    one, other = (
        global_transforms(end.skeleton, sample(bind(clip, end), times))
        for clip in (carried, direct)
    )
    # What the figure in the middle has no bone for turns what hangs below: all others turn alike.
    bones = end.humanoid.bones
    nodes = [bones[bone] for bone in bones.keys() & middle.humanoid.bones.keys()]
    np.testing.assert_allclose(one[:, nodes, :, :3], other[:, nodes, :, :3], atol=2e-5)
    hips = bones["hips"]
    np.testing.assert_allclose(one[:, hips, :, 3], other[:, hips, :, 3], atol=1e-5)
