"""The same host program with pyopencl itself (not sim.cl), through the driver.

python host.py [kernel.cl]
"""

import sys
from pathlib import Path

import numpy as np
import pyopencl as cl

source = Path(sys.argv[1] if len(sys.argv) > 1 else "kernel.cl").read_text()
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
print("device:", context.devices[0].name)
kernel = cl.Kernel(cl.Program(context, source).build(), "saxpy")

x, a = np.arange(1024, dtype=np.float32), np.float32(2.5)
y = 2 * x
flags = cl.mem_flags
dx = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
dy = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=y)
event = kernel(queue, x.shape, (64,), dx, dy, a)
result = np.empty_like(y)
cl.enqueue_copy(queue, result, dy, wait_for=[event])

wrong = int(np.sum(result != a * x + y))
print(f"{x.size} elements, {wrong} wrong, {event.profile.end - event.profile.start} ns")
sys.exit(wrong != 0)
