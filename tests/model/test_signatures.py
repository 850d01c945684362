"""What type checkers are told of constructors is what the data classes have."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import bunraku.model

MODULES = [
    import_module(f"bunraku.model.{path.stem}")
    for path in sorted(Path(bunraku.model.__file__).parent.glob("*.py"))
    if path.stem != "__init__"
]
# A float64 (N, 3) is made of any numbers, and a tuple of anything that can be walked.
TAKEN = {
    "Float32": "npt.ArrayLike",
    "Float64": "npt.ArrayLike",
    "Int32": "npt.ArrayLike",
    "Bool": "npt.ArrayLike",
}


def classes(module: ModuleType) -> list[type]:
    own = [each for each in vars(module).values() if is_dataclass(each)]
    return [each for each in own if each.__module__ == module.__name__]


def declared(module: ModuleType) -> dict[str, ast.arguments]:
    """The constructors that are written out for type checkers, by class."""
    tree = ast.parse(inspect.getsource(module))
    return {
        outer.name: method.args
        for outer in tree.body
        if isinstance(outer, ast.ClassDef)
        for block in outer.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for method in block.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    }


def taken(annotation: str, default: object) -> str:
    """What a constructor takes for a field that is declared so."""
    for kept, given in TAKEN.items():
        annotation = annotation.replace(kept, given)
    annotation = annotation.replace("npt.NDArray[np.bool_]", "npt.ArrayLike")
    if annotation.startswith("tuple[") and annotation.endswith(", ...]"):
        annotation = f"Iterable[{annotation[6:-6]}]"
    if default is None and not annotation.endswith(" | None"):
        annotation += " | None"
    return annotation


CASES = [(module, made) for module in MODULES for made in classes(module)]


@pytest.mark.parametrize(("module", "made"), CASES, ids=[f"{made.__name__}" for _, made in CASES])
def test_constructors_take_what_their_fields_are_made_of(module: ModuleType, made: type) -> None:
    parameters = list(inspect.signature(made).parameters.values())
    kinds = {field.name: str(field.type) for field in fields(made)}
    wanted = [(each.name, taken(kinds[each.name], each.default)) for each in parameters]
    arguments = declared(module).get(made.__name__)
    if arguments is None:  # the generated one is right
        assert [kind for _, kind in wanted] == [kinds[name] for name, _ in wanted]
        return
    written = arguments.args[1:]
    assert [(each.arg, ast.unparse(each.annotation)) for each in written] == wanted
    defaults = [each.default for each in parameters if each.default is not inspect.Parameter.empty]
    assert [ast.literal_eval(each) for each in arguments.defaults] == defaults
