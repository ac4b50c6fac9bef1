"""Exits with 0 if a PoCL compiles and runs the tests' programs: fifty random ones, with a bound on its memory.

    python -m tests.differential.probe NUMBER        of its platform

It is a separate process, as a compiler may abort on a processor that it does not know.
"""

import resource
import sys

from .devices import inputs, run_pocl, source_of
from .generate import random_program

BATCHES, BATCH = 2, 25
MOST_BYTES = 12 << 30


def main(number: int) -> None:
    """Raises what PoCL raises."""
    import pyopencl as cl

    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    context = cl.Context([cl.get_platforms()[number].get_devices()[0]])
    for batch in range(BATCHES):
        programs = [random_program(seed, f"p{seed}") for seed in range(BATCH * batch, BATCH * (batch + 1))]
        run_pocl(context, source_of(programs), BATCH, inputs(batch))


if __name__ == "__main__":
    main(int(sys.argv[1]))
