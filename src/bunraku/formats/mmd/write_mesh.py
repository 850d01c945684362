"""All that a character shows, as the one vertex buffer a PMX has.

A PMX knows no bind pose beside its rest: what hangs on nodes, and skins that were bound in
another pose than rest, are written as they stand at rest, in the world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.pmx_vertices import Deform, PmxVertices
from bunraku.formats.mmd.space import mirrored, units
from bunraku.model import Attachment, Character, Geometry, Material, Skeleton
from bunraku.rotation import quaternion

Array = npt.NDArray[Any]

INFLUENCES = 4
ADDITIONAL_UVS = 4
_APART = 1e-4  # of the largest number: what quantised inverse bind matrices are off by
_SAME = 1e-9  # of the matrices of a mesh that stands where it was bound


@dataclass(frozen=True, eq=False)
class Placed:
    """One geometry of one attachment, at rest in the world.

    Attributes:
        attachment: index into the character's.
        geometry: index into the mesh's.
        start: its first vertex in the buffer.
        matrices: (V, 3, 4), (1, 3, 4) or None where the geometry stands as it is.
        joints, weights: (V, K) nodes and shares.
        apart: vertices whose joints take them to different places at rest.
    """

    attachment: int
    geometry: int
    start: int
    matrices: Array | None
    joints: Array
    weights: Array
    apart: int = 0

    def points(self, positions: Array) -> Array:
        """(V, 3) positions at rest."""
        if self.matrices is None:
            return positions.astype(np.float64)
        moved = np.einsum("vij,vj->vi", self.matrices[:, :, :3], positions)
        return np.asarray(moved + self.matrices[:, :, 3])

    def deltas(self, vertices: Array, deltas: Array) -> Array:
        """(M, 3) displacements of some vertices at rest."""
        if self.matrices is None:
            return deltas.astype(np.float64)
        blocks = self.matrices[:, :, :3]
        chosen = blocks if len(blocks) == 1 else blocks[vertices]
        return np.asarray(np.einsum("vij,vj->vi", chosen, deltas))

    def normals(self, normals: Array) -> Array:
        """(V, 3) unit normals at rest, by the cofactors of the blended matrices.

        Those of a mirror point inwards, and are turned round.
        """
        if self.matrices is None:
            return normals.astype(np.float64)
        x, y, z = (self.matrices[:, :, k] for k in range(3))
        cofactors = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=2)
        turned = np.einsum("vij,vj->vi", cofactors, normals.astype(np.float64))
        turned[np.broadcast_to((x * cofactors[:, :, 0]).sum(axis=1) < 0, len(turned))] *= -1
        lengths = np.linalg.norm(turned, axis=1, keepdims=True)
        return np.asarray(turned / np.where(lengths > 0, lengths, 1))


def rest_matrices(skeleton: Skeleton) -> Array:
    """(N, 4, 4) world transforms of all nodes at rest."""
    world = np.tile(np.eye(4), (len(skeleton), 1, 1))
    turned = quaternion.to_matrix(skeleton.rotations) if len(skeleton) else np.zeros((0, 3, 3))
    world[:, :3, :3] = turned * skeleton.scales[:, None, :]
    world[:, :3, 3] = skeleton.translations
    for node in skeleton.order.tolist():
        parent = skeleton.parents[node]
        if parent >= 0:
            world[node] = world[parent] @ world[node]
    return world


def place(character: Character, world: Array) -> list[Placed]:
    """Every geometry of every attachment, in their order."""
    placed: list[Placed] = []
    start = 0
    for i, attachment in enumerate(character.attachments):
        for j, geometry in enumerate(character.meshes[attachment.mesh].geometries):
            placed.append(_placed(character, world, i, attachment, j, geometry, start))
            start += geometry.vertex_count
    return placed


def _placed(
    character: Character,
    world: Array,
    index: int,
    attachment: Attachment,
    number: int,
    geometry: Geometry,
    start: int,
) -> Placed:
    count = geometry.vertex_count
    if attachment.skin is None or geometry.joints is None or geometry.weights is None:
        own = np.full((count, 1), attachment.node, np.int32)
        matrix = world[attachment.node][None, :3]
        return Placed(index, number, start, _unless_same(matrix), own, np.ones((count, 1)))
    skin = character.skins[attachment.skin]
    palette = (world[skin.joints] @ skin.inverse_bind_matrices)[:, :3]
    weights = geometry.weights.astype(np.float64)
    slots = np.where(weights > 0, geometry.joints, 0)
    nodes = skin.joints[slots] if len(skin.joints) else np.full(slots.shape, attachment.node)
    matrices, apart = None, 0
    if len(palette) and _unless_same(palette) is not None:
        matrices = np.einsum("vk,vkij->vij", weights, palette[slots])
        spread = np.abs(palette[slots] - matrices[:, None]).max(axis=(2, 3))
        size = np.abs(palette).max()
        apart = int(((spread > _APART * size) & (weights > 0)).any(axis=1).sum())
        matrices[~weights.any(axis=1)] = np.eye(4)[:3]
    return Placed(index, number, start, matrices, nodes.astype(np.int32), weights, apart)


def _unless_same(matrices: Array) -> Array | None:
    return matrices if np.abs(matrices - np.eye(4)[:3]).max(initial=0) > _SAME else None


def turned(points: Array, facing: str) -> Array:
    """Points or directions (…, 3) of a character that faces −Z, half a turn about Y."""
    return points * [-1.0, 1.0, -1.0] if facing == "-Z" else points


def write_vertices(character: Character, placed: list[Placed], notes: list[Note]) -> PmxVertices:
    """The vertices in MMD's space and unit."""
    parts = []
    geometries = [
        character.meshes[character.attachments[each.attachment].mesh].geometries[each.geometry]
        for each in placed
    ]
    sets = max((len(geometry.uvs) for geometry in geometries), default=1)
    extra = min(max(sets - 1, 0), ADDITIONAL_UVS)
    if sets > ADDITIONAL_UVS + 1:
        notes.append(Note("uvs-dropped", f"{sets - 5} sets of texture coordinates are too many"))
    if any(geometry.colors for geometry in geometries):
        notes.append(Note("colors-dropped", "vertex colours cannot be said in a PMX 2.0"))
    for each, geometry in zip(placed, geometries, strict=True):
        parts.append(_vertices(character, each, geometry, extra, notes))
    if not parts:
        return PmxVertices.empty(0, 0)
    names = PmxVertices.__slots__
    return PmxVertices(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def _vertices(
    character: Character, placed: Placed, geometry: Geometry, extra: int, notes: list[Note]
) -> PmxVertices:
    count, facing = geometry.vertex_count, character.facing
    uvs = np.zeros((extra + 1, count, 2), np.float32)
    for k, each in enumerate(geometry.uvs[: extra + 1]):
        uvs[k] = each
    _place_textures(character, placed, geometry, uvs[0], notes)
    additional = np.zeros((count, extra, 4), np.float32)
    additional[:, :, :2] = uvs[1:].transpose(1, 0, 2)
    normals = np.zeros((count, 3)) if geometry.normals is None else geometry.normals
    node = character.attachments[placed.attachment].node
    deform, bones, weights = _influences(placed, geometry, node, notes)
    if placed.apart:
        message = (
            f"{placed.apart} vertices were bound in another pose than rest, which a PMX cannot say;"
            " they will bend otherwise"
        )
        notes.append(Note("bind-pose-dropped", message, f"attachments[{placed.attachment}]"))
    sdef = np.zeros((0, 3, 3), np.float32)
    if geometry.spherical is not None:
        blend = geometry.spherical
        keep = deform[blend.indices] == Deform.SDEF
        centres = np.stack([blend.centers, blend.first, blend.second], axis=1)[keep]
        sdef = units(turned(centres, facing)).astype(np.float32)
    return PmxVertices(
        units(turned(placed.points(geometry.positions), facing)).astype(np.float32),
        mirrored(turned(placed.normals(np.asarray(normals)), facing)).astype(np.float32),
        uvs[0],
        additional,
        deform,
        bones,
        weights,
        sdef,
        np.ones(count, np.float32),
    )


def _unplaced(material: Material) -> Material:
    return replace(material, uv_set=0, uv_offset=(0, 0), uv_rotation=0, uv_scale=(1, 1))


def _place_textures(
    character: Character, placed: Placed, geometry: Geometry, uvs: Array, notes: list[Note]
) -> None:
    """Bring the first coordinates (V, 2) to where materials read: MMD reads them as they are."""
    mesh = character.meshes[character.attachments[placed.attachment].mesh]
    pictured = []
    for part in mesh.parts:
        if part.geometry == placed.geometry and part.material is not None:
            material = character.materials[part.material]
            if material.image is not None and material.uv_set < len(geometry.uvs):
                pictured.append((part, material))
    if all(each == _unplaced(each) for _, each in pictured):
        return
    taken = np.zeros(len(uvs), bool)
    torn = 0
    for part, material in pictured:
        corners = np.unique(part.faces)
        wanted = material.texture_coordinates(geometry.uvs[material.uv_set][corners])
        torn += int((taken[corners] & (uvs[corners] != wanted).any(axis=1)).sum())
        fresh = ~taken[corners]
        uvs[corners[fresh]] = wanted[fresh]
        taken[corners] = True
    if torn:
        message = f"{torn} vertices are read at two places of their textures; one is written"
        notes.append(
            Note("texture-placement-dropped", message, f"attachments[{placed.attachment}]")
        )


def _influences(
    placed: Placed, geometry: Geometry, node: int, notes: list[Note]
) -> tuple[Array, Array, Array]:
    """Deform types (V,), bones (V, 4) and weights (V, 4) of at most four influences."""
    weights, joints = placed.weights, placed.joints
    used = (weights > 0).sum(axis=1)
    if (used > INFLUENCES).any():
        message = f"{int((used > INFLUENCES).sum())} vertices keep the largest four influences"
        notes.append(Note("influences-limited", message, f"attachments[{placed.attachment}]"))
    # the order of the file is kept where all fit: SDEF needs it
    rank = np.where((used > INFLUENCES)[:, None], -weights, weights == 0)
    spherical = np.zeros(len(weights), bool)
    if geometry.spherical is not None and placed.matrices is None:
        spherical[geometry.spherical.indices] = True
    elif geometry.spherical is not None:
        message = "SDEF centres of a mesh that does not stand where it was bound are left out"
        notes.append(Note("sdef-dropped", message, f"attachments[{placed.attachment}]"))
    rank[spherical] = np.arange(weights.shape[1])
    order = np.argsort(rank, axis=1, kind="stable")[:, :INFLUENCES]
    width = order.shape[1]
    kept, bones = np.zeros((len(weights), 4)), np.zeros((len(weights), 4), np.int32)
    kept[:, :width] = np.take_along_axis(weights, order, axis=1)
    bones[:, :width] = np.take_along_axis(joints, order, axis=1)
    bones[kept == 0] = np.where(spherical[:, None], bones, 0)[kept == 0]
    nobody = used == 0
    bones[nobody, 0], kept[nobody, 0] = node, 1
    kept /= kept.sum(axis=1, keepdims=True)
    counts = np.minimum(used, INFLUENCES)
    deform = np.array([0, 0, 1, 2, 2], np.uint8)[counts]
    deform[spherical] = Deform.SDEF
    if geometry.dual is not None:
        deform[geometry.dual] = Deform.QDEF
    return deform, bones, kept.astype(np.float32)


def write_faces(
    character: Character, placed: list[Placed], notes: list[Note]
) -> tuple[Array, list[int]]:
    """Faces (F, 3) int32 by material, and how many corners each material has.

    One count for each of the character's materials, and one more for faces without.
    """
    groups: list[list[Array]] = [[] for _ in range(len(character.materials) + 1)]
    for i, attachment in enumerate(character.attachments):
        if not attachment.visible:
            message = "is hidden, which a PMX cannot say of a mesh: it will be seen"
            notes.append(Note("visibility-dropped", message, f"attachments[{i}]"))
        starts = {each.geometry: each for each in placed if each.attachment == i}
        for j, part in enumerate(character.meshes[attachment.mesh].parts):
            if part.topology != "triangles":
                message = f"{len(part.faces)} {part.topology} cannot be said in a PMX; left out"
                notes.append(Note("topology-dropped", message, f"attachments[{i}].parts[{j}]"))
                continue
            each = starts[part.geometry]
            matrices = each.matrices
            inside_out = matrices is not None and np.linalg.det(matrices[:1, :, :3])[0] < 0
            corners = [0, 1, 2] if inside_out else [0, 2, 1]
            groups[-1 if part.material is None else part.material].append(
                part.faces[:, corners] + np.int32(each.start)
            )
    faces = [np.concatenate([np.zeros((0, 3), np.int32), *group]) for group in groups]
    return np.concatenate(faces), [3 * len(group) for group in faces]
