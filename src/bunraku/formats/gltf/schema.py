"""The shape of a glTF document as a table: types, ranges, references.

`check` walks the JSON tree along the table. What leaves the content in doubt raises
`FormatError`; what is only irregular is collected as a `Note`. Rules between objects are
in `rules.py`. Specification: glTF 2.0, section 5 (properties reference).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import FormatError, Note

Place = tuple[Any, ...]
Check = Callable[[Any, Place, "Context"], None]

# Counts and offsets are JSON numbers: integers above 2^53 are not exact (section 2.7).
LARGEST = 2**53
# A file with ten thousand of the same flaw gets these notes and a count.
NOTES_PER_CODE = 20
# No glTF object may be referred to past this: indices are int32 in the model.
MOST_OBJECTS = 2**31 - 1


def spell(place: Place) -> str:
    """`("meshes", 0, "primitives")` as ``meshes[0].primitives``."""
    text = ""
    for key in place:
        text += f"[{key}]" if isinstance(key, int) else f".{key[:80]}" if text else key[:80]
    return text


def shown(value: object) -> str:
    """A short rendering of a JSON value for messages."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"an array of {len(value)}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a huge integer"
    return text if len(text) <= 60 else text[:60] + "…"


@dataclass
class Context:
    """What a walk needs to know and collects: file name, number of objects of each kind, notes."""

    source: str
    counts: dict[str, int]
    notes: list[Note] = field(default_factory=list)
    noted: Counter[str] = field(default_factory=Counter)

    def fail(self, place: Place, expected: str, value: object) -> FormatError:
        return FormatError(
            f"{self.source}: {spell(place) or 'glTF'}: expected {expected}, found {shown(value)}"
        )

    def note(self, code: str, place: Place, message: str) -> None:
        self.noted[code] += 1
        if self.noted[code] <= NOTES_PER_CODE:
            self.notes.append(Note(code, message, spell(place)))

    def all_notes(self) -> tuple[Note, ...]:
        """The notes, with one line for each kind of which there were too many to list."""
        rest = [
            Note(code, f"{count - NOTES_PER_CODE} more notes of this kind are not listed")
            for code, count in self.noted.items()
            if count > NOTES_PER_CODE
        ]
        return (*self.notes, *rest)


def _string(value: Any, place: Place, context: Context) -> None:
    if not isinstance(value, str):
        raise context.fail(place, "a string", value)


def _boolean(value: Any, place: Place, context: Context) -> None:
    if not isinstance(value, bool):
        raise context.fail(place, "true or false", value)


def _anything(value: Any, place: Place, context: Context) -> None:
    pass


def is_finite_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e308 < value < 1e308


def _number(value: Any, place: Place, context: Context) -> None:
    if not is_finite_number(value):
        raise context.fail(place, "a finite number", value)


def _integer(least: int, most: int = LARGEST) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            limit = f"an integer ≥ {least}" if most == LARGEST else f"an integer {least} … {most}"
            raise context.fail(place, limit, value)

    return check


def _count(value: Any, place: Place, context: Context) -> None:
    _integer(0, MOST_OBJECTS)(value, place, context)
    if value == 0:
        context.note("empty-accessor", place, "is 0, where at least 1 is required; read as empty")


def _one_of(*choices: Any) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if value not in choices or isinstance(value, bool):
            raise context.fail(place, "one of " + ", ".join(map(repr, choices)), value)

    return check


def _preferably(*choices: str) -> Check:
    """A string of which only some values are known; another one is carried and noted."""

    def check(value: Any, place: Place, context: Context) -> None:
        _string(value, place, context)
        if value not in choices:
            expected = ", ".join(map(repr, choices))
            context.note(
                "unknown-value", place, f"expected one of {expected}, found {shown(value)}"
            )

    return check


def _numbers(length: int | None) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise context.fail(place, f"an array of {length or 'finite'} numbers", value)
        for i, number in enumerate(value):
            if not is_finite_number(number):
                raise context.fail((*place, i), "a finite number", number)

    return check


def _index(kind: str) -> Check:
    """A reference that must hold: what it names shapes the character."""

    def check(value: Any, place: Place, context: Context) -> None:
        count = context.counts[kind]
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise context.fail(place, f"an index into {kind}", value)
        if value >= count:
            raise context.fail(place, f"an index into {kind}, of which there are {count}", value)

    return check


def _carried_index(kind: str) -> Check:
    """A reference among things that are only carried: a broken one is kept and noted."""
    strict = _index(kind)

    def check(value: Any, place: Place, context: Context) -> None:
        try:
            strict(value, place, context)
        except FormatError:
            message = f"refers to {kind} {shown(value)}, but there are {context.counts[kind]}"
            context.note("dangling-reference", place, message)

    return check


def _array(item: Check, *, may_be_empty: bool = True, unique: bool = False) -> Check:
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


def _map(item: Check) -> Check:
    def check(value: Any, place: Place, context: Context) -> None:
        if not isinstance(value, dict):
            raise context.fail(place, "an object", value)
        for key, element in value.items():
            item(element, (*place, key), context)

    return check


def _extensions(known: dict[str, Check]) -> Check:
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


_ANY_EXTENSIONS = _extensions({})


def _object(required: tuple[str, ...] = (), **fields: Check) -> Check:
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


COMPONENT_TYPES = (5120, 5121, 5122, 5123, 5125, 5126)

_offset = _integer(0)
_size = _integer(1)
_texture_info = _object(("index",), index=_carried_index("textures"), texCoord=_integer(0))

