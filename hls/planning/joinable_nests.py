"""Nests that may be faster as one loop, and the two ways to make them that."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ..diag import Code, Diagnostic, Span
from ..ir import Attr, Function, Module, Op
from ..target.board import Board
from .gathering_nests import MOST_WORK, gains, gathering_nests
from .schedule import KernelPlan
from .tested_nests import shortens, tested_nests, way
from .waiting_nests import WaitingNest, waiting_nests

__all__ = ["JoinableNest", "joinable_nests", "nests_by_test", "untried"]


class Planned(Protocol):
    """A kernel with its schedule."""

    @property
    def function(self) -> Function:
        """After all passes."""

    @property
    def plan(self) -> KernelPlan:
        """Its schedule."""


@dataclass(frozen=True)
class JoinableNest:
    """The outer ``loop`` of a nest that may be faster as one loop, ``how`` to make it that (the attribute that asks
    for it), and what says of a plan whether it is faster there."""

    loop: Op
    how: str
    gains: Callable[[KernelPlan], bool]

    @property
    def place(self) -> tuple[Span | None, str]:
        """What identifies it in the program, too."""
        return self.loop.span, self.how


def joinable_nests(kernel: Planned, program: Module, board: Board) -> list[JoinableNest]:
    """The nests of a planned kernel, the only one of the program, that may be faster as one loop."""
    latency, word, plan = board.read_latency, board.memory.word_bytes, kernel.plan
    gathering = [(one, partial(gains, one, plan)) for one in gathering_nests(kernel.function, plan)]
    waiting = [
        (one.outer, partial(_waits_less, one, program, latency, word)) for one in waiting_nests(kernel.function, plan)
    ]
    others = [JoinableNest(loop, Attr.LOOP_COALESCE, gain) for loop, gain in (*gathering, *waiting)]
    return [*nests_by_test(kernel, board), *others]


def nests_by_test(kernel: Planned, board: Board) -> list[JoinableNest]:
    """Those whose inner loop may run seldom, as one loop by its test, or by its end if it has no test; of a kernel with
    copies of buffers each once."""
    found = {one.span: one for one in tested_nests(kernel.function, kernel.plan, board.memory.kind == "onchip")}
    return [JoinableNest(one, way(one), partial(shortens, one, kernel.plan)) for one in found.values()]


def _waits_less(nest: WaitingNest, program: Module, latency: int, word: int, plan: KernelPlan) -> bool:
    return nest.gains(program, plan, latency, word)


def untried(name: str, nests: list[Op]) -> Diagnostic:
    """The note that nests of a kernel were not tried."""
    others = f", and {len(nests) - 1} more" if len(nests) > 1 else ""
    return Diagnostic(
        f"kernel '{name}': this loop and the one inside it were not tried as one loop{others}: "
        f"the attempts for a kernel may plan {MOST_WORK:,} operations in total",
        nests[0].span,
        "write '#pragma loop_coalesce 2' before this loop if the gathered elements are seldom the last ones stored",
        "note",
        code=Code.NESTS_UNTRIED,
    )
