"""Materials of MMD and of the model: what a renderer without MMD's shader needs of them."""

from __future__ import annotations

import numpy as np

from bunraku.errors import Note
from bunraku.formats.mmd.pmx import MaterialFlag, PmxFile, PmxMaterial, Vec4
from bunraku.formats.mmd.textures import has_alpha
from bunraku.model import Character, Image, Material
from bunraku.model.material import to_display, to_linear

_UNDRAWN = MaterialFlag.POINTS | MaterialFlag.LINES


def read_materials(
    file: PmxFile, images: tuple[Image, ...], notes: list[Note]
) -> tuple[Material, ...]:
    """Diffuse colour, texture, transparency and sides of each material.

    MMD blends everything; here a material is opaque unless its colour or its texture's header
    says that it is not, so that rays may stop at it.
    """
    materials = []
    for i, material in enumerate(file.materials):
        image = material.texture if 0 <= material.texture < len(images) else None
        pictured = image is not None and bool(images[image].data)
        color = np.nan_to_num(np.array(material.diffuse, np.float64), nan=1.0).clip(0, 1)
        clear = color[3] < 1 or (image is not None and has_alpha(images[image]))
        if material.flags & _UNDRAWN:
            message = "is drawn as points or lines; its faces are kept as triangles"
            notes.append(Note("material-topology", message, f"materials[{i}]"))
        materials.append(
            Material(
                material.name,
                linear_color((color[0], color[1], color[2], color[3])),
                image if pictured else None,
                alpha_mode="blend" if clear else "opaque",
                double_sided=bool(material.flags & MaterialFlag.DOUBLE_SIDED),
            )
        )
    return tuple(materials)


def write_materials(
    character: Character, corners: list[int], notes: list[Note]
) -> tuple[PmxMaterial, ...]:
    """A record for each material, and one for faces without, if there are.

    Args:
        corners: of each material's faces, and of those without.
    """
    for i, material in enumerate(character.materials):
        if material.image is not None and material.wrap != ("repeat", "repeat"):
            message = f"wraps by {' and '.join(material.wrap)}; MMD repeats every texture"
            notes.append(Note("texture-wrap-dropped", message, f"materials[{i}]"))
        if material.image is not None and material.filter != "linear":
            message = "shows the nearest texel; MMD mixes those of every texture"
            notes.append(Note("texture-filter-dropped", message, f"materials[{i}]"))
    materials = [
        PmxMaterial(
            material.name or f"material{i}",
            diffuse=display_color(material.base_color),
            ambient=(0.5, 0.5, 0.5),
            flags=int(MaterialFlag.DOUBLE_SIDED) if material.double_sided else 0,
            texture=-1 if material.image is None else material.image,
            index_count=count,
        )
        for i, (material, count) in enumerate(zip(character.materials, corners, strict=False))
    ]
    if corners[-1]:
        materials.append(PmxMaterial("material", index_count=corners[-1]))
    return tuple(materials)


def linear_color(color: Vec4) -> Vec4:
    """A display colour as linear light; alpha stays.

    >>> linear_color((0.0, 1.0, 0.5, 0.25))[3]
    0.25
    """
    red, green, blue = to_linear(color[:3]).tolist()
    return (red, green, blue, float(color[3]))


def display_color(color: Vec4) -> Vec4:
    """Linear light as a display colour; the inverse of `linear_color`."""
    red, green, blue = to_display(np.clip(color[:3], 0, 1)).tolist()
    return (red, green, blue, float(color[3]))
