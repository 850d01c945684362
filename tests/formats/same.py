"""Whether two characters are the same, up to what no format can tell apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.model import Character, Geometry, differences


def changed(a: Character, b: Character) -> list[str]:
    """Places where two characters differ.

    The name is the file's; joint slots without weight may name any joint.
    """
    return differences(_plain(a), _plain(b))


def _plain(character: Character) -> Character:
    meshes = tuple(
        replace(mesh, geometries=tuple(_used_slots(geometry) for geometry in mesh.geometries))
        for mesh in character.meshes
    )
    return replace(character, name="", meshes=meshes)


def _used_slots(geometry: Geometry) -> Geometry:
    if geometry.joints is None or geometry.weights is None:
        return geometry
    return replace(geometry, joints=np.where(geometry.weights > 0, geometry.joints, 0))
