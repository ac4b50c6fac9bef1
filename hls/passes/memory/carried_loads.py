"""Loads of what the iteration before has loaded: the loop carries it (load PRE at a loop's header)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...analysis.loops.sccs import components
from ...analysis.predicates.implication import follows, implied
from ...ir import Op, Region, Value
from ...ir.accesses import predicate
from ...ir.loops import add_carried
from ...ir.phi_translation import translated
from .selected_loads import Earlier

__all__ = ["CarriedLoads"]


@dataclass
class CarriedLoads:
    """The loads of a loop's body that have the value of another load of the iteration before, and of one before the
    loop in the first one.

    ``open`` are the loads at the begin of the body, in front of anything that may write there. ``entering`` and
    ``leaving`` find earlier loads of an address in front of the loop, and at the end of the body.
    ``facts`` hold in front of the loop.
    """

    loop: Op
    open: list[Op]
    entering: Earlier
    leaving: Earlier
    facts: Mapping[Value, bool]

    def carry(self) -> Iterator[tuple[Op, Op, Value]]:
        """Let the loop carry these values; yields each load, which the caller removes, with that of the
        iteration before and the carried value."""
        (body,) = self.loop.regions
        kept: set[Op] = set()
        for load in self.open:
            found = self._found(load, body) if load not in kept else None
            if found is not None:
                first, again = found
                kept.add(again)
                name = load.result.name
                carried = add_carried(
                    self.loop, first.result, name, following=again.result, result=Value(first.result.type, name)
                )
                yield load, again, carried.arg

    def _found(self, load: Op, body: Region) -> tuple[Op, Op] | None:
        """The loads of the same address before the loop and in the iteration before. None if one is missing, or if no
        recurrence waits for the load: it would wait for the iteration before for nothing."""
        own = set(body.ops)
        nexts = dict(zip(body.args, body.terminator.operands[1:], strict=True))
        inits = dict(zip(body.args, self.loop.operands[1:], strict=True))
        address, on = load.operands[0], predicate(load)
        following, given = (translated(v, nexts, own) for v in (address, on))
        initial = translated(address, inits, own)
        if following is None or given is None or initial is None or load.result not in self._recurrences:
            return None
        before, goes_on = implied(self.loop.operands[0]), implied(body.terminator.operands[0])
        first = _made(self.entering(load, initial), {**self.facts, **before})
        again = _made(self.leaving(load, following), goes_on | implied(given))
        if first is None or again is None or again is load or again not in own:
            return None
        return first, again

    @cached_property
    def _recurrences(self) -> dict[Value, int]:
        return components(self.loop.regions[0])


def _made(loads: Sequence[Op], facts: Mapping[Value, bool]) -> Op | None:
    """The first of the loads that is made wherever the facts hold."""
    return next((one for one in loads if follows(predicate(one), dict(facts))), None)
