"""`sluice check`: what compile says, without Verilog."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hls.cli import main

ROOT = Path(__file__).parents[2]
TEXT = """\
__kernel void total(__global const float *restrict a, __global float *restrict out, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    out[0] = s;
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cl").write_text(TEXT)
    return tmp_path


def sluice(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_a_line_for_each_kernel_and_the_warnings(folder):
    told = sluice("check", "k.cl")
    assert told.exit_code == 0
    assert told.stdout == "kernel total: 1 loop, pipelined; slowest: i (line 4) II 6\n"
    assert "k.cl:4:5: warning[W0706]: loop i starts an iteration every 6 cycles" in told.stderr
    assert sorted(one.name for one in folder.iterdir()) == ["k.cl"], "nothing is written"
    assert sluice("check", "k.cl", "--fail-on-warning").exit_code == 1
    assert sluice("check", "k.cl", "-fp-relaxed", "--fail-on-warning").exit_code == 0


def test_a_late_exit_condition_is_told_by_what_it_waits_for(folder):
    (folder / "k.cl").write_text(
        "channel int c;\n__kernel void feed(int n) { for (int i = 0; i <= n; i++) write_channel_intel(c, n - i); }\n"
        "__kernel void drain(__global int *restrict out)\n{\n    int sum = 0;\n    while (true) {\n"
        "        int v = read_channel_intel(c);\n        if (v == 0)\n            break;\n        sum += v;\n    }\n"
        "    *out = sum;\n}\n"
    )
    told = " ".join(sluice("check", "k.cl").stderr.split())
    assert "late exit condition" in told and "send the number of values first" in told
    assert "depends on the read of channel c" in told and "compute the bound before the loop" not in told


def test_advice_is_that_of_a_compilation(folder):
    assert "shift 7 partial sums" not in sluice("check", "k.cl").stderr
    assert "shift 7 partial sums" in sluice("check", "k.cl", "--advice").stderr


def test_budgets_as_of_a_compilation(folder):
    (folder / "k.cl").write_text(TEXT.replace("    for", "    #pragma unroll 16\n    for"))
    told = sluice("check", "k.cl", "--limit", "unrolled=9")
    assert told.exit_code == 1 and "--limit unrolled=N allows more" in told.stderr
    assert sluice("check", "k.cl", "--limit", "unrolled=900").exit_code == 0


def test_errors_have_their_place(folder):
    (folder / "k.cl").write_text(TEXT.replace("a[i]", "b[i]"))
    told = sluice("check", "k.cl")
    assert told.exit_code == 1 and "k.cl:5:14: error[" in told.stderr
    data = json.loads(sluice("check", "k.cl", "--json").stdout)
    assert data[0]["severity"] == "error"


@pytest.mark.parametrize("example", ["vecadd", "matmul", "smoother", "groups"])
def test_figures_are_those_of_report_json(folder, example):
    source = str(ROOT / "examples" / example / "kernel.cl")
    checked = json.loads(sluice("check", source, "--json", "--advice").stdout)
    assert sluice("compile", source, "-o", "out", "--no-html").exit_code == 0
    report = json.loads((folder / "out/report.json").read_text())
    assert [one["name"] for one in checked["kernels"]] == [one["name"] for one in report["kernels"]]
    for ours, theirs in zip(checked["kernels"], report["kernels"], strict=True):
        for part in ("loops", "accesses", "memories", "variables", "schedule"):
            assert ours[part] == theirs[part], part
        assert theirs["verdict"].startswith(ours["verdict"])
