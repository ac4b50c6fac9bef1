"""A kernel that asks for its compute unit, on the model: which unit runs a group depends on the cycle."""

import numpy as np
import pytest

from sim import cl

SOURCE = """
__attribute__((reqd_work_group_size(16, 1, 1))) __attribute__((num_compute_units(2, 2)))
__kernel void who(__global const int *restrict a, __global int *restrict out) {
    int n = a[get_group_id(0) % 7] * 3, s = 0;
    for (int i = 0; i < n; i++) s = (s * 5) ^ (i + get_compute_id(1));
    out[get_global_id(0)] = 1000 * (get_compute_id(0) * 2 + get_compute_id(1)) + (s & 511);
}
"""
LENGTHS = np.array([3, 1, 4, 1, 5, 9, 2], np.int32)
GROUPS = 40


def run(device):
    """The cycles, and what each group has written."""
    context = cl.create_some_context(board="ecp5_onchip", device=device)
    program, queue = cl.Program(context, SOURCE).build(), cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    a = cl.Buffer(context, flags, hostbuf=LENGTHS)
    out = cl.Buffer(context, flags, hostbuf=np.zeros(16 * GROUPS, np.int32))
    event = program.who(queue, (16 * GROUPS,), (16,), a, out)
    event.wait()
    found = np.empty(16 * GROUPS, np.int32)
    cl.enqueue_copy(queue, found, out).wait()
    return event.stats.to_dict()["cycles"], found.tolist()


def value(group, unit):
    """What a work-item writes."""
    s = 0
    for i in range(int(LENGTHS[group % 7]) * 3):
        s = (s * 5) ^ (i + unit % 2)
    return 1000 * unit + (s & 511)


@pytest.fixture(scope="module")
def predicted():
    return run("model")


def test_each_group_is_of_the_unit_that_ran_it(predicted):
    _, found = predicted
    units = [one // 1000 for one in found[::16]]
    assert found == [value(group, units[group]) for group in range(GROUPS) for _ in range(16)]
    assert set(units) == {0, 1, 2, 3} and units != [group % 4 for group in range(GROUPS)]


@pytest.mark.verilator
def test_cycles_and_units_are_those_of_the_board(predicted):
    assert run("board") == predicted
