"""Clips out of VMD motions and VPD poses.

Keys become the tracks of bones, expressions, IK chains and visibility, by name; a motion does
not know its model. Camera, light and shadow stay in the document.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, RigError
from bunraku.formats.mmd.space import FRAME_RATE, metres, mirrored_rotations
from bunraku.formats.mmd.text import Text, name_keys
from bunraku.formats.mmd.vmd import VmdFile, tracks
from bunraku.formats.mmd.vmd_curves import bone_curves, physics_switch
from bunraku.formats.mmd.vpd import VpdFile
from bunraku.model import Clip, Track
from bunraku.model.names import CP932

Array = npt.NDArray[Any]

UTF_8 = "utf-8"
LARGEST = 127  # of a curve's coordinates
_CARRIED = {"cameras": "camera", "lights": "light", "shadows": "self-shadow"}


@np.errstate(all="ignore")
def clip_from_vmd(file: VmdFile) -> Clip:
    """The motion as a clip, 30 frames to the second.

    Targets are names, as far as their 15 bytes hold them (`model.names.name_key`); they are cp932,
    or UTF-8 where they can only be that, which is noted. Translations are relative to rest. Of
    several keys for a frame the last in the file counts. A bone whose keys never leave its place
    has no translation track.

    An IK chain that a switch key does not name stays as it was, off before it is first named;
    one that no key names has no track.

    Raises:
        FormatError: keys that contradict themselves.
    """
    notes = list(file.notes)
    bones, morphs = tracks(file.bones), tracks(file.morphs)
    goals = {raw for key in file.properties for raw in name_keys(key.ik["name"])}
    code = _encoding([(raw, 15) for raw in (*bones, *morphs)] + [(raw, 20) for raw in goals], notes)
    try:
        made = (
            *_bones(file, _by_name(file.bones, bones, code, "bones", notes), notes),
            *_morphs(file, _by_name(file.morphs, morphs, code, "morphs", notes), notes),
            *_switches(file, code),
        )
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None
    for section, what in _CARRIED.items():
        count = len(getattr(file, section))
        if count:
            message = f"{count} {what} keys are kept in the document, not in the clip"
            notes.append(Note("carried", message, section))
    if len(file.bones) and not physics_switch(file.bones["interpolation"]).all():
        message = "keys that switch a bone's physics off are kept in the document only"
        notes.append(Note("carried", message, "bones"))
    return Clip(PurePath(file.source).stem, made, tuple(notes), file)


@np.errstate(all="ignore")
def clip_from_vpd(file: VpdFile) -> Clip:
    """The pose as a clip of one moment, 0 s, of the bones that the file counts.

    >>> from bunraku.formats.mmd import VpdBone
    >>> pose = clip_from_vpd(VpdFile("miku.osm", (VpdBone("右腕", (0, 0, 5)),)))
    >>> pose.tracks[0].target, pose.tracks[0].values
    ('右腕', array([[ 0. ,  0. , -0.4]], dtype=float32))
    """
    made: dict[tuple[str, str], Track] = {}
    notes = list(file.notes)
    now = np.zeros(1)
    for bone in file.posed:
        move, turn = metres([bone.translation]), _rotations(np.array([bone.rotation]))
        if move.any():
            key = (bone.name, "translation")
            made[key] = Track(bone.name, "translation", now, move, relative=True)
        key = (bone.name, "rotation")
        made[key] = Track(bone.name, "rotation", now, turn)
    for morph in file.morphs:
        track = Track(morph.name, "expression", now, np.array([[morph.weight]], np.float32))
        made[morph.name, "expression"] = track
    labels = [bone.name for bone in file.posed] + [morph.name for morph in file.morphs]
    broken = [name for name in labels if isinstance(name, Text) and "\ufffd" in name]
    notes += _undecoded(broken, file.encoding)
    unread = len(file.bones) - len(file.posed)
    if unread:
        notes.append(
            Note("bones-unread", f"the last {unread} bones are beyond the declared number")
        )
    return Clip(PurePath(file.source).stem, tuple(made.values()), tuple(notes), file)


def _encoding(names: list[tuple[bytes, int]], notes: list[Note]) -> str:
    """What the names of a motion, given with the size of their fields, are written in.

    cp932 has hardly ever three bytes in a row that are a letter of UTF-8, as Japanese is there.
    """
    names = [(raw, size) for raw, size in names if not raw.isascii()]
    odd = [raw for raw, size in names if not _spells(raw, size, CP932)]
    if names and all(_spells(raw, size, UTF_8) for raw, size in names):
        wide = any(max(raw.decode(UTF_8, "ignore"), default="") > "\u07ff" for raw, _ in names)
        if odd or wide:
            message = f"{len(names)} names are UTF-8, which MMD does not read; read as such"
            notes.append(Note("names-utf-8", message))
            return UTF_8
    notes += _undecoded([raw.decode(CP932, "replace") for raw in odd], CP932)
    return CP932


def _undecoded(names: Sequence[str], encoding: str) -> list[Note]:
    """A note on names whose bytes are not all letters, if there are such."""
    if not names:
        return []
    message = f"{len(names)} names are no {encoding}, as {names[0][:60]!r}; their bytes are kept"
    return [Note("names-undecoded", message)]


def _spells(raw: bytes, size: int, encoding: str) -> bool:
    """Whether the bytes are letters, but for a last one that the end of the field cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(raw, len(raw) < size)
    except UnicodeDecodeError:
        return False
    return True


