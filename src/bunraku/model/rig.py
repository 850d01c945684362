"""What moves nodes beside a clip: appends, inverse kinematics, constraints, gaze, springs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Bool, Float64, Int32, checked, frozen, index
from bunraku.model.frozen import Frozen, Plain
from bunraku.model.skeleton import Skeleton
from bunraku.model.spring import Collider, Spring

Axis = Literal["+X", "-X", "+Y", "-Y", "+Z", "-Z"]


@dataclass(frozen=True)
class Append(Plain):
    """A node that takes a share of another's motion (MMD 付与).

    Attributes:
        node, source: who follows whom.
        ratio: of the source's motion; negative and above 1 are legal.
        rotation, translation: which of the two is taken.
        local: from the source's motion in the character's space, not in its parent's.
    """

    node: int
    source: int
    ratio: float
    rotation: bool = True
    translation: bool = False
    local: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class FixedAxis(Frozen):
    """A node that turns about one axis of its own only.

    Attributes:
        node: index into the skeleton.
        axis: (3,) float64 unit vector; (0, 0, 0) for a node that cannot turn.
    """

    node: int
    axis: Float64

    if TYPE_CHECKING:

        def __init__(
            self,
            node: int,
            axis: npt.ArrayLike,
        ) -> None: ...

    def __post_init__(self) -> None:
        axis = checked(self.axis, np.float64, (3,), f"fixed axis of node {self.node}")
        length = np.linalg.norm(axis)
        object.__setattr__(self, "axis", frozen(axis / length) if length > 0 else axis)
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class IkLink(Frozen):
    """A node that a chain may turn.

    Attributes:
        node: index into the skeleton.
        limits: (2, 3) float64 lowest and highest angle about x, y, z, radians, or None.
    """

    node: int
    limits: Float64 | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            node: int,
            limits: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.limits is not None:
            limits = checked(self.limits, np.float64, (2, 3), f"limits of IK link {self.node}")
            object.__setattr__(self, "limits", frozen(np.sort(limits, axis=0)))
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class IkChain(Frozen):
    """Turns links until an effector reaches a goal (cyclic coordinate descent).

    Attributes:
        goal: the node to be reached.
        effector: the node that reaches for it.
        links: nearest the effector first.
        loops: passes over the links at most.
        step: radians a link may turn in one step.
    """

    goal: int
    effector: int
    links: tuple[IkLink, ...]
    loops: int
    step: float

    if TYPE_CHECKING:

        def __init__(
            self,
            goal: int,
            effector: int,
            links: Iterable[IkLink],
            loops: int,
            step: float,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(self.links))
        if self.loops < 0 or not np.isfinite(self.step):
            raise RigError(
                f"IK of node {self.goal}: expected loops from 0 and a finite step, "
                f"found {self.loops} and {self.step}"
            )
        super().__post_init__()


@dataclass(frozen=True)
class RollConstraint(Plain):
    """A node takes the source's turn about one axis of its own (VRMC_node_constraint 1.0)."""

    node: int
    source: int
    axis: Literal["X", "Y", "Z"]
    weight: float = 1.0


@dataclass(frozen=True)
class AimConstraint(Plain):
    """A node points one axis of its own at the source (VRMC_node_constraint 1.0)."""

    node: int
    source: int
    axis: Axis
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.axis not in get_args(Axis):
            raise RigError(f"aim constraint of node {self.node}: unknown axis {self.axis!r}")
        super().__post_init__()


@dataclass(frozen=True)
class RotationConstraint(Plain):
    """A node takes the source's turn from rest (VRMC_node_constraint 1.0)."""

    node: int
    source: int
    weight: float = 1.0


Constraint = RollConstraint | AimConstraint | RotationConstraint


@dataclass(frozen=True)
class RangeMap(Plain):
    """How far an eye turns for a gaze: min(|angle|, limit) / limit × output.

    Attributes:
        limit: radians of gaze beyond which nothing more happens.
        output: radians of a bone, or weight of an expression, at the limit.
    """

    limit: float
    output: float


