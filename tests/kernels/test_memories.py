"""Buffers in several memories of a board, with different words, banks and latencies."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hls.target.board import Bank, Memory, PortTiming, load_board
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "memories.cl").read_text()
N = 64


def three_memories():
    """The default board's memory; SDR memory of four narrow banks in short pieces, with bursts of four; and an AXI
    bridge of 32-byte words, where both directions share the rate."""
    board = load_board("de5net")
    sdr = load_board("ulx3s").memory.timing
    sdr = replace(sdr, beats=4, tCCD_S=4, tCCD_L=4, tRTP=4)
    fast = Memory("sdr", 64, 8, 24, (Bank(1 << 16),) * 4, sdr, "FAST", 1 << 32)
    bridge = PortTiming(8.0, 100.0, ports=1)
    wide = Memory("axi", 1024, 32, 40, (Bank(1 << 20),), bridge, "WIDE", (1 << 32) + (1 << 20))
    return replace(board, others=(fast, wide))


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE, three_memories())
    yield system
    system.close()


def launches(system, kernel: str) -> list[Launch]:
    rng = np.random.default_rng(len(kernel))
    arguments = [a for a in system.kernels[kernel].arguments if a.kind == "buffer"]
    found = []
    for n in (0, 5, N):
        buffers = {}
        for argument in arguments:
            wide = 4 if "int4" in argument.c_type else 1
            values = rng.permutation(N) if argument.name == "at" else rng.integers(-999, 999, N * wide)
            buffers[argument.name] = values.astype(np.uint32 if "uint" in argument.c_type else np.int32)
        items = {"items": ((N,), (16,)), "reversed": ((N,), (16,))}.get(kernel, ((1,), None))
        scalars = {} if kernel in ("items", "reversed") else {"n": n}
        found.append(Launch(buffers, scalars, *items, misalign=4 * (n % 3)))
    return found


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, launches(system, kernel), (0, 1, 2))


def test_each_bank_has_a_port_and_each_access_its_memory(system):
    interface = system.result.interface
    assert interface.axi == (512, 512, 64, 64, 64, 64, 256)
    assert [(m.name, m.base, m.banks) for m in interface.memories] == [
        ("DDR", 0, 2),
        ("FAST", 1 << 32, 4),
        ("WIDE", (1 << 32) + (1 << 20), 1),
    ]
    places = {
        (a.memory, a.location, a.word_bytes)
        for k in system.result.kernels
        if k.plan.name == "gather"
        for a in k.memory.outside.values()
    }
    assert places == {("table", "FAST", 8), ("at", None, 64), ("out", None, 64)}


def test_buffers_of_two_memories_do_not_meet(system):
    """No order is kept between them, so nothing says in a launch whether they overlap."""
    assert "overlap" not in system.kernels["across"].launch
    (loop,) = system.plan("across").loops.values()
    assert loop.ii == 1


def test_memories_that_nobody_names_have_no_ports():
    source = (
        '__kernel void f(__global int *restrict a, __global __attribute__((buffer_location("%s"))) int '
        "*restrict b) { b[0] = a[0]; }"
    )
    for name, widths in (("WIDE", (512, 512, 256)), ("DDR", (512, 512)), ("default", (512, 512))):
        system = KernelSystem(source % name, three_memories())
        assert system.result.interface.axi == widths
        system.check("f", [Launch({"a": np.arange(4, dtype=np.int32), "b": np.zeros(4, np.int32)})])
        system.close()
