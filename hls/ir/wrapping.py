"""Sums that the source computes as unsigned numbers: C defines that they wrap around, also where they are then read as
signed."""

from .attributes import Attr
from .nodes import Op

__all__ = ["SUMS", "has_wrapping", "keep_wrapping", "still_wraps"]

#: operations that may have the mark :data:`hls.ir.attributes.Attr.WRAPS`
SUMS = frozenset({"add", "sub", "mul", "shl"})


#: how deep terms of a sum are looked for
_DEPTH = 4


def has_wrapping(op: Op, depth: int = _DEPTH) -> bool:
    """Whether an operation is marked as one that wraps, or a sum among its terms is, or among its arms."""
    if op.opcode not in SUMS and op.opcode != "select":
        return False
    if Attr.WRAPS in op.attrs:
        return True
    return depth > 0 and any(v.op is not None and has_wrapping(v.op, depth - 1) for v in op.operands)


def keep_wrapping(old: Op, new: Op) -> None:
    """Mark ``new``, which takes the place of ``old``, if ``old`` has wrapping; ``new`` may add the terms of ``old`` in
    another order."""
    if new.opcode in SUMS and has_wrapping(old):
        new.attrs[Attr.WRAPS] = True


def still_wraps(op: Op, bits: int) -> bool:
    """Whether an operation is one that wraps in its lowest bits, too: a sum that is converted to fewer bits counts as a
    number of that type, unless it has a factor that is none."""
    if bits < 32 or Attr.WRAPS not in op.attrs:
        return False
    if op.result.type.bits == bits:
        return True
    factor = op.operands[1].op
    if op.opcode not in ("mul", "shl") or factor is None or factor.opcode != "const":
        return False
    number = factor.attrs[Attr.VALUE]
    return (number if op.opcode == "mul" else 1 << number) >> bits - 1 != 0
