"""The result for every memory inside a kernel that is in block RAM: its size, banks and copies, and its serialized
accesses."""

import re
from collections.abc import Mapping
from dataclasses import replace

from ..ir import Attr, Module, Op
from ..ir.accesses import memory_name
from ..ir.launch import whole_of
from ..narrow import instance
from ..passes.memory.merge_memories import merged_by
from ..planning.compilation import CompiledKernel
from ..planning.memory import OnChipMemory
from .memory_ports import bank_of, dimensions, ports, replications
from .model import Memory, Sharing, Turns
from .phrasing import at, declared

__all__ = ["collect_memories"]

#: attributes of the buffers of a shift register
OF_SHIFTS = frozenset({Attr.DELAY_LINE, Attr.CONDITIONAL})
#: attributes that the compiler adds to a memory, other than those of the source
NOTES = OF_SHIFTS | {Attr.COPIES, Attr.MERGED, Attr.COPY_OF, Attr.HOLDS_UP}


def collect_memories(kernel: CompiledKernel, module: Module, ids: Mapping[Op, str] | None = None) -> tuple[Memory, ...]:
    """All memories in block RAM, in program order; ``ids`` are those of accesses."""
    source, reserved = declared(module, whole_of(kernel.function)), _reserved(kernel)
    found = []
    for planned in kernel.memory.onchip.values():
        memory = _memory(kernel, planned, source)
        dims = dimensions(source.get(memory.name, planned.memory)) if not memory.merged else ()
        found.append(
            replace(
                memory,
                dims=dims,
                bank_of=bank_of(planned, dims),
                ports=ports(planned, ids or {}, reserved),
                replicated=replications(planned, memory.owners),
            )
        )
    return tuple(found)


def _reserved(kernel: CompiledKernel) -> frozenset[str]:
    """The memories whose ports tokens of several levels reserve at run time."""
    levels = [level for booking in kernel.plan.bookings for level in booking.levels]
    return frozenset(
        memory_name(op)
        for region, number in levels
        for op, point in region.place.items()
        if point.level == number and op in kernel.memory.accesses
    )


def _memory(kernel: CompiledKernel, planned: OnChipMemory, source) -> Memory:
    memory, word = planned.memory, planned.word_bytes
    merged = dict(memory.attrs).get(Attr.MERGED, ())
    names = merged or (re.sub(r"\.lane\d+$", "", memory.name),)
    written = [source[name] for name in names if name in source]
    requested = sum((one.length or 0) * one.element.bytes for one in written)
    places = tuple(f"{name}{at(source[name].span) if name in source else ''}" for name in merged)
    copies, rams = planned.bank_copies, planned.rams
    turns = _turns(kernel, planned)
    return Memory(
        name=memory.name,
        span=memory.span,
        space=memory.space,
        requested=requested or memory.elements * memory.element.bytes // planned.copies,
        implemented=sum(copies) * planned.map.words(planned.words) * word,
        word_bytes=word,
        banks=planned.map.banks,
        banked=_banks(planned),
        copies=max(copies),
        groups=planned.copies,
        reads=len([op for op in planned.loads if op.opcode == "load"]),
        writes=len([op for op in planned.stores if op.opcode == "store"]),
        atomics=len([op for op in planned.loads if op.opcode == "atomic"]),
        blocks=rams,
        rating=_rating(planned, turns, rams),
        turns=turns,
        sharing=_sharing(planned),
        pumping="double-pumped" if planned.pumped else "single-pumped",
        attributes=tuple(sorted({name for one in (written if merged else (memory,)) for name, _ in one.attrs} - NOTES)),
        advice=_advice(planned, turns),
        of_one_group=planned.of_one_group.rams,
        merged=places,
        merged_by=merged_by(memory) if merged else "",
        write_ports=planned.write_ports,
        owners=_owners(kernel, memory.name),
        copy_of=dict(memory.attrs).get(Attr.COPY_OF, ""),
    )


def _owners(kernel: CompiledKernel, name: str) -> str:
    """What each copy of the memory belongs to; "" if it has no copies."""
    loops = [loop for loop in kernel.plan.loops if name in loop.attrs.get(Attr.OWN, ())]
    if not loops:
        return "groups"
    return "work-items" if any(loop.attrs.get(Attr.FORM) == "ndrange" for loop in loops) else "iterations"


def _lines(ops) -> tuple[int, ...]:
    return tuple(sorted({op.span.line for op in ops if op.span}))


def _banks(planned: OnChipMemory) -> str:
    """How the bank of an address is selected; "" if there is only one."""
    inner, word = planned.banking.map, planned.word_bytes
    parts = ["one for each private copy"] if planned.map.banks > inner.banks else []
    if inner.bits:
        parts.append(_function(inner, word))
    return ", and ".join(parts)