_meshopt = _object(
    ("buffer", "byteLength", "byteStride", "count", "mode"),
    buffer=_index("buffers"),
    byteOffset=_offset,
    byteLength=_size,
    byteStride=_integer(1, 256),
    count=_integer(0, MOST_OBJECTS),
    mode=_one_of("ATTRIBUTES", "TRIANGLES", "INDICES"),
    filter=_one_of("NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"),
)
_draco = _object(
    ("bufferView", "attributes"),
    bufferView=_index("bufferViews"),
    attributes=_map(_integer(0)),
)

_accessor = _object(
    ("componentType", "count", "type"),
    bufferView=_index("bufferViews"),
    byteOffset=_offset,
    componentType=_one_of(*COMPONENT_TYPES),
    normalized=_boolean,
    count=_count,
    type=_string,
    max=_numbers(None),
    min=_numbers(None),
    name=_string,
    sparse=_object(
        ("count", "indices", "values"),
        count=_integer(0, MOST_OBJECTS),
        indices=_object(
            ("bufferView", "componentType"),
            bufferView=_index("bufferViews"),
            byteOffset=_offset,
            componentType=_one_of(5121, 5123, 5125),
        ),
        values=_object(
            ("bufferView",),
            bufferView=_index("bufferViews"),
            byteOffset=_offset,
        ),
    ),
)
_animation = _object(
    ("channels", "samplers"),
    channels=_array(
        _object(
            ("sampler", "target"),
            sampler=_integer(0),
            target=_object(("path",), node=_index("nodes"), path=_string),
        )
    ),
    samplers=_array(
        _object(
            ("input", "output"),
            input=_index("accessors"),
            output=_index("accessors"),
            interpolation=_string,
        )
    ),
    name=_string,
)
_primitive = _object(
    ("attributes",),
    attributes=_map(_index("accessors")),
    indices=_index("accessors"),
    material=_index("materials"),
    mode=_integer(0, 6),
    targets=_array(_map(_index("accessors"))),
    extensions=_extensions({"KHR_draco_mesh_compression": _draco}),
)
_node = _object(
    (),
    camera=_carried_index("cameras"),
    children=_array(_index("nodes")),
    matrix=_numbers(16),
    mesh=_index("meshes"),
    name=_string,
    rotation=_numbers(4),
    scale=_numbers(3),
    skin=_index("skins"),
    translation=_numbers(3),
    weights=_numbers(None),
)
_material = _object(
    (),
    name=_string,
    pbrMetallicRoughness=_object(
        (),
        baseColorFactor=_numbers(4),
        baseColorTexture=_texture_info,
        metallicRoughnessTexture=_texture_info,
        metallicFactor=_number,
        roughnessFactor=_number,
    ),
    normalTexture=_texture_info,
    occlusionTexture=_texture_info,
    emissiveTexture=_texture_info,
    emissiveFactor=_numbers(3),
    alphaMode=_preferably("OPAQUE", "MASK", "BLEND"),
    alphaCutoff=_number,
    doubleSided=_boolean,
)
_skin = _object(
    ("joints",),
    inverseBindMatrices=_index("accessors"),
    joints=_array(_index("nodes"), may_be_empty=False, unique=True),
    skeleton=_index("nodes"),
    name=_string,
)

DOCUMENT = _object(
    ("asset",),
    extensionsUsed=_array(_string, unique=True),
    extensionsRequired=_array(_string, unique=True),
    accessors=_array(_accessor),
    animations=_array(_animation),
    asset=_object(
        ("version",), version=_string, minVersion=_string, generator=_string, copyright=_string
    ),
    buffers=_array(_object(("byteLength",), byteLength=_size, uri=_string, name=_string)),
    bufferViews=_array(
        _object(
            ("buffer", "byteLength"),
            buffer=_index("buffers"),
            byteOffset=_offset,
            byteLength=_integer(0),
            byteStride=_integer(1),
            name=_string,
            extensions=_extensions(
                {"EXT_meshopt_compression": _meshopt, "KHR_meshopt_compression": _meshopt}
            ),
        )
    ),
    cameras=_array(_object()),
    images=_array(
        _object((), bufferView=_index("bufferViews"), mimeType=_string, uri=_string, name=_string)
    ),
    materials=_array(_material),
    meshes=_array(
        _object(
            ("primitives",),
            primitives=_array(_primitive, may_be_empty=False),
            weights=_numbers(None),
            name=_string,
        )
    ),
    nodes=_array(_node),
    samplers=_array(_object()),
    scene=_index("scenes"),
    scenes=_array(_object((), nodes=_array(_index("nodes"), unique=True), name=_string)),
    skins=_array(_skin),
    textures=_array(
        _object(
            (),
            sampler=_carried_index("samplers"),
            source=_carried_index("images"),
            name=_string,
        )
    ),
)

KINDS = (
    "accessors",
    "animations",
    "buffers",
    "bufferViews",
    "cameras",
    "images",
    "materials",
    "meshes",
    "nodes",
    "samplers",
    "scenes",
    "skins",
    "textures",
)


def check(tree: dict[str, Any], source: str) -> Context:
    """Walk the document along the table; the context carries what was worth noting."""
    counts = {}
    for kind in KINDS:
        objects = tree.get(kind)
        counts[kind] = len(objects) if isinstance(objects, list) else 0
    context = Context(source, counts)
    DOCUMENT(tree, (), context)
    return context
