"""Expressions: from the weight of each to what it moves, on morphs, joints, materials and uvs.

Weights are (F, E) as in `Pose.expressions`: what was asked for. `effective_weights` says what
comes of it, and the other functions start from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bunraku.errors import RigError
from bunraku.model import (
    Character,
    Expression,
    GroupBind,
    JointBind,
    Material,
    MaterialBind,
    MorphBind,
    Pose,
    UvBind,
)
from bunraku.model.arrays import Float32, Float64, checked
from bunraku.model.expression_groups import group_links
from bunraku.model.material import to_display, to_linear
from bunraku.rotation import quaternion, slerp

# The presets that others may override, VRM 1.0 (expressions, override).
KINDS = {
    "override_mouth": ("aa", "ih", "ou", "ee", "oh"),
    "override_blink": ("blink", "blinkLeft", "blinkRight"),
    "override_look": ("lookUp", "lookDown", "lookLeft", "lookRight"),
}


def applied(character: Character, pose: Pose) -> Pose:
    """Return the pose with its expressions on top: to be done once, before anything is solved.

    Morph weights gain Σ bind × weight. A joint's translation gains weight × the bind's, its
    rotation becomes m · rotation, with m led by `slerp` from the identity towards each bind in
    turn (babylon-mmd and saba; with one bind every evaluator agrees). `Pose.expressions` stays,
    for materials and uvs are still to be changed by it.

    Returns:
        The same object where no expression has an effect.

    Raises:
        RigError: the pose is not of this character.

    >>> from bunraku.model import Expression, Skeleton
    >>> up = JointBind(0, np.array([0, 2.0, 0]), quaternion.identity())
    >>> puppet = Character(Skeleton(("root",), [-1]), expressions=(Expression("up", (up,)),))
    >>> half = replace(puppet.rest_pose(), expressions=np.array([[0.5]]))
    >>> applied(puppet, half).translations
    array([[[0., 1., 0.]]])
    """
    weights = effective_weights(character, pose.expressions)
    if not weights.any():
        return pose
    rest = character.rest_pose()
    found, expected = (
        (each.translations.shape[1], [weights.shape[1] for weights in each.morph_weights])
        for each in (pose, rest)
    )
    if found != expected:
        raise RigError(
            f"pose: {found[0]} nodes and morph weights of widths {found[1]}, "
            f"but the character has {expected[0]} and {expected[1]}"
        )
    morphs = [np.array(each) for each in pose.morph_weights]
    moves = np.zeros_like(pose.translations)
    turns: dict[int, Float64] = {}
    for bind, weight in _active(character, weights):
        if isinstance(bind, MorphBind):
            morphs[bind.attachment][:, bind.target] += bind.weight * weight
        elif isinstance(bind, JointBind):
            moves[:, bind.node] += weight[:, None] * bind.translation
            turn = turns.get(bind.node, quaternion.identity())
            turns[bind.node] = slerp(turn, bind.rotation, weight).astype(np.float64, copy=False)
    rotations = np.array(pose.rotations)
    for node, turn in turns.items():
        rotations[:, node] = quaternion.multiply(turn, rotations[:, node])
    return replace(
        pose,
        translations=pose.translations + moves,
        rotations=rotations,
        morph_weights=tuple(morphs),
    )


def effective_weights(character: Character, weights: Float64) -> Float64:
    """Return (F, E) what becomes of the weights that were asked for.

    MMD's (the rig has layers) stay as they are; groups add weight × ratio to each member, through
    groups in groups. The link that closes a circle of groups, in file order, is not followed.

    All others are clamped to 0 … 1; a binary one is 1 above one half, else 0. Mouth, blink and
    gaze are then multiplied by 1 − Σ of what the expressions of other kinds override them by:
    their weight ("blend") or 1 as soon as they show at all ("block"); binary ones by 0 as soon as
    anything overrides them (VRM 1.0, expressions).

    Raises:
        RigError: not as many weights as the character has expressions. None at all are all 0.

    >>> from bunraku.model import Skeleton
    >>> sad = Expression("sad", preset="sad", override_blink="blend")
    >>> blink = Expression("blink", preset="blink")
    >>> puppet = Character(Skeleton(("root",), [-1]), expressions=(sad, blink))
    >>> effective_weights(puppet, np.array([[0.25, 2.0]]))
    array([[0.25, 0.75]])
    """
    expressions = character.expressions
    given = checked(weights, np.float64, (None, None), "expressions")
    if given.shape[1] == 0 or not given.any():
        return np.zeros((len(given), len(expressions)))
    if given.shape[1] != len(expressions):
        raise RigError(
            f"expressions: {given.shape[1]} weights, but the character has {len(expressions)}"
        )
    out = np.array(given)
    if not _is_mmd(character):
        np.clip(out, 0, 1, out=out)
        binary = [expression.binary for expression in expressions]
        out[:, binary] = out[:, binary] > 0.5
        _override(expressions, out)
    for i, group in group_links(expressions):
        out[:, group.expression] += group.weight * out[:, i]
    return out


def material_changes(
    character: Character, weights: Float64
) -> dict[tuple[int, str], tuple[Float64, Float64]]:
    """Return what becomes of material properties: value = factor × own value + term.

    By (material, property) a factor and a term, (F, C) each; materials and properties that no
    active expression changes are left out. VRM's own + Σ (target − own) × weight has the factor
    1 − Σ weight and the term Σ target × weight; MMD's factors Π (1 + (value − 1) × weight) all
    come before its terms Σ value × weight.

    Raises:
        RigError: wrong number of weights, binds of one property with differently many numbers.

    >>> from bunraku.model import Material, Skeleton
    >>> red = Expression("red", (MaterialBind(0, "base_color", (1, 0, 0, 1)),))
    >>> puppet = Character(
    ...     Skeleton(("root",), [-1]), materials=(Material("skin"),), expressions=(red,)
    ... )
    >>> material_changes(puppet, np.array([[0.25]]))[0, "base_color"]
    (array([[0.75, 0.75, 0.75, 0.75]]), array([[0.25, 0.  , 0.  , 0.25]]))
    """
    towards: dict[tuple[int, str], Float64] = {}
    factors: dict[tuple[int, str], Float64] = {}
    terms: dict[tuple[int, str], Float64] = {}
    effective = effective_weights(character, weights)
    for bind, weight in _active(character, effective):
        if not isinstance(bind, MaterialBind):
            continue
        value, share = np.array(bind.value, np.float64), weight[:, None]
        every = range(len(character.materials))
        for material in every if bind.material is None else (bind.material,):
            key = material, bind.property
            shape = (len(effective), len(value))
            if factors.setdefault(key, np.ones(shape)).shape != shape:
                raise RigError(
                    f"materials[{material}].{bind.property}: expressions give it {len(value)} "
                    f"numbers and {factors[key].shape[1]}"
                )
            terms.setdefault(key, np.zeros(shape))
            if bind.mode == "multiply":
                factors[key] = factors[key] * (1 + (value - 1) * share)
            else:
                terms[key] = terms[key] + value * share
            if bind.mode == "toward":
                towards[key] = towards.get(key, 0.0) + share
    return {
        key: (factor * (1 - towards.get(key, 0.0)), terms[key]) for key, factor in factors.items()
    }


def materials(character: Character, pose: Pose) -> tuple[Material, ...]:
    """Return the materials as they look in one frame: base colour, texture offset and scale.

    Colours of MMD (the rig has layers) change as display values, those of others in linear light;
    either way they are clipped to 0 … 1. MMD blends everything: there, a material that is opaque
    at rest becomes one that blends when its alpha falls below 1.

    Returns:
        `character.materials` itself where no expression changes any.

    Raises:
        RigError: as `material_changes`; more than one frame, or a colour that is not of four
            numbers, an offset or a scale that is not of two.

    >>> from bunraku.model import Skeleton
    >>> red = Expression("red", (MaterialBind(0, "base_color", (1, 0, 0, 1)),))
    >>> puppet = Character(
    ...     Skeleton(("root",), [-1]), materials=(Material("skin"),), expressions=(red,)
    ... )
    >>> blushing = replace(puppet.rest_pose(), expressions=np.array([[0.25]]))
    >>> materials(puppet, blushing)[0].base_color
    (1.0, 0.75, 0.75, 1.0)
    """
    found = list(character.materials)
    for (index, name), (factor, term) in _changes_now(character, pose).items():
        if name in ("base_color", "uv_offset", "uv_scale"):
            if len(factor) != len(getattr(found[index], name)):
                raise RigError(f"materials[{index}].{name}: cannot be {len(factor)} numbers")
            found[index] = _changed(found[index], name, factor, term, _is_mmd(character))
    return tuple(found) if found != list(character.materials) else character.materials


def texture_tints(character: Character, pose: Pose) -> dict[int, tuple[Float64, Float64]]:
    """Return how MMD's morphs tint the base colour textures in one frame, by material.

    A factor and a term of red, green, blue and alpha, (4,) each. Of a texture's display colour t
    they leave m = 1 + alpha (factor · t − 1), then clip(m + alpha (m − 1)) + term, each with its
    own alpha (babylon-mmd, saba); its transparency stays.

    Raises:
        RigError: as `materials`.
    """
    tints = {}
    for (index, name), (factor, term) in _changes_now(character, pose).items():
        if name == "texture" and ((factor != 1).any() or term.any()):
            if len(factor) != 4:
                raise RigError(f"materials[{index}].{name}: cannot be {len(factor)} numbers")
            tints[index] = (factor, term)
    return tints


def _changes_now(
    character: Character, pose: Pose
) -> dict[tuple[int, str], tuple[Float64, Float64]]:
    if pose.frames != 1:
        raise RigError(f"pose: expected one frame, found {pose.frames}")
    changes = material_changes(character, pose.expressions)
    return {key: (factors[0], terms[0]) for key, (factors, terms) in changes.items()}


def _changed(material: Material, name: str, factor: Float64, term: Float64, mmd: bool) -> Material:
    own = np.array(getattr(material, name), np.float64)
    if name != "base_color":
        across, down = (factor * own + term).tolist()
        if name == "uv_scale":
            return replace(material, uv_scale=(across, down))
        return replace(material, uv_offset=(across, down))
    if mmd:
        own[:3] = to_display(own[:3])
    color = (factor * own + term).clip(0, 1)
    if mmd:
        color[:3] = to_linear(color[:3])
    clear = mmd and color[3] < 1 and material.alpha_mode == "opaque"
    red, green, blue, alpha = color.tolist()
    mode = "blend" if clear else material.alpha_mode
    return replace(material, base_color=(red, green, blue, alpha), alpha_mode=mode)


def uv_offsets(character: Character, weights: Float64) -> dict[tuple[int, int, int], Float32]:
    """Return what is added to texture coordinates, (F, V, 2) float32 by (mesh, geometry, uv set).

    Raises:
        RigError: wrong number of weights.
    """
    offsets: dict[tuple[int, int, int], Float32] = {}
    effective = effective_weights(character, weights)
    for bind, weight in _active(character, effective):
        if isinstance(bind, UvBind):
            vertices = character.meshes[bind.mesh].geometries[bind.geometry].vertex_count
            key = bind.mesh, bind.geometry, bind.uv_set
            if key not in offsets:
                offsets[key] = np.zeros((len(effective), vertices, 2), np.float32)
            share = weight.astype(np.float32)[:, None, None] * bind.offsets
            np.add.at(offsets[key].swapaxes(0, 1), bind.indices, share.swapaxes(0, 1))
    return offsets


def _is_mmd(character: Character) -> bool:
    return character.rig is not None and character.rig.layers is not None


def _active(
    character: Character, effective: Float64
) -> Iterator[tuple[MorphBind | JointBind | UvBind | MaterialBind | GroupBind, Float64]]:
    """Every bind of every expression that shows in any frame, with its weights (F,)."""
    for i in np.flatnonzero(effective.any(axis=0)).tolist():
        for bind in character.expressions[i].binds:
            yield bind, effective[:, i]


def _override(expressions: tuple[Expression, ...], out: Float64) -> None:
    factors = np.ones_like(out)
    for field, presets in KINDS.items():
        kind = [expression.preset in presets for expression in expressions]
        for i, expression in enumerate(expressions):
            how = getattr(expression, field)
            if how != "none" and not kind[i]:
                amount = out[:, i] > 0 if how == "block" else out[:, i]
                factors[:, kind] -= amount[:, None]
    factors = np.maximum(factors, 0)
    binary = [expression.binary for expression in expressions]
    factors[:, binary] = factors[:, binary] == 1
    out *= factors
