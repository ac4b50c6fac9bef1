"""Accesses that the memory refuses, on every port of a kernel: the access that is named, and that the board
continues; resets in mid-run."""

import numpy as np
import pytest

from sim import cl
from sim.shared import Response

pytestmark = pytest.mark.verilator
mf = cl.mem_flags
SOURCE = """__kernel void many(__global const int *restrict a, __global const int4 *restrict b, __global const int *restrict index,
                   __global int *restrict out, __global int *restrict wide, __global int *restrict count,
                   __constant int *table, __global const int *restrict once, __global int *restrict done, int n)
{
    int first = once[n / 2 + 2];
    for (int i = 0; i < n; i++) {
        int4 four = b[i];
        out[i] = a[i] + four.x + table[i];
        int at = index[i];
        int gathered = a[at];
        #pragma unroll
        for (int k = 0; k < 3; k++)
            wide[3 * i + k] = gathered + k;
        atomic_add(&count[i & 255], four.y);
    }
    done[n / 2 + 2] = first + n;
}
"""
N = 256
#: buffer, the accesses that meet its errors, as the message names them
PORTS = [
    ("a", ("load of a at line 8", "load of a at line 10")),
    ("b", ("load of b at line 7",)),
    ("index", ("load of index at line 9",)),
    ("out", ("store of out at line 8",)),
    ("wide", ("store of wide at line 13",)),
    ("count", ("atomic of count at line 14",)),
    ("table", ("load of table at line 8",)),
    ("once", ("load of once at line 5",)),
    ("done", ("store of done at line 16",)),
]
SIZES = {
    "a": 4 * N,
    "b": 16 * N,
    "index": 4 * N,
    "out": 4 * N,
    "wide": 12 * N,
    "count": 4 * 256,
    "table": 4 * N,
    "once": 4 * N,
    "done": 4 * N,
}
OUTPUTS = ("out", "wide", "count", "done")
SEEDS = [0, 5]  #: of random stalls on every channel, 0 for none


class Board:
    def __init__(self):
        self.context = cl.create_some_context(board="de5net")
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, SOURCE).build()
        self.program._system.hasty = True
        rng = np.random.default_rng(1)
        self.arrays = {name: rng.integers(0, N, size // 4).astype(np.int32) for name, size in SIZES.items()}
        self.buffers = {
            name: cl.Buffer(self.context, mf.COPY_HOST_PTR, hostbuf=array) for name, array in self.arrays.items()
        }

    def stall(self, seed):
        """From here on streams in the design and all channels of the memory are stalled at random."""
        self.program._system.session.reset(seed)

    def launch(self, n=N):
        for name, array in self.arrays.items():
            self.buffers[name].bytes[:] = array.view(np.uint8)
        return self.program.many(self.queue, (1,), None, *self.buffers.values(), np.int32(n))

    def begin(self, cycles):
        """Start the kernel, and leave it after so many cycles."""
        system = self.program._system
        kernel = next(k for k in system.interface.kernels if k.name == "many")
        arguments = {name: buffer.address for name, buffer in self.buffers.items()} | {"n": N}
        system.start(kernel, arguments, {name: 0 for name in kernel.launch})
        system.session.run(cycles)

    def check(self, names=OUTPUTS):
        """Run, and compare every byte of these buffers."""
        self.launch().wait()
        a, b, index, _, _, count, table, once, done = self.arrays.values()
        four = b.reshape(-1, 4)
        np.add.at(count := count.copy(), np.arange(N) & 255, four[:, 1])
        (done := done.copy())[N // 2 + 2] = once[N // 2 + 2] + N
        wanted = {
            "out": a + four[:, 0] + table,
            "wide": (a[index][:, None] + np.arange(3)).reshape(-1),
            "count": count,
            "done": done,
        }
        for name in names:
            assert np.array_equal(self.buffers[name].bytes.view(np.int32), wanted[name]), name

    @property
    def memory(self):
        return self.context.simulated.memory


@pytest.fixture(scope="module")
def board():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLUICE_STALL_SEED", "1")  # so the design has places where it can be stalled
        running = Board()
        running.stall(0)
    running.check()
    yield running
    running.program._system.close()


def test_every_kind_of_unit_is_there(board):
    (kernel,) = board.program._result.kernels
    units = {access.lsu for access in kernel.memory.accesses.values()}
    assert units == {
        "burst-coalesced",
        "burst-coalesced non-aligned",
        "burst-coalesced cached",
        "prefetching",
        "pipelined",
        "constant-pipelined",
        "atomic-pipelined",
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("response", Response)
@pytest.mark.parametrize("name, culprits", PORTS, ids=[name for name, _ in PORTS])
def test_an_error_in_mid_burst_names_the_access(board, name, culprits, response, seed):
    """Half a word in the middle of the buffer fails, once with each answer of AXI; then the same launch is right
    again."""
    board.stall(seed)
    middle = board.buffers[name].address + SIZES[name] // 128 * 64
    board.memory.fail(middle + 8, middle + 40, response)
    with pytest.raises(cl.RuntimeError) as caught:
        board.launch().wait()
    board.memory.fail(0, 0)
    text = str(caught.value)
    assert "kernel many, " in text
    assert any(each in text for each in culprits), text
    others = [each for other, lines in PORTS if other != name for each in lines]
    assert not any(each in text for each in others), text
    assert (
        f"of argument `{name}` (address {middle:#x})" in text
        or f"of argument `{name}` (address {middle + 8:#x})" in text
    )
    assert "with an error" in text
    board.check()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name, culprits", PORTS, ids=[name for name, _ in PORTS])
def test_an_access_outside_its_buffer_names_the_line(board, name, culprits, seed):
    board.stall(seed)
    whole = board.buffers[name]
    board.buffers[name] = cl.Buffer(board.context, mf.READ_WRITE, SIZES[name])
    board.buffers[name].bytes[:] = 0
    allocated = board.buffers[name].allocation
    ranges = [(one.address, one.end) for one in board.context.simulated._allocations if one != allocated]
    board.memory.publish([*ranges, (allocated.address, allocated.end - SIZES[name] // 2)])
    with pytest.raises(cl.RuntimeError) as caught:
        board.launch().wait()
    board.buffers[name].release()
    board.buffers[name] = whole
    assert any(each in str(caught.value) for each in culprits), str(caught.value)
    assert f"of argument `{name}`" in str(caught.value)
    board.check()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cycles", [60, 200, 333, 701])
def test_a_reset_of_the_design_in_mid_run(board, cycles, seed):
    """The memory is not reset: it still answers what was asked before, and completes the bursts that were begun.

    What was written before may come into memory behind what the host writes meanwhile. In the first run that can be
    seen in counts only, which start at what the host wrote.
    """
    board.stall(seed)
    board.begin(cycles)
    board.program._system.session.restart()
    board.program._system.forget()
    board.check(("out", "wide", "done"))
    board.check()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cycles", [60, 200, 333, 701])
def test_a_reset_of_design_and_memory_in_mid_run(board, cycles, seed):
    """What the design knows to be on its way through its reset, it gets: else it took the next run's answers for
    those."""
    board.stall(seed)
    board.begin(cycles)
    board.stall(seed)
    board.program._system.forget()
    board.check()


def test_a_reset_may_begin_in_any_cycle(board):
    """A word that is on offer when the reset begins is taken back: the memory must not take it, too."""
    for cycles in range(630, 662):
        board.stall(0)
        board.begin(cycles)
        board.stall(0)
        board.program._system.forget()
        board.check()
