"""PMX characters, VMD motions and bones as babylon-mmd and three.js compute them.

The engines' results are in MMD's own axes and units: ours are brought there.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import Character, Clip, Pose, Stage, load, load_clips
from bunraku.posing import evaluate
from tests.conftest import shared_folder

GOLDEN, CORPUS = shared_folder("golden"), shared_folder("corpus")
FOUND = GOLDEN is not None and CORPUS is not None
BABYLON = sorted(GOLDEN.glob("mmd_*.npz")) if GOLDEN is not None and FOUND else []
THREE = sorted(GOLDEN.glob("mmd3_*.npz")) if GOLDEN is not None and FOUND else []
pytestmark = pytest.mark.skipif(not FOUND, reason="no golden data: set BUNRAKU_CORPUS")

UNIT = 0.08
MIRROR = np.diag([1.0, 1, -1])

# babylon-mmd solves curves by 15 halvings, off by up to 8e-5 of the way between two keys and by
# 3e-5 on the keys themselves; we solve them exactly. On long chains that comes to 9e-4 units.
CURVES = 1e-3
# The engine's matrices are float32 and ours float64: 6e-6 units at most.
ROUNDING = 1e-5
# Its rotations are longer than 1 by up to 1.2e-3. MMD's readers keep them, and they scale what
# hangs on a bone; we make them unit quaternions, as every rotation is.
NOT_UNIT = "mmd_humanoid_openmmd"


def ids(path: Path) -> str:
    return path.stem


def having(what: str) -> list[Path]:
    """Files with a sample that has such an entry."""
    return [
        path
        for path in BABYLON
        if any(what in sample for sample in json.loads(str(np.load(path)["meta"]))["samples"])
    ]


@cache
def opened(path: Path) -> tuple[dict[str, np.ndarray], Any, Character]:
    with np.load(path) as data:
        arrays = dict(data)
    meta = json.loads(str(arrays.pop("meta")))
    assert CORPUS is not None
    character = load(CORPUS / meta["source"])
    changed = meta.get("ik_override")
    if changed:
        assert character.rig is not None
        chains = tuple(
            replace(chain, loops=changed["iteration"], step=changed["limitAngle"])
            for chain in character.rig.chains
        )
        character = replace(character, rig=replace(character.rig, chains=chains))
    return arrays, meta, character


@cache
def motion(name: str) -> Clip:
    assert GOLDEN is not None
    assert CORPUS is not None
    # The old layout of this one, which three.js was given, is not kept: both read alike here.
    name = name.replace(
        "golden/../raw/test_append_bone_oldlayout.vmd",
        "vrm_mmd/yohawing__unity-mmd-loader__test_append_bone.vmd",
    )
    inside = name.removeprefix("golden/")
    (clip,) = load_clips((GOLDEN if inside != name else CORPUS) / inside)
    return clip


def in_units(transforms: np.ndarray) -> np.ndarray:
    """(N, 3, 4) in MMD's left-handed axes and units."""
    turned = MIRROR @ transforms[:, :, :3] @ MIRROR
    moved = transforms[:, :, 3:] * np.array([[1.0], [1], [-1]]) / UNIT
    return np.concatenate([turned, moved], axis=2)


def engine_pose(character: Character, arrays: dict[str, np.ndarray], sample: Any) -> Pose:
    """The engine's own animated pose, as it is before appends and IK."""
    key, rest = sample["key"], character.skeleton
    turns = arrays[f"{key}/anim_rot"].astype(float) * [-1, -1, 1, 1]
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)  # see NOT_UNIT
    moves = arrays[f"{key}/anim_pos"].astype(float) * [1, 1, -1] * UNIT
    pose = character.rest_pose()
    states = sample.get("ik_states") or [1] * pose.ik.shape[1]
    return replace(
        pose,
        translations=rest.translations[None] + moves,
        rotations=turns[None],
        ik=np.array([states], bool),
    )


