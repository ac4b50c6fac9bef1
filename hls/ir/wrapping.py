"""Sums that the source computes as unsigned numbers: C defines that they wrap around, also where they are then read as
signed."""

from .attributes import Attr
from .nodes import Op

__all__ = ["SUMS", "has_wrapping", "keep_wrapping", "still_wraps"]

#: operations that may have the mark :data:`hls.ir.attributes.Attr.WRAPS`
SUMS = frozenset({"add", "sub", "mul", "shl"})
#: most terms that are looked at; of a larger sum any term may be marked
_MOST_TERMS = 4096
#: bits of a constant from which on a sum that is converted to fewer bits counts as one that wraps
_LARGE = 16


def has_wrapping(op: Op) -> bool:
    """Whether an operation is marked as one that wraps, or a sum among its terms is, or among its arms."""
    work, seen = [op], {op}
    while work and len(seen) <= _MOST_TERMS:
        one = work.pop()
        if Attr.WRAPS in one.attrs:
            return True
        if one.opcode in SUMS or one.opcode == "select":
            more = {v.op for v in one.operands if v.op is not None} - seen
            seen |= more
            work += more
    return bool(work)


def keep_wrapping(old: Op, new: Op) -> None:
    """Mark ``new``, which takes the place of ``old``, if ``old`` has wrapping; ``new`` may add the terms of ``old`` in
    another order."""
    if new.opcode in SUMS and has_wrapping(old):
        new.attrs[Attr.WRAPS] = True


def still_wraps(op: Op, bits: int) -> bool:
    """Whether an operation is one that wraps in its lowest bits, too. A sum that is converted to fewer bits keeps those
    only (OpenCL C 6.2.3), whether it is signed or not. As an index it counts as a number of the narrower type, unless
    it has a constant with which few iterations leave that: so hashes wrap, and ``(int)(get_global_id(0) * 4 + k)`` does
    not. In less than 32 bits only such sums have the mark."""
    if op.opcode not in SUMS:
        return False
    if op.result.type.bits == bits:
        return Attr.WRAPS in op.attrs
    if bits < 32 and Attr.WRAPS not in op.attrs:
        return False
    return op.result.type.bits < 32 or any(_is_large(op, place) for place in range(len(op.operands)))


def _is_large(op: Op, place: int) -> bool:
    constant, bits = op.operands[place].op, op.result.type.bits
    if constant is None or constant.opcode != "const":
        return False
    number = constant.attrs[Attr.VALUE]
    if op.opcode == "shl":
        return place == 1 and number >= _LARGE
    return min(number, (1 << bits) - number) >> _LARGE != 0
