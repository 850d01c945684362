"""VMD motions on VRM characters, with and without the model they were made on, and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.errors import RigError
from bunraku.model import Character, Clip, Humanoid, Skeleton, Track
from bunraku.motion import bind, sample
from bunraku.posing.evaluate import evaluate
from bunraku.retargeting import retarget, standard_mmd_skeleton
from bunraku.retargeting.figure import SEGMENTS, Figure
from bunraku.retargeting.mmd_figure import LEG, STANCE
from bunraku.retargeting.segments import leg_ratio
from tests.retargeting.figures import figure

FIGURES = [figure(), figure(facing="-Z", seed=1, size=0.6), figure(lowered=20, legs=1.3, size=1.6)]
MODEL = "vrm_mmd/yohawing__unity-mmd-loader__HumanoidSampleModel.pmx"
DANCE = "vrm_mmd/peterljq__OpenMMD__output_20180923_200704.vmd"
TARGETS = (
    "vrm_mmd/V-Sekai__godot-vrm__Godette_vrm_v4.vrm",
    "vrm_mmd/vrm-c__vrm-specification__VRMC_materials_mtoon_UV_Animation_Test.vrm",
)


def world(character: Character, clip: Clip, times) -> np.ndarray:
    bound = bind(clip, character)
    return Figure(character).faced(evaluate(character, sample(bound, times))[1])


def place(character: Character, transforms: np.ndarray, bone: str) -> np.ndarray:
    return transforms[:, character.humanoid.bones[bone], :, 3]


def worst_direction(one: Character, there: np.ndarray, other: Character, here: np.ndarray) -> float:
    """How far apart unit vectors along limbs and fingers are, legs left out."""
    worst = 0.0
    shared = one.humanoid.bones.keys() & other.humanoid.bones.keys()
    for near, far in SEGMENTS.items():
        if "Leg" not in near and {near, far} <= shared:
            ways = [place(c, t, far) - place(c, t, near) for c, t in ((one, there), (other, here))]
            ways = [way / np.linalg.norm(way, axis=1, keepdims=True) for way in ways]
            worst = max(worst, float(np.abs(ways[0] - ways[1]).max()))
    return worst


def foot_misses(one: Character, there: np.ndarray, other: Character, here: np.ndarray, side: str):
    """How far a foot is from where the source has it, and whether that is in reach."""
    source, target = Figure(one), Figure(other)
    ankle, knee, hip = (f"{side}{bone}" for bone in ("Foot", "LowerLeg", "UpperLeg"))
    way = place(one, there, ankle) - source.place(ankle)
    goal = target.place(ankle) + leg_ratio(source, target) * way
    length = sum(
        np.linalg.norm(target.place(a) - target.place(b)) for a, b in ((hip, knee), (knee, ankle))
    )
    reach = np.linalg.norm(goal - place(other, here, hip), axis=1) < length * 0.9999
    return np.linalg.norm(place(other, here, ankle) - goal, axis=1), reach


def test_figures_that_cannot_dance_are_refused():
    with pytest.raises(RigError, match="the humanoid has no head, leftFoot"):
        standard_mmd_skeleton(Character(Skeleton(("root",), [-1]), humanoid=Humanoid({"hips": 0})))
    upside_down = figure()
    skeleton = upside_down.skeleton
    moved = np.array(skeleton.translations)
    for side in ("left", "right"):
        moved[upside_down.humanoid.bones[f"{side}Foot"], 1] = 1.0
    broken = Skeleton(skeleton.names, skeleton.parents, moved)
    with pytest.raises(RigError, match="the left foot is not below its leg"):
        standard_mmd_skeleton(replace(upside_down, skeleton=broken))


@pytest.mark.parametrize("character", FIGURES)
def test_the_standard_skeleton_has_the_figure_s_joints_in_a_pose(character):
    mmd = standard_mmd_skeleton(character)
    assert mmd.humanoid.missing == ()
    there, here = Figure(character), Figure(mmd)
    size = LEG / (there.place("leftUpperLeg") - there.place("leftFoot"))[1]
    for bone in ("spine", "neck", "head", "leftUpperArm", "rightUpperLeg", "leftFoot"):
        np.testing.assert_allclose(here.place(bone), size * there.place(bone), atol=1e-12)
    for side, sign in (("left", 1), ("right", -1)):
        arm = here.place(f"{side}LowerArm") - here.place(f"{side}UpperArm")
        assert np.arctan2(-arm[1], sign * arm[0]) == pytest.approx(STANCE)
        knee = here.place(f"{side}LowerLeg")
        ends = here.place(f"{side}UpperLeg"), here.place(f"{side}Foot")
        share = (ends[0][1] - knee[1]) / (ends[0][1] - ends[1][1])
        assert knee[2] > (ends[0] + share * (ends[1] - ends[0]))[2]


@pytest.mark.parametrize("character", FIGURES)
def test_at_rest_nothing_moves(character):
    mmd = standard_mmd_skeleton(character)
    rest = Figure(mmd).rest
    solved = evaluate(mmd, mmd.rest_pose())[1][0]
    np.testing.assert_allclose(solved[:, :, 3], rest[:, :, 3], atol=1e-3)


@pytest.mark.parametrize("character", FIGURES)
def test_a_figure_that_goes_down_bends_its_knees_forward_and_keeps_its_feet(character):
    mmd = standard_mmd_skeleton(character)
    down = [[0, 0, 0], [0, -0.2, 0]]
    crouch = Clip("crouch", (Track("センター", "translation", [0, 1], down, relative=True),))
    here = world(character, retarget(crouch, mmd, character), [0.5, 1.0])
    target = Figure(character)
    size = leg_ratio(Figure(mmd), target)
    for side in ("left", "right"):
        foot, knee = f"{side}Foot", f"{side}LowerLeg"
        np.testing.assert_allclose(
            place(character, here, foot), [target.place(foot)] * 2, atol=1e-3
        )
        forward = place(character, here, knee)[:, 2] - target.place(knee)[2]
        assert 0.1 * size < forward[0] < forward[1]
    hips = place(character, here, "hips")[:, 1] - target.place("hips")[1]
    np.testing.assert_allclose(hips, [-0.1 * size, -0.2 * size], atol=2e-3)


def test_twist_bones_turn_the_arm():
    character = figure()
    mmd = standard_mmd_skeleton(character)
    node = mmd.skeleton.names.index("左腕捩")
    axis = mmd.rig.fixed_axes[0].axis
    half = np.sin(0.4)
    turn = Track(node, "rotation", [0], [[*(half * axis), np.cos(0.4)]])
    done = retarget(Clip("", (turn,)), mmd, character)
    there, here = world(mmd, Clip("", (turn,)), [0]), world(character, done, [0])
    assert worst_direction(mmd, there, character, here) < 1e-6
    still = world(character, retarget(Clip("", ()), mmd, character), [0])
    arm = character.humanoid.bones["leftUpperArm"]
    angle = np.arccos((np.trace(here[0, arm, :, :3] @ still[0, arm, :, :3].T) - 1) / 2)
    assert angle == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize(
    "motion", [DANCE, "synth_humanoid_ik.vmd", "synth_humanoid_ik_oldlayout.vmd"]
)
def test_real_motions_on_real_characters(motion, target, with_model, corpus: Path, golden: Path):
    character = bunraku.load(corpus / target)
    model = bunraku.load(corpus / MODEL) if with_model else standard_mmd_skeleton(character)
    (dance,) = bunraku.load_clips((corpus if motion == DANCE else golden) / motion)
    done = retarget(dance, model, character)
    assert not bind(done, character).notes
    times = np.arange(0, dance.end, 7 / 30)
    there, here = world(model, dance, times), world(character, done, times)
    assert worst_direction(model, there, character, here) < 1e-5
    seen = 0
    for side in ("left", "right"):
        off, reached = foot_misses(model, there, character, here, side)
        assert off[reached].max(initial=0) < 5e-4
        # Where the dance stretches a leg further than it is, the stance of the two differing.
        assert off.max() < 0.05
        seen += reached.sum()
    assert seen > len(times) / 2


def test_a_vrm_animation_on_an_mmd_model(corpus: Path):
    """The model's own IK is switched off: legs are turned by the clip."""
    model = bunraku.load(corpus / MODEL)
    source = bunraku.load(corpus / "vrm_mmd/pixiv__ChatVRM__idle_loop.vrma")
    done = retarget(source.clips[0], source, model)
    switches = {track.target for track in done.tracks if track.path == "ik"}
    names = model.skeleton.names
    assert {names[node] for node in switches} >= {"左足ＩＫ", "右足ＩＫ"}
    assert not bind(done, model).notes
    times = np.arange(0, 10, 1.0)
    there, here = world(source, source.clips[0], times), world(model, done, times)
    assert worst_direction(source, there, model, here) < 1e-5
    for side in ("left", "right"):
        off, reached = foot_misses(source, there, model, here, side)
        assert not reached.any()  # it stands on straight legs, here those of another stance
        assert off.max() < 5e-3


