"""Clips into VMD motions and VPD poses.

Keys stay keys: what lies between two is written as the same straight line or curve. What has
no such keys (cubic splines, times between frames) has to be baked at 30 frames a second first.

MMD's bones have no rest rotation and no scale. For a figure whose nodes have some, rotations and
offsets are turned into the axes of its rest in the world, in which `pmx_from_character` writes its
bones; and half a turn further for a figure that faces −Z.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, UnsupportedError
from bunraku.formats.mmd.from_vmd import LARGEST, clip_from_vmd, clip_from_vpd
from bunraku.formats.mmd.held_switches import hold_switches
from bunraku.formats.mmd.space import FRAME_RATE, mirrored_rotations, units
from bunraku.formats.mmd.text import decode_text
from bunraku.formats.mmd.vmd import BONE_KEY, IK_STATE, MORPH_KEY, PropertyKey, VmdFile
from bunraku.formats.mmd.vmd_curves import LINEAR, encode_bone_curves
from bunraku.formats.mmd.vpd import VpdBone, VpdFile, VpdMorph
from bunraku.formats.mmd.write_bones import bone_name
from bunraku.formats.mmd.write_mesh import rest_matrices, turned
from bunraku.formats.mmd.write_morphs import target_name
from bunraku.model import Character, Clip, Track, differences
from bunraku.model.humanoid_names import MMD_NAMES
from bunraku.model.names import CP932, name_key
from bunraku.rotation import quaternion, slerp_track

Array = npt.NDArray[Any]

_TOLERANCE = 1e-3  # of a frame: file times are float32
_BAKE = "a bake at 30 frames a second can be written"
_STANDARD = {name for names in MMD_NAMES.values() for name in names}


def vmd_from_clip(
    clip: Clip, character: Character | None = None
) -> tuple[VmdFile, tuple[Note, ...]]:
    """The document of a motion, and notes on what it cannot hold.

    A motion that was read from a VMD and not changed gives that document; a changed one keeps
    its camera, light, shadow and physics switches, at their frames. Names are cut to their 15
    bytes of cp932; all four rows of interpolation are filled. STEP tracks of bones and morphs get
    a second key, one frame before the next.

    Args:
        clip: the motion.
        character: whose rest and names the tracks are about; without one, tracks need names
            and relative translations.

    Raises:
        UnsupportedError: keys between frames, or cubic splines.

    >>> nod = Track("頭", "rotation", [0, 1], [[0, 0, 0, 1], [1, 0, 0, 0]])
    >>> file, notes = vmd_from_clip(Clip("nod", (nod,)))
    >>> file.bones["frame"].tolist(), file.bones["rotation"][1].tolist()
    ([0, 30], [-1.0, 0.0, 0.0, 0.0])
    """
    document = clip.document
    base = VmdFile(source=f"{clip.name or 'motion'}.vmd")
    notes: list[Note] = []
    if isinstance(document, VmdFile):
        if not differences(replace(clip_from_vmd(document), name=clip.name), clip):
            return document, ()
        base = document
    elif character is not None:
        model = character.name.encode(CP932, "replace").decode(CP932)
        base = replace(base, model_name=model)
    targets = _Targets(clip, character, notes)
    moved = dict(targets.bones())
    notes += _foreign(moved, character)
    each = [_bone_keys(clip, name, moves) for name, moves in moved.items()]
    bones = np.concatenate([np.empty(0, BONE_KEY), *each])
    notes += hold_switches(bones, base)
    morphs = [_morph_keys(clip, name, track) for name, track in targets.morphs()]
    made = replace(
        base,
        bones=bones,
        morphs=np.concatenate([np.empty(0, MORPH_KEY), *morphs]),
        properties=tuple(_property_keys(clip, targets)),
        sections=6,
        trailing=b"",
        notes=(),
    )
    return made, tuple(notes)


def vpd_from_clip(
    clip: Clip, character: Character | None = None
) -> tuple[VpdFile, tuple[Note, ...]]:
    """The document of a pose: the first key of every track, and notes on what that leaves out.

    A pose that was read from a VPD and not changed gives that document.

    Raises:
        UnsupportedError: translations that are not relative, without a character.
    """
    document = clip.document
    base = VpdFile(source=f"{clip.name or 'pose'}.vpd")
    if isinstance(document, VpdFile):
        if not differences(replace(clip_from_vpd(document), name=clip.name), clip):
            return document, ()
        base = replace(document, text=b"", bone_count=None)
    elif character is not None:
        base = replace(base, model=f"{character.name.encode(CP932, 'replace').decode(CP932)}.osm")
    notes: list[Note] = []
    later = sum(track.key_count > 1 for track in clip.tracks)
    if later:
        notes.append(Note("keys-dropped", f"{later} tracks have more keys than the first"))
    targets = _Targets(clip, character, notes)
    bones = []
    moved = dict(targets.bones())
    notes += _foreign(moved, character)
    for name, moves in moved.items():
        offset = units(moves.offsets[0]) if moves.offsets is not None else np.zeros(3)
        turn = mirrored_rotations(moves.turns[0]) if moves.turns is not None else [0, 0, 0, 1]
        turn = np.asarray(turn, np.float64)
        bones.append(VpdBone(_spelled(name), tuple(offset.tolist()), tuple(turn.tolist())))
    morphs = tuple(
        VpdMorph(_spelled(name), float(_keys(track)[0, 0])) for name, track in targets.morphs()
    )
    return replace(base, bones=tuple(bones), morphs=morphs, notes=()), tuple(notes)


def _foreign(names: Iterable[str], character: Character | None) -> Iterator[Note]:
    """Says of a humanoid's motion that no MMD model has bones of these names."""
    if character is None or character.humanoid is None:
        return
    if character.rig is not None and character.rig.layers is not None:
        return
    plain = {unicodedata.normalize("NFKC", name) for name in names}
    if not plain or plain & _STANDARD:
        return
    message = (
        "no bone has the name of a standard one of MMD: this moves only models with the bones of"
        f" {character.name or 'the character'}; for another, play the motion on that model"
        " (load_motions, --motion), and bake that"
    )
    yield Note("bones-not-standard", message, "bones")


