"""The generated testbench: it passes unedited, it checks real bytes, and it preserves the user's edits."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest

from hls.export.description import describe, write_description
from hls.ir.launch import IndexSpace
from hls.rtl.interface import StreamInterface
from hls.target.board import load_board
from sim.testbench import TestbenchError, write_testbench
from sim.testbench.generate import numpy_type
from tests.sim.handmade import system

ROOT = Path(__file__).parents[3]
KERNEL = """
__kernel void scale(__global const int *restrict a, __global int *restrict c, int n) {
    for (int i = 0; i < n; i++) c[i] = 3 * a[i];
}
"""


PUMPED = """
__kernel void scale(__global const int *restrict a, __global int *restrict c, int n) {
    int t[64] __attribute__((doublepump)); for (int k = 0; k < 64; k++) t[k] = 3 * a[k];
    for (int i = 0; i < n; i++) c[i] = t[i & 63] + t[(i + 1) & 63] - t[(i + 1) & 63 & n + 47];
}
"""


#: A structure, a vector, a variable of the program, and buffers that may overlap for all the compiler knows.
MIXED = """
typedef struct { int k[3]; } S; __global int by[2] = { 0, 2 }; __kernel void scale(__global const int *a, __global int *c, S s, float4 v, int n) {
    for (int i = 0; i < n; i++) c[i] = (int)(v.w * by[1]) * a[i] + s.k[2] + by[0];
}
"""


@pytest.fixture
def compiled(tmp_path):
    described = describe(system(), load_board("de5net"), "", {})
    (tmp_path / "interface.json").write_text(write_description(described))
    return tmp_path


@pytest.mark.parametrize(
    ("c_type", "name"),
    [
        ("__global const float * restrict", "float32"),
        ("int", "int32"),
        ("unsigned int", "uint32"),
        ("uint", "uint32"),
        ("unsigned", "uint32"),
        ("__global uchar *", "uint8"),
        ("unsigned long", "uint64"),
        ("size_t", "uint64"),
        ("__global const short *", "int16"),
        ("bool", "uint8"),
        ("double", "float64"),
        ("__global half *", "float16"),
        ("__global uint16 *", "uint32"),
        ("float3", "float32"),
        ("struct S", "uint8"),
    ],
)
def test_types(c_type, name):
    assert numpy_type(c_type) == name


def test_every_file_is_python_and_names_the_arguments(compiled):
    written = write_testbench(compiled)
    assert written == ["tb/bench.py", "tb/board.py", "tb/test_kernels.py"]
    for name in written:
        compile((compiled / name).read_text(), name, "exec")
    bench = (compiled / "tb/bench.py").read_text()
    assert '"data": random_buffer(np.int32, 4096)' in bench
    assert '"words": np.int32(16)' in bench
    assert 'board.run("increment", arguments, global_size=(1,))' in bench


def test_edits_are_kept(compiled):
    write_testbench(compiled)
    (compiled / "tb/bench.py").write_text("mine")
    (compiled / "tb/board.py").write_text("mine")
    assert write_testbench(compiled) == ["tb/board.py", "tb/test_kernels.py"]
    assert (compiled / "tb/bench.py").read_text() == "mine"
    assert (compiled / "tb/board.py").read_text() != "mine"


def test_a_folder_without_a_system(tmp_path):
    with pytest.raises(TestbenchError, match="run sluice compile first"):
        write_testbench(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "sim.testbench", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: cannot read")


def with_testbench(kernel: str, folder: Path, *options: str) -> dict[str, str]:
    """Compile a kernel into ``folder``/out with its testbench; returns the environment in which that runs."""
    (folder / "kernel.cl").write_text(kernel)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COCOTB_LOG_LEVEL": "ERROR"}
    command = [sys.executable, "-m", "hls.cli", "compile", str(folder / "kernel.cl"), "-o", str(folder / "out")]
    subprocess.run(
        [*command, "--testbench", "--counters=all", *options],
        env=environment,
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return environment


def run_testbench(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess:
    """Runs it in a user's folder that has packages of our names, as hardware projects do; none of them is imported."""
    for name in ("sim", "hls", "boards", "rtl_lib"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").write_text("raise ImportError('a package of the user')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-s", str(folder / "out/tb/test_kernels.py")]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.verilator
@pytest.mark.parametrize(
    "kernel, line, reset",
    [(KERNEL, 3, "high"), (PUMPED, 4, "low"), (MIXED, 3, "high")],
    ids=["one clock", "two clocks", "mixed"],
)
def test_passes_with_a_golden_check_and_fails_with_a_wrong_one(tmp_path, kernel, line, reset):
    environment = with_testbench(kernel, tmp_path, "--reset-active", reset)
    bench = tmp_path / "out/tb/bench.py"
    check = 'assert (result.buffers["c"][:16] == {} * arguments["a"][:16]).all()'
    once = bench.read_text()
    body = once[once.index("@cocotb.test()") :]
    right, wrong = (body.replace("# The golden check goes here.", check.format(factor) + "  #") for factor in (3, 4))
    wrong = wrong.replace("@cocotb.test()", "@cocotb.test(expect_fail=True)").replace(
        "async def scale", "async def wrong"
    )
    bench.write_text(once[: once.index("@cocotb.test()")] + right + "\n\n" + wrong)
    done = run_testbench(tmp_path, environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"loop i (line {line}): II 1 scheduled, 1.00 measured" in done.stdout
    assert "%Warning" not in done.stdout  # lint.vlt
    assert (tmp_path / "out/constraints.sdc").exists() == (kernel is PUMPED)


def test_the_board_knows_what_a_launch_says(compiled, monkeypatch):
    """Every hidden argument has the value that the compiler's own definition gives it; buffers lie apart."""
    write_testbench(compiled)
    monkeypatch.syspath_prepend(str(compiled / "tb"))
    spec = importlib.util.spec_from_file_location("board_under_test", compiled / "tb/board.py")
    board = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(board)
    space = IndexSpace.of((12, 6), (4, 2))
    names = [f"{stem}_{d}" for stem in ("global_size", "local_size", "num_groups", "global_offset") for d in range(3)]
    names += [f"{stem}_{d}" for stem in ("global_count", "local_count", "group_count") for d in ("12", "012", "2")]
    for name in ("work_dim", *names):
        assert board._launch_value(name, (12, 6), (4, 2)) == space.argument(name), name
    assert board._launch_value("overlap", (1,), (1,)) == 0


@pytest.mark.parametrize(
    "counted, ends", [("", "--counters for the II of loops, stalls and throughput)"), ("all", "GB/s")]
)
def test_figures_are_told_only_where_the_hardware_counts_them(compiled, counted, ends):
    write_testbench(compiled)
    spec = importlib.util.spec_from_file_location("board_under_test", compiled / "tb/board.py")
    board = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(board)
    kernel = json.loads((compiled / "interface.json").read_text())["kernels"][0]
    kernel["layout"] |= {
        "counted": counted,
        "accesses": [{"key": "a", "line": 1, "kind": "load", "buffer": "a", "word_bytes": 64}],
    }
    assert board.Result(kernel, 10, 0, {}, {}).text().endswith(ends)


@pytest.mark.verilator
def test_the_testbench_of_the_documentation(tmp_path):
    """docs/integration.md says all that it takes to run a kernel on its ports."""
    text = (ROOT / "docs/integration.md").read_text()
    kernel, bench = (re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1] for language in ("c", "python"))
    environment = with_testbench(kernel, tmp_path)
    (tmp_path / "out/tb/bench.py").write_text(bench)
    done = run_testbench(tmp_path, environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_kernels_that_need_each_other(tmp_path):
    interface = asdict(system())
    interface["kernels"][0]["layout"]["channels"] = [
        {"key": "c", "name": "c", "writes": True, "depth": 2, "line": 1, "inner": False}
    ]
    (tmp_path / "interface.json").write_text(json.dumps(interface))
    with pytest.raises(TestbenchError, match="one kernel at a time; increment is joined with others by channels"):
        write_testbench(tmp_path)
    assert not (tmp_path / "tb").exists()


def test_kernels_that_print(tmp_path):
    interface = asdict(system())
    interface["streams"] = [asdict(StreamInterface("printf_k", "out", 32, "printf_k", (), "increment"))]
    (tmp_path / "interface.json").write_text(json.dumps(interface))
    with pytest.raises(TestbenchError, match="increment would print: compile without --printf"):
        write_testbench(tmp_path)


def _runner(folder: Path):
    write_testbench(folder)
    spec = importlib.util.spec_from_file_location("runner_under_test", folder / "tb/test_kernels.py")
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    return runner


def test_what_is_missing_is_said_before_anything_is_built(compiled, monkeypatch):
    runner = _runner(compiled)
    runner.check_installation()
    monkeypatch.setattr(
        runner.importlib.util, "find_spec", lambda module: None if module.startswith("cocotbext") else module
    )
    with pytest.raises(
        pytest.fail.Exception,
        match=r"the testbench needs cocotbext-axi: pip install 'sluice-hls\[testbench\]', or pip install cocotbext-axi",
    ):
        runner.test_kernels(compiled / "nowhere", monkeypatch)


def test_missing_programs_are_named(compiled, monkeypatch):
    runner = _runner(compiled)
    monkeypatch.setattr(runner.shutil, "which", lambda program: None)
    with pytest.raises(pytest.fail.Exception, match=r"needs g\+\+, make, perl"):
        runner.check_installation()


def test_the_extra_brings_what_the_testbench_needs(compiled):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    brought = {
        re.match(r"[\w-]+", line)[0]
        for line in (*project["dependencies"], *project["optional-dependencies"]["testbench"])
    }
    assert {*_runner(compiled).MODULES, "pytest", "verilator"} <= brought
