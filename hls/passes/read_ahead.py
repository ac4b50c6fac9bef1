"""Loads are told where their loop ends, so that memory can be asked for words ahead."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..analysis.affine import Affine, AffineForms, Symbol
from ..analysis.domain import Domains
from ..analysis.loops import Loop
from ..analysis.trips import implied, value_where
from ..ir import (
    Builder,
    Function,
    IntType,
    Op,
    Region,
    Value,
    fixed_operands,
    has,
    lane_mask,
    loops_inside_out,
    memory_name,
    predicate,
    walk,
)
from ..ir.accesses import FRESH, PREFETCHING, UNIT, last_of_run
from ..ir.clone import clone_function, clone_ops
from ..ir.rewrite import constant
from .dce import DeadCode
from .item_rows import STRICT, Bound, Row, as_width, is_order, row_of, times
from .memory_fences import FLUSH
from .steady_loads import computing

__all__ = ["ReadAhead", "without_runs"]

#: words that last for fewer accesses share bursts without being asked for ahead
_ACCESSES = 4


@dataclass(frozen=True)
class ReadAhead:
    """Before: flat; tokens keep accesses in order; loops compare counters with what they run up to. After: a load that takes place in each
    iteration of a loop, at addresses that go up by less than a quarter of a word of ``word_bytes``, is one of a run: its last address is one more operand.

    The loop must be one that counts up to a bound which it does not change, and which nothing else ends, so that its last iteration is known as
    it begins. Nothing in it may write what the load reads: tokens of an iteration keep such loads as they are, and so does what makes loads forget
    what they read before. Addresses of 2 ** ``address_bits`` bytes wrap nowhere.

    Work-items of a kernel without loops come in order; those of a row, which differ in the first dimension alone, make a run, also of those up to a
    bound (``if (i < n)``).
    """

    word_bytes: int
    address_bits: int

    name = "read-ahead"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        loops = list(loops_inside_out(result.body))
        items = bool(function.attrs.get("ndrange"))
        if items and len(loops) > 1:  # which work-items may leave in another order
            return function
        found = [(region, op, loads) for region, op in loops if (loads := list(self._candidates(result, op)))]
        if found:
            forms = AffineForms(result, self.address_bits)
            for region, op, loads in found:
                if items:
                    self._items(region, op, loads, forms)
                else:
                    self._loop(region, op, loads, forms)
        return result

    def _candidates(self, function: Function, loop: Op) -> Iterable[Op]:
        """Loads of the loop that nothing inside it may be in the way of."""
        (body,) = loop.regions
        for op in body.ops:
            if op.opcode != "load" or lane_mask(op) is not None or op.attrs.get(FRESH):
                continue
            memory = function.memories[memory_name(op)]
            asked = op.attrs.get(UNIT, (PREFETCHING,))[0]
            if memory.space != "global" or memory.volatile or asked != PREFETCHING or _ACCESSES * op.result.type.bytes >= self.word_bytes:
                continue
            inside = {*body.args, *(v for one in walk(body) for v in one.results)}
            forgets = any(memory.name in one.attrs.get(FLUSH, ()) for one in walk(body) if not has(one, "flushes"))  # of those it says another thing
            if not forgets and inside.isdisjoint(op.operands[fixed_operands(op):]):
                yield op

    def _loop(self, region: Region, op: Op, loads: list[Op], forms: AffineForms):
        loop, b = forms.tree.loops[op], Builder(Region(), op.span)
        always = [load for load in loads if constant(predicate(load)) == 1]
        steps = {load: step for load in always if (step := self._step(forms.offset(load), loop, forms)) is not None}
        left = _left(b, loop, forms) if steps else None
        for load, step in steps.items() if left is not None else ():
            offset = self._first(b, load, loop)
            if offset is not None:
                way = times(b, as_width(b, left, offset.type), step)
                last = way if constant(offset) == 0 else b.value("add", offset, way)
                load.operands.insert(2, b.value("addr", last, attrs=dict(load.operands[0].op.attrs)))
        at = region.ops.index(op)
        region.ops[at:at] = b.region.ops

    def _items(self, region: Region, op: Op, loads: list[Op], forms: AffineForms):
        row = row_of(op)
        for load in loads if row else ():
            ends = row.bounds(predicate(load))
            if ends is not None and self._goes_along(forms.offset(load), row):
                self._last_of_row(region, load, row, ends)

    def _goes_along(self, offset: Affine, row: Row) -> bool:
        """Whether an address goes up by equal steps that are short enough from one work-item of a row to the next."""
        symbols = list(offset.symbols())
        step = sum(offset.terms[symbol] for symbol in symbols if symbol.value is row.counter)
        known = len(symbols) == len(offset.terms) and all(symbol.value is row.counter or symbol.wraps is None and row.is_steady(symbol.value) for symbol in symbols)
        return known and self._is_short(step)

    def _last_of_row(self, region: Region, load: Op, row: Row, ends: list[Bound]):
        """Make the load one of a run that ends where the counter is at its last, or at the least of the bounds."""
        body, pointer = row.loop.regions[0], load.operands[0].op
        needed = computing(pointer.operands, body.ops)
        if needed is None:
            return
        before, inside = Builder(Region(), row.loop.span), Builder(Region(), load.span)
        last, b = row.end(before), inside if any(row.is_inside(bound) for bound in ends) else before
        for bound in ends:
            last = bound.least(b, last)
        values = {row.counter: last}
        inside.region.ops += clone_ops([*needed, pointer], values)
        load.operands.insert(2, values[load.operands[0]])
        for place, op, built in ((body, load, inside), (region, row.loop, before)):
            at = place.ops.index(op)
            place.ops[at:at] = built.region.ops

    def _is_short(self, step: int) -> bool:
        return 0 < _ACCESSES * step < self.word_bytes

    def _step(self, offset: Affine, loop: Loop, forms: AffineForms) -> int | None:
        """Bytes from one address to the next; None where they do not go up by equal steps that are short enough."""
        step = offset.terms.get(loop, 0)
        return step if self._is_short(step) and _is_steady(offset, loop, forms) else None

    def _first(self, b: Builder, load: Op, loop: Loop) -> Value | None:
        """The offset of the first iteration, as wide as an address."""
        (offset,) = load.operands[0].op.operands
        needed = computing([offset], loop.body.ops)
        if needed is None:
            return None
        values, type = dict(zip(loop.body.args, loop.op.operands[1:], strict=True)), IntType(self.address_bits)
        copies = clone_ops(needed, values)
        number = value_where(values.get(offset, offset), {})
        if number is not None:
            return b.const(number, type)
        b.region.ops += copies
        return as_width(b, values.get(offset, offset), type)


def _is_steady(form: Affine, loop: Loop, forms: AffineForms) -> bool:
    """Whether a sum changes in the loop by nothing but its counter."""
    known = all(isinstance(unknown, Loop | Symbol) for unknown in form.terms)
    homes = [forms.tree.changing(symbol.value) for symbol in form.symbols()]
    return known and not any(home is not None and loop in home.path for home in homes)


def _left(b: Builder, loop: Loop, forms: AffineForms) -> Value | None:
    """How many iterations there are behind the first one; None where nobody knows as the loop begins.

    It goes on while ``bound - step * k`` is not negative, and its first iteration was asked the same with one step more: so that is left as often
    as the step goes into what was asked then.
    """
    if "trip_count" in loop.op.attrs:
        return b.const(loop.op.attrs["trip_count"] - 1, IntType(32))
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
            low, high = first.op.operands
            left = high if constant(low) == 0 else b.value("sub", high, low)
            if first.op.opcode in STRICT:
                left = b.value("sub", left, b.const(1, left.type))
            return b.value("lshr", left, b.const(step.bit_length() - 1, left.type)) if step > 1 else left
    return None


def without_runs(function: Function, loads: AbstractSet[Op]) -> Function:
    """The function where these loads, of it, are of no run."""
    result = clone_function(function)
    for old, new in zip(walk(function.body), walk(result.body), strict=True):
        if old in loads:
            new.operands.remove(last_of_run(new))
    return DeadCode().run(result)
