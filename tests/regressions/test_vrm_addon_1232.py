"""VRM-Addon-for-Blender #1232: a figure without an upper chest is a whole figure.

https://github.com/saturday06/VRM-Addon-for-Blender/issues/1232
"""

from pathlib import Path

import numpy as np

from bunraku.formats import load, save
from bunraku.motion import bind, sample
from bunraku.posing import global_transforms
from bunraku.retargeting import retarget
from tests.formats.vrm.figures import NODES, figure_1, noted, written
from tests.formats.vrm.test_vrma import motion

TURN = [[0, 0, 0, 1], [0, 0.6, 0, 0.8]]


def test_it_loads_and_is_written_without_complaint(tmp_path: Path):
    figure = load(written(figure_1(), tmp_path))
    assert "upperChest" not in figure.humanoid.bones
    assert figure.humanoid.missing == ()
    assert [figure.humanoid.parent(b) for b in ("neck", "leftUpperArm")] == ["chest", "chest"]
    assert noted(figure) == {}
    assert save(figure, tmp_path / "again.vrm") == ()


def test_what_an_upper_chest_does_is_done_by_what_hangs_on_it(tmp_path: Path):
    bones = {name: {"node": node} for name, node in NODES.items()} | {
        "chest": {"node": NODES["spine"]},
        "spine": {"node": len(NODES)},  # the node of the mood stands in for a lower spine
        "upperChest": {"node": NODES["chest"]},
    }
    sketch = motion((NODES["chest"], "rotation", TURN), humanoid={"humanBones": bones})
    hips, mood = sketch.tree["nodes"][0], sketch.tree["nodes"][len(NODES)]
    hips["children"] = [n if n != NODES["spine"] else len(NODES) for n in hips["children"]]
    mood["children"] = [NODES["spine"]]
    sketch.tree["scenes"] = [{"nodes": [0]}]
    dancer = load(written(sketch, tmp_path, "twist.vrma"))
    figure = load(written(figure_1(), tmp_path))
    clip = retarget(dancer.clips[0], dancer, figure)
    worlds = [
        global_transforms(who.skeleton, sample(bind(what, who), 1.0))[0, :, :, :3]
        for who, what in ((dancer, dancer.clips[0]), (figure, clip))
    ]
    for bone in ("neck", "head", "leftUpperArm", "rightHand"):
        np.testing.assert_allclose(*(world[NODES[bone]] for world in worlds), atol=1e-6)
    for bone in ("chest", "spine", "hips"):
        np.testing.assert_allclose(worlds[1][NODES[bone]], np.eye(3), atol=1e-6)
