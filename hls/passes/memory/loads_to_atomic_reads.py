"""Atomic-load conversion: loads that would wait for atomic operations are executed by the atomic unit."""

from dataclasses import dataclass

from ...analysis.dependence.dependence import Dependence, dependences
from ...ir import Attr, Builder, FloatType, Function, IntType, Op, Region, lane_mask, memory_name, regions, walk
from ...ir.clone import clone_function
from ...ir.rewrite import set_results
from ..manager import Form, FunctionPass

__all__ = ["LoadsToAtomicReads"]

#: bytes that the atomic unit reads at once
_SIZES = (4, 8)


@dataclass(frozen=True)
class LoadsToAtomicReads(FunctionPass):
    """Atomic-load conversion. Before: a flat kernel without tokens. After: a load of global memory that would have to
    wait until an atomic operation of the same work-item, or of an earlier iteration, has reached memory is an atomic
    operation "read": the atomic unit executes its operations in order and keeps their results, so that none needs to be
    written first.

    So a compare-and-exchange loop takes two round trips to the unit for each attempt, and work-items do not wait for
    each other. Loads of buffers that the kernel also writes by plain stores are left alone. ``address_bits``: see
    :func:`~hls.analysis.dependence.dependence.dependences`.
    """

    address_bits: int = 64
    name = "loads-to-atomic-reads"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy with atomic reads instead of loads that wait for atomic operations; the function itself if no
        memory is changed by those alone."""
        names = _only_changed_by_atomics(function)
        if not names:
            return function
        result = clone_function(function)
        waiting = {fact.dst for fact in dependences(result, self.address_bits, names) if _waits(fact)}
        for region in regions(result.body) if waiting else ():
            region.ops = [new for op in region.ops for new in (_read(op) if op in waiting else [op])]
        return result


def _only_changed_by_atomics(function: Function) -> set[str]:
    """Buffers that are loaded from, and written by atomic operations only."""
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
    set_results(value.defining_op, [result])
    return b.region.ops
