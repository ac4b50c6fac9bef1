"""Which numbers an integer value can be: an interval of its unsigned and one of its signed reading."""

import itertools

from ..ir import Function, IntType, Op, Region, Value
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


class _Ranges:
    def __init__(self):
        self.of: dict[Value, Range] = {}

    def full(self, value: Value):
        if isinstance(value.type, IntType):
            self.of[value] = Range.full(value.type.bits)

    def region(self, region: Region):
        for op in region.ops:
            if op.opcode == "loop":
                self._loop(op)
            elif op.opcode == "select":
                self._select(op)
            else:
                self._plain(op)

    def _plain(self, op: Op):
        for value in op.results:
            self.full(value)
        rule = TRANSFER.get(op.opcode)
        if op.opcode == "const" and isinstance(op.result.type, IntType):
            self.of[op.result] = Range.exact(constant(op.result), op.result.type.bits)
        elif rule is not None and isinstance(op.result.type, IntType):
            self.of[op.result] = rule(op.result.type.bits, *(self.of[v] for v in op.operands))

    def _select(self, op: Op):
        condition, *arms = op.operands
        if not isinstance(op.result.type, IntType):
            return
        held = [self.under(arm, implied(condition, truth)) for arm, truth in zip(arms, (True, False))]
        self.of[op.result] = held[0].join(held[1])

    def under(self, value: Value, facts: dict[Value, bool]) -> Range:
        """The range of ``value`` where the facts (conditions and their truth) hold."""
        found = self.of[value]
        for condition, truth in facts.items():
            if condition.op is not None and value in condition.op.operands and condition.op.opcode in _BOUNDS:
                found = self._bounded(found, value, condition.op, truth)
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
                self.of[body.args[k]] = guess[k]
            self.region(body)
            wider = self._wider(body, guess, attempt)
            if wider == guess:
                break
            guess = wider
        for k, after in enumerate(body.terminator.operands[1:]):
            if k in guess:
                self.of[op.results[k]] = self.of[inits[k]].join(self.of[after])

    def _wider(self, body: Region, guess: dict[int, Range], attempt: int) -> dict[int, Range]:
        """The guess made to hold for the next iteration: first up to what continuing allows, in the end everything."""
        again, *nexts = body.terminator.operands
        facts = implied(again)
        wider = {}
        for k, known in guess.items():
            whole = Range.full(known.bits)
            limit = self._limit(nexts[k], facts) if attempt < 2 else whole
            wider[k] = whole if attempt > _PATIENCE else known.widen(self._arriving(k, body, guess, facts), limit)
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
        """What the facts alone say about the value."""
        known, self.of[value] = self.of[value], Range.full(value.type.bits)
        limit = self.under(value, facts)
        self.of[value] = known
        return limit


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