@pytest.mark.parametrize("path", BABYLON, ids=ids)
def test_bones_stand_where_babylon_mmd_puts_them_from_the_same_pose(path: Path) -> None:
    arrays, meta, character = opened(path)
    assert list(character.skeleton.names) == meta["bones"]
    for sample in meta["samples"]:
        _, found = evaluate(character, engine_pose(character, arrays, sample))
        expected = arrays[f"{sample['key']}/world"][:, :3]
        tolerance = 0.01 if path.stem == NOT_UNIT else ROUNDING
        np.testing.assert_allclose(in_units(found[0]), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("path", having("vmd"), ids=ids)
def test_bones_stand_where_babylon_mmd_puts_them_in_a_motion(path: Path) -> None:
    arrays, meta, character = opened(path)
    for sample in (sample for sample in meta["samples"] if "vmd" in sample):
        stage = Stage(character, motion(sample["vmd"]))
        time = sample["frame"] / 30
        found = in_units(stage.global_transforms(time)[0])
        expected = arrays[f"{sample['key']}/world"][:, :3]
        tolerance = 0.02 if path.stem == NOT_UNIT else CURVES
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
        on = stage.pose(time).ik[0].tolist()
        assert [bool(state) for state in sample["ik_states"]] == on


@pytest.mark.parametrize("path", having("nV"), ids=ids)
def test_vertices_stand_where_babylon_mmd_puts_them(path: Path) -> None:
    arrays, meta, character = opened(path)
    # The engine evaluates SDEF and QDEF in its shaders only; on the processor it is linear.
    linear = tuple(
        replace(
            mesh,
            geometries=tuple(replace(each, spherical=None, dual=None) for each in mesh.geometries),
        )
        for mesh in character.meshes
    )
    stage = Stage(replace(character, meshes=linear))
    for sample in meta["samples"]:
        pose = engine_pose(character, arrays, sample)
        names = [expression.name for expression in character.expressions]
        weights = np.zeros((1, len(names)))
        for name, weight in sample["morph_weights"].items():
            weights[0, names.index(name)] = weight
        bent = stage.deform_pose(replace(pose, expressions=weights)).positions[0]
        expected = arrays[f"{sample['key']}/pos"]
        found = bent[: len(expected)] * [1, 1, -1] / UNIT
        tolerance = 0.01 if path.stem == NOT_UNIT else 2e-6 * max(np.abs(expected).max(), 1)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_morphs_are_linear_between_keys() -> None:
    assert GOLDEN is not None
    arrays, meta, character = opened(GOLDEN / "mmd_vertex_morph.npz")
    for sample in meta["samples"]:
        if "vmd" in sample:
            stage = Stage(character, motion(sample["vmd"]))
            time = sample["frame"] / 30
            weights = stage.pose(time).expressions[0]
            for expression, weight in zip(character.expressions, weights, strict=True):
                expected = sample["morph_weights"].get(expression.name, 0)
                assert weight == pytest.approx(expected, abs=1e-7)
            found = stage.deform(time).positions[0] * [1, 1, -1] / UNIT
            np.testing.assert_allclose(found, arrays[f"{sample['key']}/pos"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["synth_humanoid_ik", "synth_append_axis"])
def test_both_layouts_of_a_motion_are_the_same_motion(name: str) -> None:
    assert CORPUS is not None
    model = {
        "synth_humanoid_ik": "HumanoidSampleModel",
        "synth_append_axis": "test_given_bone_comprehensive",
    }[name]
    character = load(CORPUS / f"vrm_mmd/yohawing__unity-mmd-loader__{model}.pmx")
    now, old = (
        Stage(character, motion(f"golden/{name}{suffix}.vmd")) for suffix in ("", "_oldlayout")
    )
    times = np.linspace(-0.1, 3, 63)
    np.testing.assert_array_equal(now.global_transforms(times), old.global_transforms(times))


def test_sdef_keeps_the_elbow_thick_where_linear_blending_does_not() -> None:
    assert GOLDEN is not None
    arrays, meta, character = opened(GOLDEN / "mmd_sdef_elbow.npz")
    (mesh,) = character.meshes
    (geometry,) = mesh.geometries
    assert geometry.spherical is not None
    farthest = 0.0
    for sample in meta["samples"]:
        pose = engine_pose(character, arrays, sample)
        bent = Stage(character).deform_pose(pose).positions[0] * [1, 1, -1] / UNIT
        away = np.abs(bent - arrays[f"{sample['key']}/pos"]).max(axis=1)
        others = np.setdiff1d(np.arange(len(away)), geometry.spherical.indices)
        assert away[others].max(initial=0) < 1e-5
        farthest = max(farthest, float(away.max()))
    assert farthest == pytest.approx(0.125, abs=0.01)


# ---------------------------------------------------------------- three.js


def disputed(character: Character) -> set[int]:
    """Bones that three.js treats in ways of its own.

    Its IK takes other steps (it knows no limits but for knees); it ignores what appends move, the
    local ones, and fixed axes. With them goes all that hangs on such bones or takes from them.
    """
    rig, skeleton = character.rig, character.skeleton
    assert rig is not None
    nodes = {link.node for chain in rig.chains for link in chain.links}
    nodes |= {fixed.node for fixed in rig.fixed_axes}
    nodes |= {append.node for append in rig.appends if append.translation or append.local}
    while True:
        more = {i for i, parent in enumerate(skeleton.parents.tolist()) if parent in nodes}
        more |= {append.node for append in rig.appends if append.source in nodes}
        if more <= nodes:
            return nodes
        nodes |= more


@pytest.mark.parametrize("path", THREE, ids=ids)
def test_undisputed_bones_stand_where_three_puts_them(path: Path) -> None:
    arrays, meta, character = opened(path)
    agreed = sorted(set(range(len(character.skeleton))) - disputed(character))
    assert len(agreed) > 5
    stage = Stage(character, motion(meta["vmd"]))
    for sample in meta["samples"]:
        found = stage.global_transforms(sample["frame"] / 30)[0]
        expected = arrays[f"{sample['key']}/world"][:, :3].copy()
        expected[:, :, 3] *= UNIT
        tolerance = 2e-3 if "openmmd" in path.stem else 1e-4
        np.testing.assert_allclose(found[agreed], expected[agreed], rtol=0, atol=tolerance)


def test_both_engines_and_we_bring_feet_to_the_same_goals() -> None:
    assert GOLDEN is not None
    arrays, meta, character = opened(GOLDEN / "mmd3_humanoid_synthIK.npz")
    stage = Stage(character, motion(meta["vmd"]))
    feet = [character.skeleton.index(name) for name in ("左足首", "右足首")]
    for sample in meta["samples"]:
        found = stage.global_transforms(sample["frame"] / 30)[0, feet, :, 3]
        expected = arrays[f"{sample['key']}/world"][feet, :3, 3] * UNIT
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.01)
