"""Memories inside a kernel as block RAM, connected to the ports of their accesses."""

from typing import TYPE_CHECKING, Any

from amaranth import *
from amaranth.lib import wiring

from rtl_lib.mem.banked import BankedRam
from rtl_lib.mem.replicated import ReplicatedRam

from ..analysis.workgroup.phases import BarrierPhases

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["build_onchip"]


def build_onchip(context: "KernelContext") -> None:
    """Put every memory of the kernel into its module; the ports of its accesses exist already."""
    for op, access in context.memory.outside.items():
        if access.forwarding:
            load, store = context.servers.ports[op], context.servers.ports[context.memory.watched_store(op)]
            context.m.d.comb += _same(load.unit.written, store.ram)
    for name, memory in context.memory.onchip.items():
        loads, stores = ([context.servers.ports[op] for op in ops] for ops in (memory.loads, memory.stores))
        narrow = any(port.access.bytes < memory.word_bytes for port in stores)
        addresses = len((loads or stores)[0].ram.addr)
        shape: dict[str, Any] = {
            "word_bytes": memory.word_bytes,
            "words": memory.words,
            "addr_bits": addresses,
            "bytewise": narrow,
            "init": _words(memory),
            "kind": memory.kind,
        }
        plain = (
            not memory.pumped
            and memory.map.banks == 1
            and len({memory.port(op) for op in memory.loads}) == len(memory.loads)
        )
        ram = (
            ReplicatedRam(**shape, reads=len(loads), writes=len(stores))
            if plain
            else BankedRam(
                **shape,
                map=memory.map,
                reads=tuple((memory.port(op), memory.mask(op)) for op in memory.loads),
                writes=tuple(memory.mask(op) for op in memory.stores),
                pumped=memory.pumped_blocks,
                turns=tuple(memory.turn(op) for op in memory.stores),
            )
        )
        context.m.submodules[context.names.unique(f"memory_{name}")] = ram
        for port, side in zip(loads, ram.reads, strict=True):
            wiring.connect(context.m, port.ram, side)
        for port, side in zip(stores, ram.writes, strict=True):
            wiring.connect(context.m, _store_side(port), side)
        for port in loads:
            if port.access.forwarding or port.op.opcode == "atomic":
                _show_writes(context, port, memory, stores, ram)


def _store_side(port):
    return port.store.ram if port.op.opcode == "atomic" else port.ram


def _show_writes(context: "KernelContext", port, memory, stores, ram) -> None:
    """Let a port watch what is being written in its bank. It watches all stores or, where each group's or iteration's
    copy is a bank with a writer of its own, those that may use the same copy. For copies of iterations these are the
    stores of the port's own loop: other loops have ended, or have not begun."""
    turns, mask = list(port.unit.written) if memory.pumped else [port.unit.written], memory.mask(port.op)
    if mask.bit_count() == 1:
        written = [ram.written] if isinstance(ram, ReplicatedRam) else ram.written[mask.bit_length() - 1]
        for seen, side in zip(turns, written, strict=True):
            context.m.d.comb += _same(seen, side)
        return
    phases, inner, private = BarrierPhases(context.function), memory.banking.map, memory.memory.space == "private"
    here = next(region for region in (context.plan.top, *context.plan.loops.values()) if port.op in region.place)
    (bank,) = memory.banking.banks(port.op)
    for other in stores:
        side = _store_side(other)
        near = other.op in here.place if private else phases.together(other.op, port.op)
        if near and bank in memory.banking.banks(other.op):
            same = Cat(side.addr[bit] for bit in reversed(inner.bits)) == bank if inner.bits else 1
            with context.m.If(side.strobe.any() & same):
                context.m.d.comb += _same(turns[memory.turn(other.op)], side)


def _same(seen, written):
    return [getattr(seen, name).eq(getattr(written, name)) for name in ("addr", "data", "strobe")]


def _words(memory) -> tuple[int, ...]:
    """The words of a constant table; empty for a memory that is written."""
    data, size = memory.memory.data or b"", memory.word_bytes
    return tuple(int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))
