"""Files in and out: every format as a lossless document and a bridge to the model."""

from bunraku.formats.registry import load, load_clips, recognised, save, save_clip

__all__ = ["load", "load_clips", "recognised", "save", "save_clip"]
