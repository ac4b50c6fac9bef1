"""Loop unrolling."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ...analysis.induction.trip_count import Trips, count_trips
from ...analysis.loops.loop_tree import Loop
from ...diag import Code, CompileError, Diagnostic, Span
from ...ir import Attr, Builder, Function, Op, Region, Value, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, inline_region, rewrite
from ...limits import exceeded
from ...narrow import present
from ..manager import Form, FunctionPass
from .loop_copies import chain
from .merged_attributes import CONTROLS
from .unroll_policy import AutoUnrollPolicy

__all__ = ["Unroll", "Unrolled", "fully_unrolled"]


@dataclass(frozen=True)
class Unrolled:
    """A loop of the source that was unrolled. ``asked``: by a pragma; ``full``: no loop remains."""

    kernel: str
    span: Span | None
    copies: int
    full: bool
    asked: bool


def fully_unrolled(record: Callable[[Unrolled], None] | None) -> Callable[[str, Span | None, int, bool], None] | None:
    """A callback (kernel, place, copies, asked for) that records a loop as entirely unrolled; None without
    ``record``."""
    if record is None:
        return None
    return lambda kernel, span, copies, asked: record(Unrolled(kernel, span, copies, True, asked))


#: operations that unrolling loops without a pragma makes at most, in a kernel
MOST_AUTOMATIC = 10_000


@dataclass(frozen=True)
class Unroll(FunctionPass):
    """Loop unrolling (LLVM: LoopUnroll) of marked loops, outer loops before inner ones (whose bounds become constant by
    it): run until unchanged.

    A loop's ``unroll`` attribute is -1 (entirely), N (the body N times), 1 (never) or 0 (not marked). Before: SSA, with
    `if`. After: a loop that was unrolled entirely is gone; N copies of another one are one body in which each copy
    after the first runs only if the previous one continues (unless that is known). Loops that ``small`` chooses are
    unrolled without a mark, unless the source controls them by loop attributes, or the kernel's ``max_unroll_loops``
    allows fewer copies. The same holds for loops of fixed trip count inside a loop marked ``pipelined``, of which the
    source expects an iteration every cycle. ``record`` is told of every loop that is unrolled, once for each copy that
    an enclosing loop made of it.
    """

    max_ops: int = 20_000
    max_guarded: int = 64
    small: AutoUnrollPolicy = field(default_factory=AutoUnrollPolicy)
    warn: Callable[[Diagnostic], None] | None = None
    record: Callable[[Unrolled], None] | None = None

    name = "unroll"
    requires = frozenset({Form.POINTERS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """Raises CompileError where the result would have more than ``max_ops`` operations."""
        result = clone_function(function)
        total = sum(1 for _ in walk(result.body))
        chosen = self._choose(result.body, result, function.attrs.get(Attr.NDRANGE, False), total)
        for op, factor, trips in chosen:
            total += self._expected(op.regions[0]) * factor - self._size(op)
            self._check_size(op, factor, total, trips)
            self._record(function, op, factor, trips)
        plan = {op: (factor, trips) for op, factor, trips in chosen}
        rewrite(result.body, lambda op, b: _unrolled(op, *plan[op], b) if op in plan else None)
        return result

    def _size(self, op: Op) -> int:
        return sum(1 for _ in walk(op.regions[0]))

    def _expected(self, region: Region, all_inside: bool = False) -> int:
        """The number of operations of a region after its marked loops (``all_inside``: all of its loops) are unrolled,
        as far as their trip counts are known."""
        total = 0
        for op in region.ops:
            wish = op.attrs.get(Attr.UNROLL, 0) if op.opcode == "loop" else 1
            wish = wish or -all_inside
            known = _trips(op) if wish == -1 else None
            copies = known.count if known else max(1, wish)
            total += 1 + copies * sum(self._expected(inner, all_inside) for inner in op.regions)
        return total

    def _check_size(self, op, factor, total, trips):
        if total > self.max_ops:
            inner = any(
                each.opcode == "loop" and each.attrs.get(Attr.UNROLL, 0) not in (0, 1) for each in walk(op.regions[0])
            )
            raise CompileError.at(
                op.span,
                f"unrolling this loop {factor:,} times{' and those inside' if inner else ''} makes "
                f"{total:,} operations; the limit is {self.max_ops:,}",
                f"{self._smaller(op, factor, total, inner)}; {exceeded('unrolled')}",
                code=Code.BUDGET,
            )
        guarded = trips is None or not trips.exact
        if guarded and factor > self.max_guarded:
            raise CompileError.at(
                op.span,
                f"a loop whose trip count is not constant cannot be unrolled {factor:,} times",
                f"the limit is {self.max_guarded}: #pragma unroll {self.max_guarded}",
                code=Code.BUDGET,
            )

    def _smaller(self, op: Op, factor: int, total: int, inner: bool) -> str:
        """What to do about a loop that makes ``total`` operations when it is unrolled ``factor`` times."""
        one = self._expected(op.regions[0])
        fit = min((self.max_ops - total) // one + factor, factor - 1)
        if fit >= 2:
            return f"unroll it partially: #pragma unroll {1 << fit.bit_length() - 1}"
        return "unroll the loops inside it less often" if inner else "do not unroll it: #pragma unroll 1"

    def _record(self, function, op, factor, trips):
        if self.record is not None:
            full = trips is not None and factor == trips.count
            self.record(Unrolled(function.name, op.span, factor, full, op.attrs.get(Attr.UNROLL, 0) != 0))

    def _choose(
        self, region: Region, function: Function, inside: bool, total: int, pipelined=False
    ) -> list[tuple[Op, int, Trips | None]]:
        """(loop, factor, trips) of the outermost loops to unroll now. ``inside``: the region runs many times in a
        launch, ``pipelined``: in a loop so marked; ``total``: operations of the kernel."""
        found = []
        for op in region.ops:
            choice = self._decide(op, function, inside, total, pipelined) if op.opcode == "loop" else None
            if choice is not None:
                found.append((op, *choice))
            else:
                for inner in op.regions:
                    found += self._choose(
                        inner, function, inside or op.opcode == "loop", total, pipelined or Attr.PIPELINED in op.attrs
                    )
        return found

    def _decide(
        self, op: Op, function: Function, inside: bool, total: int, pipelined: bool
    ) -> tuple[int, Trips | None] | None:
        wish = op.attrs.get(Attr.UNROLL, 0)
        if wish == 1:
            return None
        if wish == 0 and not op.attrs.keys() & CONTROLS and (once := _once(op)) is not None:
            return 1, once
        if wish == 0 and not self._may_be_automatic(op, total):
            return None
        trips = _trips(op) if wish or pipelined else _few_trips(op, self.small.long_trips)
        if wish == 0:
            automatic = trips is not None and (
                self.small.chooses(op, trips, function, inside) or pipelined and self._fits_one_cycle(op, trips, total)
            )
            return (present(trips).count, trips) if automatic else None
        op.attrs[Attr.UNROLL] = 1  # done; a copy is not unrolled again
        if wish > 1 and (trips is None or wish < trips.count):
            return wish, trips
        if trips is None:
            self._warn(
                op,
                "this loop is not unrolled: its trip count is not known at compile time",
                "give a factor: #pragma unroll 8",
            )
            return None
        for name in sorted(op.attrs.keys() & CONTROLS):
            self._warn(
                op,
                f"#pragma {name} has no effect: all {trips.count} iterations of this loop are unrolled",
                "use fewer copies, or remove it",
            )
        return trips.count, trips

    @property
    def _automatic(self) -> int:
        """Operations that loops without a pragma may make."""
        return min(self.max_ops // 2, MOST_AUTOMATIC)

    def _may_be_automatic(self, op: Op, total: int) -> bool:
        """Whether the trip count decides about unrolling a loop without a pragma: counting can take thousands of steps.

        Automatic unrolling must not make a kernel too large, nor ignore other pragmas.
        """
        return total < self._automatic and not op.attrs.keys() & CONTROLS

    def _fits_one_cycle(self, op: Op, trips: Trips, total: int) -> bool:
        """Whether all iterations of a loop, and of those inside, may become part of one iteration of the loop around
        it."""
        return trips.exact and total + trips.count * self._expected(op.regions[0], all_inside=True) <= self._automatic

    def _warn(self, op: Op, message: str, hint: str):
        if self.warn is not None:
            self.warn(Diagnostic(message, op.span, hint, "warning", code=Code.LOOP_PRAGMA_NOT_FOLLOWED))


def _trips(op: Op) -> Trips | None:
    """The trip count of a loop, or an upper bound; also of one that is too long to evaluate."""
    trips = count_trips(op)
    if trips is not None:
        return trips
    most = Loop(op, None).most_trips
    return Trips(most, False) if most is not None else None


def _once(op: Op) -> Trips | None:
    """The trip count of a loop that has exactly one iteration, also around other loops; None for all others."""
    trips = count_trips(op, 1)
    return trips if trips is not None and trips.exact and trips.count == 1 else None


def _few_trips(op: Op, limit: int) -> Trips | None:
    """As :func:`_trips`, or None if there are more than ``limit``: a long loop is not evaluated to its end."""
    trips = count_trips(op, limit)
    if trips is not None:
        return trips
    most = Loop(op, None).most_trips
    return _trips(op) if most is not None and most <= limit else None


def _unrolled(loop: Op, factor: int, trips: Trips | None, b: Builder) -> list[Value]:
    """Build the replacement of the loop; returns the values of its results."""
    (body,), (enable, *inits) = loop.regions, loop.operands
    exact = trips is not None and trips.exact
    if trips is not None and factor == trips.count:
        return _under(enable, chain(body, inits, factor, lambda k: exact), inits, loop, b)
    merged = Region()
    merged.args = [Value(v.type, v.name, merged, k) for k, v in enumerate(body.args)]
    # the last iteration always falls on the same copy
    merged.ops = chain(body, merged.args, factor, lambda k: exact and (present(trips).count - 1) % factor != k).ops
    attrs = {**loop.attrs, Attr.UNROLL: 1}
    return b.op("loop", enable, *inits, attrs=attrs, results=[v.type for v in inits], regions=[merged]).results


def _under(enable: Value, then: Region, inits: list[Value], loop: Op, b: Builder) -> list[Value]:
    """The region without its ``continue``, under the loop's enable."""
    del then.terminator.operands[0]
    if constant(enable) == 1:
        return inline_region(then, b)
    otherwise = Region()
    Builder(otherwise, loop.span).op("yield", *inits)
    return b.op("if", enable, results=[v.type for v in inits], regions=[then, otherwise]).results
