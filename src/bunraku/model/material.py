"""The little that Bunraku needs to know of a surface; the document keeps the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bunraku.errors import RigError


@dataclass(frozen=True)
class Image:
    """An encoded picture, exactly as the file holds it.

    Attributes:
        data: PNG, JPEG, … bytes.
        mime_type: e.g. "image/png".
        name: may be empty.
    """

    data: bytes
    mime_type: str
    name: str = ""


@dataclass(frozen=True)
class Material:
    """What a renderer needs to show a part.

    Attributes:
        name: may be empty.
        base_color: linear red, green, blue, alpha.
        image: index into `Character.images` of the base colour texture, or None.
        uv_set: which of the geometry's `uvs` that texture reads.
        alpha_mode: "opaque", "mask" (cut out below `alpha_cutoff`) or "blend".
        alpha_cutoff: used by "mask" only.
        double_sided: whether back faces show.

    >>> Material("skin").base_color
    (1.0, 1.0, 1.0, 1.0)
    """

    name: str = ""
    base_color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    image: int | None = None
    uv_set: int = 0
    alpha_mode: Literal["opaque", "mask", "blend"] = "opaque"
    alpha_cutoff: float = 0.5
    double_sided: bool = False

    def __post_init__(self) -> None:
        if len(self.base_color) != 4:
            raise RigError(f"material {self.name!r}: base_color needs four numbers")
        if self.alpha_mode not in ("opaque", "mask", "blend"):
            raise RigError(f"material {self.name!r}: alpha_mode {self.alpha_mode!r}")
