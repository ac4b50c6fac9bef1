"""How many arithmetic operations an iteration makes: what a roofline counts."""

from collections.abc import Iterable

from ..ir import Attr, Op

__all__ = ["count_operations"]

FLOATING = {"fadd": 1, "fsub": 1, "fmul": 1, "fdiv": 1, "fsqrt": 1, "fintegral": 1, "fma": 2}
INTEGER = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "lut", "shl", "lshr", "ashr")


def count_operations(ops: Iterable[Op]) -> tuple[int, int]:
    """(floating-point, integer) operations: additions, multiplications, divisions, roots and roundings, and of integers
    bitwise operations and shifts as well; a fused multiply-add is two. Comparisons, conversions, choices and what
    makes pointers are not counted, but counters and indices of loops are."""
    floating = integer = 0
    for op in ops:
        if op.opcode == "fsum":
            terms = op.attrs[Attr.TERMS]
            floating += len(terms) - 1 + sum(term.endswith("*") for term in terms)
        floating += FLOATING.get(op.opcode, 0)
        integer += op.opcode in INTEGER
    return floating, integer
