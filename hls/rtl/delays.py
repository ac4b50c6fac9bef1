"""What brings values from one stage of a level to a later one: registers, or memories outside block RAM where many
registers would follow one another.

A value that is delayed by N cycles is written to one of N words in each cycle, and the oldest word is read into a
register. All values of a level with the same delay use the same addresses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from amaranth import Module, Signal, Value

from rtl_lib.mem.ram import Ram
from rtl_lib.steps import after

from ..target.cell import LogicCell

__all__ = ["Delay", "Pipeline", "delay"]

#: Most bits of memory at one pair of address registers, so that these do not drive too many cells.
MOST_BITS = 128


class Pipeline(Protocol):
    """A module ``m`` with registers that move together."""

    m: Module

    @property
    def go(self) -> Value:
        """High in cycles in which the registers move."""

    def clocked(self, assignment: Any) -> None:
        """Add registers that move with the pipeline: an assignment, or a list of some."""


@dataclass(frozen=True, eq=False)
class Delay:
    """The value ``name`` goes from ``source``, its signal in stage ``first``, to ``target``, that in stage ``last``."""

    name: str
    first: int
    source: Signal
    last: int
    target: Signal

    @property
    def cycles(self) -> int:
        """The delay in cycles in which the level moves."""
        return self.last - self.first

    @property
    def bits(self) -> int:
        """The width of the value."""
        return len(self.source)


def delay(pipeline: Pipeline, delays: Sequence[Delay], cell: LogicCell) -> None:
    """Add registers and memories for the ``delays`` of a level; which of both, the device's logic ``cell`` decides."""
    for count, group in enumerate(_groups(delays)):
        cycles = group[0].cycles
        if cell.memory_delays(cycles, [one.bits for one in group]):
            _in_memory(pipeline, group, cycles, f"delay{cycles}_{count}")
        else:
            for one in group:
                _in_registers(pipeline, one)


def _groups(delays: Sequence[Delay]) -> Iterator[list[Delay]]:
    """The delays of each number of cycles, in groups that share their addresses; of a value without bits none."""
    by_cycles: dict[int, list[Delay]] = {}
    for one in delays:
        if one.bits:
            by_cycles.setdefault(one.cycles, []).append(one)
    for alike in by_cycles.values():
        group: list[Delay] = []
        for one in alike:
            if group and sum(other.bits for other in group) + one.bits > MOST_BITS:
                yield group
                group = []
            group.append(one)
        yield group


def _in_registers(pipeline: Pipeline, one: Delay) -> None:
    source = one.source
    for stage in range(one.first + 1, one.last):
        register = Signal(one.bits, name=f"{one.name}_s{stage}", reset_less=True)
        pipeline.clocked(register.eq(source))
        source = register
    pipeline.clocked(one.target.eq(source))


def _in_memory(pipeline: Pipeline, group: Sequence[Delay], cycles: int, name: str) -> None:
    """Memories of ``cycles`` words. The place that is read is the next one to be written, so that no word is both read
    and written in one cycle, and its own register gives a value the last of its cycles."""
    write = Signal(range(cycles), name=f"{name}_write", reset_less=True)
    read = Signal(range(cycles), init=1, name=f"{name}_read", reset_less=True)
    pipeline.clocked([write.eq(read), read.eq(after(read, cycles))])
    for one in group:
        memory = Ram(width=one.bits, depth=cycles, kind="distributed", collides=False)
        pipeline.m.submodules[f"delay_{one.name}_s{one.last}"] = memory
        pipeline.m.d.comb += [
            memory.read.en.eq(pipeline.go),
            memory.read.addr.eq(read),
            memory.write.en.eq(pipeline.go),
            memory.write.addr.eq(write),
            memory.write.data.eq(one.source),
            one.target.eq(memory.read.data),
        ]
