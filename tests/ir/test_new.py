"""The tool that makes golden files of kernels."""

import pytest

from tests.ir import new
from tests.ir.case import read_case

KERNEL = """__kernel void k(__global int *o, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += i;
    o[0] = s;
}
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(new, "ROOT", tmp_path)
    return tmp_path


def test_a_file_has_the_kernel_the_input_and_what_the_pass_leaves(root):
    case = read_case(new.make(new.Request("mem2reg/loop", KERNEL, "Shown.", run="n=0..9")))
    assert case.path == root / "mem2reg" / "loop.ir" and case.header.startswith("; Shown.\n;   __kernel void k(")
    assert case.options == {"run": "n=0..9"} and "memory s: private" in case.source
    assert "memory s" not in case.expected and "@" not in case.source.replace("@k", "")


def test_a_pass_that_changes_results_leaves_no_expected_part(root, monkeypatch):
    monkeypatch.setattr(new, "transformed", lambda case: ("kernel ...", "run 0 gives another result"))
    with pytest.raises(ValueError, match="another result"):
        new.make(new.Request("mem2reg/loop", KERNEL, "Shown."))
    assert read_case(root / "mem2reg" / "loop.ir").expected is None


def test_a_pass_that_there_is_not(root):
    with pytest.raises(ValueError, match="there is no pass mem3reg"):
        new.make(new.Request("mem3reg/loop", KERNEL, "Shown."))
