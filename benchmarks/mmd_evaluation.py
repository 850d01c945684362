"""MMD evaluation: a figure of 200 bones with IK, twist bones and D-bones dances for minutes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.harness import Row, table
from benchmarks.peers.babylon import BabylonMmd
from bunraku import Character, Clip, Stage, Track, _core, load, load_clips, save, save_clip
from bunraku.model import (
    Append,
    Attachment,
    FixedAxis,
    Geometry,
    IkChain,
    IkLink,
    Mesh,
    Part,
    Rig,
    Skeleton,
    Skin,
)

FRAMES = 10_000
BONES = 200
KEY_EVERY = 20
ROUNDS = 3


def run() -> Iterator[str]:
    """Yield one table: sampling, appends and IK of every frame, by babylon-mmd and by us.

    Processor time is compared, so that whatever else runs on the machine does not count.
    """
    with tempfile.TemporaryDirectory() as folder:
        model, motion = Path(folder) / "dancer.pmx", Path(folder) / "dance.vmd"
        character = dancer()
        save(character, model)
        save_clip(dance(character), motion, character)
        stage = Stage(load(model), load_clips(motion)[0])
        try:
            peer = BabylonMmd(model, motion)
        except OSError:
            peer = None
        times = np.arange(FRAMES) / 30
        taken: dict[str, list[float]] = {"bunraku": [], "babylon-mmd": []}
        _core.set_thread_count(1)
        for _ in range(ROUNDS + 1):  # the first is a warm-up, and turns of the two alternate
            start = time.thread_time()
            transforms = stage.global_transforms(times)
            taken["bunraku"].append(time.thread_time() - start)
            if peer is not None:
                seconds, world = peer.play(FRAMES)
                taken["babylon-mmd"].append(seconds)
        _core.set_thread_count(0)
        if peer is not None:
            peer.close()
            _check(transforms[-1], world)
        seconds_of = {name: median(each[1:]) for name, each in taken.items() if each}
        real_time = FRAMES / 30 / seconds_of["bunraku"]
        row = Row(f"one thread: {real_time:.0f} × real time", seconds_of, FRAMES)
    yield table(
        f"MMD evaluation: {BONES} bones, 4 IK chains, {FRAMES} frames, a key every {KEY_EVERY}",
        "frames per second of processor time (sampling, appends, IK); 30 are real time",
        [row],
    )


def _check(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Both must have done the same; IK leaves a millimetre."""
    away = np.abs(ours[:, :, 3] - theirs[:, :3, 3] * [0.08, 0.08, -0.08]).max()
    if away > 2e-3:
        raise AssertionError(f"babylon-mmd and bunraku differ by {away:.3g} m")


