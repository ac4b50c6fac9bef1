"""Buffers in memories other than the default one: allocated there, moved there by a launch, refused."""

import numpy as np
import pytest

from hls.target.board import load_board
from sim import cl

mf = cl.mem_flags
BOARD = load_board("de5net")
QDR = BOARD.memory_named("QDR")
SOURCE = """#define QDR __global __attribute__((buffer_location("QDR")))
__kernel void gather(QDR const int *restrict table, __global const int *restrict at, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = table[at[i]];
}
__kernel void copy(__global const int *a, QDR int *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i];
}
QDR int total = 5;
__global long launches;
__kernel void sum(__global int *out, int n)
{
    launches++;
    for (int i = 0; i < n; i++)
        total += i;
    out[0] = total;
    out[1] = launches;
}
"""
N = 512


@pytest.fixture
def context():
    return cl.create_some_context(board="de5net")


def lies_in_qdr(buffer) -> bool:
    return QDR.base <= buffer.address < QDR.end and buffer.memory == QDR


def test_a_buffer_is_made_in_the_memory_of_that_name(context):
    here, there, named = (cl.Buffer(context, mf.READ_WRITE, 1 << 16, memory=name) for name in (None, "QDR", "DDR"))
    assert [lies_in_qdr(one) for one in (here, there, named)] == [False, True, False]
    second = cl.Buffer(context, mf.READ_WRITE | mf.CHANNEL_3_INTELFPGA, 64, memory="QDR")
    assert (second.address - QDR.base) // QDR.banks[0].bytes == 2
    assert context.device.global_mem_size == BOARD.memory.bytes + QDR.bytes


def test_memories_and_room_that_are_not_there(context):
    with pytest.raises(cl.LogicError, match="board de5net has no memory 'HBM'; it has DDR, QDR"):
        cl.Buffer(context, mf.READ_WRITE, 64, memory="HBM")
    with pytest.raises(cl.LogicError, match="board de5net has 4 banks of memory QDR, and no bank 5"):
        cl.Buffer(context, mf.READ_WRITE | mf.CHANNEL_5_INTELFPGA, 64, memory="QDR")
    with pytest.raises(
        cl.MemoryError, match="no room for 33,554,432 bytes on memory QDR of board de5net: 0 of 33,554,432"
    ):
        cl.Buffer(context, mf.READ_WRITE, QDR.bytes, memory="QDR")


def test_moving_keeps_the_bytes_and_frees_the_place(context):
    data = np.arange(N, dtype=np.int32)
    buffer = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=data)
    part, old = buffer[64:128], buffer.address
    buffer.move_to(QDR)
    assert lies_in_qdr(buffer) and part.address == buffer.address + 64 and lies_in_qdr(part)
    found = np.empty(16, np.int32)
    cl.enqueue_copy(cl.CommandQueue(context), found, part)
    assert np.array_equal(found, data[16:32])
    assert cl.Buffer(context, mf.READ_WRITE, 64).address == old


def test_bytes_that_were_given_out_hold_a_buffer_where_it_is(context):
    buffer = cl.Buffer(context, mf.READ_WRITE, 64)
    assert buffer.bytes.size == 64
    with pytest.raises(
        cl.LogicError,
        match=r"move from memory DDR to QDR, and its bytes have been given out; create it there: cl.Buffer\(..., "
        r'memory="QDR"\)',
    ):
        buffer.move_to(QDR)


def run(context, build=None):
    """Gathers and copies through the QDR: what the three buffers hold, and the program."""
    queue, rng = cl.CommandQueue(context), np.random.default_rng(3)
    table, at = rng.integers(0, 999, 4 * N).astype(np.int32), rng.integers(0, 4 * N, N).astype(np.int32)
    program = cl.Program(context, SOURCE).build()
    if context.device.kind == "board":
        program._system.hasty = True
    tables = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=table)
    places, out = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=at), cl.Buffer(context, mf.READ_WRITE, at.nbytes)
    program.gather(queue, (1,), None, tables, places, out, np.int32(N))
    found = np.empty(N, np.int32)
    cl.enqueue_copy(queue, found, out)
    assert np.array_equal(found, table[at])
    program.copy(queue, (1,), None, places, tables, np.int32(N))  # into what lies there already
    found = np.empty(4 * N, np.int32)
    cl.enqueue_copy(queue, found, tables)
    assert np.array_equal(found, np.concatenate([at, table[N:]]))
    last = np.empty(2, np.int32)
    for count, sum in ((1, 5 + 45), (2, 5 + 90)):  # variables of the program keep their values
        program.sum(queue, (1,), None, out, np.int32(10))
        cl.enqueue_copy(queue, last, out)
        assert last.tolist() == [sum, count]
    return program, queue, tables, places, out


def test_the_emulator_knows_of_one_memory_only():
    *_, tables, places, _ = run(cl.create_some_context(board="de5net", device="emulator"))
    assert not lies_in_qdr(tables) and not lies_in_qdr(places)


@pytest.mark.verilator
def test_a_launch_moves_buffers_to_where_its_arguments_are(context):
    program, queue, tables, places, out = run(context)
    assert [lies_in_qdr(one) for one in (tables, places, out)] == [True, False, False]
    program.copy(queue, (1,), None, tables, places, np.int32(N))  # they change places
    assert [lies_in_qdr(one) for one in (tables, places, out)] == [False, True, False]
    with pytest.raises(
        cl.LogicError,
        match="kernel copy has one buffer for `a`, in memory DDR, and for `out`, in memory QDR; give it two buffers",
    ):
        program.copy(queue, (1,), None, out, out, np.int32(N))
    with pytest.raises(
        cl.RuntimeError,
        match=r"kernel copy, store of out at line 10: a write of bytes 2048 to 2051 of argument `out` \(address "
        r"0x1[0-9a-f]{8}\) "
        "leaves its buffer of 2048 bytes",
    ):
        program.copy(queue, (1,), None, tables, places, np.int32(N + 1)).wait()
    program.copy(queue, (1,), None, tables, places, np.int32(N))


@pytest.mark.verilator
@pytest.mark.parametrize("index, place", [(1 << 24, "bytes 67108864 to 67108871"), (-(1 << 29) - 2048, None)])
def test_an_index_that_leaves_a_memory_meets_no_other(context, index, place):
    """Beyond the end of the QDR there is nothing; before its begin would be the DDR, where the buffers of this kernel
    lie, too."""
    queue, program = cl.CommandQueue(context), cl.Program(context, SOURCE).build()
    program._system.hasty = True
    table = cl.Buffer(context, mf.READ_WRITE, 64, memory="QDR")
    at, out = (
        cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.array([index], np.int32)),
        cl.Buffer(context, mf.READ_WRITE, 64),
    )
    address = table.address + 4 * index & ~7
    assert not QDR.base <= address < QDR.end
    where = place and f"{place} of argument `table`" or "bytes [0-9]* to [0-9]* of argument `(at|out)`"
    with pytest.raises(
        cl.RuntimeError, match=rf"kernel gather, load of table at line 5: a read of {where} \(address {address:#x}\)"
    ):
        program.gather(queue, (1,), None, table, at, out, np.int32(1)).wait()
    assert context.simulated.memory.take_faults() == ()
