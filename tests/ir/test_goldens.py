"""Golden files of single passes and analyses: IR in, IR or a result out (docs/contributing/testing.md).

``pytest tests/ir --refresh`` writes the current output of a pass into its files, unless it computes something else than
the input: that is a fault of the pass, and no golden file.
"""

import dataclasses
import difflib
from enum import Enum

import pytest

from hls.ir.parser import parse_module
from hls.opt import known_passes
from hls.recursion import deep_recursion
from tests.ir.case import ANALYSES, PACKAGE, ROOT, Case, answered, board, cases_of, read_case, transformed
from tests.ir.printers import PRINTERS

PASSES = known_passes(board())
#: (pass, what one of its options may be), of options that choose between ways in which a pass works
CHOICES = [
    (name, f"{field.name}={choice.value}")
    for name, one in PASSES.items()
    for field in dataclasses.fields(one)
    if isinstance(getattr(one, field.name), Enum)
    for choice in type(getattr(one, field.name))
]
MODULES = {path.stem for path in PACKAGE.glob("*/*.py")} - {"__init__"}
FOLDERS = sorted(path for path in ROOT.iterdir() if path.is_dir() and path not in (ANALYSES, ROOT / "__pycache__"))
ANSWERS = sorted(path for path in ANALYSES.iterdir() if path.is_dir())
CASES = [path for folder in (*FOLDERS, *ANSWERS) for path in cases_of(folder)]
#: the fewest cases: one in which a pass fires, one in which it must not
LEAST = 2


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(path, request):
    case = read_case(path)
    assert case.shown, f"{path}: the first line says what is shown"
    with deep_recursion():
        found, wrong = answered(case) if case.is_analysis else transformed(case)
    assert wrong is None, f"{path}: {case.subject} is contradicted by a run: {wrong}"
    if request.config.getoption("--refresh"):
        case.write(found)
    else:
        assert found == case.expected, _unlike(case, found)


def _unlike(case: Case, found: str) -> str:
    before = (case.expected or "").splitlines()
    lines = difflib.unified_diff(before, found.splitlines(), "golden", "found", lineterm="", n=2)
    return f"{case.path}: read the change; pytest tests/ir --refresh takes it over\n" + "\n".join(lines)


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_fires(name):
    """A pass of the pipeline that changes nothing in any of its files may have stopped to fire altogether."""
    cases = [read_case(path) for path in cases_of(ROOT / name)]
    assert len(cases) >= LEAST, f"tests/ir/{name} needs at least {LEAST} cases (python -m tests.ir.new)"
    assert any(case.expected not in (None, "unchanged") for case in cases), f"{name} changes nothing in tests/ir/{name}"


@pytest.mark.parametrize("name, choice", CHOICES)
def test_every_choice_fires(name, choice):
    """So may one of the ways in which it works."""
    cases = [read_case(path) for path in cases_of(ROOT / name)]
    chosen = [case for case in cases if f"{name}{{{choice}}}" in case.options.get("passes", "")]
    assert len(chosen) >= LEAST, f"tests/ir/{name} needs at least {LEAST} cases with '; passes: {name}{{{choice}}}'"
    assert any(case.expected not in (None, "unchanged") for case in chosen), f"{name} with {choice} changes nothing"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_analysis_answers(name):
    assert name in PRINTERS, f"tests/ir/printers.py shows no answer of hls/analysis/*/{name}.py"
    cases = [read_case(path) for path in cases_of(ANALYSES / name)]
    assert len(cases) >= LEAST, f"tests/ir/analysis/{name} needs at least {LEAST} cases"
    assert any(case.expected not in (None, "nothing") for case in cases), f"{name} answers nothing"
    assert len({case.expected for case in cases}) > 1, f"{name} has one answer for all of its cases"


def test_no_folder_is_left_over():
    """A folder of a pass that was renamed or removed would never be run against anything."""
    assert {path.name for path in FOLDERS} <= set(PASSES)
    assert {path.name for path in ANSWERS} <= MODULES and set(PRINTERS) <= MODULES


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_a_pass_leaves_can_be_read(path):
    """An expected text is IR again, so that the next pass can start from it."""
    case = read_case(path)
    text = case.expected or ""
    if not case.is_analysis and "kernel @" in text:
        begin = min(k for k in (text.find("kernel @"), text.find("memory "), text.find("helper @")) if k >= 0)
        parse_module(text[begin:])
