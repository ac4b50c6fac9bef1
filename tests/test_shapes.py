"""Code structure that readability depends on.

Records are built by name, modules do not import each other in a circle, public functions are annotated.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx

from tests.test_layers import imports

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("hls/ir", "hls/planning", "hls/rtl")
#: where every public function says of what types its arguments and its result are
ANNOTATED = ("hls/ir", "hls/planning")
#: values given to a record by position at most
MOST_POSITIONS = 6


def positional(folder: Path) -> Iterator[str]:
    """Places where a class of ours is called with more values by position than a reader can follow."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONS and _is_class(node.func):
                yield f"{file.name}:{node.lineno}: {ast.unparse(node.func)} by {len(node.args)} positions"


def _is_class(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id.lstrip("_")[:1].isupper()


def test_records_are_built_by_name():
    assert [place for folder in FOLDERS for place in positional(ROOT / folder)] == []


def test_positions_are_counted(tmp_path):
    (tmp_path / "one.py").write_text(
        "Plan(1, 2, 3, 4, 5, 6)\n_Plan(1, 2, 3, 4, 5, 6, 7)\nplan(1, 2, 3, 4, 5, 6, 7, 8)\n"
    )
    assert list(positional(tmp_path)) == ["one.py:2: _Plan by 7 positions"]


def circles(root: Path, packages: tuple[str, ...]) -> list[list[str]]:
    """Modules that import each other, also for types only or late."""
    graph = networkx.DiGraph()
    for use in imports(root):
        user = ".".join(use.file.with_suffix("").parts).removesuffix(".__init__")
        if use.module != user and use.file.parts[0] in packages:
            graph.add_edge(user, use.module)
    return [sorted(found) for found in networkx.strongly_connected_components(graph) if len(found) > 1]


def test_no_modules_import_each_other():
    assert circles(ROOT, ("hls", "rtl_lib", "boards")) == []


def test_circles_are_found(tmp_path):
    for name, text in {"a": "from .b import x", "b": "def f():\n    from . import c", "c": "import hls.a"}.items():
        (tmp_path / "hls").mkdir(exist_ok=True)
        (tmp_path / "hls" / f"{name}.py").write_text(text)
    assert circles(tmp_path, ("hls",)) == [["hls.a", "hls.b", "hls.c"]]


def unannotated(folder: Path) -> Iterator[str]:
    """Public functions, and methods of public classes, of which some argument or the result has no type."""
    for file in sorted(folder.rglob("*.py")):
        for function in _public(ast.parse(file.read_text()).body):
            arguments = function.args
            named = [a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if a.arg not in _OWN]
            result = function.returns is not None or function.name == "__init__"
            if not result or any(a.annotation is None for a in named):
                yield f"{file.name}:{function.lineno}: {function.name}"


_OWN = ("self", "cls")


def _public(body: list[ast.stmt], inside: bool = False) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node.body, True)
        elif isinstance(node, ast.FunctionDef) and (
            not node.name.startswith("_") or inside and node.name == "__init__"
        ):
            yield node


def test_public_functions_are_annotated():
    assert [place for folder in ANNOTATED for place in unannotated(ROOT / folder)] == []


def test_what_is_not_annotated_is_found(tmp_path):
    (tmp_path / "one.py").write_text(
        "def a(x: int) -> int: ...\ndef b(x) -> int: ...\ndef c(): ...\ndef _d(x): ...\n"
        "class E:\n    def __init__(self, x): ...\n    def f(self) -> None: ...\n"
    )
    assert [place.split()[-1] for place in unannotated(tmp_path)] == ["b", "c", "__init__"]
