"""A motion of a humanoid into a glTF document that is a VRM animation.

Source: VRMC_vrm_animation 1.0. The file holds the whole skeleton, so that node indices stay, and
no mesh; what a VRM animation must not move is left out with a note.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np

from bunraku.errors import Note, UnsupportedError
from bunraku.formats.gltf.context import KINDS, Context
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.from_gltf import character_from_gltf
from bunraku.formats.gltf.to_gltf import gltf_from_character
from bunraku.formats.vrm.descent import bones_apart
from bunraku.formats.vrm.fields import Fields, Tree
from bunraku.formats.vrm.names import PRESETS
from bunraku.formats.vrm.vrma import LOOK_AT, VRMA, character_from_vrma, expression_nodes, is_vrma
from bunraku.formats.vrm.write_expressions import with_presets
from bunraku.formats.vrm.write_rig import same, write_humanoid_1
from bunraku.model import Character, Clip, Humanoid, Skeleton, Track

EYES = ("leftEye", "rightEye")
GAZES = ("lookUp", "lookDown", "lookLeft", "lookRight")


def vrma_from_character(character: Character) -> tuple[GltfFile, tuple[Note, ...]]:
    """The VRM animation of a character's first clip, and notes on what it cannot hold.

    Rotations of humanoid bones, the translation of the hips, "expression" tracks and a rotation
    called `LOOK_AT` are written. A figure that was read from a VRM animation keeps its document.
    A figure that faces "-Z" is put below a node that turns it: VRM animations face +Z.

    Raises:
        UnsupportedError: nobody plays the hips, so nothing says whose motion it is.

    >>> figure = Character(Skeleton(("hips",), [-1]), humanoid=Humanoid({"hips": 0}))
    >>> vrma_from_character(figure)[0].json["extensions"]["VRMC_vrm_animation"]["humanoid"]
    {'humanBones': {'hips': {'node': 0}}}
    """
    if character.humanoid is None or "hips" not in character.humanoid.bones:
        raise UnsupportedError(f"{character.name}: a VRM animation needs a humanoid with hips")
    context = Context(character.name, dict.fromkeys(KINDS, 0))
    base = character.document
    if isinstance(base, GltfFile) and is_vrma(base):
        figure, extension = _again(character, base, context)
    else:
        figure, extension = _anew(character, context)
    file, notes = gltf_from_character(figure)
    tree = copy.deepcopy(file.json)
    tree["extensions"] = {**(tree.get("extensions") or {}), VRMA: extension}
    if VRMA not in tree.get("extensionsUsed", []) and not (
        isinstance(base, GltfFile) and file is base
    ):
        tree["extensionsUsed"] = [*tree.get("extensionsUsed", []), VRMA]
    if tree != file.json:
        file = replace(file, json=tree)
    return file, (*notes, *context.all_notes())


def _again(character: Character, base: GltfFile, context: Context) -> tuple[Character, Tree]:
    """The plain glTF character of a figure that came from a VRM animation, and its extension."""
    old = character_from_gltf(base)
    shown = character_from_vrma(base)
    extension: Tree = dict(base.json["extensions"][VRMA])
    assert character.humanoid is not None
    if character.humanoid != shown.humanoid:
        write_humanoid_1(extension, character.humanoid)
    if same(shown.clips, character.clips[:1]):
        clips = old.clips
        plain = replace(character, humanoid=None, clips=clips)
        return plain, extension
    counts = {kind: len(base.json.get(kind, ())) for kind in KINDS}
    place = ("extensions", VRMA)
    silent = Context(base.source, counts)  # what there is to note was noted on reading
    known = {name: n for n, name in expression_nodes(Fields(extension, place, silent)).items()}
    nodes = _Nodes(character.skeleton, known, (extension.get("lookAt") or {}).get("node"))
    clips = tuple(_clip(clip, character, nodes, context) for clip in character.clips[:1])
    extension |= nodes.extension(extension)
    skeleton = nodes.skeleton()
    added = np.arange(len(character.skeleton), len(skeleton), dtype=np.int32)
    scenes = tuple(
        replace(scene, roots=np.concatenate([scene.roots, added])) for scene in character.scenes
    )
    figure = replace(
        character,
        skeleton=skeleton,
        scenes=scenes,
        humanoid=None,
        clips=(*clips, *old.clips[1:]),
    )
    return figure, extension


def _anew(character: Character, context: Context) -> tuple[Character, Tree]:
    assert character.humanoid is not None
    extension: Tree = {"specVersion": "1.0"}
    bones = {bone: n for bone, n in character.humanoid.bones.items() if bone not in EYES}
    if len(bones) < len(character.humanoid.bones):
        context.note("bone-dropped", ("humanoid",), "the eyes: a VRM animation has no such bones")
    write_humanoid_1(extension, Humanoid(bones))
    for message in bones_apart(Humanoid(bones), character.skeleton):
        context.note("bone-apart", ("humanoid",), message)
    nodes = _Nodes(character.skeleton, {}, None)
    silent = Context(character.name, dict.fromkeys(KINDS, 0))  # presets speak for themselves
    spoken = replace(character, expressions=with_presets(character.expressions, silent))
    clips = tuple(_clip(clip, spoken, nodes, context) for clip in character.clips[:1])
    if len(character.clips) > 1:
        message = f"only the first of {len(character.clips)} clips is written"
        context.note("clips-dropped", ("animations",), message)
    extension |= nodes.extension(extension)
    figure = Character(
        nodes.skeleton(turned=character.facing == "-Z"), clips=clips, name=character.name
    )
    return figure, extension


@dataclass
class _Nodes:
    """The nodes of a figure and those added for expressions and the gaze."""

    bones: Skeleton
    expressions: dict[str, int]
    gaze: int | None

    def __post_init__(self) -> None:
        self.added: list[str] = []

    def of_expression(self, name: str) -> int:
        if name not in self.expressions:
            self.expressions[name] = len(self.bones) + len(self.added)
            self.added.append(name)
        return self.expressions[name]

    def of_gaze(self) -> int:
        if self.gaze is None:
            self.gaze = len(self.bones) + len(self.added)
            self.added.append(LOOK_AT)
        return self.gaze

    def extension(self, before: Tree) -> Tree:
        """What the extension says of them."""
        result: Tree = {}
        if self.expressions:
            groups: dict[str, Tree] = {"preset": {}, "custom": {}}
            for name, node in self.expressions.items():
                groups["preset" if name in PRESETS else "custom"][name] = {"node": node}
            expressions = before.get("expressions") or {}
            result["expressions"] = expressions | {k: g for k, g in groups.items() if g}
        if self.gaze is not None:
            result["lookAt"] = {**(before.get("lookAt") or {}), "node": self.gaze}
        return result

    def skeleton(self, *, turned: bool = False) -> Skeleton:
        """The bones, what was added, and a root that turns them by half a turn about Y."""
        bones, more = self.bones, len(self.added)
        if not more and not turned:
            return bones
        parents = [*bones.parents.tolist(), *more * [-1]]
        names = (*bones.names, *self.added)
        rotations = np.concatenate([bones.rotations, np.tile([0.0, 0, 0, 1], (more, 1))])
        if turned:
            root = len(parents)
            parents = [root if n < len(bones) and p < 0 else p for n, p in enumerate(parents)]
            parents.append(-1)
            names = (*names, "turned")
            rotations = np.concatenate([rotations, [[0.0, 1, 0, 0]]])
        extra = len(parents) - len(bones)
        return Skeleton(
            names,
            np.array(parents, np.int32),
            np.concatenate([bones.translations, np.zeros((extra, 3))]),
            rotations,
            np.concatenate([bones.scales, np.ones((extra, 3))]),
        )


def _clip(clip: Clip, character: Character, nodes: _Nodes, context: Context) -> Clip:
    assert character.humanoid is not None
    bones = {node: bone for bone, node in character.humanoid.bones.items()}
    tracks = []
    for i, track in enumerate(clip.tracks):
        written, fault = _track(track, character, bones, nodes)
        if written is None:
            message = f"{track.path} of {track.target!r} {fault}; left out"
            context.note("track-dropped", ("clips", 0, "tracks", i), message)
        else:
            tracks.append(written)
    return replace(clip, tracks=tuple(tracks), document=None, notes=())


def _track(
    track: Track, character: Character, bones: dict[int, str], nodes: _Nodes
) -> tuple[Track | None, str]:
    """The track as a node's, or why there is none."""
    if track.path == "expression":
        name = _expression_name(track.target, character)
        if name in GAZES:
            return None, "is a gaze, which a VRM animation does not say by expression"
        if track.interpolation == "BEZIER":
            return None, "has curves"
        values = np.zeros((*track.values.shape[:-1], 3), np.float32)
        values[..., :1] = track.values
        node = nodes.of_expression(name)
        return Track(node, "translation", track.times, values, track.interpolation), ""
    if track.path == "rotation" and track.target == LOOK_AT:
        return replace(track, target=nodes.of_gaze()), ""
    names = character.skeleton.names
    if isinstance(track.target, str):
        target = names.index(track.target) if track.target in names else -1
    else:
        target = track.target
    bone = bones.get(target)
    if bone is None:
        return None, "is no humanoid bone's"
    if bone in EYES or not (
        track.path == "rotation" or (track.path == "translation" and bone == "hips")
    ):
        return None, f"({bone}) is nothing a VRM animation may move"
    return replace(track, target=target), ""


def _expression_name(target: int | str, character: Character) -> str:
    """A preset's name where the character says which, else its own."""
    expressions = character.expressions
    if isinstance(target, str):
        found = next((e for e in expressions if target in (e.name, e.preset)), None)
        return target if found is None else found.preset or found.name
    if not 0 <= target < len(expressions):
        return f"expression {target}"
    return expressions[target].preset or expressions[target].name
