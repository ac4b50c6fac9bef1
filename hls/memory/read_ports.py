"""Which loads of a memory share a copy of it, by a schedule in which they never meet."""

from collections.abc import Mapping
from dataclasses import replace

from ..banking import When, assign_ports
from ..diag import CompileError
from ..ir import Op
from .plan import MemoryPlan, OnChipMemory

__all__ = ["share_copies"]


def share_copies(plan: MemoryPlan, when: Mapping[Op, When]) -> MemoryPlan:
    """The plan with as few copies of each memory as loads that take place ``when`` they do need. Raises CompileError where these are
    more than the program allows."""
    return replace(plan, onchip={name: _shared(memory, when) for name, memory in plan.onchip.items()})


def _shared(memory: OnChipMemory, when: Mapping[Op, When]) -> OnChipMemory:
    asked = memory.banking.asked
    shared = replace(memory, ports=assign_ports(memory.banking.meetings, memory.loads, when))
    needed, most = shared.most_copies, asked.replicas
    if most is not None and needed > most:
        name = "max_replicates" if asked.max_replicates == most else "numreadports"
        lines = sorted({op.span.line for op in memory.loads if op.span})
        raise CompileError.at(memory.memory.span or memory.loads[0].span,
                              f"{name}({most}) cannot be kept: the loads of {memory.memory.name} in line{'s' * (len(lines) > 1)} "
                              f"{', '.join(map(str, lines))} need {needed} copies, as some of them may be read in one cycle",
                              f"write {name}({needed}), or read {memory.memory.name} in fewer places")
    return shared