CAPTURED = (
    "bvh-python/tests/test_freebvh.bvh",
    "bvh-python/tests/test_mocapbank.bvh",
    "assimp/test/models/BVH/01_01.bvh",
    "bvh-toolbox/tests/example_files/source/walk01.bvh",
)


@pytest.mark.parametrize("file", CAPTURED)
@pytest.mark.parametrize("target", TARGETS)
def test_motion_capture_on_real_characters(file, target, corpus: Path):
    """Hips at the origin, legs spread or arms down at rest, inches and centimetres: it stands."""
    source = bunraku.load(corpus / "gltf_usd_fbx_bvh" / file)
    character = bunraku.load(corpus / target)
    done = retarget(source.clips[0], source, character)
    times = done.start + np.arange(0, 60, 4) / 30
    there, here = world(source, source.clips[0], times), world(character, done, times)
    assert worst_direction(source, there, character, here) < 1e-4
    figure = Figure(character)
    for side in ("left", "right"):
        lowest = place(character, here, f"{side}Foot")[:, 1].min()
        assert lowest == pytest.approx(figure.place(f"{side}Foot")[1], abs=0.05)
    upright = place(character, here, "head")[:, 1] - place(character, here, "hips")[:, 1]
    assert (upright > 0.7 * (figure.place("head") - figure.place("hips"))[1]).all()
