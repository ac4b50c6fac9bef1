"""`sluice compile` end to end: options reach the compiler, results are complete, and are replaced as a whole."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import hls.output
from hls.cli import main
from sim.toolchain import find_tools

SOURCE = """
#include "width.h"
__kernel void sum(__global const int *restrict a, __global int *restrict b, int n)
{
    int total = BASE;
    #pragma unroll UNROLL
    for (int i = 0; i < n; i++)
        total += a[i];
    b[0] = total;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_DEBUG", "1")
    monkeypatch.delenv("SLUICE_BOARD", raising=False)
    Path("sum.cl").write_text(SOURCE)
    Path("inc").mkdir()
    Path("inc/width.h").write_text("#define BASE 3\n")


def compiled(*arguments):
    result = CliRunner().invoke(
        main, ["compile", "sum.cl", "-I", "inc", *arguments], prog_name="sluice", catch_exceptions=False
    )
    assert result.exit_code == 0, result.stderr
    return result


def test_page_can_be_left_out():
    compiled("-DUNROLL=2")
    assert Path("sum/report.html").read_text().startswith("<!DOCTYPE html>")
    compiled("-DUNROLL=2", "--no-html")
    assert sorted(path.name for path in Path("sum").iterdir()) == ["interface.json", "report.json", "report.txt", "rtl"]


def test_results_and_their_names():
    result = compiled("-DUNROLL=2", "-fp-relaxed", "-fpc")
    assert re.fullmatch(r"kernel sum: 1 loop, pipelined; .*\d+ ALMs", result.stdout.splitlines()[0])
    assert sorted(path.name for path in Path("sum").iterdir()) == [
        "interface.json",
        "report.html",
        "report.json",
        "report.txt",
        "rtl",
    ]
    interface = json.loads(Path("sum/interface.json").read_text())
    assert f"module {interface['top']}(" in Path(f"sum/rtl/{interface['top']}.v").read_text()
    report = json.loads(Path("sum/report.json").read_text())
    (loop,) = report["kernels"][0]["loops"]
    assert loop["unroll"] == {"factor": 2, "full": False, "reason": "pragma"}
    assert "Loop i (line 7)" in Path("sum/report.txt").read_text()


@pytest.mark.verilator
def test_a_lint_has_nothing_to_say():
    """As docs/integration.md says it: of generated files there is no warning, and of a file beside them there still
    is."""
    compiled("-DUNROLL=4")
    tools, mine = find_tools(), Path("mine.v")
    mine.write_text("module mine(input a, output [1:0] b); assign b = a; endmodule\n")
    files = ["sum/rtl/lint.vlt", *map(str, sorted(Path("sum/rtl").glob("*.v"))), str(mine)]
    command = [str(tools.verilator), "--lint-only", "-Wall", "--top-module"]
    environment = os.environ | {"VERILATOR_ROOT": str(tools.verilator_root)}
    quiet, told = (
        subprocess.run([*command, top, *files], env=environment, capture_output=True, text=True, check=False).stderr
        for top in ("sluice_system", "mine")
    )
    assert "rtl/" not in quiet and "%Error" not in quiet, quiet
    assert "%Warning-WIDTHEXPAND: mine.v:1" in told and "rtl/" not in told, told


def test_json_goes_to_stdout_alone():
    result = compiled("-D", "UNROLL", "--diagnostics=json", "-o", "deep/er/out")
    assert json.loads(result.stdout) == [] and Path("deep/er/out/report.txt").is_file()


def test_new_results_take_the_place_of_old_ones_and_of_nothing_else():
    Path("out/tb").mkdir(parents=True)
    Path("out/tb/mine.py").write_text("kept")
    Path("out/rtl").mkdir()
    Path("out/rtl/stale.v").write_text("gone")
    compiled("-DUNROLL=1", "-o", "out")
    assert Path("out/tb/mine.py").read_text() == "kept" and not Path("out/rtl/stale.v").exists()
    assert not list(Path("out").glob(".*"))


def test_a_failure_in_the_middle_of_writing_leaves_the_old_results(monkeypatch):
    compiled("-DUNROLL=1", "-o", "out")
    before = {path: path.read_text() for path in Path("out").rglob("*") if path.is_file()}
    rename = Path.rename

    def full(self, target):
        if self.parent.name.startswith(".new-") and self.name == "report.json":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(hls.output.Path, "rename", full)
    result = CliRunner().invoke(main, ["compile", "sum.cl", "-I", "inc", "-DUNROLL=2", "-o", "out"], prog_name="sluice")
    assert result.exit_code == 1
    assert result.stderr == (
        "error[E0903]: cannot write to out: No space left on device\n  hint: choose another folder with -o\n"
    )
    assert {path: path.read_text() for path in Path("out").rglob("*") if path.is_file()} == before


def test_a_failure_leaves_no_new_folder(monkeypatch):
    def full(self, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hls.output.Path, "write_text", full)
    result = CliRunner().invoke(
        main, ["compile", "sum.cl", "-I", "inc", "-DUNROLL=1", "-o", "new/out"], prog_name="sluice"
    )
    assert result.exit_code == 1 and not Path("new").exists()


def test_the_verilog_is_plain_verilog():
    """Synthesis tools read .v files as Verilog-2001, which has no assertions."""
    compiled("-DUNROLL=1", "-o", "out")
    for path in Path("out/rtl").iterdir():
        assert not re.search(r"\b(assert|assume|always_ff|logic)\b", path.read_text()), path.name


def test_a_clock_too_fast_for_a_part():
    board = (Path(__file__).parents[2] / "boards/de5net.toml").read_text()
    Path("fast.toml").write_text(re.sub(r"kernel_mhz = [\d.]+", "kernel_mhz = 700.0", board))
    Path("mul.cl").write_text("__kernel void f(__global float *restrict a)\n{\n    a[0] = a[1] * a[2];\n}\n")
    result = CliRunner().invoke(main, ["compile", "mul.cl", "--board", "fast.toml"], prog_name="sluice")
    assert result.exit_code == 1
    assert re.search(
        r"mul.cl:3:17: error\[E0702\]: .* kernel clock: fmul: step product alone takes [\d.]+ ns, "
        r"the clock period is 1.43 ns",
        result.stderr,
    )
    assert "kernel_mhz" in result.stderr


def sluice(*arguments, code=0):
    result = CliRunner().invoke(main, list(arguments), prog_name="sluice", catch_exceptions=False)
    assert result.exit_code == code, result.stderr
    return result


def test_two_designs_in_one_project_have_names_of_their_own(tmp_path):
    """Both are elaborated together; without a prefix their modules would be one."""
    source = (
        "__kernel void k(__global int *restrict a, __global float *restrict b) { for (int i = 0; i < 9; i++) { "
        "a[i] = i; b[i] = b[i] / 3; } }"
    )
    Path("k.cl").write_text(source)
    for prefix in ("first", "second"):
        sluice("compile", "k.cl", "--prefix", prefix, "-o", prefix, "--testbench")
        assert json.loads(Path(prefix, "interface.json").read_text())["top"] == f"{prefix}_sluice_system"
    files = [str(path) for prefix in ("first", "second") for path in sorted(Path(prefix, "rtl").iterdir())]
    assert all(Path(file).name.startswith(Path(file).parts[0] + "_") for file in files)
    Path("both.v").write_text(
        "module both(input clk, rst); first_sluice_system a(.clk(clk), .rst(rst)); second_sluice_system b(.clk(clk), "
        ".rst(rst)); endmodule\n"
    )
    order = [*(f for f in files if f.endswith(".vlt")), "both.v", *(f for f in files if f.endswith(".v"))]
    tools = find_tools()
    done = subprocess.run(
        [tools.verilator, "--lint-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", "both", *order],
        env=os.environ | {"VERILATOR_ROOT": str(tools.verilator_root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "%Error" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["1st", "a-b", "a b", "é"])
def test_a_prefix_is_a_name(name):
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }")
    assert "is not a name as in Verilog" in sluice("compile", "k.cl", "--prefix", name, code=2).stderr


NAMES = [
    "foo",
    "foo_control",
    "foo_control_control",
    "foo_counters",
    "write_interconnect",
    "read_master0",
    "control_windows",
    "kernel_read_master0",
    "channel_c_0",
    "clk",
    "rst",
    "interrupt",
    "begin",
    "module",
    "wire",
    "arguments",
    "sluice_system",
    "part",
    "stall_foo",
    "top",
    "static0",
    "header",
]


@pytest.mark.parametrize("board", ["de5net", "ecp5_onchip"])
def test_kernels_may_have_the_names_of_what_stands_beside_them(board):
    kernels = "\n".join(f"__kernel void {name}(__global int *a) {{ a[{k}] = {k}; }}" for k, name in enumerate(NAMES))
    Path("k.cl").write_text(kernels)
    sluice("compile", "k.cl", "--board", board, "-o", "out")
    interface = json.loads(Path("out/interface.json").read_text())
    assert [kernel["name"] for kernel in interface["kernels"]] == NAMES


def test_many_kernels_in_one_file():
    """Amaranth numbers the inputs of a module with 16 bits; what joins so many kernels has more."""
    Path("k.cl").write_text("\n".join(f"__kernel void k{k}(__global int *a) {{ a[{k}] = {k}; }}" for k in range(140)))
    assert len(sluice("compile", "k.cl", "-o", "out").stdout.splitlines()) == 142


def test_one_compilation_is_never_searched_for_garbage(tmp_path):
    """The process ends after it, so collections between its stages and before its exit find nothing worth their time."""
    (tmp_path / "k.cl").write_text("kernel void k(global int *a) { a[0] = 1; }")
    program = (
        "import gc, sys\n"
        "from sluice.__main__ import main\n"
        "gc.collect(), gc.callbacks.append(lambda phase, info: print('collected', info))\n"
        "sys.argv = ['sluice', 'compile', 'k.cl', '--no-html']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "fits:" in done.stdout and "collected" not in done.stdout, done.stdout + done.stderr


def test_a_macro_of_the_command_line_may_have_parameters():
    Path("called.cl").write_text("__kernel void k(__global int *p, int n) { p[n] = MUL(n, 2) + TEXT(a, b)[0]; }")
    result = sluice("check", "called.cl", "-D", "MUL(x, y)=((x) * (y))", "-DTEXT(...)=#__VA_ARGS__")
    assert result.exit_code == 0, result.output
