"""Auto-unroll heuristic: which loops are unrolled without a pragma."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import Trips
from ...ir import Attr, Function, MemoryObject, Op, Value, walk
from ...ir.launch import lanes_of
from ...ir.rewrite import constant
from .loop_copies import entirely_unrolled

__all__ = ["AutoUnrollPolicy"]

#: operations allowed in a loop that is unrolled for the benefit of the loop around it: others have an effect that is
#: visible outside, or an order
_EFFECTS = frozenset(
    {"store", "atomic", "barrier", "mem_fence", "printf", "call", "channel_read", "channel_write", "loop"}
)
#: operations that are wires in hardware
_WIRES = frozenset({"const", "addr", "ptradd", "zext", "sext", "trunc", "bitcast", "yield"})
#: operations that are wires if their second operand is a constant; `and` and `or` with any one
_WIRES_BY_CONSTANT = frozenset({"shl", "lshr", "ashr"})
_MASKS = frozenset({"and", "or"})
#: operations that cost as much as many ordinary ones
_LARGE = frozenset({"udiv", "sdiv", "urem", "srem", "fdiv", "fsqrt"})
_FLOAT = frozenset({"fadd", "fsub", "fmul", "fma", "fsum"})
#: operations that take a multiplier, or many cells, and how many ordinary ones each counts for
_PRODUCTS = frozenset({"mul"}) | _FLOAT | _LARGE
PRODUCT = 16
#: operations of a nest that are looked at, most of them wires, before it is called too large
NEST_OPS = 4096


@dataclass(frozen=True)
class AutoUnrollPolicy:
    """Auto-unroll heuristic: innermost loops, and nests of such, of at most ``trips`` iterations each, and ``ops``
    operations in all copies, counted one by one, or by their logic if that is less: then wires are none, and a product
    is many.

    Such a loop is unrolled if that turns a private array of at most ``register_bits`` bits, or a shifted one, into
    registers. Inside a loop, or in a kernel of many work-items, it is also unrolled if it only computes and loads: then
    an iteration of the loop around it starts every cycle, instead of once in several cycles. This allows at most
    ``loads`` loads from memory in all copies and lanes (adjacent ones become one; where global memory is on the chip,
    each has a port of its own), ``floats`` floating-point operations, and ``large`` divisions and roots.

    A loop of up to ``long_trips`` iterations, as over the bits of a word, is unrolled in the same places if it loads
    nothing but constants of a table, and all copies have at most ``long_logic`` operations beside wires (12 for each
    bit of a word of 32), once its counter is a constant in each.
    """

    trips: int = 16
    ops: int = 512
    register_bits: int = 4096
    loads: int = 32
    floats: int = 64
    large: int = 4
    long_trips: int = 64
    long_logic: int = 384

    def chooses(self, loop: Op, trips: Trips, function: Function, inside: bool) -> bool:
        """Whether to unroll a loop of known ``trips``; ``inside``: it runs many times in a launch."""
        body = list(walk(loop.regions[0]))
        most = function.attrs.get(Attr.MAX_UNROLL_LOOPS, self.long_trips)
        if trips.count > most:
            return False
        if any(op.opcode == "loop" for op in body):
            return self._chooses_nest(loop, min(most, self.trips), function, inside)
        if trips.count > self.trips:
            return inside and trips.exact and self._is_light(loop, body, trips.count, function)
        size = min(len(body), sum(self._logic(op, function) for op in body))
        if trips.count * size > self.ops:
            return False
        return (
            self._indexes_array(body, function)
            or inside
            and trips.exact
            and self._only_computes(body, trips.count, function)
        )

    def _chooses_nest(self, loop: Op, most: int, function: Function, inside: bool) -> bool:
        """The same for a loop around others, as those of a triangle: it goes where the trip counts inside become
        constants by it, and all iterations together keep to the limits."""
        copies = entirely_unrolled(loop, most, NEST_OPS)
        if copies is None:
            return False
        known = _following(copies, set())
        logic = [self._logic(op, function) for op in copies if not _is_wires(op, known)]
        if min(len(logic), sum(logic)) > self.ops:
            return False
        return self._indexes_array(list(walk(loop.regions[0])), function) or (
            inside and self._only_computes(copies, 1, function)
        )

    def _is_light(self, loop: Op, body: list[Op], copies: int, function: Function) -> bool:
        """Whether a loop of many iterations only computes, and so little that its copies are mostly wires."""
        known = _constant_in_copies(loop, body)
        if any(op.opcode in _EFFECTS or op.opcode == "load" and not _is_entry(op, known, function) for op in body):
            return False
        logic = sum(self._logic(op, function) for op in body if op.opcode != "load" and not _is_wires(op, known))
        return copies * lanes_of(function) * logic <= self.long_logic

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


def _constant_in_copies(loop: Op, body: list[Op]) -> set[Value]:
    """The values that are constants in each copy of an unrolled loop: carried ones that start as constants and follow
    from constants, and what operations compute of constants alone. ``body``: all operations of the loop."""
    (region,), inits = loop.regions, loop.operands[1:]
    carried = {arg for arg, init in zip(region.args, inits, strict=True) if constant(init) is not None}
    while True:
        known = _following(body, carried)
        following = dict(zip(region.args, region.terminator.operands[1:], strict=True))
        lost = {arg for arg in carried if not _is_known(following[arg], known)}
        if not lost:
            return known
        carried -= lost


def _following(ops: list[Op], given: set[Value]) -> set[Value]:
    """The values of ``given``, and all that ``ops`` compute of these and of constants alone."""
    known = set(given)
    for op in ops:
        if not op.regions and op.opcode not in _EFFECTS and op.opcode != "load":
            known.update(op.results if all(_is_known(each, known) for each in op.operands) else ())
    return known


def _is_known(value: Value, known: set[Value]) -> bool:
    return value in known or constant(value) is not None


def _is_wires(op: Op, known: set[Value]) -> bool:
    """Whether an operation is no logic in a copy in which the values of ``known`` are constants."""
    if op.opcode in _WIRES_BY_CONSTANT:
        return _is_known(op.operands[1], known)
    if op.opcode in _MASKS and any(_is_known(each, known) for each in op.operands):
        return True
    return bool(op.results) and known.issuperset(op.results)


def _is_entry(load: Op, known: set[Value], function: Function) -> bool:
    """Whether a load is a constant in each copy: that of a table, at an index that is one."""
    at = load.operands[0].op
    if at is None or at.opcode != "addr" or function.memories[at.attrs[Attr.MEM]].data is None:
        return False
    return all(_is_known(index, known) for index in at.operands)
