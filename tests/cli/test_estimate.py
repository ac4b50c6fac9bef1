"""`sluice run --workload` and `sluice estimate`: what they print, and what they say of bad input."""

import contextlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hls.cli import main
from hls.driver import plan_source
from hls.model.estimate import Planned
from hls.model.hpca16.from_plan import launch_of
from hls.model.hpca16.parameters import MemoryInstruction, blocks
from hls.model.workload import read_workload, source_hash, write_workload
from hls.options import BuildOptions, Options
from hls.target.board import load_board

KERNEL = """
channel int c;
__kernel void add(__global const int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
}
__kernel void send(int n) { for (int i = 0; i < n; i++) write_channel_intel(c, i); }
__kernel void take(__global int *restrict b, int n) { for (int i = 0; i < n; i++) b[i] = read_channel_intel(c); }
__attribute__((num_simd_work_items(2), reqd_work_group_size(8, 1, 1)))
__kernel void product(__global const int *restrict a, __global int *restrict b, int n) {
    int j = get_global_id(0), i = get_global_id(1), s = 0;
    #pragma unroll 4
    for (int k = 0; k < n; k++)
        s += a[i * n + k] * a[k * n + j];
    b[i * n + j] = s;
}
"""
HOST = """
import numpy as np
from sim import cl
context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, open("k.cl").read()).build(options=["-DUNUSED=3", "-cl-denorms-are-zero"])
a = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.arange(1000, dtype=np.int32))
b = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4000)
program.add(queue, (1,), None, a, b, np.int32(1000)).wait()
program.send(queue, (1,), None, np.int32(8))
program.take(cl.CommandQueue(context), (1,), None, b, np.int32(8)).wait()
program.product(queue, (16, 16), (8, 1), a, b, np.int32(16)).wait()
"""


