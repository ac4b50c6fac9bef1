"""The check of golden files: the output of a pass that changes the meaning cannot be recorded."""

import pytest

from hls.ir.parser import parse_module
from hls.passes.loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from tests.ir.case import ROOT, read_case, transformed
from tests.ir.meaning import Plan, difference

KERNEL = """kernel @k(%n: i32) {
  param n: scalar "int" 4
  memory o: global i32 x ?
  %true: i1 = const {value = 1}
  %first: i64 = const {value = 0}
  %x: i32 = OP %n, %n
  %p: ptr = addr %first {mem = "o"}
  store %p, %x, %true
  return
}
"""


def kernel(op: str) -> str:
    return KERNEL.replace("OP", op)


def test_another_result_is_found():
    same, other = (parse_module(kernel(op)) for op in ("add", "mul"))
    assert difference(same, parse_module(kernel("add")), "") is None
    assert "k o = " in difference(same, other, "n=3..9")


def test_runs_that_differ_nowhere_say_nothing_of_what_they_do_not_reach():
    same, other = (parse_module(kernel(op)) for op in ("add", "mul"))
    assert difference(same, other, "n=2") is None  # a range of one number hides the difference: choose wide ones


def test_input_that_no_run_goes_through_is_no_golden():
    text = kernel("add").replace("{value = 0}", "{value = 4000}")
    assert "only 0 of 8 runs" in difference(parse_module(text), parse_module(text), "")


@pytest.mark.parametrize("text", ["n", "n=x", "length(o)", "n=1..", "floats=some"])
def test_a_plan_that_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError):
        Plan.of(text)


def test_a_pass_that_stops_firing_is_found(monkeypatch):
    case = read_case(ROOT / "loop-invariant-code-motion" / "product.ir")
    assert transformed(case) == (case.expected, None)
    monkeypatch.setattr(LoopInvariantCodeMotion, "run", lambda self, function: function)
    assert transformed(case) == ("unchanged", None) != (case.expected, None)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "dead-code-elimination" / "case.ir"
    path.parent.mkdir()
    path.write_text("; Shown.\n; run: n=1..5\n" + kernel("add"))
    case = read_case(path)
    assert case.expected is None and case.shown == "Shown." and case.options == {"run": "n=1..5"}
    result, wrong = transformed(case)
    assert wrong is None
    case.write(result)
    assert read_case(path).expected == result and read_case(path).source == kernel("add")
