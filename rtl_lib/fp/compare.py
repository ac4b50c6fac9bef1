"""Floating-point comparison."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from amaranth import *

from rtl_lib.arith.levels import adder, any_of
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire, beside

from .format import BINARY32, FloatFormat
from .raw import split

__all__ = ["COMPARISONS", "CompareParams", "FloatCompare"]

#: name -> which of (less, equal, greater, unordered) make it true; C's ``!=`` is "une", its others the ordered ones
COMPARISONS = {
    "oeq": {"equal"},
    "one": {"less", "greater"},
    "une": {"less", "greater", "unordered"},
    "olt": {"less"},
    "ole": {"less", "equal"},
    "ogt": {"greater"},
    "oge": {"greater", "equal"},
    "ord": {"less", "equal", "greater"},
    "uno": {"unordered"},
}


@dataclass(frozen=True)
class CompareParams:
    """``a op b`` with ``op`` one of :data:`COMPARISONS`."""

    op: str
    format: FloatFormat = BINARY32

    def __post_init__(self) -> None:
        if self.op not in COMPARISONS:
            raise ValueError(f"no comparison {self.op!r}; there are {', '.join(COMPARISONS)}")


def _magnitudes(wire: Wire, *, a: Value, b: Value) -> Values:
    """Compares magnitudes: floats without their sign compare like integers."""
    return {"below": a[:-1] < b[:-1], "same": a[:-1] == b[:-1], "negative_a": a[-1], "negative_b": b[-1]}


def _classes(fmt: FloatFormat, wire: Wire, *, a: Value, b: Value) -> Values:
    x, y = split(wire, fmt, a), split(wire, fmt, b)
    return {"unordered": x.nan | y.nan, "both_zero": x.zero & y.zero}


def _decide(
    op: str,
    wire: Wire,
    *,
    below: Value,
    same: Value,
    negative_a: Value,
    negative_b: Value,
    unordered: Value,
    both_zero: Value,
) -> Values:
    equal = wire(both_zero | (same & (negative_a == negative_b)), "equal")
    less = wire(~equal & Mux(negative_a, ~negative_b | ~below, ~negative_b & below), "less")
    holds = {
        "less": ~unordered & less,
        "equal": ~unordered & equal,
        "greater": ~unordered & ~less & ~equal,
        "unordered": unordered,
    }
    return {"o": Cat(value for relation, value in holds.items() if relation in COMPARISONS[op]).any()}


class FloatCompare(PipelinedPart):
    """``o``: one bit, whether ``a op b``."""

    kind = "fcmp"
    Params = CompareParams

    @classmethod
    def inputs(cls, params: CompareParams) -> dict[str, int]:
        """Widths of the numbers compared, in bits: that of the format."""
        return {"a": params.format.width, "b": params.format.width}

    @classmethod
    def outputs(cls, params: CompareParams) -> dict[str, int]:
        """One bit."""
        return {"o": 1}

    @classmethod
    def steps(cls, params: CompareParams) -> tuple[Step, ...]:
        """Comparison of the magnitudes beside the detection of NaN and zero, then the decision for ``op``."""
        fmt = params.format
        return (
            beside(
                "compare",
                Step("magnitudes", adder(fmt.width), _magnitudes),
                Step("classes", any_of(fmt.mantissa) + 1, partial(_classes, fmt)),
            ),
            Step("decide", 2.0, partial(_decide, params.op)),
        )

    @classmethod
    def golden(cls, params: CompareParams, a: int, b: int) -> int:
        """1 if the relation of the numbers (less, equal, greater or unordered) is among those for which ``op`` is true,
        else 0."""
        fmt = params.format
        if fmt.is_nan(a) or fmt.is_nan(b):
            relation = "unordered"
        else:
            x, y = (_order_key(fmt, bits) for bits in (a, b))
            relation = "less" if x < y else "equal" if x == y else "greater"
        return int(relation in COMPARISONS[params.op])


def _order_key(fmt: FloatFormat, bits: int) -> Fraction | int:
    """A number that orders floats other than NaN; infinities lie beyond all finite values."""
    if fmt.is_infinite(bits):
        beyond = 1 << (fmt.bias + 2)
        return -beyond if fmt.negative(bits) else beyond
    return fmt.value(bits)
