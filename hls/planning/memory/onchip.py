"""On-chip memories: their banks, the copies of each, and the clock of their blocks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.banked import PumpedBlock

from ...analysis.workgroup.phases import BarrierPhases
from ...diag import Code, CompileError
from ...ir import Attr, Function, MemoryObject, Op
from ...passes.memory.multi_buffer_private import writers_apart
from ...target.board import Rams
from ..banking import Banking, Blocks, share_blocks
from .banks import BankPlanner, watches

__all__ = ["OnChipMemory", "plan_onchip"]


@dataclass(frozen=True)
class OnChipMemory:
    """A memory inside the kernel, in block RAM. Atomic operations are both loads and stores.

    The ``map`` says which bank a word is in. All ``stores`` share one write port of each bank, or two, which write in
    one :meth:`turn` each; schedule and memory order prevent conflicts there. Loads of one of the ``ports`` share a copy
    of each bank; without any, each load has its own. Groups of work-items, or iterations of the loop that a private
    array is declared in, use the ``copies`` in rotation. The copy's number selects among banks where stores of several
    copies may execute in one cycle. ``banking`` knows which accesses may conflict. The memory is made of ``blocks``; if
    ``pumped``, they run at twice the clock, and each serves several copies.
    """

    memory: MemoryObject
    word_bytes: int
    loads: tuple[Op, ...]
    stores: tuple[Op, ...]
    map: BankMap
    banking: Banking
    copies: int = 1
    ports: Mapping[Op, int] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)
    pumped: bool = False

    @property
    def without_limits(self) -> "OnChipMemory":
        """The memory without the program's limits on how many loads it serves at once."""
        asked = replace(self.banking.asked, max_replicates=None, numreadports=None)
        return replace(self, banking=replace(self.banking, asked=asked, reads={}))

    def mask(self, op: Op) -> int:
        """The bank mask of an access."""
        low, inner = self.banking.meetings.mask(op), self.banking.map.banks
        return sum(low << n * inner for n in range(self.map.banks // inner))

    def may_watch(self, op: Op) -> bool:
        """Whether the access always uses a single bank, whose stores it can watch; where copies for iterations are
        banks, a single one of its iteration's banks."""
        own = self.banking.meetings if self.memory.space == "private" else self
        return own.mask(op).bit_count() == 1

    def port(self, op: Op) -> int:
        """The number of the copy that a load reads."""
        return self.ports.get(op, self.loads.index(op))

    def turn(self, op: Op) -> int:
        """The turn of its banks' blocks in which a store writes."""
        return self.banking.stores.turn[op]

    @property
    def write_ports(self) -> int:
        """Write ports of each bank: as many as stores use."""
        return 1 + max(self.banking.stores.turn.values(), default=0)

    def _bank_ports(self, bank: int) -> list[int]:
        return sorted({self.port(op) for op in self.loads if self.mask(op) >> bank & 1})

    @cached_property
    def bank_ports(self) -> tuple[int, ...]:
        """The number of read ports of each bank."""
        return tuple(len(self._bank_ports(bank)) for bank in range(self.map.banks))

    @cached_property
    def pumped_blocks(self) -> tuple[PumpedBlock, ...] | None:
        """Which read ports of a bank share a block; None where each has its own."""
        if not self.pumped:
            return None
        places, most = self.map.words(self.words), self.banking.asked.max_replicates
        return tuple(
            PumpedBlock(bank, ports, dual)
            for bank in range(self.map.banks)
            for ports, dual in share_blocks(
                self._bank_ports(bank), places, 8 * self.word_bytes, self.blocks, self.banking.asked.writes, most
            )
        )

    @cached_property
    def bank_copies(self) -> tuple[int, ...]:
        """The number of copies of each bank."""
        if self.pumped_blocks is None:
            return self.bank_ports
        return tuple(sum(block.bank == bank for block in self.pumped_blocks) for bank in range(self.map.banks))

    @property
    def most_copies(self) -> int:
        """Copies of the bank that has the most."""
        return max(self.bank_copies)

    @property
    def kind(self) -> str | None:
        """The kind of RAM that the declaration requests, "block" or "distributed"; None if it leaves the choice to the
        size."""
        if self.blocks.small is None:
            return "distributed"
        return "block" if self.blocks.small == 0 else None

    @property
    def rams(self) -> int:
        """Block RAMs of all copies; 0 if it is built of lookup tables."""
        places, width = self.map.words(self.words), 8 * self.word_bytes
        if self.pumped_blocks is None:
            return sum(self.bank_copies) * self.blocks.count(places, width)
        return sum(self.blocks.count(places, width, block.dual) for block in self.pumped_blocks)

    @property
    def words(self) -> int:
        """Of all copies together."""
        return -(-self.memory.elements * self.memory.element.bytes // self.word_bytes)

    @property
    def with_one_write(self) -> "OnChipMemory":
        """The memory with blocks that are written once per cycle, whatever its stores."""
        return replace(self, banking=replace(self.banking, asked=replace(self.banking.asked, writes=1)))

    @property
    def of_one_group(self) -> "OnChipMemory":
        """The memory with one group of work-items at a time."""
        memory = replace(self.memory, length=self.memory.elements // self.copies)
        return replace(self, memory=memory, map=self.banking.map, copies=1)


def plan_onchip(
    function: Function, accesses: Mapping[str, list[Op]], rams: Rams, clock_mhz: float
) -> dict[str, OnChipMemory]:
    """The memories with these accesses, by name, on a device with these block RAMs. Raises CompileError for attributes
    that cannot be satisfied, and for a memory that does not fit into the device.

    Memories whose declaration says so are double-pumped. Others are only if the memories otherwise do not fit into the
    device, as far as is known before the schedule: those that save most first, and only if the device is known to be
    fast enough for this clock.
    """
    planner = _Planner(BarrierPhases(function), BankPlanner.of(function), function, Blocks(rams.bits))
    found = {
        name: planner.plan(name, ops, Attr.DOUBLEPUMP in dict(function.memories[name].attrs))
        for name, ops in accesses.items()
    }
    for name in planner.worth_pumping(found, rams, clock_mhz):
        found[name] = planner.plan(name, accesses[name], True)
    for planned in found.values():
        _check_size(planned, rams)
    return found


@dataclass(frozen=True)
class _Planner:
    phases: BarrierPhases
    banks: BankPlanner
    function: Function
    blocks: Blocks

    def plan(self, name: str, ops: list[Op], pumped: bool) -> OnChipMemory:
        memory = self.function.memories[name]
        loads = tuple(op for op in ops if op.opcode != "store")
        stores = tuple(op for op in ops if op.opcode != "load")
        copies = dict(memory.attrs).get(Attr.COPIES, 1)
        # stores of one barrier phase have cycles of their own; stores of other phases belong to another group, or
        # iteration, and may execute at any time
        apart = copies > 1 and (
            any(not self.phases.together(one, other) for one in stores for other in stores)
            or memory.space == "private"
            and writers_apart(self.banks.forms.tree, ops)
        )
        # a load watches the stores of its own group; of its own loop, where copies are for iterations
        watching = frozenset(
            op
            for op in loads
            if op.opcode == "load" and (not apart or memory.space == "private") and watches(op, between=False)
        )
        blocks = self.blocks.of_kind(dict(memory.attrs).get(Attr.RAM_KIND))
        alone = self._alone(loads) if apart and memory.space != "private" else {}
        banking = self.banks.choose(memory, ops, watching, apart, alone, pumped, blocks)
        word = banking.word_bytes
        # the lowest address bit that distinguishes copies
        one = (memory.elements * memory.element.bytes // copies // word).bit_length() - 1
        groups = tuple(range(one, one + copies.bit_length() - 1))[::-1] if apart else ()
        return OnChipMemory(
            memory=memory,
            word_bytes=word,
            loads=loads,
            stores=stores,
            map=BankMap(groups + banking.map.bits, banking.map.skew, banking.map.fold),
            banking=banking,
            copies=copies,
            blocks=blocks,
            pumped=pumped,
        )

    def _alone(self, loads: Iterable[Op]) -> dict[Op, frozenset[Op]]:
        """For each load of local memory the other loads that a barrier prevents from executing in the same cycle for
        work-items of its group. Where each group's copy is a bank, loads of other groups use other banks."""
        return {
            load: frozenset(other for other in loads if other is not load and not self.phases.together(load, other))
            for load in loads
        }

    def worth_pumping(self, found: Mapping[str, OnChipMemory], rams: Rams, clock_mhz: float) -> Iterable[str]:
        """The memories to double-pump so that all of them fit; none if they fit already, or if that would not help."""
        missing = sum(planned.banking.cost.blocks for planned in found.values()) - rams.count
        if missing <= 0 or not rams.count or not clock_mhz <= rams.pumped_mhz:
            return ()
        saved = {
            name: planned.banking.cost.blocks
            - self.plan(name, [*planned.loads, *planned.stores], True).banking.cost.blocks
            for name, planned in found.items()
            if _may_be_pumped(planned)
        }
        chosen = []
        for name in sorted((name for name in saved if saved[name] > 0), key=lambda name: -saved[name]):
            if missing > 0:
                chosen.append(name)
                missing -= saved[name]
        return chosen


def _may_be_pumped(planned: OnChipMemory) -> bool:
    """Whether double-pumping costs nothing but load latency: no recurrence passes the memory, and no attribute requests
    a single clock."""
    asked = dict(planned.memory.attrs)
    return (
        not {Attr.SINGLEPUMP, Attr.DOUBLEPUMP} & asked.keys()
        and planned.kind != "distributed"
        and not any(op.opcode == "atomic" or watches(op) for op in planned.loads)
    )


def _check_size(planned: OnChipMemory, rams: Rams) -> None:
    """Raise CompileError for a memory that does not fit into the device with one copy of each bank."""
    memory = planned.memory
    needed = _needed_blocks(planned, planned.words)
    if needed > rams.count > 0:
        whom = "iterations" if memory.space == "private" else "work-groups"
        groups = f" for the private copies of {planned.copies} {whom} in flight" if planned.copies > 1 else ""
        raise CompileError.at(
            memory.span or planned.loads[0].span,
            f"{memory.name} needs {needed:,} block RAMs{groups}, but the device has {rams.count:,}",
            f"keep it in global memory, or make it smaller: {_most_bytes(planned, rams):,} bytes are the most",
            code=Code.MEMORY_TOO_LARGE,
        )


def _needed_blocks(planned: OnChipMemory, words: int) -> int:
    """Block RAMs for so many words in the banks of the memory, with one copy of each."""
    return planned.map.banks * planned.blocks.count(planned.map.words(words), 8 * planned.word_bytes)


def _most_bytes(planned: OnChipMemory, rams: Rams) -> int:
    """The most bytes of each private copy that fit into all block RAMs of the device, in words of this width."""
    fits, fails = 0, planned.words
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if _needed_blocks(planned, middle) <= rams.count else (fits, middle)
    return fits * planned.word_bytes // planned.copies
