"""Which packages may import which. A violation is reported with file and line."""

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("hls", "rtl_lib", "sim", "boards")

#: The parts of the compiler, lowest first. A part may import what stands in an earlier row, never its own row.
ORDER = (
    {
        "dependency_file",
        "diag",
        "limits",
        "mathlib",
        "narrow",
        "predefined",
        "recursion",
        "sentence",
        "signals",
        "toml_text",
        "version",
    },
    {"differences", "records"},
    {"design", "rtl_package", "rtl_xml"},
    {"rtl_library"},
    {"design_patch", "target", "options", "planning.banking", "prefix", "time_limit", "verilog"},
    {"ir", "project"},
    {"analysis", "frontend"},
    {"passes", "emulate"},
    {"planning.memory"},
    {"planning.schedule"},
    {"profile"},
    {"rtl", "model"},
    {"planning"},
    {"report"},
    {"assumed_sizes", "rtl_functions", "rtl_pack"},
    {"printed"},
    {"driver", "export"},
    {"output_files"},
    {"editor", "output", "opt", "tune"},
    {"cli_host_source"},
    {"cli_files", "cli_inspection", "cli_lazy", "cli_messages", "cli_numbers", "cli_workloads"},
    {"cli_project"},
    {"cli_options"},
    {
        "cli_board",
        "cli_boards",
        "cli_build",
        "cli_check",
        "cli_diff",
        "cli_library",
        "cli_explain",
        "cli_export",
        "cli_init",
        "cli_lint",
        "cli_lsp",
        "cli_model",
        "cli_opt",
        "cli_profile",
        "cli_run",
        "cli_synth",
        "cli_tune",
        "cli_watch",
    },
    {"cli"},
)
RANK = {part: rank for rank, parts in enumerate(ORDER) for part in parts}

#: Parts that may import less than their row allows.
NARROWER = {
    "frontend": {"diag", "ir", "limits", "mathlib", "narrow", "predefined", "recursion"},
    "emulate": {"diag", "ir", "narrow", "recursion"},
    "profile": {"diag", "narrow", "records"},
}

#: Only these turn source text into IR, or (editor) read the tables of its words, or (rtl_pack) ask what a text includes;
#: all others start from the IR.
READS_FRONTEND = {"driver", "editor", "cli_files", "cli", "rtl_pack"}

#: Which top-level packages of ours each one may import, besides itself. Parts of the hardware know nothing of kernels;
#: the board files are data.
BETWEEN = {"hls": {"rtl_lib"}, "rtl_lib": set(), "sim": {"hls", "rtl_lib"}, "boards": set()}

#: Parts of the compiler that may look into rtl_lib: for a part's timing, its cost, or to build it.
READS_RTL_LIB = {"planning.banking", "planning.memory", "planning.schedule", "model", "rtl"}

#: Modules of rtl_lib that know nothing of hardware: any part of the compiler may import them.
WITHOUT_HARDWARE = {"rtl_lib.user_cache"}

#: Folders that have parts of their own; what lies beside these (``hls/planning/iterate.py``) is a part, too.
NESTED = {"hls.planning"}

#: Where a library may be used; everything not named here is free.
LIBRARIES = {
    "pycparser": {"hls.frontend"},
    "pcpp": {"hls.frontend"},
    "networkx": {"hls.analysis", "hls.model", "hls.planning.memory", "hls.planning.schedule"},
    "amaranth": {"hls.rtl", "rtl_lib", "sim"},
    "cocotb": {"sim"},
    "pygments": {"hls.report"},
    "optuna": {"hls.tune"},
    "pygls": {"hls.editor"},
    "lsprotocol": {"hls.editor"},
}


@dataclass(frozen=True)
class Import:
    """``module`` is imported at ``file``:``line`` by the part ``user`` ("hls.rtl", "hls.cli", "rtl_lib", "sim")."""

    user: str
    module: str
    file: Path
    line: int


#: functions that import the module that their first argument names
IMPORTERS = ("__import__", "import_module", "importlib.import_module")


def part_of(module: str) -> str:
    """The part a dotted name lies in: two words inside hls, or three, one elsewhere. ``hls`` itself is its public face."""
    words = module.split(".")
    if ".".join(words[:2]) in NESTED and ".".join(words[1:3]) in RANK:
        return ".".join(words[:3])
    return ".".join(words[:2]) if words[0] == "hls" else words[0]


@functools.cache
def imports(root: Path) -> tuple[Import, ...]:
    """Every import of every module of ours, also those inside functions and through importlib."""
    return tuple(_imports(root))


def _imports(root: Path) -> Iterator[Import]:
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            names = list(file.relative_to(root).with_suffix("").parts)
            user = part_of(".".join(names[:-1] if names[-1] == "__init__" else names))
            for node in ast.walk(ast.parse(file.read_text(), file)):
                for module in _modules(node, names[:-1], root):
                    yield Import(user, module, file.relative_to(root), node.lineno)


