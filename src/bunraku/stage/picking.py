"""From a hit among all triangles of a stage to what stands there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.model import Character
from bunraku.query import Hits, Pick
from bunraku.query.pick import held_by
from bunraku.stage.ranges import Range


def described(
    character: Character,
    ranges: tuple[Range, ...],
    hit: Hits,
    origin: npt.ArrayLike,
    direction: npt.ArrayLike,
) -> Pick | None:
    """What one ray has hit, with its normal; None for a miss."""
    row = triangle = int(hit.primitive)
    if row < 0 or hit.normal is None:
        return None
    meshes = character.meshes
    for span, part in ((each, i) for each in ranges for i in each.parts):
        piece = meshes[span.mesh].parts[part]
        count = len(piece.faces) if piece.topology == "triangles" else 0
        if triangle < count:
            break
        triangle -= count
    u, v, t = float(hit.u), float(hit.v), float(hit.t)
    shares = np.array([1 - u - v, u, v])
    along = np.asarray(direction, np.float64)
    skin = character.attachments[span.attachment].skin
    geometry = meshes[span.mesh].geometries[span.geometry]
    corners = span.wound(piece.faces)[triangle]
    held = () if skin is None else held_by(geometry, character.skins[skin], corners, shares)
    return Pick(
        *(span.node, span.mesh, span.geometry, part, triangle, row, shares),
        point=np.asarray(origin, np.float64) + t * along,
        normal=hit.normal.astype(np.float64),
        distance=t * float(np.linalg.norm(along)),
        joints=held,
    )
