"""Stream bounds: a streaming load is told the last address of its run, so that its unit can read ahead up to there."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...analysis.affine.affine import Affine, AffineForms, Symbol
from ...analysis.affine.iteration_domain import Domains
from ...analysis.induction.trip_count import value_where
from ...analysis.loops.backward_slice import pure_slice
from ...analysis.loops.loop_tree import Loop
from ...analysis.predicates.implication import implied
from ...ir import (
    Attr,
    Builder,
    Function,
    IntType,
    Op,
    Region,
    TokenType,
    Value,
    fixed_operands,
    has,
    lane_mask,
    loops_inside_out,
    memory_name,
    predicate,
    walk,
    word_bytes,
)
from ...ir.accesses import PREFETCHING
from ...ir.clone import clone_function, clone_ops
from ...ir.launch import OVERLAP
from ...ir.rewrite import constant
from ...narrow import instance, present
from ..manager import Form, FunctionPass
from .work_item_runs import STRICT, Bound, Row, as_width, is_order, row_of, times

__all__ = ["AnnotateStreamBounds"]

#: a load whose memory word serves fewer accesses than this only shares bursts, without reading ahead
_ACCESSES = 4


@dataclass(frozen=True)
class AnnotateStreamBounds(FunctionPass):
    """Stream-bound annotation. Before: flat; tokens keep accesses in order; loop conditions compare counters with their
    bounds. After: a load that executes in each iteration of a loop, at addresses that increase by less than a quarter
    of a word of its memory (``word_bytes`` in the default one), is a run: its last address is an additional operand.

    The loop must count up to an invariant bound and have no other exit, so that its last iteration is known when it
    begins. Nothing in it may write what the load reads: loads that wait for a token of an iteration, or whose unit is
    invalidated inside the loop, are left alone. If such an order applies only when buffers overlap, each access is a
    run of its own in that case. Addresses of 2 ** ``address_bits`` bytes do not wrap.

    Work-items of a kernel without loops execute in order; those that differ in the first dimension alone form a run,
    also up to a bound (``if (i < n)``).
    """

    word_bytes: int
    address_bits: int

    name = "annotate-stream-bounds"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loads of consecutive addresses have the bound of their run as an operand; the function
        itself where work-items would leave inner loops in another order."""
        result = clone_function(function)
        loops = list(loops_inside_out(result.body))
        items = bool(function.attrs.get(Attr.NDRANGE))
        if items and len(loops) > 1:  # work-items may leave an inner loop in another order
            return function
        found = [(region, op, loads) for region, op in loops if (loads := list(self._candidates(result, op)))]
        if found:
            runs = _Runs(result, AffineForms(result, self.address_bits), self.word_bytes)
            for region, op, loads in found:
                (runs.items if items else runs.loop)(region, op, loads)
        return result

    def _candidates(self, function: Function, loop: Op) -> Iterable[Op]:
        """Loads of the loop that may read ahead: nothing inside the loop writes or invalidates what they read."""
        (body,) = loop.regions
        for op in body.ops:
            if op.opcode != "load" or lane_mask(op) is not None or op.attrs.get(Attr.FRESH):
                continue
            memory = function.memories[memory_name(op)]
            asked = op.attrs.get(Attr.UNIT, (PREFETCHING,))[0]
            if (
                memory.space != "global"
                or memory.volatile
                or asked != PREFETCHING
                or _ACCESSES * op.result.type.bytes >= word_bytes(memory, self.word_bytes)
            ):
                continue
            inside = {*body.args, *(v for one in walk(body) for v in one.results)}
            waits = [token for token in op.operands[fixed_operands(op) :] if token in inside]
            waits += [one.results[0] for one in walk(body) if _makes_forget(one, memory.name) and one.results]
            if all(instance(token.type, TokenType).overlap for token in waits) and not any(
                _makes_forget(one, memory.name) and not one.results for one in walk(body)
            ):
                yield op


