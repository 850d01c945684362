"""Expressions of both versions."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.model import MaterialBind, MorphBind
from bunraku.model.expression import Expression
from tests.formats.vrm.figures import FACE, HAIR, figure_0, figure_1, group_0, read


def test_expressions_of_1_0():
    sketch = figure_1(
        expressions={
            "preset": {
                "happy": {
                    "isBinary": True,
                    "overrideMouth": "blend",
                    "overrideBlink": "block",
                    "morphTargetBinds": [{"node": FACE, "index": 1, "weight": 0.5}],
                    "materialColorBinds": [
                        {"material": 0, "type": "emissionColor", "targetValue": [1, 0, 0, 1]}
                    ],
                    "textureTransformBinds": [{"material": 1, "offset": [0.25, 0]}],
                },
                "aa": None,
            },
            "custom": {"wink": {"overrideLookAt": "block"}},
        }
    )
    happy, wink = read(sketch).expressions
    assert happy.binds == (
        MorphBind(0, 1, 0.5),
        MaterialBind(0, "emission", (1, 0, 0, 1)),
        MaterialBind(1, "uv_scale", (1, 1)),
        MaterialBind(1, "uv_offset", (0.25, 0)),
    )
    assert (happy.name, happy.preset, happy.binary) == ("happy", "happy", True)
    overrides = (happy.override_mouth, happy.override_blink, happy.override_look)
    assert overrides == ("blend", "block", "none")
    assert (wink.name, wink.preset, wink.override_look) == ("wink", None, "block")


def test_expressions_of_0_x_move_every_node_that_shows_the_mesh():
    sketch = figure_0(
        **group_0(
            name="Joy",
            presetName="joy",
            binds=[{"mesh": 0, "index": 1, "weight": 25}],
            materialValues=[
                {"materialName": "eyes", "propertyName": "_MainTex_ST", "targetValue": [1, 2, 3, 4]}
            ],
        )
    )
    sketch.tree["nodes"][HAIR]["mesh"] = 0
    (joy,) = read(sketch).expressions
    assert (joy.name, joy.preset) == ("Joy", "happy")
    assert joy.binds == (
        MorphBind(0, 1, 0.25),
        MorphBind(1, 1, 0.25),
        # two materials have the name; v runs down in glTF and up in Unity: 1 − 4 − 2
        MaterialBind(1, "uv_scale", (1, 2)),
        MaterialBind(1, "uv_offset", (3, -5)),
        MaterialBind(2, "uv_scale", (1, 2)),
        MaterialBind(2, "uv_offset", (3, -5)),
    )


PRESETS_OF_0 = "neutral a i u e o blink joy angry sorrow fun lookup lookdown lookleft lookright"
PRESETS_OF_1 = "neutral aa ih ou ee oh blink happy angry sad relaxed lookUp lookDown lookLeft"


def test_presets_of_0_x_by_their_names_in_1_0():
    old = [*PRESETS_OF_0.split(), "blink_l", "blink_r", "unknown"]
    groups = [{"name": name.title(), "presetName": name} for name in old]
    found = read(figure_0(blendShapeMaster={"blendShapeGroups": groups})).expressions
    expected = [*PRESETS_OF_1.split(), "lookRight", "blinkLeft", "blinkRight", None]
    assert [each.preset for each in found] == expected
    assert isinstance(found[0], Expression)


def test_colors_of_0_x_are_display_values():
    value = {"materialName": "skin", "propertyName": "_Color", "targetValue": [0.5, 1, 0, 0.25]}
    (bind,) = read(figure_0(**group_0(materialValues=[value]))).expressions[0].binds
    assert (bind.property, bind.mode) == ("base_color", "toward")
    np.testing.assert_allclose(bind.value, [0.21404114, 1, 0, 0.25])


@pytest.mark.parametrize(
    ("name", "scale", "offset"),
    [
        ("_MainTex_ST", (2, 4), (0.5, -3.25)),  # 1 − 0.25 − 4
        ("_MainTex_ST_S", (2, 8), (0.5, 0.75)),
        ("_MainTex_ST_T", (7, 4), (0.125, -3.25)),
    ],
)
def test_parts_of_a_placement_of_0_x_leave_the_others_alone(name, scale, offset):
    value = {"materialName": "skin", "propertyName": name, "targetValue": [2, 4, 0.5, 0.25]}
    sketch = figure_0(**group_0(materialValues=[value]))
    transform = {"KHR_texture_transform": {"scale": [7, 8], "offset": [0.125, 0.75]}}
    sketch.tree["materials"][0]["pbrMetallicRoughness"] = {
        "baseColorTexture": {"index": 0, "extensions": transform}
    }
    assert read(sketch).expressions[0].binds == (
        MaterialBind(0, "uv_scale", scale),
        MaterialBind(0, "uv_offset", offset),
    )
