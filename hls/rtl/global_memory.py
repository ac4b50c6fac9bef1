"""What lies between the kernels and global memory: an interconnect and AXI4 masters, or nothing but RAM ports."""

from amaranth import *
from amaranth.lib import wiring

from rtl_lib.axi.read_master import AxiReadMaster
from rtl_lib.axi.signature import flat_ports
from rtl_lib.axi.write_master import AxiWriteMaster
from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.lsu.atomic_memory import AtomicMemory
from rtl_lib.lsu.constant import ConstantCache

from .interface import RamPort

__all__ = ["connect_axi", "connect_ram"]


def connect_ram(hardware) -> tuple[dict, tuple[RamPort, ...]]:
    """Top-level ports by name, and their description, for kernels of which every access has a RAM port."""
    ports, described = {}, []
    for kernel in (part for h in hardware for part in h.parts):
        for ram, description in kernel.ports:
            ports |= {f"{description.name}_{name}": port for name, port in _named(ram)}
            described.append(description)
    return ports, tuple(described)


def _named(ram):
    return ((name.removeprefix("_"), port) for name, port in flat_ports(ram, "").items())


def bursts_under_way(latency: int) -> int:
    """Bursts under way at a bank so that scattered words, each a burst of its own, keep it busy over a memory's ``latency``
    cycles; a power of two, as block RAMs are."""
    return max(32, 1 << (latency - 1).bit_length())


def connect_axi(m: Module, hardware, memory, address_bits: int, constant_bytes: int, forget) -> dict:
    """Connect the units of all kernels to one AXI4 master a bank of ``memory``; returns the top-level ports by name.

    Loads of constant memory share a cache of ``constant_bytes``, which ``forget`` empties.
    """
    mapping = AddressMap.interleaved(len(memory.banks), memory.interleave_bytes)
    under_way = bursts_under_way(memory.read_latency)
    common = {"word_bytes": memory.word_bytes, "addr_bits": address_bits, "address_map": mapping, "outstanding": under_way}
    hardware = [part for h in hardware for part in h.parts]
    atomics = _atomics(m, hardware, memory.word_bytes, address_bits)
    constants = _constants(m, hardware, memory.word_bytes, address_bits, constant_bytes, forget)
    reads = [*(port for h in hardware for port in h.reads), *(unit.reads for unit in atomics), *(cache.mem for cache in constants)]
    writes = [*(port for h in hardware for port in h.writes), *(unit.writes for unit in atomics)]
    read = _interconnect(m, "read", ReadInterconnect, reads, common)
    write = _interconnect(m, "write", WriteInterconnect, writes, common)
    ports = {}
    for bank in range(len(memory.banks)):
        for interconnect, part, name in ((read, AxiReadMaster, "read"), (write, AxiWriteMaster, "write")):
            master = part(word_bytes=memory.word_bytes, addr_bits=64, outstanding=max(64, under_way))
            m.submodules[f"{name}_master{bank}"] = master
            ports |= flat_ports(master.axi, f"m_axi{bank}")
            if interconnect is not None:
                _connect_wide(m, interconnect.banks[bank], master.port)
    return ports


def _atomics(m, hardware, word_bytes: int, address_bits: int) -> list[AtomicMemory]:
    """The unit that serves the atomic operations of all kernels, if there are any."""
    asked = [each for h in hardware for each in h.atomics]
    if not asked:
        return []
    unit = AtomicMemory(askers=len(asked), word_bytes=word_bytes, addr_bits=address_bits,
                        functions=tuple(sorted({function for _, function in asked})))
    m.submodules.atomics = unit
    for (port, _), asker in zip(asked, unit.askers, strict=True):
        wiring.connect(m, port, asker)
    return [unit]


def _constants(m, hardware, word_bytes: int, address_bits: int, size: int, forget) -> list[ConstantCache]:
    """The constant cache of all kernels, if anybody loads through it. Its size is rounded up to what its places can be numbered by."""
    ports = [port for h in hardware for port in h.constants]
    if not ports:
        return []
    cache = ConstantCache(accesses=[port.signature.access_bytes for port in ports], words=max(2, 1 << (-(-size // word_bytes) - 1).bit_length()),
                          word_bytes=word_bytes, addr_bits=address_bits)
    m.submodules.constant_cache = cache
    m.d.comb += cache.forget.eq(forget)
    for port, load in zip(ports, cache.loads, strict=True):
        wiring.connect(m, port, load)
    return [cache]


def _interconnect(m, name, part, units, common):
    if not units:
        return None
    interconnect = part(count=len(units), **common)
    m.submodules[f"{name}_interconnect"] = interconnect
    for unit, port in zip(units, interconnect.units, strict=True):
        wiring.connect(m, unit, port)
    return interconnect


def _connect_wide(m, source, sink):
    """Connect a bank of the interconnect to a master: only the address is wider there."""
    for path, member, value in source.signature.flatten(source):
        other = sink
        for step in path:
            other = getattr(other, step) if isinstance(step, str) else other[step]
        if member.flow == wiring.Out:
            _assign(m, other, value)
        else:
            _assign(m, value, other)


def _assign(m, target, source):
    if hasattr(target, "addr"):
        m.d.comb += [target.addr.eq(source.addr), target.words.eq(source.words)]
    else:
        m.d.comb += target.eq(source)
