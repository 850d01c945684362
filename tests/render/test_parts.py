"""Framing, colours and textures by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError, RigError
from bunraku.render import Heat
from bunraku.render.color import heat_colors, to_linear, to_srgb
from bunraku.render.framing import frame, view_axes
from bunraku.render.texture import Texture
from tests.render.flats import png


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 2]],), "heat.values"),
        (([1, 2], 3, 1), "low ≤ high"),
        (([1, 2], float("nan"), 1), "low ≤ high"),
    ],
)
def test_refuses_impossible_scales(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RigError, match=message):
        Heat(*arguments)


def test_refuses_to_frame_nothing() -> None:
    with pytest.raises(RigError, match="no finite point"):
        frame([np.full((3, 3), np.nan)], view_axes("front"), (8, 8))


@pytest.mark.parametrize("data", [b"", b"GIF89a", png(np.zeros((9, 9, 3))).data[:45]])
def test_refuses_pictures_that_are_none(data: bytes) -> None:
    with pytest.raises(FormatError, match=r"images\[3\]: is no picture"):
        Texture.decode(data, "images[3]")


def test_srgb_bytes_survive_the_way_to_light_and_back() -> None:
    every = np.arange(256)
    np.testing.assert_array_equal(to_srgb(to_linear(every)), every)
    assert to_srgb([-1, np.nan, np.inf]).tolist() == [0, 0, 255]


def test_heat_climbs_evenly_in_lightness() -> None:
    linear = to_linear(heat_colors(np.linspace(0, 1, 64))).astype(np.float64)
    lightness = np.cbrt(linear @ [0.2126, 0.7152, 0.0722])
    steps = np.diff(lightness)
    assert (steps > 0).all()
    np.testing.assert_array_equal(heat_colors([-5, 0]), heat_colors([0, 0]))
    np.testing.assert_array_equal(heat_colors([1, 9]), heat_colors([1, 1]))


def test_a_scale_of_equal_or_missing_values_is_one() -> None:
    assert (Heat([3, 3]).low, Heat([3, 3]).high) == (3, 3)
    assert Heat([3, 3]).shares([3.0]).tolist() == [0]
    nothing = Heat([float("nan")])
    assert (nothing.low, nothing.high) == (0, 1)
    assert np.isnan(nothing.shares(nothing.values)).all()


@pytest.mark.parametrize(
    ("wrap", "u", "expected"),
    [
        ("repeat", 1.25, 0.0),
        ("repeat", -0.25, 1.0),
        ("repeat", 0.0, 0.5),  # half of the last column, half of the first
        ("mirror", 1.25, 1.0),
        ("mirror", -0.25, 0.0),
        ("mirror", 1.0, 1.0),
        ("clamp", 7.0, 1.0),
        ("clamp", -7.0, 0.0),
        ("clamp", 0.5, 0.5),
    ],
)
def test_wrapping_and_bilinear_filtering(wrap: Any, u: float, expected: float) -> None:
    black_white = np.zeros((1, 2, 4), np.uint8)
    black_white[..., 3] = 255
    black_white[0, 1, :3] = 255
    found = Texture(black_white).read([[u, 0.5]], wrap=(wrap, "clamp"))[0]
    np.testing.assert_allclose(found, [expected] * 3 + [1], atol=1e-6)


@pytest.mark.parametrize(
    ("u", "expected"), [(0.49, 0.0), (0.51, 1.0), (0.99, 1.0), (1.01, 0.0), (-0.01, 1.0)]
)
def test_the_nearest_texel_is_not_mixed_with_others(u: float, expected: float) -> None:
    black_white = np.zeros((2, 2, 4), np.uint8)
    black_white[..., 3] = 255
    black_white[:, 1, :3] = 255
    texture = Texture(black_white)
    for v in (0.0, 0.3, 0.5, 1.0):
        near = texture.read([[u, v]], filter="nearest")[0]
        assert near.tolist() == [expected] * 3 + [1]
    # From afar, several texels are one pixel, and what is nearest would flicker.
    far = texture.read([[u, 0.5]], 2.0, filter="nearest")[0]
    assert far.tolist() == texture.read([[u, 0.5]], 2.0)[0].tolist()


def test_far_away_a_checkerboard_is_grey() -> None:
    board = np.zeros((64, 64, 4), np.uint8)
    board[..., 3] = 255
    board[::2, ::2, :3] = board[1::2, 1::2, :3] = 255
    texture = Texture(board)
    uvs = np.random.default_rng(4).random((50, 2))
    np.testing.assert_allclose(texture.read(uvs, 16.0)[:, :3], 0.5, atol=0.01)
    assert np.ptp(texture.read(uvs)[:, 0]) > 0.5


def test_clear_texels_lend_no_color_to_their_neighbours() -> None:
    texels = np.zeros((2, 2, 4), np.uint8)
    texels[0, 0] = (255, 255, 255, 255)  # the others are clear, and black
    np.testing.assert_allclose(
        Texture(texels).read([[0.5, 0.5]], 2.0)[0], [1, 1, 1, 0.25], atol=2e-3
    )


@pytest.mark.parametrize("size", [(5, 3), (1, 7), (3000, 2)])
def test_textures_of_any_size(size: tuple[int, int]) -> None:
    texels = np.full((size[1], size[0], 3), 188, np.uint8)
    texture = Texture.decode(png(texels).data, "here")
    assert max(texture.size) <= 2048
    for footprint in (1.0, 4.0, 1e9, np.inf):
        color = texture.read([[0.3, 0.9]], footprint)[0]
        np.testing.assert_allclose(color, [0.503, 0.503, 0.503, 1], atol=0.01)
