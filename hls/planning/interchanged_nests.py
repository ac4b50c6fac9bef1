"""Nests whose inner loop is a recurrence, and that may be faster with their loops interchanged.

In ``for i: { for j < i: x[i] -= l[i][j] * x[j]; x[i] /= l[i][i]; }`` the sum of a row waits for each of its terms, and
a row begins when the one before is complete, as it needs its element: nothing is left to interleave. Of a column, the
terms belong to different sums.
"""

from collections.abc import Collection

from ..diag import Span
from ..ir import Attr, Function, Module, Op, is_access, memory_name, walk
from ..ir.clone import clone_function
from .gathering_nests import only_inner
from .schedule import KernelPlan
from .schedule.interleaving import together
from .schedule.nest_time import nest_time

__all__ = ["interchange_gains", "interchangeable_nests", "interchanged_places", "to_interchange"]


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
