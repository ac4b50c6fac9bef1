"""Redundant load elimination: a load takes the value of an earlier one of the same address."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from ...analysis.memory.clobbers import Clobbers
from ...analysis.predicates.implication import follows, implied
from ...analysis.predicates.relevance import Relevance
from ...ir import Attr, Builder, Function, Op, Region, Value, has, memory_name, moved_type
from ...ir.accesses import predicate, stands_for
from ...ir.clone import clone_function
from ...ir.same import ValueNumbers
from ..manager import Form, FunctionPass
from ..scalar.specialize import conjuncts
from .carried_loads import CarriedLoads
from .masked_values import MaskedValues
from .selected_loads import ChosenLoad, LoadBySelect, loads_by_select, shared_conditions

__all__ = ["RedundantLoadElimination"]

#: a round finds the loads whose addresses the round before has made equal: one for each level of indirection
MOST_ROUNDS = 4


@dataclass(frozen=True)
class RedundantLoadElimination(FunctionPass):
    """Redundant load elimination, scoped by dominance (LLVM: GVN and EarlyCSE for loads). Before: flat, without tokens.
    After: a load of global memory takes the value of an earlier load of the same address, of its region or one around
    it, if the earlier one executes whenever it does and nothing in between may write there.

    The address may itself be loaded: in ``if (v[c[e]] < m) m = v[c[e]];`` a first round replaces the second load of
    ``c[e]``, and the next one that of ``v``. The condition of these loads implies that of the first ones; without this
    pass the loop would wait for a second answer of memory, since whether the load is made depends on ``m``.

    Nor need the earlier load execute then, if the later one executes whenever the earlier one does not, as in
    ``if (q && p[q] != c) q = next[q]; else if (p[q] == c) q++;``: one of the two is made in any case, so the earlier
    one is made in all cases (partial redundancy elimination, Morel and Renvoise 1979). Conditions that both have in
    common stay. This is done where nothing depends on a value that is not loaded as the source says, also for memory of
    the kernel itself, whose other loads stay for the passes that keep its elements in registers.
    """

    name = "redundant-load-elimination"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which repeated loads take earlier values, in at most ``MOST_ROUNDS`` rounds, as one may make
        others equal."""
        result = clone_function(function)
        clobbers = Clobbers(result)
        for _ in range(MOST_ROUNDS):
            scope = _Scope(clobbers, Relevance(result.body), MaskedValues(), ValueNumbers(), {}, {}, {})
            scope.run(result.body)
            scope.masked.resolve(result.body, scope.values)
            if not scope.values:
                break
        return result