def _modules(node, package: list[str], root: Path) -> list[str]:
    """The full names of the modules that ``node``, found in ``package``, imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        # `from hls import ir` imports the part hls.ir, `from hls import compile` does not
        inner = [f"{base}.{alias.name}" for alias in node.names]
        return [name if _exists(root, name) else base for name in inner]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        last = getattr(
            node.func, "attr", getattr(node.func, "id", "")
        )  # to unparse all calls takes a third of the time
        if last in ("__import__", "import_module") and ast.unparse(node.func) in IMPORTERS:
            return [str(node.args[0].value)]
    return []


def _exists(root: Path, module: str) -> bool:
    path = root.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def breach(use: Import) -> str | None:
    """Why the import is not allowed, or None."""
    target, top, user = part_of(use.module), use.module.split(".")[0], use.user.split(".")[0]
    if top not in PACKAGES:
        return _of_a_library(use, top)
    if top != user:
        return _between(use, user, top)
    if target == use.user or use.user == "hls":
        return None
    return _inside_hls(use.user.partition(".")[2], target.partition(".")[2])


def _of_a_library(use: Import, library: str) -> str | None:
    if library in LIBRARIES and use.user not in LIBRARIES[library]:
        return f"{library} may be imported only by {', '.join(sorted(LIBRARIES[library]))}"
    if use.user == "rtl_lib" and library != "amaranth" and library not in sys.stdlib_module_names:
        return "rtl_lib may import nothing but amaranth"
    return None


def _between(use: Import, user: str, top: str) -> str | None:
    if top not in BETWEEN[user]:
        return f"{user} may not import {top}"
    if user == "hls" and use.user.partition(".")[2] not in READS_RTL_LIB and use.module not in WITHOUT_HARDWARE:
        return f"inside hls only {', '.join(sorted(READS_RTL_LIB))} may import rtl_lib"
    return None


def _inside_hls(user: str, target: str) -> str | None:
    if not target:
        return "parts of hls may not import its public face"
    for part in (user, target):
        if part not in RANK:
            return f"hls.{part} has no place in the order of layers"
    below = {part for part, rank in RANK.items() if rank < RANK[user]}
    if user not in READS_FRONTEND:
        below.discard("frontend")
    return None if target in NARROWER.get(user, below) else f"hls.{user} may not import hls.{target}"


def test_layers():
    found = [(use, breach(use)) for use in imports(ROOT)]
    assert len(found) > 10, "no imports found: is the tree where this test looks for it?"
    breaches = [f"{use.file}:{use.line}: {why} (imports {use.module})" for use, why in found if why]
    assert not breaches, "\n" + "\n".join(breaches)


BREACHES = {
    "hls/ir/a.py": "from ..analysis import loops",
    "hls/passes/a.py": "import hls.planning.schedule.problem",
    "hls/rtl/a.py": "from hls.model import area",
    "hls/model/a.py": "from ..rtl import part",
    "hls/frontend/a.py": "from ..analysis import loops",
    "hls/analysis/a.py": "from ..frontend import parse",
    "hls/driver.py": "import sim.cl",
    "hls/cli.py": "import importlib\nimportlib.import_module('sim.session')",
    "hls/__init__.py": "from sim import cl",
    "hls/report/a.py": "from rtl_lib import contract",
    "hls/planning/memory/a.py": "import amaranth.hdl",
    "hls/passes/b.py": "def f():\n    import networkx as nx",
    "hls/rtl/b.py": "from networkx import DiGraph",
    "hls/diag/a.py": "from .. import compile",
    "hls/rtl/c.py": "from pycparser import c_ast",
    "hls/driver/a.py": "import cocotb",
    "hls/newcomer/a.py": "from ..ir import nodes",
    "rtl_lib/a.py": "from hls.ir import types",
    "rtl_lib/b.py": "import numpy",
    "sim/a.py": "import boards",
    "boards/a.py": "import hls",
}

ALLOWED = {
    "hls/passes/a.py": "from ..ir import nodes\nfrom ..analysis import loops\nimport re, scipy\nfrom . import b",
    "hls/passes/b.py": "from hls.diag import Span",
    "hls/planning/schedule/a.py": "import networkx as nx\nfrom rtl_lib.contract import Timing",
    "hls/frontend/a.py": "from pycparser import c_ast\nfrom ..ir.types import I32",
    "hls/rtl/a.py": "from amaranth import *\nfrom ..planning.schedule import plan\nfrom ..profile import layout\nimport "
    "rtl_lib.stream",
    "hls/__init__.py": "from .driver import compile\nfrom hls.ir import nodes",
    "hls/cli.py": "from . import driver\nfrom .frontend import parse",
    "rtl_lib/a.py": "from amaranth.lib import data\nimport math\nfrom .contract import Timing\nfrom rtl_lib.mem "
    "import fifo",
    "sim/a.py": "import cocotb\nimport hls\nfrom hls.profile import text\nimport amaranth",
}


def _tree(root: Path, files: dict[str, str]):
    for name in {
        *BREACHES,
        *ALLOWED,
        *files,
        "hls/ir/nodes.py",
        "hls/planning/schedule/plan.py",
        "hls/analysis/loops/loop_tree.py",
    }:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n" + files[name] if name in files else "")


@pytest.mark.parametrize("file", BREACHES)
def test_a_breach_is_found_with_its_place(file, tmp_path):
    _tree(tmp_path, {file: BREACHES[file]})
    (bad,) = [use for use in imports(tmp_path) if breach(use)]
    lines = BREACHES[file].splitlines()
    assert (str(bad.file), bad.line) == (file, 1 + len(lines))


def test_what_is_allowed_is_not_reported(tmp_path):
    _tree(tmp_path, ALLOWED)
    assert [breach(use) for use in imports(tmp_path)] == [None] * len(list(imports(tmp_path)))
    assert {use.module for use in imports(tmp_path)} >= {
        "hls.passes.b",
        "hls.driver",
        "rtl_lib.mem",
        "hls.planning.schedule.plan",
    }
