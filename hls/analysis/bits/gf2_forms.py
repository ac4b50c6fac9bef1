"""Which bits the bits of an integer are exclusive ors of.

A shift register with feedback, a check sum, a product with a constant over a field of bits: each bit of the next state
is an exclusive or of bits of this one, however many steps were unrolled to get there.
"""

from collections.abc import Iterable

from ...ir import IntType, Op, Value
from ...ir.rewrite import constant
from .wiring import is_wires, possible_ones

__all__ = ["LinearForms"]

_WIRES = frozenset({"zext", "sext", "trunc", "shl", "lshr", "ashr"})


class LinearForms:
    """Forms of the values that some operations compute, one of a row for each bit of a value.

    A form is a set of atoms as a number: bit 0 of it stands for a 1, the others for bits of values that these
    operations take, or that one of them computes in another way (``atoms`` tells which).
    """

    def __init__(self, ops: Iterable[Op]):
        self.atoms: list[tuple[Value, int] | None] = [None]
        self._numbers: dict[tuple[Value, int], int] = {}
        self._known: dict[Value, list[int]] = {}
        for op in ops:
            for result in op.results:
                if isinstance(result.type, IntType):
                    self._known[result] = self._form(op) or self._own(result)

    def of(self, value: Value) -> list[int]:
        """The forms of its bits, the lowest first."""
        if value not in self._known:
            self._known[value] = self._taken(value)
        return self._known[value]

    def _taken(self, value: Value) -> list[int]:
        """Of a value that others compute: behind wires its bits are those of what they begin at."""
        number, op = constant(value), value.op
        if number is not None:
            return [number >> k & 1 for k in range(value.type.bits)]
        wires = op is not None and (op.opcode in _WIRES or is_wires(op))
        return wires and self._form(op) or self._own(value, possible_ones(value))

    def _own(self, value: Value, ones: int = -1) -> list[int]:
        return [self._atom(value, k) if ones >> k & 1 else 0 for k in range(value.type.bits)]

    def _atom(self, value: Value, place: int) -> int:
        if (value, place) not in self._numbers:
            self._numbers[value, place] = len(self.atoms)
            self.atoms.append((value, place))
        return 1 << self._numbers[value, place]

    def _form(self, op: Op) -> list[int] | None:
        """None for what is no exclusive or of bits."""
        rule = _RULES.get(op.opcode)
        if rule is None or not all(isinstance(v.type, IntType) for v in op.operands):
            return None
        forms = rule(op, *(self.of(v) for v in op.operands))
        return None if forms is None or None in forms else forms


def _xor(op: Op, a: list[int], b: list[int]) -> list[int]:
    return [x ^ y for x, y in zip(a, b)]


def _and(op: Op, a: list[int], b: list[int]) -> list[int | None]:
    return [0 if not (x and y) else y if x == 1 else x if y in (1, x) else None for x, y in zip(a, b)]


def _or(op: Op, a: list[int], b: list[int]) -> list[int | None]:
    return [1 if 1 in (x, y) else y if not x else x if y in (0, x) else None for x, y in zip(a, b)]


def _add(op: Op, a: list[int], b: list[int]) -> list[int] | None:
    return _xor(op, a, b) if all(not (x and y) for x, y in zip(a, b)) else None


def _select(op: Op, c: list[int], a: list[int], b: list[int]) -> list[int | None]:
    return [x if x == y else y ^ c[0] if x ^ y == 1 else None for x, y in zip(a, b)]


def _equal(op: Op, a: list[int], b: list[int]) -> list[int] | None:
    differences = {x ^ y for x, y in zip(a, b)} - {0}
    same = int(op.opcode == "eq")
    if not differences or 1 in differences:
        return [same if not differences else 1 - same]
    return [differences.pop() ^ same] if len(differences) == 1 else None


def _less(op: Op, a: list[int], b: list[int]) -> list[int] | None:
    """Which half of all numbers one is in, as its top bit says."""
    half = 1 << len(a) - 1
    if op.opcode[0] == "s":  # with top bits the other way round signed numbers are in order as unsigned ones
        a, b = ([*forms[:-1], forms[-1] ^ 1] for forms in (a, b))
    equal = op.opcode[2] == "e"
    if _number(b) == half - equal:
        return [a[-1] ^ 1]
    return [b[-1]] if _number(a) == half - 1 + equal else None


def _number(forms: list[int]) -> int | None:
    """The number that the forms are, None where it is not constant."""
    return sum(form << k for k, form in enumerate(forms)) if max(forms) <= 1 else None


def _shift(op: Op, a: list[int], _: list[int]) -> list[int] | None:
    amount, bits = constant(op.operands[1]), len(a)
    if amount is None:
        return None
    if op.opcode == "shl":
        return ([0] * amount + a)[:bits]
    return a[amount:] + [a[-1] if op.opcode == "ashr" else 0] * min(amount, bits)


def _extend(op: Op, a: list[int]) -> list[int]:
    return a + [a[-1] if op.opcode == "sext" else 0] * (op.result.type.bits - len(a))


def _trunc(op: Op, a: list[int]) -> list[int]:
    return a[: op.result.type.bits]


_RULES = {
    "xor": _xor,
    "and": _and,
    "or": _or,
    "add": _add,
    "select": _select,
    "eq": _equal,
    "ne": _equal,
    "ult": _less,
    "ule": _less,
    "slt": _less,
    "sle": _less,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _shift,
    "zext": _extend,
    "sext": _extend,
    "trunc": _trunc,
}
