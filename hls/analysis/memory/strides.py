"""Stride analysis: how the addresses of loads and stores change per iteration, for each enclosing loop.

The results select memory units and never affect correctness: a carried value is assumed not to wrap, and one that is
truncated to a few bits is assumed periodic. Dependences between accesses are computed in
``hls.analysis.dependence.dependence``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ...ir import Function, Op, Region, Value, has, reaches_memory, walk
from ...ir.rewrite import constant
from ...ir.values import signed

__all__ = ["STAYS", "AccessPattern", "Step", "access_patterns"]


@dataclass(frozen=True)
class Step:
    """The increase of a value from one iteration of a loop to the next.

    ``amount`` is None if it is not known at compile time; ``regular`` says that it is the same in every iteration,
    except that the value may wrap around after ``period`` (None: it does not).
    """

    amount: int | None
    regular: bool = True
    period: int | None = field(default=None, compare=False)

    def __add__(self, other: "Step") -> "Step":
        amount = None if self.amount is None or other.amount is None else self.amount + other.amount
        periods = [step.period for step in (self, other) if step != STAYS]
        known = [period for period in periods if period is not None]
        period = None if len(known) < len(periods) else max(known, default=None)
        return Step(amount, self.regular and other.regular, period)

    def __mul__(self, factor: int) -> "Step":
        period = self.period and self.period * abs(factor) or None
        return Step(self.amount * factor if self.amount is not None else None, self.regular, period)

    def cut(self, bits: int) -> "Step":
        """The step of the value's low bits."""
        return self if self == STAYS else replace(self, period=min(1 << bits, self.period or 1 << bits))


STAYS = Step(0)
SOMEHOW, ANYHOW = Step(None), Step(None, regular=False)


@dataclass(frozen=True, eq=False)
class AccessPattern:
    """The loops around one access, innermost first, each with the stride of the access's address in bytes."""

    op: Op
    steps: tuple[tuple[Op, Step], ...]


def access_patterns(function: Function) -> dict[Op, AccessPattern]:
    """The pattern of every load and store of a flat kernel, in program order."""
    found: dict[Op, list[Any]] = {}
    _visit(function.body, [], found)
    return {op: AccessPattern(op, tuple(steps)) for op, steps in found.items()}


def _visit(region: Region, around: list[tuple[Op, dict[Any, Any]]], found: dict[Any, Any]) -> None:
    for op in region.ops:
        if reaches_memory(op):
            found[op] = [(loop, steps.get(op.operands[0], STAYS)) for loop, steps in reversed(around)]
        for inner in op.regions:
            _visit(inner, [*around, (op, _steps(op))], found)


def _steps(loop: Op) -> dict[Value, Step]:
    """The step of every value inside a loop; values from outside are invariant and not included."""
    (body,) = loop.regions
    sums = _carried_sums(body)
    steps = {arg: _carried_step(arg, body, sums) for arg in body.args}
    _follow(body, steps)
    return steps


def _follow(region: Region, steps: dict[Value, Step]) -> None:
    for op in region.ops:
        for inner in op.regions:
            # an inner loop's value restarts in each iteration of this one, and steps in it as its initial value does
            inits = op.operands[1:] if op.opcode == "loop" else []
            steps |= {arg: steps.get(init, STAYS) for arg, init in zip(inner.args, inits, strict=True)}
            _follow(inner, steps)
        for result in op.results:
            steps[result] = _result_step(op, [steps.get(v, STAYS) for v in op.operands])


def _carried_step(arg: Value, body: Region, sums: dict[Any, Any]) -> Step:
    """The step of a carried value, whose next value may come from another carried value (as look-ahead does)."""
    path, value = [], arg
    while value not in path:
        path.append(value)
        value, step = sums.get(body.terminator.operands[1 + value.index], (None, ANYHOW))
        if value is None:
            return ANYHOW
    return step if value is path[-1] else ANYHOW  # else several values rotate


def _carried_sums(body: Region) -> dict[Value, tuple[Value, Step]]:
    """Values that are a carried value plus an invariant: (the carried value, the step)."""
    inside = {*body.args, *(r for op in walk(body) for r in op.results)}
    sums = {arg: (arg, STAYS) for arg in body.args}
    for op in body.ops:
        if op.opcode in ("add", "sub", "ptradd"):
            found = _moved(op, sums, inside)
        elif op.opcode in ("sext", "zext", "trunc"):
            found = sums.get(op.operands[0])
        else:
            found = _mostly(op, sums) if op.opcode == "select" else None
        if found is not None:
            sums[op.result] = found
    return sums


def _moved(op: Op, sums: dict[Any, Any], inside: set[Value]) -> tuple[Value, Step] | None:
    left, right = op.operands
    if op.opcode == "add" and left not in sums:
        left, right = right, left
    number = constant(right)
    if left not in sums or (number is None and right in inside):
        return None
    amount = SOMEHOW if number is None else Step(signed(number, right.type.bits))
    base, step = sums[left]
    return base, step + amount * (-1 if op.opcode == "sub" else 1)


def _mostly(op: Op, sums: dict[Any, Any]) -> tuple[Value, Step] | None:
    """A counter that sometimes restarts counts as stepping; one that only sometimes steps (a slow odometer digit)
    counts as invariant."""
    left, right = (sums.get(v) for v in op.operands[1:])
    if left is None or right is None or left == right:
        return left or right
    return (left[0], STAYS) if left[0] is right[0] and STAYS in (left[1], right[1]) else None


def _result_step(op: Op, operands: list[Step]) -> Step:
    handler = _HANDLERS.get(op.opcode)
    if handler is not None:
        return handler(op, operands)
    stays = has(op, "pure") and all(step == STAYS for step in operands)
    return STAYS if stays else ANYHOW


def _product(op: Op, operands: list[Step]) -> Step:
    if STAYS not in operands:
        return ANYHOW
    moving = operands[0] if operands[1] == STAYS else operands[1]
    factor = constant(op.operands[1 if operands[1] == STAYS else 0])
    if moving == STAYS or factor is None:
        return moving if moving == STAYS else Step(None, moving.regular)
    return moving * signed(factor, op.result.type.bits)


def _shifted(op: Op, operands: list[Step]) -> Step:
    """A shift is a product; the factor is known if the shift count is."""
    count = constant(op.operands[1])
    return _product(op, operands) if count is None else operands[0] * (1 << count)


def _chosen(op: Op, operands: list[Step]) -> Step:
    condition, left, right = operands
    return left if condition == STAYS and left == right else ANYHOW


_HANDLERS: dict[str, Callable[[Op, list[Step]], Step]] = {
    "add": lambda op, steps: steps[0] + steps[1],
    "sub": lambda op, steps: steps[0] + steps[1] * -1,
    "ptradd": lambda op, steps: steps[0] + steps[1],
    "addr": lambda op, steps: steps[0],
    **{name: lambda op, steps: steps[0] for name in ("sext", "zext")},
    "trunc": lambda op, steps: steps[0].cut(op.result.type.bits),
    "mul": _product,
    "shl": _shifted,
    "select": _chosen,
}
