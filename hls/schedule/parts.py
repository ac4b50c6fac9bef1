"""Which arithmetic part computes which operation: the one place where the op table meets the parts library."""

from collections.abc import Callable
from dataclasses import dataclass

from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.format import BINARY32
from rtl_lib.fp.multiply import FloatMul

from ..ir import Op

__all__ = ["PartChoice", "part_for"]


@dataclass(frozen=True)
class PartChoice:
    """A part, its parameters, and the output port that gives the operation's result."""

    part: type
    params: object
    output: str = "o"


def _mul(op):
    bits = op.result.type.bits
    return PartChoice(IntMul, MulParams(bits, bits, bits))


def _divide(signed: bool, output: str) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(IntDivRem, DivParams(op.result.type.bits, signed), output)


def _compare(relation: str) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(FloatCompare, CompareParams(relation, BINARY32))


def _to_float(signed: bool) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(IntToFloat, ConvertParams(op.operands[0].type.bits, signed))


def _to_int(signed: bool) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(FloatToInt, ConvertParams(op.result.type.bits, signed))


_PARTS: dict[str, Callable[[Op], PartChoice]] = {
    "mul": _mul,
    "udiv": _divide(False, "quotient"),
    "sdiv": _divide(True, "quotient"),
    "urem": _divide(False, "remainder"),
    "srem": _divide(True, "remainder"),
    "fadd": lambda op: PartChoice(FloatAdd, AddParams(BINARY32)),
    "fsub": lambda op: PartChoice(FloatAdd, AddParams(BINARY32, subtract=True)),
    "fmul": lambda op: PartChoice(FloatMul, FloatMul.Params()),
    "fdiv": lambda op: PartChoice(FloatDiv, BINARY32),
    "feq": _compare("oeq"),
    "fne": _compare("une"),
    "flt": _compare("olt"),
    "fle": _compare("ole"),
    "sitofp": _to_float(True),
    "uitofp": _to_float(False),
    "fptosi": _to_int(True),
    "fptoui": _to_int(False),
}


def part_for(op: Op) -> PartChoice | None:
    """The part that computes the operation, or None where plain logic does."""
    make = _PARTS.get(op.opcode)
    return make(op) if make else None
