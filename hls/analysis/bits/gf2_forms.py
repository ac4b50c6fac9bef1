"""GF(2) linear forms: the bits whose XOR each bit of an integer is.

In an LFSR, a CRC, or a multiplication by a constant over GF(2), each bit of the next state is an XOR of bits of the
current one, however many steps were unrolled.
"""

from collections.abc import Callable, Iterable

from ...ir import IntType, Op, Value
from ...ir.rewrite import constant
from ...narrow import present
from .wiring import is_wires, possible_ones

__all__ = ["LinearForms"]

_WIRES = frozenset({"zext", "sext", "trunc", "shl", "lshr", "ashr"})


class LinearForms:
    """The forms of values computed by some operations, one for each bit of a value.

    A form is a set of atoms encoded as an integer: bit 0 stands for the constant 1, the others for bits of values that
    these operations take, or that one of them computes in a non-linear way (``atoms`` lists them).
    """

    def __init__(self, ops: Iterable[Op]) -> None:
        self.atoms: list[tuple[Value, int] | None] = [None]
        self._numbers: dict[tuple[Value, int], int] = {}
        self._known: dict[Value, list[int]] = {}
        for op in ops:
            for result in op.results:
                if isinstance(result.type, IntType):
                    self._known[result] = self._form(op) or self._own(result)

    def bit(self, atom: int) -> tuple[Value, int]:
        """The value that an atom other than the constant is a bit of, and the place of that bit."""
        return present(self.atoms[atom])

    def of(self, value: Value) -> list[int]:
        """The forms of its bits, the lowest first."""
        if value not in self._known:
            self._known[value] = self._taken(value)
        return self._known[value]

    def _taken(self, value: Value) -> list[int]:
        """The forms of a value computed elsewhere: wiring is looked through to the bits at its start."""
        number, op = constant(value), value.op
        if number is not None:
            return [number >> k & 1 for k in range(value.type.bits)]
        wires = op is not None and (op.opcode in _WIRES or is_wires(op))
        return wires and self._form(present(op)) or self._own(value, possible_ones(value))

    def _own(self, value: Value, ones: int = -1) -> list[int]:
        return [self._atom(value, k) if ones >> k & 1 else 0 for k in range(value.type.bits)]

    def _atom(self, value: Value, place: int) -> int:
        if (value, place) not in self._numbers:
            self._numbers[value, place] = len(self.atoms)
            self.atoms.append((value, place))
        return 1 << self._numbers[value, place]

    def _form(self, op: Op) -> list[int] | None:
        """None for a result that is no XOR of bits."""
        rule = _RULES.get(op.opcode)
        if rule is None or not all(isinstance(v.type, IntType) for v in op.operands):
            return None
        forms = rule(op, *(self.of(v) for v in op.operands))
        known = [] if forms is None else [form for form in forms if form is not None]
        return known if forms is not None and len(known) == len(forms) else None


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
    """The comparison with the middle of the number range: decided by the top bit."""
    half = 1 << len(a) - 1
    if op.opcode[0] == "s":  # with the top bit inverted, signed numbers are ordered as unsigned ones
        a, b = ([*forms[:-1], forms[-1] ^ 1] for forms in (a, b))
    equal = op.opcode[2] == "e"
    if _number(b) == half - equal:
        return [a[-1] ^ 1]
    return [b[-1]] if _number(a) == half - 1 + equal else None


def _number(forms: list[int]) -> int | None:
    """The number that the forms stand for; None if it is not constant."""
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


_RULES: dict[str, Callable[..., list[int] | list[int | None] | None]] = {
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
