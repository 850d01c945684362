"""How much of a limb each skinning method keeps, measured on the deformed surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bunraku.demo.figure import MESHES
from bunraku.demo.shells import close
from bunraku.errors import RigError
from bunraku.model.arrays import Float64, Int32
from bunraku.model.character import Character
from bunraku.model.clip import Clip
from bunraku.model.mesh import Mesh
from bunraku.rotation import quaternion
from bunraku.skinning.deform import METHODS, Method
from bunraku.stage import Range, Stage

LIMBS = MESHES[1:]


@dataclass(frozen=True)
class Turn:
    """One joint that turns, and the limb whose skin pays for it.

    Attributes:
        label: for the table.
        limb: name of the mesh, a closed shell.
        joint: the joint that turns.
        axis: the axis its limb lies along at rest, 0 … 2.
        twists: whether it turns about that axis (a twist) or across it (a bend).
    """

    label: str
    limb: str
    joint: str
    axis: int
    twists: bool


TURNS = (
    Turn("left elbow bends", "leftArm", "leftLowerArm", 0, False),
    Turn("right forearm twists", "rightArm", "rightHand", 0, True),
    Turn("left knee bends", "leftLeg", "leftLowerLeg", 1, False),
    Turn("right knee bends", "rightLeg", "rightLowerLeg", 1, False),
)


@dataclass(frozen=True, eq=False)
class JointLoss:
    """What is left of a limb at the moment its joint turns furthest; 1 is as at rest.

    Attributes:
        turn: which joint.
        time: that moment, seconds.
        angle: how far the joint turns, radians.
        section: by method, area of the narrowest cross-section around the joint.
        theory: the same for LBS by `section_theory`.
        joint_volume: by method, between the last cross-sections that one joint alone moves.
        limb_volume: by method, of the whole closed shell.
    """

    turn: Turn
    time: float
    angle: float
    section: dict[Method, float]
    theory: float
    joint_volume: dict[Method, float]
    limb_volume: dict[Method, float]


def limb_volumes(
    character: Character,
    times: npt.ArrayLike,
    *,
    clip: Clip | str | int = 0,
    method: Method = "lbs",
    limbs: Sequence[str] = LIMBS,
) -> dict[str, Float64]:
    """Signed volume of each limb's closed shell, (F,), divided by its volume at rest.

    Args:
        character: the puppet, or another character with closed meshes of these names.
        times: (F,) seconds.
        clip: of the character, or any other.
        method: "lbs" or "dqs".
        limbs: mesh names.

    Raises:
        RigError: no such mesh or clip.

    >>> from bunraku.demo import make_puppet
    >>> volumes = limb_volumes(make_puppet(0.5), [0.0, 2.4], method="dqs")
    >>> sorted(volumes), volumes["rightArm"].shape
    (['leftArm', 'leftLeg', 'rightArm', 'rightLeg'], (2,))
    """
    moving = Stage(character, clip).deform(times, method=method)
    rest = Stage(character).deform(0.0, method=method)
    volumes = {}
    for limb in limbs:
        mesh, start, stop = _shown(character, moving.ranges, limb)
        faces = np.concatenate([part.faces for part in mesh.parts])
        before = signed_volume(rest.positions[:, start:stop], faces)
        volumes[limb] = signed_volume(moving.positions[:, start:stop], faces) / before
    return volumes


def joint_losses(
    character: Character, times: npt.ArrayLike, *, clip: Clip | str | int = 0
) -> tuple[JointLoss, ...]:
    """Sections and volumes around each of `TURNS`, for LBS and DQS, when it turns furthest.

    Raises:
        RigError: the character is not the puppet (a mesh or joint is missing).
    """
    moments = np.atleast_1d(np.asarray(times, np.float64))
    stage, rest = Stage(character, clip), Stage(character)
    pose = stage.pose(moments)
    losses = []
    for turn in TURNS:
        angles = _turned(pose.rotations[:, character.skeleton.index(turn.joint)])
        frame = int(np.argmax(angles))
        mesh, start, stop = _shown(character, stage.ranges, turn.limb)
        rings, shares = _rings(character, mesh, turn)
        faces = mesh.parts[0].faces
        mixed = np.flatnonzero((shares > 0) & (shares < 1))
        around = np.arange(mixed[0] - 1, mixed[-1] + 2)
        at_rest = rest.deform(0.0).positions[:, start:stop].astype(np.float64)
        section, joint_volume, limb_volume = {}, {}, {}
        for method in METHODS:
            bent = stage.deform(moments[frame], method=method).positions[:, start:stop]
            areas = section_areas(bent, rings) / section_areas(at_rest, rings)
            section[method] = float(areas[0, mixed].min())
            joint_volume[method] = _ratio(*(_between(p, rings[around]) for p in (bent, at_rest)))
            limb_volume[method] = _ratio(*(signed_volume(p, faces) for p in (bent, at_rest)))
        theory = section_theory(shares[mixed], float(angles[frame]), twists=turn.twists)
        losses.append(
            JointLoss(
                turn,
                float(moments[frame]),
                float(angles[frame]),
                section,
                float(theory.min()),
                joint_volume,
                limb_volume,
            )
        )
    return tuple(losses)


def section_theory(share: npt.ArrayLike, angle: float, *, twists: bool) -> Float64:
    """Area, relative to rest, that LBS leaves of a cross-section.

    A blend (1 − w)·I + w·R(θ) shortens whatever is perpendicular to the axis of R by
    √(1 − 2w(1 − w)(1 − cos θ)), at w = ½ the cosine of θ/2, and keeps what lies along it. A
    twist shortens both directions of a section, a bend one of them.

    Args:
        share: w, the turning joint's weight, any shape.
        angle: θ in radians.
        twists: whether the joint turns about the limb's own axis.

    >>> float(section_theory(0.5, np.pi, twists=True))
    0.0
    >>> section_theory([0.0, 0.5], np.pi / 2, twists=False).round(4)
    array([1.    , 0.7071])
    """
    w = np.asarray(share, np.float64)
    squared = np.clip(1 - 2 * w * (1 - w) * (1 - np.cos(angle)), 0, None)
    return np.asarray(squared if twists else np.sqrt(squared))


def signed_volume(positions: npt.ArrayLike, faces: Int32) -> Float64:
    """Volume (F,) enclosed by a closed surface (F, V, 3); positive if its faces look outward.

    >>> tetrahedron = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)
    >>> float(signed_volume([tetrahedron], faces)[0] * 6)
    1.0
    """
    points = np.asarray(positions, np.float64)
    a, b, c = (points[:, faces[:, corner]] - points[:, :1] for corner in range(3))
    return np.asarray(np.einsum("fij,fij->f", a, np.cross(b, c)) / 6)


def section_areas(positions: npt.ArrayLike, rings: Int32) -> Float64:
    """Areas (F, R) of cross-sections given by rings (R, S) of vertices of (F, V, 3)."""
    loops = np.asarray(positions, np.float64)[:, rings]
    loops = loops - loops.mean(axis=2, keepdims=True)
    area = np.cross(loops, np.roll(loops, -1, axis=2)).sum(axis=2) / 2
    return np.asarray(np.linalg.norm(area, axis=-1))


def report(character: Character, *, clip: str | int = 0, fps: float = 48.0) -> str:
    """The measurements as a Markdown page."""
    stage = Stage(character, clip)
    assert stage.clip is not None
    times = stage.frame_times(fps)
    losses = joint_losses(character, times, clip=clip)
    lines = [f"# What bending costs: {character.name}, “{stage.clip.name}”", ""]
    lines += [*_in_words(losses), "", *_table(losses), "", *_FOOTNOTE]
    return "\n".join(lines) + "\n"


_FOOTNOTE = (
    "Percent of the rest shape that is left when each joint turns furthest: of the narrowest",
    "cross-section, of the volume that both joints hold, of the whole limb's volume. LBS blends",
    "matrices, DQS dual quaternions. Theory is LBS's section: √(1 − 2w(1 − w)(1 − cos θ)), squared",
    "for a twist; cos(θ/2) or cos²(θ/2) where two joints share the skin half and half.",
)


def _in_words(losses: Sequence[JointLoss]) -> list[str]:
    words = []
    for loss in losses[:2]:
        lost = 100 * (1 - loss.section["lbs"])
        linear, dual = (100 * (loss.joint_volume[method] - 1) for method in METHODS)
        words += [
            f"* The {loss.turn.label} by {np.degrees(loss.angle):.0f}°: LBS takes {lost:.0f} % of "
            "its cross-section and",
            f"  {-linear:.0f} % of its volume; DQS keeps the section and changes the volume by "
            f"{dual:+.0f} %.",
        ]
    return words


def _table(losses: Sequence[JointLoss]) -> list[str]:
    """Markdown that also reads well as plain text."""
    rows = [["joint", "turn", "section LBS", "theory", "section DQS"]]
    rows[0] += ["volume LBS", "volume DQS", "limb LBS", "limb DQS"]
    for loss in losses:
        numbers = [loss.section["lbs"], loss.theory, loss.section["dqs"]]
        numbers += [volume[m] for volume in (loss.joint_volume, loss.limb_volume) for m in METHODS]
        cells = [loss.turn.label, f"{np.degrees(loss.angle):.0f}°"]
        rows.append(cells + [f"{100 * number:.1f} %" for number in numbers])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = f"|{'-' * (widths[0] + 2)}|" + "".join("-" * (w + 1) + ":|" for w in widths[1:])
    lines = [
        "| " + " | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + " |"
        for row in rows
    ]
    return [lines[0], rule, *lines[1:]]


def _ratio(now: Float64, before: Float64) -> float:
    return float((now / before)[0])


def _turned(rotations: Float64) -> Float64:
    """Angles (F,) of local rotations; the puppet's rest rotations are the identity."""
    return np.asarray(quaternion.to_axis_angle(rotations)[1], np.float64)


