"""Which numbers an integer value can be: an interval of its unsigned and one of its signed reading."""

import itertools
from dataclasses import dataclass

from ..ir import Function, IntType, Op, Region, Value, walk
from ..ir.rewrite import constant
from .transfer import TRANSFER, Range
from .trips import implied

__all__ = ["Range", "ranges"]

_PATIENCE = 6  #: rounds in which a loop's ranges may settle before nothing is known of what it carries


def ranges(function: Function) -> dict[Value, Range]:
    """A range for every integer value of a flat function (no `if`); sound for every input.

    Loop counters are bounded by the conditions under which their loop continues.
    """
    analysis = _Ranges()
    for value in function.args:
        analysis.full(value)
    analysis.region(function.body)
    return analysis.of


@dataclass(frozen=True)
class _Step:
    """An operation whose result's range depends on others: those of ``inputs``. A ``select`` knows ``facts`` of each arm."""

    op: Op
    inputs: tuple[Value, ...]
    facts: tuple[dict[Value, bool], ...] = ()


class _Ranges:
    """Bodies of loops are walked until guesses hold, and those of loops inside each time again. So a step is taken again only when a
    range that it depends on has changed since: of a nest, what depends on the counters of many loops around it."""

    def __init__(self):
        self.of: dict[Value, Range] = {}
        self._changed: dict[Value, int] = {}  #: when the range of a value changed last
        self._taken: dict[Op, int] = {}  #: when a step was taken last
        self._now = 0
        self._steps: dict[Region, list[_Step]] = {}

    def full(self, value: Value):
        if isinstance(value.type, IntType):
            self._put(value, Range.full(value.type.bits))

    def _put(self, value: Value, found: Range):
        if self.of.get(value) != found:
            self._now += 1
            self.of[value], self._changed[value] = found, self._now

    def region(self, region: Region):
        for step in self._of_region(region):
            taken = self._taken.get(step.op)
            if taken is not None and all(self._changed[v] <= taken for v in step.inputs):
                continue
            if step.op.opcode == "loop":
                self._loop(step.op)
            elif step.op.opcode == "select":
                arms = [self.under(arm, facts) for arm, facts in zip(step.op.operands[1:], step.facts)]
                self._put(step.op.result, arms[0].join(arms[1]))
            else:
                rule = TRANSFER[step.op.opcode]
                self._put(step.op.result, rule(step.op.result.type.bits, *(self.of[v] for v in step.op.operands)))
            self._taken[step.op] = self._now

    def _of_region(self, region: Region) -> list[_Step]:
        """The steps of a region; the ranges of what depends on nothing are set at once."""
        if region not in self._steps:
            self._steps[region] = [step for op in region.ops if (step := self._step(op))]
        return self._steps[region]

    def _step(self, op: Op) -> _Step | None:
        if op.opcode == "loop":
            return _Step(op, self._inputs_of_loop(op))
        if not op.results or not isinstance(op.results[0].type, IntType):
            for value in op.results:
                self.full(value)
            return None
        if op.opcode == "select":
            facts = tuple(implied(op.operands[0], truth) for truth in (True, False))
            return _Step(op, tuple({*op.operands[1:], *_compared(*facts)}), facts)
        if op.opcode in TRANSFER:
            return _Step(op, tuple(op.operands))
        if op.opcode == "const":
            self._put(op.result, Range.exact(constant(op.result), op.result.type.bits))
        else:
            for value in op.results:
                self.full(value)
        return None

    def _inputs_of_loop(self, loop: Op) -> tuple[Value, ...]:
        """Values from outside on which the ranges in a loop depend."""
        (body,) = loop.regions
        again, *nexts = body.terminator.operands
        read = {*loop.operands[1:], *nexts, *_compared(implied(again))}
        for step in self._of_region(body):
            read.update(step.inputs)
        inside = {*body.args, *(value for op in walk(body) for value in op.results)}
        return tuple(value for value in read - inside if isinstance(value.type, IntType))

    def under(self, value: Value, facts: dict[Value, bool]) -> Range:
        """The range of ``value`` where the facts (conditions and their truth) hold."""
        return self._under(self.of[value], value, facts)

    def _under(self, found: Range, value: Value, facts: dict[Value, bool]) -> Range:
        for condition, truth in facts.items():
            if condition.op is None or condition.op.opcode not in _BOUNDS:
                continue
            if value in condition.op.operands:
                found = self._bounded(found, value, condition.op, truth)
            for part in condition.op.operands:
                if _whole(part) is value and found.umax <= Range.full(part.type.bits).umax:  # it is the whole of it
                    low = self._bounded(TRANSFER["trunc"](part.type.bits, found), part, condition.op, truth)
                    found = found.clip(False, low.umin, low.umax)
        return found

    def _bounded(self, found: Range, value: Value, compare: Op, truth: bool) -> Range:
        left, right = compare.operands
        if left is right:
            return found
        other = self.of[right if value is left else left]
        return _BOUNDS[compare.opcode](found, other, value is left, truth)

    def _loop(self, op: Op):
        """Guess the carried values' ranges, walk the body, and widen the guess until it holds."""
        (body,), inits = op.regions, op.operands[1:]
        counted = [k for k, arg in enumerate(body.args) if isinstance(arg.type, IntType)]
        guess = {k: self.of[inits[k]] for k in counted}
        for attempt in itertools.count():
            for k in counted:
                self._put(body.args[k], guess[k])
            self.region(body)
            wider = self._wider(body, guess, attempt)
            if wider == guess:
                break
            guess = wider
        self._narrow(body, inits, guess)
        for k, after in enumerate(body.terminator.operands[1:]):
            if k in guess:
                self._put(op.results[k], self.of[inits[k]].join(self.of[after]))

    def _narrow(self, body: Region, inits: list[Value], guess: dict[int, Range]):
        """Where a guess holds, what it leads to holds as well, and may be less: the guess may have been widened past a mask."""
        again, *nexts = body.terminator.operands
        facts = implied(again)
        less = {k: self.of[inits[k]].join(self.under(nexts[k], facts)) for k in guess}
        if less != guess:
            for k, found in less.items():
                self._put(body.args[k], found)
            self.region(body)

    def _wider(self, body: Region, guess: dict[int, Range], attempt: int) -> dict[int, Range]:
        """The guess made to hold for the next iteration: first up to what continuing allows, in the end everything. Of what is chosen in each
        iteration, as the state of an automaton is, the choices alone are tried before that."""
        again, *nexts = body.terminator.operands
        facts = implied(again)
        wider = {}
        for k, known in guess.items():
            whole = Range.full(known.bits)
            limit, arriving = self._limit(nexts[k], facts) if attempt < 3 else whole, self._arriving(k, body, guess, facts)
            if attempt == 0 and _is_chosen(nexts[k]):
                wider[k] = known.join(arriving)
            else:
                wider[k] = whole if attempt > _PATIENCE else known.widen(arriving, limit)
        return wider

    def _arriving(self, k: int, body: Region, guess: dict[int, Range], facts) -> Range:
        """What carried value ``k`` may be in the next iteration, or later where it is handed from one to the next as in a
        shift register: otherwise each round would only move a range by one place."""
        nexts, found, seen = body.terminator.operands[1:], guess[k], set()
        while k not in seen:
            seen.add(k)
            found = found.join(self.under(nexts[k], facts))
            if nexts[k].owner is body:
                k = nexts[k].index
        return found

    def _limit(self, value: Value, facts) -> Range:
        """What the facts alone say about the value. Of one whose low bits are compared, that it has no others: a guess."""
        whole = Range.full(value.type.bits)
        parts = [v.type.bits for v in _compared(facts) if _whole(v) is value]
        return self._under(whole.clip(False, high=Range.full(min(parts)).umax) if parts else whole, value, facts)


