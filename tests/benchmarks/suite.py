"""All cases, their runs on a device, and the figures of the table."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sim import cl
from tests.plans import planned

from . import codes, dense, dynamic, graphs, irregular, signals, sorting, sparse, stencils
from .case import Case, Latencies

__all__ = ["CASES", "Figure", "WrongResult", "latencies", "run"]

CASES: tuple[Case, ...] = tuple(
    case
    for module in (dense, stencils, dynamic, graphs, sorting, sparse, signals, codes, irregular)
    for case in module.CASES
)


class WrongResult(AssertionError):
    """A kernel left other bytes than its reference."""


@dataclass(frozen=True)
class Figure:
    """A finished run: its cycles beside the least."""

    case: Case
    cycles: int
    bound: int

    @property
    def ratio(self) -> float:
        return self.cycles / self.bound


_PROBE = """
__kernel void add(__global const float *a, __global float *b, int n)
{
    float x = 0;
    for (int i = 0; i < n; i++)
        x += a[i];
    b[0] = x;
}

__kernel void multiply(__global const float *a, __global float *b, int n)
{
    float x = 1;
    for (int i = 0; i < n; i++)
        x *= a[i];
    b[0] = x;
}

__kernel void divide(__global const float *a, __global float *b, int n)
{
    float x = 1;
    for (int i = 0; i < n; i++)
        x = a[i] / x;
    b[0] = x;
}
"""


@functools.cache
def latencies(board: str) -> Latencies:
    """What the floating-point parts add to a recurrence at the board's clock: the II of a loop that has nothing else,
    without the cycle of the carried register."""
    kernels = planned(_PROBE, board)
    found = {name: next(iter(kernel.plan.loops.values())).ii - 1 for name, kernel in kernels.items()}
    return Latencies(**found)


def run(cases: Iterable[Case], board: str, device: str = "board") -> Iterator[Figure]:
    """Build the files of the cases and run each, compared with its reference; raises WrongResult."""
    context = cl.create_some_context(board=board, device=device)
    queue, programs = cl.CommandQueue(context), {}
    for case in cases:
        if case.file not in programs:
            programs[case.file] = cl.Program(context, case.source).build()
        event = _launch(case, cl.Kernel(programs[case.file], case.kernel), context, queue)
        cycles = event.stats.to_dict()["cycles"] if device == "board" else 0
        yield Figure(case, cycles, case.bound(case.arguments(), latencies(board)))


def _launch(case: Case, kernel: cl.Kernel, context: cl.Context, queue: cl.CommandQueue) -> cl.Event:
    arguments, expected = case.arguments(), case.expected()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    passed = [cl.Buffer(context, flags, hostbuf=a) if isinstance(a, np.ndarray) else a for a in arguments]
    event = kernel(queue, (1,), None, *passed)
    event.wait()
    for position, (buffer, wanted) in enumerate(zip(passed, expected, strict=True)):
        if isinstance(wanted, np.ndarray):
            found = np.empty_like(wanted)
            cl.enqueue_copy(queue, found, buffer).wait()
            if found.tobytes() != wanted.tobytes():
                wrong = np.flatnonzero(found != wanted)
                raise WrongResult(
                    f"{case.kernel}: argument {position + 1}: {wrong.size} of {found.size} elements differ, "
                    f"the first at {wrong[:1]}: {found[wrong[:1]]}, not {wanted[wrong[:1]]}"
                )
    return event
