"""Monotone integer keys for float min/max: a loop carries the least or greatest float as an order-preserving integer,
compared by one integer comparison."""

from dataclasses import dataclass, field, replace
from typing import Any

from ...analysis.timing import Recurrence, TimingModel, recurrences_of
from ...ir import BOOL, Builder, FloatType, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ...ir.loops import CarriedValue, add_carried, keep_carried
from ...ir.rewrite import constant, resolve
from ...narrow import instance, present
from ..manager import Form, FunctionPass
from .absorb_guards import Side, guarded, merge_choices
from .combine_minmax import Question, merge_steps
from .recurrence_edits import snapshot

__all__ = ["FloatMinMaxAsInteger"]

_COMPARES = frozenset({"flt", "fle", "feq", "fne"})
_MANTISSA = {16: 10, 32: 23, 64: 52}


@dataclass(frozen=True)
class FloatMinMaxAsInteger(FunctionPass):
    """Float min/max by monotone integer keys (total-order keys). Before: flat. After: floats that a loop carries,
    selects among, and compares with floats off the recurrence are integers from which all bits of the float can be
    restored, if iterations can start in fewer cycles of ``timing`` by it (None: nothing is done).

    The integers are in the order of the floats, with -0 just below +0 and every NaN below all numbers, so that no
    number is less than a NaN. The other operand of a comparison decides, off the recurrence, on which side of both
    zeros it stands, and handles its own NaN. For a maximum the integers are those of the negated floats. Exact for
    every operand.
    """

    timing: TimingModel | None = None

    name = "float-min-max-as-integer"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which carried floats are integer keys where that shortens the recurrence."""
        result = clone_function(function)
        timing = self.timing.unplanned(function) if self.timing is not None else None
        for region, loop in list(loops_inside_out(result.body)) if timing is not None else ():
            known: dict[tuple[Value, bool], Value] = {}  # keys of floats that became integers
            for one in list(recurrences_of(loop, present(timing))):
                if any(isinstance(arg.type, FloatType) for arg in one.args) and one.cycles({}) > 1:
                    self._component(result, region, loop, one, known)
        return result

    def _component(self, function: Function, region: Region, loop: Op, one: Recurrence, known: dict[Any, Any]) -> None:
        before, restore = one.cycles({}), snapshot(one)
        if not _is_order(one):
            return
        merge_choices(one)
        merge_steps(one, _questions)
        asked = _questions(one)
        turned = sum(_mismatch(q, True) - _mismatch(q, False) for op, q in asked.items() if op.result in one.values) < 0
        if one.cycles(self._costs(one, asked, turned)) < before:
            _Keys(function, region, loop, one, asked, turned, known).run()
        else:
            restore()

    def _costs(self, one: Recurrence, asked: dict[Op, Question], turned: bool) -> dict[Op, float]:
        """The delays in ns, as comparisons of integers, of the questions, their parts and negations, and the operations
        that join them with conditions off the recurrence."""
        parts = {op for op in one.ops if op not in asked and op.opcode in _COMPARES}
        sides = {op: _side(question, turned) for op, question in asked.items()}
        opposites = {
            op: _side(asked[op.operands[0].op], turned).opposite()
            for op in one.ops
            if op.opcode == "xor" and op.operands[0].op in asked and constant(op.operands[1]) == 1
        }
        free = {*parts, *opposites, *guarded(one, sides | opposites)}
        return dict.fromkeys(free, 0.0) | {op: self._cost(question, turned) for op, question in asked.items()}

    def _cost(self, question: Question, turned: bool) -> float:
        two = present(self.timing).logic("or", BOOL) if _mismatch(question, turned) else 0.0
        return two + present(self.timing).logic("slt", IntType(question.value.type.bits))


def _side(question: Question, turned: bool) -> Side:
    """The side that the integer comparison stands for."""
    above = (question.above if question.other is not None else not question.nan) != (
        turned and question.other is not None
    )
    return Side(question.value, above, question.strict or above or question.other is None)


def _mismatch(question: Question, turned: bool) -> bool:
    """Whether the question takes two integer comparisons; ``turned``: keys are of negated floats."""
    return question.other is not None and (question.above != turned) == question.nan


def _is_order(one: Recurrence) -> bool:
    """Whether floats of the recurrence are only selected, compared with floats off it, and tested for NaN."""
    compares = 0
    for op in one.ops:
        floats = [v for v in op.operands if v in one.values and isinstance(v.type, FloatType)]
        if isinstance(op.result.type, FloatType):
            if op.opcode != "select":
                return False
        elif floats:
            if _is_test(op) is None and not (op.opcode in ("flt", "fle") and len(floats) == 1):
                return False
            compares += op.opcode in ("flt", "fle")
    return compares > 0 and all(isinstance(v.type, FloatType | IntType) for v in one.values)


def _is_test(op: Op | None) -> Value | None:
    """x if the operation is ``x != x`` or ``x == x``, else None."""
    return (
        op.operands[0] if op is not None and op.opcode in ("feq", "fne") and op.operands[0] is op.operands[1] else None
    )


def _questions(one: Recurrence) -> dict[Op, Question]:
    """What each operation of the loop asks that compares floats of the recurrence, or combines a comparison with a NaN
    test of the same float."""
    found: dict[Op, Question] = {}
    for op in one.body.ops:
        if op.opcode in ("flt", "fle") and sum(one.late(op)) == 1:
            right = one.late(op)[1]
            found[op] = Question(op.operands[right], op.operands[not right], right, op.opcode == "flt")
        elif (value := _is_test(op)) in one.values:
            found[op] = Question(value, None, nan=op.opcode == "fne")
    joined = {
        op: question
        for op in one.body.ops
        if op.opcode == "or"
        and (question := _joined([found.get(v.op) if v.op is not None else None for v in op.operands])) is not None
    }
    used = uses(one.body)
    alone = {
        op: question for op, question in found.items() if any(user not in joined for user, _ in used.get(op.result, ()))
    }
    return alone | joined


def _joined(parts: list[Question | None]) -> Question | None:
    """A comparison combined with a NaN test of the same float."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    compare, test = sorted(known, key=lambda part: part.other is None)
    if compare.other is None or test.other is not None or not test.nan or compare.value is not test.value:
        return None
    return replace(compare, nan=True)


