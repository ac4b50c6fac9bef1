"""Work-item functions whose dimension is a variable, such as the counter of a loop."""

import numpy as np

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
