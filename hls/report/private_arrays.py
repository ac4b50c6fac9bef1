"""The storage of the private arrays and constant tables of a kernel."""

import re
from collections.abc import Collection
from dataclasses import replace

from ..ir import ArrayType, Attr, Function, MemoryObject, Module, Value, uses, walk
from ..ir.launch import lanes_of, whole_of
from ..passes.lowering.lower_pointers import parts_of
from ..passes.lowering.vectorize_work_items import lane_name
from ..planning.compilation import CompiledKernel
from .model import Private
from .phrasing import declared

__all__ = ["collect_privates"]

_NOTHING = "no storage"


def collect_privates(kernel: CompiledKernel, module: Module) -> tuple[Private, ...]:
    """Every private array and every constant table of the source that the kernel can access."""
    values = list(_values(kernel.function))
    arrays: dict[object, list[Private]] = {}
    for name, memory in declared(module, whole_of(kernel.function)).items():
        if (memory.onchip or memory.space == "constant") and (memory.length or 1) > 1:
            arrays.setdefault(memory.span or name, []).extend(_parts(name, memory, values, kernel))
    return tuple(map(_whole, arrays.values()))


def _parts(name: str, memory: MemoryObject, values: list[Value], kernel: CompiledKernel) -> list[Private]:
    """An array of numbers; or of pointers, which may have become two arrays."""
    ends = {part.name.removeprefix(memory.name): part for part in parts_of(memory)}
    found = [_private(f"{name}{end}", part, values, kernel) for end, part in ends.items()]
    stored = [one for one in found if not one.place.startswith(_NOTHING)] or found[:1]
    return stored if len(stored) > 1 else [replace(stored[0], name=memory.name)]


def _whole(parts: list[Private]) -> Private:
    """An array of vectors or structures, each member of which has become an array of its own."""
    first, places = parts[0], {part.place for part in parts}
    if len(parts) == 1:
        return first
    names = [part.name.split(".") for part in parts]
    shared = sum(len(set(level)) == 1 for level in zip(*names, strict=False))
    place = (
        f"each of {len(parts)} members: {first.place}"
        if len(places) == 1
        else "; ".join(f"{'.'.join(name[shared:])}: {part.place}" for name, part in zip(names, parts, strict=True))
    )
    return Private(".".join(names[0][:shared]), first.span, sum(part.bits for part in parts), place)


def _values(function: Function):
    for op in walk(function.body):
        yield from op.results
        for region in op.regions:
            yield from region.args


def _private(name: str, memory: MemoryObject, values: list[Value], kernel: CompiledKernel) -> Private:
    bits = memory.elements * memory.element.bits
    own = re.compile(rf"{re.escape(name)}(\.\d+)?")  # copies of a helper's variables are numbered
    whole = [v for v in values if isinstance(v.type, ArrayType) and own.fullmatch(v.name)]
    table = memory.space == "constant" or whole and all(v.op is not None and v.op.opcode == "const" for v in whole)
    lanes = lanes_of(kernel.function)
    onchip = kernel.memory.onchip.get(name) or kernel.memory.onchip.get(lane_name(name, 0))
    together = next(
        (
            one
            for one in kernel.memory.onchip
            if name in dict(kernel.memory.onchip[one].memory.attrs).get(Attr.MERGED, ())
        ),
        None,
    )
    if onchip is not None:
        place = _block_ram(kernel.memory, onchip)
        place += f"; {lanes} copies, one for each lane" if onchip.memory.name != name else ""
    elif together is not None:
        place = f"merged into memory {together}, as requested in the source"
    elif table:
        place = (
            "a table in logic, read through multiplexers" if whole else "constants inside the operations that use them"
        )
    elif whole:
        wide = whole[0].type.bits
        place = (
            f"{'one wide register' if wide == bits else f'{bits // wide} wide registers, one for each column,'} of "
            f"{wide:,} bits; an index that is not a constant needs multiplexers, which cost the most area: "
            "index it by constants, for example in unrolled loops"
        )
    else:
        place = _elements(name, memory, values, kernel)
    return Private(memory.name, memory.span, bits, place)


