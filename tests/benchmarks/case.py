"""What a benchmark is: a kernel of plain text, its data, its reference result and the least cycles that it needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["KERNELS", "Arguments", "Case", "Latencies"]

KERNELS = Path(__file__).parent / "kernels"
RNG_SEED = 11

#: The arguments of a kernel, in its order: arrays for buffers, numpy scalars for the rest.
Arguments = Sequence[np.ndarray | np.generic]


@dataclass(frozen=True)
class Latencies:
    """Cycles that a part adds to a recurrence which it stands in, on one board; a recurrence takes one more, for the
    register of what it carries."""

    add: int  #: of floats
    multiply: int  #: of floats
    divide: int  #: of floats


@dataclass(frozen=True)
class Case:
    """One kernel with its data.

    ``make`` makes the arguments from a random generator. ``golden`` computes what the kernel computes, in place, in
    plain Python or numpy. ``bound`` gives the least cycles on any hardware that keeps the order of floating-point
    operations and has one pipeline for each loop: the iterations of the innermost loops times the II that the
    program's own recurrences force. A recurrence of an inner loop counts only if the iterations around it depend on
    each other, as they are interleaved otherwise. Memory is ideal: a load answers in the cycle in which it is asked.
    """

    file: str
    kernel: str
    make: Callable[[np.random.Generator], Arguments]
    golden: Callable[..., None]
    bound: Callable[[Arguments, Latencies], int]

    @property
    def source(self) -> str:
        return (KERNELS / self.file).read_text()

    def arguments(self) -> Arguments:
        """The arguments before a run; the same at each call."""
        return self.make(np.random.default_rng(RNG_SEED))

    def expected(self) -> Arguments:
        """The arguments after a run."""
        arguments = self.arguments()
        with np.errstate(over="ignore"):
            self.golden(*arguments)
        return arguments
