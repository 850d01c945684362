"""Draw the README's picture: `python docs/picture.py`.

The demo puppet at one moment of its clip, and the demo's comparison of linear blend with dual
quaternions beside it.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from bunraku import Stage, make_puppet
from bunraku.demo.comparison import MOMENT, comparison
from bunraku.render import Renderer

OUT = Path(__file__).parent / "_static" / "puppet.png"


def main() -> None:
    """Draw, and write with 256 colours, which takes a fraction of the bytes."""
    puppet = make_puppet(2)
    close = comparison(puppet)
    height = close.shape[0]
    size = (height * 7 // 10, height)
    whole = Renderer(Stage(puppet, 0), method="dqs", view="front", size=size).picture(MOMENT)
    sheet = Image.fromarray(np.concatenate([whole, close], axis=1))
    # quantize() dithers only towards a given palette.
    palette = sheet.quantize(256, kmeans=2)
    sheet.quantize(palette=palette).save(OUT, optimize=True)
    print(f"{OUT.name}: {sheet.width} × {sheet.height}, {OUT.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
