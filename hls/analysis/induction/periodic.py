"""Periodic variables: number sequences that a loop repeats, the same in every run.

Wrap-around counters (``if (++j == 16) { j = 0; ++i; }``), and those of coalesced nests, are not affine in an iteration
counter. But if they, and everything that influences them, start from constants and depend on nothing else, the loop
repeats the same sequence of numbers. The sequence is found by executing one period, or all iterations of a short loop.
It is described like the digits of a number: digit k in iteration t is ``t // divide % modulus``, and the number is a
weighted sum of digits.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

from ...ir import OPS, IntType, Op, Value, evaluate
from ...ir.as_python import integer_expression
from ...ir.rewrite import constant, literal
from ...ir.values import signed
from ...narrow import instance, present
from ..loops.loop_tree import Loop, LoopTree

__all__ = ["Digit", "PeriodicSequence", "PeriodicSequences"]

#: most iterations that are executed, and most operations in all of them
MOST_TURNS, MOST_STEPS = 1 << 14, 1 << 19
#: most digits of a number, above which queries about it take too long; nests are rarely deeper
MOST_DIGITS = 4


@dataclass(frozen=True)
class Digit:
    """``factor`` times ``t // divide % modulus`` in iteration t."""

    factor: int
    divide: int
    modulus: int


@dataclass(frozen=True)
class PeriodicSequence:
    """A value in iteration t of ``loop``, counted from 0: ``const`` plus the sum of the digits; between ``low`` and
    ``high`` in all iterations."""

    loop: Loop
    const: int
    digits: tuple[Digit, ...]
    low: int
    high: int


class PeriodicSequences:
    """The periodic sequences of the values of one flat kernel."""

    def __init__(self, tree: LoopTree) -> None:
        self.tree = tree
        self._found: dict[tuple[Value, bool], PeriodicSequence | None] = {}
        self._own: dict[Loop, dict[Value, Op]] = {}

    def of(self, value: Value, is_signed: bool) -> PeriodicSequence | None:
        """The sequence of a value in the innermost loop in which it changes, read as signed or unsigned; None if it has
        none, or no sufficiently short period."""
        key = value, is_signed
        if key not in self._found:
            loop = self.tree.changing(value) if isinstance(value.type, IntType) else None
            self._found[key] = _course(value, is_signed, loop, self._defined_in(loop)) if loop is not None else None
        return self._found[key]

    def _defined_in(self, loop: Loop) -> dict[Value, Op]:
        """The operations of the loop's body that define one value each."""
        if loop not in self._own:
            self._own[loop] = {op.result: op for op in loop.body.ops if len(op.results) == 1 and not op.regions}
        return self._own[loop]


def _course(value: Value, is_signed: bool, loop: Loop, own: Mapping[Value, Op]) -> PeriodicSequence | None:
    trips = loop.most_trips if (loop.most_trips or MOST_TURNS + 1) <= MOST_TURNS else None
    machine = _Collector(loop, trips is not None, own).machine(value)
    numbers = _follow(machine, trips) if machine is not None else None
    if numbers is None:
        return None
    numbers = tuple(signed(n, value.type.bits) for n in numbers) if is_signed else numbers
    digits = _digits(numbers, trips is None)
    return (
        None
        if digits is None or len(digits) > MOST_DIGITS
        else PeriodicSequence(loop, numbers[0], digits, min(numbers), max(numbers))
    )


