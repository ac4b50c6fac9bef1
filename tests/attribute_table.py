"""The writers and readers of each attribute of the IR, found in the source text, and the documentation page about them.

    python -m tests.attribute_table

regenerates docs/contributing/attributes.md. An expression writes an attribute if it stores to the key, or has it as the
key of a dict or as the first element of a pair that a function builds; all other uses read it.
"""

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hls.ir.attributes import ATTRIBUTES, AttributeInfo
from hls.ir.optable import OPS

__all__ = ["PAGE", "Use", "literals", "page", "uses"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/contributing/attributes.md"
PACKAGES = ("hls", "sim")
#: the table itself, and what checks every operation against it
NO_USERS = ("hls/ir/attributes.py", "hls/ir/verifier.py")
#: more readers than these are named by their folders
MOST_NAMED = 6
#: calls whose argument says which attribute the program's own word becomes
FORMS = ("Form", "PragmaForm")

HEAD = """# Attributes of the IR

Passes leave notes for each other as attributes of operations, functions, memories and channels. Their keys are members
of `hls.ir.Attr`, defined in [hls/ir/attributes.py](../../hls/ir/attributes.py) with holders, type and meaning; the
verifier refuses an attribute that the table does not give its holder, or whose value is of another type.

To add one: add a row to `Attr`, use it as `Attr.NAME` where it is written and read, and run
`python -m tests.attribute_table`, which writes this page. A test fails for an attribute that nobody writes or nobody
reads, for a key that is written as a string elsewhere, and for a page that is not up to date.

*Written by*: **program** stands for an attribute or pragma of the source text. The values of `int` may be negative.
"""


@dataclass
class Use:
    """The modules that write and read one attribute, by their dotted names."""

    writers: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)


def uses(root: Path = ROOT) -> Mapping[str, Use]:
    """Use of every member of ``Attr``, by its name."""
    found: dict[str, Use] = defaultdict(Use)
    for file in _files(root):
        name = file.relative_to(root).with_suffix("").as_posix()
        if f"{name}.py" in NO_USERS:
            continue
        module = name.removesuffix("/__init__").removeprefix("hls/").replace("/", ".")
        for key, writes in _places(_tree(file)):
            (found[key].writers if writes else found[key].readers).add(module)
    return found


@functools.cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _files(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((root / package).rglob("*.py"))


def _places(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """(member of Attr, whether it is written there) of each place."""
    written = {id(node) for top in tree.body for node in _written(top)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Attr":
            yield node.attr, id(node) in written


def _written(top: ast.stmt) -> Iterator[ast.expr]:
    """The expressions in a statement of a module that are keys of what is written."""
    inside = isinstance(top, (ast.FunctionDef, ast.ClassDef))  # a dict of the module tells about attributes
    for node in ast.walk(top):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.slice
        elif isinstance(node, ast.Dict) and inside:
            yield from filter(None, node.keys)
        elif isinstance(node, ast.Tuple) and inside and len(node.elts) == 2:
            yield node.elts[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
            yield node.args[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORMS:
            yield from (*node.args, *(one.value for one in node.keywords))


def literals(root: Path = ROOT) -> Iterator[str]:
    """Places where the key of an attribute is a string instead of a member of ``Attr``."""
    for file in _files(root):
        for node in ast.walk(_tree(file)):
            for key in _keys(node):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield f"{file.relative_to(root)}:{key.lineno}: {key.value!r}"


def _keys(node: ast.AST) -> Iterator[ast.expr]:
    """The keys of attributes that the node has."""
    if isinstance(node, ast.Subscript) and _is_attrs(node.value):
        yield node.slice
    elif isinstance(node, ast.Call):
        yield from _argument_keys(node)
    elif isinstance(node, ast.Compare) and any(map(_is_attrs, node.comparators)):
        yield node.left
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(map(_is_attrs, targets)):
            yield from _dict_keys(node.value)


def _argument_keys(call: ast.Call) -> Iterator[ast.expr]:
    function = call.func
    if isinstance(function, ast.Attribute):
        on_attrs = _is_attrs(function.value) and function.attr in ("get", "pop", "setdefault")
        if on_attrs or function.attr == "asked_at":
            yield call.args[0]
    elif isinstance(function, ast.Name) and function.id == "Signal":
        return  # the attributes of a signal are those of Verilog
    for argument in call.keywords:
        if argument.arg == "attrs":
            yield from _dict_keys(argument.value)


def _dict_keys(value: ast.expr) -> Iterator[ast.expr]:
    """The keys of a dict that is written out, also as a part of a union or under a condition."""
    if isinstance(value, ast.Dict):
        yield from filter(None, value.keys)
    elif isinstance(value, ast.BinOp):
        yield from (*_dict_keys(value.left), *_dict_keys(value.right))
    elif isinstance(value, ast.IfExp):
        yield from (*_dict_keys(value.body), *_dict_keys(value.orelse))


def _is_attrs(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and node.args:
        return _is_attrs(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr == "attrs" or isinstance(node, ast.Name) and node.id == "attrs"


def page() -> str:
    """The page with the table."""
    found = uses()
    rows = sorted(ATTRIBUTES.items())
    lines = ["| `Attr` | Key | Held by | Type | Meaning | Written by | Read by |", "| --- " * 7 + "|"]
    for name, row in rows:
        use = found[name]
        writers = (["**program**"] if row.asked else []) + _named(use.writers)
        cells = [f"`{name}`", f"`{row.key}`", _holders(row), f"`{row.type.text}`", row.meaning]
        cells += [", ".join(writers), ", ".join(_named(use.readers))]
        lines.append("| " + " | ".join(cells) + " |")
    return f"{HEAD}\n" + "\n".join(lines) + "\n"


def _holders(row: AttributeInfo) -> str:
    order = {opcode: k for k, opcode in enumerate(OPS)}
    return ", ".join(
        f"`{one}`" if one in OPS else one for one in sorted(row.holders, key=lambda h: (order.get(h, -1), h))
    )


def _named(modules: set[str]) -> list[str]:
    """Modules by name, or the folders of many."""
    if len(modules) > MOST_NAMED:
        return sorted({f"{module.partition('.')[0]}.*" for module in modules})
    return sorted(modules)


if __name__ == "__main__":
    PAGE.write_text(page())
