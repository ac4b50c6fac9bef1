"""Auto-unroll heuristic: which loops are unrolled without a pragma."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import Trips
from ...ir import Attr, Function, MemoryObject, Op, walk
from ...ir.launch import lanes_of
from ...ir.rewrite import constant

__all__ = ["AutoUnrollPolicy"]

#: operations allowed in a loop that is unrolled for the benefit of the loop around it: others have an effect that is
#: visible outside, or an order
_EFFECTS = frozenset(
    {"store", "atomic", "barrier", "mem_fence", "printf", "call", "channel_read", "channel_write", "loop"}
)
#: operations that are wires in hardware
_WIRES = frozenset({"const", "addr", "ptradd", "zext", "sext", "trunc", "bitcast", "yield"})
#: operations that cost as much as many ordinary ones
_LARGE = frozenset({"udiv", "sdiv", "urem", "srem", "fdiv", "fsqrt"})
_FLOAT = frozenset({"fadd", "fsub", "fmul", "fma", "fsum"})
#: operations that take a multiplier, or many cells, and how many ordinary ones each counts for
_PRODUCTS = frozenset({"mul"}) | _FLOAT | _LARGE
PRODUCT = 16


@dataclass(frozen=True)
class AutoUnrollPolicy:
    """Auto-unroll heuristic: innermost loops of at most ``trips`` iterations, and ``ops`` operations in all copies,
    counted one by one, or by their logic if that is less: then wires are none, and a product is many.

    Such a loop is unrolled if that turns a private array of at most ``register_bits`` bits, or a shifted one, into
    registers. Inside a loop, or in a kernel of many work-items, it is also unrolled if it only computes and loads: then
    an iteration of the loop around it starts every cycle, instead of once in several cycles. This allows at most
    ``loads`` loads from memory in all copies and lanes (adjacent ones become one; where global memory is on the chip,
    each has a port of its own), ``floats`` floating-point operations, and ``large`` divisions and roots.
    """

    trips: int = 16
    ops: int = 512
    register_bits: int = 4096
    loads: int = 32
    floats: int = 64
    large: int = 4

    def chooses(self, loop: Op, trips: Trips, function: Function, inside: bool) -> bool:
        """Whether to unroll a loop of known ``trips``; ``inside``: it runs many times in a launch."""
        most = min(self.trips, function.attrs.get(Attr.MAX_UNROLL_LOOPS, self.trips))
        body = list(walk(loop.regions[0]))
        size = min(len(body), sum(self._logic(op, function) for op in body))
        if trips.count > most or trips.count * size > self.ops or any(op.opcode == "loop" for op in body):
            return False
        return (
            self._indexes_array(body, function)
            or inside
            and trips.exact
            and self._only_computes(body, trips.count, function)
        )

    def _logic(self, op: Op, function: Function) -> int:
        """How many ordinary operations have the logic of this one. Accesses to arrays that become registers have none,
        or are selects."""
        if op.opcode in ("load", "store") and (at := op.operands[0].op) is not None and at.opcode == "addr":
            return int(not self._is_registers(function.memories[at.attrs[Attr.MEM]], function))
        return 0 if op.opcode in _WIRES else PRODUCT if op.opcode in _PRODUCTS else 1

    def _indexes_array(self, body: list[Op], function: Function) -> bool:
        """Whether a small private array is accessed at a non-constant index."""
        return any(
            op.opcode == "addr"
            and constant(op.operands[0]) is None
            and self._is_registers(function.memories[op.attrs[Attr.MEM]], function)
            for op in body
        )

    def _is_registers(self, memory: MemoryObject, function: Function) -> bool:
        """Whether a private array may become registers: it is small, or shifted as a whole."""
        if memory.space != "private" or Attr.HOLDS_UP in dict(memory.attrs):
            return False
        return memory.elements * memory.element.bits <= self.register_bits or any(
            op.opcode == "shift" and op.attrs[Attr.MEM] == memory.name for op in walk(function.body)
        )

    def _only_computes(self, body: list[Op], copies: int, function: Function) -> bool:
        copies *= lanes_of(function)
        counts = [sum(op.opcode in kind for op in body) * copies for kind in ({"load"}, _FLOAT, _LARGE)]
        return not any(op.opcode in _EFFECTS for op in body) and all(
            count <= most for count, most in zip(counts, (self.loads, self.floats, self.large), strict=True)
        )
