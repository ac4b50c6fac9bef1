"""`sluice compile --workload`: the predictions that stand beside loops, in all three forms of the report."""

import contextlib
import json

import pytest
from click.testing import CliRunner, Result

from hls.cli import main
from tests.cli.test_estimate import HOST, KERNEL, sluice

#: launched three times, with a different trip count each; copies of a loop, a coalesced and an unrolled one, a barrier
LOOPS = """
__kernel void nest(__global const int *restrict a, __global int *restrict b, int n) {
    for (int r = 0; r < n; r++) {
        #pragma unroll 2
        for (int h = 0; h < 2; h++) {
            int s = 0;
            for (int c = 0; c < 6 * n; c++)
                s += a[r + c] * (h + 1);
            b[r * 2 + h] = s;
        }
        #pragma unroll
        for (int k = 0; k < 3; k++)
            b[100 + r * 3 + k] = k;
    }
    #pragma loop_coalesce
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 4; c++)
            b[200 + r * 4 + c] = r;
}
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void items(__global const int *restrict a, __global int *restrict b) {
    __local int t[8];
    t[get_local_id(0)] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = t[7 - get_local_id(0)];
}
__kernel void never(__global int *restrict b, int n) { for (int i = 0; i < n; i++) b[i] = i; }
"""
LOOPS_HOST = """
import numpy as np
from sim import cl
context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, open("loops.cl").read()).build()
a = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.arange(1000, dtype=np.int32))
b = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4000)
for n in (2, 10, 0):
    program.nest(queue, (1,), None, a, b, np.int32(n)).wait()
program.items(queue, (64,), (8,), a, b).wait()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("compile_workload")
    for name, text in {"k.cl": KERNEL, "host.py": HOST, "loops.cl": LOOPS, "loops.py": LOOPS_HOST}.items():
        (made / name).write_text(text)
    for arguments in (("w", "host.py"), ("wl", "loops.py")):
        done = sluice(made, "run", "--workload", *arguments)
        assert done.returncode == 0, done.stderr
    return made


def invoked(folder, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, [*arguments])


@pytest.fixture(scope="module")
def compiled(folder):
    done = invoked(folder, "compile", "loops.cl", "-o", "out", "--workload", "wl", "--report=full")
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def report(folder, compiled):
    return json.loads((folder / "out/report.json").read_text())


def loops_of(report, kernel: str) -> dict[str, dict]:
    found: dict[str, dict] = {}
    left = [loop for one in report["kernels"] if one["name"] == kernel for loop in one["loops"]]
    while left:
        loop = left.pop()
        found[loop["id"]] = loop
        left += loop["children"]
    return found


def test_launches_of_a_kernel_are_taken_together(report):
    loops = loops_of(report, "nest")
    outer = loops["nest/r"]["predicted"]
    assert (outer["iterations"], outer["invocations"]) == (12, 3)
    # two copies in hardware: 6 n iterations in n invocations of each of the two
    (inner,) = (one["predicted"] for name, one in loops.items() if name.endswith("/c") and name.startswith("nest/r/h"))
    assert (inner["iterations"], inner["invocations"]) == (2 * (12 * 2 + 60 * 10), 2 * 12)
    assert inner["interval"] == pytest.approx(1, abs=0.05) and inner["cause"]
    # an iteration of the outer loop takes as long as the inner one's invocation: 12 cycles in two, 60 in ten
    assert outer["interval"] == pytest.approx((2 * 12 + 10 * 60) / 12, rel=0.05)
    assert outer["cause"] == "loops inside, or memory"


def test_loops_that_are_not_in_hardware_have_no_prediction(report):
    for kernel in ("nest", "items"):
        for loop in loops_of(report, kernel).values():
            assert (loop["predicted"] is not None) == (loop["ii"] > 0), loop["id"]


def test_work_items_are_iterations(report):
    counts = {one["predicted"]["iterations"] for one in loops_of(report, "items").values() if one["work_items"]}
    assert 64 in counts


def test_launches_and_kernels_without_one(report):
    kernels = {one["name"]: one["predicted"] for one in report["kernels"]}
    assert kernels["never"] is None and all(one["predicted"] is None for one in loops_of(report, "never").values())
    assert kernels["nest"]["launches"] == 3 and kernels["items"]["launches"] == 1
    for one in (kernels["nest"], kernels["items"]):
        assert 0 < one["least"] <= one["cycles"] <= one["most"]


def test_the_same_as_estimate_says(folder, report):
    done = invoked(folder, "estimate", "loops.cl", "--workload", "wl", "--json")
    assert done.exit_code == 0, done.output
    cycles: dict[str, float] = {}
    for one in json.loads(done.stdout):
        cycles[one["kernel"]] = cycles.get(one["kernel"], 0) + one["cycles"]["likely"]
    for kernel in report["kernels"]:
        if kernel["predicted"]:
            assert kernel["predicted"]["cycles"] == pytest.approx(cycles[kernel["name"]], abs=0.01)


def test_text(folder, compiled):
    text = (folder / "out/report.txt").read_text()
    assert "Predicted: 12 iterations in 3 invocations, " in text
    assert "Predicted 3 launches: " in text and "Predicted launch: " in text
    assert "Predicted: 12 iterations" in compiled.stdout


def test_kernels_on_channels(folder):
    done = invoked(folder, "compile", "k.cl", "-o", "channels", "--workload", "w")
    assert done.exit_code == 0, done.output
    found = json.loads((folder / "channels/report.json").read_text())
    send, take = (loops_of(found, name)[f"{name}/i"]["predicted"] for name in ("send", "take"))
    assert send["iterations"] == take["iterations"] == 8
    alone = invoked(folder, "compile", "k.cl", "-o", "channels", "--workload", "w/001-send.json.gz")
    assert alone.exit_code == 1 and "error[E0911]" in alone.stderr and "ran together" in alone.stderr


def test_without_workloads_nothing_is_said_of_predictions(folder):
    done = invoked(folder, "compile", "loops.cl", "-o", "plain", "--report=full")
    assert done.exit_code == 0 and "redicted" not in done.stdout
    assert all(one["predicted"] is None for one in json.loads((folder / "plain/report.json").read_text())["kernels"])


def test_a_changed_source_is_a_warning(folder):
    (folder / "changed.cl").write_text(LOOPS + "\n// more\n")
    done = invoked(folder, "compile", "changed.cl", "-o", "changed", "--workload", "wl")
    assert done.exit_code == 0 and done.stderr.count("warning[W0910]") == 4


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("k.cl", "--workload", "wl"), "a workload of kernel nest, which k.cl does not have"),
        (("loops.cl", "--workload", "k.cl"), "not a workload, or damaged"),
        (("loops.cl", "--workload", "wl", "--board", "ecp5_onchip"), "a workload in memory words of 64 bytes"),
    ],
)
def test_workloads_of_something_else_are_refused(folder, arguments, words):
    done = invoked(folder, "compile", *arguments, "-o", "refused")
    assert done.exit_code == 1 and words in " ".join(done.stderr.split()) and "Traceback" not in done.stderr
    assert not (folder / "refused").exists()
