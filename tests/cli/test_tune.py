"""`sluice tune` and `--design`, from the command line: a program whose best design is known, and bad input."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hls.cli import main

KERNEL = """\
__kernel void sums(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = 0; k < WIDTH; k++)
            s += a[i * WIDTH + k];
        out[i] = s;
    }
}
"""
HOST = """
import sys
import numpy as np
import sim.cl as cl
n, width = 16, 16
context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, open("k.cl").read()).build("-D WIDTH=16")
a = np.arange(n * width, dtype=np.int32)
source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
target = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * n)
program.sums(queue, (1,), None, source, target, np.int32(n)).wait()
found = np.empty(n, np.int32)
cl.enqueue_copy(queue, found, target).wait()
assert (found == a.reshape(n, width).sum(1)).all()
"""
TUNE = (
    "tune",
    "k.cl",
    "--host",
    "host.py",
    "--board",
    "ecp5_onchip",
    "-D",
    "WIDTH=16",
    "--runs",
    "0",
    "--replays",
    "1",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("tune")
    (made / "k.cl").write_text(KERNEL)
    (made / "host.py").write_text(HOST)
    (made / "space.toml").write_text('fixed = ["unroll i@3", "cache bytes"]\n[values]\n"unroll k@5" = [2, 4, -1]\n')
    return made


def process(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "sluice", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def sluice(folder: Path, *arguments: str) -> Result:
    """The command in this process: most of a second goes into starting one."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, arguments)


@pytest.fixture(scope="module")
def tuned(folder):
    return sluice(folder, *TUNE, "--space", "space.toml")


def test_the_best_design_and_its_files(folder, tuned):
    assert tuned.exit_code == 0, tuned.stderr
    (best,) = (line for line in tuned.stdout.splitlines() if line.startswith("best: unroll k@5="))
    assert " cycles replayed, " in best
    rows = [line.split() for line in tuned.stdout.splitlines() if line.rstrip()[:1] == " " and "%" in line]
    pairs = [[int(figure.replace(",", "")) for figure in row[:2]] for row in rows if row[1] != "-"]
    assert len(pairs) == 2 and all(abs(estimated / replayed - 1) < 0.02 for estimated, replayed in pairs)
    design = json.loads((folder / "k.tune" / "best.json").read_text())
    assert ("unroll", 5) in [(one["kind"], one["line"]) for one in design["settings"]]
    assert "+        __attribute__((opencl_unroll_hint" in (folder / "k.tune" / "best.patch").read_text()
    page = (folder / "k.tune" / "tune.html").read_text()
    assert "http" not in page.replace("http-equiv", "") and "<svg" in page


def test_a_second_start_finds_all_points_and_says_the_same(folder, tuned):
    points = folder / "k.tune" / "points"
    before = {one.name: one.stat().st_mtime_ns for one in points.iterdir()}
    again = process(folder, *TUNE, "--space", "space.toml", "--workers", "2")
    assert again.stdout == tuned.stdout
    assert {one.name: one.stat().st_mtime_ns for one in points.iterdir()} == before


def test_compile_takes_the_design(folder, tuned):
    done = sluice(
        folder, "compile", "k.cl", "-D", "WIDTH=16", "--board", "ecp5_onchip", "--design", "k.tune/best.json", "-o", "o"
    )
    assert done.exit_code == 0, done.stderr
    written = sluice(folder, "compile", "k.cl", "-D", "WIDTH=16", "--board", "ecp5_onchip", "-o", "p")
    assert written.exit_code == 0
    assert "unrolled" in (folder / "o" / "report.txt").read_text()


def test_the_host_program_runs_with_the_design(folder, tuned):
    done = process(folder, "run", "--device", "emulator", "--design", "k.tune/best.json", "host.py")
    assert done.returncode == 0, done.stderr


def test_a_budget_of_points(folder):
    done = sluice(folder, *TUNE, "--space", "space.toml", "--budget", "2", "--replays", "0", "-o", "few")
    assert done.exit_code == 0, done.stderr
    assert len(list((folder / "few" / "points").iterdir())) < len(list((folder / "k.tune" / "points").iterdir()))


