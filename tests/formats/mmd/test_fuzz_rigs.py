"""Models whose bones, morphs and vertices refer to each other at random, posed and bent.

Bytes that were mutated seldom lead from one record to another. Here every file is well formed,
and what it says is not: parents in circles, IK on itself, appends of each other, morphs of what
there is not, numbers that are none. BUNRAKU_FUZZ sets how many are tried.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from bunraku.errors import FormatError
from bunraku.formats.mmd import (
    OFFSETS,
    BoneFlag,
    Deform,
    MorphKind,
    PmxBone,
    PmxFile,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
    PmxMorph,
    PmxVertices,
    pmx_bytes,
)
from tests.formats.mmd.test_fuzz_mmd import COUNT, check

NUMBERS = [0.0, 1.0, -1.0, 0.5, 2.5, -0.5, 1e38, -1e38, 1e-45, float("nan"), float("inf")]
LAYERS = [0, 0, 0, 1, -1, 2**31 - 1, -(2**31)]
LOOPS = [0, 1, 5, 40, 256, 300, -1, 2**31 - 1]
APPENDS = BoneFlag.APPEND_ROTATION | BoneFlag.APPEND_TRANSLATION


class Draw:
    """What a model of `bones` bones is made of."""

    def __init__(self, number: int) -> None:
        self.rng = random.Random(number)
        self.bones = self.rng.choice([1, 2, 3, 5, 9, 20])
        self.morphs = self.rng.choice([0, 1, 3, 6])
        self.vertices = self.rng.choice([0, 3, 6])

    def number(self) -> float:
        rare = self.rng.random() < 0.05
        return self.rng.choice(NUMBERS) if rare else self.rng.uniform(-2, 2)

    def vector(self) -> tuple[float, float, float]:
        return self.number(), self.number(), self.number()

    def index(self, count: int | None = None) -> int:
        return self.rng.randrange(-1, self.bones if count is None else count)

    def ik(self) -> PmxIk:
        links = [
            PmxIkLink(self.index(), self.rng.choice([None, (self.vector(), self.vector())]))
            for _ in range(self.rng.choice([0, 1, 2, 3, 8]))
        ]
        return PmxIk(self.index(), self.rng.choice(LOOPS), self.number(), tuple(links))

    def bone(self, number: int) -> PmxBone:
        flags = self.rng.getrandbits(14)
        return PmxBone(
            f"bone {number}",
            position=self.vector(),
            parent=self.index(),
            layer=self.rng.choice(LAYERS),
            flags=flags,
            tail=self.index() if flags & BoneFlag.TAIL_IS_BONE else self.vector(),
            append=(self.index(), self.number()) if flags & APPENDS else None,
            fixed_axis=self.vector() if flags & BoneFlag.FIXED_AXIS else None,
            local_axes=(self.vector(), self.vector()) if flags & BoneFlag.LOCAL_AXES else None,
            external_key=1 if flags & BoneFlag.EXTERNAL_PARENT else None,
            ik=self.ik() if flags & BoneFlag.IK else None,
        )

    def morph(self, number: int) -> PmxMorph:
        kind = MorphKind(self.rng.randrange(11))
        offsets = np.zeros(self.rng.choice([0, 1, 3]), OFFSETS[kind])
        first, *rest = offsets.dtype.names or ()
        offsets[first] = [self.index(7) for _ in offsets]
        for name in rest:
            if offsets[name].dtype.kind == "f":
                offsets[name] = self.array(*offsets[name].shape)
        return PmxMorph(f"morph {number}", kind=kind, offsets=offsets)

    def array(self, *shape: int) -> np.ndarray:
        numbers = [self.number() for _ in range(int(np.prod(shape)))]
        return np.array(numbers, np.float32).reshape(shape)

    def mesh(self) -> PmxVertices:
        count = self.vertices
        deform = np.array([self.rng.randrange(5) for _ in range(count)], np.uint8)
        spherical = int(np.count_nonzero(deform == Deform.SDEF))
        bones = [[self.index() for _ in range(4)] for _ in range(count)]
        return replace(
            PmxVertices.empty(count),
            positions=self.array(count, 3),
            normals=self.array(count, 3),
            deform=deform,
            bones=np.array(bones, np.int32).reshape(count, 4),
            weights=np.abs(self.array(count, 4)),
            sdef=self.array(spherical, 3, 3),
        )

    def file(self) -> PmxFile:
        return PmxFile(
            "rewired",
            version=2.1,
            vertices=self.mesh(),
            faces=np.arange(self.vertices, dtype=np.int32).reshape(-1, 3),
            materials=(PmxMaterial("all", index_count=self.vertices),),
            bones=tuple(self.bone(i) for i in range(self.bones)),
            morphs=tuple(self.morph(i) for i in range(self.morphs)),
        )


def test_models_that_refer_to_themselves_at_random():
    outcomes: dict[str, int] = {}
    for number in range(COUNT // 5):
        try:
            data = pmx_bytes(Draw(number).file())
        except FormatError:  # an index of -1 into a list whose indices have no sign
            continue
        try:
            outcome = check("pmx", data, f"model {number}")
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"model {number}: {type(error).__name__}: {error}") from error
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert outcomes["model"] > COUNT // 20, outcomes
