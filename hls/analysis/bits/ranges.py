"""Integer value ranges: an interval of the unsigned and one of the signed interpretation of each value."""

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from ...ir import BOOL, Function, IntType, Op, Region, Value, walk
from ...ir.rewrite import constant
from ...narrow import present
from ..predicates.guarded_values import COMPARISONS, GuardedValue, GuardedValues, compared
from ..predicates.implication import implied
from .intervals import TRANSFER, Range

__all__ = ["Range", "never_holds", "ranges"]

_PATIENCE = 6  #: rounds until the ranges of a loop must settle; then its carried values are unknown


def ranges(function: Function) -> dict[Value, Range]:
    """A range for every integer value of a flat function (no `if`); sound for every input.

    Loop counters are bounded by the conditions under which their loop is entered, and continues.
    """
    analysis = _Ranges()
    for value in function.args:
        analysis.full(value)
    analysis.region(function.body)
    return analysis.of


def never_holds(test: Value, of: Mapping[Value, Range]) -> bool:
    """Whether a condition is false, or a comparison that is so for all values in these ranges."""
    if constant(test) == 0:
        return True
    op = test.op
    if op is None or (op.opcode, True) not in _NEVER or any(v not in of for v in op.operands):
        return False
    left, right = (of[v] for v in op.operands)
    return _NEVER[op.opcode, True](left, right)


@dataclass(eq=False, slots=True)
class _Step:
    """An operation whose result's range depends on those of ``inputs``. A ``select`` has its ``arms``, a loop what its
    carried values depend on."""

    op: Op
    inputs: tuple[Value, ...]
    arms: tuple[GuardedValue, ...] = ()
    carried: "_Carried | None" = None
    taken: int = -1  #: when it was evaluated last


@dataclass(eq=False, slots=True)
class _Carried:
    """The ``steps`` of a loop's body on which its carried values depend, and the ``inputs`` of these from outside: only
    they are evaluated until the carried values' ranges hold."""

    steps: tuple[_Step, ...]
    inputs: tuple[Value, ...]
    settled: int = -1  #: when ranges of the carried values were found last


class _Known:
    """Facts, by the values whose ranges they bound: the comparisons with each, and how many low bits of it are
    compared. Most values are in none of the comparisons."""

    def __init__(self, facts: dict[Value, bool], found: dict[Op, "_Compared"]) -> None:
        self.facts = facts
        self.comparisons: dict[Value, list[tuple[Op, bool]]] = {}
        self.low_bits: dict[Value, int] = {}
        for condition, truth in facts.items():
            op = condition.owner
            if type(op) is not Op or op.opcode not in COMPARISONS:
                continue
            if (one := found.get(op)) is None:
                one = found[op] = _Compared.by(op)
            for value in one.values:
                self.comparisons.setdefault(value, []).append((op, truth))
            for whole, bits in one.low_bits:
                self.low_bits[whole] = min(bits, self.low_bits.get(whole, bits))


@dataclass(frozen=True, slots=True)
class _Compared:
    """The ``values`` whose ranges a comparison bounds, and those of which it compares ``low_bits`` only, with how many.
    Found once, as long chains of conditions share their comparisons."""

    values: tuple[Value, ...]
    low_bits: tuple[tuple[Value, int], ...]

    @classmethod
    def by(cls, op: Op) -> "_Compared":
        parts = op.operands
        values = [*parts, *(v for part in parts for v in (_whole(part), _extended(part)) if v is not None)]
        wholes = [(_whole(part), part.type.bits) for part in parts if isinstance(part.type, IntType)]
        return cls(tuple(dict.fromkeys(values)), tuple((v, bits) for v, bits in wholes if v is not None))


