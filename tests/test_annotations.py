"""Every public function, and the constructor of every public class, has types for all its parameters and its result.

mypy (pyproject.toml) checks that the types are true; modules whose private functions have none yet are listed there.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("hls", "rtl_lib", "sim", "boards")


def public(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The public functions of a module or class, and constructors; not what is inside of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name == "__init__" or not child.name.startswith("_"):
                yield child
        elif not isinstance(child, ast.ClassDef) or not child.name.startswith("_"):
            yield from public(child)


def missing(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The parameters without a type, and "result"; a constructor's result is known."""
    given = function.args
    rest = [one for one in (given.vararg, given.kwarg) if one is not None]
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]
    found = [one.arg for one in every if one.annotation is None and one.arg not in ("self", "cls")]
    return found + ["result"] * (function.returns is None and function.name != "__init__")


def incomplete(text: str) -> list[str]:
    return [f"line {f.lineno}: {f.name}: {', '.join(left)}" for f in public(ast.parse(text)) if (left := missing(f))]


def test_public_functions_are_annotated():
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(files) > 500, "no modules found: are the packages where this test looks for them?"
    found = {path.relative_to(ROOT).as_posix(): incomplete(path.read_text(encoding="utf-8")) for path in files}
    bare = [f"{file}: {one}" for file, each in found.items() for one in each]
    assert not bare, "without types:\n" + "\n".join(bare)


def test_what_is_looked_at():
    text = """
def whole(a: int, *b: int, **c: int) -> None:
    def inside(x): ...
def _private(x): ...
def bare(a, *b, c): ...
class Shown:
    def __init__(self, a): ...
    @property
    def value(self): ...
    def __eq__(self, other): ...
class _Hidden:
    def method(self): ...
if whole:
    async def later(a: int): ...
"""
    assert incomplete(text) == [
        "line 5: bare: a, c, b, result",
        "line 7: __init__: a",
        "line 9: value: result",
        "line 14: later: result",
    ]
