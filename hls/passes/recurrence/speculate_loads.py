"""Control speculation of loads: a load on whose condition a recurrence depends is made before that condition."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.loops.forward_slice import computed_from, taken
from ...analysis.loops.sccs import components
from ...analysis.memory.clobbers import Clobbers
from ...analysis.predicates.implication import implied
from ...ir import Attr, Builder, Function, Op, Region, Value, loops_inside_out, memory_name, walk
from ...ir.accesses import predicate
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ..manager import Form, FunctionPass
from ..memory.masked_values import MaskedValues
from ..scalar.specialize import conjuncts

__all__ = ["SpeculateLoads"]

#: attributes of loads that are early already, or whose condition keeps the order of accesses
_SETTLED = frozenset({Attr.ALONE, Attr.EARLY})


@dataclass(frozen=True)
class SpeculateLoads(FunctionPass):
    """Control speculation of loads with sentinels (Mahlke et al. 1992, sentinel scheduling). Before: flat, without
    tokens. After: a load of global memory whose condition, but not its address, waits for the recurrence that the load
    is part of is made without that part of the condition (attribute ``early``). Its value is dropped where the program
    does not make the load, and a ``check`` says where the program does: only there a failure counts.

    In ``if (w[i] < best) best = w[i] + h[i];`` whether h[i] is loaded depends on ``best``, and ``best`` on what is
    loaded: an iteration would take as long as memory. Loaded in every iteration, h[i] is an input of the recurrence.
    A load of an address that the recurrence computes gains nothing and stays as it is. So does mostly a load of a
    memory that the loop writes: its condition may be what shows that it reads something else. With ``through_memory``
    (accesses need no time to be ordered) it is made early, too, if its condition waits for another element of that
    memory, and if an iteration that stores makes the load anyway, so that the condition keeps no store away from it:
    ``if (level[w] < 0) level[w] = level[v] + 1``. So are loads of memories that the loop does not write under such a
    condition, as of ``weight[e]`` that is added here. Memories that are ``compared`` at run time are left out.
    """

    through_memory: bool = False
    compared: frozenset[str] = frozenset()
    name = "speculate-loads"
    requires = frozenset({Form.FLAT, Form.ACCESSES_LEGAL})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loads do not wait for their conditions; their faults count only where these turn out true."""
        result = clone_function(function)
        clobbers, masked = Clobbers(result), MaskedValues()
        values: dict[Value, Value] = {}
        for _, loop in loops_inside_out(result.body):
            early = _candidates(loop, clobbers)
            if self.through_memory:
                early |= _stored_meanwhile(loop, clobbers, self.compared)
            if early:
                values |= _Speculation(loop.regions[0], early, masked).build()
        masked.resolve(result.body, values)
        return result


def _candidates(loop: Op, clobbers: Clobbers) -> dict[Op, list[Value]]:
    """The loads to be made early, each with the parts of its condition that stay."""
    (body,) = loop.regions
    conditional = [op for op in body.ops if clobbers.movable(op) and constant(predicate(op)) is None]
    if not conditional:
        return {}
    written = {memory_name(op) for op in walk(body) if op.opcode in ("store", "atomic")}
    late = components(body)
    open_ = [op for op in conditional if memory_name(op) not in written and not _SETTLED.intersection(op.attrs)]
    conditions = {op: conjuncts(predicate(op)) for op in open_}
    waiting = {op: parts for op, parts in conditions.items() if any(_together(part, op.result, late) for part in parts)}
    still = components(body, {op: 1 for op in waiting}) if waiting else {}
    return {
        op: [part for part in parts if not _together(part, op.result, late)]
        for op, parts in waiting.items()
        if op.result not in still
    }


def _stored_meanwhile(loop: Op, clobbers: Clobbers, compared: frozenset[str]) -> dict[Op, list[Value]]:
    """The loads to be made early because their conditions wait for memories that the loop writes, each with the parts
    of its condition that stay."""
    (body,) = loop.regions
    writes: dict[str, list[Op]] = {}
    for op in walk(body):
        if op.opcode in ("store", "atomic"):
            writes.setdefault(memory_name(op), []).append(op)
    conditional = {
        op: conjuncts(predicate(op))
        for op in body.ops
        if clobbers.movable(op) and constant(predicate(op)) is None and not _SETTLED.intersection(op.attrs)
    }
    found: dict[Op, list[Value]] = {}
    for memory, stores in writes.items() if conditional else ():
        if memory in compared or any(op.opcode != "store" or op not in body.ops for op in stores):
            continue
        known = [{v for v, truth in implied(predicate(op)).items() if truth} for op in stores]
        sure = set.intersection(*known)
        open_ = {
            op: parts
            for op, parts in conditional.items()
            if memory_name(op) not in writes or memory_name(op) == memory and sure.issuperset(parts)
        }
        found |= _waiting_for(memory, stores, open_, body)
    return found


def _waiting_for(memory: str, stores: list[Op], open_: Mapping[Op, list[Value]], body: Region) -> dict[Op, list[Value]]:
    """Those of the conditional loads ``open_`` whose conditions, but not their addresses, wait for elements of the
    memory, and that its ``stores`` depend on; each with the parts of its condition that do not wait."""
    loads = {op for op in body.ops if op.opcode == "load" and memory_name(op) == memory}
    while True:
        late: set[Value] = set()
        for op in body.ops:
            read = op.operands[:1] if op in open_ else taken(op)
            if op in loads or not late.isdisjoint(read):
                late.update(op.results)
        waiting = {
            op: parts
            for op, parts in open_.items()
            if op.operands[0] not in late and not late.isdisjoint(parts) and _reaches(op, stores, body)
        }
        if len(waiting) == len(open_):
            return {op: [part for part in parts if part not in late] for op, parts in waiting.items()}
        open_ = waiting


def _reaches(load: Op, stores: list[Op], body: Region) -> bool:
    """Whether one of the stores depends on what is loaded."""
    needed = computed_from(body, {load.result})
    return any(not needed.isdisjoint(op.operands) for op in stores)


def _together(one: Value, other: Value, late: Mapping[Value, int]) -> bool:
    """Whether two values are on one recurrence."""
    return one in late and late[one] == late.get(other)


@dataclass
class _Speculation:
    """Rebuilds the body of one loop; ``early`` are the loads with the parts of their conditions that stay."""

    body: Region
    early: Mapping[Op, list[Value]]
    masked: MaskedValues

    def build(self) -> dict[Value, Value]:
        """Maps each loaded value to its replacement."""
        values: dict[Value, Value] = {}
        ops, self.body.ops = self.body.ops, []
        for op in ops:
            if op not in self.early:
                self.body.ops.append(op)
                continue
            b = Builder(self.body, op.span)
            wanted, loaded = predicate(op), self._load(op, b)
            b.op("check", loaded, wanted)
            values[op.result] = self.masked.under(wanted, loaded, b)
        return values

    def _load(self, op: Op, b: Builder) -> Value:
        on, parts = None, self.early[op]
        for part in parts:
            on = part if on is None else b.value("and", on, part)
        rest = op.operands[2:]
        return b.value(
            "load",
            op.operands[0],
            on if on is not None else b.true(),
            *rest,
            result=op.result.type,
            attrs={**op.attrs, Attr.EARLY: True},
            name=op.result.name,
        )
