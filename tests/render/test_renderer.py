"""Pictures with known pixels."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku.errors import RigError
from bunraku.model import Geometry, Image, Material
from bunraku.render import Camera, Heat, Renderer, render
from bunraku.render.color import heat_colors, to_linear, to_srgb
from bunraku.stage import Stage
from tests.render.flats import BLUE, PLAIN, RED, png, quad, stage_of

GREEN = (0, 255, 0)
SIZE = (40, 40)
NAN = float("nan")


def shot(stage: Stage, **options: Any) -> np.ndarray:
    """A picture of flats from straight ahead on green, unless told otherwise."""
    return Renderer(stage, **{**PLAIN, "size": SIZE, **options}).picture()


def hue(pixel: np.ndarray) -> str:
    """Which channels of a pixel are bright."""
    return "".join(name for name, value in zip("rgb", pixel, strict=False) if value > 60)


@pytest.fixture(scope="module")
def puppet() -> Stage:
    return Stage(bunraku.make_puppet(0.5), 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": (0, 10)}, "size: expected 1"),
        ({"size": (1 << 14, 1 << 13)}, "size: expected 1"),
        ({"view": "below"}, "view: expected front, side"),
        ({"view": (0.0, 2.0)}, "elevation"),
        ({"view": (NAN, 0.0)}, "elevation"),
        ({"projection": "fish-eye"}, "projection"),
        ({"method": "magic"}, "method"),
    ],
)
def test_refuses_what_cannot_be_rendered(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RigError, match=message):
        Renderer(stage_of((quad(), RED)), **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"time": NAN}, "time"),
        ({"heat": Heat([0.0, 1.0])}, "heat.values: expected one for each of 4"),
    ],
)
def test_refuses_pictures_of_nothing_there(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RigError, match=message):
        Renderer(stage_of((quad(), RED)), size=(4, 4)).picture(**arguments)


def test_refuses_a_stage_without_triangles() -> None:
    with pytest.raises(RigError, match="shows no triangles"):
        render(stage_of())
    with pytest.raises(RigError, match="shows no triangles"):
        render(hidden(stage_of((quad(), RED)), 0))


def hidden(stage: Stage, index: int) -> Stage:
    """The stage with one of its flats not to be drawn."""
    attachments = list(stage.character.attachments)
    attachments[index] = replace(attachments[index], visible=False)
    return Stage(replace(stage.character, attachments=tuple(attachments)))


def test_what_is_hidden_is_not_drawn_but_met() -> None:
    both = stage_of((quad((0, 0, 1)), RED), (quad(half=2), BLUE))
    alone = hidden(both, 0)
    middle = [shot(stage)[20, 20] for stage in (both, alone)]
    assert [pixel.argmax() for pixel in middle] == [0, 2]
    assert alone.vertex_count == both.vertex_count
    assert alone.pick(0, [0, 0, 5], [0, 0, -1]).node == both.pick(0, [0, 0, 5], [0, 0, -1]).node


def test_a_red_square_fills_the_middle_and_nothing_else() -> None:
    picture = shot(stage_of((quad(), RED)), projection="orthographic")
    assert picture.shape == (40, 40, 3)
    assert picture.dtype == np.uint8
    inside = picture[3:-3, 3:-3]  # the margin is a tenth: 1.8 pixels
    assert (inside[..., 0] > 150).all()
    assert (inside[..., 1:] == 0).all()
    assert (picture[0] == GREEN).all()
    assert (picture[:, 0] == GREEN).all()
    assert np.ptp(inside[..., 0]) == 0  # a flat thing under even light is even


def test_an_edge_through_pixels_mixes_linear_light() -> None:
    stage = stage_of((quad(half=0.525), RED))  # its edge halves the 31st of 40 pixels
    camera = Camera([0, 0, 9], np.eye(3), 1.0, orthographic=True)
    smooth, rough = (
        Renderer(stage, **PLAIN, size=SIZE, smooth_edges=edges).picture(camera=camera)[20]
        for edges in (True, False)
    )
    half = to_srgb((to_linear(smooth[20]) + to_linear(GREEN)) / 2)
    np.testing.assert_allclose(smooth[30].astype(int), half.astype(int), atol=1)
    np.testing.assert_array_equal(smooth[[29, 31]], rough[[29, 31]])
    assert (rough[30] == GREEN).all() or (rough[30] == rough[29]).all()


def test_left_is_left_and_up_is_up() -> None:
    shown = stage_of((quad((-2, 0, 0), 0.9), RED), (quad((0, 2, 0), 0.9), BLUE))
    picture = shot(shown).astype(int)
    rows, columns = np.nonzero(picture[..., 0] > 100)
    assert columns.max() < 20 < rows.mean()
    rows, columns = np.nonzero(picture[..., 2] > 100)
    assert rows.max() < 20 < columns.mean()


@pytest.mark.parametrize(
    ("view", "nearer"),
    [("front", "r"), ("back", "b"), ((np.pi, 0.0), "b")],
)
def test_views_see_the_side_they_are_named_after(view: Any, nearer: str) -> None:
    both = {"double_sided": True}
    shown = stage_of(
        (quad((0, 0, 0.5)), replace(RED, **both)), (quad((0, 0, -0.5)), replace(BLUE, **both))
    )
    assert hue(shot(shown, view=view)[20, 20]) == nearer


def test_the_side_view_is_from_the_figures_left() -> None:
    corners = np.float32([[1, -1, 1], [1, -1, -1], [1, 1, -1], [1, 1, 1]])
    left = Geometry(corners)  # faces +X, and no normals: flat
    right = Geometry(corners[::-1] * [-1, 1, 1])
    picture = shot(stage_of((left, RED), (right, BLUE)), view="side")
    assert hue(picture[20, 20]) == "r"


@pytest.mark.parametrize(
    ("double_sided", "seen"), [(False, "b"), (True, "r")], ids=["one-sided", "double-sided"]
)
def test_one_sided_surfaces_are_not_seen_from_behind(double_sided: bool, seen: str) -> None:
    away = Geometry(quad((0, 0, 1)).positions[::-1].copy())
    red = replace(RED, double_sided=double_sided)
    picture = shot(stage_of((away, red), (quad(half=1.5), BLUE)))
    assert hue(picture[20, 20]) == seen
    # What is not seen throws no shadow, either.
    alone = shot(stage_of((quad(half=1.5), BLUE)))
    if not double_sided:
        assert abs(int(picture[20, 20, 2]) - int(alone[20, 20, 2])) <= 2


def test_mirrored_nodes_keep_their_outside_outside() -> None:
    plain = shot(stage_of((quad(), RED)))
    mirrored = shot(stage_of((quad(), RED), scales=[[-1, 1, 1]]))
    np.testing.assert_array_equal(plain[20, 20], mirrored[20, 20])


def test_textures_stand_upright() -> None:
    # Top left red, top right yellow, bottom left blue, bottom right black.
    texels = np.zeros((64, 64, 3), np.uint8)
    texels[:32, :, 0], texels[:32, 32:, 1], texels[32:, :32, 2] = 255, 255, 255
    shown = stage_of((quad(), Material("m", image=0)), images=(png(texels),))
    picture = shot(shown)
    assert [hue(picture[y, x]) for y, x in ((10, 10), (10, 30), (30, 10), (30, 30))] == [
        "r",
        "rg",
        "b",
        "",
    ]


def test_paint_is_texture_times_factor_times_vertex_color() -> None:
    half = np.full((2, 2, 3), 188, np.uint8)  # half of the light
    shown = stage_of(
        (quad(colors=np.tile([1, 0.5, 0.25, 1], (4, 1))), Material("m", (1, 1, 0.5, 1), image=0)),
        images=(png(half),),
    )
    pixel = shot(shown)[20, 20]
    plain = shot(stage_of((quad(), Material("m", (0.503, 0.2515, 0.0629, 1)))))[20, 20]
    np.testing.assert_allclose(pixel.astype(int), plain.astype(int), atol=1)


@pytest.mark.parametrize(
    ("mode", "alpha", "seen"),
    [
        ("opaque", 0, "r"),
        ("mask", 100, "b"),
        ("mask", 200, "r"),
        ("blend", 0, "b"),
        ("blend", 128, "rb"),
        ("blend", 255, "r"),
    ],
)
def test_alpha_shows_what_is_behind(mode: Any, alpha: int, seen: str) -> None:
    texels = np.full((4, 4, 4), (255, 0, 0, alpha), np.uint8)
    shown = stage_of(
        (quad((0, 0, 1)), Material("m", image=0, alpha_mode=mode)),
        (quad(half=2), BLUE),
        images=(png(texels),),
    )
    assert hue(shot(shown)[20, 20]) == seen


def test_a_cutout_throws_no_shadow_where_it_is_clear() -> None:
    clear = np.zeros((4, 4, 4), np.uint8)
    with_leaf = stage_of(
        (quad((0, 0, 0.3)), Material("leaf", image=0, alpha_mode="mask", double_sided=True)),
        (quad(half=2), BLUE),
        images=(png(clear),),
    )
    camera = Camera([0, 0, 9], np.eye(3), 0.3)
    pictures = [
        Renderer(stage, size=SIZE, ground=False).picture(camera=camera)
        for stage in (with_leaf, stage_of((quad(half=2), BLUE)))
    ]
    np.testing.assert_array_equal(*pictures)


def test_many_layers_of_glass_let_the_background_through() -> None:
    glass = Material("glass", (1.0, 1.0, 1.0, 0.1), alpha_mode="blend")
    panes = [(quad((0, 0, z)), glass) for z in np.linspace(0, 1, 5)]
    pixel = to_linear(shot(stage_of(*panes))[20, 20])
    through = 0.9**5
    assert pixel[0] == pytest.approx(pixel[2], abs=0.02)  # white glass
    assert 0.2 * (1 - through) < pixel[0] < 1 - through
    assert pixel[1] - pixel[0] == pytest.approx(through, abs=0.03)


def test_without_a_background_there_is_alpha() -> None:
    picture = shot(stage_of((quad(), RED)), background=None)
    assert picture.shape == (40, 40, 4)
    assert picture[20, 20, 3] == 255
    assert (picture[0] == 0).all()
    glass = Material("glass", (1.0, 0.0, 0.0, 0.5), alpha_mode="blend")
    pane = shot(stage_of((quad(), glass)), background=None)[20, 20]
    assert pane[3] == 128
    assert pane[0] == picture[20, 20, 0]  # not mixed with black


def test_the_background_runs_from_top_to_bottom() -> None:
    shown = stage_of((quad(half=0.01), RED))
    camera = Camera([0, 0, 9], np.eye(3), 1.0)
    renderer = Renderer(shown, size=(5, 101), ground=False, background=((200, 0, 0), (0, 100, 0)))
    column = renderer.picture(camera=camera)[:, 0]
    np.testing.assert_allclose(
        column[[0, 50, 100]], [(199, 0, 0), (100, 50, 0), (1, 100, 0)], atol=1
    )


def test_the_ground_is_darker_where_the_figure_stands() -> None:
    box = bunraku.make_puppet(0.5)
    picture = Renderer(Stage(box), view="front", size=(120, 90), background=None).picture()
    alpha, black = picture[..., 3], (picture[..., :3] == 0).all(axis=-1)
    shadow = np.where(black, alpha, 0)
    assert shadow.max() > 60  # where no light comes
    below = shadow[70:]
    assert below[:, 60:].sum() > 1.2 * below[:, :60].sum()  # the key light is on the left
    bare = Renderer(Stage(box), view="front", size=(120, 90), background=None, ground=False)
    edge = bare.picture()
    assert (edge[..., 3][black & (alpha > 0)] == 0).mean() > 0.95


def test_smooth_balls_show_no_facets_where_the_light_grazes() -> None:
    # 16 × 12 facets under smooth normals: without care they shade themselves in steps.
    turn = np.linspace(0, 2 * np.pi, 17)[:-1]
    tilt = np.linspace(0, np.pi, 13)
    ring, high = np.sin(tilt)[:, None], np.cos(tilt)[:, None]
    points = np.stack(
        [ring * np.sin(turn), high * np.ones_like(turn), ring * np.cos(turn)], -1
    ).reshape(-1, 3)
    at = np.arange(13 * 16).reshape(13, 16)
    a, b, c, d = at[:-1], at[1:], np.roll(at[1:], -1, 1), np.roll(at[:-1], -1, 1)
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    ball = Geometry(points.astype(np.float32), points.astype(np.float32))
    stage = stage_of((ball, Material("white")))
    mesh = stage.character.meshes[0]
    part = replace(mesh.parts[0], faces=faces.astype(np.int32))
    stage = Stage(replace(stage.character, meshes=(replace(mesh, parts=(part,)),)))
    camera = Camera([0, 0, 9], np.eye(3), 1.2, orthographic=True)
    picture = Renderer(stage, size=(96, 96), ground=False, smooth_edges=False).picture(
        camera=camera
    )
    brightness = picture[..., 0].astype(int)
    y, x = np.mgrid[0:96, 0:96]
    inner = np.hypot(x - 47.5, y - 47.5) < 34
    steps = np.abs(np.diff(brightness, axis=1))[inner[:, 1:]]
    assert steps.max() <= 12


def test_heat_shows_the_colors_of_the_scale() -> None:
    stage = stage_of((quad(), RED))
    picture = shot(stage, size=(80, 80), projection="orthographic")
    assert hue(picture[40, 20]) == "r"
    heat = Heat([0, 1, 1, 0], label="length, m")
    renderer = Renderer(stage, **PLAIN, size=(80, 80), projection="orthographic")
    shown = renderer.picture(heat=heat)[40, [10, 24, 40]].astype(int)
    expected = heat_colors([8 / 80, 22 / 80, 40 / 80]).astype(int)
    # Shading leaves them a little darker or lighter, not another colour.
    ratios = shown.mean(axis=1) / expected.mean(axis=1)
    assert (np.abs(ratios - ratios[0]) < 0.06).all()
    np.testing.assert_allclose(shown / ratios[:, None], expected, atol=12)


def test_heat_brings_its_bar_and_numbers() -> None:
    stage = stage_of((quad(half=0.01), RED))
    camera = Camera([0, 0, 9], np.eye(3), 1.0)
    renderer = Renderer(stage, **{**PLAIN, "background": ((255,) * 3,) * 2}, size=(160, 120))
    plain = renderer.picture(camera=camera)
    shown = renderer.picture(camera=camera, heat=Heat([0, 0, 0, 0], 0, 20, "mm"))
    changed = (plain != shown).any(axis=-1)
    rows, columns = np.nonzero(changed[:, 100:])
    assert columns.size
    bar = shown[:, 100 + int(np.argmax(changed[60, 100:]))]
    np.testing.assert_array_equal(bar[24], heat_colors(1.0))
    np.testing.assert_array_equal(bar[95], heat_colors(0.0))
    assert rows.min() < 24  # the label stands above


@pytest.mark.parametrize("projection", ["perspective", "orthographic"])
@pytest.mark.parametrize("view", ["front", "side", "three-quarter", "back"])
def test_the_whole_motion_is_in_the_picture(puppet: Stage, view: Any, projection: Any) -> None:
    size = (120, 60)
    camera = Renderer(puppet, view=view, size=size, projection=projection).camera()
    film = puppet.deform(np.linspace(0, 4, 13)).positions
    pixels = camera.project(film, size)
    assert pixels[..., :2].min() > 0
    assert (pixels[..., :2].max(axis=(0, 1)) < size).all()
    filled = np.ptp(pixels[..., :2], axis=(0, 1)) / size
    assert filled.max() > 0.8


def test_a_turntable_never_cuts_the_figure_and_comes_back(puppet: Stage) -> None:
    size = (60, 80)
    renderer = Renderer(puppet, size=size)
    cameras = renderer.turntable(np.linspace(0, 2 * np.pi, 9))
    for camera in cameras:
        pixels = camera.project(puppet.deform([0, 1.1, 2.4]).positions, size)
        assert pixels[..., :2].min() > 0
        assert (pixels[..., :2].max(axis=(0, 1)) < size).all()
    np.testing.assert_allclose(cameras[0].eye, cameras[-1].eye, atol=1e-9)
    assert np.linalg.norm(cameras[4].eye - cameras[0].eye) > np.linalg.norm(cameras[0].eye)


def test_the_same_picture_every_time_whatever_the_threads(puppet: Stage) -> None:
    from bunraku import _core

    count = _core.thread_count()
    first = render(puppet, 2.3, size=(96, 72))
    try:
        _core.set_thread_count(1)
        second = render(puppet, 2.3, size=(96, 72))
    finally:
        _core.set_thread_count(count)
    np.testing.assert_array_equal(first, second)


def test_a_tree_that_was_moved_shows_what_a_new_one_shows(puppet: Stage) -> None:
    renderer = Renderer(puppet, size=(64, 64))
    camera = renderer.camera()
    for time in (0.0, 1.0, 2.4):
        moved = renderer.picture(time, camera=camera)
    new = Renderer(puppet, size=(64, 64)).picture(2.4, camera=camera)
    np.testing.assert_array_equal(moved, new)


def test_methods_differ(puppet: Stage) -> None:
    linear, dual = (render(puppet, 2.45, method=m, size=(64, 64)) for m in ("lbs", "dqs"))
    assert (linear != dual).any()


def test_a_texture_that_cannot_be_read_is_noted_and_left_out() -> None:
    broken = Image(b"\x89PNG but no more", "image/png")
    stage = stage_of((quad(), Material("m", (1, 0, 0, 1), image=0)), images=(broken,))
    renderer = Renderer(stage, **PLAIN, size=SIZE)
    assert [(note.code, note.place) for note in renderer.notes] == [
        ("image-unreadable", "images[0]")
    ]
    assert hue(renderer.picture()[20, 20]) == "r"


def test_faces_of_no_size_and_points_in_one_place_do_no_harm() -> None:
    dot = Geometry(np.zeros((4, 3), np.float32))
    picture = shot(stage_of((dot, RED)), ground=True)
    assert (picture == GREEN).all()


def test_memory_does_not_grow_with_the_picture(puppet: Stage) -> None:
    peaks = []
    for size in ((384, 384), (896, 576)):
        renderer = Renderer(puppet, size=size)
        renderer.picture(0.5)
        tracemalloc.start()
        renderer.picture(0.5)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 3.5 times the pixels; what grows is the picture itself and where its edges are.
    assert peaks[1] < 1.7 * peaks[0]
    assert peaks[1] < 64 << 20


def test_one_pixel_is_a_picture(puppet: Stage) -> None:
    assert render(puppet, size=(1, 1)).shape == (1, 1, 3)
