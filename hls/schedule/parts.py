"""Which arithmetic part computes which operation: the one place where the op table meets the parts library."""

from collections.abc import Callable
from dataclasses import dataclass

from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64, FloatFormat
from rtl_lib.fp.integral import FloatIntegral, IntegralParams
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.resize import FloatResize, ResizeParams
from rtl_lib.fp.sqrt import FloatSqrt

from ..ir import Op, Value

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


_FORMATS = {16: BINARY16, 32: BINARY32, 64: BINARY64}


def _format(value: Value) -> FloatFormat:
    return _FORMATS[value.type.bits]


def _add(subtract: bool) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(FloatAdd, AddParams(_format(op.result), subtract))


def _compare(relation: str) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(FloatCompare, CompareParams(relation, _format(op.operands[0])))


def _convert(part: type, integer: Value, floating: Value, signed: bool, op: Op) -> PartChoice:
    bits = max(2, integer.type.bits)  # a truth value is a number of two bits
    return PartChoice(part, ConvertParams(bits, signed, _format(floating), op.attrs.get("rounding")))


def _to_float(signed: bool) -> Callable[[Op], PartChoice]:
    return lambda op: _convert(IntToFloat, op.operands[0], op.result, signed, op)


def _to_int(signed: bool) -> Callable[[Op], PartChoice]:
    return lambda op: _convert(FloatToInt, op.result, op.operands[0], signed, op)


def _resize(op: Op) -> PartChoice:
    source, target = _format(op.operands[0]), _format(op.result)
    return PartChoice(FloatResize, ResizeParams(source, target, op.attrs.get("rounding", "even")))


_PARTS: dict[str, Callable[[Op], PartChoice]] = {
    "mul": _mul,
    "udiv": _divide(False, "quotient"),
    "sdiv": _divide(True, "quotient"),
    "urem": _divide(False, "remainder"),
    "srem": _divide(True, "remainder"),
    "fadd": _add(subtract=False),
    "fsub": _add(subtract=True),
    "fmul": lambda op: PartChoice(FloatMul, FloatMulParams(_format(op.result))),
    "fma": lambda op: PartChoice(FloatFma, FloatMulParams(_format(op.result))),
    "fdiv": lambda op: PartChoice(FloatDiv, _format(op.result)),
    "fsqrt": lambda op: PartChoice(FloatSqrt, _format(op.result)),
    "fintegral": lambda op: PartChoice(FloatIntegral, IntegralParams(op.attrs["rounding"], _format(op.result))),
    "fresize": _resize,
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
