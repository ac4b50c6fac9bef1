"""Nests whose inner loop mostly does not run, and that may be faster as one loop.

In ``for i: { while (q > 0 && p[q] != t[i]) q = next[q - 1]; if (p[q] == t[i]) q++; }`` one iteration of the outer loop
at a time executes the inner one, as each begins with the state that the one before left. It passes the queues into the
inner loop and out of it, most often for no or one iteration of that. As one loop, an iteration is one of the inner
loop, or ends one of the outer loop (:mod:`hls.passes.loops.flatten_tested_pair`), and waits for the longer recurrence
of both only. An inner loop that runs at least once, as a ``do``, has no such test: there the last iteration of the
inner loop also ends one of the outer loop, as if the program asked for that (``loop_coalesce``).

How often the inner loop runs is not known. So the nest is left alone if the one loop would take more than
``MOST_AGAIN`` times as long for many iterations of the inner loop, and also where it takes more than a share of the
present time without any: it takes at most ``MOST_AGAIN`` times as long, whatever the inner loop does. An inner loop
that divides an index until what it loads there ends it, as an element that moves up in a heap does, runs at most as
often as an address has bits, and mostly once or twice: there the most iterations decide. A kernel that
works on copies of its buffers decides at run time: where a launch has larger ones, the nest is two loops, since in
external memory a test that loads takes many times the inner loop's II.
"""

from dataclasses import dataclass

from ..analysis.induction.trip_count import count_trips
from ..analysis.loops.backward_slice import backward_slice
from ..ir import Attr, Function, Op, Region, Value, is_access, memory_name, walk
from ..ir.rewrite import constant
from ..narrow import present
from .gathering_nests import only_inner
from .schedule import KernelPlan
from .schedule.interleaving import together
from .schedule.nest_time import assumed_trips

__all__ = ["shortens", "tested_nests", "way"]

#: how many times the II of the inner loop that of the one loop may be
MOST_AGAIN = 2
#: an outer iteration without inner ones takes at least this share of the outer II: the queues on the way
SHORT = 2
#: iterations that are assumed of an inner loop that divides its index until what it loads ends it: half of all elements
#: of a heap have no place above their own, and a quarter one
DIVIDED_TRIPS = 2
#: operations between a carried index and its quotient
_BETWEEN = frozenset({"add", "sub", "zext", "sext", "trunc"})
_QUOTIENTS = frozenset({"lshr", "ashr", "udiv", "sdiv"})


def tested_nests(function: Function, plan: KernelPlan, onchip: bool) -> list[Op]:
    """The outer loops of nests, as scheduled, of which one iteration at a time executes the inner loop. ``onchip``:
    global memory is on the chip. Where the way from a store to a load of one memory takes a time that no schedule
    knows, as in external memory, such a nest only loads a memory, or only stores to it: one loop would wait for that
    in all of its iterations."""
    if function.attrs.get(Attr.NDRANGE):
        return []
    return [
        loop
        for loop, region in plan.loops.items()
        if region.cause == "crossing"
        and loop.span is not None
        and only_inner(loop) is not None
        and (onchip or not _waits_for_stores(function, loop.regions[0]))
    ]


def way(loop: Op) -> str:
    """The attribute by which such an outer loop becomes one with the loop inside it."""
    always = constant(present(only_inner(loop)).operands[0]) == 1
    return Attr.FLATTEN_BY_END if always else Attr.FLATTEN_BY_TEST


def _waits_for_stores(function: Function, body: Region) -> bool:
    """Whether a memory that is no part of the kernel is both loaded and stored."""
    accesses = [op for op in walk(body) if is_access(op) and not function.memories[memory_name(op)].onchip]
    loaded, stored = ({memory_name(op) for op in accesses if (op.opcode == "load") is loads} for loads in (True, False))
    return bool(loaded & stored)


def shortens(loop: Op, plan: KernelPlan, merged: KernelPlan) -> bool:
    """Whether iterations of the outer ``loop`` take fewer cycles wherever they are part of one loop: with few
    iterations of the inner loop and with none, and not many more with many. A kernel with copies of buffers has the
    loop twice, and may be ``merged`` in the body that works on copies only."""
    before = {one.attrs.get(Attr.COPYING): one for one in plan.loops if one.span == loop.span and only_inner(one)}
    after = [one for one in merged.loops if one.span == loop.span and _is_innermost(one)]
    pairs = [(before.get(one.attrs.get(Attr.COPYING)), one) for one in after]
    return bool(pairs) and all(
        one is not None and _Cycles.of(one, plan).exceed(_turn(other, merged), Attr.FLATTENED in other.attrs)
        for one, other in pairs
    )


def _is_innermost(loop: Op) -> bool:
    return not any(op.opcode == "loop" for op in loop.regions[0].ops)


@dataclass(frozen=True)
class _Cycles:
    """What a nest takes: an iteration of the inner loop, and one of the outer loop beside those; and how many ``trips``
    the inner loop makes, as far as it is known, or as :func:`assumed_trips` says; and how many it makes at ``most``, if
    something bounds these."""

    inner: float
    outer: int
    trips: int
    most: int | None = None

    @classmethod
    def of(cls, loop: Op, plan: KernelPlan) -> "_Cycles":
        """Those of the nest with this outer loop."""
        inner = present(only_inner(loop))
        trips = count_trips(inner)
        count = trips.count if trips and trips.exact else assumed_trips(inner, loop.regions[0])
        most = _most_divisions(inner)
        return cls(_turn(inner, plan), plan.loops[loop].ii, DIVIDED_TRIPS if most else count, most)

    def exceed(self, then: float, by_test: bool) -> bool:
        """Whether one loop, whose iterations take so many cycles, is faster; ``by_test``, with one more of them for
        each of the outer loop."""
        few = (by_test + self.trips) * then < self.trips * self.inner + self.outer
        return few and SHORT * then <= self.outer and self._is_short_enough(then, by_test)

    def _is_short_enough(self, then: float, by_test: bool) -> bool:
        """Whether many iterations of the inner loop do not take much longer."""
        if self.most is None:
            return then <= MOST_AGAIN * self.inner
        return (by_test + self.most) * then <= MOST_AGAIN * (self.most * self.inner + self.outer)


def _most_divisions(loop: Op) -> int | None:
    """The most iterations of a loop that divides an index of what it accesses, and ends at what it loads there, too:
    as many as an address has bits. None for other loops."""
    (body,) = loop.regions
    deciding = backward_slice([body.terminator.operands[0]], body.ops)
    if not any(op.opcode == "load" for op in deciding):
        return None
    nexts = zip(body.args, body.terminator.operands[1:], strict=True)
    if not any(_divides(arg, following) for arg, following in nexts):
        return None
    places = [op.operands[0].defining_op for op in body.ops if is_access(op)]
    return max(place.operands[0].type.bits for place in places if place.opcode == "addr")


def _divides(arg: Value, following: Value) -> bool:
    """Whether a carried value is divided by a constant in each iteration."""
    divided, value = False, following
    while value is not arg and value.op is not None:
        op = value.op
        if op.opcode in _QUOTIENTS and constant(op.operands[1]) not in (None, 0, 1 if "div" in op.opcode else 0):
            divided = True
        elif op.opcode not in _BETWEEN:
            return False
        value = op.operands[0]
    return divided and value is arg


def _turn(loop: Op, plan: KernelPlan) -> float:
    """The cycles of an iteration, with all invocations that take turns."""
    return plan.loops[loop].ii / together(plan)[loop]
