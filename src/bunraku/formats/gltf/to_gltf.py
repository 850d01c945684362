"""A character into a glTF document.

A character that came from a glTF is patched: what its own document says of it is compared
with what it says now, and only the differences are written, as new accessors at the end; what
nothing reads any more goes (`unread`). Quantized and sparse data, textures, extensions and extras
that nobody touched survive bit for bit. A character without a document starts from an empty one.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from bunraku.errors import Note, UnsupportedError
from bunraku.formats.gltf.container import BIN_CHUNK, Chunk, pad
from bunraku.formats.gltf.context import KINDS, Context
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.encoding import BufferBuilder, put
from bunraku.formats.gltf.from_gltf import character_from_gltf
from bunraku.formats.gltf.node_rules import VISIBILITY, hidden_nodes, parents_of, roots_of
from bunraku.formats.gltf.pairing import paired_things
from bunraku.formats.gltf.rules import DRACO, MESHOPT
from bunraku.formats.gltf.unread import drop_unread
from bunraku.formats.gltf.write_animations import AnimationWriter
from bunraku.formats.gltf.write_meshes import MeshWriter
from bunraku.formats.gltf.write_surfaces import (
    TEXTURE_KINDS,
    image_places,
    patch_image,
    patch_material,
)
from bunraku.model import Attachment, Character, Skeleton, Skin, differences

Tree = dict[str, Any]


def gltf_from_character(character: Character) -> tuple[GltfFile, tuple[Note, ...]]:
    """The document of a character, and notes on what it cannot hold.

    Indices of nodes, meshes, skins and materials stay what they are. What the document says of
    one beside the model (extras, extensions) follows it to another place, by content, then by
    name; opaque data that mean one by its number cannot (noted). Images stay where they were. A
    character that has fewer of these than its document is written from scratch (noted).

    >>> file, notes = gltf_from_character(Character(Skeleton(("root", "tip"), [-1, 0])))
    >>> file.json["nodes"]
    [{'name': 'root', 'children': [1]}, {'name': 'tip'}]
    """
    base, baseline, notes = _baseline(character)
    if base is not None and not _differ(baseline, character):
        return base, notes
    writer = _Writer(base, baseline, character)
    file = writer.document()
    return file, (*notes, *writer.context.all_notes())


def _differ(baseline: Character, character: Character) -> bool:
    """Whether anything differs that glTF can say; the character's own name is the file's."""
    return bool(differences(replace(baseline, name=character.name), character))


def _baseline(character: Character) -> tuple[GltfFile | None, Character, tuple[Note, ...]]:
    empty = Character(Skeleton((), np.zeros(0, np.int32)), scenes=(), default_scene=None)
    base = character.document
    if not isinstance(base, GltfFile):
        return None, empty, ()
    baseline = character_from_gltf(base)
    for kind in ("meshes", "skins", "materials", "images"):
        was, now = len(getattr(baseline, kind)), len(getattr(character, kind))
        if now < was:
            break
    else:
        kind, was, now = "nodes", len(baseline.skeleton), len(character.skeleton)
        if now >= was:
            return base, baseline, ()
    message = (
        f"{now} {kind} are left of {was}: written from scratch, without what else {base.source}"
        " holds (extensions, extras, materials beyond the base colour)"
    )
    return None, empty, (Note("document-dropped", message),)


class _Writer:
    """Brings a copy of the base document from the baseline to the character."""

    def __init__(self, base: GltfFile | None, old: Character, new: Character) -> None:
        self.base, self.old, self.new = base, old, new
        self.tree: Tree = (
            copy.deepcopy(base.json)
            if base is not None
            else {"asset": {"version": "2.0", "generator": "Bunraku"}}
        )
        self.context = Context(new.name, dict.fromkeys(KINDS, 0))
        buffers = self.tree.get("buffers", [])
        # a GLB has one BIN chunk: new data go to its end
        self.extends = bool(
            base is not None and base.chunks and buffers and "uri" not in buffers[0]
        )
        start = len(base.buffers[0]) if base is not None and self.extends else 0
        self.builder = BufferBuilder(self.tree, 0 if self.extends else len(buffers), start)

    def document(self) -> GltfFile:
        self._images_and_materials()
        meshes = self._meshes()
        self._skins()
        self._nodes()
        self._attachments(meshes)
        self._scenes()
        self._animations()
        if self.base is None:
            self._common_roots()
        self._drop_unused_extensions()
        return self._finished()

    def _list(self, kind: str, count: int) -> list[Tree]:
        """The objects of a kind, with empty ones appended up to `count`."""
        objects: list[Tree] = self.tree.get(kind, [])
        objects += [{} for _ in range(count - len(objects))]
        if objects:
            self.tree[kind] = objects
        return objects

    def _continued(self, kind: str, partners: list[int | None]) -> list[Tree]:
        """The objects of a kind, each in the place of what continues it, new ones empty."""
        before: list[Tree] = self.tree.get(kind, [])
        objects = [{} if k is None else before[k] for k in partners]
        put(self.tree, kind, objects, [])
        if None in partners:
            for k in sorted(set(range(len(before))).difference(partners)):
                message = "nothing continues it: what only the document says of it is left out"
                self.context.note("object-dropped", (kind, k), message)
        moved = [k for i, k in enumerate(partners) if k is not None and k != i]
        if moved and kind != "scenes":
            message = f"{len(moved)} of them moved: extensions and extras may mean others by number"
            self.context.note("order-changed", (kind,), message)
        return objects

    def _images_and_materials(self) -> None:
        old, new = self.old, self.new
        partners = paired_things(old.images, new.images)
        places = image_places(new.images, partners, len(old.images), self.context)
        images = self._list("images", max(places.values(), default=-1) + 1)
        media = {}
        for i, place in places.items():
            k, image = partners[i], new.images[i]
            before = None if k is None else old.images[k]
            where = ("images", i)
            patch_image(self.tree, place, before, image, self.builder, where, self.context)
            media[place] = images[place].get("mimeType") or image.mime_type
        partners = paired_things(old.materials, new.materials)
        materials = self._continued("materials", partners)
        for tree, k, material in zip(materials, partners, new.materials, strict=True):
            was = None if k is None else old.materials[k]
            image_place = None if material.image is None else places.get(material.image)
            said = replace(material, image=image_place)
            patch_material(self.tree, tree, was, said, media)

    def _meshes(self) -> dict[int, int]:
        """Write all meshes; returns where in the document each of them is."""
        writer = MeshWriter(self.builder, self.context)
        partners = paired_things(self.old.meshes, self.new.meshes)
        places: dict[int, int] = {}
        for i, mesh in enumerate(self.new.meshes):
            if partners[i] is not None or writer.can_write(mesh):
                places[i] = len(places)
            else:
                message = "has no faces, which glTF cannot say; left out"
                self.context.note("mesh-dropped", ("meshes", i), message)
        meshes = self._continued("meshes", [partners[i] for i in places])
        for i, place in places.items():
            k = partners[i]
            was = None if k is None else self.old.meshes[k]
            writer.patch(meshes[place], was, self.new.meshes[i], ("meshes", i))
            for geometry in self.new.meshes[i].geometries:
                if geometry.spherical is not None or geometry.dual is not None:
                    message = "vertices that bend by SDEF or QDEF will blend linearly"
                    self.context.note("blend-dropped", ("meshes", i), message)
        return places

    def _skins(self) -> None:
        partners = paired_things(self.old.skins, self.new.skins)
        skins = self._continued("skins", partners)
        for tree, k, skin in zip(skins, partners, self.new.skins, strict=True):
            was = None if k is None else self.old.skins[k]
            if was is None or was.name != skin.name:
                put(tree, "name", skin.name, "")
            if was is None or differences(was.joints, skin.joints):
                tree["joints"] = skin.joints.tolist()
            if was is None or differences(was.inverse_bind_matrices, skin.inverse_bind_matrices):
                self._inverse_bind_matrices(tree, skin)

    def _inverse_bind_matrices(self, tree: Tree, skin: Skin) -> None:
        with np.errstate(over="ignore"):
            matrices = skin.inverse_bind_matrices.astype(np.float32)
        if not np.isfinite(matrices).all():
            raise UnsupportedError(
                f"skin {skin.name!r}: an inverse bind matrix is too large for glTF's float32"
            )
        if (matrices == np.eye(4, dtype=np.float32)).all():
            tree.pop("inverseBindMatrices", None)
        else:
            tree["inverseBindMatrices"] = self.builder.accessor(matrices)

    def _nodes(self) -> None:
        old, new = self.old.skeleton, self.new.skeleton
        nodes = self._list("nodes", len(new))
        known = len(old)
        moved = np.ones(len(new), bool)
        moved[:known] = (
            (old.translations != new.translations[:known]).any(axis=1)
            | (old.rotations != new.rotations[:known]).any(axis=1)
            | (old.scales != new.scales[:known]).any(axis=1)
        )
        for i in np.flatnonzero(moved).tolist():
            nodes[i].pop("matrix", None)
            put(nodes[i], "translation", new.translations[i].tolist(), [0, 0, 0])
            put(nodes[i], "rotation", new.rotations[i].tolist(), [0, 0, 0, 1])
            put(nodes[i], "scale", new.scales[i].tolist(), [1, 1, 1])
        if old.names != new.names[:known] and sorted(old.names) == sorted(new.names[:known]):
            message = "their names moved: what only the document says of a node stays at its index"
            self.context.note("order-changed", ("nodes",), message)
        for i, name in enumerate(new.names):
            if i >= known or old.names[i] != name:
                put(nodes[i], "name", name, "")
        if not np.array_equal(parents_of(self.tree), new.parents):
            children: dict[int, list[int]] = {}
            for i, parent in enumerate(new.parents.tolist()):
                children.setdefault(parent, []).append(i)
            for i, node in enumerate(nodes):
                if set(node.get("children", ())) != set(children.get(i, ())):
                    put(node, "children", children.get(i, []), [])

    def _attachments(self, places: dict[int, int]) -> None:
        nodes = self.tree.get("nodes", [])
        before = {attachment.node: attachment for attachment in self.old.attachments}
        after = {attachment.node: attachment for attachment in self.new.attachments}
        hidden = hidden_nodes(self.tree)
        for node in before.keys() - after.keys():
            for key in ("mesh", "skin", "weights"):
                nodes[node].pop(key, None)
        for node, attachment in after.items():
            if attachment.mesh not in places:
                for key in ("mesh", "skin", "weights"):
                    nodes[node].pop(key, None)
                continue
            was = before.get(node)
            shown = (nodes[node].get("mesh"), None if was is None else was.skin)
            if shown != (places[attachment.mesh], attachment.skin):
                nodes[node]["mesh"] = places[attachment.mesh]
                put(nodes[node], "skin", self._usable_skin(attachment), None)
            before_weights = None if was is None else was.morph_weights
            if differences(before_weights, attachment.morph_weights):
                weights = attachment.morph_weights
                put(nodes[node], "weights", [] if weights is None else weights.tolist(), [])
            if attachment.visible == (node in hidden):
                self._show(nodes[node], attachment)

    def _show(self, node: Tree, attachment: Attachment) -> None:
        extensions = dict(node.get("extensions", {}))
        put(extensions, VISIBILITY, {} if attachment.visible else {"visible": False}, {})
        put(node, "extensions", extensions, {})
        if attachment.visible and attachment.node in hidden_nodes(self.tree):
            message = "stays hidden by a node above it"
            self.context.note("node-hidden", ("nodes", attachment.node), message)
        used = self.tree.get("extensionsUsed", [])
        if not attachment.visible and VISIBILITY not in used:
            self.tree["extensionsUsed"] = [*used, VISIBILITY]

    def _usable_skin(self, attachment: Attachment) -> int | None:
        """The skin, unless the mesh has no influences: glTF forbids such a pair."""
        geometries = self.new.meshes[attachment.mesh].geometries
        if attachment.skin is None or any(g.joints is not None for g in geometries):
            return attachment.skin
        message = "its mesh has no joints and weights; written without its skin"
        self.context.note("skin-dropped", ("nodes", attachment.node), message)
        return None

    def _scenes(self) -> None:
        old, new = self.old, self.new
        partners = paired_things(old.scenes, new.scenes)
        scenes = self._continued("scenes", partners)
        for tree, k, scene in zip(scenes, partners, new.scenes, strict=True):
            was = None if k is None else old.scenes[k]
            if was is None or was.name != scene.name:
                put(tree, "name", scene.name, "")
            if was is None or differences(was.roots, scene.roots):
                put(tree, "nodes", scene.roots.tolist(), [])
        if new.default_scene is None:
            self.tree.pop("scene", None)
        elif new.default_scene != old.default_scene or self.base is None:
            self.tree["scene"] = new.default_scene

    def _animations(self) -> None:
        writer = AnimationWriter(self.builder, self.tree, self.new, self.context)
        written = writer.animations(self.old.clips, self.new.clips)
        if written:
            self.tree["animations"] = written
        else:
            self.tree.pop("animations", None)

    def _common_roots(self) -> None:
        """Joints of a skin share an ancestor (section 3.7.3.1): add one where they do not."""
        roots = roots_of(self.tree, parents_of(self.tree))
        for skin in self.tree.get("skins", []):
            apart = sorted({roots[joint] for joint in skin["joints"]})
            if len(apart) < 2:
                continue
            nodes = self.tree["nodes"]
            message = f"{len(apart)} root nodes of a skin were put below a new one, {len(nodes)}"
            self.context.note("root-added", ("nodes", len(nodes)), message)
            nodes.append({"name": "root", "children": apart})
            for scene in self.tree.get("scenes", []):
                shown = scene.get("nodes", [])
                if not set(apart).isdisjoint(shown):
                    scene["nodes"] = [r for r in shown if r not in apart] + [len(nodes) - 1]
            roots = roots_of(self.tree, parents_of(self.tree))

    def _drop_unused_extensions(self) -> None:
        """A file needs no decoder any more whose last packed or uncommon data were replaced."""
        if self.base is None:
            return
        gone = _decoders(self.base.json) - _decoders(self.tree)
        for key in ("extensionsUsed", "extensionsRequired"):
            names = self.tree.get(key, [])
            put(self.tree, key, [name for name in names if name not in gone], [])

    def _finished(self) -> GltfFile:
        base = self.base
        if base is None:
            data = memoryview(b"".join(self.builder.pieces))
            if len(data):
                self.tree["buffers"] = [{"byteLength": len(data)}]
            source = self.new.name or "character"
            return GltfFile(self.tree, (data,) if len(data) else (), source=source)
        buffers, chunks = list(base.buffers), base.chunks
        if self.builder.pieces:
            added = b"".join(self.builder.pieces)
            if self.extends:
                buffers[0] = memoryview(bytes(buffers[0]) + added)
                self.tree["buffers"][0]["byteLength"] = len(buffers[0])
            else:
                buffers.append(memoryview(added))
                self.tree.setdefault("buffers", []).append({"byteLength": len(added)})
                if len(buffers) > 1:
                    self._note_chunks(chunks)
                    chunks = ()  # not the first buffer: BIN has to be gathered anew
        buffers = drop_unread(base.json, self.tree, buffers)
        if self.extends and not (buffers and buffers[0] is base.buffers[0]):
            own = bool(buffers) and "uri" not in self.tree["buffers"][0]
            chunks = _with_binary(chunks, buffers[0] if own else None)
        return replace(base, json=self.tree, buffers=tuple(buffers), chunks=chunks, notes=())

    def _note_chunks(self, chunks: tuple[Chunk, ...]) -> None:
        for chunk in chunks[1:]:
            if chunk.kind != BIN_CHUNK:
                message = f"the GLB chunk of type {chunk.kind:#010x} is not carried over"
                self.context.note("chunk-dropped", (), message)


def _decoders(tree: Tree) -> set[str]:
    """Extensions that say how the data of meshes, bufferViews and textures are packed."""
    primitives = [primitive for mesh in tree.get("meshes", ()) for primitive in mesh["primitives"]]
    holders = [*primitives, *tree.get("bufferViews", ()), *tree.get("textures", ())]
    names = {name for holder in holders for name in holder.get("extensions", {})}
    names |= {TEXTURE_KINDS.get(image.get("mimeType", ""), "") for image in tree.get("images", ())}
    return names & {DRACO, *MESHOPT, *TEXTURE_KINDS.values()}


def _with_binary(chunks: tuple[Chunk, ...], data: memoryview | None) -> tuple[Chunk, ...]:
    """The chunks with other data in BIN, or without it."""
    return tuple(
        Chunk(BIN_CHUNK, pad(data, b"\0")) if data is not None and own else chunk
        for chunk in chunks
        if not (own := chunk.kind == BIN_CHUNK) or data is not None
    )
