"""Floor divisions by shifts: with the loop bound ``n / 2``, twice the counter is less than ``n``."""

from dataclasses import dataclass

from ...ir import Op, Value
from ...ir.rewrite import constant
from ...ir.values import signed
from ...narrow import present

__all__ = ["Quotient", "divisor", "quotient"]

#: operations that divide
_DIVIDING = frozenset({"lshr", "ashr", "udiv", "sdiv"})


@dataclass(frozen=True)
class Quotient:
    """A value that is ``dividend``, read as signed or not, divided by ``divisor`` and rounded down, or ``to_zero``."""

    dividend: Value
    divisor: int
    signed: bool
    to_zero: bool = False

    def text(self, value: str, dividend: str) -> str:
        """The relation between the two numbers of these names, for isl."""
        down = f"0 <= {dividend} - {self.divisor}*({value}) < {self.divisor}"
        if not self.to_zero:
            return down
        return (
            f"(({dividend} >= 0 and {down}) or ({dividend} < 0 and 0 <= {self.divisor}*({value}) - ({dividend}) < "
            f"{self.divisor}))"
        )


def quotient(value: Value) -> Quotient | None:
    """The quotient that the value is, if any: by a power of two, as divisions by others have become products."""
    op = value.op
    shift = constant(op.operands[1]) if op is not None and op.opcode in ("ashr", "lshr") else None
    if shift is None or not 0 < shift < value.type.bits:
        return None
    (of, _), is_signed = present(op).operands, present(op).opcode == "ashr"
    if is_signed and of.op is not None and of.op.opcode == "add":
        for whole, more in (of.op.operands, of.op.operands[::-1]):
            if _ones(more) == (whole, shift):
                return Quotient(whole, 1 << shift, True, True)
    return Quotient(of, 1 << shift, is_signed)


def _ones(value: Value) -> tuple[Value | None, int]:
    """(x, n) if the value is 2**n - 1 for a negative x, else 0."""
    op = value.op
    rule = _RULES.get(op.opcode) if op is not None else None
    return rule(op) if op is not None and rule else (None, 0)


def _sign(op: Op) -> tuple[Value | None, int]:
    bits = op.result.type.bits
    return (op.operands[0], bits) if constant(op.operands[1]) == bits - 1 else (None, 0)


def _negative(op: Op) -> tuple[Value | None, int]:
    return (op.operands[0], 1) if constant(op.operands[1]) == 0 else (None, 0)


def _fewer(op: Op) -> tuple[Value | None, int]:
    x, count = _ones(op.operands[0])
    return x, min(count, op.result.type.bits)


def _wider(op: Op) -> tuple[Value | None, int]:
    x, count = _ones(op.operands[0])
    return x, op.result.type.bits if op.opcode == "sext" and count == op.operands[0].type.bits else count


def _shifted(op: Op) -> tuple[Value | None, int]:
    (x, count), shift = _ones(op.operands[0]), constant(op.operands[1])
    return (None, 0) if shift is None else (x, max(0, count - shift))


_RULES = {"ashr": _sign, "slt": _negative, "trunc": _fewer, "zext": _wider, "sext": _wider, "lshr": _shifted}


def divisor(op: Op) -> int | None:
    """The positive constant by which an operation divides, rounding down what is not negative; None if it does not."""
    number = constant(op.operands[1]) if op.opcode in _DIVIDING else None
    if number is None or op.opcode in ("lshr", "ashr"):
        return None if number is None else 1 << number
    by = signed(number, op.result.type.bits)
    return by if by > 0 else None
