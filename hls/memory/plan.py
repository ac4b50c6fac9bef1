"""The frozen product of memory planning: which unit serves each access."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rtl_lib.mem.ram_ports import RamLoadPort

from ..diag import Span
from ..ir import Function, Op, Value, is_access, lane_mask, memory_name, moved_type, walk
from ..ir.rewrite import constant, is_constant
from ..target.board import Memory

__all__ = ["Access", "MemoryPlan", "plan_memory"]


@dataclass(frozen=True)
class Access:
    """One load or store operation and the unit that serves it.

    ``unit`` is the kind of load-store unit as users know it; ``reason`` says why it was chosen. ``bytes`` is the size of
    one access, ``word_bytes`` that of a word of the memory behind the unit. An access with a ``latency`` takes that many
    cycles, always, and is never refused; with None nobody knows beforehand. The load unit keeps ``cache_words`` words of
    memory, or, where that is 0, the one in use.

    A wide access has ``lanes`` (else 0), of which ``bytes`` counts those that are used; with ``masked`` not all of them always
    are. ``descending``: its addresses go down.
    """

    op: Op
    memory: str
    direction: str  #: "load" or "store"
    bytes: int
    word_bytes: int
    unit: str
    reason: str
    span: Span | None
    latency: int | None = None
    cache_words: int = 0
    lanes: int = 0
    masked: bool = False
    descending: bool = False


@dataclass(frozen=True, eq=False)
class MemoryPlan:
    """Every global access of a kernel, in program order."""

    accesses: Mapping[Op, Access] = field(default_factory=dict)

    def of(self, memory: str) -> list[Access]:
        """The accesses of one memory object."""
        return [a for a in self.accesses.values() if a.memory == memory]

    def fixed_latency(self, op: Op) -> int | None:
        """Cycles that the access takes, always; None where it may wait, and for what is no access."""
        access = self.accesses.get(op)
        return access.latency if access else None


def plan_memory(function: Function, memory: Memory) -> MemoryPlan:
    """Choose a unit for every load and store of a flat kernel on a board with this global memory."""
    ops = [op for op in walk(function.body) if is_access(op)]
    if memory.kind != "onchip":
        return MemoryPlan({op: _burst_access(op, memory.word_bytes) for op in ops})
    widest: dict[str, int] = {}
    for op in ops:
        widest[memory_name(op)] = max(widest.get(memory_name(op), 1), _bytes(op))
    return MemoryPlan({op: _ram_access(op, widest[memory_name(op)]) for op in ops})


def _burst_access(op: Op, word_bytes: int) -> Access:
    access = Access(op, memory_name(op), op.opcode, _bytes(op), word_bytes, "burst-coalesced",
                    "the general unit for global memory", op.span)
    mask = lane_mask(op)
    if mask is None:
        return access
    type, on = moved_type(op), _lanes_known(mask)
    used = sum(lane != 0 for lane in on) * type.element.bytes
    return replace(access, unit="burst-coalesced non-aligned", lanes=type.length, bytes=used, masked=not all(on))


def _lanes_known(mask: Value) -> list[int | None]:
    """Of each lane whether it is wanted; None where only the run knows."""
    if is_constant(mask):
        return list(constant(mask))
    return [constant(lane) for lane in mask.op.operands]


def _ram_access(op: Op, word_bytes: int) -> Access:
    """A port of its own to the buffer's RAM, whose words are as wide as the widest access to the buffer."""
    latency = RamLoadPort.timing.latency if op.opcode == "load" else 0
    return Access(op, memory_name(op), op.opcode, _bytes(op), word_bytes, "RAM port",
                  "global memory is on the chip: every access has a port of its own and never waits", op.span, latency)


def _bytes(op: Op) -> int:
    return moved_type(op).bytes