def _spelled(name: str) -> str:
    """A name with the bytes of a letter that was cut in half."""
    return decode_text(name.encode(CP932, "surrogateescape"), CP932)


@dataclass
class _Moves:
    """What moves a bone: tracks, and their keys in the axes of a bone without rest rotation."""

    translation: Track | None = None
    rotation: Track | None = None
    offsets: Array | None = None
    turns: Array | None = None


class _Targets:
    """The tracks of a clip by what they move, under the names a motion calls it."""

    def __init__(self, clip: Clip, character: Character | None, notes: list[Note]) -> None:
        self.clip = clip
        self.character = character
        self.notes = notes
        self.owners: dict[tuple[str, bytes], str] = {}
        self.rest = rest_turns(character) if character is not None else None
        self.axes = parent_axes(character) if character is not None else None
        self.nodes: dict[str, int] = {}
        for i, name in enumerate(character.skeleton.names if character is not None else ()):
            self.nodes.setdefault(name, i)

    def bones(self) -> Iterator[tuple[str, _Moves]]:
        found: dict[str, _Moves] = {}
        for i, track in enumerate(self.clip.tracks):
            if track.path == "scale":
                self._drop(i, track, "scales, which a motion cannot")
            elif track.path in ("translation", "rotation"):
                name = self._node_name(i, track)
                if name is None or not self._writable("bone", name, i, track):
                    continue
                moves = found.setdefault(name, _Moves())
                if getattr(moves, track.path) is not None:
                    self._drop(i, track, "is moved by an earlier track")
                elif track.path == "translation":
                    moves.translation, moves.offsets = self._in_the_world(track)
                else:
                    moves.rotation, moves.turns = track, self._turns(track)
        yield from found.items()

    def morphs(self) -> Iterator[tuple[str, Track]]:
        found: dict[str, Track] = {}
        for i, track in enumerate(self.clip.tracks):
            if track.path == "expression":
                name = track.target if isinstance(track.target, str) else self._expression(track)
                pairs = [(name, track)]
            else:
                pairs = self._weights(i, track) if track.path == "weights" else []
            for name, each in pairs:
                if not self._writable("morph", name, i, track):
                    continue
                first = found.setdefault(name, each)
                # targets of one name on several meshes are one morph, and move together
                if differences(first.values, each.values) or differences(first.times, each.times):
                    self._drop(i, track, f"moves {name[:60]!r}, as an earlier track does")
        yield from found.items()

    def chains(self) -> Iterator[tuple[str, Track]]:
        for i, track in enumerate(self.clip.tracks):
            name = self._node_name(i, track) if track.path == "ik" else None
            if name is not None:
                yield name, track

    def _weights(self, index: int, track: Track) -> list[tuple[str, Track]]:
        """Morph targets of a mesh, one track each, under the names of the targets."""
        character, node = self.character, self._node(track)
        for i, each in enumerate(character.attachments if character is not None else ()):
            assert character is not None
            width = len(character.meshes[each.mesh].morph_names)
            if each.node == node and width == track.width:
                names = [target_name(character, i, k) for k in range(width)]
                columns = np.split(track.values, width, axis=-1)
                return [
                    (name, replace(track, target=name, path="expression", values=values))
                    for name, values in zip(names, columns, strict=True)
                    if values.any()
                ]
        self._drop(index, track, "weighs morph targets that there are not")
        return []

    def _expression(self, track: Track) -> str:
        expressions = self.character.expressions if self.character is not None else ()
        index = int(track.target)
        return expressions[index].name if 0 <= index < len(expressions) else ""

    def _node_name(self, index: int, track: Track) -> str | None:
        if isinstance(track.target, str):
            return track.target
        if self.character is not None and 0 <= track.target < len(self.character.skeleton):
            return bone_name(self.character.skeleton, track.target)
        self._drop(index, track, "moves a node that has no name here")
        return None

    def _writable(self, kind: str, name: str, index: int, track: Track) -> bool:
        """Whether a motion can call it so; names that are the same to it are noted."""
        key = name_key(name)
        if not key:
            self._drop(index, track, "has a name that cp932 cannot spell")
            return False
        owner = self.owners.setdefault((kind, key), name)
        if owner != name:
            message = f"{name[:60]!r} and {owner[:60]!r} are the same in 15 bytes"
            self.notes.append(Note("names-collide", message, f"tracks[{index}]"))
        return True

    def _drop(self, index: int, track: Track, reason: str) -> None:
        message = f"{track.path} of {str(track.target)[:60]!r} {reason}; left out"
        self.notes.append(Note("track-dropped", message, f"tracks[{index}]"))

    def _in_the_world(self, track: Track) -> tuple[Track, Array]:
        """The track with its curves, and (K, 3) offsets from rest, in the world's axes."""
        values = _keys(track)
        node = self._node(track)
        if not track.relative:
            if node is None or self.character is None:
                raise UnsupportedError(
                    f"{self.clip.name!r}: translations of {track.target!r} are not relative to"
                    " rest; a motion of them needs the character"
                )
            values = values - self.character.skeleton.translations[node]
        if node is None or self.axes is None:
            return track, values
        axes = self.axes[node]
        if track.curves is not None:
            curves = curves_along(axes, track.curves)
            if curves is None:
                raise UnsupportedError(
                    f"{self.clip.name!r}: the curves of {track.target!r} are for axes that are"
                    f" none of the world's; {_BAKE}"
                )
            track = replace(track, curves=curves)
        return track, values @ axes.T

    def _turns(self, track: Track) -> Array:
        """(K, 4) rotations from rest in the world's axes."""
        values = _keys(track)
        values = np.where(values.any(axis=1, keepdims=True), values, [0.0, 0.0, 0.0, 1.0])
        node = self._node(track)
        if node is None or self.rest is None or self.character is None:
            return values
        if not self.rest[2][node]:
            values = np.asarray(quaternion.normalize(values))
            parent, own = self.rest[0][node], self.rest[1][node]
            bound = quaternion.conjugate(own)
            values = np.asarray(quaternion.multiply(quaternion.multiply(parent, values), bound))
        axes = turned(values[:, :3], self.character.facing)
        return np.concatenate([axes, values[:, 3:]], axis=1)

    def _node(self, track: Track) -> int | None:
        if self.character is None:
            return None
        return self.nodes.get(track.target) if isinstance(track.target, str) else track.target


