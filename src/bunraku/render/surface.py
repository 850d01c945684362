"""What of a stage stays the same while it moves: its triangles and how they are painted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, RigError
from bunraku.model import Character, Material, Mesh, Part
from bunraku.model.arrays import Float32, Int32
from bunraku.render.texture import Texture
from bunraku.stage import Range, Stage

Bool = npt.NDArray[np.bool_]
# What a part without a material looks like; files that say nothing of sides mean to be seen.
PLAIN = Material("plain", double_sided=True)
# Barycentric weights of the places where a triangle is asked how solid it is.
_PROBES = np.array(
    [[1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4], [1, 4, 4], [4, 1, 4], [4, 4, 1]], np.float32
)
_PROBES /= _PROBES.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles and paint of everything a stage shows.

    Attributes:
        faces: (T, 3) int32 vertices of the stage, wound counter-clockwise seen from outside
            also where a node mirrors its mesh.
        material: (T,) int32 index into `materials`.
        uvs: (T, 3, 2) float32 of the material's own set, 0 where the geometry lacks it.
        colors: (T, 3, 4) float32 linear, or None if no vertex has any.
        materials: those of the character, and last `PLAIN`.
        textures: one per material, or None.
        texel_area: (T,) float32 texels each triangle covers in its texture.
        casts: (T,) bool, whether the triangle is solid enough to throw a shadow.
        notes: textures that could not be read.
    """

    faces: Int32
    material: Int32
    uvs: Float32
    colors: Float32 | None
    materials: tuple[Material, ...]
    textures: tuple[Texture | None, ...]
    texel_area: Float32
    casts: Bool
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, stage: Stage) -> Surface:
        """The surface of a stage.

        Raises:
            RigError: it shows no triangles.
        """
        character = stage.character
        parts = [
            (span, character.meshes[span.mesh], part)
            for span in stage.ranges
            for part in (character.meshes[span.mesh].parts[i] for i in span.parts)
            if part.topology == "triangles" and len(part.faces)
        ]
        if not parts:
            raise RigError(f"{character.name or 'the character'}: shows no triangles to render")
        materials = (*character.materials, PLAIN)
        faces, painted, uvs = [], [], []
        for span, mesh, part in parts:
            corners = span.wound(part.faces)
            faces.append(corners + np.int32(span.start))
            index = len(materials) - 1 if part.material is None else part.material
            painted.append(np.full(len(corners), index, np.int32))
            uvs.append(_uvs(mesh, part, corners, materials[index].uv_set))
        used = {int(each[0]) for each in painted}
        textures, notes = _textures(character, used)
        surface = cls(
            np.concatenate(faces),
            np.concatenate(painted),
            np.concatenate(uvs),
            _colors(parts),
            materials,
            textures,
            np.zeros(0, np.float32),
            np.zeros(0, np.bool_),
            notes,
        )
        object.__setattr__(surface, "texel_area", surface._texel_areas())
        object.__setattr__(surface, "casts", surface._solid())
        return surface

    def paint(
        self, triangles: npt.NDArray[np.integer], weights: Float32, texels: npt.ArrayLike = 1.0
    ) -> Float32:
        """Linear base colour and alpha (N, 4) at barycentric weights (N, 3) of N triangles.

        Alpha is 1 on opaque materials, 0 or 1 on those that are cut out.

        Args:
            texels: () or (N,) texels of the texture that one pixel covers along a side.
        """
        material = self.material[triangles]
        colors = np.array([each.base_color for each in self.materials], np.float32)[material]
        if self.colors is not None:
            colors *= np.einsum("nk,nkc->nc", weights, self.colors.take(triangles, axis=0))
        footprint = np.broadcast_to(np.asarray(texels, np.float32), material.shape)
        for index in np.flatnonzero(np.bincount(material, minlength=len(self.materials))):
            texture, mode = self.textures[index], self.materials[index].alpha_mode
            at = np.flatnonzero(material == index)
            if texture is not None:
                corners = self.uvs.take(triangles[at], axis=0)
                uv = np.einsum("nk,nkc->nc", weights[at], corners)
                colors[at] *= texture.read(uv, footprint[at])
            if mode == "opaque":
                colors[at, 3] = 1
            elif mode == "mask":
                colors[at, 3] = colors[at, 3] >= self.materials[index].alpha_cutoff
        return np.asarray(colors)

    def _texel_areas(self) -> Float32:
        sizes = np.array(
            [0 if texture is None else np.prod(texture.size) for texture in self.textures],
            np.float32,
        )
        one, two = self.uvs[:, 1] - self.uvs[:, 0], self.uvs[:, 2] - self.uvs[:, 0]
        area = np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
        return np.asarray(area * sizes[self.material] / 2, np.float32)

    def _solid(self) -> Bool:
        """Which triangles cover half of their area or more."""
        casts = np.ones(len(self.faces), np.bool_)
        modes = np.array([each.alpha_mode != "opaque" for each in self.materials])
        doubtful = np.flatnonzero(modes[self.material])
        if len(doubtful):
            triangles = np.repeat(doubtful, len(_PROBES))
            weights = np.tile(_PROBES, (len(doubtful), 1))
            alpha = self.paint(triangles, weights)[:, 3].reshape(-1, len(_PROBES))
            casts[doubtful] = alpha.mean(axis=1) >= 0.5
        return casts


def _uvs(mesh: Mesh, part: Part, corners: Int32, uv_set: int) -> Float32:
    sets = mesh.geometries[part.geometry].uvs
    if uv_set >= len(sets):
        return np.zeros((len(corners), 3, 2), np.float32)
    return np.asarray(sets[uv_set][corners])


def _colors(parts: list[tuple[Range, Mesh, Part]]) -> Float32 | None:
    if not any(mesh.geometries[part.geometry].colors for _, mesh, part in parts):
        return None
    colors = []
    for span, mesh, part in parts:
        corners = span.wound(part.faces)
        sets = mesh.geometries[part.geometry].colors
        colors.append(sets[0][corners] if sets else np.ones((*corners.shape, 4), np.float32))
    return np.concatenate(colors)


def _textures(
    character: Character, used: set[int]
) -> tuple[tuple[Texture | None, ...], tuple[Note, ...]]:
    decoded: dict[int, Texture | None] = {}
    notes = []
    textures: list[Texture | None] = []
    for index, material in enumerate(character.materials):
        image = material.image if index in used else None
        # The reader has noted pictures that are not there.
        if image is None or not character.images[image].data:
            textures.append(None)
            continue
        if image not in decoded:
            place = f"images[{image}]"
            try:
                decoded[image] = Texture.decode(character.images[image].data, place)
            except FormatError as error:
                decoded[image] = None
                said = str(error).removeprefix(f"{place}: ")
                notes.append(Note("image-unreadable", f"{said}; shown without", place))
        textures.append(decoded[image])
    return (*textures, None), tuple(notes)