@dataclass(frozen=True, eq=False, repr=False)
class LookAt(Frozen):
    """How gaze becomes eyes or expressions.

    Attributes:
        kind: "bone" turns the eye nodes, "expression" drives lookUp, lookDown, lookLeft and
            lookRight.
        offset: (3,) float64 where the eyes are, from the head node, metres.
        inner, outer, down, up: how much.
    """

    kind: Literal["bone", "expression"]
    offset: Float64
    inner: RangeMap
    outer: RangeMap
    down: RangeMap
    up: RangeMap

    if TYPE_CHECKING:

        def __init__(
            self,
            kind: Literal["bone", "expression"],
            offset: npt.ArrayLike,
            inner: RangeMap,
            outer: RangeMap,
            down: RangeMap,
            up: RangeMap,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", checked(self.offset, np.float64, (3,), "gaze.offset"))


@dataclass(frozen=True, eq=False, repr=False)
class Rig(Frozen):
    """Everything beside clips that moves nodes, and the order it runs in.

    MMD's rules (`layers` given): nodes are evaluated by (after physics, layer, index), each with
    its append; a chain runs after its goal. VRM's: pose, gaze, expressions, constraints with
    dependencies first, springs.

    Attributes:
        layers: (N,) int32 layer of each node (MMD 変形階層), or None where nodes follow their
            parents alone.
        after_physics: (N,) bool: evaluated after all that are not; none if omitted.
        appends, fixed_axes, chains: MMD.
        constraints, look_at: VRM.
        springs, colliders: VRM; a spring names colliders by index.

    Raises:
        RigError: layers and after_physics that disagree in length, two appends or axes for one
            node, a spring that names a collider which there is not.

    >>> Rig(appends=(Append(1, 0, 0.5),)).appends[0].ratio
    0.5
    """

    layers: Int32 | None = None
    after_physics: Bool | None = None
    appends: tuple[Append, ...] = ()
    fixed_axes: tuple[FixedAxis, ...] = ()
    chains: tuple[IkChain, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    look_at: LookAt | None = None
    springs: tuple[Spring, ...] = ()
    colliders: tuple[Collider, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            layers: npt.ArrayLike | None = None,
            after_physics: npt.ArrayLike | None = None,
            appends: Iterable[Append] = (),
            fixed_axes: Iterable[FixedAxis] = (),
            chains: Iterable[IkChain] = (),
            constraints: Iterable[Constraint] = (),
            look_at: LookAt | None = None,
            springs: Iterable[Spring] = (),
            colliders: Iterable[Collider] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("appends", "fixed_axes", "chains", "constraints", "springs", "colliders"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.layers is not None:
            layers = checked(self.layers, np.int32, (None,), "rig.layers")
            late = np.zeros(len(layers), bool) if self.after_physics is None else self.after_physics
            late = np.asarray(late, bool)
            if late.shape != layers.shape:
                raise RigError(
                    f"rig.after_physics: expected shape {layers.shape}, found {late.shape}"
                )
            object.__setattr__(self, "layers", layers)
            object.__setattr__(self, "after_physics", frozen(late))
        for what, nodes in (
            ("appends", [append.node for append in self.appends]),
            ("fixed_axes", [axis.node for axis in self.fixed_axes]),
            ("constraints", [constraint.node for constraint in self.constraints]),
        ):
            twice = [node for node, count in Counter(nodes).items() if count > 1]
            if twice:
                raise RigError(f"rig.{what}: node {min(twice)} has more than one")
        for i, spring in enumerate(self.springs):
            for collider in spring.colliders:
                index(collider, len(self.colliders), f"rig.springs[{i}]", "collider")

    def nodes(self) -> Iterator[tuple[str, int]]:
        """Every node that the rig names, with the place where it does."""
        for what in ("appends", "constraints"):
            for i, each in enumerate(getattr(self, what)):
                yield f"{what}[{i}].node", each.node
                yield f"{what}[{i}].source", each.source
        for i, axis in enumerate(self.fixed_axes):
            yield f"fixed_axes[{i}].node", axis.node
        for i, chain in enumerate(self.chains):
            yield f"chains[{i}].goal", chain.goal
            yield f"chains[{i}].effector", chain.effector
            for j, link in enumerate(chain.links):
                yield f"chains[{i}].links[{j}].node", link.node
        for i, collider in enumerate(self.colliders):
            yield f"colliders[{i}].node", collider.node
        for i, spring in enumerate(self.springs):
            for j, joint in enumerate(spring.joints):
                yield f"springs[{i}].joints[{j}].node", joint.node
                if joint.child is not None:
                    yield f"springs[{i}].joints[{j}].child", joint.child
            if spring.center is not None:
                yield f"springs[{i}].center", spring.center


def constraint_order(skeleton: Skeleton, constraints: Sequence[Constraint]) -> list[int]:
    """Return the order in which constraints can be evaluated, each after all that it waits for.

    A constraint waits for those on its source and the source's ancestors; an aim also for those
    on the node's own ancestors.

    Raises:
        RigError: constraints that wait for each other; the message names their nodes.

    >>> trio = Skeleton(("a", "b", "c"), [-1, -1, -1])
    >>> constraint_order(trio, [RotationConstraint(2, 1), RotationConstraint(1, 0)])
    [1, 0]
    """
    # Nodes are 0, 1, …, each known after its parent and its constraint, which are −1, −2, …
    graph: dict[int, list[int]] = {
        node: [parent] if parent >= 0 else []
        for node, parent in enumerate(skeleton.parents.tolist() if constraints else ())
    }
    for i, constraint in enumerate(constraints):
        parent = int(skeleton.parents[constraint.node])
        aims = isinstance(constraint, AimConstraint) and parent >= 0
        graph[~i] = [constraint.source, *([parent] if aims else [])]
        graph[constraint.node].append(~i)
    try:
        return [~each for each in TopologicalSorter(graph).static_order() if each < 0]
    except CycleError as error:
        nodes = dict.fromkeys(constraints[~each].node for each in error.args[1] if each < 0)
        named = ", ".join(f"{node} {skeleton.names[node]!r}"[:60] for node in list(nodes)[:8])
        raise RigError(f"rig: constraints wait for each other in a circle: nodes {named}") from None
