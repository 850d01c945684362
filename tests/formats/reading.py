"""What small glTF files become when they are read."""

from __future__ import annotations

from bunraku.formats.gltf import character_from_gltf, read_gltf
from bunraku.model import Character
from tests.formats.sketch import Sketch


def read(sketch: Sketch) -> Character:
    return character_from_gltf(read_gltf(sketch.glb(), name="x.glb"))


def codes(found: Character) -> list[str]:
    return [note.code for note in found.notes]
