"""The constant cache through the host API: shared by kernels, kept across launches, invalidated by writes and by
nothing else."""

import numpy as np
import pytest

from hls.driver import compile
from hls.options import Options
from sim import cl

mf = cl.mem_flags
SOURCE = """__kernel void pick(__constant int *table, __global const int *restrict index, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = table[index[i]];
}

__kernel void pick_items(__constant int *table, __constant short *offsets, __global const int *restrict index, __global int *restrict out)
{
    int i = get_global_id(0);
    out[i] = table[index[i]] + offsets[index[i] & 15];
}

__kernel void make(__global int *restrict table, int n, int factor)
{
    for (int i = 0; i < n; i++)
        table[i] = factor * i;
}
"""
N, SIZE = 200, 512  # 2 KiB: 32 words


def units(options=None):
    result = compile(SOURCE, "de5net", options)
    return {
        (k.function.name, a.memory): a.lsu
        for k in result.kernels
        for a in k.memory.accesses.values()
        if a.direction == "load"
    }


def test_loads_of_constant_buffers_share_a_cache():
    found = units()
    assert {found["pick", "table"], found["pick_items", "table"], found["pick_items", "offsets"]} == {
        "constant-pipelined"
    }
    assert found["pick", "index"] == "prefetching"


def test_without_a_constant_cache_they_are_loads_like_others():
    assert units(Options(const_cache_bytes=0))["pick", "table"] == "burst-coalesced cached"


#: bytes that a miss fetches: eight words of 64
BLOCK = 512


class Board:
    def __init__(self):
        self.context = cl.create_some_context(board="de5net")
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, SOURCE).build()
        self.program._system.hasty = True
        rng = np.random.default_rng(3)
        self.index = rng.integers(0, SIZE, N).astype(np.int32)
        self.offsets = rng.integers(-99, 99, 16).astype(np.int16)
        # one behind the other, so that both have places of their own in the cache
        self.buffers = {
            name: cl.Buffer(self.context, mf.COPY_HOST_PTR, hostbuf=array)
            for name, array in (("table", self.tables(1)), ("offsets", self.offsets), ("index", self.index))
        }
        self.out = cl.Buffer(self.context, mf.READ_WRITE, 4 * N)

    @staticmethod
    def tables(seed):
        return np.random.default_rng(seed).integers(-9999, 9999, SIZE).astype(np.int32)

    def _run(self, event, wanted):
        event.wait()
        found = np.empty(N, np.int32)
        cl.enqueue_copy(self.queue, found, self.out)
        assert np.array_equal(found, wanted)
        return sum(m["bytes_moved"] for m in event.stats.to_dict()["memory"] if m["lsu"] == "constant-pipelined")

    def pick(self, table):
        """Bytes fetched for the table; every value is compared."""
        b = self.buffers
        return self._run(
            self.program.pick(self.queue, (1,), None, b["table"], b["index"], self.out, np.int32(N)), table[self.index]
        )

    def pick_items(self, table):
        b = self.buffers
        event = self.program.pick_items(self.queue, (N,), None, b["table"], b["offsets"], b["index"], self.out)
        return self._run(event, table[self.index] + self.offsets[self.index & 15])


@pytest.fixture(scope="module")
def board():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLUICE_STALL_SEED", "1")  # so that stalls are built in
        running = Board()
        running.program._system.session.reset(0)
    yield running
    running.program._system.close()


@pytest.mark.verilator
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_is_kept_and_what_is_not(board, seed):
    board.program._system.session.reset(seed)
    board.program._launches._constants.doubt()
    cl.enqueue_copy(board.queue, board.buffers["table"], first := board.tables(seed))
    touched = BLOCK * len(set(board.index // (BLOCK // 4)))
    assert board.pick(first) == touched
    assert board.pick(first) == 0  # kept from launch to launch
    assert board.pick_items(first) == BLOCK  # shared with another kernel: only the offsets are new
    cl.enqueue_copy(board.queue, board.buffers["table"], second := board.tables(seed + 10))
    assert board.pick(second) == touched  # the host has written
    part = board.buffers["table"].get_sub_region(1024, 64)
    cl.enqueue_copy(board.queue, part, np.full(16, 5, np.int32))
    second[256:272] = 5
    assert board.pick(second) == touched
    board.program.make(board.queue, (1,), None, board.buffers["table"], np.int32(SIZE), np.int32(3)).wait()
    assert board.pick(3 * np.arange(SIZE, dtype=np.int32)) == touched  # a kernel has
    assert board.pick(3 * np.arange(SIZE, dtype=np.int32)) == 0


@pytest.mark.verilator
def test_a_table_larger_than_the_cache(board):
    """Other places have the same numbers: all values are right, at whatever cost."""
    board.program._system.session.reset(2)
    big = np.random.default_rng(8).integers(-9999, 9999, 16384).astype(np.int32)
    table, index = board.buffers["table"], board.index
    board.buffers["table"] = cl.Buffer(board.context, mf.COPY_HOST_PTR, hostbuf=big)
    board.index = np.random.default_rng(9).integers(0, big.size, N).astype(np.int32)
    cl.enqueue_copy(board.queue, board.buffers["index"], board.index)
    try:
        assert board.pick(big) > 0
    finally:
        board.buffers["table"], board.index = table, index
        cl.enqueue_copy(board.queue, board.buffers["index"], index)
