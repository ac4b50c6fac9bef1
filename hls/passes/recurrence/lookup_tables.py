"""Technology mapping of bitwise logic onto lookup tables by cut enumeration: a cone of operations whose bits depend on
few others in the same place is one table, and takes the time of one.

A cut of an operation is a set of values from which its cone computes it (Cong and Ding, "FlowMap", IEEE TCAD 1994;
Cong, Wu and Ding, "Cut ranking and pruning", FPGA 1999).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...analysis.timing import Arrival, Arrivals
from ...ir import BOOL, Attr, Op, Value, has
from ...ir.rewrite import constant

__all__ = ["Cut", "Cuts", "map_onto"]

#: inputs of a table: every device has tables of four
MOST_INPUTS = 4
#: most cuts of one operation that are kept, those with the fewest inputs
MOST_CUTS = 12

#: the inputs of a table, in order
Cut = tuple[Value, ...]


@dataclass(frozen=True)
class Cuts:
    """For bitwise operations on integers, the cuts with at most four inputs that have more than the operation itself in
    their cone."""

    of: Mapping[Op, list[Cut]]

    @classmethod
    def among(cls, ops: Iterable[Op]) -> "Cuts":
        """Those of operations in their order."""
        found: dict[Op, list[Cut]] = {}
        for op in ops:
            if is_gate(op):
                found[op] = _cuts(op, found)
        return cls({op: [cut for cut in cuts if set(cut) != set(op.operands)] for op, cuts in found.items()})

    def soonest(self, op: Op, arrivals: Arrivals) -> tuple[Arrival, Cut] | None:
        """The earliest arrival of the operation as a table, and the inputs of that; None if it has no cut."""
        return min(
            (
                (arrivals.timing.joined("lut", op.result.type, max(arrivals.at(value) for value in cut)), cut)
                for cut in self.of.get(op, ())
            ),
            key=lambda found: found[0],
            default=None,
        )


def is_gate(op: Op) -> bool:
    """Whether the operation computes each bit from those of its operands in the same place, and has more than one."""
    return has(op, "bitwise") and op.result.type != BOOL


def map_onto(op: Op, cut: Cut) -> None:
    """Rewrite the operation as the table that computes it from a cut."""
    table = sum(
        _output(op.result, {value: k >> i & 1 for i, value in enumerate(cut)}) << k for k in range(1 << len(cut))
    )
    op.opcode, op.operands, op.attrs = "lut", list(cut), {Attr.TABLE: table}


def _cuts(op: Op, known: Mapping[Op, list[Cut]]) -> list[Cut]:
    """The cuts of an operation, from those of its operands; that of the operands themselves is one."""
    found: dict[frozenset[Value], Cut] = {}
    left, right = (_inputs(value, known) for value in op.operands)
    for one in left:
        for other in right:
            cut = tuple(dict.fromkeys((*one, *other)))
            if 0 < len(cut) <= MOST_INPUTS:
                found.setdefault(frozenset(cut), cut)
    return sorted(found.values(), key=len)[:MOST_CUTS]


def _inputs(value: Value, known: Mapping[Op, list[Cut]]) -> list[Cut]:
    """The inputs that stand for an operand: itself, or a cut of the operation that computes it; none for a constant
    with equal bits."""
    if _uniform(value) is not None:
        return [()]
    op = value.op
    return [(value,), *(known.get(op, ()) if op is not None else ())]


def _uniform(value: Value) -> int | None:
    """The bit that an integer constant has in all places, if it is one."""
    number = constant(value)
    return {0: 0, (1 << value.type.bits) - 1: 1}.get(number) if number is not None else None


def _output(value: Value, inputs: Mapping[Value, int]) -> int:
    """The bit of a value for those of the inputs of its cone."""
    if value in inputs:
        return inputs[value]
    bit = _uniform(value)
    if bit is not None:
        return bit
    op = value.defining_op
    left, right = (_output(operand, inputs) for operand in op.operands)
    return {"and": left & right, "or": left | right, "xor": left ^ right}[op.opcode]
