"""The triangles of a stage and how they are painted: at rest, and as expressions repaint them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, RigError
from bunraku.model import Character, Material, Mesh, Part, Pose
from bunraku.model.arrays import Float32, Float64, Int32
from bunraku.model.material import to_display, to_linear
from bunraku.posing.expressions import materials, texture_tints, uv_offsets
from bunraku.render.texture import Texture
from bunraku.stage import Range, Stage

Bool = npt.NDArray[np.bool_]
Tints = Mapping[int, tuple[Float64, Float64]]
Shifts = Mapping[tuple[int, int, int], Float32]
_Parts = tuple[tuple[Range, Mesh, Part], ...]
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
        parts: what is shown, and where on the stage.
        faces: (T, 3) int32 vertices of the stage, wound counter-clockwise seen from outside
            also where a node mirrors its mesh.
        material: (T,) int32 index into `materials`.
        uvs: (T, 3, 2) float32 of the material's own set, 0 where the geometry lacks it or has no
            number.
        colors: (T, 3, 4) float32 linear, or None if no vertex has any.
        materials: those of the character, and last `PLAIN`.
        textures: one per material, or None.
        notes: textures that could not be read.
        tints: what MMD's morphs do to textures, by material; see `texture_tints`.
        texel_area: (T,) float32 texels each triangle covers in its texture.
        casts: (T,) bool, whether the triangle is solid enough to throw a shadow.
    """

    parts: _Parts
    faces: Int32
    material: Int32
    uvs: Float32
    colors: Float32 | None
    materials: tuple[Material, ...]
    textures: tuple[Texture | None, ...]
    notes: tuple[Note, ...]
    tints: Tints = field(default_factory=dict)
    texel_area: Float32 = field(init=False)
    casts: Bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texel_area", self._texel_areas())
        object.__setattr__(self, "casts", self._solid())

    @classmethod
    def of(cls, stage: Stage) -> Surface:
        """The surface of a stage at rest.

        Raises:
            RigError: it shows no triangles.
        """
        character = stage.character
        parts = tuple(
            (span, character.meshes[span.mesh], part)
            for span in stage.ranges
            if character.attachments[span.attachment].visible
            for part in (character.meshes[span.mesh].parts[i] for i in span.parts)
            if part.topology == "triangles" and len(part.faces)
        )
        if not parts:
            raise RigError(f"{character.name or 'the character'}: shows no triangles")
        materials = (*character.materials, PLAIN)
        painted = [len(materials) - 1 if p.material is None else p.material for _, _, p in parts]
        textures, notes = _textures(character, set(painted))
        return cls(
            parts,
            np.concatenate([span.wound(p.faces) + np.int32(span.start) for span, _, p in parts]),
            np.repeat(np.array(painted, np.int32), [len(p.faces) for _, _, p in parts]),
            _uvs(parts, materials, {}),
            _colors(parts),
            materials,
            textures,
            notes,
        )

    def repainted(self, character: Character, pose: Pose) -> Surface:
        """The same triangles as expressions paint them in a pose of one frame.

        It is the very same surface where no expression changes it.
        """
        looks = (*materials(character, pose), PLAIN)
        tints = texture_tints(character, pose)
        shifts = uv_offsets(character, pose.expressions)
        if looks == self.materials and not tints and not shifts:
            return self
        uvs = _uvs(self.parts, looks, shifts) if shifts else self.uvs
        return replace(self, materials=looks, tints=tints, uvs=uvs)

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
        for index in np.flatnonzero(np.bincount(material, minlength=len(self.materials))).tolist():
            texture, look = self.textures[index], self.materials[index]
            at = np.flatnonzero(material == index)
            if texture is not None:
                corners = self.uvs.take(triangles[at], axis=0)
                uv = look.texture_coordinates(np.einsum("nk,nkc->nc", weights[at], corners))
                read = texture.read(uv, footprint[at], look.wrap, look.filter)
                colors[at] *= _tinted(read, *self.tints[index]) if index in self.tints else read
            if look.alpha_mode == "opaque":
                colors[at, 3] = 1
            elif look.alpha_mode == "mask":
                colors[at, 3] = colors[at, 3] >= look.alpha_cutoff
        return np.asarray(colors)

    @np.errstate(over="ignore", invalid="ignore")  # files may scale by any number
    def _texel_areas(self) -> Float32:
        sizes = np.array(
            [
                0 if texture is None else abs(np.prod([*texture.size, *look.uv_scale]))
                for texture, look in zip(self.textures, self.materials, strict=True)
            ],
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


def _uvs(parts: _Parts, materials: tuple[Material, ...], shifts: Shifts) -> Float32:
    found = []
    for span, mesh, part in parts:
        corners = span.wound(part.faces)
        uv_set = 0 if part.material is None else materials[part.material].uv_set
        sets = mesh.geometries[part.geometry].uvs
        if uv_set < len(sets):
            uvs, key = sets[uv_set][corners], (span.mesh, part.geometry, uv_set)
            found.append(uvs + shifts[key][0][corners] if key in shifts else uvs)
        else:
            found.append(np.zeros((len(corners), 3, 2), np.float32))
    finite: Float32 = np.nan_to_num(np.concatenate(found), nan=0, posinf=0, neginf=0)
    return finite


def _tinted(texels: Float32, factor: Float64, term: Float64) -> Float32:
    """Texels (N, 4) after MMD's morphs, which count in display colours; see `texture_tints`."""
    color = 1 + factor[3] * (factor[:3] * to_display(texels[:, :3]) - 1)
    color = np.clip(color + term[3] * (color - 1), 0, 1) + term[:3]
    tinted = texels.copy()
    tinted[:, :3] = to_linear(np.clip(color, 0, 1))
    return tinted


def _colors(parts: _Parts) -> Float32 | None:
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
