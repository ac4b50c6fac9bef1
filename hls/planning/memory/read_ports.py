"""Which loads of a memory share a copy of it, by a schedule in which they never meet."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ...diag import Code, Diagnostic
from ...ir import Attr, Function, Op, walk
from ..banking import When, assign_ports
from .banks import comes_after
from .plan import MemoryPlan, OnChipMemory

__all__ = ["Broken", "share_copies"]


@dataclass(frozen=True)
class Broken:
    """A limit to the loads of a memory that cannot be kept."""

    memory: str
    warning: Diagnostic


def share_copies(
    function: Function, plan: MemoryPlan, when: Mapping[Op, When], loose: Collection[Op] = ()
) -> tuple[MemoryPlan, tuple[Broken, ...]]:
    """The plan with as few copies of each memory as loads that take place ``when`` they do need, and what the program
    asks of it where these are more than it allows. In ``loose`` loops loads may still be made for iterations that turn
    out not to be, when the loop has ended."""
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
    """For what is in a loop of the kernel's top, that loop and those which are over when it begins. One token passes
    the top in a run, and a loop that waits for anything out of another waits for its end: all that it does was done by
    then."""
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
    if name == Attr.MAX_REPLICATES:  # counts blocks, which have time for several loads where they are pumped
        most, needed = asked.max_replicates, -(-needed * asked.max_replicates // most)
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
