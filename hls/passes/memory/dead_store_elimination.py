"""Dead store elimination: of stores of one iteration to the same address, only the last remains."""

from dataclasses import dataclass
from typing import Any

from ...analysis.memory.must_alias import MustAlias
from ...analysis.predicates.implication import follows, implied
from ...ir import Builder, Function, Op, Region, is_access, may_share, memory_name, moved_type, predicate, regions, walk
from ...ir.accesses import orders_accesses
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["DeadStoreElimination"]


@dataclass(frozen=True)
class DeadStoreElimination(FunctionPass):
    """Dead store elimination (LLVM: DSE). Before: a flat kernel without tokens; loads already take the values that
    stores of their iteration wrote. After: of stores to the same address in one region, with no access that may read it
    between them, only the last remains: unchanged if it executes whenever the others do, else with the value of the
    last one that executes.

    So a sum in memory that an unrolled loop updates several times is stored once, and does not occupy the port for each
    copy. ``address_bits``: see :func:`~hls.analysis.dependence.dependence.dependences`.
    """

    address_bits: int = 64
    name = "dead-store-elimination"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy without overwritten stores; the function itself if no region stores to a memory twice."""
        if not any(len(stores) > 1 for region in regions(function.body) for stores in _by_memory(region).values()):
            return function
        result = clone_function(function)
        places = MustAlias(result, self.address_bits)
        for region in list(regions(result.body)):
            for stores in _by_memory(region).values():
                _join(places, region, stores)
        return result


def _by_memory(region: Region) -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {}
    for op in region.ops:
        if op.opcode == "store":
            found.setdefault(memory_name(op), []).append(op)
    return found


def _join(places: MustAlias, region: Region, stores: list[Op]) -> None:
    """Of stores to the same address, keep the last; ``stores`` are those to one memory."""
    following: dict[tuple[Any, ...], Op] = {}
    for op in reversed(stores):
        if not places.plain(op):
            continue
        form = places.form(op)
        key = frozenset(form.terms.items()), form.const, moved_type(op)
        later = following.setdefault(key, op)
        if later is op:
            continue
        if follows(predicate(later), implied(predicate(op))):
            needless = not _is_met(places, region, op, later, ("load",))
        elif needless := not _is_met(places, region, op, later, ("load", "store")):
            _choose(region, op, later)
        if needless:
            region.ops.remove(op)
        else:
            following[key] = op


def _choose(region: Region, first: Op, later: Op) -> None:
    """Execute the later store whenever either would execute, with the value of the last one that does."""
    pieces = Region()
    b, condition = Builder(pieces, later.span), predicate(later)
    later.operands[1] = b.value("select", condition, later.operands[1], first.operands[1])
    later.operands[2] = b.value("or", predicate(first), condition)
    at = region.ops.index(later)
    region.ops[at:at] = pieces.ops


def _is_met(places: MustAlias, region: Region, first: Op, later: Op, opcodes: tuple[str, ...]) -> bool:
    """Whether an operation of these opcodes between the two may access what the first one writes."""
    memories = places.function.memories
    mine = memories[memory_name(first)]
    passed = region.ops[region.ops.index(first) + 1 : region.ops.index(later)]
    for op in (inner for one in passed for inner in (one, *(each for body in one.regions for each in walk(body)))):
        if not is_access(op):
            if orders_accesses(op) and mine.space != "private":
                return True
            continue
        other = memories[memory_name(op)]
        if op.opcode in opcodes and (
            any(fact.loop is None for fact in places.between(first, op)) if other is mine else may_share(mine, other)
        ):
            return True
    return False
