"""Bending skins: vertex buffers by palettes of matrices, and the weights that bind them.

`deform` answers with new arrays, `deform_into` writes into given ones; `sdef` has MMD's own ways
of bending, `weights` puts influences in order. Rooms below need no pose: a palette (frames, joints,
3, 4) is all they take.
"""

from bunraku.skinning import weights
from bunraku.skinning.deform import Deformed, Method, deform, deform_into

__all__ = ["Deformed", "Method", "deform", "deform_into", "weights"]
