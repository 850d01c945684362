"""three-vrm as a judge: it sees in our files, and in others', what Bunraku sees."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.formats import load, save
from bunraku.model import Character, MorphBind
from tests.formats.vrm.figures import FACE, HAIR, META, NODES, figure_0, figure_1, loaded
from tests.formats.vrm.test_vrma import full, wave
from tests.formats.vrm.three_vrm import seen


def ours(character: Character) -> dict[str, Any]:
    """A character as three-vrm.mjs describes it."""
    rig = character.rig
    result: dict[str, Any] = {
        "bones": dict(character.humanoid.bones),
        "expressions": [
            {
                "name": each.preset or each.name,
                "binary": each.binary,
                "overrides": [each.override_mouth, each.override_blink, each.override_look],
                "morphs": [[b.target, b.weight] for b in each.binds if isinstance(b, MorphBind)],
            }
            for each in character.expressions
        ],
        "joints": [
            {
                "node": joint.node,
                "child": joint.child,
                "stiffness": joint.stiffness,
                "drag": joint.drag,
                "radius": joint.hit_radius,
                "colliders": len(spring.colliders),
            }
            for spring in (rig.springs if rig is not None else ())
            for joint in spring.joints
        ],
        "gaze": None,
    }
    if rig is not None and rig.look_at is not None:
        gaze = rig.look_at
        outputs = {n: getattr(gaze, n).output for n in ("inner", "outer", "down", "up")}
        if gaze.kind == "bone":
            outputs = {name: math.degrees(output) for name, output in outputs.items()}
        result["gaze"] = {"type": gaze.kind, "offset": gaze.offset.tolist()} | {
            name: [math.degrees(getattr(gaze, name).limit), output]
            for name, output in outputs.items()
        }
    return result


def theirs(report: dict[str, Any]) -> dict[str, Any]:
    for each in report["expressions"] or ():
        each.pop("binds")
    result = {key: report[key] for key in ("bones", "joints")}
    result["gaze"] = report.get("gaze")
    result["expressions"] = report["expressions"] or []
    return result


def assert_alike(a: Any, b: Any, place: str) -> None:
    if isinstance(a, dict):
        assert a.keys() == b.keys(), place
        for key in a:
            assert_alike(a[key], b[key], f"{place}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), place
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_alike(x, y, f"{place}[{i}]")
    elif isinstance(a, int | float) and not isinstance(a, bool):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12), place
    else:
        assert a == b, place


def test_it_sees_in_real_files_what_we_see(corpus: Path):
    characters = {}
    for path in sorted((corpus / "vrm_mmd").glob("*.vrm")):
        try:
            character = load(path)
        except BunrakuError:
            continue
        if not character.humanoid.missing:
            characters[path] = character
    assert len(characters) > 15
    for (path, character), report in zip(characters.items(), seen(characters), strict=True):
        assert "error" not in report, report.get("error")
        assert report["version"] == ("0" if character.facing == "-Z" else "1")
        assert_alike(theirs(report), ours(character), path.name)


def test_it_opens_what_we_write(corpus: Path, tmp_path: Path):
    characters = {}
    for path in sorted((corpus / "vrm_mmd").glob("*.vrm")):
        try:
            character = load(path)
        except BunrakuError:
            continue
        if not character.humanoid.missing:
            save(replace(character, document=None), tmp_path / path.name)
            characters[tmp_path / path.name] = character
    for (path, character), report in zip(characters.items(), seen(characters), strict=True):
        assert "error" not in report, report.get("error")
        # 0.x files without springs and faces get empty ones
        assert_alike(theirs(report), ours(character), path.name)


def springy(**group: Any) -> dict[str, Any]:
    whole = {"bones": [HAIR], "colliderGroups": [0], "stiffiness": 2, "hitRadius": 0.1, **group}
    ball = {"offset": {"x": 0, "y": 0, "z": 0.5}, "radius": 0.25}
    return {
        "boneGroups": [whole],
        "colliderGroups": [{"node": NODES["head"], "colliders": [ball]}],
    }


def test_it_sees_what_we_changed(tmp_path: Path):
    faces = {
        "preset": {"aa": {"morphTargetBinds": [{"node": FACE, "index": 0, "weight": 1}]}},
        "custom": {"wink": {}},
    }
    new = loaded(figure_1(expressions=faces, meta=META), tmp_path, "1.vrm")
    old = loaded(figure_0(secondaryAnimation=springy()), tmp_path, "0.vrm")
    louder = replace(new.expressions[0], binds=(MorphBind(0, 1, 0.5),), binary=True)
    new = replace(new, expressions=(louder, new.expressions[1]))
    softer = tuple(
        replace(spring, joints=tuple(replace(j, stiffness=0.5) for j in spring.joints))
        for spring in old.rig.springs
    )
    old = replace(old, rig=replace(old.rig, springs=softer))
    for character, name in ((new, "1.vrm"), (old, "0.vrm")):
        save(character, tmp_path / name)
    reports = seen([tmp_path / "1.vrm", tmp_path / "0.vrm"])
    for character, report in zip((new, old), reports, strict=True):
        assert_alike(theirs(report), ours(character), report["version"])
    assert reports[1]["joints"][2]["child"] is None


def test_it_plays_motions_we_write(tmp_path: Path):
    (tmp_path / "a.vrma").write_bytes(full().glb())
    figure = load(tmp_path / "a.vrma")
    save(replace(figure, document=None), tmp_path / "b.vrma")
    before, after = seen([tmp_path / "a.vrma", tmp_path / "b.vrma"])
    assert after == before | {"nodes": after["nodes"]}
    found = after["motion"]
    assert found["hips"] == [0, 0.9, 0]
    assert list(found["rotations"]) == ["head"]
    np.testing.assert_allclose(found["rotations"]["head"][1][4:], [0, 0.6, 0, 0.8], rtol=1e-6)
    assert found["translations"]["hips"][1][4] == pytest.approx(1.1)
    assert found["presets"]["happy"][1] == [0.25, 0.5]


def test_a_motion_of_0_x_turns_as_one_of_1_0(tmp_path: Path):
    for sketch, name in ((figure_1(), "1"), (figure_0(), "0")):
        character = loaded(sketch, tmp_path, f"{name}.vrm")
        save(replace(character, clips=(wave(),)), tmp_path / f"{name}.vrma")
    new, old = seen([tmp_path / "1.vrma", tmp_path / "0.vrma"])
    np.testing.assert_allclose(new["motion"]["rotations"]["head"][1][4:], [0, 0.6, 0, 0.8], 1e-6)
    # the same turn about the vertical, of a figure that looks the other way
    for path, bone in (("rotations", "head"), ("translations", "hips")):
        values = [each["motion"][path][bone][1] for each in (old, new)]
        np.testing.assert_allclose(*values, atol=1e-7)
