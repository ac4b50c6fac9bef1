"""Constant-array promotion: private arrays that only ever hold constants become constant tables."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...ir import Attr, Function, MemoryObject, Op, PointerType, Region, regions, uses, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, is_constant, literal
from ...ir.storage import accessors, clear, new_memory
from ..manager import Form, FunctionPass
from .storage_attributes import wants_memory, wants_registers

__all__ = ["ConstifyArrays"]


@dataclass(frozen=True)
class ConstifyArrays(FunctionPass):
    """Constant-array promotion. Before: private memories, addressed directly (after LowerPointers). After: an array
    whose stores all write constants to constant indices, so that every load sees the same contents, is a constant
    table: ``int t[4] = {1, 2, 3, 4}`` needs neither a writable memory nor the stores. Arrays that are loaded at
    constant indices only are left alone, as each of their elements becomes a value anyway, and so are those with
    storage attributes that request a memory or registers.
    """

    name = "constify-arrays"
    requires = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """A copy in which arrays of known contents are constant tables without stores; the function itself if there
        are none."""
        known = dict(_contents(function))
        if not known:
            return function
        result = clone_function(function)
        for name, data in known.items():
            result.memories[name] = replace(result.memories[name], space="constant", const=True, data=data)
        written = {op for op in walk(result.body) if _writes(op, known)}
        for region in regions(result.body):
            region.ops = [op for op in region.ops if op not in written]
        return result


def _writes(op: Op, names) -> bool:
    """Whether the operation writes any of these memories."""
    if op.opcode == "fresh":
        return op.attrs[Attr.MEM] in names
    return op.opcode == "store" and op.operands[0].op is not None and op.operands[0].op.attrs.get(Attr.MEM) in names


def _contents(function: Function) -> Iterator[tuple[str, bytes]]:
    """The arrays whose contents are constant, with their bytes."""
    places: dict[str, list[Op]] = {}
    users = uses(function.body)
    home = {op: region for region in regions(function.body) for op in region.ops}
    for op in walk(function.body):
        if Attr.MEM in op.attrs:
            places.setdefault(op.attrs[Attr.MEM], []).append(op)
    for name, ops in places.items():
        memory = function.memories.get(name)
        if memory is not None and _may_be_table(memory) and all(op.opcode in ("addr", "fresh") for op in ops):
            data = _written(memory, ops, users, home)
            if data is not None:
                yield name, data


def _may_be_table(memory: MemoryObject) -> bool:
    return (
        memory.space == "private"
        and not memory.volatile
        and (memory.length or 1) > 1
        and not isinstance(memory.element, PointerType)
        and not wants_memory(memory)
        and not wants_registers(memory)
    )


def _written(memory: MemoryObject, ops: list[Op], users, home: dict[Op, Region]) -> bytes | None:
    """The contents that all loads of the array see; None if they are not constant, or not needed."""
    accesses = [(op, user, index) for op in ops if op.opcode == "addr" for user, index in users.get(op.result, ())]
    if any(user.opcode not in ("load", "store") or index for _, user, index in accesses):
        return None
    stores = [(addr, user) for addr, user, _ in accesses if user.opcode == "store"]
    loads = [(addr, user) for addr, user, _ in accesses if user.opcode == "load"]
    if not stores or all(is_constant(addr.operands[0]) for addr, _ in loads):
        return None
    if not all(_is_known(addr, store, memory) for addr, store in stores):
        return None
    region = home[stores[0][1]]
    writers = {store: constant(addr.operands[0]) for addr, store in stores} | {
        op: None for op in ops if op.opcode == "fresh"
    }
    inside = set(walk(region))
    if any(home[op] is not region for op in writers) or any(load not in inside for _, load in loads):
        return None
    return _seen(memory, _events(region, writers, {load for _, load in loads}))


def _is_known(addr: Op, store: Op, memory: MemoryObject) -> bool:
    """Whether a store unconditionally writes a constant to a constant index of the array."""
    value, offset = store.operands[1], constant(addr.operands[0])
    return (
        len(store.operands) == 3
        and is_constant(value)
        and constant(store.operands[2]) == 1
        and offset is not None
        and offset + value.type.bytes <= memory.elements * memory.element.bytes
    )


def _events(region: Region, writers: dict[Op, int | None], loads: set[Op]) -> list[tuple[Op, int | None] | None]:
    """The accesses to the array in the region, in order: writers, with the byte offset (None: the array becomes
    undefined by ``fresh``), and None for loads."""
    found: list[tuple[Op, int | None] | None] = []
    for op in region.ops:
        if op in writers:
            found.append((op, writers[op]))
        elif op in loads or any(inner in loads for below in op.regions for inner in walk(below)):
            found.append(None)
    return found


def _seen(memory: MemoryObject, events) -> bytes | None:
    """The bytes that all loads see; None if they differ."""
    bound, seen = new_memory(memory), set()
    for _ in range(2):  # the second time with the final contents of the first, as in later iterations of a loop around
        for event in events:
            if event is None:
                seen.add(bytes(bound.data))
                continue
            op, place = event
            if place is None:
                clear(bound)
            else:
                accessors(op.operands[1].type)[1]((bound, place), literal(op.operands[1]), op.span)
    return seen.pop() if len(seen) == 1 else None
