"""Buffers placed manually in banks that are not interleaved."""

import re
from itertools import pairwise

import numpy as np
import pytest

from hls.diag import CompileError
from hls.driver import compile
from hls.options import Options
from hls.target.board import load_board
from sim import cl
from sim.cl.options import parse_options

mf = cl.mem_flags
BANK_BYTES = load_board("de5net").memory.banks[0].bytes
COPY = """__kernel void copy(__global const float16 *restrict a, __global float16 *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i];
}
"""


@pytest.fixture
def context():
    return cl.create_some_context(board="de5net")


def test_flags_choose_the_bank(context):
    anywhere, first, second, again = (
        cl.Buffer(context, mf.READ_WRITE | flag, 1 << 16)
        for flag in (0, mf.CHANNEL_1_INTELFPGA, mf.CHANNEL_2_INTELFPGA, mf.MEM_BANK_2_ALTERA)
    )
    assert [each.address // BANK_BYTES for each in (anywhere, first, second, again)] == [0, 0, 1, 1]
    places = sorted((each.address, each.address + each.size) for each in (anywhere, first, second, again))
    assert all(end < begin for (_, end), (begin, _) in pairwise(places))
    back = second.address
    second.release()
    assert cl.Buffer(context, mf.CHANNEL_2_INTELFPGA, 1 << 10).address == back


def test_a_bank_that_is_full_or_not_there(context):
    kept = cl.Buffer(context, mf.CHANNEL_1_INTELFPGA, BANK_BYTES // 2)
    with pytest.raises(
        cl.MemoryError,
        match="no room for 1,610,612,736 bytes on bank 1 of board de5net: 1,073,741,824 of 2,147,483,648",
    ):
        cl.Buffer(context, mf.CHANNEL_1_INTELFPGA, 3 * BANK_BYTES // 4)
    assert cl.Buffer(context, mf.CHANNEL_2_INTELFPGA, 3 * BANK_BYTES // 4).address > kept.address
    with pytest.raises(cl.LogicError, match="board de5net has 2 banks of memory, and no bank 3"):
        cl.Buffer(context, mf.CHANNEL_3_INTELFPGA, 64)


@pytest.mark.parametrize("word", ["-no-interleaving=default", "--no-interleaving=DDR"])
def test_the_option(tmp_path, word):
    options = parse_options([word], tmp_path)
    result = compile(COPY, "de5net", options)
    assert result.interface.interleave_bytes == BANK_BYTES
    assert compile(COPY, "de5net").interface.interleave_bytes == 1024


def test_the_option_for_a_memory_beside_the_default_one(tmp_path):
    located = COPY.replace("__global const float16", '__global __attribute__((buffer_location("QDR"))) const float16')
    first, second = compile(located, "de5net", parse_options(["-no-interleaving=QDR"], tmp_path)).interface.memories
    assert (first.interleave_bytes, second.interleave_bytes) == (1024, second.bytes // 4)
    both = compile(
        located, "de5net", parse_options(["-no-interleaving=QDR", "-no-interleaving=default"], tmp_path)
    ).interface.memories
    assert [one.interleave_bytes for one in both] == [one.bytes // one.banks for one in both]


def test_memories_that_the_board_does_not_have():
    with pytest.raises(CompileError, match="board de5net has no memory 'HBM'") as error:
        compile(COPY, "de5net", Options(no_interleaving="HBM"))
    assert error.value.diagnostics[0].hint == "it has DDR, QDR; default is DDR"
    located = COPY.replace("__global const float16", '__global __attribute__((buffer_location("%s"))) const float16')
    assert not compile(located % "DDR", "de5net").warnings
    with pytest.raises(CompileError, match="'a' is to lie in memory 'HBM', which board de5net does not have"):
        compile(located % "HBM", "de5net")


@pytest.mark.verilator
def test_a_copy_from_bank_to_bank_takes_the_whole_bank(context):
    """Interleaved, both streams turn both banks around; placed, each bank goes one way all the time."""
    n, queue = 20000, cl.CommandQueue(context)
    data = np.random.default_rng(1).random(16 * n, dtype=np.float32)
    cycles = {}
    for options, flags in (
        ([], (0, 0)),
        (["-no-interleaving=default"], (mf.CHANNEL_1_INTELFPGA, mf.CHANNEL_2_INTELFPGA)),
    ):
        program = cl.Program(context, COPY).build(options=options)
        program._system.hasty = True
        a = cl.Buffer(context, mf.COPY_HOST_PTR | flags[0], hostbuf=data)
        out = cl.Buffer(context, mf.READ_WRITE | flags[1], data.nbytes)
        event = program.copy(queue, (1,), None, a, out, np.int32(n))
        event.wait()
        assert np.array_equal(out.bytes.view(np.float32), data)
        cycles[bool(options)] = event.stats.to_dict()["cycles"]
    peak = context.device.board.peak_bytes_per_ns * 1000 / 240  # bytes a cycle of both banks
    assert 2 * data.nbytes / cycles[True] > 0.92 * peak, cycles
    assert cycles[True] < cycles[False]


def test_one_manager_for_all_banks(tmp_path, monkeypatch):
    """Buffers over both banks of the board lie behind one port, whose addresses have as many bits as they need, and a
    copy has the bytes that it should, under stalls, too."""
    monkeypatch.setenv("SLUICE_STALL_SEED", "3")
    context = cl.create_some_context(board="de5net")
    queue, n = cl.CommandQueue(context), 200
    program = cl.Program(context, COPY).build(["-axi-masters=1", "-axi-address-bits=32"])
    data = np.random.default_rng(1).random((n, 16), np.float32)
    a = cl.Buffer(context, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=data)
    out = cl.Buffer(context, mf.WRITE_ONLY, data.nbytes)
    program.copy(queue, (1,), None, a, out, np.int32(n))
    found = np.zeros_like(data)
    cl.enqueue_copy(queue, found, out).wait()
    assert (found == data).all()


def test_managers_for_banks():
    def ports(board: str, masters: int, **more) -> list[tuple[int, int, int]]:
        found = compile(COPY, board, Options(axi_masters=masters, **more)).interface
        assert len(found.axi) == sum(memory.banks for memory in found.memories)
        assert sum(bool(re.fullmatch(r"m_axi\d+_arvalid", port.name)) for port in found.ports) == len(found.axi)
        return [(memory.banks, memory.bytes, memory.interleave_bytes) for memory in found.memories]

    whole = load_board("de5net").memory.bytes
    assert ports("de5net", 0) == ports("de5net", 2) == [(2, whole, 1024)]
    assert ports("de5net", 1) == [(1, whole, 1024)]
    assert ports("de5net", 1, no_interleaving="DDR") == [(1, whole, whole)]
    four = load_board("u250").memory
    assert ports("u250", 2) == [(2, four.bytes, four.interleave_bytes)]
    for board, masters, words in (
        ("u250", 3, "3 does not divide the number of banks of memory DDR of board u250, 4"),
        ("ulx3s", 2, r"2 does not divide the number of banks of memory \w+ of board ulx3s, 1"),
        ("ecp5_onchip", 1, r"memory of board ecp5_onchip is on the chip, and has no AXI port"),
    ):
        with pytest.raises(CompileError, match=words):
            compile(COPY, board, Options(axi_masters=masters))
