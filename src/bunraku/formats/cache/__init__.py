"""Geometry caches: vertex positions frame by frame, streamed to disk.

Each writer takes the frames as an iterable of (f, V, 3) arrays, so that a long bake never
has to be in memory as a whole, and replaces the target only when everything is written.
"""

from bunraku.formats.cache.npy import write_npy, write_npz
from bunraku.formats.cache.obj import Faces, write_obj
from bunraku.formats.cache.pc2 import write_pc2

__all__ = ["Faces", "write_npy", "write_npz", "write_obj", "write_pc2"]
