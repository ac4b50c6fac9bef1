"""Estimates the resources a design takes of its device, from the generated Verilog.

:mod:`hls.model.netlist` counts the registers, memories, products and logic of each module as built; this module
converts them into the device's own blocks:

- logic cells = max(tables / tables per cell, registers / registers per cell), where a memory outside block RAM takes
  tables, too: one of an ALM for every bit and 32 words, three of an ECP5 slice for every two bits and 16 words, and
  multiplexers between rows of those;
- a memory with clocked reads only and more than 640 bits (where ``hls/target/cells.toml`` says what a block RAM costs
  in synthesis: one that costs more in tables) is placed in block RAM, in the shape (512 words of the block's
  width / 512, 1024 of half that, ...) that takes the fewest blocks; a memory that is read through two ports always is,
  and never at the full width; so is one whose Verilog attribute requests it;
- a product takes one DSP block with two multipliers up to 27 x 27 bits; larger products, and products on other devices,
  take one 18-bit multiplier for each pair of 18-bit parts.

Synthesis removes unused logic and finds shift registers; placement duplicates registers. The estimate models neither.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..target.board import Device
from .netlist import Memory, Module, Use, read_modules

__all__ = ["NOTHING", "DesignArea", "Piece", "Resources", "area_of_modules", "capacity", "estimate", "integers"]

SHALLOWEST_BLOCK = 512
NARROW_FACTOR, WIDE_FACTOR = 18, 27


@dataclass(frozen=True)
class Resources:
    """Estimated logic cells (of the device's kind), registers, block RAMs and DSP blocks."""

    logic: int = 0
    registers: int = 0
    rams: int = 0
    dsps: int = 0

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(
            self.logic + other.logic, self.registers + other.registers, self.rams + other.rams, self.dsps + other.dsps
        )


NOTHING = Resources()


@dataclass
class _Sum:
    """Blocks before rounding to whole cells."""

    tables: float = 0.0
    registers: int = 0
    rams: int = 0
    multipliers: int = 0

    def __add__(self, other: "_Sum") -> "_Sum":
        return _Sum(
            self.tables + other.tables,
            self.registers + other.registers,
            self.rams + other.rams,
            self.multipliers + other.multipliers,
        )


@dataclass(frozen=True)
class Piece:
    """What a signal takes, or a whole hardware part of the library, where ``signal`` is empty. ``path`` are the names
    of the instances around it, outermost first; empty for the top module's own signals."""

    path: tuple[str, ...]
    signal: str
    resources: Resources


@dataclass(frozen=True)
class DesignArea:
    """``parts`` are the top module's instances by name, ``rest`` is everything outside of them.

    ``pieces`` distribute both over the signals: cells and DSP blocks of a part are apportioned to its pieces by the
    largest remainder method, cells in proportion to what binds (tables or registers), so that sums are exact.
    """

    parts: dict[str, Resources]
    rest: Resources
    pieces: tuple[Piece, ...] = ()

    @property
    def total(self) -> Resources:
        """The resources of the whole design."""
        return sum(self.parts.values(), self.rest)


def capacity(device: Device) -> Resources:
    """The resources of the device."""
    return Resources(device.logic_cells, device.registers, device.rams.count, device.dsps.count)


def estimate(
    verilog: dict[str, str], top: str, device: Device, foreign: Mapping[str, Sequence[int]] = MappingProxyType({})
) -> DesignArea:
    """The area of module ``top`` of these texts, with one figure for each of its instances. Modules that no text holds,
    as those of RTL libraries, take what ``foreign`` says: tables, registers, block RAMs and DSP blocks; else nothing.

    Raises :class:`hls.model.netlist.NetlistError` for a text that Amaranth did not write.
    """
    modules: dict[str, Module] = {}
    for text in verilog.values():
        modules |= read_modules(text)
    counter, instances, parts, rest = _summed(modules, top, device, foreign)
    pieces = [
        piece
        for name, module in instances.items()
        for piece in counter.apportioned(parts[name], list(counter.pieces((name,), counter.modules[module])))
    ]
    pieces += counter.apportioned(rest, list(counter.signals((), modules[top])))
    return DesignArea(parts, rest, tuple(pieces))


def area_of_modules(
    modules: Mapping[str, Module], top: str, device: Device, foreign: Mapping[str, Sequence[int]] = MappingProxyType({})
) -> DesignArea:
    """The same for modules that are counted (:mod:`hls.model.cells`), without pieces."""
    _, _, parts, rest = _summed(modules, top, device, foreign)
    return DesignArea(parts, rest)


def _summed(
    modules: Mapping[str, Module], top: str, device: Device, foreign: Mapping[str, Sequence[int]]
) -> tuple["_Counter", dict[str, str], dict[str, Resources], Resources]:
    """A counter of the modules, the instances in the top module, what each takes, and what is outside of them."""
    others = {one for module in modules.values() for one in module.instances.values()} - set(modules)
    counter = _Counter({**modules, **{name: Module(name) for name in others}}, device)
    counter.know({name: foreign.get(name, (0, 0, 0, 0)) for name in others})
    instances = _asked_names(modules[top].instances)
    parts = {name: counter.resources(counter.inside(module)) for name, module in instances.items()}
    return counter, instances, parts, counter.resources(counter.own(modules[top]))


def _asked_names(instances: dict[str, str]) -> dict[str, str]:
    """The instances by the names that the design asked for: Amaranth puts ``$`` and a number behind a name that a
    signal has, too."""
    plain = [name.partition("$")[0] for name in instances]
    return {
        short if plain.count(short) == 1 else name: module
        for short, (name, module) in zip(plain, instances.items(), strict=True)
    }


#: instance in the wrapper of every shared part of the library
_SHARED = "part"


def integers(whole: int, shares: Sequence[float]) -> list[int]:
    """Integers that sum to ``whole``, which is the sum of the shares rounded up: the shares rounded down, and one more
    for those with the largest remainders."""
    found = [int(share) for share in shares]
    order = sorted(range(len(shares)), key=lambda k: (found[k] - shares[k], k))
    for k in order[: whole - sum(found)]:
        found[k] += 1
    return found


class _Counter:
    def __init__(self, modules: dict[str, Module], device: Device) -> None:
        self.modules, self.device = modules, device
        self.cell = device.cell
        self.known: dict[str, _Sum] = {}
        self.foreign: set[str] = set()

    def know(self, foreign: Mapping[str, Sequence[int]]) -> None:
        """Count modules without a text: tables, registers, block RAMs and DSP blocks of each."""
        self.foreign = set(foreign)
        for name, (tables, registers, rams, dsps) in foreign.items():
            self.known[name] = _Sum(tables, registers, rams, dsps * self._per_block())

    def inside(self, name: str) -> _Sum:
        """A module including all its instances."""
        if name not in self.known:
            module = self.modules[name]
            self.known[name] = sum((self.inside(inner) for inner in module.instances.values()), self.own(module))
        return self.known[name]

    def pieces(self, path: tuple[str, ...], module: Module) -> Iterator[tuple[tuple[str, ...], str, _Sum]]:
        """(path, signal, use) of everything in an instance of the module; a shared part is one of them."""
        yield from self.signals(path, module)
        for name, inner in module.instances.items():
            if name == _SHARED or inner in self.foreign:
                yield path, "", self.inside(inner)
            else:
                yield from self.pieces((*path, name), self.modules[inner])

    def signals(self, path: tuple[str, ...], module: Module) -> Iterator[tuple[tuple[str, ...], str, _Sum]]:
        """The same for the module's own signals."""
        for name, use in module.signals.items():
            found = self.own(use)
            if found != _Sum():
                yield path, name, found

    def apportioned(self, whole: Resources, pieces: list[tuple[tuple[str, ...], str, _Sum]]) -> list[Piece]:
        """The pieces with integers that sum to ``whole``."""
        tables = sum(found.tables for _, _, found in pieces) / self.cell.tables
        registers = sum(found.registers for _, _, found in pieces) / self.cell.registers
        by_tables = tables >= registers
        logic = integers(
            whole.logic,
            [
                found.tables / self.cell.tables if by_tables else found.registers / self.cell.registers
                for _, _, found in pieces
            ],
        )
        dsps = integers(whole.dsps, [found.multipliers / self._per_block() for _, _, found in pieces])
        return [
            Piece(path, signal, Resources(cells, found.registers, found.rams, blocks))
            for (path, signal, found), cells, blocks in zip(pieces, logic, dsps, strict=True)
        ]

    def own(self, module: Module | Use) -> _Sum:
        found = _Sum(module.luts, module.registers)
        for memory in module.memories:
            blocks = self._blocks(memory)
            if blocks:
                found.rams += blocks
            else:
                found.tables += self.cell.memory_tables(memory.depth, memory.width)
                found.registers += memory.outputs * memory.width
        found.multipliers = sum(self._multipliers(*factors) for factors in module.products)
        return found

    def resources(self, found: _Sum) -> Resources:
        """The resources, rounded up to whole blocks of the device."""
        cells = max(found.tables / self.cell.tables, found.registers / self.cell.registers)
        return Resources(math.ceil(cells), found.registers, found.rams, self._dsps(found.multipliers))

    def _blocks(self, memory: Memory) -> int:
        """Block RAMs of the memory, or 0 if it is not in block RAM."""
        if not memory.registered or memory.kind == "distributed" or not self.device.rams.count:
            return 0
        widest = self.device.rams.bits // SHALLOWEST_BLOCK
        shapes = [(SHALLOWEST_BLOCK << k, widest >> k) for k in range(int(memory.dual), widest.bit_length())]
        blocks = min(math.ceil(memory.depth / words) * math.ceil(memory.width / bits) for words, bits in shapes)
        free = not memory.dual and memory.kind != "block"
        return 0 if free and self.cell.small(memory.depth, memory.width, blocks) else blocks

    def _multipliers(self, a: int, b: int) -> int:
        pairs = self._per_block()
        if pairs == 2 and NARROW_FACTOR < max(a, b) <= WIDE_FACTOR:
            return pairs
        return math.ceil(a / NARROW_FACTOR) * math.ceil(b / NARROW_FACTOR)

    def _per_block(self) -> int:
        dsps = self.device.dsps
        return max(1, dsps.multipliers // dsps.count) if dsps.count else 1

    def _dsps(self, multipliers: int) -> int:
        return math.ceil(multipliers / self._per_block())
