"""Kernels whose result depends on memory order, on the simulated board with and without stalls, against the
interpreter.

Arguments that may share a buffer do so in some launches; the hidden argument `overlap` then says that they do, and in
others that they do not.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hls.driver import compile
from hls.ir.interpreter import run_kernel
from hls.ir.launch import OVERLAP, IndexSpace
from hls.options import Options
from hls.target.board import load_board
from sim.loaded import LoadedSystem
from sim.shared import SharedMemory
from tests.kernels.chosen import chosen

pytestmark = pytest.mark.verilator
#: the text of every kernel by its name
KERNELS = {
    text.split("(")[0].split()[-1]: "__kernel" + text
    for text in (Path(__file__).parent / "order.cl").read_text().split("__kernel")[1:]
}
#: those run with stall-enabled levels, too, and on memory that never waits
SOME = ("far", "store_first", "counts", "move", "rows")
SHARING = ("store_first", "copy", "counts", "move", "sums")  #: those that may get one buffer twice
SIZE = 64  #: elements of a buffer
SEEDS = (0, 1, 2)


class System:
    """Kernels built once; runs them on given buffers."""

    def __init__(self, names, board="de5net", elastic_depth=0):
        self.board = load_board(board)
        if board == "de5net":  # latencies near those of memory make tests long and find no more
            self.board = replace(self.board, memory=replace(self.board.memory, read_latency=30))
        self.result = compile(
            "".join(KERNELS[name] for name in names),
            self.board,
            Options(random_stalls=True, elastic_depth=elastic_depth, counters=None, copy_bytes=0),
        )
        self.memory = SharedMemory(self.board.memory.bytes)
        self.loaded = LoadedSystem(self.result.verilog, self.result.interface, self.board, self.memory)
        self.kernels = {k.name: k for k in self.result.interface.kernels}

    def run(self, kernel, arrays, scalars, shared, seed):
        """The buffers after a run; ``shared`` makes all buffer arguments the first array."""
        interface, values = self.kernels[kernel], dict(scalars)
        places = {}
        for k, argument in enumerate(a for a in interface.arguments if a.kind == "buffer"):
            begin = 4096 + 1024 * (0 if shared else k)
            if begin not in places.values():
                self.memory.contents[begin : begin + arrays[k].nbytes] = arrays[k].view(np.uint8)
            places[argument.name] = begin
        self.memory.publish([(begin, begin + arrays[0].nbytes) for begin in places.values()])
        space = IndexSpace.of((scalars["n"],) if interface.ndrange else (1,))
        launch = {name: int(shared) if name == OVERLAP else space.argument(name) for name in interface.launch}
        self.loaded.session.reset(seed)
        run = self.loaded.run(interface, places | values, launch)
        # a load that turns out not to be made may have read beyond a buffer
        assert not run.status and all(fault.kind.is_read for fault in run.faults)
        found = [
            self.memory.contents[begin : begin + arrays[0].nbytes].view(arrays[0].dtype).copy()
            for begin in places.values()
        ]
        return found, self.result.decode(kernel, run.counters)

    def expected(self, kernel, arrays, scalars, shared):
        interface = self.kernels[kernel]
        names = [a.name for a in interface.arguments if a.kind == "buffer"]
        copies = [a.copy() for a in arrays]
        buffers = {name: copies[0 if shared else k].view(np.uint8) for k, name in enumerate(names)}
        run_kernel(self.result.module, kernel, buffers, scalars, (scalars["n"],) if interface.ndrange else (1,))
        return [copies[0 if shared else k] for k in range(len(names))]

    def close(self):
        self.loaded.close()
        self.memory.close()

    def check(self, kernel, shared):
        """Every byte like the interpreter's, for several sizes and seeds."""
        for n in (1, 2, 9, 10):
            given = arrays(kernel, n)
            wanted = self.expected(kernel, given, {"n": n}, shared)
            for seed in SEEDS:
                found, _ = self.run(kernel, given, {"n": n}, shared, seed)
                for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
                    np.testing.assert_array_equal(a, b, f"{kernel} n={n} seed={seed} buffer {k}")


@pytest.fixture(scope="module")
def system(request):
    kept = chosen(request)(frozenset(KERNELS))
    system = System([name for name in KERNELS if name in kept])
    yield system
    system.close()


@pytest.fixture(scope="module", params=[("de5net", 1000), ("ecp5_onchip", 0)], ids=["stall_enabled", "never_waits"])
def other(request):
    system = System(SOME, *request.param)
    yield system
    system.close()


def arrays(kernel, n):
    rng = np.random.default_rng(n)
    kind = np.uint8 if kernel == "bytes" else np.int32
    return [rng.integers(0, 100, SIZE).astype(kind) for _ in range(2)]


@pytest.mark.parametrize("kernel, shared", [(k, False) for k in KERNELS] + [(k, True) for k in SHARING])
def test_bytes(system, kernel, shared):
    system.check(kernel, shared)


@pytest.mark.parametrize("kernel, shared", [(k, False) for k in SOME] + [(k, True) for k in SOME if k in SHARING])
def test_bytes_on_other_machines(other, kernel, shared):
    other.check(kernel, shared)


def test_distinct_buffers_cost_nothing(system):
    """Where buffers may overlap but do not, loops go as if nobody had to ask."""
    for kernel, label in (("copy", "i"), ("sums", "j"), ("store_first", "i")):
        n = 40
        _, apart = system.run(kernel, arrays(kernel, n), {"n": n}, False, 0)
        _, shared = system.run(kernel, arrays(kernel, n), {"n": n}, True, 0)
        loop = next(loop for loop in apart["loops"] if loop["label"] == label)
        assert loop["static_ii"] == 1
        assert 2 * apart["cycles"] < shared["cycles"]


def test_a_distance_lets_iterations_overlap(system):
    """Eight iterations may be on their way at a time."""
    n = 48
    _, near = system.run("scan", arrays("scan", n), {"n": n}, False, 0)
    _, far = system.run("far", arrays("far", n), {"n": n}, False, 0)
    assert 5 * far["cycles"] < near["cycles"]


@pytest.mark.parametrize(("kernel", "labels"), [("grows", "i"), ("diagonal", "ij")])
def test_places_that_never_meet_are_not_waited_for(system, kernel, labels):
    """No fence stands in a loop whose stores nothing else touches."""
    plan = next(k.plan for k in system.result.kernels if k.plan.name == kernel)
    bodies = [op.regions[0].ops for op in plan.loops if op.attrs["label"] in labels]
    assert len(bodies) == len(labels)
    assert not any(op.opcode == "fence" for ops in bodies for op in ops)
