"""A figure and its motion out of a BVH document.

BVH says nothing of its unit and its facing, and files differ (centimetres, inches, a person
five units tall): numbers stay as they are, and a note says that they are taken for metres.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, RigError
from bunraku.formats.bvh.document import BvhFile
from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.model.humanoid_names import MOCAP_NAMES, humanoid_by_names
from bunraku.rotation import continuous, from_euler, quaternion

Array = npt.NDArray[Any]


@np.errstate(all="ignore")
def character_from_bvh(file: BvhFile) -> Character:
    """The figure: a node for each joint and each end, and the motion as its one clip.

    The end of a joint is named after it ("Head end"). Which joint plays which bone of a
    humanoid is told from its name.

    Raises:
        FormatError: a time between frames that is no positive number, offsets or values too
            large.

    >>> from bunraku.formats.bvh import read_bvh
    >>> walker = character_from_bvh(read_bvh(
    ...     b"HIERARCHY ROOT Hips { OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation }\\n"
    ...     b"MOTION Frames: 1 Frame Time: 0.04  90 0 0"
    ... ))
    >>> walker.clips[0].tracks[0].values.round(4)
    array([[0.    , 0.    , 0.7071, 0.7071]], dtype=float32)
    """
    parents = np.array([joint.parent for joint in file.joints], np.int32)
    names = [joint.name for joint in file.joints]
    for i, joint in enumerate(file.joints):
        if joint.is_end and joint.parent >= 0:
            names[i] = f"{names[joint.parent]} end"
    try:
        offsets = np.array([joint.offset for joint in file.joints], np.float64).reshape(-1, 3)
        skeleton = Skeleton(tuple(names), parents, offsets)
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None
    unit = Note("unit-unknown", "a BVH does not say its unit; numbers are taken for metres")
    return Character(
        skeleton,
        clips=(clip_from_bvh(file),),
        humanoid=humanoid_by_names(names, MOCAP_NAMES),
        name=PurePath(file.source).stem,
        notes=(*file.notes, unit),
        document=file,
    )


@np.errstate(all="ignore")
def clip_from_bvh(file: BvhFile) -> Clip:
    """The motion alone: LINEAR tracks with a key for each frame, targets being names.

    A joint's rotations are applied in the order of its channels, the first about the axes of
    its parent. Positions take the place of the offset (they repeat it where a root has one);
    an axis without a channel keeps it. Frames with gaps have no key for that joint.

    Raises:
        FormatError: as `character_from_bvh`.
    """
    if len(file.values) > 1 and not 0 < file.frame_time < 1e6:
        raise FormatError(
            f"{file.source}: Frame Time: expected a positive number, found {file.frame_time:g}"
        )
    notes = list(file.notes)
    try:
        tracks = tuple(_tracks(file, notes))
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None
    return Clip(PurePath(file.source).stem, tracks, tuple(notes), file)


def _tracks(file: BvhFile, notes: list[Note]) -> Iterator[Track]:
    times: Array = np.arange(len(file.values)) * file.frame_time
    for i, (joint, first) in enumerate(zip(file.joints, file.first_channels, strict=True)):
        if not joint.channels:
            continue
        columns = file.values[:, first : first + len(joint.channels)]
        whole = np.isfinite(columns).all(axis=1)
        if not whole.all():
            message = f"{int((~whole).sum())} frames of {joint.name[:60]!r} have gaps"
            notes.append(Note("frames-with-gaps", message, f"joints[{i}]"))
        if not whole.any():
            continue
        # tracks without gaps share their times
        moments: Array = times if whole.all() else times[whole]
        values: Array = columns if whole.all() else columns[whole]
        moves = [k for k, name in enumerate(joint.channels) if name.endswith("position")]
        if moves:
            places = np.tile(np.array(joint.offset, np.float64), (len(values), 1))
            for k in moves:
                places[:, "XYZ".index(joint.channels[k][0])] = values[:, k]
            yield Track(joint.name, "translation", moments, places.astype(np.float32))
        turns = [k for k, name in enumerate(joint.channels) if name.endswith("rotation")]
        if turns:
            order = [joint.channels[k][0] for k in turns]
            rotations = continuous(_rotations(np.radians(values[:, turns]), order))
            yield Track(joint.name, "rotation", moments, rotations.astype(np.float32))


def _rotations(angles: Array, axes: list[str]) -> Array:
    """Quaternions (F, 4) from angles (F, n), each about the axis of its letter, first outermost."""
    if len(axes) == 3 and axes[0] != axes[1] != axes[2]:
        return np.asarray(from_euler(angles, "".join(axes)))
    total = np.asarray(quaternion.identity((len(angles),)))
    for axis, column in zip(axes, angles.T, strict=True):
        turn = quaternion.from_axis_angle(np.eye(3)["XYZ".index(axis)], column)
        total = np.asarray(quaternion.multiply(total, turn))
    return total
