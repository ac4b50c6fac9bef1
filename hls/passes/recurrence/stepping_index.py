"""Carried indices that an iteration advances by one of a few constants, and the loads at them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...analysis.memory.clobbers import Clobbers
from ...analysis.predicates.implication import never_both
from ...ir import IntType, Op, Value, has
from ...ir.accesses import predicate
from ...ir.rewrite import constant
from ..scalar.specialize import conjuncts
from .step_tree import Steps, leaves, step_tree

__all__ = ["SteppingIndex", "stepping_indices"]

#: longest distance that an iteration moves an index on
MOST_STEP = 4


@dataclass(frozen=True, eq=False)
class SteppingIndex:
    """A carried index of a loop, to which an iteration adds one of the constants of ``steps``, which all have the same
    sign, if any; ``deciding`` are the operations that choose and add it."""

    loop: Op
    index: Value
    steps: Steps
    deciding: set[Op]
    clobbers: Clobbers

    @cached_property
    def known(self) -> dict[Value, Op]:
        """Values that are computed from the index, from loads at such values, and from what does not change in the
        loop, with their operations in order; what decides the next index is not among them."""
        (body,) = self.loop.regions
        open_ = {v for op in body.ops for v in op.results}.union(body.args) - {self.index}
        found: dict[Value, Op] = {}
        for op in body.ops:
            if op in self.deciding or not open_.isdisjoint(_needed(op)) or len(op.results) != 1:
                continue
            if has(op, "pure") or op.opcode == "load" and self._stays(op):
                found[op.result] = op
                open_.remove(op.result)
        return found

    @cached_property
    def loaded(self) -> set[Value]:
        """Those of the known values that are loaded at the index, or computed from such."""
        found: set[Value] = set()
        moves = {self.index}
        for value, op in self.known.items():
            if not moves.isdisjoint(_needed(op)):
                moves.add(value)
                if op.opcode == "load" or not found.isdisjoint(op.operands):
                    found.add(value)
        return found

    def loads(self) -> Iterator[tuple[Op, list[Value], list[Value]]]:
        """The loads at the index, each with the parts of its condition that are the same in all iterations, and with
        the others."""
        for value, op in self.known.items():
            if op.opcode == "load" and value in self.loaded:
                parts = [part for part in conjuncts(predicate(op)) if constant(part) != 1]
                yield op, [p for p in parts if self._is_fixed(p)], [p for p in parts if not self._is_fixed(p)]

    def _stays(self, load: Op) -> bool:
        """Whether no iteration changes what is loaded, as far as those parts of its condition hold that are the same in
        all iterations."""
        if not self.clobbers.movable(load):
            return False
        fixed = [part for part in conjuncts(predicate(load)) if self._is_fixed(part)]
        return not any(
            self.clobbers.among(load, [op])
            for op in self.loop.regions[0].ops
            if not (op.opcode == "store" and any(never_both(part, predicate(op)) for part in fixed))
        )

    def _is_fixed(self, value: Value) -> bool:
        return value not in self._changing

    @cached_property
    def _changing(self) -> set[Value]:
        """The values of the body that may differ between iterations."""
        (body,) = self.loop.regions
        found = set(body.args)
        for op in body.ops:
            if not has(op, "pure") or not found.isdisjoint(op.operands):
                found.update(op.results)
        return found


def _needed(op: Op) -> list[Value]:
    """The operands that decide the result, where it is wanted: of a load, the address."""
    return op.operands[:1] if op.opcode == "load" else op.operands


def stepping_indices(loop: Op, clobbers: Clobbers) -> Iterator[SteppingIndex]:
    """The carried values of a loop without loops inside to which iterations add constants that differ."""
    (body,) = loop.regions
    if any(op.regions for op in body.ops):
        return
    for index, following in zip(body.args, body.terminator.operands[1:], strict=True):
        found = step_tree(index, following) if isinstance(index.type, IntType) else None
        if found is not None and _suit(set(leaves(found[0]))):
            yield SteppingIndex(loop, index, *found, clobbers)


def _suit(steps: set[int]) -> bool:
    return len(steps) > 1 and (min(steps) >= 0 or max(steps) <= 0) and max(map(abs, steps)) <= MOST_STEP
