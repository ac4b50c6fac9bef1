"""Inspecting the compiler: dumps, single passes on IR text, and messages about mistakes."""

import base64
import re
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.ir import print_module
from hls.ir.parser import parse_module

KERNEL = """__kernel void k(__global const float *restrict a, __global float *restrict o, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) if (a[i] > 1) s += a[i];
    o[0] = s;
}
__kernel void second(__global int *restrict o) { o[0] = 3 + 4; }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("k.cl").write_text(KERNEL)
    return tmp_path


def sluice(*arguments, code=0):
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result


def test_a_dump_has_a_file_for_every_pass_that_sorts_as_they_ran(folder):
    sluice("compile", "k.cl", "-o", "out", "--dump-ir", "dump")
    names = sorted(path.name for path in (folder / "dump/k").iterdir())
    assert [int(name[:4]) for name in names] == list(range(len(names))) and len(names) > 200
    assert (
        names[0] == "0000-input.ir"
        and names[1].startswith("0001-link-")
        and names[-1].split("-")[1] in ("target", "units")
    )
    for path in (folder / "dump/k").glob("*.ir"):
        assert print_module(parse_module(path.read_text())) == path.read_text()  # what is written can be read


def test_a_dump_takes_the_place_of_an_older_one_and_leaves_other_files(folder):
    sluice("compile", "k.cl", "-o", "out", "--dump-ir", "dump")
    (folder / "dump/k/9999-old.ir").write_text("")
    (folder / "dump/k/notes.txt").write_text("mine")
    sluice("compile", "k.cl", "-o", "out", "--dump-ir", "dump")
    assert not (folder / "dump/k/9999-old.ir").exists() and (folder / "dump/k/notes.txt").read_text() == "mine"


def built(file: Path) -> str:
    """The text of an output file without the command line and the time, which reports quote; the data of the page is
    inflated."""

    def inflated(found: re.Match) -> str:
        return zlib.decompress(base64.b64decode(found[1])).decode()

    text = re.sub(r'{"deflate": ?"([^"]*)"}', inflated, file.read_text())
    text = re.sub(r"^// Command: .*$", "", text, flags=re.MULTILINE)
    return re.sub(r'"(date|command)": ?"(\\.|[^"\\])*"', "", text)


def test_flags_do_not_change_what_is_built(folder):
    sluice("compile", "k.cl", "-o", "plain")
    sluice(
        "compile",
        "k.cl",
        "-o",
        "shown",
        "--dump-ir",
        "dump",
        "--print-after",
        "bitwidth-narrowing",
        "--time-passes",
        "--verify-each",
    )
    files = sorted(path.relative_to(folder / "plain") for path in (folder / "plain").rglob("*") if path.is_file())
    assert files and all(built(folder / "plain" / f) == built(folder / "shown" / f) for f in files)


def test_print_after_shows_every_kernel_and_run(folder):
    shown = sluice("compile", "k.cl", "-o", "out", "--print-after", "bitwidth-narrowing").stdout
    assert (
        shown.count("; k after scalar bitwidth-narrowing")
        == 2
        == shown.count("; second after scalar bitwidth-narrowing")
    )


def test_stop_after_prints_all_kernels_and_writes_nothing(folder):
    shown = sluice("compile", "k.cl", "-o", "out", "--stop-after", "if-conversion").stdout
    module = parse_module(shown)
    assert set(module.functions) == {"k", "second"} and not (folder / "out").exists()


@pytest.mark.parametrize("last", ["inline", "mem2reg", "insert-memory-tokens", "restructure-muxes", "strip-printf"])
def test_every_stage_can_be_the_last(folder, last):
    assert set(parse_module(sluice("compile", "k.cl", "--stop-after", last).stdout).functions) == {"k", "second"}


def test_time_passes_counts_every_run(folder):
    table = sluice("compile", "k.cl", "-o", "out", "--time-passes").stderr.splitlines()
    # two runs for each kernel
    assert table[-1].split()[-1] == "total" and any(
        line.split()[-3:] == ["4", "x", "bitwidth-narrowing"] for line in table
    )


def test_opt_runs_passes_with_options_on_ir_text(folder):
    sluice("compile", "k.cl", "-o", "out", "--dump-ir", "dump")
    source = "dump/second/0000-input.ir"
    printed = sluice("opt", source, "--passes", "mem2reg, constant-folding{flat=false},dead-code-elimination").stdout
    assert " add " not in printed and "value = 7" in printed
    sluice("opt", source, "--passes", "mem2reg", "-o", "one.ir")
    assert sluice("opt", "one.ir", "--passes", "constant-folding{flat=false},dead-code-elimination").stdout == printed


def test_opt_shows_warnings_beside_the_ir(folder):
    Path("unset.ir").write_text(
        """; IR that somebody wrote