def test_one_that_joins_evaluates_points_and_prints_no_result(folder, tuned):
    done = process(folder, *TUNE, "--space", "space.toml", "--join")
    assert done.returncode == 0 and "best" not in done.stdout


def test_knobs_are_listed(folder):
    done = sluice(folder, *TUNE, "--list-knobs")
    assert "unroll k@5: as written, 2, 4, 8, all" in done.stdout.splitlines()
    assert "-fp-relaxed" not in done.stdout
    relaxed = sluice(folder, *TUNE, "-fp-relaxed", "--list-knobs")
    assert "-fp-relaxed: as written, yes" in relaxed.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--space", "bad.toml"), "bad.toml: unknown key 'knobs'; known are values, constraints, fixed"),
        (("--study", "none/journal"), "none/journal: cannot be used as a study"),
        (("--study", "sqlite:///s.db", "--workers", "2"), "SQLite locks"),
        (("--goal", "speed"), "'speed' is no goal"),
        (("--fit", "120%"), "a percentage from 1% to 100%"),
        (("-D", "N={4,}"), "write NAME=VALUE"),
    ],
)
def test_bad_input_is_a_message(folder, arguments, told):
    (folder / "bad.toml").write_text("knobs = 1\n")
    done = sluice(folder, *TUNE, *arguments)
    assert done.exit_code in (1, 2) and told in done.stderr and "Traceback" not in done.stderr


def test_a_host_program_that_fails_ends_the_search_with_its_output(folder):
    (folder / "fails.py").write_text("raise SystemExit('no data here')")
    done = sluice(folder, "tune", "k.cl", "--host", "fails.py", "-D", "WIDTH=16", "-o", "other")
    assert done.exit_code == 1 and "fails.py ended with exit code 1" in done.stderr and "no data here" in done.stderr


def test_a_design_of_another_text_is_refused(folder, tuned):
    (folder / "new.cl").write_text(KERNEL + "\n")
    done = sluice(folder, "compile", "new.cl", "-D", "WIDTH=16", "--design", "k.tune/best.json")
    assert done.exit_code == 1 and "another text of this program" in done.stderr
    done = sluice(folder, "compile", "k.cl", "--design", "space.toml")
    assert done.exit_code == 2 and "not a design" in done.stderr


