"""Sets of possible values of small integers: more precise than an interval for selects, remainders and masks."""

import itertools
from functools import partial

from ...ir import Function, IntType, Op, Value, evaluate, has
from ...ir.rewrite import constant
from ...narrow import present
from .ranges import ranges

__all__ = ["PossibleValues"]

_MOST = 4096  #: most numbers of one value, and pairs of numbers tried for one operation
_DEEPEST = 40  #: most operations in a chain


class PossibleValues:
    """The numbers, read unsigned, that integer values of a flat function can be; sound for every input."""

    def __init__(self, function: Function) -> None:
        self._ranges = ranges(function)
        self._found: dict[Value, frozenset[int] | None] = {}

    def of(self, value: Value, depth: int = 0) -> frozenset[int] | None:
        """All numbers that the value may be; None: too many."""
        if value not in self._found:
            self._found[value] = self._within_range(value, self._computed(value, depth) if depth < _DEEPEST else None)
        return self._found[value]

    def _within_range(self, value: Value, computed: frozenset[int] | None) -> frozenset[int] | None:
        r = self._ranges[value]
        if computed is not None:
            return frozenset(x for x in computed if r.umin <= x <= r.umax)
        if r.umax - r.umin < _MOST:
            return frozenset(range(r.umin, r.umax + 1))
        if r.smax - r.smin < _MOST:
            return frozenset(x % (1 << r.bits) for x in range(r.smin, r.smax + 1))
        return None

    def _computed(self, value: Value, depth: int) -> frozenset[int] | None:
        """The numbers that the operation computes from those of its operands."""
        op = value.op
        if op is None or not has(op, "pure") or not all(isinstance(v.type, IntType) for v in (value, *op.operands)):
            return None
        if op.opcode == "const":
            return frozenset({present(constant(value))})
        if op.opcode == "select":
            return self._chosen(op, depth)
        if not op.operands:
            return None
        known = [self.of(v, depth + 1) for v in op.operands]
        sets = [numbers for numbers in known if numbers is not None]
        if len(sets) != len(known):
            return self._of_few_results(op)
        count = 1
        for each in sets:
            count *= len(each)
        if count > _MOST:
            return self._of_few_results(op)
        types = [v.type for v in op.operands]
        return frozenset(
            evaluate(op.opcode, list(numbers), types, value.type, op.attrs) for numbers in itertools.product(*sets)
        )

    def _of_few_results(self, op: Op) -> frozenset[int] | None:
        """The results of an operation that has few of them for any first operand: a remainder, or a mask."""
        by = constant(op.operands[-1])
        if not by:
            return None
        if op.opcode == "urem" and by <= _MOST:
            return frozenset(range(by))
        if op.opcode == "srem" and by <= _MOST // 2:
            return frozenset(x % (1 << op.result.type.bits) for x in range(1 - by, by))
        if op.opcode == "and" and 1 << by.bit_count() <= _MOST:
            bits = [1 << k for k in range(by.bit_length()) if by >> k & 1]
            return frozenset(
                map(sum, itertools.chain.from_iterable(itertools.combinations(bits, n) for n in range(len(bits) + 1)))
            )
        return None

    def _chosen(self, op: Op, depth: int) -> frozenset[int] | None:
        condition, *arms = op.operands
        yes, no = (self._arm(condition, bool(truth), arm, depth) for truth, arm in zip((1, 0), arms))
        return None if yes is None or no is None else yes | no

    def _arm(self, condition: Value, truth: bool, arm: Value, depth: int) -> frozenset[int] | None:
        """The possible values of an arm if it is selected: the condition may compare it with a constant."""
        numbers, test = self.of(arm, depth + 1), condition.op
        if (
            test is None
            or not has(test, "compare")
            or arm not in test.operands
            or any(constant(v) is None for v in test.operands if v is not arm)
        ):
            return numbers
        holds = partial(_holds, test, arm)
        if numbers is None and truth and test.opcode in ("ult", "ule") and arm is test.operands[0]:
            limit = constant(test.operands[1])
            numbers = frozenset(range(limit + 1)) if limit is not None and limit < _MOST else None
        return None if numbers is None else frozenset(x for x in numbers if holds(x) == truth)


def _holds(test: Op, value: Value, number: int) -> bool:
    operands = [number if v is value else constant(v) for v in test.operands]
    return bool(evaluate(test.opcode, operands, [v.type for v in test.operands], test.result.type, test.attrs))
