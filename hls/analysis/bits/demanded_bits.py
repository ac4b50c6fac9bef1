"""Demanded bits: how many low bits of each integer value are used."""

from ...ir import ArrayType, Function, IntType, Op, Region, Value, has
from ...ir.rewrite import constant
from ...narrow import instance, present

__all__ = ["demanded", "index_bits"]

#: operations whose low k result bits depend on the low k bits of the operands only
_LOW_BITS = {"add", "sub", "mul", "and", "or", "xor", "trunc", "zext", "sext"}


def index_bits(access: Op) -> int:
    """The low bits of the index of an ``extract`` or ``insert`` that distinguish the elements. Another index is
    undefined in the program, or occurs under a condition that does not hold, so that the result is not used."""
    return max(1, (instance(access.operands[0].type, ArrayType).length - 1).bit_length())


def demanded(function: Function, address_bits: int) -> dict[Value, int]:
    """For every integer value of a flat function the number of low bits that can matter; unused values are absent.

    Of a byte offset only ``address_bits`` matter, of an index only those that its array's elements need.
    """
    demand = _Demand(address_bits)
    while demand.changed:  # values carried by loops feed back
        demand.changed = False
        demand.region(function.body)
    return demand.of


class _Demand:
    def __init__(self, address_bits: int) -> None:
        self.address_bits = address_bits
        self.of: dict[Value, int] = {}
        self.changed = True

    def region(self, region: Region) -> None:
        for op in reversed(region.ops):
            if op.opcode == "loop":
                self._loop(op)
            elif has(op, "terminator"):
                if op.opcode == "return":
                    self._all(op.operands)
            else:
                self._operands(op)

    def _want(self, value: Value, bits: int) -> None:
        if isinstance(value.type, IntType):
            bits = min(bits, value.type.bits)
            if bits > self.of.get(value, 0):
                self.of[value], self.changed = bits, True

    def _all(self, values) -> None:
        for value in values:
            if isinstance(value.type, IntType):
                self._want(value, value.type.bits)

    def _loop(self, op: Op) -> None:
        (body,) = op.regions
        enable, *inits = op.operands
        again, *nexts = body.terminator.operands
        self._all([enable, again])
        for arg, result, init, after in zip(body.args, op.results, inits, nexts):
            bits = max(self.of.get(arg, 0), self.of.get(result, 0))
            for value in (arg, result, init, after) if bits else ():
                self._want(value, bits)
        self.region(body)

    def _operands(self, op: Op) -> None:
        if op.opcode == "addr":
            self._want(op.operands[0], self.address_bits)
            return
        if op.opcode in ("extract", "insert"):
            self._all([op.operands[0], *op.operands[2:]])
            self._want(op.operands[1], index_bits(op))
            return
        needed = self.of.get(op.results[0], 0) if op.results else 0
        if has(op, "effect") or not (op.results and isinstance(op.result.type, IntType)):
            self._all(op.operands)
        elif needed:
            self._through(op, needed)

    def _through(self, op: Op, needed: int) -> None:
        """Propagate the demanded bits of an integer result to the operands."""
        if op.opcode in _LOW_BITS:
            mask = constant(op.operands[1]) if op.opcode == "and" else None
            for value in op.operands:
                self._want(value, needed if mask is None or value is op.operands[1] else min(needed, mask.bit_length()))
        elif op.opcode == "select":
            self._all(op.operands[:1])
            for value in op.operands[1:]:
                self._want(value, needed)
        elif has(op, "shift") and constant(op.operands[1]) is not None:
            amount = present(constant(op.operands[1]))
            self._all(op.operands[1:])
            self._want(op.operands[0], needed if op.opcode == "shl" else needed + amount)
        else:
            self._all(op.operands)
