"""Which loads of a memory share a copy of it: those that never conflict in a given schedule."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ...diag import Code, Diagnostic
from ...ir import Attr, Function, Op, walk
from ...narrow import present
from ..banking import When, assign_ports
from .banks import comes_after
from .plan import MemoryPlan, OnChipMemory

__all__ = ["Broken", "share_copies"]


@dataclass(frozen=True)
class Broken:
    """A limit on the loads of a memory that cannot be met."""

    memory: str
    warning: Diagnostic


def share_copies(
    function: Function, plan: MemoryPlan, when: Mapping[Op, When], loose: Collection[Op] = ()
) -> tuple[MemoryPlan, tuple[Broken, ...]]:
    """The plan with as few copies of each memory as its loads need if they execute as ``when`` says, and the attributes
    whose limits these copies exceed. In ``loose`` loops, speculative loads may still execute after the loop has
    ended."""
    if not plan.onchip:
        return plan, ()
    steps = _steps(function, loose)
    known = {
        op: replace(one, step=steps[op][0], behind=steps[op][1]) if op in steps else one for op, one in when.items()
    }
    known |= {op: replace(known[op], ahead=True) for loop in loose for op in walk(loop.regions[0]) if op in known}
    onchip = {
        name: replace(memory, ports=assign_ports(memory.banking.meetings, memory.loads, known))
        for name, memory in plan.onchip.items()
    }
    broken = (_broken(memory) for memory in onchip.values())
    return replace(plan, onchip=onchip), tuple(one for one in broken if one)


def _steps(function: Function, loose: Collection[Op]) -> dict[Op, tuple[Op, frozenset[Op]]]:
    """For each operation inside a loop of the kernel's top: that loop, and the loops which have ended when it begins.
    One token passes the top per run, and a loop that depends on a result of another waits for its end: all its
    operations are done by then."""
    loops = [
        op
        for op in function.body.ops
        if op.opcode == "loop" and not any(inner in loose for inner in (op, *walk(op.regions[0])))
    ]
    behind = comes_after(function.body, loops)
    return {op: (loop, behind[loop]) for loop in loops for op in walk(loop.regions[0])}


def _broken(memory: OnChipMemory) -> Broken | None:
    asked = memory.banking.asked
    needed, most = max(memory.bank_ports), asked.replicas
    if most is None or needed <= most:
        return None
    name = Attr.NUMREADPORTS if asked.numreadports == most else Attr.MAX_REPLICATES
    if name == Attr.MAX_REPLICATES:  # counts blocks, which serve several loads per cycle where they are pumped
        needed = -(-needed * present(asked.max_replicates) // most)
        most = present(asked.max_replicates)
    what = "copies" if name == Attr.MAX_REPLICATES or not memory.pumped else "ports"
    lines = sorted({op.span.line for op in memory.loads if op.span})
    return Broken(
        memory.memory.name,
        Diagnostic(
            f"{name}({most}) cannot be met: the loads of {memory.memory.name} in line{'s' * (len(lines) > 1)} "
            f"{', '.join(map(str, lines))} need {needed} {what}, as some of them may read in the same cycle",
            memory.memory.asked_at(name) or memory.loads[0].span,
            f"write {name}({needed}), or use fewer read sites of {memory.memory.name}",
            "warning",
            code=Code.ATTRIBUTE_NOT_MET,
        ),
    )
