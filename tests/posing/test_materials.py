"""What materials look like in a pose, against numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.model import (
    Character,
    Expression,
    GroupBind,
    Material,
    MaterialBind,
    Pose,
    Rig,
    Skeleton,
)
from bunraku.model.material import to_display, to_linear
from bunraku.posing.expressions import materials, texture_tints

MMD = Rig(layers=np.zeros(1, np.int32))
GREY = float(to_linear(0.5))  # 0.21404114…
SKIN = Material("skin", (GREY, GREY, GREY, 1.0), uv_offset=(0.5, 0.25), uv_scale=(2.0, 1.0))
CLEAR = Material("tears", (1.0, 1.0, 1.0, 0.0), alpha_mode="blend")


def figure(*expressions: Expression, rig: Rig | None = None) -> Character:
    return Character(
        Skeleton(("root",), [-1]), materials=(SKIN, CLEAR), expressions=expressions, rig=rig
    )


def posed(character: Character, *weights: float) -> Pose:
    return replace(character.rest_pose(), expressions=np.array([weights]))


def diffuse(value: tuple[float, ...], mode: str, material: int | None = 0) -> Expression:
    return Expression("", (MaterialBind(material, "base_color", value, mode),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bind", "message"),
    [
        (MaterialBind(0, "base_color", (1.0, 1.0, 1.0)), "base_color: cannot be 3 numbers"),
        (MaterialBind(1, "uv_scale", (1.0,)), r"materials\[1\].uv_scale: cannot be 1 numbers"),
    ],
)
def test_refuses_values_of_another_size(bind: MaterialBind, message: str) -> None:
    character = figure(Expression("", (bind,)))
    with pytest.raises(RigError, match=message):
        materials(character, posed(character, 1.0))


def test_refuses_tints_of_another_size_and_many_frames() -> None:
    character = figure(Expression("", (MaterialBind(0, "texture", (2.0,), "multiply"),)))
    with pytest.raises(RigError, match="texture: cannot be 1 numbers"):
        texture_tints(character, posed(character, 1.0))
    pose = character.rest_pose()
    two = Pose(
        *(np.repeat(each, 2, 0) for each in (pose.translations, pose.rotations, pose.scales))
    )
    with pytest.raises(RigError, match="one frame, found 2"):
        materials(character, two)


def test_without_effect_they_are_the_very_same() -> None:
    character = figure(diffuse((1, 0, 0, 1), "toward"), diffuse((0, 0, 0, -1), "add"))
    assert materials(character, character.rest_pose()) is character.materials
    assert materials(character, posed(character, 0.0, 0.0)) is character.materials
    ambient = figure(Expression("", (MaterialBind(0, "ambient", (1, 1, 1), "add"),)), rig=MMD)
    assert materials(ambient, posed(ambient, 1.0)) is ambient.materials


def test_vrm_blends_in_linear_light_from_its_own_color() -> None:
    character = figure(diffuse((1, 0, 0, 1), "toward"), diffuse((GREY, 1, GREY, 0.5), "toward"))
    skin, tears = materials(character, posed(character, 0.5, 0.25))
    # own + (target − own) × weight, over both
    assert skin.base_color == pytest.approx(
        (GREY + (1 - GREY) / 2, GREY / 2 + (1 - GREY) / 4, GREY / 2, 0.875)
    )
    assert skin.alpha_mode == "opaque"  # a VRM material shows no alpha that it did not have
    assert tears is CLEAR
    over = materials(character, posed(character, 1.0, 1.0))[0].base_color
    assert over == (1 + GREY - GREY, 1 - GREY, 0, 0.5)  # green from 1 + 0 − own; blue is cut at 0


def test_binary_expressions_and_overrides_count_for_materials() -> None:
    red = replace(diffuse((1, 0, 0, 1), "toward"), binary=True)
    sad = Expression("sad", preset="sad", override_blink="block")
    blink = replace(diffuse((0, 0, 1, 1), "toward"), preset="blink")
    character = figure(red, sad, blink)
    assert materials(character, posed(character, 0.5, 0, 0)) is character.materials
    assert materials(character, posed(character, 0.6, 0, 0))[0].base_color == (1, 0, 0, 1)
    assert materials(character, posed(character, 0, 0.1, 1)) is character.materials


def test_placements_move_towards_their_target() -> None:
    binds = (MaterialBind(0, "uv_offset", (1.0, 0.0)), MaterialBind(0, "uv_scale", (1.0, -1.0)))
    character = figure(Expression("", binds))
    skin = materials(character, posed(character, 0.25))[0]
    assert (skin.uv_offset, skin.uv_scale) == ((0.625, 0.1875), (1.75, 0.5))


def test_mmd_changes_display_colors_factors_first() -> None:
    character = figure(
        diffuse((0.25, 0, 0, 0), "add"), diffuse((0.5, 1, 2, 1), "multiply"), rig=MMD
    )
    skin = materials(character, posed(character, 1.0, 0.5))[0]
    # 0.5 × (1 − 0.25) + 0.25; 0.5; 0.5 × 1.5
    assert to_display(skin.base_color[:3]) == pytest.approx((0.625, 0.5, 0.75))
    assert (skin.base_color[3], skin.alpha_mode) == (1, "opaque")


@pytest.mark.parametrize(("value", "mode"), [((0, 0, 0, -1), "add"), ((1, 1, 1, 0), "multiply")])
def test_mmd_hides_what_was_opaque(value: tuple[float, ...], mode: str) -> None:
    character = figure(diffuse(value, mode), rig=MMD)
    half = materials(character, posed(character, 0.5))[0]
    assert (half.base_color[3], half.alpha_mode) == (0.5, "blend")
    assert half.base_color[:3] == pytest.approx((GREY,) * 3, abs=1e-15)
    assert materials(character, posed(character, 1.0))[0].base_color[3] == 0
    assert materials(character, posed(character, 2.0))[0].base_color[3] == 0  # clipped


def test_mmd_shows_what_was_hidden() -> None:
    character = figure(diffuse((0, 0, 0, 1), "add", material=1), rig=MMD)
    tears = materials(character, posed(character, 0.25))[1]
    assert (tears.base_color, tears.alpha_mode) == ((1, 1, 1, 0.25), "blend")


def test_a_bind_of_all_materials_through_a_group() -> None:
    group = Expression("", (GroupBind(1, 0.5),))
    character = figure(group, diffuse((0, 0, 0, 0), "multiply", material=None), rig=MMD)
    skin, tears = materials(character, posed(character, 1.0, 0.0))
    assert to_display(skin.base_color[:3]) == pytest.approx((0.25,) * 3)
    assert (skin.base_color[3], tears.base_color[3]) == (0.5, 0)


def test_tints_are_factors_and_terms_by_material() -> None:
    character = figure(
        Expression("", (MaterialBind(0, "texture", (0, 1, 1, 1), "multiply"),)),
        Expression("", (MaterialBind(0, "texture", (0, 0, 1, 0), "add"),)),
        rig=MMD,
    )
    assert texture_tints(character, posed(character, 0, 0)) == {}
    ((factor, term),) = texture_tints(character, posed(character, 0.5, 0.25)).values()
    assert factor.tolist() == [0.5, 1, 1, 1]
    assert term.tolist() == [0, 0, 0.25, 0]


def test_display_values_and_light_are_inverse() -> None:
    every = np.linspace(-0.5, 2, 101)
    np.testing.assert_allclose(to_display(to_linear(every)), every, atol=1e-14)
    assert to_linear(0.5) == pytest.approx(0.21404114048223255)  # ((0.5 + 0.055) / 1.055)^2.4