class _Ranges:
    """Evaluates what the carried values of a loop depend on until the guessed ranges hold, and then its body once: an
    inner loop is a part of the first only if its results are, so that time does not double with each loop of a nest. A
    step is repeated only if a range that it depends on has changed."""

    def __init__(self) -> None:
        self.of: dict[Value, Range] = {}
        self._changed: dict[Value, int] = {}  #: when the range of a value changed last
        self._now = 0
        self._steps: dict[Region, list[_Step]] = {}
        self._arms: dict[Op | None, tuple[GuardedValue, ...]] = {}
        self._guarded = GuardedValues()
        self._compared: dict[Op, _Compared] = {}
        self._known: dict[int, _Known] = {}  #: by id() of the facts, which it keeps alive
        self._implied: dict[Value, dict[Value, bool]] = {}

    def full(self, value: Value) -> None:
        if isinstance(value.type, IntType):
            self._put(value, Range.full(value.type.bits))

    def _put(self, value: Value, found: Range) -> None:
        if self.of.get(value) != found:
            self._now += 1
            self.of[value], self._changed[value] = found, self._now

    def region(self, region: Region) -> None:
        """Evaluate all of a region, whose inputs have their final ranges."""
        for step in self._of_region(region):
            if self._is_stale(step.inputs, step.taken):
                if step.carried is not None:
                    self._settle(step.op, step.carried)
                    self.region(step.op.regions[0])
                else:
                    self._evaluate(step)
                step.taken = self._now

    def _carry(self, carried: _Carried) -> None:
        """Evaluate what the carried values of a loop depend on."""
        for step in carried.steps:
            if step.carried is not None:
                self._settle(step.op, step.carried)
            elif self._is_stale(step.inputs, step.taken):
                self._evaluate(step)
                step.taken = self._now

    def _is_stale(self, inputs: tuple[Value, ...], since: int) -> bool:
        if since < 0:
            return True
        changed = self._changed
        for value in inputs:  # a generator takes several times as long for the two inputs of most steps
            if changed[value] > since:
                return True
        return False

    def _evaluate(self, step: _Step) -> None:
        op = step.op
        if op.opcode == "select":
            self._put(op.result, self._either(step))
        else:
            self._put(op.result, TRANSFER[op.opcode](op.result.type.bits, *(self.of[v] for v in op.operands)))

    def _of_region(self, region: Region) -> list[_Step]:
        """The steps of a region; ranges of results without inputs are set at once."""
        if region not in self._steps:
            self._steps[region] = [step for op in region.ops if (step := self._step(op))]
        return self._steps[region]

    def _step(self, op: Op) -> _Step | None:
        if op.opcode == "loop":
            return self._step_of_loop(op)
        if not op.results or not isinstance(op.results[0].type, IntType):
            for value in op.results:
                self.full(value)
            return None
        if op.opcode == "select":
            self._arms[op] = arms = self._guarded.of(op)
            return _Step(
                op,
                tuple({*op.operands[1:], *(arm.value for arm in arms), *compared(*(arm.facts for arm in arms))}),
                arms,
            )
        if op.opcode in TRANSFER:
            return _Step(op, tuple(op.operands))
        if op.opcode == "const":
            self._put(op.result, Range.exact(present(constant(op.result)), op.result.type.bits))
        else:
            for value in op.results:
                self.full(value)
        return None

    def _step_of_loop(self, loop: Op) -> _Step:
        """The loop with the values defined outside it on which ranges inside it depend."""
        (body,) = loop.regions
        again, *nexts = body.terminator.operands
        inside = {*body.args, *(value for op in walk(body) for value in op.results)}
        decides = {*loop.operands[1:], *nexts, *compared(self._implied_by(again), self._implied_by(loop.operands[0]))}
        read, needed, carried = set(decides), set(decides), list[_Step]()
        for step in reversed(self._of_region(body)):
            read.update(step.inputs)
            if not needed.isdisjoint(step.op.results):
                needed.update(step.carried.inputs if step.carried is not None else step.inputs)
                carried.append(step)

        def outside(values: set[Value]) -> tuple[Value, ...]:
            return tuple(value for value in values - inside if isinstance(value.type, IntType))

        return _Step(loop, outside(read), carried=_Carried(tuple(reversed(carried)), outside(needed)))

    def under(self, value: Value, facts: dict[Value, bool]) -> Range:
        """The range of ``value`` where the facts (conditions and their truth) hold."""
        found = self._under(self.of[value], value, facts)
        narrow = _extended(value)  # which the facts may compare instead
        if narrow is None or narrow not in self._of_facts(facts).comparisons:
            return found
        within = self._under(self.of[narrow], narrow, facts)
        return found.meet(TRANSFER[value.defining_op.opcode](value.type.bits, within))

    def _of_facts(self, facts: dict[Value, bool]) -> _Known:
        """The facts by value; operations do not change while they are analyzed."""
        found = self._known.get(id(facts))
        if found is None:
            found = self._known[id(facts)] = _Known(facts, self._compared)
        return found

    def _implied_by(self, again: Value) -> dict[Value, bool]:
        if again not in self._implied:
            self._implied[again] = implied(again)
        return self._implied[again]

    def _under(self, found: Range, value: Value, facts: dict[Value, bool]) -> Range:
        for compare, truth in self._of_facts(facts).comparisons.get(value, ()):
            if value in compare.operands:
                found = self._bounded(found, value, compare, truth)
            for part in compare.operands:
                if _whole(part) is value and found.umax <= Range.full(part.type.bits).umax:  # no higher bits
                    low = self._bounded(TRANSFER["trunc"](part.type.bits, found), part, compare, truth)
                    found = found.clip(False, low.umin, low.umax)
                elif _whole(part) is value and _extends(Range.full(part.type.bits), found):  # only copies of the sign
                    low = self._bounded(TRANSFER["trunc"](part.type.bits, found), part, compare, truth)
                    found = found.clip(True, low.smin, low.smax)
                if _extended(part) is value:
                    wide = TRANSFER[part.defining_op.opcode](part.type.bits, found)
                    wide = self._bounded(wide, part, compare, truth)
                    is_signed = part.defining_op.opcode == "sext"
                    ends = (wide.smin, wide.smax) if is_signed else (wide.umin, wide.umax)
                    found = found.clip(is_signed, *ends)
        return found

    def _bounded(self, found: Range, value: Value, compare: Op, truth: bool) -> Range:
        left, right = compare.operands
        if left is right:
            return found
        other = self.of[right if value is left else left]
        return _BOUNDS[compare.opcode](found, other, value is left, truth)

    def _either(self, step: _Step) -> Range:
        """The range of a select. Arms that the ranges found so far exclude are left out."""
        found = [self._arm(arm) for arm in step.arms if not self._never(arm)] or [
            self.of[v] for v in step.op.operands[1:]
        ]
        return functools.reduce(Range.join, found)

    def _never(self, arm: GuardedValue) -> bool:
        for condition, truth in arm.facts.items() if arm.near else ():
            if (
                condition.op is not None
                and condition.op.opcode in COMPARISONS
                and isinstance(condition.op.operands[0].type, IntType)
            ):
                left, right = (self.of[v] for v in condition.op.operands)
                if _NEVER[condition.op.opcode, truth](left, right):
                    return True
        return False

    def _arm(self, arm: GuardedValue) -> Range:
        found = self.under(arm.value, arm.facts)
        for value, more in arm.near:
            found = found.meet(_moved(self.under(value, arm.facts), more, found.bits))
        return found

    def _settle(self, op: Op, carried: _Carried) -> None:
        """Guess the carried values' ranges, find those of the next iteration, and widen the guess until it holds."""
        if not self._is_stale(carried.inputs, carried.settled):
            return
        (body,), inits = op.regions, op.operands[1:]
        counted = [k for k, arg in enumerate(body.args) if isinstance(arg.type, IntType)]
        guess = {k: self._entered(op, k) for k in counted}
        for attempt in itertools.count():
            for k in counted:
                self._put(body.args[k], guess[k])
            self._carry(carried)
            wider = self._wider(body, guess, attempt)
            if wider == guess:
                break
            guess = wider
        self._narrow(op, carried, guess)
        for k, after in enumerate(body.terminator.operands[1:]):
            if k in guess:
                self._put(op.results[k], self.of[inits[k]].join(self.of[after]))
        carried.settled = self._now

    def _entered(self, loop: Op, k: int) -> Range:
        """The range of the initial value of a carried value where the loop is entered."""
        return self.under(loop.operands[1 + k], self._implied_by(loop.operands[0]))

    def _narrow(self, op: Op, carried: _Carried, guess: dict[int, Range]) -> None:
        """If a guess holds, so does the range it implies for the next iteration, which may be smaller: the guess may
        have been widened past a mask."""
        (body,) = op.regions
        again, *nexts = body.terminator.operands
        facts = self._implied_by(again)
        less = {k: self._entered(op, k).join(self.under(nexts[k], facts)) for k in guess}
        if less != guess:
            for k, found in less.items():
                self._put(body.args[k], found)
            self._carry(carried)

    def _wider(self, body: Region, guess: dict[int, Range], attempt: int) -> dict[int, Range]:
        """The guess widened towards the next iteration: first up to the limits of the continue condition, finally to
        the full range. For values selected in each iteration, such as the state of an FSM, the ranges of the arms are
        tried before that, and then the limits from their conditions."""
        again, *nexts = body.terminator.operands
        facts = self._implied_by(again)
        wider = {}
        for k, known in guess.items():
            whole = Range.full(known.bits)
            limit, arriving = (
                self._limit(nexts[k], facts) if attempt < 3 else whole,
                self._arriving(k, body, guess, facts),
            )
            if attempt == 0 and _is_chosen(nexts[k]):
                wider[k] = known.join(arriving)
            elif attempt == 1 and _is_chosen(nexts[k]):
                wider[k] = known.widen(arriving, limit).meet(known.widen(arriving, limit.meet(self._hoped(nexts[k]))))
            else:
                wider[k] = whole if attempt > _PATIENCE else known.widen(arriving, limit)
        return wider

    def _arriving(self, k: int, body: Region, guess: dict[int, Range], facts) -> Range:
        """The range of carried value ``k`` in the next iteration, or in later ones if it is passed on as in a shift
        register: otherwise each round would move a range by one register only."""
        nexts, found, seen = body.terminator.operands[1:], guess[k], set()
        while k not in seen:
            seen.add(k)
            found = found.join(self.under(nexts[k], facts))
            if nexts[k].owner is body:
                k = nexts[k].index
        return found

    def _hoped(self, value: Value) -> Range:
        """The tightest bounds from the conditions of selects, as in ``x >= n ? x - n : x``, whatever is carried: a
        guess."""
        chosen = _uncast(value)
        found, work = Range.full(chosen.type.bits), [chosen]
        while work:
            for arm in self._arms.get(work.pop().op, ()):
                work.append(arm.value)
                for near, more in arm.near:
                    found = found.meet(_moved(self._not_yet(near, arm.facts), more, found.bits))
        return _moved(found, 0, value.type.bits) if found.bits >= value.type.bits else Range.full(value.type.bits)

    def _not_yet(self, value: Value, facts: dict[Value, bool]) -> Range:
        """The range implied by the facts alone. If they only exclude one number, the value is taken not to have passed
        it."""
        whole, now = Range.full(value.type.bits), self.of[value]
        found = self._under(whole, value, facts)
        for condition, truth in facts.items() if found == whole else ():
            if (
                condition.op is not None
                and condition.op.opcode == ("ne" if truth else "eq")
                and value in condition.op.operands
            ):
                number = self.of[condition.op.operands[condition.op.operands[0] is value]]
                found = found.clip(
                    True,
                    number.smax + 1 if now.smin > number.smax else None,
                    number.smin - 1 if now.smax < number.smin else None,
                )
        return found

    def _limit(self, value: Value, facts) -> Range:
        """The range implied by the facts alone. If the value's low bits are compared, it is taken to have no others: a
        guess."""
        whole = Range.full(value.type.bits)
        bits = self._of_facts(facts).low_bits.get(value)
        return self._under(whole if bits is None else whole.clip(False, high=Range.full(bits).umax), value, facts)