def _function(map, word: int) -> str:
    low, count = map.bits[-1], len(map.bits)
    if map.fold is not None:
        digits = "all bits" if count == 1 else f"all digits of {count} bits"
        return f"selected by the exclusive or of {digits} of the index of a {word}-byte word"
    if map.bits != tuple(range(low + count - 1, low - 1, -1)):
        return f"selected by bits {', '.join(str(bit) for bit in map.bits)} of the index of a {word}-byte word"
    rule = (
        f"interleaved by words of {word} bytes"
        if low == 0
        else (f"interleaved by blocks of {1 << low:,} words of {word} bytes")
    )
    return rule + (f", skewed by one bank every {1 << map.skew:,} words" if map.skew is not None else "")


def _turns(kernel: CompiledKernel, planned: OnChipMemory) -> tuple[Turns, ...]:
    """Accesses of one token that are serialized on a port."""
    found = []
    members = {op: group for group in planned.banking.stores.together for op in group}
    for kind, ops in (("store", planned.stores), ("load", planned.loads)):
        ports: dict[tuple, list[Op]] = {}
        for op in ops:
            port = kernel.memory.shared_port(op)
            if port is not None and port.reads == (kind == "load"):
                ports.setdefault((port, _region(kernel, op)), []).append(op)
        for (port, _), sharing in ports.items():
            limit = kernel.memory.port_limit(port)
            if len(sharing) > limit:
                everyone = [op for leader in sharing for op in members.get(leader, (leader,))]
                found.append(Turns(kind, -(-len(sharing) // limit), _lines(everyone)))
    return tuple(dict.fromkeys(found))


def _region(kernel: CompiledKernel, op: Op):
    """The level of an access, where it waits for others."""
    for region in (kernel.plan.top, *kernel.plan.loops.values()):
        if op in region.place:
            return region.region, region.place[op].level
    return None


def _sharing(planned: OnChipMemory) -> tuple[Sharing, ...]:
    """Loads that share a copy because they never conflict."""
    ports: dict[int, list[Op]] = {}
    for op in planned.loads:
        ports.setdefault(planned.port(op), []).append(op)
    reasons = ((ops, _reason(planned, ops)) for ops in ports.values())
    return tuple(Sharing(_lines(ops), why) for ops, why in reasons if why)


def _reason(planned: OnChipMemory, ops: list[Op]) -> str:
    """Why these loads never conflict, unless their banks alone imply it."""
    meetings = planned.banking.meetings
    uses = [meetings.uses[op] for op in ops]
    if len(ops) > 1 and any(other.key in use.excludes for use in uses for other in uses):
        return "their conditions exclude each other"
    met = [(a, b) for a in uses for b in uses if a is not b and not meetings.never(a.key, b.key)]
    if any(b.key in a.alone for a, b in met):
        return "a barrier separates them, and each work-group has its own banks"
    return (
        "one loop ends before the other starts"
        if met and len({id(instance(use.row, tuple)[0]) for use in uses}) > 1
        else ""
    )


def _rating(planned: OnChipMemory, turns: tuple[Turns, ...], blocks: int) -> str:
    if turns:
        return "possibly inefficient"
    return "good but replicated" if planned.most_copies > 1 and blocks else "optimal"


def _advice(planned: OnChipMemory, turns: tuple[Turns, ...]) -> str:
    name = planned.memory.name
    if any(one.kind == "load" for one in turns):
        return (
            f"more copies of {name} let its loads read in the same cycle: raise max_replicates or numreadports, or "
            "remove it"
        )
    if turns and planned.banking.asked.geometry:
        return (
            f"other banks may remove the conflict of the stores to {name}: remove numbanks and bank_bits, or index "
            "the dimension that selects the bank by constants"
        )
    if turns:
        return (
            f"index a dimension of {name} by compile-time constants or by adjacent indices, so that its stores go "
            "to different banks; or select the value first and store once"
        )
    if planned.write_ports > 1 and planned.with_one_write.rams < planned.rams:
        return (
            f"numwriteports(1) needs {planned.with_one_write.rams} block RAMs for {name} instead of {planned.rams}, "
            "if its stores may share a port"
        )
    if planned.most_copies > 1:
        return f"fewer read sites of {name} need fewer copies"
    if len(planned.loads) > 1 or len(planned.stores) > 1:
        reads, writes = len(planned.loads), len(planned.stores)
        return (
            f"{reads} read{'s' * (reads != 1)} and {writes} write{'s' * (writes != 1)} share its ports: one read and "
            "one write in the whole kernel would need no multiplexers and may raise fmax"
        )
    return ""