def sluice(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "sluice", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def estimated(folder: Path, *arguments: str) -> Result:
    """`sluice estimate` in this process: most of a second goes into starting one."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, ["estimate", *arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("estimate")
    (made / "k.cl").write_text(KERNEL)
    (made / "host.py").write_text(HOST)
    done = sluice(made, "run", "--workload", "w", "host.py")
    assert done.returncode == 0, done.stderr
    return made


def test_estimate_of_a_launch(folder):
    done = estimated(folder, "k.cl", "--workload", "w/000-add.json.gz")
    assert done.exit_code == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("add on de5net: 1,")
    loop = next(line for line in rest if line.startswith("  loop"))
    assert any(line.startswith("  potentials: B_mem 0.") and "B_fp 0.00" in line for line in rest)
    assert "line 4): 1,000 iterations in 1 invocation, 1 cycle apart" in loop
    assert done.stderr == ""


def test_words_of_another_size_are_refused(folder):
    done = estimated(folder, "k.cl", "--workload", "w/000-add.json.gz", "--board", "ecp5_onchip")
    assert done.exit_code == 1
    assert "memory words of 64 bytes, from board de5net; those of ecp5_onchip have 4" in done.stderr


def test_all_figures(folder):
    done = estimated(folder, "k.cl", "--workload", "w/000-add.json.gz", "--json")
    (found,) = json.loads(done.stdout)
    assert found["kernel"] == "add" and found["cycles"]["least"] <= found["cycles"]["likely"] <= found["cycles"]["most"]
    assert [(one["buffer"], one["count"], one["words"]) for one in found["accesses"]] == [
        ("a", 1000, 63),
        ("b", 1000, 63),
    ]


def test_launches_that_ran_together(folder):
    done = estimated(folder, "k.cl", "--workload", "w", "--json")
    assert done.exit_code == 0, done.stderr
    cycles = {one["kernel"]: one["cycles"]["likely"] for one in json.loads(done.stdout)}
    assert list(cycles) == ["add", "send", "take", "product"] and cycles["send"] < cycles["take"]


def test_another_model_beside_it(folder):
    done = estimated(folder, "k.cl", "--workload", "w/000-add.json.gz", "--model", "hpca16")
    assert done.exit_code == 0, done.output
    printed, corrected = (line for line in done.stdout.splitlines() if line.startswith("  model hpca16"))
    assert printed.startswith("  model hpca16, as printed: ") and ", as corrected: " in corrected
    assert "B_mem 0.00, B_comp 0." in corrected
    (found,) = json.loads(estimated(folder, "k.cl", "--workload", "w/000-add.json.gz", "--json").stdout)
    assert found["seconds"] == pytest.approx(found["cycles"]["likely"] / 240e6, abs=1e-9) and found["seconds"] > 0
    assert found["others"] == []


def test_parameters_of_the_other_model(folder):
    """Work-items in lanes, and an unrolled loop: its row is adjacent for copies, its column for work-items."""
    workload, source = read_workload(folder / "w/003-product.json.gz"), folder / "k.cl"
    kernels, _ = plan_source(source.read_text(), load_board("de5net"), Options(), "k.cl")
    kernel = next(one for one in kernels if one.function.name == "product")
    planned = Planned(kernel.function, kernel.memory, kernel.plan, kernel.unrolled, kernel.merged, "k.cl")
    launch = launch_of(planned, workload)
    assert (launch.global_size, launch.simd, launch.units) == (256, 2, 1)
    (outer, around), (inner, trips) = blocks(launch.root)
    assert (around, trips) == ((), (4,))
    assert outer.instructions == (MemoryInstruction(4, copies_adjacent=True, items_adjacent=True, scale=2),)
    assert set(inner.instructions) == {
        MemoryInstruction(4, copies_adjacent=True, items_adjacent=False, scale=4),
        MemoryInstruction(4, copies_adjacent=False, items_adjacent=True, scale=8),
    }


def test_plan_with_the_options_of_the_host(folder):
    """A macro that only the host gives, and none that it does not: no warning of another text."""
    workload = read_workload(folder / "w/003-product.json.gz")
    assert workload.build.defines == (("UNUSED", "3"),) and workload.build.denorms_are_zero
    text = KERNEL.replace("#pragma unroll 4", "#pragma unroll FACTOR")
    (folder / "built.cl").write_text(text)
    build = replace(workload.build, defines=(("FACTOR", "4"),))
    hashed = source_hash("built.cl", {"built.cl": text}, {"FACTOR": "4"})
    write_workload(replace(workload, build=build, source_hash=hashed), folder / "built.json.gz")
    done = estimated(folder, "built.cl", "--workload", "built.json.gz")
    assert done.exit_code == 0 and done.stderr == ""
    assert done.stdout == estimated(folder, "k.cl", "--workload", "w/003-product.json.gz").stdout


def test_launches_of_two_sources(folder):
    """Each source takes the launches of its own text, though their kernels and options do not fit the other one."""
    for name in ("first", "second"):
        text = f"__kernel void {name}(__global int *a) {{ for (int i = 0; i < {name.upper()}; i++) a[i] = i; }}"
        (folder / f"{name}.cl").write_text(text)
    (folder / "two.py").write_text("""
from sim import cl
context = cl.create_some_context()
queue = cl.CommandQueue(context)
a = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4000)
for name in ("first", "second"):
    program = cl.Program(context, open(name + ".cl").read()).build([f"-D{name.upper()}={100 * len(name)}"])
    getattr(program, name)(queue, (1,), None, a).wait()