def _is_chosen(value: Value) -> bool:
    value = _uncast(value)
    return value.op is not None and value.op.opcode == "select"


def _uncast(value: Value) -> Value:
    while value.op is not None and value.op.opcode in ("zext", "sext", "trunc"):
        value = value.op.operands[0]
    return value


def _moved(found: Range, more: int, bits: int) -> Range:
    """The range of the low bits of a sum with a constant."""
    total = TRANSFER["add"](found.bits, found, Range.exact(more % (1 << found.bits), found.bits))
    return total if bits == found.bits else TRANSFER["trunc"](bits, total)


def _whole(part: Value) -> Value | None:
    """The value of which ``part`` is the low bits."""
    return part.op.operands[0] if part.op is not None and part.op.opcode == "trunc" else None


def _extended(part: Value) -> Value | None:
    """The value that ``part`` is with more bits, which is not one bit alone."""
    extended = part.op is not None and part.op.opcode in ("zext", "sext") and part.op.operands[0].type != BOOL
    return part.defining_op.operands[0] if extended else None


def _extends(narrow: Range, wide: Range) -> bool:
    """Whether all of the wide range is in the narrow one as signed numbers."""
    return narrow.smin <= wide.smin and wide.smax <= narrow.smax


def _less(signed: bool, strict: bool):
    """The bound that ``left < right`` (or <=) puts on either side."""

    def bound(found: Range, other: Range, is_left: bool, truth: bool) -> Range:
        low, high = (other.smin, other.smax) if signed else (other.umin, other.umax)
        below = is_left == truth  # the value is on the lesser side
        gap = int(strict == truth)  # not (a < b) is b <= a
        change = {"high": high - gap} if below else {"low": low + gap}
        return found.clip(signed, **change)

    return bound