@dataclass
class _Keys:
    function: Function
    region: Region
    loop: Op
    one: Recurrence
    asked: dict[Op, Question]
    turned: bool  #: whether keys are of negated floats
    shared: dict[tuple[Value, bool], Value]  #: keys by the float that was made of them, and whether it is negated
    known: dict[Value, Value] = field(default_factory=dict)
    replaced: dict[Value, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (body,) = self.loop.regions
        self.inside = {*body.args, *(result for op in body.ops for result in op.results)}
        self.before = Builder(Region(), self.loop.span)

    def run(self) -> None:
        body, args = self.loop.regions[0], self.one.args
        floats = [arg for arg in args if isinstance(arg.type, FloatType)]
        ops, body.ops = body.ops, []
        keys = [self._carry(arg) for arg in floats]
        inside = Builder(body, self.loop.span)
        for arg in floats:
            self._is_now(arg, self.known[arg], inside)
        for op in ops[:-1]:
            self._op(op, Builder(body, op.span))
        inside = Builder(body, ops[-1].span)
        nexts = [self._key(ops[-1].operands[1 + arg.index], inside) for arg in floats]
        body.ops.append(ops[-1])
        for key, following in zip(keys, nexts, strict=True):
            key.set_next(following)
        self._insert(self.before.region.ops, self.region.ops.index(self.loop))
        self._results(floats, keys)
        resolve(self.function.body, self.replaced)
        gone = {arg.index for arg in floats}
        keep_carried(self.loop, [k for k in range(len(body.args)) if k not in gone])

    def _carry(self, arg: Value) -> CarriedValue:
        """Carry a key in addition to a carried float, computed before the loop."""
        start = self._make(self.loop.operands[1 + arg.index], self.before)
        key = add_carried(self.loop, start, arg.name, result=Value(start.type, arg.name))
        self.known[arg] = key.arg
        return key

    def _results(self, floats: list[Value], keys: list[CarriedValue]) -> None:
        """Restore the floats after the loop."""
        behind = Region()
        b = Builder(behind, self.loop.span)
        for arg, key in zip(floats, keys, strict=True):
            self.replaced[self.loop.results[arg.index]] = self._float(key.result, instance(arg.type, FloatType), b)
        self._insert(behind.ops, self.region.ops.index(self.loop) + 1)

    def _insert(self, ops: list[Op], place: int) -> None:
        self.region.ops[place:place] = ops

    def _op(self, op: Op, b: Builder) -> None:
        if op in self.asked:
            self.replaced[op.result] = self._answer(self.asked[op], b)
        elif op.opcode == "select" and op.result in self.one.values and isinstance(op.result.type, FloatType):
            condition, yes, no = op.operands
            key = b.value("select", condition, self._key(yes, b), self._key(no, b), name=op.result.name)
            self._is_now(op.result, key, b)
        else:
            b.region.ops.append(op)

    def _is_now(self, value: Value, key: Value, b: Builder) -> None:
        """``key`` is that of a float; the float is restored from it for other users."""
        made = self._float(key, instance(value.type, FloatType), b)
        self.replaced[value] = made
        self.known[value] = self.known[made] = self.shared[made, self.turned] = key

    def _key(self, value: Value, b: Builder) -> Value:
        if value not in self.known:
            self.known[value] = self.shared.get((value, self.turned)) or self._make(
                value, b if value in self.inside else self.before
            )
        return self.known[value]

    # --- keys of floats

    def _make(self, value: Value, b: Builder) -> Value:
        bits = value.type.bits
        whole = IntType(bits)
        number = b.value("bitcast", value, result=whole)
        if self.turned:
            number = b.value("xor", number, b.const(1 << bits - 1, whole))
        return b.value("add", _mirrored(number, b), b.const(_nans(bits), whole))

    def _float(self, key: Value, type: FloatType, b: Builder) -> Value:
        number = _mirrored(b.value("sub", key, b.const(_nans(type.bits), key.type)), b)
        if self.turned:
            number = b.value("xor", number, b.const(1 << type.bits - 1, key.type))
        return b.value("bitcast", number, result=type)

    # --- questions

    def _answer(self, question: Question, b: Builder) -> Value:
        key = self._key(question.value, b)
        if question.other is None:
            return self._is_nan(key, question.nan, b)
        above = question.above != self.turned
        limit = self._limit(question, above, b)
        if above:
            answer = b.value("slt", limit, key)
        else:
            answer = b.value("slt" if question.strict else "sle", key, limit)
        if not _mismatch(question, self.turned):
            return answer
        return b.value("or" if question.nan else "and", answer, self._is_nan(key, question.nan, b))

    def _is_nan(self, key: Value, wanted: bool, b: Builder) -> Value:
        """Whether the float of the key is a NaN, or is not."""
        bits = key.type.bits
        if wanted:
            return b.value("slt", key, b.const(_least(bits), key.type))
        return b.value("slt", b.const(_least(bits) - 1, key.type), key)

    def _limit(self, question: Question, above: bool, b: Builder) -> Value:
        """The integer that the key is compared with. For "above or equal" it is one less. It is loop-invariant if the
        float is."""
        b = b if question.other in self.inside else self.before
        key = self._key(present(question.other), b)
        whole, bits = key.type, key.type.bits
        exact = above and not question.strict
        magnitude = b.value(
            "trunc", b.value("bitcast", present(question.other), result=whole), result=IntType(bits - 1)
        )
        zero = b.value("eq", magnitude, b.const(0, magnitude.type))
        nan = b.value("ult", b.const(_infinity(bits), magnitude.type), magnitude)
        side = _nans(bits) - (above != question.strict)  # -0 is one less than +0
        key = b.value("select", zero, b.const(side, whole), key)
        if exact:
            key = b.value("add", key, b.const(-1, whole))
        if above:  # never true
            return b.value("select", nan, b.const((1 << bits - 1) - 1, whole), key)
        return b.value("select", nan, b.const(_least(bits) - (not question.strict), whole), key)


def _mirrored(number: Value, b: Builder) -> Value:
    """Invert all bits but the sign of negative numbers: converts sign and magnitude to two's complement, with -0 as -1,
    and back."""
    bits = number.type.bits
    sign = b.value("ashr", number, b.const(bits - 1, number.type))
    return b.value("xor", number, b.value("lshr", sign, b.const(1, number.type)))


def _nans(bits: int) -> int:
    """The number of NaN of either sign; adding it wraps those above all numbers around to below them."""
    return (1 << _MANTISSA[bits]) - 1


def _infinity(bits: int) -> int:
    """The magnitude of infinity."""
    return (1 << bits - 1) - (1 << _MANTISSA[bits])


def _least(bits: int) -> int:
    """The key of the least number, an infinity, as a bit pattern: all NaN are below it."""
    return (1 << bits - 1) + 2 * _nans(bits)
