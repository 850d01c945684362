"""What a value in a JSON tree may be: functions that raise or note, and that combine into tables.

What leaves the content in doubt raises `FormatError`; what is only irregular is noted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bunraku.errors import FormatError
from bunraku.formats.gltf.context import Context, Place, shown, spell

Check = Callable[[Any, Place, Context], None]

# Counts and offsets are JSON numbers: integers above 2^53 are not exact (section 2.7).
LARGEST = 2**53
# No glTF object may be referred to past this: indices are int32 in the model.
MOST_OBJECTS = 2**31 - 1


def string(value: Any, place: Place, context: Context) -> None:
    if not isinstance(value, str):
        raise context.fail(place, "a string", value)


def boolean(value: Any, place: Place, context: Context) -> None:
    if not isinstance(value, bool):
        raise context.fail(place, "true or false", value)


def is_finite_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e308 < value < 1e308


def number(value: Any, place: Place, context: Context) -> None:
    if not is_finite_number(value):
        raise context.fail(place, "a finite number", value)


def integer(least: int, most: int = LARGEST) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            limit = f"an integer ≥ {least}" if most == LARGEST else f"an integer {least} … {most}"
            raise context.fail(place, limit, value)

    return check


def count(value: Any, place: Place, context: Context) -> None:
    integer(0, MOST_OBJECTS)(value, place, context)
    if value == 0:
        context.note("empty-accessor", place, "is 0, where at least 1 is required; read as empty")


def one_of(*choices: Any) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if value not in choices or isinstance(value, bool):
            raise context.fail(place, "one of " + ", ".join(map(repr, choices)), value)

    return check


def preferably(*choices: str) -> Check:
    """A string of which only some values are known; another one is carried and noted."""

    def check(value: Any, place: Place, context: Context) -> None:
        string(value, place, context)
        if value not in choices:
            expected = ", ".join(map(repr, choices))
            context.note(
                "unknown-value", place, f"expected one of {expected}, found {shown(value)}"
            )

    return check


def numbers(length: int | None) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise context.fail(place, f"an array of {length or 'finite'} numbers", value)
        for i, number in enumerate(value):
            if not is_finite_number(number):
                raise context.fail((*place, i), "a finite number", number)

    return check


def index_into(kind: str) -> Check:
    """A reference that must hold: what it names shapes the character."""

    def check(value: Any, place: Place, context: Context) -> None:
        count = context.counts[kind]
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise context.fail(place, f"an index into {kind}", value)
        if value >= count:
            raise context.fail(place, f"an index into {kind}, of which there are {count}", value)

    return check


def carried_index_into(kind: str) -> Check:
    """A reference among things that are only carried: a broken one is kept and noted."""
    strict = index_into(kind)

    def check(value: Any, place: Place, context: Context) -> None:
        try:
            strict(value, place, context)
        except FormatError:
            message = f"refers to {kind} {shown(value)}, but there are {context.counts[kind]}"
            context.note("dangling-reference", place, message)

    return check


def array_of(item: Check, *, may_be_empty: bool = True, unique: bool = False) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, list):
            raise context.fail(place, "an array", value)
        if not value:
            if not may_be_empty:
                raise context.fail(place, "at least one element", value)
            context.note("empty-array", place, "is empty; the property should be left out")
        for i, element in enumerate(value):
            item(element, (*place, i), context)
        if unique and len(set(value)) != len(value):
            context.note("duplicate-reference", place, "names the same object more than once")

    return check


def map_of(item: Check) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, dict):
            raise context.fail(place, "an object", value)
        for key, element in value.items():
            item(element, (*place, key), context)

    return check


def extensions_of(known: dict[str, Check]) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, dict):
            raise context.fail(place, "an object", value)
        for name, content in value.items():
            if name in known:
                known[name](content, (*place, name), context)
            elif not isinstance(content, dict):
                message = f"expected an object, found {shown(content)}; carried as it is"
                context.note("extension-not-object", (*place, name), message)

    return check


_ANY_EXTENSIONS = extensions_of({})


def object_of(required: tuple[str, ...] = (), **fields: Check) -> Check:
    fields.setdefault("extensions", _ANY_EXTENSIONS)

    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, dict):
            raise context.fail(place, "an object", value)
        for key, content in value.items():
            if (inner := fields.get(key)) is not None:
                inner(content, (*place, key), context)
        for key in required:
            if key not in value:
                raise FormatError(f"{context.source}: {spell(place) or 'glTF'}: {key} is missing")

    return check
