"""Random programs before and after all passes, planning included, in the interpreter: a difference is not a fault of
the hardware.

    python -m tests.programs.planned --programs 2000 --start 1000

Prints each program that differs, reduced as far as possible.
"""

import argparse
import sys

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.options import Options
from tests.kernels.system import MAX_CYCLES, Launch

from .campaign import setup_of
from .generate import Kernel, launches, random_kernel
from .shapes import random_shapes
from .shrink import shrink

__all__ = ["differs"]

#: programs in a row that are planned for one board
FOR_ONE_BOARD = 12


def differs(kernel: Kernel, seed: int) -> bool:
    """Whether the planned kernel leaves other bytes than the one of the frontend, in some launch."""
    module = parse_source(kernel.text, "k.cl", {}, []).module
    setup = setup_of(seed // FOR_ONE_BOARD)
    (planned,), _ = plan_module(module, setup.board, Options(elastic_depth=setup.elastic_depth))
    after = Module({kernel.name: planned.function}, module.sources, module.channels)
    return any(_run(module, kernel, launch) != _run(after, kernel, launch) for launch in launches(kernel, seed))


def _run(module: Module, kernel: Kernel, launch: Launch) -> dict[str, bytearray]:
    buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
    run_kernel(module, kernel.name, buffers, launch.scalars, launch.global_size, None, launch.offset, MAX_CYCLES)
    return buffers


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a program differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--start", type=int, default=1000, help="seed of the first program")
    parser.add_argument("--shapes", action="store_true", help="programs of shapes that passes look for")
    parser.add_argument("--shrink", type=int, default=200, help="tries to make a program smaller")
    options = parser.parse_args(arguments)
    found = 0
    for seed in range(options.start, options.start + options.programs):
        kernel = random_shapes(seed) if options.shapes else random_kernel(seed)
        if differs(kernel, seed):
            found += 1
            print(
                f"program {seed} "
                f"differs:\n{shrink(kernel, lambda one, number=seed: differs(one, number), options.shrink).text}",
                flush=True,
            )
    print(f"{options.programs} programs, {found} differ")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
