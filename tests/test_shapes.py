"""Code structure that readability depends on: records are built by name, and modules do not import each other in a
circle."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import networkx

from tests.test_layers import imports

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("hls/ir", "hls/planning", "hls/rtl")
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
    """Modules that import each other, also late. Imports under ``if TYPE_CHECKING:`` are none: what a kernel's hardware
    is made of is told the kernel's context, and may say so in its types."""
    graph = networkx.DiGraph()
    for use in imports(root):
        user = ".".join(use.file.with_suffix("").parts).removesuffix(".__init__")
        if use.module != user and use.file.parts[0] in packages and use.line not in for_types(root / use.file):
            graph.add_edge(user, use.module)
    return [sorted(found) for found in networkx.strongly_connected_components(graph) if len(found) > 1]


@functools.cache
def for_types(file: Path) -> frozenset[int]:
    """The lines of imports that only a type checker reads."""
    blocks = (
        node
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )
    return frozenset(inner.lineno for block in blocks for inner in ast.walk(block) if isinstance(inner, ast.stmt))


def test_no_modules_import_each_other():
    assert circles(ROOT, ("hls", "rtl_lib", "boards")) == []


def test_circles_are_found(tmp_path):
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import T\n"
    texts = {
        "a": "from .b import x\nfrom .d import y",
        "b": "def f():\n    from . import c",
        "c": "import hls.a",
        "d": typed,
    }
    for name, text in texts.items():
        (tmp_path / "hls").mkdir(exist_ok=True)
        (tmp_path / "hls" / f"{name}.py").write_text(text)
    assert circles(tmp_path, ("hls",)) == [["hls.a", "hls.b", "hls.c"]]
