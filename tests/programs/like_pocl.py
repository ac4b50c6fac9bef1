"""Random kernels of work-groups, in the interpreter and on PoCL, in the launches in which they run on the board:

    python -m tests.programs.like_pocl --start 1600000 --programs 400

The numbers are those of the kernels: system S of ``campaign --groups --kernels K`` has those from S * K on.
"""

import argparse
import sys

import numpy as np

from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from tests.kernels.system import MAX_CYCLES
from tests.pocl import context as pocl_context

from .groups import group_launches, random_group_kernel

__all__ = ["differing"]

#: kernels in a program of PoCL's: it takes time for each program rather than for each kernel
BATCH = 20


def differing(context, first: int, count: int) -> list[str]:
    """What differs in the kernels of numbers ``first`` and up: a number, a buffer and the kernel's text each."""
    import pyopencl as cl

    numbers = range(first, first + count)
    kernels = [random_group_kernel(number, f"k{number}") for number in numbers]
    source = "\n".join(kernel.text for kernel in kernels)
    module = parse_source(source, "k.cl", {}, []).module
    program, queue, found = cl.Program(context, source).build(options=["-w"]), cl.CommandQueue(context), []
    for number, kernel in zip(numbers, kernels, strict=True):
        for launch in group_launches(kernel, number):
            expected = {name: array.copy() for name, array in launch.buffers.items()}
            run_kernel(
                module,
                kernel.name,
                {n: a.view("u1") for n, a in expected.items()},
                launch.scalars,
                launch.global_size,
                launch.local_size,
                launch.offset,
                MAX_CYCLES,
            )
            made = run_pocl(context, queue, program, kernel.name, launch)
            found += [
                f"{number}: {name} differs:\n{kernel.text}"
                for name in expected
                if made[name].tobytes() != expected[name].tobytes()
            ]
    return found


def run_pocl(context, queue, program, name: str, launch) -> dict[str, np.ndarray]:
    """The buffers of a launch as PoCL leaves them."""
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {key: cl.Buffer(context, flags, hostbuf=array) for key, array in launch.buffers.items()}
    cl.Kernel(program, name)(
        queue, launch.global_size, launch.local_size, *buffers.values(), np.int32(launch.scalars["n"])
    )
    made = {key: np.empty_like(array) for key, array in launch.buffers.items()}
    for key, array in made.items():
        cl.enqueue_copy(queue, array, buffers[key])
    return made


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a kernel differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--start", type=int, default=0, help="number of the first kernel")
    options = parser.parse_args(arguments)
    context, total = pocl_context(), 0
    for first in range(options.start, options.start + options.programs, BATCH):
        found = differing(context, first, min(BATCH, options.start + options.programs - first))
        total += len(found)
        for each in found:
            print(each)
    print(f"kernels {options.start} to {options.start + options.programs - 1}: {total} differed")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
