"""Work-item functions whose dimension is a variable, such as the counter of a loop."""

import numpy as np
import pytest

from sim import cl

SOURCE = """__kernel void f(__global uint *a, int most) {
  uint at = 0, scale = 1;
  for (int i = 0; i < most; i++) {
    at += scale * (get_global_id(i) - get_global_offset(i));
    scale *= get_global_size(i);
  }
  uint said = 0;
  for (uint i = 0; i < 4; i++)
    said = said * 100 + 10 * get_local_id(i) + get_local_size(i);
  a[at] = said;
}"""

LIMITED = """__attribute__((uses_global_work_offset(0), max_global_work_dim(2))) LIMITS
__kernel void k(__global uint *a) {
  __local uint part[8];
  uint at = get_local_id(1) * get_local_size(0) + get_local_id(0);
  part[7 - at] = get_global_id(1) * get_global_size(0) + get_global_id(0) + get_global_offset(1);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[(get_group_id(1) * get_num_groups(0) + get_group_id(0)) * 8 + at] = part[at];
}"""


@pytest.mark.parametrize("limits", ["", "__attribute__((num_compute_units(2), reqd_work_group_size(4, 2, 1)))"])
def test_a_kernel_with_a_limit_of_dimensions_and_without_an_offset(limits):
    board = cl.get_platforms()[0].get_devices()[0].board
    queue = cl.CommandQueue(cl.Context([cl.Device(board, "emulator")]))
    kernel = cl.Kernel(cl.Program(queue.context, LIMITED.replace("LIMITS", limits)).build(), "k")
    found = np.zeros(32, np.uint32)
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, found.nbytes)
    kernel(queue, (8, 4), (4, 2), buffer)
    cl.enqueue_copy(queue, found, buffer)
    tile = np.arange(32).reshape(2, 2, 2, 4).transpose(0, 2, 1, 3).reshape(4, 8)
    assert list(found) == list(tile[:, ::-1].reshape(-1))
    with pytest.raises(cl.LogicError, match="INVALID_GLOBAL_OFFSET.*remove the attribute"):
        kernel(queue, (8, 4), (4, 2), buffer, global_offset=(0, 2))
    with pytest.raises(cl.LogicError, match="INVALID_WORK_DIMENSION.*as many dimensions at most"):
        kernel(queue, (8, 4, 1), (4, 2, 1), buffer)


def test_each_dimension_and_those_that_are_absent():
    board = cl.get_platforms()[0].get_devices()[0].board
    queue = cl.CommandQueue(cl.Context([cl.Device(board, "emulator")]))
    kernel = cl.Kernel(cl.Program(queue.context, SOURCE).build(), "f")
    found = np.zeros(24, np.uint32)
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, found.nbytes)
    kernel(queue, (4, 3, 2), (2, 3, 1), buffer, np.int32(5), global_offset=(1, 2, 3))
    cl.enqueue_copy(queue, found, buffer)
    _z, y, x = np.indices((2, 3, 4)).reshape(3, -1)
    assert list(found) == [(10 * (x % 2) + 2) * 1000000 + (10 * y + 3) * 10000 + 1 * 100 + 1 for x, y in zip(x, y)]