@dataclass
class _Scope:
    """One region. ``known`` are the loads whose values are available, by memory, and in each by what they load;
    ``values`` maps each replaced value; ``facts`` are the conditions that hold in the region."""

    clobbers: Clobbers
    relevance: Relevance
    masked: MaskedValues
    numbers: ValueNumbers
    values: dict[Value, Value]
    facts: dict[Value, bool]
    known: dict[str, dict[tuple[Any, ...], list[Op]]]

    def run(self, region: Region) -> None:
        ops, region.ops = region.ops, []
        for op in ops:
            op.operands = [self.values.get(v, v) for v in op.operands]
            if op.opcode == "load" and self._may_take(op):
                b = Builder(region, op.span)
                value = self._taken(op, b) or self._selected(op, b)
                if value is not None:
                    self.values[op.result] = value
                    continue
                self.known.setdefault(memory_name(op), {}).setdefault(self._place(op, op.operands[0]), []).append(op)
                region.ops.append(op)
                continue
            before = self._inside(op) if op.opcode == "loop" else None
            self._forget(op)
            for inner in op.regions:
                scope = self._inside(op)
                scope.run(inner)
                if before is not None:
                    scope.carry_loads(op, before)
            region.ops.append(op)

    def carry_loads(self, loop: Op, before: "_Scope") -> None:
        """Let the loop, whose body this scope is, carry what the iteration before has loaded for a recurrence;
        ``before`` is the scope in front of it."""
        (body,) = loop.regions
        carried = CarriedLoads(loop, self._open(body), before.earlier, self.earlier, before.facts)
        for load, again, value in carried.carry():
            again.attrs.update(stands_for([again, load]))
            under = Builder(Region(), load.span)
            self.values[load.result] = self.masked.under(predicate(load), value, under)
            place = body.ops.index(load)
            body.ops[place : place + 1] = under.region.ops

    def _open(self, body: Region) -> list[Op]:
        """The loads of a body in front of anything in it that may write what they read."""
        found: list[Op] = []
        writes: list[Op] = []
        for op in body.ops:
            if op.opcode != "load":
                writes += [op] if not has(op, "pure") else []
            elif self._may_take(op) and not self.clobbers.among(op, writes):
                found.append(op)
        return found

    def earlier(self, load: Op, address: Value) -> Sequence[Op]:
        """The loads made earlier, some of them under conditions, of what ``load`` would read at another address."""
        return self.known.get(memory_name(load), {}).get(self._place(load, address), ())

    def _may_take(self, load: Op) -> bool:
        return self.clobbers.plain(load) and not {Attr.UNIT, Attr.FRESH, Attr.ALONE}.intersection(load.attrs)

    def _taken(self, load: Op, b: Builder) -> Value | None:
        """The value that replaces a load."""
        same = self.earlier(load, load.operands[0])
        if not same:
            return None
        on = predicate(load)
        facts = self.facts | implied(on)
        for one in same if self.clobbers.movable(load) else ():
            if follows(predicate(one), facts):
                one.result.name = one.result.name or load.result.name
                one.attrs.update(stands_for([one, load]))
                return one.result if on is predicate(one) else self.masked.under(on, one.result, b)
        for one in same:
            kept = self._left(conjuncts(predicate(one)), conjuncts(on)) if one in b.region.ops else None
            if kept is not None and self._needs_no_mask(one) and self._needs_no_mask(load):
                return self.masked.under(on, self._widened(one, load, kept, b.region), b)
        return None

    def _selected(self, load: Op, b: Builder) -> Value | None:
        """What a load reads at an address that selects among those of earlier loads: one of their values."""
        on = predicate(load)
        found = loads_by_select(load, self.earlier, self.facts | implied(on))
        if found is None:
            return None
        fewer = [leaf.load for leaf in found.leaves() if not leaf.sure]
        if not all(one in b.region.ops and self._needs_no_mask(one) for one in fewer):
            return None
        for one in fewer:
            self._widened(one, load, shared_conditions(one, load)[0], b.region)
        return self.masked.under(on, self._chosen(found, b), b)

    def _chosen(self, found: LoadBySelect | ChosenLoad, b: Builder) -> Value:
        """Select among the values of earlier loads."""
        if isinstance(found, ChosenLoad):
            return found.load.result
        return b.value("select", found.condition, *(self._chosen(arm, b) for arm in found.arms))

    def _left(self, earlier: list[Value], later: list[Value]) -> list[Value] | None:
        """The conditions that two loads have in common, if by these one of the two is made in any case: where a load
        with the conditions ``later`` is not made, one with those ``earlier`` is. None if that is not so, or if the
        earlier one would be made no more often."""
        common = [one for one in earlier if one in later]
        others = [one for one in later if one not in common]
        if len(others) != 1 or len(common) == len(earlier):
            return None
        facts = reduce(lambda known, one: known | implied(one), common, self.facts) | implied(others[0], False)
        return common if all(follows(one, facts) for one in earlier) else None

    def _needs_no_mask(self, load: Op) -> bool:
        """Whether nothing depends on what is loaded where the load is not made: a recurrence would wait for a mask."""
        uses = self.relevance.uses_under(load.result, predicate(load))
        return len(uses) == len(self.relevance.used.get(load.result, ()))

    def _widened(self, one: Op, load: Op, kept: list[Value], region: Region) -> Value:
        """Make the load ``one`` under the conditions ``kept`` alone, in place; returns what it then loads."""
        place, old = region.ops.index(one), one.result
        on, under = Region(), Region()
        condition = reduce(partial(Builder(on, one.span).value, "and"), kept) if kept else Builder(on, one.span).true()
        one.results = [Value(old.type, old.name or load.result.name, one)]
        self.values[old] = self.masked.under(predicate(one), one.result, Builder(under, one.span))
        one.operands[1] = condition
        one.attrs.update(stands_for([one, load]))
        region.ops[place : place + 1] = [*on.ops, one, *under.ops]
        return one.result

    def _forget(self, op: Op) -> None:
        """Drop the loads whose memory the operation, or one inside it, may write."""
        for name, places in list(self.known.items()):
            # the query depends on the memory alone: ask for one of its loads
            if self.clobbers.among(next(iter(places.values()))[0], [op]):
                del self.known[name]

    def _inside(self, op: Op) -> "_Scope":
        facts = implied(op.operands[0]) if op.opcode == "loop" else {}
        known = {name: {place: list(loads) for place, loads in places.items()} for name, places in self.known.items()}
        return _Scope(self.clobbers, self.relevance, self.masked, self.numbers, self.values, self.facts | facts, known)

    def _place(self, load: Op, address: Value) -> tuple[Any, ...]:
        """What it would load at an address: the number of that, the type, the lane of the work-item."""
        return self.numbers.of(address), moved_type(load), load.attrs.get(Attr.LANE)
