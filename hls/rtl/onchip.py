"""Memories inside a kernel as block RAM, connected to the ports of their accesses."""

from amaranth.lib import wiring

from rtl_lib.mem.banked import BankedRam
from rtl_lib.mem.replicated import ReplicatedRam

from ..analysis.phases import Phases

__all__ = ["build_onchip"]


def build_onchip(context):
    """Put every memory of the kernel's own into its module; the ports of its accesses are there."""
    for name, memory in context.memory.onchip.items():
        loads, stores = ([context.ports[op] for op in ops] for ops in (memory.loads, memory.stores))
        narrow = any(port.access.bytes < memory.word_bytes for port in stores)
        addresses = len((loads or stores)[0].ram.addr)
        shape = {"word_bytes": memory.word_bytes, "words": memory.words, "reads": len(loads), "writes": len(stores),
                 "addr_bits": addresses, "bytewise": narrow}
        ram = ReplicatedRam(**shape, init=_words(memory)) if memory.banks == 1 else BankedRam(**shape, banks=memory.banks)
        context.m.submodules[context.unique(f"memory_{name}")] = ram
        for port, side in zip(loads, ram.reads, strict=True):
            wiring.connect(context.m, port.ram, side)
        for port, side in zip(stores, ram.writes, strict=True):
            wiring.connect(context.m, _store_side(port), side)
        for port in loads:
            if port.access.forwarding or port.op.opcode == "atomic":
                _show_writes(context, port, stores, ram if memory.banks == 1 else None)


def _store_side(port):
    return port.store.ram if port.op.opcode == "atomic" else port.ram


def _show_writes(context, port, stores, ram):
    """Let a port see what is being written: by anybody, or, where each bank has its writer, by those who may use the same bank."""
    seen = port.unit.written
    if ram is not None:
        context.m.d.comb += [getattr(seen, n).eq(getattr(ram.written, n)) for n in ("addr", "data", "strobe")]
        return
    phases = Phases(context.function)
    for other in stores:
        side = _store_side(other)
        if phases.together(other.op, port.op):
            with context.m.If(side.strobe.any()):
                context.m.d.comb += [getattr(seen, n).eq(getattr(side, n)) for n in ("addr", "data", "strobe")]


def _words(memory) -> tuple[int, ...]:
    """The words of a constant table; none of a memory that is written."""
    data, size = memory.memory.data or b"", memory.word_bytes
    return tuple(int.from_bytes(data[at:at + size], "little") for at in range(0, len(data), size))
