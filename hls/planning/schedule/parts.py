"""Maps operations to arithmetic parts: the only code that connects the op table with the parts library."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.external import ExternalParams, ExternalPart
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.arith.pipelined import PipelinedPart
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
from rtl_lib.fp.sum import FloatSum, FloatSumParams

from ...ir import Attr, Op, Value, fixed_operands
from ...ir.rtl_ports import RtlPorts
from ...ir.values import signed

__all__ = ["PartChoice", "external_params", "part_for"]


@dataclass(frozen=True)
class PartChoice:
    """A part, its parameters, and the output port that carries the operation's result."""

    part: type[PipelinedPart]
    params: object
    output: str = "o"


def _mul(op: Op, **multiplier: int) -> PartChoice:
    """A product. An extended or constant operand counts with its significant bits only, read as signed where that is
    fewer."""
    bits = op.result.type.bits
    sizes = {is_signed: [_factor_bits(v, is_signed) for v in op.operands] for is_signed in (False, True)}
    is_signed = prod(sizes[True]) < prod(sizes[False])
    width_a, width_b = sizes[is_signed]
    return PartChoice(IntMul, MulParams(max(width_a, bits - width_b), width_b, bits, is_signed, **multiplier))


def _factor_bits(value: Value, is_signed: bool) -> int:
    """The number of low bits that determine an operand when they are read as signed or unsigned."""
    op, bits = value.op, value.type.bits
    if op is None or op.opcode not in ("const", "zext", "sext"):
        return bits
    if op.opcode == "const":
        number = op.attrs[Attr.VALUE]
        return max(1, number.bit_length() if not is_signed else signed(number, bits).bit_length() + 1)
    if op.opcode == "sext" and not is_signed:
        return bits
    return op.operands[0].type.bits + (op.opcode == "zext" and is_signed)


def _divide(is_signed: bool, output: str) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(IntDivRem, DivParams(op.result.type.bits, is_signed), output)


_FORMATS = {16: BINARY16, 32: BINARY32, 64: BINARY64}


def _format(value: Value) -> FloatFormat:
    return _FORMATS[value.type.bits]


def _arithmetic_format(op: Op) -> FloatFormat:
    """The format of the result, without subnormal numbers where the operation flushes them to zero."""
    return replace(_format(op.result), subnormals=False) if op.attrs.get(Attr.FLUSH_DENORMALS) else _format(op.result)


def _add(subtract: bool) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(FloatAdd, AddParams(_arithmetic_format(op), subtract))


def _compare(relation: str) -> Callable[[Op], PartChoice]:
    return lambda op: PartChoice(FloatCompare, CompareParams(relation, _format(op.operands[0])))


def _convert(part: type, integer: Value, floating: Value, is_signed: bool, op: Op) -> PartChoice:
    bits = max(2, integer.type.bits)  # a truth value is a number of two bits
    return PartChoice(part, ConvertParams(bits, is_signed, _format(floating), op.attrs.get(Attr.ROUNDING)))


def _to_float(is_signed: bool) -> Callable[[Op], PartChoice]:
    return lambda op: _convert(IntToFloat, op.operands[0], op.result, is_signed, op)


def _to_int(is_signed: bool) -> Callable[[Op], PartChoice]:
    return lambda op: _convert(FloatToInt, op.result, op.operands[0], is_signed, op)


def _resize(op: Op) -> PartChoice:
    source, target = _format(op.operands[0]), _format(op.result)
    return PartChoice(FloatResize, ResizeParams(source, target, op.attrs.get(Attr.ROUNDING, "even")))


def _float_product(part: type) -> Callable[..., PartChoice]:
    return lambda op, **multiplier: PartChoice(part, FloatMulParams(_arithmetic_format(op), **multiplier))


#: multiplying operations, which also depend on the target's hard multipliers
_PRODUCTS: dict[str, Callable[..., PartChoice]] = {
    "mul": _mul,
    "fmul": _float_product(FloatMul),
    "fma": _float_product(FloatFma),
    "fsum": lambda op, **multiplier: PartChoice(
        FloatSum, FloatSumParams(tuple(op.attrs[Attr.TERMS]), _arithmetic_format(op), **multiplier)
    ),
}


def _external(op: Op) -> PartChoice:
    return PartChoice(ExternalPart, external_params(op))


def external_params(op: Op) -> ExternalParams:
    """The user's module that computes an operation."""
    ports = RtlPorts.of(op.attrs[Attr.RTL_PORTS])
    widths = [value.type.bits for value in op.operands[: fixed_operands(op)]]
    return ExternalParams(
        op.attrs[Attr.RTL_MODULE],
        op.attrs[Attr.RTL_LATENCY],
        tuple(ports.control.items()),
        tuple(zip(ports.inputs, widths, strict=True)),
        (ports.output, op.result.type.bits),
    )


_PARTS: dict[str, Callable[[Op], PartChoice]] = {
    "rtl": _external,
    "udiv": _divide(False, "quotient"),
    "sdiv": _divide(True, "quotient"),
    "urem": _divide(False, "remainder"),
    "srem": _divide(True, "remainder"),
    "fadd": _add(subtract=False),
    "fsub": _add(subtract=True),
    "fdiv": lambda op: PartChoice(FloatDiv, _arithmetic_format(op)),
    "fsqrt": lambda op: PartChoice(FloatSqrt, _arithmetic_format(op)),
    "fintegral": lambda op: PartChoice(FloatIntegral, IntegralParams(op.attrs[Attr.ROUNDING], _format(op.result))),
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


def part_for(op: Op, dsp_bits: int, adder_words: int = 3) -> PartChoice | None:
    """The part that computes the operation, or None where plain logic does.

    ``dsp_bits`` is the widest operand of a hard multiplier of the target, ``adder_words`` how many words one of its
    carry chains adds.
    """
    if op.opcode in _PRODUCTS:
        return _PRODUCTS[op.opcode](op, dsp_bits=dsp_bits, adder_words=adder_words)
    make = _PARTS.get(op.opcode)
    return make(op) if make else None
