"""A motion for humanoids out of a glTF document that is a VRM animation.

Source: VRMC_vrm_animation 1.0. The character is the figure the motion was made on: a skeleton
with a humanoid, no mesh. Its clip has the rotations of bones and the translation of the hips by
node index, "expression" tracks by preset or custom name, and the gaze as a "rotation" track
whose target is the name `LOOK_AT`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.errors import FormatError, RigError
from bunraku.formats.gltf.context import KINDS, Context, spell
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.from_gltf import character_from_gltf
from bunraku.formats.vrm.fields import Fields
from bunraku.formats.vrm.names import PRESETS
from bunraku.formats.vrm.read_rig import read_humanoid
from bunraku.model import Character, Clip, Track

VRMA = "VRMC_vrm_animation"
LOOK_AT = "lookAt"


def is_vrma(file: GltfFile) -> bool:
    """Whether a document has the extension of VRM animations."""
    extensions = file.json.get("extensions", {})
    return VRMA in extensions


def character_from_vrma(file: GltfFile) -> Character:
    """The figure and its one clip; `document` of both is the file.

    Raises:
        FormatError: as `character_from_gltf`; extension data of the wrong type, a bone played
            twice, a node that is two expressions.
    """
    character = character_from_gltf(file)
    context = Context(file.source, {kind: len(file.json.get(kind, ())) for kind in KINDS})
    try:
        root = Fields(file.json, (), context).fields("extensions")
        extension = None if root is None else root.fields(VRMA)
        if extension is None:
            raise FormatError(f"{file.source}: extensions: {VRMA} is missing")
        humanoid = read_humanoid(extension, False, character.skeleton)
        expressions = expression_nodes(extension)
        gaze = extension.fields("lookAt")
        gaze_node = None if gaze is None else gaze.index("node", "nodes")
        if len(character.clips) > 1:
            message = f"only the first of {len(character.clips)} animations is read"
            context.note("animations-carried", ("animations",), message)
        bones = {} if humanoid is None else {node: b for b, node in humanoid.bones.items()}
        clips = tuple(
            _clip(clip, expressions, gaze_node, bones, context) for clip in character.clips[:1]
        )
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None
    notes = context.all_notes()
    clips = tuple(replace(clip, document=file, notes=notes) for clip in clips)
    return replace(character, humanoid=humanoid, clips=clips, notes=(*character.notes, *notes))


def clips_from_vrma(file: GltfFile) -> tuple[Clip, ...]:
    """Only the clip; its node indices mean the figure of `character_from_vrma`."""
    return character_from_vrma(file).clips


def expression_nodes(extension: Fields) -> dict[int, str]:
    """Which node's x is the weight of which expression, a preset or a custom one."""
    found: dict[int, str] = {}
    root = extension.fields("expressions")
    for kind in ("preset", "custom"):
        group = None if root is None else root.fields(kind)
        for name, fields in group.members() if group is not None else ():
            if kind == "preset" and name not in PRESETS:
                fields.note("unknown-preset", "is no preset of VRM 1.0; read as a custom one")
            node = fields.index("node", "nodes")
            if node in found:
                raise FormatError(
                    f"{fields.context.source}: {spell(fields.place)}: expected one expression for"
                    f" each node, found node {node} for {found[node][:60]!r} as well"
                )
            if name in found.values():
                fields.note("expression-twice", "is there as a preset as well; left out")
            elif node is not None:
                found[node] = name
    return found


def _clip(
    clip: Clip,
    expressions: dict[int, str],
    gaze: int | None,
    bones: dict[int, str],
    context: Context,
) -> Clip:
    tracks = []
    for i, track in enumerate(clip.tracks):
        assert isinstance(track.target, int)
        bone = bones.get(track.target)
        if track.target in expressions and track.path == "translation":
            tracks.append(_weights(track, expressions[track.target], i, context))
        elif track.target == gaze and track.path == "rotation":
            tracks.append(replace(track, target=LOOK_AT))
        elif bone is not None and (
            track.path == "scale" or (track.path == "translation" and bone != "hips")
        ):
            message = f"{track.path} of {bone}, which a VRM animation must not move so; left out"
            context.note("track-carried", ("animations", 0), message)
        else:
            tracks.append(track)
    return replace(clip, tracks=tuple(tracks))


def _weights(track: Track, name: str, index: int, context: Context) -> Track:
    """The x of a translation as a weight in 0 … 1."""
    values = track.values[..., :1]
    shown = values[:, 1] if track.interpolation == "CUBICSPLINE" else values
    over = int(((shown < 0) | (shown > 1)).sum())
    if over:
        message = f"{over} weights of {name[:60]!r} are outside 0 … 1; moved to the nearer end"
        context.note("weight-clamped", ("animations", 0), message)
        values = values.copy()
        shown = values[:, 1] if track.interpolation == "CUBICSPLINE" else values
        np.clip(shown, 0, 1, out=shown)
    return Track(name, "expression", track.times, values, track.interpolation)
