"""Flat things in known places, for pictures whose pixels can be told beforehand."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from bunraku.model import Attachment, Character, Geometry, Image, Material, Mesh, Part, Skeleton
from bunraku.stage import Stage

RED = Material("red", (1.0, 0.0, 0.0, 1.0))
BLUE = Material("blue", (0.0, 0.0, 1.0, 1.0))
FACES = [[0, 1, 2], [0, 2, 3]]
PLAIN = {"view": (0.0, 0.0), "ground": False, "background": ((0, 255, 0), (0, 255, 0))}


def png(texels: npt.ArrayLike) -> Image:
    """Texels (H, W, 3 or 4) as an image of a character."""
    encoded = io.BytesIO()
    Pillow.fromarray(np.asarray(texels, np.uint8)).save(encoded, "PNG")
    return Image(encoded.getvalue(), "image/png")


def quad(
    center: Sequence[float] = (0, 0, 0),
    half: float = 1.0,
    normals: bool = True,
    colors: npt.ArrayLike | None = None,
) -> Geometry:
    """A square that faces +Z; its texture's top left is at its −X, +Y."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * half + center
    return Geometry(
        corners.astype(np.float32),
        np.tile(np.float32([0, 0, 1]), (4, 1)) if normals else None,
        uvs=(np.float32([[0, 1], [1, 1], [1, 0], [0, 0]]),),
        colors=() if colors is None else (np.asarray(colors, np.float32),),
    )


def stage_of(
    *shown: tuple[Geometry, Material],
    images: tuple[Image, ...] = (),
    scales: Sequence[Sequence[float]] | None = None,
) -> Stage:
    """A stage of one node for each geometry."""
    count = len(shown)
    skeleton = Skeleton(
        tuple(f"node{i}" for i in range(count)),
        [-1] * count,
        scales=np.ones((count, 3)) if scales is None else scales,
    )
    meshes = tuple(Mesh("", (g,), (Part(0, FACES, i),)) for i, (g, _) in enumerate(shown))
    attachments = tuple(Attachment(i, i) for i in range(count))
    materials = tuple(material for _, material in shown)
    return Stage(Character(skeleton, meshes, (), attachments, materials, images))
