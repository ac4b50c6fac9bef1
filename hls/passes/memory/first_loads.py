"""Loads that only the first iteration of a loop makes: made before the loop, and whether they wait for loops around."""

from ...analysis.dependence.dependence import DependenceTester
from ...analysis.loops.backward_slice import pure_slice
from ...ir import Attr, Builder, Function, Op, Region, loops_inside_out, may_share, memory_name, walk
from ...ir.accesses import reaches_memory
from ...ir.clone import clone_function, clone_ops

__all__ = ["first_load_waits", "made_before", "waits_for_loops", "writers_of"]

#: attributes of a load that say how it and other accesses of its iteration go together
_OF_ITERATION = frozenset({Attr.ALONE, Attr.APART})


def made_before(region: Region, loop: Op, load: Op) -> Op | None:
    """Make the load of the first iteration before the loop, an operation of ``region``; None if its address is not
    known there."""
    (body,) = loop.regions
    address = pure_slice(load.operands[:1], body.ops[: body.ops.index(load)])
    if address is None:
        return None
    copies = dict(zip(body.args, loop.operands[1:], strict=True))
    b = Builder(Region(ops=clone_ops(address, copies)), load.span)
    pointer = copies.get(load.operands[0], load.operands[0])
    attrs = {key: value for key, value in load.attrs.items() if key not in _OF_ITERATION}
    value = b.value("load", pointer, loop.operands[0], result=load.result.type, attrs=attrs, name=load.result.name)
    at = region.ops.index(loop)
    region.ops[at:at] = b.region.ops
    return value.defining_op


def writers_of(function: Function, load: Op) -> list[Op]:
    """The operations that may write the memory that is loaded."""
    memories = function.memories
    own = memories[memory_name(load)]
    return [
        op
        for op in walk(function.body)
        if reaches_memory(op) and op.opcode != "load" and may_share(memories[memory_name(op)], own)
    ]


def waits_for_loops(load: Op, writes: list[Op], tester: DependenceTester) -> bool:
    """Whether the load, before its loop, has to wait for a write of an earlier iteration of a loop around."""
    position = {op: k for k, op in enumerate(walk(tester.function.body))}
    pairs = ((op, load) if position[op] < position[load] else (load, op) for op in writes)
    return any(fact.loop is not None and fact.dst is load for pair in pairs for fact in tester.pair(*pair))


def first_load_waits(function: Function, load: Op, address_bits: int) -> bool:
    """Whether the load, of a loop's first iteration, cannot be made before that loop, as its address is not known there
    or a loop around may write it."""
    number = next(k for k, op in enumerate(walk(function.body)) if op is load)
    trial = clone_function(function)
    copy = next(op for k, op in enumerate(walk(trial.body)) if k == number)
    region, inner = next((region, op) for region, op in loops_inside_out(trial.body) if copy in op.regions[0].ops)
    early = made_before(region, inner, copy)
    return early is None or waits_for_loops(early, writers_of(trial, early), DependenceTester(trial, address_bits))
