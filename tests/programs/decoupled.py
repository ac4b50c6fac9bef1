"""Random programs split into a memory part and a compute part, against the whole ones, in the interpreter.

    python -m tests.programs.decoupled --programs 320 --start 1000

Prints each program that differs, reduced as far as possible, and how many were split at all.
"""

import argparse
import sys

from hls.ir import Module
from hls.ir.concurrent import Channel
from hls.ir.interpreter import run_kernel
from hls.passes.link.decouple import Decouple
from tests.ir.new import input_of
from tests.kernels.system import MAX_CYCLES, Launch

from .generate import Kernel, launches, random_kernel
from .shrink import shrink

__all__ = ["apart", "differs", "split_of"]

#: how many values a channel holds: the parts take turns, or the memory part runs to its end at once
ROOMS = (1, None)


def split_of(text: str) -> tuple[Module, Module]:
    """The program right before the pass, and after it."""
    before = input_of(text, "decouple", first=True)
    return before, Decouple().run(before)


def run(module: Module, kernel: Kernel, launch: Launch, room: int | None = None) -> dict[str, bytearray]:
    """What a launch leaves in the buffers. All channels must be empty at its end."""
    buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
    channels = {name: [Channel(name, room)] for name in module.channels}
    sizes = launch.global_size, None, launch.offset
    run_kernel(module, kernel.name, buffers, launch.scalars, *sizes, MAX_CYCLES, channels=channels)
    left = [name for name, (channel,) in channels.items() if channel.values]
    assert not left, f"values left in {left}"
    return buffers


def differs(kernel: Kernel, seed: int) -> bool:
    """Whether a split kernel leaves other bytes than the whole one, in some launch."""
    return apart(kernel, seed, *split_of(kernel.text))


def apart(kernel: Kernel, seed: int, before: Module, after: Module) -> bool:
    """Whether two programs leave other bytes, in some launch of the kernel."""
    return any(
        run(before, kernel, launch) != run(after, kernel, launch, room)
        for launch in launches(kernel, seed)
        for room in ROOMS
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a program differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=320)
    parser.add_argument("--start", type=int, default=1000, help="seed of the first program")
    parser.add_argument("--shrink", type=int, default=200, help="tries to make a program smaller")
    options = parser.parse_args(arguments)
    found = split = 0
    for seed in range(options.start, options.start + options.programs):
        kernel = random_kernel(seed)
        before, after = split_of(kernel.text)
        split += len(after.functions) > len(before.functions)
        if apart(kernel, seed, before, after):
            found += 1
            small = shrink(kernel, lambda one, number=seed: differs(one, number), options.shrink)
            print(f"program {seed} differs:\n{small.text}", flush=True)
    print(f"{options.programs} programs, {split} split, {found} differ")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