def parent_axes(character: Character) -> Array:
    """(N, 3, 3) from the axes of each node's parent at rest to MMD's, before the mirror."""
    skeleton = character.skeleton
    world = np.concatenate([rest_matrices(skeleton)[:, :3, :3], np.eye(3)[None]])
    return turned(world[skeleton.parents].swapaxes(1, 2), character.facing).swapaxes(1, 2)


def curves_along(axes: Array, curves: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    """Curves (K, 3, 4) of a translation in other axes (3, 3); None where theirs would be mixed."""
    if (curves == curves[:, :1]).all():
        return curves
    order = np.abs(axes).argmax(axis=1)
    others = axes * (np.arange(3) != order[:, None])
    if len({*order.tolist()}) < 3 or np.abs(others).max() > 1e-6 * np.abs(axes).max():
        return None
    return curves[:, order]


def rest_turns(character: Character) -> tuple[Array, Array, Array]:
    """Rest rotations in the world of each node's parent and of itself; which are all identity."""
    skeleton = character.skeleton
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    parents, own = np.tile(identity, (2, len(skeleton), 1))
    if (skeleton.rotations != identity).any():
        for node in skeleton.order.tolist():
            above = int(skeleton.parents[node])
            if above >= 0:
                parents[node] = own[above]
            own[node] = quaternion.multiply(parents[node], skeleton.rotations[node])
    plain = (own == identity).all(axis=1) & (parents == identity).all(axis=1)
    return parents, own, plain


def _keys(track: Track) -> Array:
    if track.interpolation == "CUBICSPLINE":
        raise UnsupportedError(f"{track.path} of {track.target!r} is a cubic spline; {_BAKE}")
    values: Array = track.values.astype(np.float64)
    return values


def _frames(clip: Clip, track: Track) -> Array:
    """(K,) whole frames of the keys."""
    frames = track.times * FRAME_RATE
    whole = np.rint(frames)
    off = np.abs(frames - whole)
    if off.max() > _TOLERANCE or whole[0] < 0 or whole[-1] >= 2**32 or (np.diff(whole) == 0).any():
        key = int(np.argmax(off))
        raise UnsupportedError(
            f"{clip.name!r}: {track.path} of {track.target!r}: key {key} at {track.times[key]:.6g}"
            f" s is not on one of the 30 frames of a second; {_BAKE}"
        )
    return whole.astype(np.int64)


def _held(frames: Array, values: Array, step: bool) -> tuple[Array, Array]:
    """Keys with, for a STEP track, each value once more in the frame before the next."""
    if not step or len(frames) < 2:
        return frames, values
    room = np.flatnonzero(np.diff(frames) > 1)
    where = room + 1
    return np.insert(frames, where, frames[where] - 1), np.insert(
        values, where, values[room], axis=0
    )


def _bone_keys(clip: Clip, name: str, moves: _Moves) -> Array:
    kinds = [track for track in (moves.translation, moves.rotation) if track is not None]
    sampled = []
    for track, values in ((moves.translation, moves.offsets), (moves.rotation, moves.turns)):
        if track is None or values is None:
            sampled.append((np.zeros(0, np.int64), np.zeros((0, 3))))
        else:
            sampled.append(_held(_frames(clip, track), values, track.interpolation == "STEP"))
    frames = np.unique(np.concatenate([own for own, _ in sampled]))
    for track, (own, _) in zip((moves.translation, moves.rotation), sampled, strict=True):
        if track is not None and track.curves is not None and len(own) < len(frames):
            raise UnsupportedError(
                f"{clip.name!r}: curves of {name!r} would have to be cut where only one of its"
                f" tracks has a key; {_BAKE}"
            )
    keys = np.zeros(len(frames), BONE_KEY)
    keys["name"] = name_key(name)
    keys["frame"] = frames
    (own, offsets), (own_turns, turns) = sampled
    if len(own):
        columns = [np.interp(frames, own, column) for column in units(offsets).T]
        keys["translation"] = np.stack(columns, axis=1)
    keys["rotation"] = [0, 0, 0, 1]
    if len(own_turns):
        if len(own_turns) < len(frames):
            turns = np.asarray(slerp_track(own_turns.astype(np.float64), turns, frames))
        keys["rotation"] = mirrored_rotations(turns)
    curves = np.tile(np.array(LINEAR), (len(frames), 4, 1))
    for track in kinds:
        if track.curves is not None:
            channels = slice(0, 3) if track.path == "translation" else slice(3, 4)
            curves[:, channels] = np.rint(track.curves.astype(np.float64) * LARGEST).clip(
                0, LARGEST
            )
    keys["interpolation"] = encode_bone_curves(curves)
    return keys


def _morph_keys(clip: Clip, name: str, track: Track) -> Array:
    if track.interpolation == "BEZIER":
        raise UnsupportedError(f"{clip.name!r}: morph {name!r} moves by curves; {_BAKE}")
    frames, values = _held(_frames(clip, track), _keys(track), track.interpolation == "STEP")
    keys = np.zeros(len(frames), MORPH_KEY)
    keys["name"] = name_key(name)
    keys["frame"] = frames
    keys["weight"] = values[:, 0]
    return keys


def _property_keys(clip: Clip, targets: _Targets) -> Iterator[PropertyKey]:
    shown = [track for track in clip.tracks if track.path == "visible"][:1]
    chains = [(name, track) for name, track in targets.chains() if name_key(name, 20)]
    if not shown and not chains:
        return
    tracks = [*shown, *(track for _, track in chains)]
    frames = np.unique(np.concatenate([_frames(clip, track) for track in tracks]))
    columns = []
    for track in tracks:
        own = _frames(clip, track)
        at = (np.searchsorted(own, frames, side="right") - 1).clip(0)
        columns.append(_keys(track)[at, 0] > 0.5)
    for i, frame in enumerate(frames.tolist()):
        states = np.zeros(len(chains), IK_STATE)
        for k, (name, _) in enumerate(chains):
            states[k] = (name_key(name, 20), columns[len(shown) + k][i])
        yield PropertyKey(frame, int(columns[0][i]) if shown else 1, states)
