"""A bow and a gesture: the puppet's own clip, made of pose-to-pose curves and leg IK."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from bunraku.demo.figure import ANKLE, HIP, JOINTS, KNEE, LEG_SIDE, MESHES, POSITIONS
from bunraku.model.arrays import Float64
from bunraku.model.clip import Clip, Interpolation, Path, Track
from bunraku.rotation import quaternion, slerp

LENGTH = 4.0
RATE = 12  # keys per second of LINEAR tracks; legs solved this often keep the ankles within 0.4 mm
SLEEVE_LAG = 0.12  # seconds by which the sleeves' pockets follow the arms

# Angles in degrees, lengths in metres; each row is (seconds, value). Curves rest at their knots.
_BOW = [(0, 0), (0.95, 27), (1.15, 27), (1.9, -3), (2.9, -2), (4, 0)]
_DROP = [(0, 0.014), (0.95, 0.085), (1.15, 0.085), (1.85, 0.018), (2.5, 0.055), (3.2, 0.02)]
_DROP += [(4, 0.014)]
_SWAY = [(0, 0), (1.1, 0), (2.1, -0.035), (2.9, -0.035), (3.8, 0), (4, 0)]
_ROLL = [(0, 0), (1.2, 0), (2.1, -3), (2.9, -3), (3.8, 0), (4, 0)]
_TURN = [(0, 0), (1.2, 0), (2.1, -9), (3.0, -9), (3.9, 0), (4, 0)]
_HEAD_TURN = [(0, 0), (1.0, 0), (1.7, -38), (2.9, -34), (3.7, 0), (4, 0)]
_HEAD_NOD = [(0, 0), (0.85, 20), (1.2, 20), (1.75, -2), (2.3, 6), (2.9, 4), (3.8, 0), (4, 0)]
_HEAD_TILT = [(0, 0), (1.2, 0), (2.1, -9), (2.9, -9), (3.8, 0), (4, 0)]
_OFFERED = [(0, 0), (1.35, 0), (2.4, -165), (2.85, -165), (3.8, 0), (4, 0)]
_LEFT_CURL = [(0, 18), (0.95, 8), (1.9, 14), (3.0, 14), (4, 18)]
_RIGHT_CURL = [(0, 18), (0.95, 8), (1.6, 20), (2.35, 4), (2.95, 4), (4, 18)]

# Upper arm, forearm and the way the palm faces, as directions in the chest's space.
_HANG = ((0.50, -0.86, 0.06), (0.30, -0.87, 0.38), (-0.90, -0.25, 0.10))
_LOWERED = ((0.34, -0.88, 0.32), (0.10, -0.90, 0.42), (-0.55, -0.30, -0.75))
_VEIL = ((0.62, -0.44, 0.65), (-0.76, 0.64, 0.02), (-0.25, 0.05, -0.95))
_OFFER = ((0.92, -0.10, 0.38), (0.83, -0.02, 0.56))

_BLINKS = (0.92, 1.62, 3.35)
_SMILE = [(0, 0), (1.6, 0), (2.3, 1), (3.1, 1), (3.8, 0), (4, 0)]


def make_clips() -> tuple[Clip, ...]:
    """The looping clip "bow and offer", 4 s.

    The puppet bows; then the left arm bends by more than 120° to veil the mouth while the
    right arm is offered and its hand turns by 165° about the forearm; the knees give, the feet
    stay. Rotations are LINEAR, those of spine, chest, neck and head CUBICSPLINE; the figure's
    weights track blinks and smiles. The last key equals the first.

    >>> [(clip.name, clip.start, clip.end) for clip in make_clips()]
    [('bow and offer', 0.0, 4.0)]
    """
    times = _times(RATE)
    hips = _hips(times)
    tracks = [
        _track("hips", "translation", times, _hips_place(times)),
        _track("hips", "rotation", times, hips),
    ]
    tracks += [_cubic(joint, turn) for joint, turn in _UPPER.items()]
    for side, sign in (("left", 1), ("right", -1)):
        turns = {**_legs(times, hips, sign), **_arms(times, sign), "Sleeve": _hanging(times, sign)}
        for joint, turn in turns.items():
            tracks.append(_track(side + joint, "rotation", times, turn))
    return (Clip("bow and offer", (*tracks, _weights())),)


def _track(
    node: str, path: Path, times: Float64, values: Float64, interpolation: Interpolation = "LINEAR"
) -> Track:
    names = JOINTS + MESHES
    return Track(names.index(node), path, times, values.astype(np.float32), interpolation)


def _times(rate: int) -> Float64:
    """Even key times over the clip, as float32 (which is what files keep) holds them."""
    return np.linspace(0, LENGTH, int(LENGTH * rate) + 1, dtype=np.float32).astype(np.float64)


def _eased(knots: Sequence[tuple[float, float]], at: Float64) -> Float64:
    """A curve that rests at every knot and goes from one to the next with least jerk."""
    table = np.asarray(knots, np.float64)
    i, s = _segment(table[:, 0], at)
    return np.asarray(table[i, 1] + (table[i + 1, 1] - table[i, 1]) * s)


def _segment(knots: Float64, at: Float64) -> tuple[npt.NDArray[np.intp], Float64]:
    i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    s = np.clip((at - knots[i]) / (knots[i + 1] - knots[i]), 0, 1)
    return i, s**3 * (10 - 15 * s + 6 * s**2)


def _about(axis: tuple[float, float, float], degrees: npt.ArrayLike) -> Float64:
    return np.asarray(quaternion.from_axis_angle(axis, np.radians(degrees)), np.float64)


def _product(*turns: Float64) -> Float64:
    """The rotations multiplied from left to right: the last one acts first."""
    result = turns[0]
    for turn in turns[1:]:
        result = np.asarray(quaternion.multiply(result, turn), np.float64)
    return result


_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def _hips(at: Float64) -> Float64:
    pitch = _about(_X, 0.25 * _eased(_BOW, at))
    return _product(_about(_Y, 0.4 * _eased(_TURN, at)), pitch, _about(_Z, _eased(_ROLL, at)))


def _hips_place(at: Float64) -> Float64:
    # A bow moves the hips back, or the puppet would fall on its nose.
    back = -0.0018 * _eased(_BOW, at)
    rest = POSITIONS[JOINTS.index("hips")]
    return np.stack([_eased(_SWAY, at), rest[1] - _eased(_DROP, at), rest[2] + back], -1)


def _spine(at: Float64) -> Float64:
    return _product(
        _about(_Y, 0.3 * _eased(_TURN, at)),
        _about(_X, 0.40 * _eased(_BOW, at)),
        _about(_Z, -0.5 * _eased(_ROLL, at)),
    )


def _chest(at: Float64) -> Float64:
    return _product(
        _about(_Y, 0.3 * _eased(_TURN, at)),
        _about(_X, 0.35 * _eased(_BOW, at)),
        _about(_Z, -1.0 * _eased(_ROLL, at)),
    )


def _neck(at: Float64) -> Float64:
    turned = _about(_Y, 0.4 * _eased(_HEAD_TURN, at))
    return _product(turned, _about(_X, 0.4 * _eased(_HEAD_NOD, at)))


def _head(at: Float64) -> Float64:
    return _product(
        _about(_Y, 0.6 * _eased(_HEAD_TURN, at)),
        _about(_X, 0.6 * _eased(_HEAD_NOD, at)),
        _about(_Z, _eased(_HEAD_TILT, at)),
    )


_UPPER: dict[str, Callable[[Float64], Float64]] = {
    "spine": _spine,
    "chest": _chest,
    "neck": _neck,
    "head": _head,
}


def _cubic(joint: str, turn: Callable[[Float64], Float64]) -> Track:
    """A CUBICSPLINE track through a curve, four keys a second, tangents by central difference."""
    times = _times(4)
    step = 1e-4
    tangents = (turn(times + step) - turn(times - step)) / (2 * step)
    values = np.stack([tangents, turn(times), tangents], axis=1)
    return _track(joint, "rotation", times, values, "CUBICSPLINE")


def _mirrored(turn: Float64, sign: int) -> Float64:
    """The rotation as it is (sign 1), or its mirror image in the plane x = 0 (sign -1)."""
    return np.asarray(turn * np.array([1, sign, sign, 1]))


def _from_axes(x: Float64, y: Float64, z: Float64) -> Float64:
    return np.asarray(quaternion.from_matrix(np.stack([x, y, z], axis=-1)), np.float64)


def _unit(v: Float64) -> Float64:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def _arm_pose(upper: npt.ArrayLike, fore: npt.ArrayLike) -> tuple[Float64, float]:
    """Rotation of the left upper arm and bend of its elbow (degrees) for two directions.

    At rest the arm lies along +X and the elbow bends it towards +Z, about -Y.
    """
    u, f = _unit(np.asarray(upper, np.float64)), _unit(np.asarray(fore, np.float64))
    z = _unit(f - u * (u @ f))
    return _from_axes(u, np.cross(z, u), z), float(np.degrees(np.arccos(u @ f)))


def _palm_turn(turn: Float64, bend: float, facing: npt.ArrayLike) -> float:
    """Degrees about the forearm that turn the palm (-Y at rest) towards `facing`."""
    forearm = _product(turn, _about(_Y, -bend))
    local = quaternion.rotate(quaternion.conjugate(forearm), np.asarray(facing, np.float64))
    return float(np.degrees(np.arctan2(-local[2], -local[1])))


def _arms(at: Float64, sign: int) -> dict[str, Float64]:
    """Local rotations of one arm's joints; both arms are authored as left arms."""
    left = sign > 0
    poses = (_HANG, _LOWERED, _VEIL if left else (*_OFFER, None))
    turns, bends, rolls = [], [], []
    for upper, fore, palm in poses:
        turn, bend = _arm_pose(upper, fore)
        turns.append(turn)
        bends.append(bend)
        rolls.append(0.0 if palm is None else _palm_turn(turn, bend, palm))
    if left:
        order, knots = (0, 1, 1, 2, 2, 0), (0, 0.95, 1.1, 2.05, 2.9, 4)
    else:
        order, knots = (0, 1, 1, 2, 2, 0), (0, 0.95, 1.1, 1.8, 3.0, 4)
    i, s = _segment(np.array(knots, np.float64), at)
    which = np.array(order)
    stacked = np.array(turns)
    upper_arm = slerp(stacked[which[i]], stacked[which[i + 1]], s)

    def between(values: list[float]) -> Float64:
        array = np.array(values)[which]
        return np.asarray(array[i] + (array[i + 1] - array[i]) * s)

    roll, curl = between(rolls), _eased(_LEFT_CURL if left else _RIGHT_CURL, at)
    if not left:
        roll = roll + _eased(_OFFERED, at)
    finger = _about(_Z, -curl)
    local = {
        "UpperArm": np.asarray(upper_arm, np.float64),
        "LowerArm": _about(_Y, -between(bends)),
        "Hand": _about(_X, roll),
        "MiddleProximal": finger,
        "MiddleIntermediate": finger,
    }
    return {joint: _mirrored(turn, sign) for joint, turn in local.items()}


