"""One character, one motion, every question: what stands where at time t."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import SupportsIndex, Unpack
from weakref import finalize

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, RigError
from bunraku.model import Character, Clip, Pose
from bunraku.model.arrays import Float32, Float64, Int32, number, per_frame, whole
from bunraku.model.frozen import Shown
from bunraku.motion import bind, sample
from bunraku.motion.sampling import as_moments
from bunraku.physics import swung
from bunraku.posing import evaluate, node_palette, palette
from bunraku.query import Bvh, Hits, Limits, Pick, Posed, PosedGroup
from bunraku.skinning import Method, deform_into
from bunraku.stage.picking import described
from bunraku.stage.ranges import Range, lay_out
from bunraku.stage.trees import bent_tree, geometry_of, tree_over

__all__ = ["Deformation", "Range", "Stage"]


@dataclass(frozen=True, eq=False, repr=False)
class Deformation(Shown):
    """World-space geometry at some moments, and how it came about.

    Attributes:
        times: (F,) float64 seconds.
        method: "lbs" or "dqs".
        ranges: which vertices belong to which node, mesh, geometry and parts.
        positions: (F, V, 3) float32, metres.
        normals: (F, V, 3) float32 unit vectors, or None if not asked for; (0, 0, 0) where the
            file gives none.
    """

    times: Float64
    method: Method
    ranges: tuple[Range, ...]
    positions: Float32
    normals: Float32 | None = None


class Stage:
    """A character and a motion: a pure function of time to pose and geometry.

    The geometry of a stage is in world space: the nodes of the default scene depth-first in
    file order, each node's geometries in order of first use, vertices in file order, nothing
    merged or reordered. Without a default scene it is the first scene, and without scenes all
    nodes.

    Args:
        character: who.
        motion: a clip, the name or index of one of the character's own, or None for the rest
            pose at every time.

    Attributes:
        character, clip: as given; `clip` is None at rest.
        ranges: the vertex axis, range by range.
        notes: the clip's own, and what of it could not be bound to the character.

    Raises:
        RigError: the character has no such clip.

    >>> import bunraku
    >>> puppet = bunraku.make_puppet()
    >>> stage = bunraku.Stage(puppet, 0)
    >>> stage.pose(0.25).frames, stage.deform([0, 0.5]).positions.shape[0]
    (1, 2)
    """

    def __init__(
        self, character: Character, motion: Clip | str | SupportsIndex | None = None
    ) -> None:
        self.character = character
        if motion is not None and not isinstance(motion, Clip):
            if not isinstance(motion, str) and whole(motion) is None:
                found = f"{motion!r:.60}"
                raise RigError(f"motion: expected a Clip, its name or its index, found {found}")
            motion = character.clip(motion)
        self.clip = motion
        clip = self.clip if self.clip is not None else Clip("", ())
        self._bound = bind(clip, character)
        self.notes: tuple[Note, ...] = (*clip.notes, *self._bound.notes)
        self.ranges = lay_out(character, self.global_transforms(0.0)[0])

    def __repr__(self) -> str:
        return f"Stage({self.character.name!r}, {self.clip!r}, {self.vertex_count} vertices)"

    @property
    def vertex_count(self) -> int:
        """Vertices V of the whole stage."""
        return self.ranges[-1].stop if self.ranges else 0

    @property
    def triangles(self) -> Int32:
        """(T, 3) int32 corners of all triangles, range by range, part by part, wound outward."""
        meshes = self.character.meshes
        faces = [
            span.wound(part.faces) + np.int32(span.start)
            for span in self.ranges
            for part in (meshes[span.mesh].parts[i] for i in span.parts)
            if part.topology == "triangles"
        ]
        return np.concatenate(faces) if faces else np.zeros((0, 3), np.int32)

    def frame_times(self, fps: float) -> Float64:
        """Times k/fps from 0 up to the clip's end, and including it where it falls on a frame.

        Raises:
            RigError: fps is not a positive, finite number, or gives more than 10⁸ frames.
        """
        rate = number(fps, "fps")
        if rate <= 0:
            raise RigError(f"fps: expected a positive number, found {rate:g}")
        end = self.clip.end if self.clip is not None else 0.0
        # Files hold float32 times: an end that misses its frame by a microsecond is on it.
        last = np.floor((end + 1e-6) * rate)
        if last >= 1e8:
            raise RigError(f"fps: {rate:g} over {end:g} s would be {last:.3g} frames")
        return np.arange(int(last) + 1) / rate

    def pose(self, times: npt.ArrayLike) -> Pose:
        """What the motion asks for at one time or at many, in any order.

        Local transforms, weights and switches; expressions, appends, inverse kinematics and
        constraints come on top of them in `global_transforms` and all that follows from it.
        Whether the character is shown at all (`visible`) is left to who draws it.

        Raises:
            RigError: a time is not a finite number.
        """
        return sample(self._bound, times)

    def simulated(self, start: float = 0.0, end: float | None = None) -> Stage:
        """This stage with springs: what hangs on the character swings after it.

        Springs are at rest at `start` and are simulated from there in steps of 1/60 s, once and
        up to `end` (the clip's, if omitted); the stage that comes back has what they did as keys
        and, like any other, answers at any time in any order. Without springs it is this one.

        Raises:
            RigError: a spring whose tail does not hang on it, or an end before the start.
        """
        clip = self.clip if self.clip is not None else Clip("rest", ())
        motion = swung(self.character, clip, self.pose, start, clip.end if end is None else end)
        if motion is clip:
            return self
        return Stage(self.character, motion)

    def simulate(self, times: npt.ArrayLike) -> Pose:
        """Poses at increasing times with springs, which are at rest at the first of them.

        >>> import bunraku
        >>> stage = bunraku.Stage(bunraku.make_puppet(), 0)
        >>> stage.simulate([0.5, 1.0]).frames
        2

        Raises:
            RigError: as `simulated`, or times that do not increase.
        """
        moments = as_moments(times)
        if not len(moments) or (np.diff(moments) < 0).any():
            raise RigError("times: expected one or more, none before the one in front of it")
        return self.simulated(float(moments[0]), float(moments[-1])).pose(times)

    def global_transforms(self, times: npt.ArrayLike) -> Float64:
        """(F, N, 3, 4) float64 node-to-world transforms of every node."""
        return evaluate(self.character, self.pose(times))[1]

    def deform(
        self, times: npt.ArrayLike, *, method: Method = "lbs", normals: bool = False
    ) -> Deformation:
        """World-space geometry at one time or at many, all in memory at once.

        For long motions use `chunks`.

        Args:
            times: () or (F,) seconds.
            method: "lbs" (linear blend) or "dqs" (dual quaternions); meshes without a skin move
                rigidly with their node under both.
            normals: whether to deform normals too.

        Raises:
            RigError: unknown method, or a time that is not a finite number.
        """
        moments = as_moments(times)
        return self._deformed(self.pose(moments), moments, method, normals)

    def chunks(
        self,
        times: npt.ArrayLike,
        *,
        method: Method = "lbs",
        normals: bool = False,
        memory: int = 32 << 20,
    ) -> Iterator[Deformation]:
        """The same as `deform`, piece by piece: at most `memory` bytes at a time, or one frame.

        >>> import bunraku
        >>> stage = bunraku.Stage(bunraku.make_puppet(), 0)
        >>> blocks = stage.chunks(stage.frame_times(30), memory=1 << 20)
        >>> sum(len(block.times) for block in blocks) == len(stage.frame_times(30))
        True
        """
        moments = as_moments(times)
        step = max(1, int(memory // self.frame_bytes(normals=normals)))
        for start in range(0, len(moments), step):
            yield self.deform(moments[start : start + step], method=method, normals=normals)

    def frame_bytes(self, *, normals: bool = False) -> int:
        """Bytes that one frame takes while it is computed: vertices, poses and palettes."""
        skeleton = len(self.character.skeleton)
        joints = sum(len(skin.joints) for skin in self.character.skins)
        vertex = 24 if normals else 12
        return self.vertex_count * vertex + skeleton * (80 + 96) + joints * 48 + 1

    def deform_pose(
        self,
        pose: Pose,
        times: npt.ArrayLike = 0.0,
        *,
        method: Method = "lbs",
        normals: bool = False,
    ) -> Deformation:
        """World-space geometry of a pose that came from elsewhere (blending, editing, a solver).

        Args:
            pose: F frames of this character, before expressions and its rig.
            times: () or (F,) seconds the frames stand for; only reported.

        Raises:
            RigError: the pose is not of this character's nodes and attachments; times that are
                not finite, or neither one nor F.
        """
        self._check(pose)
        return self._deformed(pose, per_frame(times, pose.frames, "times"), method, normals)

    def _deformed(self, pose: Pose, moments: Float64, method: Method, normals: bool) -> Deformation:
        frames = pose.frames
        pose, transforms = evaluate(self.character, pose)
        # np.empty: every vertex of every range is written below.
        positions = np.empty((frames, self.vertex_count, 3), np.float32)
        directions = np.empty_like(positions) if normals else None
        for span, matrices, bend in self._palettes(transforms, method):
            deform_into(
                geometry_of(self.character, span),
                matrices,
                positions[:, span.start : span.stop],
                None if directions is None else directions[:, span.start : span.stop],
                method=bend,
                morph_weights=pose.morph_weights[span.attachment],
            )
        return Deformation(moments, method, self.ranges, positions, directions)

    def posed(self, time: float, *, method: Method = "lbs") -> PosedGroup:
        """The surface at one time, ready for rays, without deforming it; see `query.SkinTree`.

        Its triangles are the rows of `triangles`. Answers are those of `deform` and a `query.Bvh`
        over all triangles, to the bit. The first call for a mesh builds its tree. Geometry with
        vertices that bend MMD's ways (SDEF, QDEF) is deformed after all.

        Raises:
            RigError: unknown method, more than one time, or one that is not a finite number.
        """
        moment = number(time, "time")
        pose, transforms = evaluate(self.character, self.pose(moment))
        members: list[Posed | Bvh] = []
        lent: list[tuple[Bvh, deque[Bvh]]] = []
        for span, matrices, bend in self._palettes(transforms, method):
            weights = pose.morph_weights[span.attachment]
            geometry = geometry_of(self.character, span)
            if geometry.spherical is None and geometry.dual is None:
                tree = tree_over(self.character, span)
                members.append(tree.at(matrices[0], method=bend, morph_weights=weights[0]))
            else:
                positions = np.empty((1, geometry.vertex_count, 3), np.float32)
                deform_into(geometry, matrices, positions, method=bend, morph_weights=weights)
                lent.append(bent_tree(self.character, span, positions[0]))
                members.append(lent[-1][0])
        group = PosedGroup(members)
        for bvh, home in lent:
            finalize(group, home.append, bvh)
        return group

    def cast(
        self,
        time: float,
        origins: npt.ArrayLike,
        directions: npt.ArrayLike,
        *,
        method: Method = "lbs",
        normals: bool = False,
        **limits: Unpack[Limits],
    ) -> Hits:
        """The closest hit of each of many rays at one time; `primitive` is a row of `triangles`.

        For any hit and all hits, and for rays that come one by one, see `posed`.

        Args:
            origins, directions: (…, 3), world space; t counts in lengths of the direction.
            limits: `t_min`, `t_max`, `skip` and `front_only`; see `query.Limits`.
        """
        surface = self.posed(time, method=method)
        return surface.closest_hit(origins, directions, normals=normals, **limits)

    def pick(
        self,
        time: float,
        origin: npt.ArrayLike,
        direction: npt.ArrayLike,
        *,
        method: Method = "lbs",
        ignore: Callable[[Pick], bool] | None = None,
    ) -> Pick | None:
        """What a ray meets first, or None.

        Args:
            ignore: asked of each surface that the ray meets, whether it is looked through; of
                several at the same distance one answers for all.

        >>> import bunraku
        >>> stage = bunraku.Stage(bunraku.make_puppet(), 0)
        >>> found = stage.pick(1.0, [0.02, 1, 5], [0, 0, -1])
        >>> stage.character.skeleton.names[found.joints[0][0]], round(found.distance, 1)
        ('chest', 4.9)
        """
        surface = self.posed(time, method=method)
        after: npt.ArrayLike = 0.0
        while True:
            hits = surface.closest_hit(origin, direction, t_min=after, normals=True)
            if hits.t.ndim:
                found = f"found {hits.t.shape}; see cast"
                raise RigError(f"origin, direction: expected one ray, {found}")
            met = described(self.character, self.ranges, hits, origin, direction)
            if met is None or ignore is None or not ignore(met):
                return met
            after = np.nextafter(hits.t, np.float32(np.inf))

    def _palettes(
        self, transforms: Float64, method: Method
    ) -> Iterator[tuple[Range, Float32, Method]]:
        """The matrices (F, J, 3, 4) that move each range, and the method by which they do."""
        palettes: dict[int, Float32] = {}
        for span in self.ranges:
            skin = self.character.attachments[span.attachment].skin
            if skin is None or geometry_of(self.character, span).joints is None:
                yield span, node_palette(span.node, transforms), "lbs" if skin is None else method
                continue
            if skin not in palettes:
                palettes[skin] = palette(self.character.skins[skin], transforms)
            yield span, palettes[skin], method

    def _check(self, pose: Pose) -> None:
        nodes = pose.translations.shape[1]
        if nodes != len(self.character.skeleton):
            raise RigError(
                f"pose: {nodes} nodes, but the character has {len(self.character.skeleton)}"
            )
        found = [weights.shape[1] for weights in pose.morph_weights]
        expected = [
            len(self.character.meshes[attachment.mesh].morph_names)
            for attachment in self.character.attachments
        ]
        if found != expected:
            raise RigError(f"pose.morph_weights: expected widths {expected}, found {found}")
