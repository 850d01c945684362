"""The puppet's one texture: face, hair, indigo kimono with waves, vermilion sash, painted here."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from bunraku.demo.shells import through
from bunraku.model.arrays import Float64

SIZE = 1024
_FINE = 2  # painted this many times larger, then averaged: Pillow's lines have hard edges

SKIN, BLUSH = (246, 230, 214), (232, 150, 138)
HAIR, SHEEN = (40, 35, 48), (84, 76, 100)
INDIGO, WAVE, FOAM = (34, 50, 104), (46, 72, 138), (226, 232, 232)
VERMILION, DEEP_RED = (202, 62, 46), (150, 36, 34)
GOLD, CREAM, STRAW = (222, 170, 74), (248, 240, 222), (206, 170, 108)
PLUM, WHITE, INK = (70, 58, 84), (250, 248, 244), (24, 20, 26)
SHADE = (58, 48, 56)

Color = tuple[int, int, int]
Rect = tuple[int, int, int, int]

# Rectangles in pixels of the atlas: left, top, right, bottom.
_PICTURES: dict[str, Rect] = {
    "head": (0, 0, 432, 448),
    "trunk": (432, 0, 720, 320),
    "sash": (720, 0, 1024, 160),
    "leg": (720, 160, 912, 448),
    "arm": (912, 160, 1024, 448),
    "eye": (432, 320, 560, 384),
    "skirt": (0, 448, 560, 1024),
    "sleeve": (560, 448, 1024, 840),
    "bow": (560, 840, 760, 1024),
    "tail": (760, 840, 836, 1024),
}
_PLAIN: dict[str, Color] = {
    "skin": SKIN,
    "finger": (244, 216, 200),
    "hair": HAIR,
    "lips": (196, 54, 56),
    "vermilion": VERMILION,
    "deep red": DEEP_RED,
    "gold": GOLD,
    "cream": CREAM,
    "straw": STRAW,
    "white": WHITE,
    "blossom": (240, 172, 178),
    "ink": INK,
}
_SWATCH = 24

HEAD_BOTTOM, HEAD_TOP = 1.353, 1.583  # heights in metres that the head's rectangle spans
EYE_REACH = (0.0225, 0.0145)  # half width and half height in metres of the eye's rectangle


def region(name: str) -> tuple[float, float, float, float]:
    """Rectangle of a picture or the inside of a plain colour's swatch, in coordinates 0 … 1.

    >>> region("head")
    (0.0, 0.0, 0.421875, 0.4375)
    """
    if name in _PICTURES:
        # Half a pixel of margin keeps a neighbour's colour out of bilinear filtering.
        left, top, right, bottom = _PICTURES[name]
        margin = 0.0 if name == "head" else 1.0
        box = (left + margin, top + margin, right - margin, bottom - margin)
    else:
        left, top = _swatch(name)
        box = (left + 8.0, top + 8.0, left + _SWATCH - 8.0, top + _SWATCH - 8.0)
    return (box[0] / SIZE, box[1] / SIZE, box[2] / SIZE, box[3] / SIZE)


def paint() -> bytes:
    """The atlas as PNG bytes; the same bytes at every call."""
    fine = Image.new("RGB", (SIZE * _FINE, SIZE * _FINE), INDIGO)
    painters: dict[str, Callable[[int, int], Image.Image]] = {
        "head": _head,
        "trunk": _trunk,
        "sash": _sash,
        "leg": _leg,
        "arm": _arm,
        "eye": _eye,
        "skirt": _skirt,
        "sleeve": _sleeve,
        "bow": partial(_diamonds, step=40 * _FINE),
        "tail": partial(_diamonds, step=38 * _FINE),
    }
    for name, painter in painters.items():
        left, top, right, bottom = (edge * _FINE for edge in _PICTURES[name])
        fine.paste(painter(right - left, bottom - top), (left, top))
    draw = ImageDraw.Draw(fine)
    for name, color in _PLAIN.items():
        x, y = (edge * _FINE for edge in _swatch(name))
        draw.rectangle((x, y, x + _SWATCH * _FINE - 1, y + _SWATCH * _FINE - 1), color)
    file = io.BytesIO()
    fine.reduce(_FINE).save(file, "PNG")
    return file.getvalue()


def _swatch(name: str) -> tuple[int, int]:
    row, column = divmod(list(_PLAIN).index(name), 8)
    return 432 + _SWATCH * column, 384 + _SWATCH * row


def _mix(picture: Image.Image, color: Color, amount: Float64) -> Image.Image:
    """Blend a colour over a picture by an amount (height, width) of 0 … 1."""
    mask = Image.fromarray((np.clip(amount, 0, 1) * 255).astype(np.uint8))
    picture.paste(Image.new("RGB", picture.size, color), (0, 0), mask)
    return picture


def _grid(width: int, height: int) -> tuple[Float64, Float64]:
    """Pixel centres as fractions of the rectangle, across and down."""
    across = (np.arange(width) + 0.5) / width
    down = (np.arange(height) + 0.5) / height
    return np.meshgrid(across, down)


def waves(radius: int) -> Image.Image:
    """One tile, 2 · radius by radius, of seigaiha: the overlapping blue sea waves.

    Rows of discs stand half a radius apart, each row in front of the one above it and shifted
    by a radius; a pixel belongs to the lowest disc that covers it, ringed by its distance.
    """
    x, y = np.meshgrid(np.arange(2 * radius) + 0.5, np.arange(radius) + 0.5)
    distance = np.full(x.shape, np.inf)
    for row in range(-2, 5):
        dx = (x - (row % 2) * radius + radius) % (2 * radius) - radius
        here = np.hypot(dx, y - row * radius / 2)
        distance = np.where(here <= radius, here, distance)
    band = np.searchsorted([0.14, 0.34, 0.44, 0.66, 0.75, 0.92], distance / radius)
    colors = np.array([FOAM, WAVE, FOAM, WAVE, FOAM, INDIGO, FOAM], np.uint8)
    return Image.fromarray(colors[band])


def _cloth(width: int, height: int, start: float, full: float) -> Image.Image:
    """Indigo that turns into waves below a swell between two heights (0 … 1), edged in gold."""
    picture = Image.new("RGB", (width, height), INDIGO)
    radius = 35 * _FINE  # a divisor of the skirt's width, so that the back has no seam
    tile, sea = waves(radius), Image.new("RGB", (width, height))
    for top in range(0, height, radius):
        for left in range(0, width, 2 * radius):
            sea.paste(tile, (left, top))
    x = np.linspace(0, 1, 96)
    y = start + (full - start) * (0.5 + 0.5 * np.cos(3 * np.pi * x))
    edge = list(zip((x * width).tolist(), (y * height).tolist(), strict=True))
    mask = Image.new("L", picture.size, 0)
    ImageDraw.Draw(mask).polygon([*edge, (width, height), (0, height)], 255)
    picture.paste(sea, (0, 0), mask)
    ImageDraw.Draw(picture).line(edge, GOLD, 5 * _FINE)
    return picture


def _head(width: int, height: int) -> Image.Image:
    span = HEAD_TOP - HEAD_BOTTOM
    # Soft colours at half the resolution, then hair and brows over them.
    x, y = _grid(width // 4, height // 4)
    angle, level = x * np.pi, HEAD_TOP - y * span
    soft = Image.new("RGB", (width // 4, height // 4), SKIN)
    cheek = np.exp(-(((angle - 0.70) / 0.25) ** 2) - ((level - 1.422) / 0.016) ** 2)
    lid = np.exp(-(((angle - 0.47) / 0.17) ** 2) - ((level - 1.466) / 0.010) ** 2)
    below = np.exp(-((angle / 0.10) ** 2) - ((level - 1.4245) / 0.004) ** 2)
    _mix(soft, BLUSH, np.maximum.reduce([0.50 * cheek, 0.45 * lid, 0.25 * below]))
    dark = Image.new("RGB", soft.size, HAIR)
    strands = 0.5 + 0.5 * np.sin(angle * 40 + 3 * np.sin(angle * 7))
    gloss = np.exp(-(((level - 1.556 + 0.012 * np.cos(angle)) / 0.008) ** 2))
    _mix(dark, SHEEN, 0.9 * gloss * strands)
    picture, hair = (image.resize((width, height)) for image in (soft, dark))

    def at(turn: float, metres: float) -> tuple[float, float]:
        return turn / np.pi * width, (HEAD_TOP - metres) / span * height

    mask = Image.new("L", picture.size, 0)
    turns = np.linspace(0, np.pi, 80)
    line = [at(*point) for point in zip(turns, hairline(turns), strict=True)]
    ImageDraw.Draw(mask).polygon([*line, (width, 0), (0, 0)], 255)
    picture.paste(hair, (0, 0), mask)
    turns = np.linspace(0.22, 0.66, 16)
    share = (turns - 0.22) / 0.44
    arch = 1.4905 + 0.0105 * np.sin(np.pi * (0.12 + 0.80 * share))
    half = 0.0030 * np.sin(np.pi * np.clip(share * 0.94 + 0.05, 0, 1)) ** 0.7
    brow = [at(*point) for point in zip(turns, arch + half, strict=True)]
    brow += [at(*point) for point in zip(turns[::-1], (arch - half)[::-1], strict=True)]
    ImageDraw.Draw(picture).polygon(brow, SHADE)
    return picture


def hairline(angle: npt.ArrayLike) -> Float64:
    """Height in metres above which the head is hair, by angle from the front (0 … π)."""
    knots = [(0, 1.533), (0.4, 1.535), (0.78, 1.522), (1.05, 1.493), (1.25, 1.455), (1.45, 1.432)]
    knots += [(1.70, 1.424), (2.10, 1.402), (np.pi, 1.388)]
    turns = np.asarray(angle, np.float64)
    return through(knots, turns.ravel()).reshape(turns.shape)


def _eye(width: int, height: int) -> Image.Image:
    """Almond eye seen from the front; the outer corner is on the right."""
    picture = Image.new("RGB", (width, height), INK)
    draw = ImageDraw.Draw(picture)

    def at(x: float, y: float) -> tuple[float, float]:
        return (0.5 + 0.5 * x) * width, (0.5 - 0.5 * y) * height

    def disc(x: float, y: float, reach: float, color: Color) -> None:
        left, top = at(x, y)
        size = reach * height / 2
        draw.ellipse((left - size, top - size, left + size, top + size), color)

    across = np.linspace(-0.70, 0.66, 24)
    arch = 1 - ((across + 0.02) / 0.72) ** 2
    upper = [at(x, 0.46 * a + 0.04 * x) for x, a in zip(across, arch, strict=True)]
    lower = [at(x, -0.66 * a + 0.10 * x) for x, a in zip(across, arch, strict=True)]
    draw.polygon(upper + lower[::-1], WHITE)
    disc(0.0, -0.06, 0.62, (58, 34, 30))
    disc(0.0, -0.06, 0.40, INK)
    disc(-0.10, 0.16, 0.20, WHITE)
    draw.line(upper, INK, 6 * _FINE)
    draw.polygon([at(0.60, 0.30), at(0.98, 0.52), at(0.98, 0.06), at(0.64, -0.10)], VERMILION)
    return picture


def _trunk(width: int, height: int) -> Image.Image:
    """Indigo with small dots; between the collars, the throat."""
    picture = Image.new("RGB", (width, height), INDIGO)
    draw = ImageDraw.Draw(picture)
    step = width // 6
    for row, y in enumerate(range(step // 2, height, step)):
        for x in range(step // 2 * (row % 2), width + step, step):
            size = 3 * _FINE
            draw.ellipse((x - size, y - size, x + size, y + size), WAVE)
    throat = ((0, 0), (1, 0), (1, 0.012), (0.22, 0.012), (0.16, 0.06), (0.075, 0.17), (0, 0.27))
    draw.polygon([(x * width, y * height) for x, y in throat], SKIN)
    return picture


def _sash(width: int, height: int) -> Image.Image:
    """Vermilion with a lattice of gold diamonds and a cream cord round the middle."""
    picture = _diamonds(width, height, height // 4)
    draw = ImageDraw.Draw(picture)
    for y, half, color in ((0.5, 0.075, DEEP_RED), (0.5, 0.055, CREAM)):
        draw.rectangle((0, (y - half) * height, width, (y + half) * height), color)
    for edge in (0.12, 0.88):
        draw.rectangle((0, (edge - 0.016) * height, width, (edge + 0.016) * height), GOLD)
    return picture


def _diamonds(width: int, height: int, step: int) -> Image.Image:
    picture = Image.new("RGB", (width, height), VERMILION)
    draw = ImageDraw.Draw(picture)
    for row, y in enumerate(range(step // 2, height + step, step)):
        for x in range(step * (row % 2), width + step, 2 * step):
            for size, color in ((0.42, GOLD), (0.27, VERMILION), (0.12, GOLD)):
                r = size * step
                draw.polygon([(x - r, y), (x, y - r), (x + r, y), (x, y + r)], color)
    return picture


def _leg(width: int, height: int) -> Image.Image:
    """Plum leggings; from the ankle to the calf, cloth wound round in slanting turns."""
    picture = Image.new("RGB", (width, height), PLUM)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0.52 * height, width, height), CREAM)
    for y in np.arange(0.61, 1.1, 1 / 15) * height:
        draw.line((0, y, width, y - 0.07 * height), STRAW, 2 * _FINE)
    draw.rectangle((0, 0.515 * height, width, 0.55 * height), VERMILION)
    return picture


def _arm(width: int, height: int) -> Image.Image:
    """Skin with a hint of warmth at the elbow and towards the hand."""
    _, y = _grid(width, height)
    picture = Image.new("RGB", (width, height), SKIN)
    warm = 0.16 * np.exp(-(((y - 0.47) / 0.05) ** 2)) + 0.30 * np.clip((y - 0.82) / 0.18, 0, 1)
    return _mix(picture, BLUSH, warm)


def _skirt(width: int, height: int) -> Image.Image:
    """Waves over the lower half; the front opens on a vermilion underskirt; vermilion lining."""
    picture = _cloth(width, height, 0.30, 0.50)
    draw = ImageDraw.Draw(picture)
    for wide, top, color in ((0.092, 0.30, CREAM), (0.074, 0.37, VERMILION)):
        draw.polygon([(0, top * height), (wide * width, 0.8 * height), (0, 0.8 * height)], color)
    draw.rectangle((0, 0.785 * height, width, height), VERMILION)
    return picture


def _sleeve(width: int, height: int) -> Image.Image:
    """Waves at the bottom of the pocket, vermilion lining past the cuff (to the right)."""
    picture = _cloth(width, height, 0.45, 0.62)
    ImageDraw.Draw(picture).rectangle((0.745 * width, 0, width, height), VERMILION)
    return picture
