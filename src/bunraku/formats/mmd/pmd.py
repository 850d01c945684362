"""PMD models, the format before PMX, as they are in the file.

All records but IK chains and skins have one size and stay structured arrays over the file's
own bytes: left-handed space, names as NUL-terminated cp932 fields (`text.decode_field`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note

Array = npt.NDArray[Any]

NONE = 0xFFFF  # the index that names nothing
TOON_COUNT = 10

VERTEX = np.dtype(
    [
        ("position", "<f4", (3,)),
        ("normal", "<f4", (3,)),
        ("uv", "<f4", (2,)),
        ("bones", "<u2", (2,)),
        ("weight", "u1"),  # of the first bone, 0..100
        ("edge_off", "u1"),
    ]
)
MATERIAL = np.dtype(
    [
        ("diffuse", "<f4", (4,)),
        ("specular_power", "<f4"),
        ("specular", "<f4", (3,)),
        ("ambient", "<f4", (3,)),
        ("toon", "i1"),  # 0..9 into the toon list, -1 none
        ("edge", "u1"),
        ("index_count", "<u4"),
        ("texture", "S20"),  # "a.bmp*b.sph": texture and sphere map
    ]
)
# kinds: 0 rotate, 1 rotate and move, 2 IK, 4 under IK, 5 append (source in `link`, ratio 1),
# 6 IK target, 7 hidden, 8 twist about the way to its tail, 9 append from `tail` by link / 100
BONE = np.dtype(
    [
        ("name", "S20"),
        ("parent", "<u2"),
        ("tail", "<u2"),  # 0: none
        ("kind", "u1"),
        ("link", "<u2"),
        ("position", "<f4", (3,)),
    ]
)
SKIN_OFFSET = np.dtype([("vertex", "<u4"), ("offset", "<f4", (3,))])
FRAME_BONE = np.dtype([("bone", "<u2"), ("frame", "u1")])
BODY = np.dtype(
    [
        ("name", "S20"),
        ("bone", "<u2"),
        ("group", "u1"),
        ("mask", "<u2"),
        ("shape", "u1"),
        ("size", "<f4", (3,)),
        ("position", "<f4", (3,)),  # relative to its bone
        ("rotation", "<f4", (3,)),
        ("mass", "<f4"),
        ("linear_damping", "<f4"),
        ("angular_damping", "<f4"),
        ("restitution", "<f4"),
        ("friction", "<f4"),
        ("mode", "u1"),
    ]
)
JOINT = np.dtype(
    [
        ("name", "S20"),
        ("bodies", "<u4", (2,)),
        ("position", "<f4", (3,)),
        ("rotation", "<f4", (3,)),
        ("position_lower", "<f4", (3,)),
        ("position_upper", "<f4", (3,)),
        ("rotation_lower", "<f4", (3,)),
        ("rotation_upper", "<f4", (3,)),
        ("position_spring", "<f4", (3,)),
        ("rotation_spring", "<f4", (3,)),
    ]
)
NAME = np.dtype("S20")
FRAME_NAME = np.dtype("S50")
TOON = np.dtype("S100")


def _none(dtype: npt.DTypeLike, *shape: int) -> Callable[[], Array]:
    return lambda: np.zeros(shape or 0, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class PmdIk:
    """An IK chain.

    Attributes:
        bone: the goal.
        target: the bone brought there (the effector).
        iterations: at most.
        weight: a quarter of the step limit in radians.
        links: (n,) uint16 bones, from the target upwards.
    """

    bone: int
    target: int
    iterations: int
    weight: float
    links: Array = field(default_factory=_none("<u2"), repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PmdSkin:
    """A vertex morph.

    Attributes:
        panel: 0 base, 1 brow, 2 eye, 3 mouth, 4 other.
        offsets: (n,) `SKIN_OFFSET`. The base lists vertices with their positions; all others
            refer to entries of the base.
    """

    name: str
    panel: int
    offsets: Array = field(default_factory=_none(SKIN_OFFSET), repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PmdEnglish:
    """English names, in the order of what they name; skins without the base."""

    name: str = ""
    comment: str = ""
    bones: Array = field(default_factory=_none(NAME), repr=False)
    skins: Array = field(default_factory=_none(NAME), repr=False)
    frames: Array = field(default_factory=_none(FRAME_NAME), repr=False)


@dataclass(frozen=True, eq=False)
class PmdFile:
    """A PMD model as it is in the file. Treat it as immutable.

    Attributes:
        vertices, materials, bones: (n,) records `VERTEX`, `MATERIAL`, `BONE`.
        faces: (F, 3) uint16.
        iks, skins: see there; the first skin is the base.
        skin_frame: (n,) uint16 skins shown in MMD's panel.
        frame_names: (n,) `FRAME_NAME`; frame_bones: (n,) `FRAME_BONE`, frames counted from 1.
        english: None where the flag says there are no English names.
        toons: (10,) `TOON` file names.
        bodies, joints: (n,) records `BODY`, `JOINT`.
        tail: how many of its four parts the file has: English names, toons, bodies, joints.
        trailing: bytes after the last part.
        source: name of the file, for messages.
        folder: where its textures are looked up; None when read from bytes.
        notes: what was irregular but readable.
    """

    name: str = ""
    comment: str = field(default="", repr=False)
    vertices: Array = field(default_factory=_none(VERTEX), repr=False)
    faces: Array = field(default_factory=_none("<u2", 0, 3), repr=False)
    materials: Array = field(default_factory=_none(MATERIAL), repr=False)
    bones: Array = field(default_factory=_none(BONE), repr=False)
    iks: tuple[PmdIk, ...] = field(default=(), repr=False)
    skins: tuple[PmdSkin, ...] = field(default=(), repr=False)
    skin_frame: Array = field(default_factory=_none("<u2"), repr=False)
    frame_names: Array = field(default_factory=_none(FRAME_NAME), repr=False)
    frame_bones: Array = field(default_factory=_none(FRAME_BONE), repr=False)
    english: PmdEnglish | None = field(default=None, repr=False)
    toons: Array = field(default_factory=_none(TOON, TOON_COUNT), repr=False)
    bodies: Array = field(default_factory=_none(BODY), repr=False)
    joints: Array = field(default_factory=_none(JOINT), repr=False)
    tail: int = 4
    version: float = 1.0
    trailing: bytes = field(default=b"", repr=False)
    source: str = "PMD"
    folder: Path | None = None
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        expected = {
            "vertices": VERTEX,
            "materials": MATERIAL,
            "bones": BONE,
            "skin_frame": np.dtype("<u2"),
            "frame_names": FRAME_NAME,
            "frame_bones": FRAME_BONE,
            "toons": TOON,
            "bodies": BODY,
            "joints": JOINT,
        }
        for name, dtype in expected.items():
            array = getattr(self, name)
            if array.ndim != 1 or array.dtype != dtype:
                raise FormatError(f"{self.source}: {name}: expected (n,) records of {dtype}")
        if self.faces.shape[1:] != (3,) or self.faces.dtype != np.dtype("<u2"):
            raise FormatError(f"{self.source}: faces: expected (F, 3) uint16")
        if len(self.toons) != TOON_COUNT:
            raise FormatError(f"{self.source}: toons: expected 10, found {len(self.toons)}")
