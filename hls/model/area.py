"""What a design will take of its device, estimated from the Verilog that was written for it.

What is counted is what was built: :mod:`hls.model.netlist` counts registers, memories, products and logic of each
module, and this turns them into the device's own blocks:

- logic cells = max(tables / tables per cell, registers / registers per cell), where a memory that is not in block RAM
  takes tables, too: one for every bit and 32 words of an ALM's, three for every two bits and 16 words of an ECP5
  slice's, and choices between rows of those;
- a memory whose reads are all clocked and which has more than 640 bits is kept in block RAM, in the shape (512 words of
  the block's width / 512, 1024 of half that, ...) that takes the fewest; one that is read through two ports always, and
  never at the full width, and what the text asks for is kept there;
- a product takes one DSP block with two multipliers up to 27 x 27 bits; beyond, and in other devices, one 18-bit
  multiplier for each pair of 18-bit parts.

Synthesis removes logic that nothing uses and finds shift registers; placement duplicates registers. The estimate knows
neither.
"""

import math
from dataclasses import dataclass

from ..target.board import Device
from .netlist import Memory, Module, read_modules

__all__ = ["CELL_NAMES", "NOTHING", "DesignArea", "Resources", "capacity", "estimate"]

#: Memories up to this size are cheaper in tables than in a block.
SMALL_MEMORY_BITS = 640
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


@dataclass(frozen=True)
class _Cell:
    """What a logic cell holds; ``ram_words`` deep memories take ``ram_tables`` tables a bit."""

    tables: int
    registers: int
    ram_words: int
    ram_tables: float


#: what boards call the cell that logic is counted in
CELL_NAMES = {"alm": "ALMs", "lut4": "LUT4s"}
CELLS = {"alm": _Cell(2, 4, 32, 1.0), "lut4": _Cell(1, 1, 16, 1.5)}


@dataclass
class _Sum:
    """Blocks before they are rounded to whole cells."""

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
class DesignArea:
    """``parts`` are the top module's instances by name, ``rest`` is what belongs to none of them."""

    parts: dict[str, Resources]
    rest: Resources

    @property
    def total(self) -> Resources:
        return sum(self.parts.values(), self.rest)


def capacity(device: Device) -> Resources:
    """What the device holds."""
    return Resources(device.logic_cells, device.registers, device.rams.count, device.dsps.count)


def estimate(verilog: dict[str, str], top: str, device: Device) -> DesignArea:
    """The area of module ``top`` of these texts, one figure for each of its instances.

    Raises :class:`hls.model.netlist.NetlistError` for a text that Amaranth did not write.
    """
    modules: dict[str, Module] = {}
    for text in verilog.values():
        modules |= read_modules(text)
    counter = _Counter(modules, device)
    parts = {name: counter.resources(counter.inside(module)) for name, module in modules[top].instances.items()}
    return DesignArea(parts, counter.resources(counter.own(modules[top])))


class _Counter:
    def __init__(self, modules: dict[str, Module], device: Device):
        self.modules, self.device = modules, device
        self.cell = CELLS[device.logic_cell]
        self.known: dict[str, _Sum] = {}

    def inside(self, name: str) -> _Sum:
        """A module with all that is inside it."""
        if name not in self.known:
            module = self.modules[name]
            self.known[name] = sum((self.inside(inner) for inner in module.instances.values()), self.own(module))
        return self.known[name]

    def own(self, module: Module) -> _Sum:
        found = _Sum(module.luts, module.registers)
        for memory in module.memories:
            blocks = self._blocks(memory)
            if blocks:
                found.rams += blocks
            else:
                found.tables += self._distributed(memory)
        found.multipliers = sum(self._multipliers(*factors) for factors in module.products)
        return found

    def resources(self, found: _Sum) -> Resources:
        """Rounded up to whole blocks of the device."""
        cells = max(found.tables / self.cell.tables, found.registers / self.cell.registers)
        return Resources(math.ceil(cells), found.registers, found.rams, self._dsps(found.multipliers))

    def _blocks(self, memory: Memory) -> int:
        """Block RAMs, or 0 where the memory is not kept there."""
        tables = (
            memory.kind == "distributed"
            or memory.bits <= SMALL_MEMORY_BITS
            and not memory.dual
            and memory.kind != "block"
        )
        if not memory.registered or tables or not self.device.rams.count:
            return 0
        widest = self.device.rams.bits // SHALLOWEST_BLOCK
        shapes = [(SHALLOWEST_BLOCK << k, widest >> k) for k in range(int(memory.dual), widest.bit_length())]
        return min(math.ceil(memory.depth / words) * math.ceil(memory.width / bits) for words, bits in shapes)

    def _distributed(self, memory: Memory) -> float:
        rows = math.ceil(memory.depth / self.cell.ram_words)
        return memory.width * (rows * self.cell.ram_tables + (rows - 1) * 2 / 3)

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
