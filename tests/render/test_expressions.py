"""Paint and presence that a motion changes, in pixels of flat things."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku.model import (
    Bind,
    Clip,
    Expression,
    Material,
    MaterialBind,
    Rig,
    Track,
    UvBind,
)
from bunraku.model.material import to_linear
from bunraku.render import Camera, Heat, Renderer
from bunraku.stage import Stage
from tests.render.flats import BLUE, PLAIN, RED, png, quad, stage_of

SIZE = (40, 40)
WHITE = Material("white")
# Top left red, top right yellow, bottom left blue, bottom right black.
FOUR = np.zeros((64, 64, 3), np.uint8)
FOUR[:32, :, 0], FOUR[:32, 32:, 1], FOUR[32:, :32, 2] = 255, 255, 255
CORNERS = ((10, 10), (10, 30), (30, 10), (30, 30))


def hue(pixel: np.ndarray) -> str:
    """Which channels of a pixel are bright."""
    return "".join(name for name, value in zip("rgb", pixel, strict=False) if value > 60)


def moved(stage: Stage, *binds: Bind, mmd: bool = False) -> Stage:
    """The stage in a second in which an expression of these binds goes from 0 to 1."""
    rig = Rig(layers=np.zeros(len(stage.character.skeleton), np.int32)) if mmd else None
    character = replace(stage.character, expressions=(Expression("x", binds),), rig=rig)
    return Stage(character, Clip("", (Track("x", "expression", [0, 1], [[0], [1]]),)))


def shots(stage: Stage, *times: float, **options: Any) -> list[np.ndarray]:
    """Pictures of flats from straight ahead on green, unless told otherwise."""
    renderer = Renderer(stage, **{**PLAIN, "size": SIZE, **options})
    return [renderer.picture(time) for time in times]


def two_behind_one(front: Material) -> Stage:
    """A square before a larger blue one."""
    return stage_of((quad((0, 0, 1)), front), (quad(half=2), BLUE))


@pytest.mark.parametrize("background", [((9, 8, 7), (1, 2, 3)), None])
def test_a_hidden_character_leaves_the_background(background: Any) -> None:
    track = Track("", "visible", [0, 1, 2], [[1], [0], [1]], "STEP")
    stage = Stage(stage_of((quad(), RED)).character, Clip("", (track,)))
    before, hidden, after = shots(stage, 0.5, 1.5, 2, background=background, ground=True)
    np.testing.assert_array_equal(before, after)
    assert hue(before[20, 20]) == "r"
    if background is None:
        assert not hidden.any()
    else:
        beyond = Camera([0, 0, -90], np.eye(3), 1.0)
        empty = Renderer(stage, **{**PLAIN, "size": SIZE, "background": background})
        np.testing.assert_array_equal(hidden, empty.picture(0.5, camera=beyond))


def test_the_scale_of_heat_stays_when_the_character_is_hidden() -> None:
    track = Track("", "visible", [0], [[0]], "STEP")
    stage = Stage(stage_of((quad(), RED)).character, Clip("", (track,)))
    renderer = Renderer(stage, **PLAIN, size=(160, 120))
    assert (renderer.picture(heat=Heat([0, 0, 0, 1])) != renderer.picture()).any()


def test_mmd_hides_a_material_and_its_shadow() -> None:
    gone = MaterialBind(0, "base_color", (0, 0, 0, -1), "add")
    stage = moved(two_behind_one(RED), gone, mmd=True)
    full, half, none = shots(stage, 0, 0.5, 1)
    assert [hue(each[20, 20]) for each in (full, half, none)] == ["r", "rb", "b"]
    camera = Camera([0, 0, 9], np.eye(3), 1.9)
    alone = Renderer(stage_of((quad(half=2), BLUE)), **PLAIN, size=SIZE).picture(camera=camera)
    renderer = Renderer(stage, **PLAIN, size=SIZE)
    shaded = renderer.picture(0.0, camera=camera)
    assert (shaded[..., 2].astype(int) < alone[..., 2].astype(int) - 5).any()
    np.testing.assert_allclose(renderer.picture(1.0, camera=camera), alone, atol=2)
    np.testing.assert_array_equal(renderer.picture(0.0, camera=camera), shaded)


def test_mmd_shows_a_material_that_rests_hidden() -> None:
    tears = Material("tears", (1.0, 0.0, 0.0, 0.0), alpha_mode="blend")
    appear = MaterialBind(0, "base_color", (0, 0, 0, 1), "add")
    rest, shown = shots(moved(two_behind_one(tears), appear, mmd=True), 0, 1)
    assert (hue(rest[20, 20]), hue(shown[20, 20])) == ("b", "r")


def test_all_that_is_shown_may_vanish() -> None:
    gone = MaterialBind(None, "base_color", (1, 1, 1, 0), "multiply")
    stage = moved(stage_of((quad(), RED), (quad((3, 0, 0)), BLUE)), gone, mmd=True)
    (picture,) = shots(stage, 1, ground=True)
    assert (picture == (0, 255, 0)).all()


def test_a_color_bind_looks_like_the_color_it_makes() -> None:
    blush = MaterialBind(0, "base_color", (1.0, 0.0, 0.0, 1.0))
    stage = moved(stage_of((quad(), WHITE)), blush)
    own = stage_of((quad(), replace(WHITE, base_color=(1.0, 0.5, 0.5, 1.0))))
    np.testing.assert_array_equal(shots(stage, 0.5)[0], shots(own, 0)[0])
    # opaque and cut-out materials of VRM stay what they are
    clear = MaterialBind(0, "base_color", (1.0, 0.0, 0.0, 0.25))
    solid, cut = (replace(WHITE, alpha_mode=mode) for mode in ("opaque", "mask"))
    assert hue(shots(moved(two_behind_one(solid), clear), 1)[0][20, 20]) == "r"
    assert hue(shots(moved(two_behind_one(cut), clear), 1)[0][20, 20]) == "b"


def test_texture_binds_move_what_is_seen() -> None:
    painted = Material("m", image=0, uv_scale=(0.5, 0.5))
    binds = (MaterialBind(0, "uv_scale", (0.5, 0.5)), MaterialBind(0, "uv_offset", (0.5, 0.0)))
    stage = moved(stage_of((quad(), painted), images=(png(FOUR),)), *binds)
    rest, there = shots(stage, 0, 1)
    assert {hue(rest[y, x]) for y, x in CORNERS} == {"r"}
    assert {hue(there[y, x]) for y, x in CORNERS} == {"rg"}


def test_uv_morphs_move_what_is_seen() -> None:
    painted = Material("m", image=0)
    shift = UvBind(0, 0, 0, np.arange(4), np.tile(np.float32([0, 0.5]), (4, 1)))
    stage = moved(stage_of((quad(), painted), images=(png(FOUR),)), shift, mmd=True)
    rest, there = shots(stage, 0, 1)
    assert [hue(rest[y, x]) for y, x in CORNERS] == ["r", "rg", "b", ""]
    assert [hue(there[y, x]) for y, x in CORNERS] == ["b", "", "r", "rg"]


@pytest.mark.parametrize(
    ("value", "mode", "seen"),
    [
        # half grey (0.5 as displayed): 0.5 × 0.5; 1 + 0.5 (0.5 − 1); 1
        ((0.5, 0.5, 0.5, 1), "multiply", 0.25),
        ((1, 1, 1, 0.5), "multiply", 0.75),
        ((1, 1, 1, 0), "multiply", 1.0),
        # 0.5 + 0.25; 0.5 + 0.5 (0.5 − 1); clip(0.5 − 1 × 0.5) + 1
        ((0.25, 0.25, 0.25, 0), "add", 0.75),
        ((0, 0, 0, 0.5), "add", 0.25),
        ((1, 1, 1, 1), "add", 1.0),
    ],
)
def test_tints_of_mmd(value: tuple[float, ...], mode: Any, seen: float) -> None:
    grey = np.full((2, 2, 3), 128, np.uint8)
    tint = MaterialBind(0, "texture", value, mode)
    shown = stage_of((quad(), Material("m", image=0)), images=(png(grey),))
    pixel = shots(moved(shown, tint, mmd=True), 1)[0][20, 20]
    light = float(to_linear(seen))
    expected = shots(stage_of((quad(), Material("m", (light, light, light, 1.0)))), 0)[0][20, 20]
    np.testing.assert_allclose(pixel.astype(int), expected.astype(int), atol=1)


@pytest.mark.parametrize(
    ("placed", "seen"),
    [
        ({}, ["r", "rg", "b", ""]),
        ({"uv_offset": (0.5, 0.0)}, ["rg", "r", "", "b"]),
        ({"uv_offset": (0.5, 0.0), "wrap": ("clamp", "clamp")}, ["rg", "rg", "", ""]),
        ({"uv_offset": (0.5, 0.5), "wrap": ("mirror", "repeat")}, ["", "", "rg", "rg"]),
        ({"uv_scale": (1.0, -1.0), "uv_offset": (0.0, 1.0)}, ["b", "", "r", "rg"]),
        # a quarter turn clockwise of the picture, as the extension's own example
        ({"uv_rotation": np.pi / 2, "uv_offset": (0.0, 1.0)}, ["b", "r", "", "rg"]),
        (
            {"uv_rotation": np.pi / 2, "uv_offset": (0.0, 1.0), "uv_scale": (0.5, 0.5)},
            ["b", "b", "b", "b"],
        ),
        # scaled before it is turned: all of the width, half of the height
        (
            {"uv_rotation": np.pi / 2, "uv_offset": (0.0, 1.0), "uv_scale": (0.5, 1.0)},
            ["b", "b", "", ""],
        ),
    ],
)
def test_textures_lie_where_they_are_placed(placed: dict[str, Any], seen: list[str]) -> None:
    shown = stage_of((quad(), Material("m", image=0, **placed)), images=(png(FOUR),))
    picture = shots(shown, 0)[0]
    assert [hue(picture[y, x]) for y, x in CORNERS] == seen


@pytest.mark.parametrize("number", [1e30, 1e300, -1e300])
def test_absurd_placements_do_no_harm(number: float) -> None:
    far = Material("m", image=0, uv_scale=(number, number), uv_offset=(number, 0.0))
    picture = shots(stage_of((quad(), far), images=(png(FOUR),)), 0)[0]
    assert (picture[20, 20] != (0, 255, 0)).any()


def test_a_pattern_made_fine_by_its_scale_does_not_flicker() -> None:
    board = np.zeros((64, 64, 3), np.uint8)
    board[::2, ::2] = board[1::2, 1::2] = 255
    fine = Material("m", image=0, uv_scale=(40.0, 40.0))
    picture = shots(stage_of((quad(), fine), images=(png(board),)), 0)[0]
    assert np.ptp(picture[8:-8, 8:-8, 0].astype(int)) < 12


def test_paint_is_the_same_whatever_was_painted_before() -> None:
    binds = (
        MaterialBind(0, "base_color", (0.5, 1, 1, 0.5), "multiply"),
        MaterialBind(0, "texture", (0, 1, 1, 1), "multiply"),
    )
    shown = stage_of(
        (quad((0, 0, 1)), Material("m", image=0)), (quad(half=2), BLUE), images=(png(FOUR),)
    )
    stage = moved(shown, *binds, mmd=True)
    there_and_back = shots(stage, 0, 1, 0.5, 0)
    for time, picture in zip((0, 1, 0.5, 0), there_and_back, strict=True):
        np.testing.assert_array_equal(picture, shots(stage, time)[0])