kernel @k() {
  memory o: global i32 x ?
  memory s: private i32 x 1
  %true: i1 = const {value = 1}
  %first: i64 = const {value = 0}
  fresh {mem = "s", set = false}
  %from: ptr = addr %first {mem = "s"}
  %s: i32 = load %from, %true @"k.cl":3:7
  %to: ptr = addr %first {mem = "o"}
  store %to, %s, %true
  return
}
"""
    )
    shown = sluice("opt", "unset.ir", "--passes", "mem2reg")
    assert "k.cl:3:7: warning[W0214]: s is read before it is set" in shown.stderr
    assert set(parse_module(shown.stdout).functions) == {"k"}


def test_opt_refuses_a_pass_that_must_come_earlier(folder):
    Path("bins.cl").write_text(
        "__kernel void k(__global int *h, __global const int *p, int n) { for (int i = 0; i < n; i++) h[p[i]] += 1; }"
    )
    sluice("compile", "bins.cl", "-o", "out", "--dump-ir", "dump")
    last = max(path for path in (folder / "dump/k").glob("*-order-*.ir"))
    assert (
        "forward-stores must run before IR is ordered"
        in sluice("opt", last, "--passes", "forward-stores", code=1).stderr
    )


def test_opt_does_what_the_pipeline_does(folder):
    sluice("compile", "k.cl", "-o", "out", "--dump-ir", "dump")
    files = sorted((folder / "dump/k").iterdir())
    texts, compared = {}, 0
    for before, after in pairwise(files):
        texts[before.name] = before.read_text() or texts[max(texts)]
        stage, name = after.name.split(".")[0].split("-", 2)[1:]
        if (
            stage in ("simplify", "scalar")
            and name in ("sroa", "bitwidth-narrowing", "loop-invariant-code-motion", "recurrence-height-reduction")
            and after.suffix == ".ir"
        ):
            Path("before.ir").write_text(texts[before.name])
            assert sluice("opt", "before.ir", "--passes", name).stdout == after.read_text(), after.name
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ["compile", "k.cl", "--print-after", "bitwidth-narowing"],
            ["--print-after: there is no pass 'bitwidth-narowing'", "did you mean bitwidth-narrowing"],
        ),
        (
            ["compile", "k.cl", "--stop-after", "nonsense"],
            ["--stop-after: there is no pass 'nonsense'", "--list-passes"],
        ),
        (["compile", "k.cl", "--dump-ir", "k.cl/dump"], ["cannot write the dump folder k.cl/dump", "--dump-ir"]),
        (
            ["opt", "k.cl", "--passes", "constant-folding"],
            ["k.cl:1: error[E0906]: not IR: a function begins with kernel or helper, not with '__kernel'"],
        ),
        (["opt", "bad.ir", "--passes", "constant-folding"], ["malformed IR", "memory a has no length"]),
        (["opt", "good.ir", "--passes", "constant-folding{flat=perhaps}"], ["flat takes true or false, not 'perhaps'"]),
        (
            ["opt", "good.ir", "--passes", "constant-folding{deep=1}"],
            ["constant-folding has no option 'deep'", "it has flat"],
        ),
        (
            ["opt", "good.ir", "--passes", "conditional-specialization{source=hope}"],
            ["source takes one of branches, backedges, accesses, guards, not 'hope'"],
        ),
        (["opt", "good.ir", "--passes", "fold;"], ["cannot read"]),
        (["opt", "good.ir", "--passes", "bitwidth-narrowing"], ["bitwidth-narrowing needs IR that is dispatched"]),
        (
            ["opt", "good.ir", "--passes", "constant-folding{flat=0}", "-o", "nowhere/x.ir"],
            ["cannot write nowhere/x.ir"],
        ),
    ],
)
def test_mistakes_are_told(folder, arguments, words):
    Path("good.ir").write_text(
        "kernel @k(%n.0: i1) {\n  if %n.0 {\n    yield\n  } else {\n    yield\n  }\n  return\n}\n"
    )
    Path("bad.ir").write_text("kernel @k() {\n  memory a: private i32 x 0\n  return\n}\n")
    result = sluice(*arguments, code=1)
    for word in words:
        assert word in result.stderr, result.stderr
    assert "Traceback" not in result.stderr and not (folder / "out").exists() and not (folder / "k").exists()


def test_passes_go_by_the_delays_of_the_board(folder):
    ir = 'kernel @k(%n.0: i32) {\n  param n: scalar "int" 4\n  return\n}\n'
    Path("k.ir").write_text(ir)
    assert sluice("opt", "k.ir", "--passes", "retime-adders", "--board", "ecp5_onchip").stdout == ir
    told = sluice("opt", "k.ir", "--passes", "retime-adders", "--board", "nowhere", code=2)
    assert "unknown board 'nowhere'" in told.stderr
