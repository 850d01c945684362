"""A clip and a character brought together: targets resolved, keys laid out for sampling."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.model import Character, Clip, Pose, Track
from bunraku.model.arrays import Float64
from bunraku.motion.notes import Finding, summed, unbound
from bunraku.motion.targets import Targets

# The order of the outputs and the numbers of the kinds in core/sampling/sampling.hpp. The weights
# of morphs and expressions, the switches of IK chains and visibility share one output.
OUTPUTS = {"translation": 0, "rotation": 1, "scale": 2}
OTHER = 3
STEP, LINEAR, SLERP, CUBIC, CUBIC_ROTATION, BEZIER, BEZIER_SLERP = range(7)
KINDS = {"STEP": STEP, "LINEAR": LINEAR, "CUBICSPLINE": CUBIC, "BEZIER": BEZIER}
ROTATION_KINDS = {
    "STEP": STEP,
    "LINEAR": SLERP,
    "CUBICSPLINE": CUBIC_ROTATION,
    "BEZIER": BEZIER_SLERP,
}


@dataclass(frozen=True, eq=False)
class BoundClip:
    """What sampling needs of a clip on a character; made by `bind`.

    Attributes:
        name: of the clip.
        rest: the character's rest pose, one frame: the value of everything without a track.
        start, end: first and last key of any bound track, seconds; 0 without one.
        notes: what of the clip could not be bound, or was read as something else.
        key_times: (ΣK,) float64 the key times of every timeline. Tracks whose key times are
            equal share a timeline, so that a time is looked up once for all of them.
        timeline_starts: (L + 1,) int64 where each timeline starts in `key_times`.
        rows: (R,) float64 the keys, one row per key (core/sampling/sampling.hpp says of what).
        tracks: (T, 6) int64 rows (timeline, kind, start in `rows`, output, column, width),
            ordered by timeline.
    """

    name: str
    rest: Pose
    start: float
    end: float
    notes: tuple[Note, ...]
    key_times: Float64 = field(repr=False)
    timeline_starts: npt.NDArray[np.int64] = field(repr=False)
    rows: Float64 = field(repr=False)
    tracks: npt.NDArray[np.int64] = field(repr=False)


def bind(clip: Clip, character: Character) -> BoundClip:
    """Resolve a clip's targets on a character, once, and lay its keys out for `sample`.

    A name of 15 bytes of cp932 (20 for IK) that no node or expression has is also looked for as
    what the old motion formats keep of a longer one, see `model.names.name_key`.

    What does not fit is left out or read as said here, and told in `.notes`, one for each kind:

    * ``unbound-track``: no node or expression has that index or name, no IK chain that goal, or
      a weights track's node shows no mesh with morph targets, or with another number of them.
      Left out. Tracks that would keep what there is not at rest need no note, as long as any
      other moves the character.
    * ``ambiguous-target``: several nodes have that name. The first is moved. (Of expressions of
      one name all are.)
    * ``duplicate-track``: an earlier track already moves the same path of the same target. Left
      out.
    * ``zero-rotation``: keys of length 0, read as no rotation.
    * ``rotation-normalised``: keys that were not of length 1, see `Track.notes`.

    >>> from bunraku.model import Skeleton
    >>> ghost = Track("ghost", "scale", [0], [[1, 1, 1]])
    >>> bound = bind(Clip("haunt", (ghost,)), Character(Skeleton(("root",), [-1])))
    >>> print(bound.notes[0])
    tracks[0]: 'haunt' moves the scale of node 'ghost', which there is not [unbound-track]
    """
    findings: list[Finding] = []
    bound: dict[tuple[int, str], Track] = {}
    targets = Targets(character)
    for i, track in enumerate(clip.tracks):
        place = f"tracks[{i}]"
        found = targets.of(track)
        what = f"{clip.name!r} {found.what}"
        if found.fault:
            note = Note("unbound-track", f"{what}{found.fault}", place)
            unfit = Finding(note, track, "weigh other morph targets than there are")
            findings.append(unfit if found.unfit else unbound(note, track))
            continue
        if found.ambiguous:
            note = Note("ambiguous-target", f"{what}{found.ambiguous}", place)
            said = "name several nodes, of which the first is moved"
            findings.append(Finding(note, track, said))
        taken = [index for index in found.indices if (index, track.path) in bound]
        if taken:
            note = Note("duplicate-track", f"{what}, as an earlier track does", place)
            findings.append(Finding(note, track, "move what an earlier track moves"))
        for index in found.indices:
            bound.setdefault((index, track.path), track)
        if len(taken) < len(found.indices):
            findings += [_odd(note, track, what, place) for note in track.notes]
    moving = any(path != "visible" for _, path in bound)
    notes = summed(findings, clip.name, len(clip.tracks), moving)
    return _pack(clip.name, character.rest_pose(), bound, targets, notes)


def _odd(note: Note, track: Track, what: str, place: str) -> Finding:
    """What a track says of its own keys, as a finding."""
    said = "have " + note.message.split(" ", 2)[2]
    return Finding(Note(note.code, f"{what} {note.message}", place), track, said)


def _pack(
    name: str,
    rest: Pose,
    bound: dict[tuple[int, str], Track],
    targets: Targets,
    notes: tuple[Note, ...],
) -> BoundClip:
    timelines: dict[bytes, int] = {}
    times: list[Float64] = []
    rows: list[Float64] = []
    tracks = []
    start = 0
    for (index, path), track in bound.items():
        kind = _kind(track)
        timeline = timelines.setdefault(track.times.tobytes(), len(timelines))
        if timeline == len(times):
            times.append(track.times)
        output = OUTPUTS.get(path, OTHER)
        column = targets.column(index, path) if output == OTHER else index * track.width
        tracks.append((timeline, kind, start, output, column, track.width))
        offset = rest.translations[0, index] if track.relative else None
        rows.append(_rows(track, kind, offset))
        start += rows[-1].size
    return BoundClip(
        name,
        rest,
        min((float(each[0]) for each in times), default=0.0),
        max((float(each[-1]) for each in times), default=0.0),
        notes,
        np.concatenate([np.zeros(0), *times]),
        np.cumsum([0, *map(len, times)], dtype=np.int64),
        np.concatenate([np.zeros(0), *(each.reshape(-1) for each in rows)]),
        np.array(sorted(tracks), np.int64).reshape(-1, 6),
    )


def _kind(track: Track) -> int:
    kinds = ROTATION_KINDS if track.path == "rotation" else KINDS
    curves = track.curves
    # Most keys of most motions have straight lines for curves.
    if curves is not None and (curves[..., ::2] == curves[..., 1::2]).all():
        return kinds["LINEAR"]
    return kinds[track.interpolation]


def _rows(track: Track, kind: int, offset: Float64 | None) -> Float64:
    """The keys of a track as the core wants them: float64, (K, numbers per key)."""
    values = track.values.astype(np.float64)
    if track.path == "rotation":
        keys = values[:, 1] if kind == CUBIC_ROTATION else values
        keys[~keys.any(axis=1)] = [0, 0, 0, 1]
        if kind != CUBIC_ROTATION:  # there the result is normalised, not the keys
            keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    if offset is not None:
        keys = values[:, 1] if kind == CUBIC else values
        keys += offset
    parts = [values.reshape(len(values), -1)]
    if kind in (SLERP, BEZIER_SLERP):
        parts.append(_arcs(values))
    if kind in (BEZIER, BEZIER_SLERP) and track.curves is not None:
        parts.append(track.curves.reshape(len(values), -1).astype(np.float64))
    return np.concatenate(parts, axis=1)


def _arcs(keys: Float64) -> Float64:
    """(K, 2): a² and ±a / sin a of the arc from each unit quaternion to the next.

    The sign is that of their inner product: where it is negative, the shorter arc leads to the
    next key's negative. The angle comes from |p − q| and |p + q| (Kahan), never from an
    arccosine, which loses half of the digits where keys are nearly equal.
    """
    arcs = np.tile([0.0, 1.0], (len(keys), 1))
    p, q = keys[:-1], keys[1:]
    sign = np.where((p * q).sum(axis=1) < 0, -1.0, 1.0)
    q = q * sign[:, None]
    angle = 2 * np.arctan2(np.linalg.norm(q - p, axis=1), np.linalg.norm(q + p, axis=1))
    sine = np.sin(angle)
    arcs[:-1, 0] = angle * angle
    arcs[:-1, 1] = sign * np.divide(angle, sine, out=np.ones_like(angle), where=sine > 0)
    return arcs