def _equal(same: bool):
    def bound(found: Range, other: Range, is_left: bool, truth: bool) -> Range:
        if same != truth:
            return _without(found, other.umin) if other.umin == other.umax else found
        return found.clip(False, other.umin, other.umax).clip(True, other.smin, other.smax)

    return bound


def _without(found: Range, number: int) -> Range:
    """The range without one number, if that is a bound."""
    at = Range.exact(number, found.bits)
    found = found.clip(
        False, at.umin + 1 if found.umin == at.umin else None, at.umax - 1 if found.umax == at.umax else None
    )
    return found.clip(
        True, at.smin + 1 if found.smin == at.smin else None, at.smax - 1 if found.smax == at.smax else None
    )


_BOUNDS = {
    "slt": _less(True, True),
    "sle": _less(True, False),
    "ult": _less(False, True),
    "ule": _less(False, False),
    "eq": _equal(True),
    "ne": _equal(False),
}

_NEVER = {
    ("slt", True): lambda a, b: a.smin >= b.smax,
    ("slt", False): lambda a, b: a.smax < b.smin,
    ("sle", True): lambda a, b: a.smin > b.smax,
    ("sle", False): lambda a, b: a.smax <= b.smin,
    ("ult", True): lambda a, b: a.umin >= b.umax,
    ("ult", False): lambda a, b: a.umax < b.umin,
    ("ule", True): lambda a, b: a.umin > b.umax,
    ("ule", False): lambda a, b: a.umax <= b.umin,
}
for _same, _other in (("eq", "ne"), ("ne", "eq")):
    _NEVER[_same, _same == "eq"] = lambda a, b: a.umin > b.umax or b.umin > a.umax
    _NEVER[_same, _same == "ne"] = lambda a, b: a.umin == a.umax == b.umin == b.umax
