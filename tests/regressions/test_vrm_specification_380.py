"""vrm-specification #380: the thumb's lowest joint is called proximal in 0.x, metacarpal in 1.0.

https://github.com/vrm-c/vrm-specification/issues/380
"""

from dataclasses import replace
from pathlib import Path

from bunraku.formats import load, save
from tests.formats.vrm.figures import HAIR, NODES, bare_figure, figure_0, figure_1, written

OLD = {"rightThumbProximal": 0, "rightThumbIntermediate": 1, "rightThumbDistal": 2}
NEW = {"rightThumbMetacarpal": 0, "rightThumbProximal": 1, "rightThumbDistal": 2}


def thumb(names: dict[str, int]) -> dict[str, int]:
    return {name: HAIR + place for name, place in names.items()}


def test_both_versions_mean_the_same_joints(tmp_path: Path):
    new = {name: {"node": node} for name, node in (NODES | thumb(NEW)).items()}
    old = [{"bone": name, "node": node} for name, node in (NODES | thumb(OLD)).items()]
    paths = (
        written(figure_1(humanoid={"humanBones": new}), tmp_path, "1.vrm"),
        written(figure_0(humanoid={"humanBones": old}), tmp_path, "0.vrm"),
    )
    for path in paths:
        assert load(path).humanoid.bones.items() >= thumb(NEW).items()


def test_each_version_is_written_by_its_own_names(tmp_path: Path):
    path = written(bare_figure(), tmp_path, "x.glb")
    humanoid = load(written(figure_1(), tmp_path)).humanoid
    whole = replace(humanoid, bones={**humanoid.bones, **thumb(NEW)})
    for facing in ("+Z", "-Z"):
        save(replace(load(path), humanoid=whole, facing=facing), tmp_path / "out.vrm")
        extensions = load(tmp_path / "out.vrm").document.json["extensions"]
        if facing == "+Z":
            bones = extensions["VRMC_vrm"]["humanoid"]["humanBones"]
            found = {name: bone["node"] for name, bone in bones.items()}
        else:
            bones = extensions["VRM"]["humanoid"]["humanBones"]
            found = {bone["bone"]: bone["node"] for bone in bones}
        names = NEW if facing == "+Z" else OLD
        assert {name: node for name, node in found.items() if "Thumb" in name} == thumb(names)
