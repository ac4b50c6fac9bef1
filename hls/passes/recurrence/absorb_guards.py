"""Guard absorption: a comparison on a recurrence and a condition off the recurrence become one comparison, with a
selected constant."""

import functools
from dataclasses import dataclass, replace

from ...analysis.predicates.implication import INVERSE, follows, implied
from ...analysis.timing import Recurrence, TimingModel, recurrences_of
from ...ir import BOOL, Builder, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ...narrow import present
from ..manager import Form, FunctionPass
from ..scalar.algebraic_simplification import opposite
from ..scalar.specialize import conjuncts
from .combine_minmax import Question, merge_steps
from .mux_trees import MuxLeaf, choose_last
from .recurrence_edits import insert_before, snapshot

__all__ = ["AbsorbGuards", "Side", "guarded", "merge_choices"]

_ORDERS = frozenset({"slt", "sle", "ult", "ule"})
_JOINS = frozenset({"and", "or"})


@dataclass(frozen=True)
class AbsorbGuards(FunctionPass):
    """Guard absorption into comparisons. Before: flat. After: if a recurrence takes fewer cycles of ``timing`` by it
    (None: nothing is done), ``x < t && c``, with ``x`` on the recurrence and ``t`` and ``c`` off it, is ``x < (c ? t :
    the least number)``, and so for other comparisons: `if (c && t < best) best = t` is one comparison and one select.

    Two comparisons in the same direction, joined by a logic operation, become one with the greater or the lesser of
    both numbers. A number less, or greater, than all others may need one more bit than the operands have; then both
    sides are widened. If a select with a condition off the recurrence has a select by such a comparison as its arm, as
    left by a guard around the statement, the comparison selects last, under both conditions. What a store under either
    of two conditions leaves in an element, ``c || d ? (c ? x : y) : z``, is ``c ? x : (d ? y : z)`` before that. Exact
    for every operand.
    """

    timing: TimingModel | None = None

    name = "absorb-guards"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which guards are part of the number compared, on recurrences of more than a cycle."""
        result = clone_function(function)
        timing = self.timing.unplanned(function) if self.timing is not None else None
        for _, loop in list(loops_inside_out(result.body)) if timing is not None else ():
            for one in recurrences_of(loop, present(timing)):
                if one.cycles({}) > 1:
                    _join_all(one)
        return result


def _join_all(one: Recurrence) -> None:
    before, restore = one.cycles({}), snapshot(one)
    split_choices(one)
    merge_choices(one)
    merge_steps(one, _questions)
    joins = guarded(one, _sides(one))
    if one.cycles(dict.fromkeys(joins, 0.0)) >= before:
        restore()
        return
    for op in [op for op in one.ops if op in joins]:
        _join(one, op)


@dataclass(frozen=True)
class Side:
    """On which side of a number off the recurrence a value on the recurrence is: above or below, ``strict`` or possibly
    equal."""

    value: Value
    above: bool
    strict: bool
    signed: bool = True

    def opposite(self) -> "Side":
        """The side on which the value is where the comparison is false."""
        return replace(self, above=not self.above, strict=not self.strict)


def _sides(one: Recurrence) -> dict[Op, Side]:
    """What each comparison between the recurrence and a value off it says. Those with constants are made strict."""
    for op in one.ops:
        if op.opcode in ("sle", "ule") and sum(one.late(op)) == 1:
            _make_strict(op, one.late(op).index(False), one)
    return {op: _side(one, op) for op in one.ops if op.opcode in _ORDERS and sum(one.late(op)) == 1}


def _make_strict(op: Op, early: int, one: Recurrence) -> None:
    """``x <= 5`` is ``x < 6``, unless there is no such number."""
    limit = op.operands[early]
    is_signed = op.opcode == "sle"
    number = constant(limit)
    if number is None or number == _limit(limit.type.bits, is_signed, upper=early == 1):
        return
    built = Region()
    op.operands[early] = Builder(built, op.span).const(
        number + (1 if early else -1) & (1 << limit.type.bits) - 1, limit.type
    )
    op.opcode = "slt" if is_signed else "ult"
    insert_before(one, op, built.ops)


def _side(one: Recurrence, op: Op) -> Side:
    right = one.late(op)[1]
    return Side(op.operands[right], right, op.opcode.endswith("lt"), op.opcode.startswith("s"))


def _questions(one: Recurrence) -> dict[Op, Question]:
    """The same comparisons as :class:`Question`."""
    return {
        op: Question(side.value, op.operands[not side.above], side.above, side.strict, kind=op.opcode[0])
        for op, side in _sides(one).items()
    }


def guarded(one: Recurrence, sides: dict[Op, Side]) -> dict[Op, Side]:
    """The operations that join one of these comparisons, or an operation already joined with one, with a condition off
    the recurrence, or with another comparison in the same direction; and the side that each stands for."""
    found: dict[Op, Side] = {}
    for op in one.ops:
        if op.opcode in _JOINS and op.result.type == BOOL:
            late = [v.op for v, is_late in zip(op.operands, one.late(op), strict=True) if is_late]
            says = {sides.get(part) or found.get(part) if part is not None else None for part in late}
            if len(says) == 1 and (side := says.pop()) is not None:
                found[op] = side
    return found


def split_choices(one: Recurrence) -> None:
    """``c || d ? (c ? x : y) : z`` becomes ``c ? x : (d ? y : z)``, for c off the recurrence and d on it."""
    for op in [op for op in one.ops if op.opcode == "select" and op.operands[0] in one.values]:
        either, chosen, other = op.operands
        inner = chosen.op
        if either.op is None or either.op.opcode != "or" or inner is None or inner.opcode != "select":
            continue
        condition, yes, no = inner.operands
        if condition in one.values or condition not in either.op.operands:
            continue
        built = Region()
        b = Builder(built, op.span)
        rest = _given_false(either.op, condition, b)
        while no.op is not None and no.op.opcode == "select" and no.op.operands[0] is rest:
            no = no.op.operands[1]
        op.operands = [condition, yes, b.value("select", rest, no, other, name=op.result.name)]
        one.values.update(result for each in built.ops if any(one.late(each)) for result in each.results)
        insert_before(one, op, built.ops)
    _drop_outputs(one)


def _given_false(either: Op, condition: Value, b: Builder) -> Value:
    """What a disjunction with ``condition`` is where that is false."""
    (rest,) = [v for v in either.operands if v is not condition] or [condition]
    facts = implied(condition, truth=False)
    open_ = [part for part in conjuncts(rest) if not follows(part, facts)]
    return functools.reduce(lambda x, y: b.value("and", x, y), open_) if open_ else b.true()


def _drop_outputs(one: Recurrence) -> None:
    """Leave only values on the recurrence that the next carried values depend on."""
    needed = {one.following(arg) for arg in one.args}
    for op in reversed(one.body.ops):
        if not needed.isdisjoint(op.results):
            needed.update(op.operands)
    one.values &= needed | {*one.args}


def merge_choices(one: Recurrence) -> None:
    """``c ? x : (d ? t : y)`` becomes ``!c && d ? t : (c ? x : y)`` for a condition c off the recurrence and d on it;
    and for any conditions if x is y, which leaves one select."""
    while any(_merge(one, op) for op in one.ops if op.opcode == "select"):
        pass


def _merge(one: Recurrence, op: Op) -> bool:
    """Make the condition of an inner select on the recurrence select after that of ``op``; the inner select is an arm
    of ``op`` and has no other user."""
    condition, *arms = op.operands
    for side, inner in enumerate(v.op for v in arms):
        nested = (
            arms[side] in one.values
            and inner is not None
            and inner.opcode == "select"
            and inner.operands[0] in one.values
        )
        same = nested and arms[1 - side] in present(inner).operands[1:]
        if nested and (same or condition not in one.values) and len(uses(one.body)[arms[side]]) == 1:
            _become(one, op, present(inner), side)
            return True
    return False


def _become(one: Recurrence, op: Op, inner: Op, side: int) -> None:
    """Let ``op`` select last the value that ``inner``, one of its arms, selects by its condition."""
    built, (condition, *choices), other = Region(), inner.operands, op.operands[2 - side]
    stays = choices.index(other) if other in choices else int(choices[1] in one.values)
    leaf = MuxLeaf(choices[1 - stays], ((op.operands[0], side == 0), (condition, stays == 1)))
    op.operands = choose_last(op, leaf, Builder(built, op.span), _opposite)
    for each in built.ops:
        if any(one.late(each)):
            one.values.update(each.results)
    insert_before(one, op, built.ops)
    one.body.ops.remove(inner)


def _opposite(condition: Value, b: Builder) -> Value:
    compare = condition.op
    if compare is None or compare.opcode not in INVERSE:
        return b.value("xor", condition, b.true())
    return opposite(compare, b)


def _join(one: Recurrence, op: Op) -> None:
    """Turn ``op``, which joins a comparison with something else, into one comparison."""
    built = Region()
    b = Builder(built, op.span)
    late = [v for v in op.operands if v in one.values]
    if len(late) == 1:
        (guard,) = (v for v in op.operands if v not in one.values)
        opcode, numbers, early = _with_guard(one, late[0].defining_op, guard, op.opcode == "and", b)
    else:
        opcode, numbers, early = _of_both(one, [v.defining_op for v in late], op.opcode == "and", b)
    op.opcode, op.operands, op.attrs = opcode, numbers, {}
    one.values.add(numbers[1 - early])
    insert_before(one, op, built.ops)


def _with_guard(one: Recurrence, compare: Op, guard: Value, never: bool, b: Builder) -> tuple[str, list[Value], int]:
    """``x < t && c`` is ``x < (c ? t : least)``; ``never``: the comparison must be false, not true, where c decides.
    Returns the comparison, its operands, and the index of the operand off the recurrence."""
    early = one.late(compare).index(False)
    numbers, upper = list(compare.operands), (early == 0) == never
    sign, bits = compare.opcode[0], numbers[early].type.bits
    if compare.opcode.endswith("lt") != never:  # equality matters: the limit must lie beyond all numbers
        bits += 1
        numbers = [_wider(v, sign, bits, b) for v in numbers]
        sign = sign if upper else "s"
    limit = b.const(_limit(bits, sign == "s", upper), IntType(bits))
    numbers[early] = b.value("select", guard, *((numbers[early], limit) if never else (limit, numbers[early])))
    return sign + compare.opcode[1:], numbers, early


def _of_both(one: Recurrence, compares: list[Op], both: bool, b: Builder) -> tuple[str, list[Value], int]:
    """``s < x && t < x`` is ``max(s, t) < x``; returns the comparison as above. Either may have been widened before."""
    early = one.late(compares[0]).index(False)
    signs, limits, late = zip(*((c.opcode[0], c.operands[early], c.operands[1 - early]) for c in compares), strict=True)
    sign, value = signs[0], late[0]
    if len({*signs}) > 1 or limits[0].type != limits[1].type:
        bits = 1 + max(v.type.bits for v in limits)
        limits = tuple(_wider(v, each, bits, b) for v, each in zip(limits, signs, strict=True))
        sign, value = "s", _wider(value, sign, bits, b)
    first, second = limits if both == (early == 1) else limits[::-1]
    limit = b.value("select", b.value(f"{sign}lt", *limits), first, second)
    return sign + compares[0].opcode[1:], [value, limit] if early else [limit, value], early


def _wider(value: Value, sign: str, bits: int, b: Builder) -> Value:
    return b.value({"s": "sext", "u": "zext"}[sign], value, result=IntType(bits))


def _limit(bits: int, is_signed: bool, upper: bool) -> int:
    """The greatest or least number of so many bits, as a bit pattern."""
    if is_signed:
        return (1 << bits - 1) - 1 if upper else 1 << bits - 1
    return (1 << bits) - 1 if upper else 0