def _is_chosen(value: Value) -> bool:
    while value.op is not None and value.op.opcode in ("zext", "sext", "trunc"):
        value = value.op.operands[0]
    return value.op is not None and value.op.opcode == "select"


def _compared(*facts: dict[Value, bool]) -> set[Value]:
    """The integers that the conditions of facts compare."""
    return {value for known in facts for condition in known if condition.op is not None and condition.op.opcode in _BOUNDS
            for value in condition.op.operands if isinstance(value.type, IntType)}


def _whole(part: Value) -> Value | None:
    """What a value is the low bits of."""
    return part.op.operands[0] if part.op is not None and part.op.opcode == "trunc" else None


def _less(signed: bool, strict: bool):
    """The bound that ``left < right`` (or <=) puts on either side."""

    def bound(found: Range, other: Range, is_left: bool, truth: bool) -> Range:
        low, high = (other.smin, other.smax) if signed else (other.umin, other.umax)
        below = is_left == truth  # the value is on the small side
        gap = int(strict == truth)  # not (a < b) is b <= a
        change = {"high": high - gap} if below else {"low": low + gap}
        return found.clip(signed, **change)

    return bound


def _equal(same: bool):
    def bound(found: Range, other: Range, is_left: bool, truth: bool) -> Range:
        if same != truth:
            return found
        return found.clip(False, other.umin, other.umax).clip(True, other.smin, other.smax)

    return bound


_BOUNDS = {"slt": _less(True, True), "sle": _less(True, False), "ult": _less(False, True), "ule": _less(False, False),
           "eq": _equal(True), "ne": _equal(False)}
