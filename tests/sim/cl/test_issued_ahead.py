"""Loads of speculative iterations that were squashed have no visible effect: they fail neither their launch nor a
later one."""

import re
from pathlib import Path

import numpy as np
import pytest

from hls import Options, compile
from hls.report.collect import collect
from sim import cl

pytestmark = pytest.mark.verilator
SOURCE = Path(__file__).with_name("issued_ahead.cl").read_text()
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module", params=["ecp5_onchip", "de5net"])
def board(request):
    context = cl.create_some_context(board=request.param)
    return context, cl.CommandQueue(context), cl.Program(context, SOURCE).build()


def run(board, kernel, *arguments):
    """The arrays among the arguments after a launch; each buffer is as large as its array."""
    context, queue, program = board
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=a) if isinstance(a, np.ndarray) else a for a in arguments]
    getattr(program, kernel)(queue, (1,), None, *buffers).wait()
    after = []
    for array, buffer in zip(arguments, buffers):
        if isinstance(array, np.ndarray):
            after.append(np.empty_like(array))
            cl.enqueue_copy(queue, after[-1], buffer).wait()
    return after


def test_a_loop_that_ends_at_a_sum(board):
    a, b = np.full(16, 5, np.int32), np.arange(16, dtype=np.int32)
    b[-1] = 1000
    assert np.array_equal(run(board, "stop_at_sum", a, b, np.zeros(16, np.int32))[2], a * b)


def test_insertion_sort_whose_scan_goes_below_the_first_element(board):
    values = RNG.integers(0, 1000, 48).astype(np.int32)
    assert np.array_equal(run(board, "insertion", values, np.int32(48))[0], np.sort(values))


def test_a_list_whose_last_element_ends_it(board):
    order = RNG.permutation(np.arange(1, 40))
    follow = np.zeros(40, np.uint32)
    for at, then in zip([0, *order], [*order, order[-1]]):
        follow[at] = then
    assert run(board, "chase", follow, np.zeros(1, np.uint32))[1][0] == 39


def test_a_text_that_ends_its_buffer(board):
    text = np.append(RNG.integers(1, 255, 60), 0).astype(np.uint8)
    assert run(board, "length", text, np.zeros(1, np.uint32))[1][0] == 60


@pytest.mark.parametrize("board", ["ecp5_onchip"], indirect=True)
def test_iterations_in_vain_are_as_many_as_the_report_says(board):
    """Memory on the chip answers after a fixed time, so that nothing stalls: behind the iterations of the program there
    are those that were issued until the exit was known."""
    context, queue, program = board
    alone = re.search(r"__kernel void length.*?\n}\n", SOURCE, re.DOTALL)[0]
    (loop,) = collect(compile(alone, "ecp5_onchip", Options(), "k.cl"), "k.cl").kernels[0].loops
    issued = []
    for n in (10, 60):
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        arrays = np.append(np.full(n, 7), 0).astype(np.uint8), np.zeros(1, np.uint32)
        event = program.length(queue, (1,), None, *(cl.Buffer(context, flags, hostbuf=array) for array in arrays))
        event.wait()
        issued.append(event.stats.to_dict()["loops"][0]["iterations"])
    assert issued == [10 + loop.speculated, 60 + loop.speculated] and loop.speculated > 0


def test_radix_sort(board):
    keys = RNG.integers(0, 256, 50).astype(np.uint32)
    once = run(board, "digits", keys, np.zeros(50, np.uint32), np.zeros(16, np.uint32), np.uint32(50), np.uint32(0))[1]
    assert np.array_equal(
        run(board, "digits", once, np.zeros(50, np.uint32), np.zeros(16, np.uint32), np.uint32(50), np.uint32(4))[1],
        np.sort(keys),
    )


@pytest.mark.parametrize(
    "kernel, scalars", [("beyond", [np.int32(5000)]), ("unguarded", [np.int32(-1), np.int32(5000)])]
)
def test_what_the_program_really_reads_behind_the_end_is_told_and_of_that_launch_alone(board, kernel, scalars):
    a = RNG.integers(0, 1000, 16).astype(np.int32)
    with pytest.raises(cl.RuntimeError, match=r"load of a at line \d+"):
        run(board, kernel, a, np.zeros(1, np.int32), *scalars)
    assert run(board, "beyond", a, np.zeros(1, np.int32), np.int32(16))[1][0] == a.sum()