@dataclass(frozen=True)
class _Runs:
    """Adds the last addresses to loads of a function."""

    function: Function
    forms: AffineForms
    word_bytes: int

    def loop(self, region: Region, op: Op, loads: list[Op]) -> None:
        loop, b = self.forms.tree.loops[op], Builder(Region(), op.span)
        always = [load for load in loads if constant(predicate(load)) == 1]
        steps = {load: step for load in always if (step := self._step(load, loop)) is not None}
        left = _left(b, loop, self.forms) if steps else None
        for load, step in steps.items() if left is not None else ():
            offset = self._first(b, load, loop)
            if offset is not None:
                way = times(b, as_width(b, present(left), instance(offset.type, IntType)), step)
                self._end(
                    load,
                    loop.body,
                    way if constant(offset) == 0 else b.value("add", offset, way),
                    Builder(Region(), load.span),
                )
        at = region.ops.index(op)
        region.ops[at:at] = b.region.ops

    def items(self, region: Region, op: Op, loads: list[Op]) -> None:
        row = row_of(op)
        for load in loads if row else ():
            ends = present(row).bounds(predicate(load))
            if ends is not None and self._goes_along(load, present(row)):
                self._last_of_row(region, load, present(row), ends)

    def _goes_along(self, load: Op, row: Row) -> bool:
        """Whether the address increases by an equal, sufficiently small step between successive work-items of a row."""
        offset = self.forms.offset(load)
        symbols = list(offset.symbols())
        step = sum(offset.terms[symbol] for symbol in symbols if symbol.value is row.counter)
        known = len(symbols) == len(offset.terms) and all(
            symbol.value is row.counter or symbol.wraps is None and row.is_steady(symbol.value) for symbol in symbols
        )
        return known and self._is_short(step, load)

    def _last_of_row(self, region: Region, load: Op, row: Row, ends: list[Bound]) -> None:
        """Give the load a run that ends at the last value of the counter, or at the least of the bounds."""
        body, pointer = row.loop.regions[0], load.operands[0].op
        needed = pure_slice(present(pointer).operands, body.ops)
        if needed is None:
            return
        before, inside = Builder(Region(), row.loop.span), Builder(Region(), load.span)
        last, b = row.end(before), inside if any(row.is_inside(bound) for bound in ends) else before
        for bound in ends:
            last = bound.least(b, last)
        values, (offset,) = {row.counter: last}, present(pointer).operands
        inside.region.ops += clone_ops(needed, values)
        self._end(load, body, values.get(offset, offset), inside)
        at = region.ops.index(row.loop)
        region.ops[at:at] = before.region.ops

    def _end(self, load: Op, body: Region, last: Value, b: Builder) -> None:
        """Give the load a run that ends at the offset ``last``; the operations of ``b`` are inserted before the
        load."""
        own, attrs, overlap = (
            load.operands[0].defining_op.operands[0],
            load.operands[0].defining_op.attrs,
            _overlap(self.function, load),
        )
        if overlap is not None:
            last = b.value("select", overlap, as_width(b, own, instance(last.type, IntType)), last)
        load.operands.insert(2, b.value("addr", last, attrs=dict(attrs)))
        at = body.ops.index(load)
        body.ops[at:at] = b.region.ops

    def _is_short(self, step: int, load: Op) -> bool:
        return 0 < _ACCESSES * step < word_bytes(self.function.memories[memory_name(load)], self.word_bytes)

    def _step(self, load: Op, loop: Loop) -> int | None:
        """Bytes from one address to the next; None unless they increase by an equal, sufficiently small step."""
        offset = self.forms.offset(load)
        step = offset.terms.get(loop, 0)
        return step if self._is_short(step, load) and _is_steady(offset, loop, self.forms) else None

    def _first(self, b: Builder, load: Op, loop: Loop) -> Value | None:
        """The offset in the first iteration, as wide as an address."""
        (offset,) = load.operands[0].defining_op.operands
        needed = pure_slice([offset], loop.body.ops)
        if needed is None:
            return None
        values, type = dict(zip(loop.body.args, loop.op.operands[1:], strict=True)), IntType(self.forms.address_bits)
        copies = clone_ops(needed, values)
        number = value_where(values.get(offset, offset), {})
        if number is not None:
            return b.const(number, type)
        b.region.ops += copies
        return as_width(b, values.get(offset, offset), type)


def _makes_forget(op: Op, memory: str) -> bool:
    """Whether the operation invalidates what units of the memory's loads hold; on floating-point operations the
    attribute has another meaning."""
    return not has(op, "flushes") and memory in op.attrs.get(Attr.FLUSH, ())


def _overlap(function: Function, load: Op) -> Value | None:
    """The launch argument that says whether buffers overlap, if the load depends on it."""
    names = function.attrs.get(Attr.LAUNCH_ARGS, ())
    if OVERLAP not in names or not any(
        isinstance(token.type, TokenType) and token.type.overlap for token in load.operands
    ):
        return None
    return function.args[len(function.args) - len(names) + names.index(OVERLAP)]


def _is_steady(form: Affine, loop: Loop, forms: AffineForms) -> bool:
    """Whether only the loop's counter changes a sum in the loop."""
    known = all(isinstance(unknown, Loop | Symbol) for unknown in form.terms)
    homes = [forms.tree.changing(symbol.value) for symbol in form.symbols()]
    return known and not any(home is not None and loop in home.path for home in homes)


def _left(b: Builder, loop: Loop, forms: AffineForms) -> Value | None:
    """The number of iterations after the first; None if it is not known when the loop begins.

    The loop continues while ``bound - step * k`` is not negative, and its enable made the same test with ``bound +
    step``: so the quotient of the value tested there and the step is the number of iterations left.
    """
    if Attr.TRIP_COUNT in loop.op.attrs:
        left = loop.op.attrs[Attr.TRIP_COUNT] - 1
        return b.const(left, IntType(max(32, left.bit_length())))
    facts, again = Domains(forms).facts, loop.again
    if not is_order(again):
        return None
    (bound,) = facts(again)
    step = -bound.terms.get(loop, 0)
    if step <= 0 or step & step - 1 or not _is_steady(bound, loop, forms):
        return None
    asked = bound + Affine(step, {loop: step})
    for first, truth in implied(loop.op.operands[0]).items():
        if truth and is_order(first) and next(iter(facts(first))) == asked:
            low, high = first.defining_op.operands
            left = high if constant(low) == 0 else b.value("sub", high, low)
            if first.defining_op.opcode in STRICT:
                left = b.value("sub", left, b.const(1, left.type))
            return b.value("lshr", left, b.const(step.bit_length() - 1, left.type)) if step > 1 else left
    return None
