"""A motion made for one figure on another: rest poses, proportions, planted feet, faces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from bunraku.errors import Note, RigError
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.vrm import is_vrma
from bunraku.model import Character, Clip, Pose, Skeleton, Track
from bunraku.motion import bind, clip_from_pose, sample
from bunraku.motion.notes import listed
from bunraku.motion.targets import Targets
from bunraku.posing.evaluate import evaluate
from bunraku.retargeting.faces import GAZE, expression_tracks, gaze_tracks
from bunraku.retargeting.figure import Figure, moving_parts
from bunraku.retargeting.mmd_figure import standard_mmd_skeleton
from bunraku.retargeting.normalised import normalised_tracks
from bunraku.retargeting.segments import carrier, transferred

__all__ = ["retarget", "standard_mmd_skeleton"]

_BLOCK = 512  # frames in memory at a time


def retarget(motion: Clip, source: Character, target: Character, *, fps: float = 30.0) -> Clip:
    """Return a clip that makes `target` do what `source` does in `motion`.

    A VRM animation on a figure in T-pose keeps its keys: rotations are normalised by the rest
    poses and the hips' way is scaled by their height, as its specification says. Anything else
    is evaluated in full on its own figure (expressions, appends, inverse kinematics, constraints),
    `fps` times a second, and carried over in the world: limbs and fingers point the same way, the
    trunk turns as much, the whole moves in proportion to the legs, and feet stand where the
    source's stand. IK chains of the target that would undo this are switched off.

    Expressions go by preset, by the names that MMD models give them, or by name. Gaze of a VRM
    animation turns the eyes by the target's own maps. What finds no place (hair and skirts too,
    and morph targets without an expression) is added to the motion's `.notes`.

    Args:
        motion: whose tracks `source` understands.
        source, target: with a `humanoid` each; they may stand and face differently at rest.
        fps: keys per second where keys cannot be kept.

    Raises:
        RigError: a character without a humanoid, an fps that is not positive.

    >>> from bunraku.model import Humanoid, Skeleton
    >>> def figure(height):
    ...     skeleton = Skeleton(("hips", "spine"), [-1, 0], [[0, height, 0], [0, 0.2, 0]])
    ...     return Character(skeleton, humanoid=Humanoid({"hips": 0, "spine": 1}))
    >>> step = Clip("step", (Track(0, "translation", [0, 1], [[0, 1, 0], [0, 1, 0.5]]),))
    >>> retarget(step, figure(1.0), figure(2.0), fps=1).tracks[0].values
    array([[0., 2., 0.],
           [0., 2., 1.]], dtype=float32)
    """
    if not (np.isfinite(fps) and fps > 0):
        raise RigError(f"fps: expected a positive number, found {fps:g}")
    one, other = Figure(source), Figure(target)
    tracks: list[Track]
    if isinstance(source.document, GltfFile) and is_vrma(source.document) and other.is_t_posed():
        tracks, notes = normalised_tracks(motion, one, other, fps)
    else:
        tracks, notes = _sampled_tracks(motion, one, other, fps)
    faces, face_notes = expression_tracks(motion, source, target)
    taken = {(track.target, track.path) for track in tracks + faces}
    gaze = [t for t in gaze_tracks(motion, target, fps) if (t.target, t.path) not in taken]
    shown = [track for track in motion.tracks if track.path == "visible"]
    said = (*motion.notes, *notes, *_without_bones(motion, source), *face_notes)
    return Clip(motion.name, (*tracks, *faces, *gaze, *shown), said)


def _sampled_tracks(
    motion: Clip, source: Figure, target: Figure, fps: float
) -> tuple[list[Track], list[Note]]:
    known = Targets(source.character)
    body = tuple(
        track
        for track in motion.tracks
        if track.target != GAZE
        and track.path != "visible"
        # of expressions that the source lacks, `expression_tracks` has found what there is to say
        and not (track.path == "expression" and known.of(track).fault)
    )
    bound = bind(replace(motion, tracks=body), source.character)
    start, end = motion.start, motion.end
    count = int(np.floor((end - start + 1e-6) * fps)) + 1
    if count > 10**7:
        raise RigError(f"fps: {fps:g} over {end - start:g} s would be {count:.3g} frames")
    times = start + np.arange(count) / fps
    if end - times[-1] > 1e-6:
        times = np.append(times, end)
    poses = [
        transferred(source, evaluate(source.character, sample(bound, part))[1], target)
        for part in np.array_split(times, -(-len(times) // _BLOCK))
    ]
    nodes = sorted({*target.bones.values(), carrier(target)})
    clip = clip_from_pose(_joined(poses), times, target.character, motion.name, nodes=nodes)
    rig = target.character.rig
    off = [
        Track(chain.goal, "ik", times[:1], np.zeros((1, 1), np.float32), "STEP")
        for chain in (rig.chains if rig is not None else ())
        if {chain.effector, *(link.node for link in chain.links)} & set(nodes)
    ]
    return [*clip.tracks, *off], list(bound.notes)


def _without_bones(motion: Clip, source: Character) -> Iterator[Note]:
    """Says what the motion moves that has no part in how the bones of the humanoid stand."""
    targets, parts = Targets(source), moving_parts(source)
    lost = []
    for track in motion.tracks:
        if track.path in ("translation", "rotation", "scale", "weights"):
            node = next(iter(targets.of(track).indices), -1)
            beside = node >= 0 and (track.path == "weights" or node not in parts)
            if beside and not _stays(track, source.skeleton, node):
                lost.append(source.skeleton.names[node] or f"node {node}")
    if lost:
        message = (
            f"{len(lost)} of {len(motion.tracks)} tracks of {motion.name!r} move what is no bone"
            f" of a humanoid: {listed(map(repr, lost))}; left out"
        )
        yield Note("tracks-left-out", message)


def _stays(track: Track, skeleton: Skeleton, node: int) -> bool:
    """Whether all keys of a node's track are what it is at rest."""
    values = track.values[:, 1] if track.interpolation == "CUBICSPLINE" else track.values
    if track.path == "weights" or track.relative:
        return not values.any()
    rest = getattr(skeleton, f"{track.path}s")[node]
    return bool(np.abs(values - rest).max() < 1e-4)


def _joined(poses: list[Pose]) -> Pose:
    """Poses of one character, one after another."""
    weights = zip(*(pose.morph_weights for pose in poses), strict=True)
    return Pose(
        **{
            each.name: np.concatenate([getattr(pose, each.name) for pose in poses])
            for each in fields(Pose)
            if each.name != "morph_weights"
        },
        morph_weights=tuple(np.concatenate(each) for each in weights),
    )