def _hanging(at: Float64, sign: int) -> Float64:
    """The sleeve joint's local rotation: its pocket follows gravity, a little late."""
    # The motion repeats, so what lies before its start is its end.
    late = (at - SLEEVE_LAG) % LENGTH
    arm = _product(_hips(late), _spine(late), _chest(late), _arms(late, sign)["UpperArm"])
    down = quaternion.rotate(quaternion.conjugate(arm), np.array([0.0, -1.0, 0.0]))
    axis = np.cross([0.0, -1.0, 0.0], down)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = 0.75 * np.arctan2(sine, -down[..., 1:2])
    return np.asarray(quaternion.from_rotation_vector(axis / np.maximum(sine, 1e-12) * angle))


def _legs(at: Float64, hips: Float64, sign: int) -> dict[str, Float64]:
    """Two-bone IK in the hips' space: the ankle stays where it is at rest, the foot flat."""
    rest = POSITIONS[JOINTS.index("hips")]
    socket = np.array([sign * LEG_SIDE, HIP, 0]) - rest
    ankle = np.array([sign * LEG_SIDE, ANKLE, 0]) - _hips_place(at)
    reach = quaternion.rotate(quaternion.conjugate(hips), ankle) - socket
    thigh, shin = HIP - KNEE, KNEE - ANKLE
    distance = np.minimum(np.linalg.norm(reach, axis=-1), thigh + shin - 1e-6)
    along = _unit(reach)
    ahead = _unit(np.array(_Z) - along * along[:, 2:])
    lift = np.arccos((thigh**2 + distance**2 - shin**2) / (2 * thigh * distance))[:, None]
    fold = np.arccos((thigh**2 + shin**2 - distance**2) / (2 * thigh * shin))
    y = -(along * np.cos(lift) + ahead * np.sin(lift))
    x = _unit(np.cross(ahead, along))
    upper = _from_axes(x, y, np.cross(x, y))
    lower = _about(_X, 180 - np.degrees(fold))
    foot = np.asarray(quaternion.conjugate(_product(hips, upper, lower)), np.float64)
    return {"UpperLeg": upper, "LowerLeg": lower, "Foot": foot}


def _weights() -> Track:
    """Blinks of a quarter of a second, and one long smile."""
    shut = [(at + offset, closed) for at in _BLINKS for offset, closed in _BLINK]
    knots = [(0.0, 0.0), *shut, (LENGTH, 0.0)]
    blink = np.array(knots)
    times = np.unique(np.concatenate([blink[:, 0].astype(np.float32), _times(4)]))
    times = times.astype(np.float64)
    values = np.stack([np.interp(times, *blink.T), _eased(_SMILE, times)], -1)
    return _track("figure", "weights", times, values)


_BLINK = ((-0.12, 0.0), (-0.03, 1.0), (0.04, 1.0), (0.16, 0.0))
