"""A motion, played out frame by frame into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, RigError, UnsupportedError
from bunraku.formats import save, save_clip
from bunraku.formats.cache import Faces, write_npy, write_npz, write_obj, write_pc2
from bunraku.model import Character, MaterialBind, Pose, Track, UvBind
from bunraku.model.arrays import Float32, Float64
from bunraku.motion import clip_from_pose
from bunraku.posing import resolved
from bunraku.posing.expressions import effective_weights
from bunraku.skinning import Method
from bunraku.stage import Deformation, Stage

SUFFIXES = (".glb", ".gltf", ".vmd", ".bvh", ".npy", ".npz", ".pc2", ".obj")
WORKING_SET = 32 << 20

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Baked:
    """What a bake wrote.

    Attributes:
        files: the files, in the order of their frames.
        frames, vertices: how many of each.
        method: "lbs" or "dqs".
        working_set: bytes that were held at a time for frames, poses and palettes.
        notes: what the file could not say.
    """

    files: tuple[Path, ...]
    frames: int
    vertices: int
    method: Method
    working_set: int
    notes: tuple[Note, ...] = ()


def bake(
    stage: Stage,
    out: Path | str,
    *,
    method: Method = "lbs",
    fps: float = 30.0,
    progress: Progress = lambda done, total: None,
) -> Baked:
    """Write a stage's motion at `fps` frames per second; the suffix of `out` says how.

    * ``.glb``, ``.gltf``: the character with the motion resampled onto its joints and morphs as
      LINEAR keys, in place of its own clips. Whoever plays it blends linearly.
    * ``.vmd``: the motion alone, as keys of bones, morphs, IK switches and visibility; at 30
      frames per second. What follows other bones, or IK, does so again in MMD.
    * ``.bvh``: the skeleton and its motion.
    * ``.npy``: (frames, vertices, 3) float32 world-space positions.
    * ``.npz``: ``positions``, ``normals`` (0 where a geometry has none), ``times`` and ``ranges``,
      (R, 6) int64 rows (start, stop, attachment, node, mesh, geometry).
    * ``.pc2``: a point cache, one sample per frame, which Blender and others read.
    * ``.obj``: a sequence ``name_0000.obj`` …, with faces, and with the normals and texture
      coordinates that the character has.

    Frames lie at k/fps from 0 up to and including the clip's end where it falls on a frame. Vertex
    files are streamed: at most about 32 MB of frames are in memory, however long the clip.

    Args:
        progress: called with (frames done, frames in all).

    Raises:
        UnsupportedError: unknown suffix.
        RigError: fps is not a positive number, or the character has no vertices to write.
        OSError: the file system refuses.

    >>> import bunraku, tempfile
    >>> stage = bunraku.Stage(bunraku.make_puppet(), 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     baked = bake(stage, f"{folder}/puppet.npy", fps=10)
    ...     np.load(baked.files[0]).shape == (baked.frames, baked.vertices, 3)
    True
    """
    out = Path(out)
    suffix = out.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnsupportedError(f"{out}: expected a name ending in {', '.join(SUFFIXES)}")
    times = stage.frame_times(fps)
    if suffix in (".glb", ".gltf", ".vmd", ".bvh"):
        return _bake_clip(stage, out, times, method, progress)
    if stage.vertex_count == 0:
        raise RigError(
            f"{out}: {stage.character.name or 'the character'} shows no vertices to bake"
        )
    normals = suffix in (".npz", ".obj")
    step = min(len(times), max(1, WORKING_SET // stage.frame_bytes(normals=normals)))

    def blocks() -> Iterator[Deformation]:
        done = 0
        for block in stage.chunks(times, method=method, normals=normals, memory=WORKING_SET):
            yield block
            done += len(block.times)
            progress(done, len(times))

    files: tuple[Path, ...] = (out,)
    shape = (len(times), stage.vertex_count, 3)
    if suffix == ".npy":
        write_npy(out, shape, (block.positions for block in blocks()))
    elif suffix == ".npz":
        streamed = (
            {"positions": block.positions, "normals": block.normals}
            for block in blocks()
            if block.normals is not None
        )
        arrays = {"times": times, "ranges": _range_rows(stage)}
        write_npz(out, shape, streamed, ("positions", "normals"), arrays)
    elif suffix == ".pc2":
        write_pc2(out, shape[1], shape[0], (block.positions for block in blocks()))
    else:
        files = tuple(_write_sequence(stage, out, len(times), blocks()))
    return Baked(files, shape[0], shape[1], method, step * stage.frame_bytes(normals=normals))


def _bake_clip(
    stage: Stage, out: Path, times: Float64, method: Method, progress: Progress
) -> Baked:
    character = stage.character
    name = stage.clip.name if stage.clip is not None else "rest"
    pose = stage.pose(times)
    motion_only = out.suffix.lower() in (".vmd", ".bvh")
    notes = [] if motion_only else list(_unsaid(character, pose, out))
    if out.suffix.lower() != ".vmd":  # the others know neither expressions nor rigs
        pose = resolved(character, pose)
    clip = clip_from_pose(pose, times, character, name)
    left_out = [other.name for other in character.clips if other is not stage.clip]
    if left_out and not motion_only:
        listed = ", ".join(repr(other) for other in left_out)
        notes.append(Note("clips-left-out", f"only {name!r} was written, not {listed}", str(out)))
    if method == "dqs":
        said = "joints were written; whoever plays the file blends them linearly, not by dqs"
        notes.append(Note("method-not-stored", said, str(out)))
    if out.suffix.lower() == ".vmd":
        clip = replace(clip, tracks=(*clip.tracks, *_switches(pose, times, character)))
    if motion_only:
        notes += save_clip(clip, out, character)
    else:
        notes += save(replace(character, clips=(clip,)), out)
    progress(len(times), len(times))
    working_set = len(times) * len(character.skeleton) * 80
    return Baked((out,), len(times), stage.vertex_count, method, working_set, tuple(notes))


def _unsaid(character: Character, pose: Pose, out: Path) -> Iterator[Note]:
    """What of a motion's looks is no part of an animation of nodes and morphs."""
    shows = np.any(effective_weights(character, pose.expressions), axis=0).tolist()
    painting = [
        expression.name
        for expression, on in zip(character.expressions, shows, strict=True)
        if on and any(isinstance(bind, MaterialBind | UvBind) for bind in expression.binds)
    ]
    if painting:
        names = ", ".join(map(repr, painting[:5])) + (" …" if len(painting) > 5 else "")
        message = f"changes of materials and texture coordinates were not written: {names}"
        yield Note("paint-left-out", message, str(out))
    if not pose.visible.all():
        message = "the motion hides the character at times, which was not written"
        yield Note("visibility-left-out", message, str(out))


def _switches(pose: Pose, times: Float64, character: Character) -> Iterator[Track]:
    """Weights of expressions in every frame, and switches where they change."""
    for i, weights in enumerate(pose.expressions.T):
        if weights.any():
            yield Track(i, "expression", times, weights[:, None].astype(np.float32))
    chains = character.rig.chains if character.rig is not None else ()
    switches = [(chain.goal, on) for chain, on in zip(chains, pose.ik.T, strict=False)]
    for goal, on in switches:
        if not on.all():
            yield _changes(goal, "ik", times, on)
    if not pose.visible.all():
        yield _changes("", "visible", times, pose.visible)


def _changes(
    target: int | str, path: Literal["ik", "visible"], times: Float64, on: npt.NDArray[np.bool_]
) -> Track:
    keys = np.flatnonzero(np.diff(on, prepend=~on[0]))
    return Track(target, path, times[keys], on[keys, None].astype(np.float32), "STEP")


def _range_rows(stage: Stage) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    rows = [(r.start, r.stop, r.attachment, r.node, r.mesh, r.geometry) for r in stage.ranges]
    return np.array(rows, np.int64).reshape(len(rows), 6)


def _write_sequence(
    stage: Stage, out: Path, count: int, blocks: Iterator[Deformation]
) -> Iterator[Path]:
    digits = max(4, len(str(count - 1)))
    groups = _face_groups(stage)
    uvs = _texture_coordinates(stage)
    frame = 0
    for block in blocks:
        assert block.normals is not None
        for positions, normals in zip(block.positions, block.normals, strict=True):
            path = out.with_name(f"{out.stem}_{frame:0{digits}d}{out.suffix}")
            write_obj(path, positions, groups, normals=normals, uvs=uvs)
            yield path
            frame += 1


def _face_groups(stage: Stage) -> list[Faces]:
    character = stage.character
    groups = []
    for span in stage.ranges:
        mesh = character.meshes[span.mesh]
        name = mesh.name or character.skeleton.names[span.node] or f"mesh{span.mesh}"
        for i in span.parts:
            part = mesh.parts[i]
            if part.topology == "triangles":
                label = f"{'_'.join(name.split())}_{span.node}_{i}"
                geometry = mesh.geometries[span.geometry]
                faces = span.wound(part.faces) + np.int32(span.start)
                has = (geometry.normals is not None, bool(geometry.uvs))
                groups.append(Faces(label, faces, *has))
    return groups


def _texture_coordinates(stage: Stage) -> Float32 | None:
    """The first texture coordinate set of every range; None when no range has one."""
    uvs = np.zeros((stage.vertex_count, 2), np.float32)
    found = False
    for span in stage.ranges:
        geometry = stage.character.meshes[span.mesh].geometries[span.geometry]
        if geometry.uvs:
            uvs[span.start : span.stop] = geometry.uvs[0]
            found = True
    return uvs if found else None