def _bones(file: VmdFile, named: Iterator[tuple[str, Array]], notes: list[Note]) -> Iterator[Track]:
    keys = file.bones
    curves = bone_curves(keys["interpolation"])
    if curves.size and curves.max() > LARGEST:
        message = f"{int((curves > LARGEST).any(axis=(1, 2)).sum())} keys have curves beyond 127"
        notes.append(Note("curve-out-of-range", message + "; 127 is used", "bones"))
    shares = curves.clip(0, LARGEST).astype(np.float32) / np.float32(LARGEST)
    moves = metres(_numbers(keys["translation"], "bones", notes))
    turns = _rotations(_numbers(keys["rotation"], "bones", notes))
    # a curve on the diagonal changes nothing: (20, 20, 107, 107) is MMD's own straight line
    straight = (curves[..., 0] == curves[..., 1]) & (curves[..., 2] == curves[..., 3])
    for name, order in named:
        times = keys["frame"][order] / FRAME_RATE
        move = moves[order]
        if move.any():
            if straight[order, :3].all():
                yield Track(name, "translation", times, move, relative=True)
            else:
                bent = shares[order, :3]
                yield Track(name, "translation", times, move, "BEZIER", bent, relative=True)
        if straight[order, 3].all():
            yield Track(name, "rotation", times, turns[order])
        else:
            yield Track(name, "rotation", times, turns[order], "BEZIER", shares[order, 3:])


def _morphs(
    file: VmdFile, named: Iterator[tuple[str, Array]], notes: list[Note]
) -> Iterator[Track]:
    keys = file.morphs
    weights = _numbers(keys["weight"], "morphs", notes)
    for name, order in named:
        times = keys["frame"][order] / FRAME_RATE
        yield Track(name, "expression", times, weights[order, None])


def _by_name(
    keys: Array, named: dict[bytes, Array], encoding: str, section: str, notes: list[Note]
) -> Iterator[tuple[str, Array]]:
    """Each name with its keys: one for each frame, the last of the file, in order of time."""
    double = 0
    for raw, order in named.items():
        if not raw:
            message = f"{len(order)} keys name nothing; left out"
            notes.append(Note("unnamed-keys", message, section))
            continue
        frames = keys["frame"][order]
        last = np.append(frames[1:] != frames[:-1], True)
        double += int((~last).sum())
        yield raw.decode(encoding, "surrogateescape"), order[last]
    if double:
        message = f"{double} keys share name and frame with a later one, which counts"
        notes.append(Note("duplicate-keys", message, section))


def _switches(file: VmdFile, encoding: str) -> Iterator[Track]:
    keys = {key.frame: key for key in file.properties}  # the last of a frame counts
    frames = sorted(keys)
    if not frames:
        return
    shown = np.array([[keys[frame].visible != 0] for frame in frames], np.float32)
    yield Track("", "visible", np.array(frames) / FRAME_RATE, shown, "STEP")
    states: dict[str, dict[int, float]] = {}
    for frame in frames:
        for raw, on in keys[frame].ik.tolist():
            name = raw.partition(b"\0")[0].decode(encoding, "surrogateescape")
            states.setdefault(name, {frames[0]: 0.0})[frame] = float(on != 0)
    for name, switches in states.items():
        if name:
            times = np.array(list(switches)) / FRAME_RATE
            yield Track(
                name, "ik", times, np.array([*switches.values()], np.float32)[:, None], "STEP"
            )


def _numbers(values: Array, section: str, notes: list[Note]) -> Array:
    """The values with 0 for what is no number."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    message = f"{int((~finite).sum())} values are no numbers; 0 is used"
    notes.append(Note("numbers-repaired", message, section))
    return np.where(finite, values, 0)


def _rotations(quaternions: Array) -> Array:
    """Mirrored quaternions; all zero means no rotation."""
    turns = mirrored_rotations(quaternions)
    turns[~turns.any(axis=1)] = [0, 0, 0, 1]
    return turns
