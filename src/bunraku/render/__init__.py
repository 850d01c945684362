"""Pictures without a graphics card: rays from a camera, on `bunraku.query`.

`render` makes one picture of a stage, `render_clip` a GIF or APNG of its motion; `Renderer` is
what both are made of.
"""

from bunraku.query import Camera
from bunraku.render.film import Film, render_clip, save_picture
from bunraku.render.heat import Heat
from bunraku.render.renderer import Renderer, render

__all__ = ["Camera", "Film", "Heat", "Renderer", "render", "render_clip", "save_picture"]
