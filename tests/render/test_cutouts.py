"""Picks that look through what textures cut out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.model import Image, Material
from bunraku.render import CutOuts
from bunraku.stage import Stage
from tests.render.flats import BLUE, RED, png, quad, stage_of

# Alpha of a card of leaves, 4 × 4 texels on 2 × 2 metres: gaps, leaves, and one that withers.
ALPHA = np.array([[0, 255, 0, 0], [255, 255, 0, 0], [0, 0, 100, 100], [0, 0, 100, 100]])
LEAVES = png(np.concatenate([np.full((4, 4, 3), 200), ALPHA[..., None]], axis=-1))
CARD = Material("leaves", image=0, alpha_mode="mask")


def card(material: Material = CARD, image: Image = LEAVES) -> Stage:
    """A card of leaves in front of another one, turned by half a turn, before a red wall."""
    behind = replace(material, uv_scale=(-1.0, -1.0), uv_offset=(1.0, 1.0))
    shown = ((quad(), material), (quad((0, 0, -1)), behind), (quad((0, 0, -2)), RED))
    return stage_of(*shown, images=(image,))


def picked(stage: Stage, x: float, y: float) -> int:
    met = stage.pick(0.0, [x, y, 5], [0, 0, -1], ignore=CutOuts(stage))
    assert met is not None
    assert met.distance == 5 + met.node
    return met.node


def test_gaps_show_what_is_behind() -> None:
    stage = card()
    centers = np.arange(-0.75, 1, 0.5)
    solid = (ALPHA >= 128) * 1
    expected = np.where(solid, 0, np.where(solid[::-1, ::-1], 1, 2))
    assert [[picked(stage, x, -y) for x in centers] for y in centers] == expected.tolist()


@pytest.mark.parametrize(("cutoff", "node"), [(0.39, 0), (0.40, 1)])
def test_the_cutoff_of_the_material_counts(cutoff: float, node: int) -> None:
    stage = card(replace(CARD, alpha_cutoff=cutoff))
    assert picked(stage, 0.5, -0.5) == node  # 100 of 255 is 0.392


@pytest.mark.parametrize(("x", "y", "node"), [(-0.25, 0.25, 0), (0.5, -0.5, 0), (0.75, 0.75, 2)])
def test_what_blends_is_met_unless_it_is_wholly_clear(x: float, y: float, node: int) -> None:
    assert picked(card(replace(CARD, alpha_mode="blend")), x, y) == node


def test_without_an_alpha_mode_textures_cut_nothing() -> None:
    stage = card(replace(CARD, alpha_mode="opaque"))
    cut_outs = CutOuts(stage)
    met = stage.pick(0.0, [0.75, 0.75, 5], [0, 0, -1], ignore=cut_outs)
    assert met is not None
    assert met.node == 0
    assert cut_outs.notes == ()


def test_gaps_before_nothing() -> None:
    stage = stage_of((quad(), CARD), images=(LEAVES,))
    assert stage.pick(0.0, [0.75, 0.75, 5], [0, 0, -1], ignore=CutOuts(stage)) is None


def test_a_texture_that_cannot_be_read_is_noted_when_it_is_needed() -> None:
    broken = Image(b"no picture", "image/png")
    stage = card(image=broken)
    cut_outs = CutOuts(stage)
    met = stage.pick(0.0, [0.75, 0.75, 5], [0, 0, -1], ignore=cut_outs)
    assert met is not None
    assert met.node == 0
    assert [note.code for note in cut_outs.notes] == ["image-unreadable"]
    spared = CutOuts(stage_of((quad(), BLUE), (quad((0, 0, -1)), CARD), images=(broken,)))
    assert spared.notes == ()


def test_where_a_mirrored_node_shows_the_card_gaps_are_mirrored() -> None:
    stage = stage_of(
        (quad(), CARD), (quad((0, 0, -1)), RED), images=(LEAVES,), scales=[[-1, 1, 1], [1, 1, 1]]
    )
    assert picked(stage, 0.25, 0.25) == 0
    assert picked(stage, -0.25, 0.25) == 1
