"""The step of a carried index: a tree of conditions over constants."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...ir import BOOL, IntType, Op, Value
from ...ir.rewrite import constant
from ...ir.values import signed
from ...narrow import instance

__all__ = ["Choice", "Steps", "leaves", "step_tree"]

#: most constants of a tree
MOST_LEAVES = 16


@dataclass(frozen=True, eq=False)
class Choice:
    """One of two subtrees, by a condition."""

    condition: Value
    one: "Steps"
    other: "Steps"


#: a constant step, or a choice between steps
Steps = int | Choice


def leaves(steps: Steps) -> Iterator[int]:
    """The constants, from the first to the last."""
    if isinstance(steps, Choice):
        yield from leaves(steps.one)
        yield from leaves(steps.other)
    else:
        yield steps


def step_tree(index: Value, following: Value) -> tuple[Steps, set[Op]] | None:
    """What is added to the index to get the ``following`` value, and the operations that add and choose it; None if
    that is no tree of constants."""
    tree = _Tree(index)
    steps = tree.sum(following)
    if steps is None:
        return None
    bits = instance(index.type, IntType).bits
    return _each(steps, lambda step: signed(step & (1 << bits) - 1, bits)), tree.visited


class _Tree:
    """Reads trees; ``visited`` are the operations that choose. What is known of a value is kept, as chains of choices
    use each of them several times."""

    def __init__(self, index: Value) -> None:
        self.index = index
        self.visited: set[Op] = set()
        self._sums: dict[Value, Steps | None] = {}
        self._numbers: dict[Value, Steps | None] = {}
        self._are_sums: dict[Value, bool] = {}

    def sum(self, value: Value) -> Steps | None:
        """What is added to the index to get the value."""
        if value not in self._sums:
            self._sums[value] = self._sum(value)
        return self._sums[value]

    def _sum(self, value: Value) -> Steps | None:
        if value is self.index:
            return 0
        op = value.op
        if op is None or op.opcode not in ("select", "add", "sub"):
            return None
        if op.opcode == "select":
            self.visited.add(op)
            return _choice(op.operands[0], *map(self.sum, op.operands[1:]))
        places = [k for k in (0, 1) if self._is_sum(op.operands[k])][:1]
        if not places or op.opcode == "sub" and places == [1]:
            return None
        moved, by = self.sum(op.operands[places[0]]), self.number(op.operands[1 - places[0]])
        if constant(op.operands[1 - places[0]]) is None:
            self.visited.add(op)
        return _added(moved, by, -1 if op.opcode == "sub" else 1)

    def _is_sum(self, value: Value) -> bool:
        if value not in self._are_sums:
            op = value.op
            self._are_sums[value] = value is self.index or (
                op is not None and op.opcode in ("add", "sub", "select") and any(map(self._is_sum, op.operands))
            )
        return self._are_sums[value]

    def number(self, value: Value) -> Steps | None:
        """The constants that the value may be."""
        if value not in self._numbers:
            self._numbers[value] = self._number(value)
        return self._numbers[value]

    def _number(self, value: Value) -> Steps | None:
        number, op = constant(value), value.op
        if number is not None:
            return number
        if op is not None and op.opcode == "select":
            self.visited.add(op)
            return _choice(op.operands[0], *map(self.number, op.operands[1:]))
        if op is None or op.opcode not in ("zext", "sext"):
            return None
        (inner,) = op.operands
        self.visited.add(op)
        bits = instance(inner.type, IntType).bits
        found = Choice(inner, 1, 0) if inner.type == BOOL else self.number(inner)
        if found is None:
            return None
        mask = (1 << bits) - 1
        return _each(found, lambda step: signed(step & mask, bits) if op.opcode == "sext" else step & mask)


def _each(steps: Steps, change: Callable[[int], int]) -> Steps:
    if isinstance(steps, Choice):
        return Choice(steps.condition, _each(steps.one, change), _each(steps.other, change))
    return change(steps)


def _choice(condition: Value, one: Steps | None, other: Steps | None) -> Steps | None:
    """The choice, unless a subtree is None, or it has too many constants."""
    if one is None or other is None:
        return None
    found = Choice(condition, one, other)
    return found if sum(1 for _ in leaves(found)) <= MOST_LEAVES else None


def _added(one: Steps | None, other: Steps | None, sign: int) -> Steps | None:
    """All sums of a constant of one tree and ``sign`` times a constant of the other."""
    if one is None or other is None:
        return None
    if isinstance(one, Choice):
        return _choice(one.condition, _added(one.one, other, sign), _added(one.other, other, sign))
    base = one
    return _each(other, lambda step: base + sign * step)
