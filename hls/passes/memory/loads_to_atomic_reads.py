"""Loads that wait for atomic operations are made by the unit that does these."""

from dataclasses import dataclass

from ...analysis.dependence.dependence import Dependence, dependences
from ...ir import Attr, Builder, FloatType, Function, IntType, Op, Region, lane_mask, memory_name, regions, walk
from ...ir.clone import clone_function
from ...ir.rewrite import set_results
from ..manager import Form, FunctionPass

__all__ = ["LoadsToAtomicReads"]

#: bytes of what the unit of atomic operations reads at once
_SIZES = (4, 8)


@dataclass(frozen=True)
class LoadsToAtomicReads(FunctionPass):
    """Before: a flat kernel without tokens. After: a load of global memory that would have to wait until an atomic
    operation of the same work-item, or of an iteration before, is in memory is an atomic operation "read": the unit
    holds what it has done, and does one after the other, so that nothing need be written first.

    So the loop that compares and exchanges until nobody came between takes two trips to the unit for each try, and
    work-items do not wait for each other. Loads of buffers to which the kernel stores otherwise stay as they are.
    ``address_bits``: see :func:`~hls.analysis.dependence.dependence.dependences`.
    """

    address_bits: int = 64
    name = "loads-to-atomic-reads"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        names = _only_changed_by_atomics(function)
        if not names:
            return function
        result = clone_function(function)
        waiting = {fact.dst for fact in dependences(result, self.address_bits, names) if _waits(fact)}
        for region in regions(result.body) if waiting else ():
            region.ops = [new for op in region.ops for new in (_read(op) if op in waiting else [op])]
        return result


def _only_changed_by_atomics(function: Function) -> set[str]:
    """Buffers that are loaded from, and changed by atomic operations alone."""
    used: dict[str, set[str]] = {"load": set(), "store": set(), "atomic": set()}
    for op in walk(function.body):
        if op.opcode in used and function.memories[memory_name(op)].space == "global":
            used[op.opcode].add(memory_name(op))
    return (used["load"] & used["atomic"]) - used["store"]


def _waits(fact: Dependence) -> bool:
    load = fact.dst
    if fact.src.opcode != "atomic" or load.opcode != "load" or fact.overlap or lane_mask(load) is not None:
        return False
    return isinstance(load.result.type, IntType | FloatType) and load.result.type.bytes in _SIZES


def _read(load: Op) -> list[Op]:
    b = Builder(Region(), load.span)
    type, result, (pointer, condition) = load.result.type, load.result, load.operands[:2]
    attrs = {Attr.FN: "read"} | ({Attr.LANE: load.attrs[Attr.LANE]} if Attr.LANE in load.attrs else {})
    value = b.value("atomic", pointer, condition, result=IntType(type.bits), attrs=attrs, name=result.name)
    if value.type != type:
        value = b.value("bitcast", value, result=type)
    set_results(value.op, [result])
    return b.region.ops
