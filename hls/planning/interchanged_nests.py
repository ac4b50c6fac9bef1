"""Nests whose inner loop is a recurrence, and that may be faster with their loops interchanged.

In ``for i: { for j < i: x[i] -= l[i][j] * x[j]; x[i] /= l[i][i]; }`` the sum of a row waits for each of its terms, and
a row begins when the one before is complete, as it needs its element: nothing is left to interleave. Of a column, the
terms belong to different sums.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from ..analysis.memory.strides import access_patterns
from ..diag import Span
from ..ir import Attr, Function, Module, Op, is_access, memory_name, walk
from ..ir.clone import clone_function
from ..target.board import Board
from .gathering_nests import only_inner
from .schedule import KernelPlan
from .schedule.interleaving import together
from .schedule.nest_time import nest_time

__all__ = [
    "accesses_by_columns",
    "interchange_gains",
    "interchangeable_nests",
    "interchanged_places",
    "paces_by_columns",
    "suits_large_buffers",
    "to_interchange",
]

#: cycles with interchanged loops over those without, at most, in launches whose buffers are too large for copies. The
#: assumed trip counts are about the least of such launches; in larger ones the pace of the inner loop weighs more
MOST_ON_LARGE = 1.1


def interchangeable_nests(function: Function, plan: KernelPlan) -> list[Op]:
    """The outer loops of nests of which one iteration at a time passes the inner loop, which starts an iteration every
    few cycles, and reads what the nest stores."""
    if function.attrs.get(Attr.NDRANGE):
        return []
    turns = together(plan)
    found = []
    for loop, region in plan.loops.items():
        inner = only_inner(loop) if region.cause == "crossing" and loop.span is not None else None
        if inner in plan.loops and plan.loops[inner].ii > turns[inner] and _reads_what_it_stores(loop, inner):
            found.append(loop)
    return found


def _reads_what_it_stores(loop: Op, inner: Op) -> bool:
    stored = {memory_name(op) for op in walk(loop.regions[0]) if is_access(op) and op.opcode != "load"}
    return any(op.opcode == "load" and memory_name(op) in stored for op in walk(inner.regions[0]))


def to_interchange(module: Module, places: Collection[Span | None]) -> Module:
    """The program in which the loops at these places are to change places with the loops inside them."""
    functions = {name: clone_function(function) for name, function in module.functions.items()}
    for op in (op for function in functions.values() for op in walk(function.body) if op.opcode == "loop"):
        if op.span in places:
            op.attrs[Attr.LOOP_INTERCHANGE] = True
    return Module(functions, module.sources, module.channels)


def interchanged_places(lowered: Module) -> set[Span | None]:
    """The places of the loops that have changed places with the loops inside them."""
    functions = lowered.functions.values()
    return {op.span for function in functions for op in walk(function.body) if op.attrs.get(Attr.INTERCHANGED)}


def interchange_gains(plan: KernelPlan, interchanged: KernelPlan) -> bool:
    """Whether the kernel takes fewer cycles with the loops of a nest interchanged."""
    return nest_time(interchanged) < nest_time(plan)


def suits_large_buffers(plan: KernelPlan, interchanged: KernelPlan, paces: Mapping[Op, float]) -> bool:
    """Whether a kernel whose loops of a nest are interchanged for the sake of launches with small buffers is not much
    slower in the others, where ``paces`` says how many cycles memory takes for an iteration of a loop."""
    return nest_time(interchanged, paces=paces) <= MOST_ON_LARGE * nest_time(plan)


def accesses_by_columns(function: Function, word_bytes: int) -> dict[Op, Op]:
    """The accesses in interchanged nests to external memory, with words of so many bytes, of which each iteration of
    the loop around them may need another word; with that loop."""
    nests = [op for op in walk(function.body) if op.attrs.get(Attr.INTERCHANGED)]
    inside = {op for nest in nests for op in walk(nest.regions[0])}
    found = {}
    for op, pattern in access_patterns(function).items():
        memory = function.memories[memory_name(op)]
        if op not in inside or memory.space != "global" or memory.onchip:
            continue
        loop, step = pattern.steps[0]
        if step.amount is None or abs(step.amount) >= word_bytes:
            found[op] = loop
    return found


def paces_by_columns(function: Function, board: Board) -> dict[Op, float]:
    """The cycles that a bank of external memory takes for an iteration of loops with accesses by columns: each opens a
    row of the memory."""
    timing, period = board.memory.timing, board.clock.period_ns
    each = period if timing is None else timing.scattered_ns
    accesses = accesses_by_columns(function, board.memory.word_bytes)
    return {loop: count * each / period for loop, count in Counter(accesses.values()).items()}
