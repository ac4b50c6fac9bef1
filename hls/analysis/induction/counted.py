"""Trip counts in closed form: loops that count by equal steps up or down to a constant."""

from ...ir import Op, Value
from ...ir.rewrite import constant
from ...ir.values import signed
from ...narrow import present

__all__ = ["trips_of_counter"]

_SIGNED, _UNSIGNED = ("slt", "sle"), ("ult", "ule")


def trips_of_counter(loop: Op, again: Value, counter: int) -> int | None:
    """The trip count if ``again`` compares carried value number ``counter``, before or after its step, with a constant.

    None if the loop has another form, or if the counter would wrap before the loop ends.
    """
    (body,) = loop.regions
    arg, after = body.args[counter], body.terminator.operands[1 + counter]
    start, step = constant(loop.operands[1 + counter]), _step(arg, after)
    test = again.op
    if start is None or step is None or test is None or test.opcode not in (*_SIGNED, *_UNSIGNED, "eq", "ne"):
        return None
    left, right = test.operands
    counts_left = left in (arg, after)
    tested, bound = (left, constant(right)) if counts_left else (right, constant(left))
    if tested not in (arg, after) or bound is None:
        return None
    bits = arg.type.bits
    if test.opcode not in _UNSIGNED:
        start, bound = signed(start, bits), signed(bound, bits)
    first = start + step if tested is after else start
    if test.opcode in ("eq", "ne"):
        trips = _until_equal(first, step, bound) if test.opcode == "ne" else _while_equal(first, step, bound)
    else:
        end = bound + (test.opcode in ("sle", "ule")) if counts_left else bound - (test.opcode in ("sle", "ule"))
        trips = _until_reached(first, step, end) if counts_left else _until_reached(-first, -step, -end)
    if trips is None:
        return None
    low, high = (0, (1 << bits) - 1) if test.opcode in _UNSIGNED else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return trips if low <= first <= high and low <= first + (trips - 1) * step <= high else None


def _step(arg: Value, after: Value) -> int | None:
    """The increment of the counter in each iteration."""
    op = after.op
    if op is None or op.opcode not in ("add", "sub") or arg not in op.operands:
        return None
    other = op.operands[1] if op.operands[0] is arg else op.operands[0]
    if constant(other) is None or op.opcode == "sub" and op.operands[0] is not arg:
        return None
    step = signed(present(constant(other)), arg.type.bits)
    return -step if op.opcode == "sub" else step


def _until_reached(first: int, step: int, end: int) -> int | None:
    """The first trip at which first + (trip - 1) * step is not below ``end``."""
    if first >= end:
        return 1
    return 1 - (first - end) // step if step > 0 else None


def _until_equal(first: int, step: int, bound: int) -> int | None:
    """The trip at which first + (trip - 1) * step is ``bound``."""
    if first == bound:
        return 1
    if step == 0 or (bound - first) % step or (bound - first) // step < 0:
        return None
    return (bound - first) // step + 1


def _while_equal(first: int, step: int, bound: int) -> int | None:
    """The first trip at which first + (trip - 1) * step is not ``bound``."""
    if first != bound:
        return 1
    return 2 if step else None
