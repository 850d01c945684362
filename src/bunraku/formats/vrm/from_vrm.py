"""A character out of a glTF document that is a VRM.

The glTF bridge reads nodes, meshes, skins, materials and clips; this adds what the extensions
`VRM` (0.x), `VRMC_vrm`, `VRMC_node_constraint` and `VRMC_springBone` (1.0) say of them. A
document without any of these gives the plain glTF character.
"""

from __future__ import annotations

from dataclasses import replace

from bunraku.errors import FormatError, RigError
from bunraku.formats.binary import Budget
from bunraku.formats.gltf.context import KINDS, Context
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.from_gltf import character_from_gltf
from bunraku.formats.vrm.fields import Fields
from bunraku.formats.vrm.licence import note_licence_0, note_licence_1
from bunraku.formats.vrm.read_expressions import ExpressionReader
from bunraku.formats.vrm.read_rig import read_constraints, read_humanoid, read_look_at
from bunraku.formats.vrm.read_springs import SPRINGS, SpringReader
from bunraku.model import Character, Rig

VRM_0, VRM_1 = "VRM", "VRMC_vrm"


def character_from_vrm(file: GltfFile) -> Character:
    """The character a document describes, VRM or not; `document` of the result is the file.

    Humanoid, expressions and rig speak the language of VRM 1.0 (bones, presets, radians), also
    for a 0.x file, which keeps its facing: "-Z". What a VRM allows comes as notes (`licence-…`).
    MToon and unlit shading stay in the document.

    Raises:
        FormatError: as `character_from_gltf`; extension data of the wrong type; a bone played
            twice; constraints in a circle.
        UnsupportedError: as `character_from_gltf`.
    """
    character = character_from_gltf(file)
    context = Context(file.source, {kind: len(file.json.get(kind, ())) for kind in KINDS})
    try:
        return _extended(character, file, context)
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None


def _extended(character: Character, file: GltfFile, context: Context) -> Character:
    extensions = Fields(file.json, (), context).fields("extensions")
    root = extensions or Fields({}, ("extensions",), context)
    new, old = root.fields(VRM_1), root.fields(VRM_0)
    if new is not None and old is not None:
        message = "the file is a VRM 1.0 as well; only that is read, this is kept in the document"
        old.note("vrm-twice", message)
    budget = Budget(file.size // 2, file.source)
    nodes = file.json.get("nodes", [])
    skeleton = character.skeleton
    springs = SpringReader(nodes, skeleton, budget)
    rig = Rig(constraints=read_constraints(nodes, context))
    swinging = root.fields(SPRINGS)
    if swinging is not None:
        found, colliders = springs.springs_1(swinging)
        rig = replace(rig, springs=found, colliders=colliders)
    elif new is None and old is not None:
        found, colliders = springs.springs_0(old)
        rig = replace(rig, springs=found, colliders=colliders)
    extension = new or old
    if extension is not None:
        is_old = new is None
        reader = ExpressionReader(character, budget)
        expressions = (reader.expressions_0 if is_old else reader.expressions_1)(extension)
        rig = replace(rig, look_at=read_look_at(extension, is_old))
        character = replace(
            character,
            expressions=expressions,
            humanoid=read_humanoid(extension, is_old, skeleton),
            facing="-Z" if is_old else "+Z",
        )
        (note_licence_0 if is_old else note_licence_1)(extension)
        _note_shading(file, context)
    if rig.constraints or rig.springs or rig.colliders or rig.look_at is not None:
        character = replace(character, rig=rig)
    return replace(character, notes=(*character.notes, *context.all_notes()))


def _note_shading(file: GltfFile, context: Context) -> None:
    materials = file.json.get("materials", [])
    names = {"VRMC_materials_mtoon": "MToon", "KHR_materials_unlit": "unlit"}
    kinds = [
        next((kind for name, kind in names.items() if name in material.get("extensions", {})), None)
        for material in materials
    ]
    for kind in names.values():
        if kind in kinds:
            message = (
                f"{kinds.count(kind)} are {kind}: the character has their base colour, texture"
                " and alpha, the document keeps the rest"
            )
            context.note("shading-carried", ("materials",), message)
