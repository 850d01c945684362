"""The nodes of a character as the bones of a PMX, at the same indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.pmx import BoneFlag, PmxBone, PmxFrame, PmxIk, PmxIkLink, Vec3
from bunraku.formats.mmd.pmx_morphs import PmxMorph
from bunraku.formats.mmd.space import mirrored, mirrored_limits, units
from bunraku.formats.mmd.write_mesh import turned
from bunraku.model import Character, IkChain, Rig, Skeleton

Array = npt.NDArray[Any]


def write_bones(character: Character, world: Array, notes: list[Note]) -> tuple[PmxBone, ...]:
    """A bone for each node, where it stands at rest.

    Rest rotations and scales are not said: MMD's bones have none. A node whose parent stands
    later in the list is put into a later layer, as MMD evaluates by layer, then index.
    """
    skeleton = character.skeleton
    rig = character.rig or Rig()
    _note_unsaid(rig, notes)
    places = units(turned(world[:, :3, 3], character.facing)).astype(np.float32).tolist()
    layers = _layers(skeleton) if rig.layers is None else rig.layers.tolist()
    late = [False] * len(skeleton) if rig.after_physics is None else rig.after_physics.tolist()
    appends = {append.node: append for append in rig.appends}
    axes = {axis.node: axis for axis in rig.fixed_axes}
    chains: dict[int, IkChain] = {}
    for i, chain in enumerate(rig.chains):
        if chain.goal in chains:
            message = f"node {chain.goal} is the goal of two chains; a PMX bone has one"
            notes.append(Note("ik-dropped", message, f"rig.chains[{i}]"))
        chains.setdefault(chain.goal, chain)
    hips = -1 if character.humanoid is None else character.humanoid.bones.get("hips", -1)
    first_child = {int(parent): node for node, parent in reversed([*enumerate(skeleton.parents)])}
    bones = []
    for node in range(len(skeleton)):
        parent = int(skeleton.parents[node])
        flags = int(BoneFlag.ROTATABLE | BoneFlag.VISIBLE | BoneFlag.OPERABLE)
        if parent < 0 or node in chains or node == hips:
            flags |= BoneFlag.MOVABLE
        flags |= BoneFlag.AFTER_PHYSICS if late[node] else 0
        append = appends.get(node)
        if append is not None and not (append.rotation or append.translation):
            append = None
        if append is not None:
            flags |= BoneFlag.APPEND_ROTATION if append.rotation else 0
            flags |= BoneFlag.APPEND_TRANSLATION if append.translation else 0
            flags |= BoneFlag.APPEND_LOCAL if append.local else 0
        axis = axes.get(node)
        flags |= BoneFlag.FIXED_AXIS if axis is not None else 0
        flags |= BoneFlag.IK if node in chains else 0
        flags |= BoneFlag.TAIL_IS_BONE if node in first_child else 0
        bones.append(
            PmxBone(
                bone_name(skeleton, node),
                position=_triple(places[node]),
                parent=parent,
                layer=layers[node],
                flags=flags,
                tail=first_child.get(node, (0.0, 0.0, 0.0)),
                append=None if append is None else (append.source, append.ratio),
                fixed_axis=None if axis is None else _triple(mirrored(axis.axis).tolist()),
                ik=_ik(chains[node]) if node in chains else None,
            )
        )
    return tuple(bones)


def bone_name(skeleton: Skeleton, node: int) -> str:
    """What the bone of a node is called: MMD finds nothing that has no name."""
    return skeleton.names[node] or f"bone{node}"


def _note_unsaid(rig: Rig, notes: list[Note]) -> None:
    said = [(len(rig.constraints), "constraints"), (len(rig.springs), "springs")]
    said.append((int(rig.look_at is not None), "gaze"))
    there = ", ".join(f"{count} {what}" for count, what in said if count)
    if there:
        notes.append(Note("rig-dropped", f"{there} cannot be said in a PMX; left out", "rig"))


def _layers(skeleton: Skeleton) -> list[int]:
    layers = [0] * len(skeleton)
    for node in skeleton.order.tolist():
        parent = int(skeleton.parents[node])
        if parent >= 0:
            layers[node] = layers[parent] + (parent > node)
    return layers


def _ik(chain: IkChain) -> PmxIk:
    links = []
    for link in chain.links:
        limits = None
        if link.limits is not None:
            low, high = mirrored_limits(link.limits).tolist()
            limits = (_triple(low), _triple(high))
        links.append(PmxIkLink(link.node, limits))
    return PmxIk(chain.effector, chain.loops, chain.step, tuple(links))


def write_frames(bones: tuple[PmxBone, ...], morphs: tuple[PmxMorph, ...]) -> tuple[PmxFrame, ...]:
    """The two frames every model has, and one for the bones that are in neither."""
    root = np.zeros((min(len(bones), 1), 2), np.int32)
    frames = [PmxFrame("Root", "Root", 1, root), PmxFrame("表情", "Exp", 1, _elements(1, morphs))]
    if len(bones) > 1:
        frames.append(PmxFrame("ボーン", "Bones", 0, _elements(0, bones)[1:]))
    return tuple(frames)


def _elements(kind: int, records: tuple[Any, ...]) -> Array:
    numbers = np.arange(len(records), dtype=np.int32)
    return np.stack([np.full_like(numbers, kind), numbers], axis=1)


def _triple(values: list[float]) -> Vec3:
    x, y, z = values
    return (x, y, z)