def test_advice_names_the_loop_and_writes_a_patch_that_compiles(folder):
    done = sluice(folder, "advise", *TUNE[1:-4], "--apply", "-o", "advice")
    assert done.exit_code == 0, done.stderr
    assert "1. unroll " in done.stdout and "times as fast as written" in done.stdout
    patched = subprocess.run(
        ["patch", "-o", "patched.cl", "k.cl", "advice/best.patch"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert patched.returncode == 0, patched.stdout + patched.stderr
    again = sluice(folder, "compile", "patched.cl", "-D", "WIDTH=16", "--board", "ecp5_onchip", "-o", "q")
    assert again.exit_code == 0, again.stderr
    same = sluice(
        folder, "compile", "k.cl", "-D", "WIDTH=16", "--board", "ecp5_onchip", "--design", "advice/best.json", "-o", "r"
    )
    assert same.exit_code == 0, same.stderr


def test_a_host_program_alone_names_its_source(tmp_path):
    """The file whose kernels it launches is found by its text, with the macros of the host's build."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "k.cl").write_text(KERNEL)
    (tmp_path / "other.cl").write_text("__kernel void sums(__global int *restrict a) { a[0] = 1; }\n")
    (tmp_path / "host.py").write_text(HOST.replace("k.cl", "below/k.cl"))
    both = ("advise", "below/k.cl", "--host", "host.py", "--board", "ecp5_onchip")
    alone = ("advise", "host.py", "--board", "ecp5_onchip")
    given, found = sluice(tmp_path, *both, "-o", "given"), sluice(tmp_path, *alone)
    assert found.exit_code == 0, found.stderr
    assert found.stdout == given.stdout and (tmp_path / "below" / "k.tune").is_dir()
    (tmp_path / "copy.cl").write_text(KERNEL)
    done = sluice(tmp_path, *alone)
    assert done.exit_code == 1 and "launches kernels of 2 files: copy.cl, below/k.cl" in done.stderr
    assert "`copy.cl --host host.py`" in done.stderr
    for name in ("copy.cl", "below/k.cl"):
        (tmp_path / name).write_text(KERNEL + "// changed\n")
    (tmp_path / "host.py").write_text(HOST.replace('open("k.cl").read()', repr(KERNEL)))
    done = sluice(tmp_path, *alone)
    assert done.exit_code == 1 and "the program that host.py builds (kernels: sums)" in done.stderr
    (tmp_path / "host.py").write_text("print(3)\n")
    assert "host.py launches no kernel" in sluice(tmp_path, *alone).stderr


def test_a_source_without_a_host_program(folder):
    done = sluice(folder, "advise", "k.cl")
    assert done.exit_code == 2 and "Missing option '--host': name the host program that launches k.cl" in done.stderr
    done = sluice(folder, "tune", "host.py", "--host", "host.py")
    assert done.exit_code == 2 and "leave one out" in done.stderr


CHAIN = """\
channel int c __attribute__((depth(8)));
__kernel void feed(__global const int *restrict a, int n) { for (int i = 0; i < n; i++) write_channel_intel(c, a[i]); }
__kernel void drain(__global int *restrict out, int n) { for (int i = 0; i < n; i++) out[i] = read_channel_intel(c); }
"""
CHAIN_HOST = """
import numpy as np
import sim.cl as cl
context = cl.create_some_context()
program = cl.Program(context, open("k.cl").read()).build()
a = np.arange(4000, dtype=np.int32)
source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
target = cl.Buffer(context, cl.mem_flags.READ_WRITE, a.nbytes)
first, second = cl.CommandQueue(context), cl.CommandQueue(context)
program.feed(first, (1,), None, source, np.int32(a.size))
program.drain(second, (1,), None, target, np.int32(a.size)).wait()
found = np.empty_like(a)
cl.enqueue_copy(second, found, target).wait()
assert (found == a).all()
"""


def test_kernels_that_channels_connect_run_at_the_same_time(tmp_path):
    """Predicted are the cycles of all launches, not their sum."""
    (tmp_path / "k.cl").write_text(CHAIN)
    (tmp_path / "host.py").write_text(CHAIN_HOST)
    done = sluice(tmp_path, "advise", "host.py", "--board", "ecp5_onchip")
    assert done.exit_code == 0, done.stderr
    cycles = int(re.search(r"as written: ([\d,]+) cycles", done.stdout)[1].replace(",", ""))
    assert 4000 <= cycles < 4400


def test_options_that_only_the_host_gives(folder, tuned):
    """Knobs, plans and areas are those of the program as the host builds it."""
    usual = [one for one in TUNE if one not in ("-D", "WIDTH=16")]
    given, found = (sluice(folder, *options, "--list-knobs", "-o", "built") for options in (TUNE, usual))
    assert found.exit_code == 0, found.stderr
    assert found.stdout == given.stdout
    done = sluice(folder, *usual, "--space", "space.toml", "--replays", "0", "-o", "built")
    assert done.exit_code == 0, done.stderr
    rows = [[line.split() for line in one.stdout.splitlines() if "%" in line] for one in (done, tuned)]
    tables = [sorted((row[0], *row[3:]) for row in one) for one in rows]  # all but what was replayed and measured
    assert tables[0] == tables[1] != []


def test_a_source_that_is_no_utf_8_is_tuned(folder):
    (folder / "latin.cl").write_bytes(b"// n\xe4chste\n" + KERNEL.encode())
    (folder / "latin.py").write_text(HOST.replace('open("k.cl")', 'open("latin.cl", encoding="latin-1")'))
    done = sluice(folder, "tune", "latin.cl", "--host", "latin.py", "-D", "WIDTH=16", "--list-knobs")
    assert done.exit_code == 0, done.stderr
    assert "unroll k@6" in done.stdout
