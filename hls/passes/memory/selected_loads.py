"""Loads at an address that a select chooses, of which the loads at either address are there: the addresses are
translated to the arms of the select (phi translation)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...analysis.predicates.implication import follows, implied
from ...ir import Op, Value
from ...ir.accesses import predicate
from ...ir.phi_translation import merging_select, translated
from ...ir.rewrite import constant
from ..scalar.specialize import conjuncts

__all__ = ["ChosenLoad", "Earlier", "LoadBySelect", "loads_by_select", "shared_conditions"]

#: the earlier loads of what a load would read at another address
Earlier = Callable[[Op, Value], Sequence[Op]]
#: levels of selects in an address
MOST_LEVELS = 3


@dataclass(frozen=True, eq=False)
class ChosenLoad:
    """An earlier load of the address that is chosen on one way through the selects, which is made then; or, if not
    ``sure``, must be made in more cases for that."""

    load: Op
    sure: bool


@dataclass(frozen=True, eq=False)
class LoadBySelect:
    """What is loaded at a selected address, as a select of what is loaded at the addresses of both arms."""

    condition: Value
    arms: tuple["ChosenLoad | LoadBySelect", "ChosenLoad | LoadBySelect"]

    def leaves(self) -> list[ChosenLoad]:
        """The earlier loads, from left to right."""
        return [leaf for arm in self.arms for leaf in (arm.leaves() if isinstance(arm, LoadBySelect) else [arm])]


def loads_by_select(load: Op, earlier: Earlier, facts: Mapping[Value, bool]) -> LoadBySelect | None:
    """The earlier loads that a load can take its value from, if its address is selected; None where one is missing.
    The ``facts`` hold where the load is made."""
    found = _found(load, load.operands[0], earlier, dict(facts), [])
    return found if isinstance(found, LoadBySelect) else None


def shared_conditions(earlier: Op, later: Op) -> tuple[list[Value], list[Value]]:
    """The conditions that two loads have in common, and those that only the earlier one has. Constants are none."""
    own, others = ([each for each in conjuncts(predicate(load)) if constant(each) != 1] for load in (earlier, later))
    return [each for each in own if each in others], [each for each in own if each not in others]


def _found(
    load: Op, address: Value, earlier: Earlier, facts: dict[Value, bool], ways: list[tuple[Value, bool]]
) -> ChosenLoad | LoadBySelect | None:
    """What the load reads at this address, a select or one load, where ``facts`` hold: those of the load, and of the
    ``ways`` that lead to it, each a condition of a select and its outcome."""
    at_address = earlier(load, address)
    for one in at_address:
        if follows(predicate(one), facts):
            return ChosenLoad(one, True)
    for one in at_address:
        if _may_be_made(one, load, facts, ways):
            return ChosenLoad(one, False)
    select = merging_select(address) if len(ways) < MOST_LEVELS else None
    if select is None:
        return None
    condition, *arms = select.operands
    found = []
    for truth, arm in zip((True, False), arms, strict=True):
        place = translated(address, {select.result: arm})
        way = (condition, truth)
        known = facts | implied(*way)
        there = _found(load, place, earlier, known, [*ways, way]) if place is not None else None
        if there is None:
            return None
        found.append(there)
    return LoadBySelect(condition, (found[0], found[1]))


def _may_be_made(one: Op, load: Op, facts: dict[Value, bool], ways: list[tuple[Value, bool]]) -> bool:
    """Whether the earlier load may be made whenever the later one is: where it is not made now, the ways lead to its
    address, at which the program then makes the later one."""
    common, more = shared_conditions(one, load)
    needed = [each for each in conjuncts(predicate(load)) if constant(each) != 1]
    return (
        bool(ways and more)
        and len(common) == len(needed)
        and all(
            follows(each, implied(predicate(load)) | implied(condition, not truth))
            for condition, truth in ways
            for each in more
        )
    )