def _shown(character: Character, ranges: Sequence[Range], limb: str) -> tuple[Mesh, int, int]:
    """A mesh by name, and where its vertices lie on the stage."""
    for span in ranges:
        mesh = character.meshes[span.mesh]
        if mesh.name == limb:
            return mesh, span.start, span.stop
    known = ", ".join(repr(mesh.name) for mesh in character.meshes)
    raise RigError(f"no mesh {limb!r} is shown; there are: {known}")


def _rings(character: Character, mesh: Mesh, turn: Turn) -> tuple[Int32, Float64]:
    """Rings (R, S) of a limb's vertices, and the turning joint's weight (R,) in each.

    A limb is strung from rings across its axis, and two poles follow them.
    """
    geometry = mesh.geometries[0]
    if geometry.joints is None or geometry.weights is None:
        raise RigError(f"mesh {mesh.name!r}: expected joints and weights")
    along = geometry.positions[:, turn.axis]
    sides = int(np.count_nonzero(along[:-2] == along[0]))
    rings = np.arange(geometry.vertex_count - 2, dtype=np.int32).reshape(-1, sides)
    skin = next(a.skin for a in character.attachments if character.meshes[a.mesh] is mesh)
    assert skin is not None
    below = _below(character, turn.joint)[character.skins[skin].joints]
    share = (below[geometry.joints] * geometry.weights).sum(axis=1)
    return rings, np.asarray(share[rings[:, 0]], np.float64)


def _below(character: Character, joint: str) -> npt.NDArray[np.bool_]:
    """Which nodes (N,) the joint moves: itself and all under it."""
    skeleton = character.skeleton
    moved = np.zeros(len(skeleton), bool)
    moved[skeleton.index(joint)] = True
    for node in skeleton.order:
        parent = skeleton.parents[node]
        moved[node] |= parent >= 0 and moved[parent]
    return moved


def _between(positions: npt.ArrayLike, rings: Int32) -> Float64:
    """Volume (F,) between the first and the last of some rings, closed by flat ends."""
    points = np.asarray(positions, np.float64)
    loops = points[:, rings]
    ends = loops[:, [0, -1]].mean(axis=2)
    closed = np.concatenate([loops.reshape(len(points), -1, 3), ends], axis=1)
    _, faces = close(loops[0], ends[0, 0], ends[0, 1])
    return np.abs(signed_volume(closed, faces))
