"""The connection between kernels and global memory: an interconnect and AXI4 masters, or plain RAM ports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amaranth import *
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5
from amaranth.lib import wiring

from rtl_lib.axi.read_master import AxiReadMaster
from rtl_lib.axi.signature import flat_ports
from rtl_lib.axi.write_master import AxiWriteMaster
from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.lsu.atomic_memory import AtomicMemory
from rtl_lib.lsu.constant import ConstantCache, cache_fill, cache_places

from ..options import Options
from ..planning.memory import SharedPlan
from ..target.board import Memory
from .interface import RamPort

if TYPE_CHECKING:
    from .compute_units import UnitedKernel
    from .kernel import KernelHardware

__all__ = ["bursts_of_a_master", "connect_axi", "connect_ram"]


def connect_ram(hardware: Sequence["KernelHardware | UnitedKernel"]) -> tuple[dict, tuple[RamPort, ...]]:
    """Top-level ports by name, and their description, for kernels all of whose accesses have a RAM port."""
    ports: dict[str, Any] = {}  # signals, with their directions
    described = []
    for kernel in (part for h in hardware for part in h.parts):
        for ram, description, refused in kernel.ports:
            ports |= {f"{description.name}_{name}": port for name, port in _named(ram)}
            if refused is not None:
                ports[f"{description.name}_refused"] = refused, PortDirection.Input
            described.append(description)
    return ports, tuple(described)


def _named(ram):
    return ((name.removeprefix("_"), port) for name, port in flat_ports(ram, "").items())


def bursts_under_way(latency: int) -> int:
    """Bursts in flight at a bank that let scattered words, each a burst of its own, keep it busy over a memory's
    ``latency`` in cycles; a power of two, as block RAM depths are."""
    return max(32, 1 << (latency - 1).bit_length())


def bursts_of_a_master(latency: int) -> int:
    """Bursts of one direction in flight at the AXI port of a bank."""
    return max(64, bursts_under_way(latency))


def connect_axi(
    m: Module,
    hardware: Sequence["KernelHardware | UnitedKernel"],
    memories: Sequence[Memory],
    address_bits: int,
    options: Options,
    forget: Value,
) -> dict:
    """Connect the units of all kernels to one AXI4 master per bank of the ``memories`` of a board, the default one
    first; returns the top-level ports by name. Banks are numbered through all memories.

    Loads of constant memory share a cache in each memory, which ``forget`` invalidates.
    """
    ports: dict[str, Any] = {}
    parts, first = [part for h in hardware for part in h.parts], 0
    for k, memory in enumerate(memories):
        side = _MemorySide(m, memory, address_bits, options.axi_address_bits, memory.name if k else None)
        ports |= side.connect(parts, options.const_cache_bytes, forget, first)
        first += len(memory.banks)
    return ports


@dataclass(frozen=True)
class _MemorySide:
    """The hardware of one memory: its units, interconnects and masters, whose ports have addresses of ``port_bits``.
    ``location`` is the memory's name in accesses."""

    m: Module
    memory: Memory
    address_bits: int
    port_bits: int
    location: str | None

    def connect(self, parts, constant_bytes: int, forget, first: int) -> dict:
        """Connect the units of the kernels' ``parts``; returns the ports by name, with banks numbered from ``first``
        on."""
        memory = self.memory
        atomics, constants = self._atomics(parts), self._constants(parts, constant_bytes, forget)
        shared = self._shared_caches(parts)
        reads = [
            *(port for h in parts for port in h.reads(self.location)),
            *(unit.reads for unit in atomics),
            *(cache.mem for cache in constants),
            *(cache.mem for cache in shared),
        ]
        writes = [*(port for h in parts for port in h.writes(self.location)), *(unit.writes for unit in atomics)]
        read = self._interconnect("read", ReadInterconnect, reads)
        write = self._interconnect("write", WriteInterconnect, writes)
        ports: dict[str, Any] = {}
        for bank in range(len(memory.banks)):
            number = first + bank
            for interconnect, part, name in ((read, AxiReadMaster, "read"), (write, AxiWriteMaster, "write")):
                master = part(
                    word_bytes=memory.word_bytes,
                    addr_bits=self.port_bits,
                    outstanding=bursts_of_a_master(memory.read_latency),
                )
                self.m.submodules[f"{name}_master{number}"] = master
                ports |= flat_ports(master.axi, f"m_axi{number}")
                if interconnect is not None:
                    _connect_wide(self.m, interconnect.banks[bank], master.port)
        return ports

    def _add(self, name: str, part):
        """Put a part into the module; parts of other memories than the default one carry the memory's name."""
        self.m.submodules[f"{name}_{self.location.lower()}" if self.location else name] = part
        return part

    def _atomics(self, parts) -> list[AtomicMemory]:
        """The unit that serves the atomic operations of all kernels, if there are any."""
        asked = [each for h in parts for each in h.atomics(self.location)]
        if not asked:
            return []
        unit = self._add(
            "atomics",
            AtomicMemory(
                askers=len(asked),
                word_bytes=self.memory.word_bytes,
                addr_bits=self.address_bits,
                functions=tuple(sorted({function for _, function in asked})),
            ),
        )
        for (port, _), asker in zip(asked, unit.askers, strict=True):
            wiring.connect(self.m, port, asker)
        return [unit]

    def _constants(self, parts, size: int, forget) -> list[ConstantCache]:
        """The constant cache of all kernels, if any load uses it."""
        ports, word_bytes = [port for h in parts for port in h.constants(self.location)], self.memory.word_bytes
        if not ports:
            return []
        words = cache_places(size, word_bytes)
        cache = self._add(
            "constant_cache",
            ConstantCache(
                accesses=[port.signature.access_bytes for port in ports],
                words=words,
                fill=cache_fill(words, self.memory.read_latency),
                word_bytes=word_bytes,
                addr_bits=self.address_bits,
            ),
        )
        self.m.d.comb += cache.forget.eq(forget)
        for port, load in zip(ports, cache.loads, strict=True):
            wiring.connect(self.m, port, load)
        return [cache]

    def _shared_caches(self, parts) -> list:
        """The caches that loads of several parts of a kernel share, each connected to its loads."""
        users: dict[str, list[tuple[SharedPlan, Any]]] = {}
        for plan, port in (each for h in parts for each in h.shared(self.location)):
            users.setdefault(plan.name, []).append((plan, port))
        found = []
        for number, (name, each) in enumerate(users.items()):
            unit = each[0][0].unit
            cache = unit.part(addr_bits=self.address_bits, **unit.options)
            found.append(self._add(f"shared_cache{number}_{name.replace('.', '_')}", cache))
            for (_, port), load in zip(each, cache.loads, strict=True):
                wiring.connect(self.m, port, load)
        return found

    def _interconnect(self, name: str, part, units):
        if not units:
            return None
        memory = self.memory
        mapping = AddressMap.interleaved(len(memory.banks), memory.interleave_bytes, memory.base)
        interconnect = self._add(
            f"{name}_interconnect",
            part(
                count=len(units),
                address_map=mapping,
                word_bytes=memory.word_bytes,
                addr_bits=self.address_bits,
                outstanding=bursts_under_way(memory.read_latency),
            ),
        )
        for unit, port in zip(units, interconnect.units, strict=True):
            wiring.connect(self.m, unit, port)
        return interconnect


def _connect_wide(m, source, sink) -> None:
    """Connect a bank of the interconnect to a master, whose address may have another width: upper bits of a place in a
    bank are 0 (the compiler checks that the bank is small enough)."""
    for path, member, value in source.signature.flatten(source):
        other = sink
        for step in path:
            other = getattr(other, step) if isinstance(step, str) else other[step]
        if member.flow == wiring.Out:
            _assign(m, other, value)
        else:
            _assign(m, value, other)


def _assign(m, target, source) -> None:
    if hasattr(target, "addr"):
        m.d.comb += [target.addr.eq(source.addr), target.words.eq(source.words)]
    else:
        m.d.comb += target.eq(source)
