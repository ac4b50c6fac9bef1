"""Loads are told where their loop ends, so that memory can be asked for words ahead."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from ..analysis.affine import Affine, AffineForms, Symbol
from ..analysis.domain import Domains
from ..analysis.loops import Loop, step_of
from ..analysis.trips import implied, leaves, value_where
from ..ir import Builder, Function, IntType, Op, Region, Value, fixed_operands, has, lane_mask, loops_inside_out, memory_name, predicate, walk
from ..ir.accesses import FRESH, PREFETCHING, UNIT, last_of_run
from ..ir.clone import clone_function, clone_ops
from ..ir.rewrite import constant
from ..ir.values import signed
from .dce import DeadCode
from .memory_fences import FLUSH
from .steady_loads import computing

__all__ = ["ReadAhead", "without_runs"]

#: words that last for fewer accesses share bursts without being asked for ahead
_ACCESSES = 4
_STRICT = ("slt", "ult")


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
                way = _times(b, _as(b, left, offset.type), step)
                last = way if constant(offset) == 0 else b.value("add", offset, way)
                load.operands.insert(2, b.value("addr", last, attrs=dict(load.operands[0].op.attrs)))
        at = region.ops.index(op)
        region.ops[at:at] = b.region.ops

    def _items(self, region: Region, op: Op, loads: list[Op], forms: AffineForms):
        row = _row_of(op)
        for load in loads if row else ():
            ends = row.bounds(predicate(load))
            if ends is not None and self._goes_along(forms.offset(load), row):
                self._last_of_row(region, load, row, ends)

    def _goes_along(self, offset: Affine, row: "_Row") -> bool:
        """Whether an address goes up by equal steps that are short enough from one work-item of a row to the next."""
        symbols = list(offset.symbols())
        step = sum(offset.terms[symbol] for symbol in symbols if symbol.value is row.counter)
        known = len(symbols) == len(offset.terms) and all(symbol.value is row.counter or symbol.wraps is None and row.is_steady(symbol.value) for symbol in symbols)
        return known and self._is_short(step)

    def _last_of_row(self, region: Region, load: Op, row: "_Row", ends: list["_Bound"]):
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
        return _as(b, values.get(offset, offset), type)


@dataclass(frozen=True)
class _Bound:
    """The counter of a row, and ``more`` (None: nothing) and ``number``, is less than ``limit``; or ``equal`` to it, at most."""

    limit: Value
    more: Value | None
    number: int
    equal: bool
    extend: str  #: "sext" or "zext", as the numbers are compared

    def least(self, b: Builder, last: Value) -> Value:
        """The lesser of ``last`` and the greatest number that the counter can be, which may be none at all: then nobody looks at it. In
        two bits more nothing wraps."""
        wide = IntType(self.limit.type.bits + 2)
        most, *more = (b.value(self.extend, value, result=wide) for value in (self.limit, self.more) if value is not None)
        most = b.value("sub", most, more[0]) if more else most
        most = b.value("sub", most, b.const(self.number + (not self.equal), wide))
        end = _as(b, last, wide)
        return _as(b, b.value("select", b.value("slt", most, end), most, end), last.type)


@dataclass(frozen=True)
class _Row:
    """The work-items that differ in the first dimension alone: ``counter`` goes up by ``step`` from ``start``, ``count`` times, until ``ends`` is true.

    The loop over work-items carries nothing but such counters, so whatever has their form is one.
    """

    loop: Op
    counter: Value
    ends: Value
    step: int
    start: Value
    count: Value

    def is_steady(self, value: Value) -> bool:
        """Whether a value is the same for all work-items of a row."""
        return all(constant(leaf) is not None or self._stays(leaf) for leaf in leaves(value))

    def _stays(self, leaf: Value) -> bool:
        (body,) = self.loop.regions
        if leaf.owner is not body:
            return leaf.op not in body.ops
        after = body.terminator.operands[1 + leaf.index]
        while after.op is not None and after.op.opcode == "select":
            condition, yes, no = after.op.operands
            truth = value_where(condition, {self.ends: 0})
            if truth is None:
                return False
            after = yes if truth else no
        return after is leaf

    def is_inside(self, bound: _Bound) -> bool:
        """Whether a bound is not known before the loop."""
        (body,) = self.loop.regions
        return any(value is not None and (value.owner is body or value.op in body.ops) for value in (bound.limit, bound.more))

    def bounds(self, condition: Value) -> list[_Bound] | None:
        """Up to where in a row a condition holds, once it does; None where it may hold now and then."""
        found, work = [], [(condition, True)]
        while work:
            one, truth = work.pop()
            op = one.op
            if constant(one) == truth or self.is_steady(one):
                continue
            if op is not None and op.opcode == ("and" if truth else "or"):
                work += [(operand, truth) for operand in op.operands]
            elif op is not None and op.opcode == "xor" and constant(op.operands[1]) == 1:
                work.append((op.operands[0], not truth))
            elif not _compares(one) or (bound := self._bound(op, truth)) is None:
                return None
            else:
                found += bound
        return found

    def _bound(self, test: Op, truth: bool) -> list[_Bound] | None:
        """What a comparison that is true, or is not, says of the counter: up to where it is so; nothing where it is so from some number on;
        None where it is neither."""
        low, high = test.operands if truth else test.operands[::-1]
        counts, other = (low, high) if self.is_steady(high) else (high, low)
        moved = self._moved(counts)
        if moved is None or not self.is_steady(other):
            return None
        more, number = moved
        if test.opcode[0] == "u" and (more is not None or number < 0):
            return None  # it may begin again at 0; of signed ones C says that they do not
        equal = (test.opcode in _STRICT) != truth
        return [_Bound(other, more, number, equal, "zext" if test.opcode[0] == "u" else "sext")] if counts is low else []

    def _moved(self, value: Value) -> tuple[Value | None, int] | None:
        """(what, number) that a value is more than the counter; None where it is something else."""
        op = value.op
        if value is self.counter or op is not None and op.opcode == "zext" and op.operands[0] is self.counter:
            return None, 0
        if op is None or op.opcode != "add":
            return None
        for one, other in (op.operands, op.operands[::-1]):
            moved, number = self._moved(one), constant(other)
            if moved and number is not None:
                return moved[0], moved[1] + signed(number, other.type.bits)
            if moved and moved[0] is None and self.is_steady(other):
                return other, moved[1]
        return None

    def end(self, b: Builder) -> Value:
        """What the counter is for the last one."""
        left = b.value("sub", self.count, b.const(1, self.count.type))
        way = _times(b, _as(b, left, self.counter.type), self.step)
        return way if constant(self.start) == 0 else b.value("add", self.start, way)


def _row_of(loop: Op) -> _Row | None:
    """What makes a row; None where there is one work-item in each, or another loop."""
    (body,) = loop.regions
    counters = {}
    for arg, start in zip(body.args, loop.operands[1:], strict=True):
        after = body.terminator.operands[1 + arg.index].op
        if after is not None and after.opcode == "select" and after.operands[0].owner is body and after.operands[1] is start:
            step = step_of(arg, after.operands[2])
            counters.setdefault(after.operands[0], {})[-1 if step == -1 else 1] = arg, step, start
    for ends, both in counters.items() if loop.attrs.get("form") == "ndrange" else ():
        if len(both) == 2 and both[1][1]:
            (counter, step, start), (_, _, count) = both[1], both[-1]
            return _Row(loop, counter, ends, step, start, count)
    return None


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
    if not _compares(again):
        return None
    (bound,) = facts(again)
    step = -bound.terms.get(loop, 0)
    if step <= 0 or step & step - 1 or not _is_steady(bound, loop, forms):
        return None
    asked = bound + Affine(step, {loop: step})
    for first, truth in implied(loop.op.operands[0]).items():
        if truth and _compares(first) and next(iter(facts(first))) == asked:
            low, high = first.op.operands
            left = high if constant(low) == 0 else b.value("sub", high, low)
            if first.op.opcode in _STRICT:
                left = b.value("sub", left, b.const(1, left.type))
            return b.value("lshr", left, b.const(step.bit_length() - 1, left.type)) if step > 1 else left
    return None


def _compares(condition: Value) -> bool:
    return condition.op is not None and condition.op.opcode in (*_STRICT, "sle", "ule")


def _times(b: Builder, value: Value, factor: int) -> Value:
    if factor & factor - 1:
        return b.value("mul", value, b.const(factor, value.type))
    return b.value("shl", value, b.const(factor.bit_length() - 1, value.type)) if factor > 1 else value


def _as(b: Builder, value: Value, type: IntType) -> Value:
    """An unsigned number in another width."""
    if value.type == type:
        return value
    return b.value("zext" if value.type.bits < type.bits else "trunc", value, result=type)


def without_runs(function: Function, loads: Set[Op]) -> Function:
    """The function where these loads, of it, are of no run."""
    result = clone_function(function)
    for old, new in zip(walk(function.body), walk(result.body), strict=True):
        if old in loads:
            new.operands.remove(last_of_run(new))
    return DeadCode().run(result)
