"""The frozen product of memory planning: which unit serves each access."""

from dataclasses import dataclass

from ..diag import Span
from ..ir import Function, Op, walk

__all__ = ["Access", "MemoryPlan", "plan_memory"]


@dataclass(frozen=True)
class Access:
    """One load or store operation and the unit that serves it.

    ``unit`` is the kind of load-store unit as users know it; ``reason`` says why it was chosen. ``bytes`` is the size of
    one access.
    """

    op: Op
    memory: str
    direction: str  #: "load" or "store"
    bytes: int
    unit: str
    reason: str
    span: Span | None


@dataclass(frozen=True, eq=False)
class MemoryPlan:
    """Every global access of a kernel, in program order."""

    accesses: dict[Op, Access]

    def of(self, memory: str) -> list[Access]:
        """The accesses of one memory object."""
        return [a for a in self.accesses.values() if a.memory == memory]


def plan_memory(function: Function) -> MemoryPlan:
    """Choose a unit for every load and store of a flat kernel."""
    accesses = {}
    for op in walk(function.body):
        if op.opcode in ("load", "store"):
            accesses[op] = _access(op)
    return MemoryPlan(accesses)


def _access(op: Op) -> Access:
    value = op.result if op.opcode == "load" else op.operands[1]
    memory = op.operands[0].op.attrs["mem"]
    return Access(op, memory, op.opcode, value.type.bytes, "burst-coalesced", "the general unit for global memory", op.span)
