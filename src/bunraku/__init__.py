"""Pose, skin, query, check, convert and show rigged characters: glTF, VRM, PMX/VMD and more.

>>> import bunraku
>>> puppet = bunraku.make_puppet()
>>> stage = bunraku.Stage(puppet, puppet.clips[0])
>>> stage.deform(0.5, method="dqs").positions.shape == (1, stage.vertex_count, 3)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bunraku.baking import bake as bake
    from bunraku.demo import make_puppet as make_puppet
    from bunraku.errors import BunrakuError as BunrakuError
    from bunraku.errors import FormatError as FormatError
    from bunraku.errors import Note as Note
    from bunraku.errors import RigError as RigError
    from bunraku.errors import UnsupportedError as UnsupportedError
    from bunraku.formats import load as load
    from bunraku.formats import load_clips as load_clips
    from bunraku.formats import save as save
    from bunraku.formats import save_clip as save_clip
    from bunraku.model import Character as Character
    from bunraku.model import Clip as Clip
    from bunraku.model import Mesh as Mesh
    from bunraku.model import Pose as Pose
    from bunraku.model import Skeleton as Skeleton
    from bunraku.model import Skin as Skin
    from bunraku.model import Track as Track
    from bunraku.retargeting import retarget as retarget
    from bunraku.retargeting import standard_mmd_skeleton as standard_mmd_skeleton
    from bunraku.retargeting.fitted import load_motions as load_motions
    from bunraku.stage import Deformation as Deformation
    from bunraku.stage import Stage as Stage

__version__ = "0.1.0"

# The rooms behind the public face are opened when they are first asked for, so that
# `bunraku --help` does not pay for NumPy and `import bunraku` not for what it does not use.
_ROOMS = {
    "bunraku.baking": ["bake"],
    "bunraku.demo": ["make_puppet"],
    "bunraku.errors": ["BunrakuError", "FormatError", "Note", "RigError", "UnsupportedError"],
    "bunraku.formats": ["load", "load_clips", "save", "save_clip"],
    "bunraku.model": ["Character", "Clip", "Mesh", "Pose", "Skeleton", "Skin", "Track"],
    "bunraku.retargeting": ["retarget", "standard_mmd_skeleton"],
    "bunraku.retargeting.fitted": ["load_motions"],
    "bunraku.stage": ["Deformation", "Stage"],
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bunraku' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