""")
    done = sluice(folder, "run", "--workload", "two", "two.py")
    assert done.returncode == 0, done.stderr
    for name, other in (("first", "second"), ("second", "first")):
        done = estimated(folder, f"{name}.cl", "--workload", "two", "--json")
        assert done.exit_code == 0, done.stderr
        (found,) = json.loads(done.stdout)
        assert found["kernel"] == name and found["loops"][0]["iterations"] == 100 * len(name)
        assert (
            f"1 of 2 launches are of other sources, or of another text of this one; they are left out: kernels {other}"
            in (done.stderr)
        )


def test_included_files_are_the_same_from_every_folder(folder):
    (folder / "parts").mkdir()
    (folder / "parts/next.h").write_text("#define NEXT(x) ((x) + 1)\n")
    text = '#include "next.h"\n' + KERNEL.replace("a[i] + 1", "NEXT(a[i])")
    (folder / "including.cl").write_text(text)
    host = HOST.replace("k.cl", "including.cl").replace('options=["', 'options=["-Iparts", "')
    (folder / "including.py").write_text(host)
    done = sluice(folder, "run", "including.py", "--device", "emulator", "--workload", "including")
    assert done.returncode == 0, done.stderr
    for place, source in ((folder, "including.cl"), (folder / "parts", "../including.cl")):
        with contextlib.chdir(place):
            found = CliRunner().invoke(main, ["estimate", source, "--workload", f"{folder}/including/000-add.json.gz"])
        assert found.exit_code == 0 and found.stderr == "", found.stderr


def test_options_of_a_command_and_of_a_build():
    build = BuildOptions.of(Options({"A": "1", "B": "2"}, (Path("/there"),), fp_relaxed=True, cache_bytes=64))
    found = build.applied(Options({"B": "3"}, (Path("here"),), cache_bytes=128))
    assert found.defines == {"A": "1", "B": "3"} and found.include_dirs == (Path("here"), Path("/there"))
    assert found.fp_relaxed and found.cache_bytes == 128 and BuildOptions.of(Options()) == BuildOptions()


def test_resources_of_the_design(folder):
    given = ("k.cl", "--workload", "w/000-add.json.gz")
    (without,) = json.loads(estimated(folder, *given, "--json").stdout)
    done = estimated(folder, *given, "--area")
    said = re.search(
        r"the design takes ([\d,]+) logic cells, ([\d,]+) registers, ([\d,]+) block RAMs, \d+ DSP", done.stdout
    )
    assert without["resources"] is None and said, done.stdout
    assert all(int(number.replace(",", "")) > 50 for number in said.groups())


def test_source_that_has_changed(folder):
    (folder / "new.cl").write_text(KERNEL.replace("+ 1", "+ 2"))
    done = estimated(folder, "new.cl", "--workload", "w/000-add.json.gz")
    assert done.exit_code == 0 and "the source has changed since this workload was collected" in done.stderr


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        ("damaged.json.gz", "not a workload, or damaged; collect it again"),
        ("empty", "[E0910]: empty has no file of a workload"),
        ("w/001-send.json.gz", "channel c to kernel take, of which no launch is given beside this one"),
    ],
)
def test_bad_input(folder, workload, says):
    (folder / "damaged.json.gz").write_bytes((folder / "w/000-add.json.gz").read_bytes()[:100])
    (folder / "empty").mkdir(exist_ok=True)
    done = estimated(folder, "k.cl", "--workload", workload)
    assert done.exit_code in (1, 2) and says in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_kernel_of_another_file(folder):
    (folder / "other.cl").write_text("__kernel void other(__global int *a) { a[0] = 1; }")
    done = estimated(folder, "other.cl", "--workload", "w/000-add.json.gz")
    assert done.exit_code == 1 and "a workload of kernel add, which other.cl does not have" in done.stderr


def test_workload_is_of_the_emulator(folder):
    done = sluice(folder, "run", "--workload", "w", "--device", "board", "host.py")
    assert done.returncode == 2 and "--workload runs on the emulator" in done.stderr


NESTS = """
__kernel void line(__global const int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
}
__kernel void table(__global int *restrict b, int n) {
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 300; x++)
            b[y * 300 + x] = x ^ y;
}
__kernel void items(__global const int *restrict a, __global int *restrict b) {
    int at = get_global_id(0);
    b[at] = a[at] + 1;
}
"""


@pytest.fixture(scope="module")
def nests(tmp_path_factory):
    made = tmp_path_factory.mktemp("nests")
    (made / "nests.cl").write_text(NESTS)
    return made


def test_symbols_stand_for_trip_counts_that_nobody_gives(nests):
    done = estimated(nests, "nests.cl", "--json")
    line, table, items = json.loads(done.stdout)
    assert re.fullmatch(r"[0-9.]+ \+ n", line["formula"]) and line["formula_from"] == 64
    assert line["symbols"] == [{"name": "n", "file": "", "line": 3, "loop": "i"}]
    assert [one["size"] for one in line["samples"]] == [64, 1024, 16384]
    start = float(line["formula"].split()[0])
    assert all(abs(one["cycles"] - start - one["size"]) < 0.01 for one in line["samples"])
    assert table["formula"].endswith("300*n") and items["symbols"][0]["loop"] == "work-items"


def test_formula_or_growth_in_the_text(nests):
    done = estimated(nests, "nests.cl")
    assert (
        "cycles, from n = 64 on" in done.stdout
        and "n: iterations of loop i (line 3); --trip L3=N sets it" in done.stdout
    )
    assert "?" not in done.stdout and "assumed: every condition holds" in done.stdout


def test_trip_counts_by_line_label_and_work_items(nests):
    done = estimated(nests, "nests.cl", "--json", "--trip", "L3=500", "--trip", "y=7", "--trip", "work-items=640")
    line, table, items = json.loads(done.stdout)
    assert not any(one["formula"] or one["symbols"] for one in (line, table, items))
    assert [one["iterations"] for one in line["loops"]] == [500]
    assert max(one["iterations"] for one in table["loops"]) == 2100
    assert [one["iterations"] for one in items["loops"]] == [640]
    assert [(one["count"], one["words"]) for one in items["accesses"]] == [(640, 40), (640, 40)]


def test_given_trips_predict_as_a_run_does(folder):
    """A launch whose conditions and addresses are as assumed: the trip count is all that a run would tell."""
    (folder / "add.cl").write_text(KERNEL[KERNEL.index("__kernel") : KERNEL.index("__kernel void send")])
    (given,) = json.loads(estimated(folder, "add.cl", "--trip", "i=1000", "--json").stdout)
    (counted,) = json.loads(estimated(folder, "k.cl", "--workload", "w/000-add.json.gz", "--json").stdout)
    assert given["cycles"] == counted["cycles"]


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        (("L99=4",), 1, "[E0914]: --trip: nests.cl has no loop L99"),
        (("L99=4",), 1, "there are 3, 7, 8, L3, L7, L8, i, work-items, x, y"),
        (("L3=many",), 2, "L3=many is not of the form LOOP=N with a number N, as in L8=64"),
        (("L3=4", "L3=5"), 2, "loop L3 is given twice, with 4 and 5 iterations"),
        (("x=4",), 1, "[E0914]: --trip: the loop at line 8 has 300 iterations by the source, not 4"),
    ],
)
def test_bad_trip_counts(nests, given, code, says):
    done = estimated(nests, "nests.cl", *(part for one in given for part in ("--trip", one)))
    assert done.exit_code == code and says in " ".join(done.stderr.split()), done.stderr
    assert done.stdout == ""


def test_work_items_are_whole_groups(tmp_path):
    (tmp_path / "twice.cl").write_text(
        "__attribute__((reqd_work_group_size(16, 4, 1)))\n"
        "__kernel void twice(__global int *a)\n{\n    a[get_global_id(0)] *= 2;\n}\n"
    )
    assert estimated(tmp_path, "twice.cl", "--trip", "work-items=128").exit_code == 0
    done = estimated(tmp_path, "twice.cl", "--trip", "work-items=100")
    said = " ".join(done.stderr.split())
    assert done.exit_code == 1 and "[E0914]: --trip: kernel twice cannot be launched with 100 work-items" in said
    assert "work-groups have 64 each at line 2" in said and "give a multiple of 64" in said
    none = estimated(tmp_path, "twice.cl", "--trip", "work-items=0")
    assert none.exit_code == 1 and "kernel twice cannot be launched with 0 work-items" in none.stderr


def test_trip_counts_beside_a_workload(folder):
    done = estimated(folder, "k.cl", "--workload", "w", "--trip", "i=4")
    assert done.exit_code == 2 and "--trip is for estimates without --workload" in done.stderr
