"""Cycles that kernels take of the memory in the simulated whole system, which is LiteDRAM's, or of the simulated board:
what its figures of [memory.timing] are compared with.

python -m tests.sim.soc.latencies [--simulated-board]
"""

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sim import cl

from .test_simulated import system

__all__ = ["cycles"]

BOARD = "ulx3s"
SOURCE = """__kernel void chase(__global const int *restrict next, __global int *restrict out, int n)
{
    int at = 0;
    for (int i = 0; i < n; i++)
        at = next[at];
    out[0] = at;
}
__kernel void total(__global const int *restrict a, __global int *restrict b, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    b[0] = s;
}
__kernel void copy(__global const int *restrict a, __global int *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i];
}
"""
#: kernel -> two numbers of iterations; the difference has neither start nor end
LENGTHS = {"chase": (32, 96), "total": (256, 1024), "copy": (256, 1024)}
ELEMENTS, STEP = 2048, 577


def cycles() -> Iterator[tuple[str, float]]:
    """The kernels with the cycles of an iteration: a load that waits for the one before, one in a stream, and one with
    a store in another."""
    context = cl.create_some_context()
    queue, program = cl.CommandQueue(context), cl.Program(context, SOURCE).build()
    order = np.arange(ELEMENTS, dtype=np.int32) * STEP % ELEMENTS
    following = np.empty(ELEMENTS, np.int32)
    following[order] = np.roll(order, -1)
    flags = cl.mem_flags
    read = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=following)
    written = cl.Buffer(context, flags.READ_WRITE, following.nbytes)
    for name, lengths in LENGTHS.items():
        taken = []
        for length in lengths:
            event = getattr(program, name)(queue, (1,), None, read, written, np.int32(length))
            event.wait()
            taken.append(event.stats.to_dict()["cycles"])
        yield name, (taken[1] - taken[0]) / (lengths[1] - lengths[0])


def main() -> None:
    """Print the cycles of an iteration of each kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated-board", action="store_true", help="of `sluice run`, not of the whole system")
    given = parser.parse_args()
    os.environ["SLUICE_BOARD"] = BOARD
    if given.simulated_board:
        _print()
        return
    with tempfile.TemporaryDirectory(prefix="sluice-latencies-") as temporary:
        source = Path(temporary) / "k.cl"
        source.write_text(SOURCE)
        with system(source, Path(temporary)) as port:
            os.environ["SLUICE_DEVICE"] = f"uart:{port}"
            _print()


def _print() -> None:
    for name, each in cycles():
        print(f"{name}: {each:.2f} cycles an iteration", flush=True)


if __name__ == "__main__":
    main()
