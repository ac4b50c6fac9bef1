"""Launches that violate the convergence that a kernel's barriers rely on, through the host API: on the simulated
board and on the emulator."""

import numpy as np
import pytest

from sim import cl

pytestmark = pytest.mark.verilator
SOURCE = """__kernel void reversed(__global const int *restrict in, __global int *restrict out, int n)
{
    __local int t[64];
    int i = get_global_id(0), l = get_local_id(0);
    if (i >= n)
        return;
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[get_local_size(0) - 1 - l];
}
"""


@pytest.mark.parametrize("device", ["board", "emulator"])
def test_a_launch_ends_with_an_error_and_the_next_one_runs(device):
    context = cl.create_some_context(board="de5net", device=device)
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build()
    data = np.arange(48, dtype=np.int32)
    given = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
    result = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros_like(data))

    def reversed_up_to(n) -> np.ndarray:
        program.reversed(queue, (48,), (16,), given, result, np.int32(n)).wait()
        back = np.empty_like(data)
        cl.enqueue_copy(queue, back, result)
        return back

    kept = np.concatenate([data[15::-1], data[31:15:-1], np.zeros(16, np.int32)])
    assert (reversed_up_to(32) == kept).all()
    with pytest.raises(cl.RuntimeError, match="clEnqueueNDRangeKernel failed: OUT_OF_RESOURCES") as caught:
        reversed_up_to(24)
    for said in (
        ":8:5: error[E1004]: kernel reversed: not all work-items of group (1, 0, 0) reach this barrier",
        ":5:11: note: here the work-item with local id (8, 0, 0) of the group takes another branch than (0, 0, 0)",
    ):
        assert said in str(caught.value)
    assert (reversed_up_to(48)[32:] == data[:31:-1]).all()