class _Bones:
    """Bones by name, as they are added."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.offsets: list[tuple[float, float, float]] = []
        self.layers: list[int] = []

    def add(
        self, name: str, parent: str | None, offset: tuple[float, float, float], layer: int = 0
    ) -> int:
        self.names.append(name)
        self.parents.append(-1 if parent is None else self.names.index(parent))
        self.offsets.append(offset)
        self.layers.append(layer)
        return len(self.names) - 1


def dancer() -> Character:
    """A figure with the bones that nearly every MMD model has, and hair and skirt up to 200."""
    bones = _Bones()
    appends: list[Append] = []
    axes: list[FixedAxis] = []
    chains: list[IkChain] = []
    for name, parent, height in (
        ("全ての親", None, 0.0),
        ("センター", "全ての親", 0.8),
        ("下半身", "センター", 0.2),
        ("上半身", "センター", 0.25),
        ("首", "上半身", 0.35),
        ("頭", "首", 0.1),
    ):
        bones.add(name, parent, (0, height, 0))
    for side, x in (("左", 1.0), ("右", -1.0)):
        bones.add(f"{side}肩", "上半身", (0.05 * x, 0.3, 0))
        bones.add(f"{side}腕", f"{side}肩", (0.1 * x, 0, 0))
        axes.append(FixedAxis(bones.add(f"{side}腕捩", f"{side}腕", (0.1 * x, 0, 0)), _along(x)))
        for part in range(1, 4):
            taker = bones.add(f"{side}腕捩{part}", f"{side}腕", (0.06 * part * x, 0, 0))
            appends.append(Append(taker, axes[-1].node, part / 4))
        bones.add(f"{side}ひじ", f"{side}腕捩", (0.12 * x, 0, 0))
        bones.add(f"{side}手首", f"{side}ひじ", (0.22 * x, 0, 0))
        for finger in range(5):
            above = f"{side}手首"
            for part in range(3):
                name = f"{side}指{finger}{part}"
                bones.add(name, above, (0.03 * x, 0, 0.02 * (finger - 2) * (part == 0)))
                above = name
        leg = bones.add(f"{side}足", "下半身", (0.09 * x, -0.1, 0))
        knee = bones.add(f"{side}ひざ", f"{side}足", (0, -0.42, 0.01))
        ankle = bones.add(f"{side}足首", f"{side}ひざ", (0, -0.42, -0.02))
        toe = bones.add(f"{side}つま先", f"{side}足首", (0, -0.06, 0.13))
        above = "下半身"
        for name, source in ((f"{side}足", leg), (f"{side}ひざ", knee), (f"{side}足首", ankle)):
            taker = bones.add(f"{name}D", above, bones.offsets[source], layer=2)
            appends.append(Append(taker, source, 1.0))
            above = f"{name}D"
        goal = bones.add(f"{side}足ＩＫ", "全ての親", (0.09 * x, 0.06, -0.01), layer=1)
        tip = bones.add(f"{side}つま先ＩＫ", f"{side}足ＩＫ", (0, -0.06, 0.13), layer=1)
        bend = IkLink(knee, np.radians([[0.5, 0, 0], [180, 0, 0]]))
        chains.append(IkChain(goal, ankle, (bend, IkLink(leg)), 40, 2.0))
        chains.append(IkChain(tip, toe, (IkLink(ankle),), 3, 4.0))
    strand = 0
    while len(bones.names) < BONES:
        above = "頭" if strand % 2 else "下半身"
        turn = 2 * np.pi * strand / 13
        offset = (0.1 * float(np.sin(turn)), 0.0, 0.1 * float(np.cos(turn)))
        for part in range(min(10, BONES - len(bones.names))):
            name = f"揺{strand}_{part}"
            bones.add(name, above, offset)
            above, offset = name, (0.0, -0.05, 0.0)
        strand += 1
    skeleton = Skeleton(tuple(bones.names), bones.parents, bones.offsets)
    body = Mesh(
        "body",
        (Geometry(np.eye(3), np.eye(3), joints=np.zeros((3, 1)), weights=np.ones((3, 1))),),
        (Part(0, [[0, 1, 2]]),),
    )
    return Character(
        skeleton,
        (body,),
        (Skin([0]),),
        (Attachment(0, 0, 0),),
        rig=Rig(bones.layers, None, tuple(appends), tuple(axes), tuple(chains)),
        name="dancer",
    )


def dance(character: Character) -> Clip:
    """Keys of every bone that moves by itself, each with a curve of its own."""
    rng = np.random.default_rng(5)
    times = np.arange(0, FRAMES + 1, KEY_EVERY) / 30
    names = character.skeleton.names
    rig = character.rig
    assert rig is not None
    own = set(range(len(names))) - {append.node for append in rig.appends}
    tracks = []
    for node in sorted(own):
        curves = rng.uniform(0.1, 0.9, (len(times), 1, 4))
        turns = rng.normal(size=(len(times), 4)) * 0.15 + [0, 0, 0, 1]
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        tracks.append(Track(names[node], "rotation", times, turns, "BEZIER", curves))
    for name in ("センター", "左足ＩＫ", "右足ＩＫ"):
        moves = rng.uniform(-0.15, 0.15, (len(times), 3)) + [0, 0.1 * name.endswith("ＩＫ"), 0]
        curves = rng.uniform(0.1, 0.9, (len(times), 3, 4))
        tracks.append(Track(name, "translation", times, moves, "BEZIER", curves, relative=True))
    return Clip("dance", tuple(tracks))


def _along(x: float) -> np.ndarray:
    return np.array([x, 0.0, 0.0])
