"""Reductions that a loop carries: sums, products, logic, minima and maxima, each of which shares of the iterations may
accumulate apart, to be joined after them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ...ir import Attr, Builder, FloatType, IntType, Op, Region, Type, Value, has, uses
from ...ir.associative import neutral
from ...narrow import instance

__all__ = ["Reduction", "reduction"]

_PLAIN = frozenset({"add", "or", "xor", "mul", "and"})
_SUMS = frozenset({"fadd", "fsub", "fma"})
_ORDERS = frozenset({"slt", "sle", "ult", "ule", "flt", "fle"})


@dataclass(frozen=True)
class Reduction:
    """What each iteration does with a carried value: ``opcode`` (an associative operation) of it and something that
    does not depend on it. A comparison selects the lesser or the greater: the value is compared as operand no.
    ``place``, and selected if that is ``kept``. ``flush``: of sums of floats in which subnormal numbers count as
    zeros."""

    opcode: str
    place: int = 0
    kept: bool = False
    flush: bool = False

    def neutral(self, b: Builder, type: Type) -> Value:
        """A value with which nothing changes what it is joined with."""
        if isinstance(type, FloatType):
            return b.const(-0.0 if self.opcode == "fadd" else math.inf if self._least else -math.inf, type)
        kind = self.opcode if self.opcode in _PLAIN else f"{self.opcode[0]}{'min' if self._least else 'max'}"
        return neutral(kind, instance(type, IntType), b)

    def join(self, b: Builder, before: Value, later: Value) -> Value:
        """What earlier iterations have accumulated, and later ones from the neutral value on."""
        if self.opcode in _PLAIN:
            return b.value(self.opcode, before, later)
        if self.opcode == "fadd":
            return b.value("fadd", before, later, attrs={Attr.FLUSH_DENORMALS: True} if self.flush else {})
        sides = (before, later) if self.place == 0 else (later, before)
        return b.value("select", b.value(self.opcode, *sides), *((before, later) if self.kept else (later, before)))

    @property
    def _least(self) -> bool:
        """Whether a comparison selects the lesser one: the first operand of one that holds is."""
        return (self.place == 0) == self.kept


def reduction(loop: Op, k: int, floats: bool = False) -> Reduction | None:
    """What the loop does with its carried value no. ``k``, if that is a reduction that shares of the iterations may do
    apart; with ``floats``, sums of floats in any order are.

    Each operation that uses the value, or what is made of it, is the reduction's own, or selects between such values
    under a condition that does not depend on them, or is an inner loop that carries it on.
    """
    (body,) = loop.regions
    return _Chain(body, k, floats).found


class _Chain:
    """The values that a carried value becomes in an iteration, and the only reduction among the operations that make
    them."""

    def __init__(self, body: Region, k: int, floats: bool) -> None:
        self._users, self._floats = uses(body), floats
        self._values: set[Value] = set()
        self._kinds: set[Reduction] = set()
        self._ends = {(body.terminator, 1 + k)}
        self.found = self._follow(body.args[k], body.terminator.operands[1 + k])

    def _follow(self, first: Value, last: Value) -> Reduction | None:
        inside: set[tuple[Op, int]] = set()
        work = [first]
        while work:
            value = work.pop()
            if value in self._values:
                continue
            self._values.add(value)
            for op, place in self._users.get(value, ()):
                step = self._step(op, place, value)
                if step is None:
                    return None
                inside.add((op, place))
                work += step
        if last not in self._values or len(self._kinds) != 1 or not all(map(self._closed, inside)):
            return None
        return next(iter(self._kinds))

    def _step(self, op: Op, place: int, value: Value) -> Iterable[Value] | None:
        """What this use of the value makes of it; None for a use that is no part of a reduction."""
        if (op, place) in self._ends:
            return ()
        if op.regions:
            if place == 0:
                return None
            (inner,) = op.regions
            self._ends.add((inner.terminator, place))
            return inner.args[place - 1], op.results[place - 1]
        kind = self._kind(op, place)
        if kind is not None:
            self._kinds.add(kind)
            return (op.result,)
        if op.opcode in _ORDERS:
            return () if self._chooses(op, place, value) else None
        return (op.result,) if op.opcode == "select" and place > 0 else None

    def _kind(self, op: Op, place: int) -> Reduction | None:
        """The reduction that an arithmetic operation is, of its operand no. ``place``."""
        if op.opcode in _PLAIN and op.operands[0] is not op.operands[1]:
            return Reduction(op.opcode)
        if op.opcode == "sub" and place == 0:
            return Reduction("add")
        if (
            not self._floats
            or op.opcode not in _SUMS
            or op.opcode == "fsub"
            and place
            or op.opcode == "fma"
            and place < 2
        ):
            return None
        if op.opcode == "fadd" and op.operands[0] is op.operands[1]:
            return None
        return Reduction("fadd", flush=bool(op.attrs.get(Attr.FLUSH_DENORMALS)))

    def _chooses(self, compare: Op, place: int, value: Value) -> bool:
        """Whether all that a comparison of the value decides is that a minimum or a maximum takes the other operand,
        possibly under further conditions."""
        # a NaN is never selected where the comparison must hold; else it would end what came before
        other, is_float = compare.operands[1 - place], isinstance(value.type, FloatType)
        work, chosen = [(compare.result, False)], False
        while work:
            condition, guarded = work.pop()
            for op, _ in self._users.get(condition, ()):
                if op.opcode == "and" and op.operands[0] is not op.operands[1]:
                    work.append((op.result, True))
                    continue
                if op.opcode != "select" or op.operands[0] is not condition:
                    return False
                kept = op.operands[1:] == [value, other]
                if not kept and op.operands[1:] != [other, value] or kept and (guarded or is_float):
                    return False
                self._kinds.add(Reduction(compare.opcode, place, kept))
                chosen = True
        return chosen

    def _closed(self, use: tuple[Op, int]) -> bool:
        """Whether an operation of the chain gets values of the chain where it must: on both sides of a choice, also
        where a loop goes on; and on one side only of anything else."""
        op, place = use
        if op.regions:
            return op.regions[0].terminator.operands[place] in self._values
        if op.opcode == "select":
            compared = {one for one in self._compared(op.operands[0]) if one in self._values}
            both = all(one in self._values for one in op.operands[1:])
            return both or bool(compared & set(op.operands[1:]))
        if op.opcode in _ORDERS or has(op, "pure") and op.opcode != "select":
            return sum(one in self._values for one in op.operands) == 1
        return True

    def _compared(self, condition: Value) -> set[Value]:
        """The operands of the comparisons that a condition is made of."""
        op = condition.op
        if op is None or op.opcode not in (*_ORDERS, "and"):
            return set()
        return set(op.operands) if op.opcode in _ORDERS else {v for one in op.operands for v in self._compared(one)}
