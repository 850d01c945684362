"""A humanoid under the names by which MMD's motions find bones and morphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bunraku.errors import Note
from bunraku.formats.mmd.pmd import PmdFile
from bunraku.formats.mmd.pmx import PmxFile
from bunraku.model import Character, Expression
from bunraku.model.expression_names import MMD_EXPRESSIONS, plain_name, preset_by_name
from bunraku.model.humanoid_names import MMD_NAMES, spelled_for_mmd


def standard_names(character: Character) -> Character:
    """The character, bones of its humanoid and preset expressions named as MMD's models name them.

    A name that is one of those already stays, and so does one whose standard name is another's.
    Who was read from a PMX or PMD keeps all names.

    >>> from bunraku.model import Humanoid, Skeleton
    >>> pair = Skeleton(("pelvis", "hand.l"), [-1, 0])
    >>> figure = Character(pair, humanoid=Humanoid({"hips": 0, "leftHand": 1}))
    >>> standard_names(figure).skeleton.names
    ('センター', '左手首')
    """
    if isinstance(character.document, PmxFile | PmdFile):
        return character
    bones = {} if character.humanoid is None else character.humanoid.bones
    wanted = {
        node: (spelled_for_mmd(bone), *MMD_NAMES[bone])
        for bone, node in bones.items()
        if bone in MMD_NAMES
    }
    expressions = character.expressions
    presets = {
        i: MMD_EXPRESSIONS[expression.preset or ""]
        for i, expression in enumerate(expressions)
        if expression.preset in MMD_EXPRESSIONS
    }
    spoken = _renamed((expression.name for expression in expressions), presets)
    skeleton = character.skeleton
    return replace(
        character,
        skeleton=replace(skeleton, names=_renamed(skeleton.names, wanted)),
        expressions=tuple(map(_called, expressions, spoken)),
    )


def _called(expression: Expression, name: str) -> Expression:
    return replace(expression, name=name)


def _renamed(names: Iterable[str], wanted: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
    """The names, some by the first of what they may be called, unless they are called so."""
    result = list(names)
    taken = {plain_name(name) for name in result}
    for i, candidates in wanted.items():
        standard = plain_name(candidates[0])
        if standard not in taken and plain_name(result[i]) not in map(plain_name, candidates):
            result[i] = candidates[0]
            taken.add(standard)
    return tuple(result)


def note_of_names(own: Character, named: Character) -> list[Note]:
    """What to say of the names that differ, if any."""
    counts = []
    for what, old, new in (
        ("bones", own.skeleton.names, named.skeleton.names),
        ("morphs", [e.name for e in own.expressions], [e.name for e in named.expressions]),
    ):
        changed = sum(a != b for a, b in zip(old, new, strict=True))
        counts += [f"{changed} {what}"] if changed else []
    notes = []
    if counts:
        message = f"{' and '.join(counts)} have MMD's standard names, their own as English names"
        notes.append(Note("names-standard", message))
    unknown = [
        f"{expression.name[:40]} ({expression.preset})"
        for expression in named.expressions
        if expression.preset and preset_by_name(expression.name) != expression.preset
    ]
    if unknown:
        message = f"no motion of MMD knows these presets: {', '.join(unknown)}"
        notes.append(Note("preset-dropped", message, "expressions"))
    return notes
