"""A rigged character: everything a file says about who can move and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, RigError
from bunraku.model.arrays import Float64, Int32, checked, in_range, index, whole
from bunraku.model.clip import Clip
from bunraku.model.expression import Expression, GroupBind, JointBind, MaterialBind, MorphBind
from bunraku.model.frozen import Frozen
from bunraku.model.humanoid import Humanoid
from bunraku.model.material import Image, Material
from bunraku.model.mesh import Mesh
from bunraku.model.pose import Pose
from bunraku.model.rig import Rig, constraint_order
from bunraku.model.skeleton import Skeleton
from bunraku.model.skin import Skin


@dataclass(frozen=True, eq=False, repr=False)
class Attachment(Frozen):
    """A node that shows a mesh. The same mesh may hang on many nodes, with different skins.

    Attributes:
        node: index into the skeleton.
        mesh: index into `Character.meshes`.
        skin: index into `Character.skins`, or None for a mesh that moves with its node. The
            transform of a node that shows a skinned mesh is ignored (glTF 2.0, 3.7.3.3).
        morph_weights: (T,) float64 default weights on this node; the mesh's own if None.
        visible: whether it is drawn. What is not drawn has its place on a stage all the same, and
            is met by rays (KHR_node_visibility).
    """

    node: int
    mesh: int
    skin: int | None = None
    morph_weights: Float64 | None = None
    visible: bool = True

    if TYPE_CHECKING:

        def __init__(
            self,
            node: int,
            mesh: int,
            skin: int | None = None,
            morph_weights: npt.ArrayLike | None = None,
            visible: bool = True,
        ) -> None: ...


@dataclass(frozen=True, eq=False, repr=False)
class Scene(Frozen):
    """Root nodes that are shown together."""

    roots: Int32
    name: str = ""

    if TYPE_CHECKING:

        def __init__(
            self,
            roots: npt.ArrayLike,
            name: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "roots", checked(self.roots, np.int32, (None,), f"scene {self.name!r}.roots")
        )


@dataclass(frozen=True, eq=False, repr=False)
class Character(Frozen):
    """A validated, immutable character. One that exists is usable.

    Attributes:
        skeleton: all transform nodes.
        meshes, skins, materials, images: in file order.
        attachments: which node shows which mesh with which skin, in node order.
        scenes: root nodes; if omitted, one scene of all nodes without a parent.
        default_scene: the scene that is shown, or None if the file has no scenes.
        clips: the motions the file brings along.
        expressions: named faces, gestures and surface changes.
        rig: what moves nodes beside a clip, or None.
        humanoid: which node plays which bone, or None.
        facing: where the character looks at rest: "+Z", or "-Z" for VRM 0.x as loaded.
        name: of the character, e.g. the file's stem.
        notes: what the reader repaired, renormalised or could not represent.
        document: the lossless document this character was read from, kept so that saving to
            the same format changes only what was changed; opaque here.

    Raises:
        RigError: indices out of range, two meshes on one node, a joint slot beyond a skin's
            joints carrying weight, scene roots that have a parent, constraints that wait for
            each other.

    >>> Character(Skeleton(("root",), [-1])).rest_pose().frames
    1
    """

    skeleton: Skeleton
    meshes: tuple[Mesh, ...] = ()
    skins: tuple[Skin, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    materials: tuple[Material, ...] = ()
    images: tuple[Image, ...] = ()
    scenes: tuple[Scene, ...] = None  # type: ignore[assignment]
    default_scene: int | None = 0
    clips: tuple[Clip, ...] = ()
    expressions: tuple[Expression, ...] = ()
    rig: Rig | None = None
    humanoid: Humanoid | None = None
    facing: Literal["+Z", "-Z"] = "+Z"
    name: str = ""
    notes: tuple[Note, ...] = ()
    document: object | None = field(default=None, repr=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            skeleton: Skeleton,
            meshes: Iterable[Mesh] = (),
            skins: Iterable[Skin] = (),
            attachments: Iterable[Attachment] = (),
            materials: Iterable[Material] = (),
            images: Iterable[Image] = (),
            scenes: Iterable[Scene] | None = None,
            default_scene: int | None = 0,
            clips: Iterable[Clip] = (),
            expressions: Iterable[Expression] = (),
            rig: Rig | None = None,
            humanoid: Humanoid | None = None,
            facing: Literal["+Z", "-Z"] = "+Z",
            name: str = "",
            notes: Iterable[Note] = (),
            document: object | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.scenes is None:
            object.__setattr__(self, "scenes", (Scene(self.skeleton.children(-1)),))
        for name in (
            "meshes",
            "skins",
            "attachments",
            "materials",
            "images",
            "scenes",
            "clips",
            "expressions",
            "notes",
        ):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_attachments()
        self._check_skins()
        self._check_scenes()
        self._check_rig()
        self._check_expressions()
        for i, material in enumerate(self.materials):
            _index(material.image, len(self.images), f"materials[{i}].image", "image")
        for i, mesh in enumerate(self.meshes):
            for j, part in enumerate(mesh.parts):
                place = f"meshes[{i}].parts[{j}].material"
                _index(part.material, len(self.materials), place, "material")
        super().__post_init__()

    def _check_attachments(self) -> None:
        shown: set[int] = set()
        # A hostile file may show one large mesh on thousands of nodes: check each pair once.
        pairs: dict[tuple[int, int], str] = {}
        attachments = []
        for i, attachment in enumerate(self.attachments):
            place = f"attachments[{i}]"
            _index(attachment.node, len(self.skeleton), f"{place}.node", "node")
            _index(attachment.mesh, len(self.meshes), f"{place}.mesh", "mesh")
            _index(attachment.skin, len(self.skins), f"{place}.skin", "skin")
            if attachment.node in shown:
                raise RigError(f"{place}.node: node {attachment.node} already shows a mesh")
            shown.add(attachment.node)
            if attachment.morph_weights is not None:
                weights = checked(
                    attachment.morph_weights,
                    np.float64,
                    (len(self.meshes[attachment.mesh].morph_names),),
                    f"{place}.morph_weights",
                )
                attachment = replace(attachment, morph_weights=weights)
            attachments.append(attachment)
            if attachment.skin is not None:
                pairs.setdefault((attachment.mesh, attachment.skin), place)
        for (mesh_index, skin_index), place in pairs.items():
            _check_slots(self.meshes[mesh_index], self.skins[skin_index], place)
        object.__setattr__(self, "attachments", tuple(attachments))

    def _check_skins(self) -> None:
        for i, skin in enumerate(self.skins):
            in_range(skin.joints, len(self.skeleton), f"skins[{i}].joints", "node")

    def _check_scenes(self) -> None:
        if self.scenes:
            _index(self.default_scene, len(self.scenes), "default_scene", "scene")
        else:
            object.__setattr__(self, "default_scene", None)
        for i, scene in enumerate(self.scenes):
            in_range(scene.roots, len(self.skeleton), f"scenes[{i}].roots", "node")
            with_parent = self.skeleton.parents[scene.roots] >= 0
            if with_parent.any():
                node = int(scene.roots[np.flatnonzero(with_parent)[0]])
                raise RigError(f"scenes[{i}].roots: node {node} is not a root, it has a parent")

    def _check_rig(self) -> None:
        count = len(self.skeleton)
        if self.facing not in ("+Z", "-Z"):
            raise RigError(f"facing: expected '+Z' or '-Z', found {self.facing!r}")
        for bone, node in self.humanoid.bones.items() if self.humanoid is not None else ():
            _index(node, count, f"humanoid.{bone}", "node")
        if self.rig is None:
            return
        if self.rig.layers is not None and len(self.rig.layers) != count:
            raise RigError(f"rig.layers: expected {count} nodes, found {len(self.rig.layers)}")
        for place, node in self.rig.nodes():
            _index(node, count, f"rig.{place}", "node")
        constraint_order(self.skeleton, self.rig.constraints)

    def _check_expressions(self) -> None:
        for i, expression in enumerate(self.expressions):
            for j, bind in enumerate(expression.binds):
                place = f"expressions[{i}].binds[{j}]"
                if isinstance(bind, MorphBind):
                    _index(bind.attachment, len(self.attachments), place, "attachment")
                    mesh = self.meshes[self.attachments[bind.attachment].mesh]
                    _index(bind.target, len(mesh.morph_names), place, "morph target")
                elif isinstance(bind, JointBind):
                    _index(bind.node, len(self.skeleton), place, "node")
                elif isinstance(bind, MaterialBind):
                    _index(bind.material, len(self.materials), place, "material")
                elif isinstance(bind, GroupBind):
                    _index(bind.expression, len(self.expressions), place, "expression")
                else:
                    _index(bind.mesh, len(self.meshes), place, "mesh")
                    geometries = self.meshes[bind.mesh].geometries
                    _index(bind.geometry, len(geometries), place, "geometry")
                    geometry = geometries[bind.geometry]
                    _index(bind.uv_set, len(geometry.uvs), place, "uv set")
                    in_range(bind.indices, geometry.vertex_count, place, "vertex")

    def rest_pose(self) -> Pose:
        """The pose the file describes without any motion, as a single frame."""
        return Pose.of_unit(
            self.skeleton.translations[None],
            self.skeleton.rotations[None],
            self.skeleton.scales[None],
            tuple(self._weights(attachment)[None] for attachment in self.attachments),
            np.zeros((1, len(self.expressions))),
            np.ones((1, len(self.rig.chains) if self.rig is not None else 0), bool),
            np.ones(1, bool),
        )

    def _weights(self, attachment: Attachment) -> Float64:
        own = attachment.morph_weights
        return self.meshes[attachment.mesh].morph_weights if own is None else own

    def clip(self, name: str | SupportsIndex) -> Clip:
        """The clip of that name or index.

        Raises:
            RigError: there is none; the message lists those there are.
        """
        number = whole(name)
        for i, clip in enumerate(self.clips):
            if i == number or clip.name == name:
                return clip
        known = ", ".join(repr(clip.name) for clip in self.clips) or "none"
        raise RigError(f"no clip {name!r:.60}; there are: {known}")


def _index(value: int | None, count: int, place: str, what: str) -> None:
    if value is not None:
        index(value, count, place, what)


def _check_slots(mesh: Mesh, skin: Skin, place: str) -> None:
    for i, geometry in enumerate(mesh.geometries):
        if geometry.joints is None or geometry.weights is None:
            continue
        used = np.where(geometry.weights > 0, geometry.joints, 0)
        if used.size and used.max() >= len(skin.joints):
            vertex = int(np.argmax(used.max(axis=1)))
            raise RigError(
                f"{place}: mesh {mesh.name!r} geometry {i} vertex {vertex} is held by joint "
                f"slot {used.max()}, but skin {skin.name!r} has {len(skin.joints)} joints"
            )
