"""Pictures without a graphics card: rays from a camera, on `bunraku.query`.

`render` makes one picture of a stage, `render_clip` a GIF or APNG of its motion; `Renderer` is
what both are made of. `as_bones` gives a character bones to be seen instead of its skin.
"""

from bunraku.query import Camera
from bunraku.render.bones import as_bones
from bunraku.render.cutouts import CutOuts
from bunraku.render.film import Film, render_clip, save_picture
from bunraku.render.heat import Heat
from bunraku.render.renderer import Renderer, render

__all__ = [
    "Camera",
    "CutOuts",
    "Film",
    "Heat",
    "Renderer",
    "as_bones",
    "render",
    "render_clip",
    "save_picture",
]