@dataclass(frozen=True)
class _Machine:
    """A self-contained part of a loop as a state machine. Values are numbered: first the carried values, ``initial`` at
    the start; then ``constants``; then the results of ``steps`` (an opcode, its operands' numbers and types, its type).
    The next carried values are given by ``nexts`` (a value's number, an increment, a mask). ``wanted`` is the
    output."""

    initial: tuple[int, ...]
    constants: tuple[int, ...]
    steps: tuple[tuple[Any, ...], ...]
    nexts: tuple[tuple[int, int, int], ...]
    wanted: int

    def run(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """The carried values, and the output, in each iteration."""
        step, state = self._compiled(), self.initial
        while True:
            following, number = step(*state)
            yield state, number
            state = following

    def _compiled(self) -> Callable[..., tuple[tuple[int, ...], int]]:
        """An iteration as a Python function: from the carried values to the next ones, and the output."""
        carried, given = len(self.initial), dict[str, Any]()
        lines = [f"def step({', '.join(f'x{k}' for k in range(carried))}):"]
        values = [*map(str, self.constants), *(_text(step, f"f{k}", given) for k, step in enumerate(self.steps))]
        lines += [f" x{carried + k} = {value}" for k, value in enumerate(values)]
        nexts = "".join(f"x{k} + {more} & {mask}, " for k, more, mask in self.nexts)
        lines.append(f" return ({nexts}), x{self.wanted}")
        exec(compile("\n".join(lines), "<iteration>", "exec"), given)  # noqa: S102 - the text is our own
        return instance(given["step"], FunctionType)


def _text(step: tuple[Any, ...], name: str, given: dict[str, Any]) -> str:
    """A step as a Python expression; what it calls is put into ``given`` under the name."""
    opcode, operands, types, result = step
    names = [f"x{k}" for k in operands]
    inline = integer_expression(opcode, types, result, names)
    if inline is not None:
        return inline
    given[name] = lambda *numbers: evaluate(opcode, numbers, types, result, {})
    return f"{name}({', '.join(names)})"


class _Collector:
    """Collects all operations and carried values that a value depends on in any iteration of a loop; ``short``: the
    loop has few iterations, so that counters need not be periodic; ``own`` are the operations in its body."""

    def __init__(self, loop: Loop, short: bool, own: Mapping[Value, Op]) -> None:
        self.loop, self.short, self.own = loop, short, own
        self.initial: dict[Value, int] = {}  #: of arguments, and of truncated counters, which count by themselves
        self.made: set[Op] = set()

    def machine(self, value: Value) -> _Machine | None:
        """None if an input comes from outside the loop, from memory, or from a counter with a long period."""
        work, seen = [value], set()
        while work:
            each = work.pop()
            if each in seen or literal(each) is not None:
                continue
            seen.add(each)
            needed = self._needed(each)
            if needed is None:
                return None
            work += needed
        return self._numbered(value)

    def _needed(self, value: Value) -> list[Value] | None:
        """The values that a value is computed from, in this or the previous iteration; None if it cannot be
        followed."""
        op = self.own.get(value)
        if value.owner is self.loop.body:
            return [self.loop.following(value)] if self._begins(value, value) else None
        if (
            op is None
            or OPS[op.opcode].meaning is None
            or not all(isinstance(v.type, IntType) for v in (value, *op.operands))
        ):
            return None
        if self._counter(op) and self._begins(value, op.operands[0]):
            return []
        self.made.add(op)
        return op.operands

    def _counter(self, op: Op) -> bool:
        return op.opcode == "trunc" and op.operands[0] in self.loop.inductions

    def _begins(self, value: Value, arg: Value) -> bool:
        """Record the initial number of a carried value, or of its low bits; whether it is known, and the period may be
        short."""
        first = constant(self.loop.op.operands[1 + arg.index])
        counts = arg in self.loop.inductions and self.loop.inductions[arg].step
        if (
            first is None
            or not isinstance(value.type, IntType)
            or counts
            and not self.short
            and 1 << value.type.bits > MOST_TURNS
        ):
            return False
        self.initial[value] = first & _mask(value)
        return True

    def _numbered(self, value: Value) -> _Machine:
        """The machine for the collected values."""
        ops = [op for op in self.loop.body.ops if op in self.made]
        following = {v: self.loop.following(v) for v in self.initial if v.op is None}
        read = (value, *following.values(), *(v for op in ops for v in op.operands))
        constants = dict.fromkeys(v for v in read if literal(v) is not None)
        number = {v: k for k, v in enumerate((*self.initial, *constants, *(op.result for op in ops)))}
        nexts = tuple(
            (number[following[v]], 0, _mask(v))
            if v in following
            else (number[v], self.loop.inductions[v.defining_op.operands[0]].step, _mask(v))
            for v in self.initial
        )
        steps = tuple(
            (op.opcode, tuple(number[v] for v in op.operands), tuple(v.type for v in op.operands), op.result.type)
            for op in ops
        )
        return _Machine(
            tuple(self.initial.values()), tuple(present(constant(v)) for v in constants), steps, nexts, number[value]
        )


def _mask(value: Value) -> int:
    return (1 << value.type.bits) - 1


@lru_cache(maxsize=256)  # every pass that tests dependences repeats the query
def _follow(machine: _Machine, trips: int | None) -> tuple[int, ...] | None:
    """The outputs of all ``trips`` iterations, or until the machine is in its initial state again; None if that takes
    too long, or never happens."""
    found: list[int] = []
    seen, most = set(), min(MOST_TURNS, MOST_STEPS // (1 + len(machine.steps)))
    for state, number in machine.run():
        if len(found) == trips:
            return tuple(found)
        if trips is None and state in seen:
            return tuple(found) if state == machine.initial else None
        if len(found) == most:
            return None
        seen.add(state)
        found.append(number)
    return None


def _digits(numbers: tuple[int, ...], comes_round: bool) -> tuple[Digit, ...] | None:
    """The digits of numbers, possibly periodic, without the first number; None if they have another form."""
    found, divide = [], 1
    while len(numbers) > 1:
        modulus = _modulus(numbers, comes_round)
        if modulus is None:
            return None
        if numbers[1] != numbers[0]:
            found.append(Digit(numbers[1] - numbers[0], divide, modulus))
        numbers, divide = numbers[::modulus], divide * modulus
    return tuple(found)


def _modulus(numbers: tuple[int, ...], comes_round: bool) -> int | None:
    """The greatest length such that all stretches of it increase by the same step as the first one."""
    step = numbers[1] - numbers[0]
    breaks = [k for k in range(1, len(numbers)) if numbers[k] - numbers[k - 1] != step] or [len(numbers)]
    lengths = (n for n in range(breaks[0], 1, -1) if not comes_round or len(numbers) % n == 0)
    return next((n for n in lengths if breaks[-1] == len(numbers) or not any(k % n for k in breaks)), None)
