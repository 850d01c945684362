"""A deformation as a film of shapes: what a viewer without skinning can play."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, checked
from bunraku.model.character import Attachment, Character
from bunraku.model.clip import Clip, Track
from bunraku.model.mesh import Geometry, Mesh, MorphTarget
from bunraku.model.skeleton import Skeleton
from bunraku.stage import Deformation

STILL = 1e-6  # metres; vertices that move less are left out of a shape


def shape_animation(character: Character, film: Deformation, name: str = "shapes") -> Character:
    """Bake deformed geometry into morph targets, blended one into the next by LINEAR weights.

    The first frame becomes the mesh and every other frame one sparse target, at full weight at
    its own time. Between two frames vertices go straight, so a turn of θ from frame to frame
    narrows by cos(θ/2) half way: take frames close enough. No joint, skin, or method is left:
    every viewer shows the same.

    Args:
        character: who was deformed; materials, images and texture coordinates are kept.
        film: what `Stage.deform` gave for it, (F, V, 3) positions and, if there, normals.
        name: of the clip.

    Raises:
        RigError: no frames, times that do not increase, or vertices that are not the character's.

    >>> from bunraku.demo import make_puppet
    >>> from bunraku.stage import Stage
    >>> puppet = make_puppet(0.5)
    >>> film = Stage(puppet, 0).deform([0, 1, 2], method="dqs", normals=True)
    >>> shown = shape_animation(puppet, film)
    >>> len(shown.skins), shown.meshes[1].morph_names
    (0, ('frame 1', 'frame 2'))
    """
    times = checked(film.times, np.float64, (None,), "film.times")
    if not len(times):
        raise RigError("film: expected at least one frame, found none")
    if len(film.positions) != len(times):
        raise RigError(f"film: {len(times)} times, but {len(film.positions)} frames of positions")
    meshes: list[Mesh] = []
    attachments: list[Attachment] = []
    tracks: list[Track] = []
    names: list[str] = []
    for shown in range(len(character.attachments)):
        spans = [span for span in film.ranges if span.attachment == shown]
        if not spans:
            continue
        node, source = spans[0].node, character.meshes[spans[0].mesh]
        frames = [
            (film.positions[:, span.start : span.stop], _of(film.normals, span.start, span.stop))
            for span in spans
        ]
        for span, (positions, _) in zip(spans, frames, strict=True):
            have = source.geometries[span.geometry].vertex_count
            if positions.shape[1] != have:
                raise RigError(f"film: {positions.shape[1]} vertices, but the geometry has {have}")
        moving = _moving([positions for positions, _ in frames])
        geometries = [
            _filmed(source.geometries[span.geometry], positions, normals, moving)
            for span, (positions, normals) in zip(spans, frames, strict=True)
        ]
        used = {span.geometry: i for i, span in enumerate(spans)}
        parts = [
            replace(part, geometry=used[part.geometry])
            for part in source.parts
            if part.geometry in used
        ]
        shapes = tuple(f"frame {frame}" for frame in moving)
        attachments.append(Attachment(len(names), len(meshes)))
        meshes.append(Mesh(source.name, tuple(geometries), tuple(parts), shapes))
        if len(moving):
            values = (np.arange(len(times))[:, None] == moving).astype(np.float32)
            tracks.append(Track(len(names), "weights", times, values))
        names.append(character.skeleton.names[node])
    return Character(
        Skeleton(tuple(names), np.full(len(names), -1)),
        tuple(meshes),
        attachments=tuple(attachments),
        materials=character.materials,
        images=character.images,
        clips=(Clip(name, tuple(tracks)),),
        name=f"{character.name}-{film.method}",
    )


def _of(normals: Float32 | None, start: int, stop: int) -> Float32 | None:
    return None if normals is None else normals[:, start:stop]


def _moving(frames: list[Float32]) -> npt.NDArray[np.int64]:
    """Frames that differ anywhere from the first; a loop's last frame needs no shape."""
    differs = [
        (np.abs(positions - positions[0]).max(axis=(1, 2), initial=0) > STILL)
        for positions in frames
    ]
    return np.flatnonzero(np.any(differs, axis=0))


def _filmed(
    source: Geometry,
    positions: Float32,
    normals: Float32 | None,
    moving: npt.NDArray[np.int64],
) -> Geometry:
    """The first frame, and a sparse target for each of the frames that move."""
    targets = []
    for frame in moving:
        delta = positions[frame] - positions[0]
        indices = np.flatnonzero((np.abs(delta) > STILL).any(axis=1))
        turned = None if normals is None else (normals[frame] - normals[0])[indices]
        targets.append(
            MorphTarget(indices.astype(np.int32), positions=delta[indices], normals=turned)
        )
    return Geometry(
        positions[0],
        None if normals is None else normals[0],
        uvs=source.uvs,
        colors=source.colors,
        morphs=tuple(targets),
    )
