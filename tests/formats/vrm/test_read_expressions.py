"""Expressions of both versions."""

from __future__ import annotations

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