def _block_ram(plan, memory) -> str:
    copies, banks, writes = memory.most_copies, memory.map.banks, len(memory.stores)
    kind = "block RAM" if memory.rams else "LUT RAM"
    parts = [f"{'' if writes else 'ROM in '}{kind}, {memory.words:,} words of {8 * memory.word_bytes} bits"]
    if Attr.HOLDS_UP in dict(memory.memory.attrs):
        parts.append("chosen because registers would limit the II of a loop")
    if banks > 1:
        parts.append(f"{banks} banks")
    if copies > 1:
        parts.append(f"{copies} copies for {len(memory.loads)} loads")
    if memory.pumped:
        parts.append("double-pumped")
    turns = memory.banking.stores.most
    if turns > 1:
        ports = "a write port" if memory.write_ports == 1 else f"{memory.write_ports} write ports"
        parts.append(f"up to {turns} stores share {ports}" + (" each" if memory.write_ports > 1 else ""))
    seen = sum(plan.accesses[op].forwarding for op in memory.loads)
    if seen:
        parts.append(f"forwarding at {seen} of its loads" if len(memory.loads) > 1 else "forwarding at its load")
    return "; ".join(parts)


def _elements(name: str, memory: MemoryObject, values: list[Value], kernel: CompiledKernel) -> str:
    others = {lane_name("", k) for k in range(1, lanes_of(kernel.function))}  # all lanes are like the first
    buffers = [
        found
        for other, found in kernel.memory.onchip.items()
        if other.startswith(f"{name}.") and not other.endswith(tuple(others))
    ]
    return _shift_register(name, buffers, values) if buffers else _registers(name, memory, values, kernel)


def _shift_register(name: str, buffers: list, values: list[Value]) -> str:
    """What a shifted array became of which at least a part is in block RAM."""
    lines = sorted(found.memory.length for found in buffers if dict(found.memory.attrs).get(Attr.DELAY_LINE))
    if lines:
        singles = {v.name for v in values if re.fullmatch(rf"{re.escape(name)}\.\d+", v.name)}
        text = (
            f"shift register: {'a delay line' if len(lines) == 1 else f'{len(lines)} delay lines'} of "
            f"{' and '.join(f'{n:,}' for n in lines)} elements in block RAM, and {_count(len(singles), 'register')}"
        )
    else:
        (ring,) = buffers
        text = (
            f"shift register: a circular buffer of {ring.memory.length:,} elements in block RAM, read by "
            f"{_count(len(ring.loads), 'load')}"
        )
    sometimes = any(dict(found.memory.attrs).get(Attr.CONDITIONAL) for found in buffers)
    return text + ("; the shift is conditional, at no cost: only the origin moves" if sometimes else "")


def _taps(elements: Collection[str], kernel: CompiledKernel) -> str:
    """The number of positions at which a shift register is read, other than to shift it."""
    table, moved = uses(kernel.function.body), 0
    for plan in kernel.plan.loops.values():
        for carried in plan.carried:
            moved += carried.arg.name in elements and any(
                user is not plan.region.terminator for user, _ in table.get(carried.arg, [])
            )
    return f" with {_count(moved, 'tap point')}" if moved else ""


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


def _registers(name: str, memory: MemoryObject, values: list[Value], kernel: CompiledKernel) -> str:
    elements = {f"{name}.{k}": k for k in range(memory.elements)}
    if not any(v.name in elements for v in values):
        return f"{_NOTHING}: every element is a constant or a value in the pipeline"
    moves = {}
    for plan in kernel.plan.loops.values():
        for c in plan.carried:
            if c.arg.name in elements and c.next.name in elements:
                moves[elements[c.arg.name]] = elements[c.next.name]
    kept = sum(c.arg.name in elements for plan in kernel.plan.loops.values() for c in plan.carried)
    steps = {target - origin for target, origin in moves.items()}
    if len(moves) > 1 and steps in ({1}, {-1}):
        return (
            f"shift register of {memory.length}{_taps(elements, kernel)}: {_count(kept, 'register')} of "
            f"{memory.element.bits} bits"
        )
    return (
        f"{_count(kept, 'register')} of {memory.element.bits} bits" if kept else f"{_NOTHING}: values in the pipeline"
    )
