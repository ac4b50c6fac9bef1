"""Conditional specialization: a value is simplified under the conditions that guard all its uses."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from ...analysis.predicates.facts import Facts
from ...analysis.predicates.value_sets import ValueSets
from ...ir import BOOL, Builder, Function, Op, Region, Value, loops_inside_out, uses, walk
from ...ir.accesses import predicate
from ...ir.clone import clone_function
from ...ir.loops import add_carried
from ...ir.rewrite import constant
from ..manager import Form, FunctionPass
from .specialize import Specializer, bypassed

__all__ = ["ConditionalSpecialization", "FactSource"]


class FactSource(StrEnum):
    """The source of the pass's facts, and so the values that it simplifies."""

    BRANCHES = "branches"  #: the condition of the enclosing ``if``, for all operands in a branch
    BACKEDGES = "backedges"  #: the continue condition, for values carried to the next iteration
    ACCESSES = "accesses"  #: the predicate of a load or store, for its address and stored value
    GUARDS = "guards"  #: a carried bit that guards all uses of a carried value, for that value


@dataclass(frozen=True)
class ConditionalSpecialization(FunctionPass):
    """Conditional specialization (XLS: conditional_specialization; LLVM: CorrelatedValuePropagation). Before: for
    branches, `if` with regions; for the other sources of facts, flat. After: a value that is used only under certain
    conditions is computed without the selects that these conditions decide.

    *branches*: an operation in a branch uses no result of an earlier ``if`` whose condition the branch condition
    decides: it uses the value which that ``if`` yields then, if that is defined before the ``if``. The sections of a
    ``switch`` follow each other, each under a condition: without this pass, each would seem to need the results of the
    previous ones, and in a loop that carries them all would form one recurrence.

    *backedges*: next values are computed for the case that the loop continues. If the loop's result is used, an
    additional carried value, which no iteration reads, holds its exit value. This removes conditions (from ``break``,
    guards of unrolled copies, wrap-around of digits) from the recurrence: a counter of a loop with ``break`` is ``i +
    1`` again.

    *accesses*: addresses and stored values are computed for the case that the access executes. Two accesses to the same
    location then have the same address, and run-time address comparison does not wait for conditions.

    *guards*: if every iteration uses a carried value only under a carried bit (``select bit, value, other``), the next
    value is computed for the case that the next bit is set. Elements that are forwarded from iteration to iteration
    have a bit that tells whether they were stored: ``stored ? x : 0`` becomes x, and the select leaves the recurrence.
    """

    source: FactSource
    name = "conditional-specialization"

    @property
    def requires(self) -> frozenset[Form]:
        """The forms that IR must have for values with facts of this source."""
        return {
            FactSource.BRANCHES: frozenset({Form.ARRAYS_LOWERED}),
            FactSource.ACCESSES: frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED}),
        }.get(self.source, frozenset({Form.FLAT}))

    @property
    def forbids(self) -> frozenset[Form]:
        """Flat IR has no branches; tokens rely on the addresses of accesses."""
        return {FactSource.BRANCHES: frozenset({Form.FLAT}), FactSource.ACCESSES: frozenset({Form.ORDERED})}.get(
            self.source, frozenset()
        )

    def run(self, function: Function) -> Function:
        """A copy in which values are simplified by the facts of ``source``."""
        result = clone_function(function)
        _RULES[self.source](result)
        return result


# --- the condition of a branch ---


def _branches(function: Function) -> None:
    _Branch(Facts(ValueSets()), cache(lambda region: frozenset(region.ops))).run(function.body)


@dataclass
class _Branch:
    """A region, and the facts that hold in it; ``inside`` returns the operations of a region."""

    facts: Facts
    inside: Callable[[Region], AbstractSet[Op]]
    found: dict[Value, Value] = field(default_factory=dict)

    def run(self, region: Region) -> None:
        for op in region.ops:
            op.operands = [self._value(v) for v in op.operands]
            if op.opcode == "if":
                self._if(op)
            else:
                for inner in op.regions:
                    self.run(inner)

    def _if(self, op: Op) -> None:
        """Treat both branches. A result for which both branches yield the same value is replaced by it."""
        ends = [inner.terminator for inner in op.regions]
        alike = [one is other for one, other in zip(*(end.operands for end in ends), strict=True)]
        for inner, end, truth in zip(op.regions, ends, (True, False), strict=True):
            before = end.operands
            _Branch(self.facts.where(op.operands[0], truth), self.inside).run(inner)
            end.operands = [old if same else new for old, new, same in zip(before, end.operands, alike, strict=True)]

    def _value(self, value: Value) -> Value:
        if not self.facts:
            return value
        if value not in self.found:
            self.found[value] = bypassed(value, self.facts, self.inside)
        return self.found[value]


# --- the continue condition of a loop ---


def _backedges(function: Function) -> None:
    used = uses(function.body)
    # a carried value may become the result of an inner loop, whose users must be known by then
    for _, loop in loops_inside_out(function.body):
        # facts about a condition become stale when a loop's result is replaced, so each loop starts anew
        _backedge(loop, Facts(ValueSets()).where(loop.regions[0].terminator.operands[0]), used)


def _backedge(loop: Op, facts: Facts, used: dict[Value, list[tuple[Op, int]]]) -> None:
    region = loop.regions[0]
    end = region.terminator
    read = {v for op in walk(region) for v in op.operands if op is not end} | {end.operands[0]}
    for k, after in enumerate(end.operands[1:]):
        found = bypassed(after, facts)
        if found is after:
            continue
        if loop.results[k] in used:
            if region.args[k] not in read:
                continue  # unused inside: it is such an exit value already
            _keep_result(loop, k, after, used)
        end.operands[1 + k] = found


def _keep_result(loop: Op, k: int, value: Value, used: dict[Value, list[tuple[Op, int]]]) -> None:
    """Give the users of a result a carried value that is ``value`` when the loop ends."""
    region, old = loop.regions[0], loop.results[k]
    name, result = region.args[k].name, Value(old.type, old.name)
    add_carried(loop, loop.operands[1 + k], name, following=value, result=result)
    for user, index in used.pop(old):
        user.operands[index] = result
    used[result] = [(loop, k)]


# --- the predicate of an access ---


def _accesses(function: Function) -> None:
    _accesses_of(function.body, Facts(ValueSets()))


def _accesses_of(region: Region, nothing: Facts) -> None:
    ops, region.ops = region.ops, []
    own = {value for op in ops for value in op.results}
    for op in ops:
        for inner in op.regions:
            _accesses_of(inner, nothing)
        if op.opcode in ("load", "store") and constant(predicate(op)) is None:
            case = Specializer(nothing.where(predicate(op)), own, Builder(region, op.span))
            for k in (0, 1) if op.opcode == "store" else (0,):
                op.operands[k] = case.of(op.operands[k])
        region.ops.append(op)


# --- a bit that guards all uses of a carried value ---


def _guards(function: Function) -> None:
    used, nothing = uses(function.body), Facts(ValueSets())
    for _, loop in loops_inside_out(function.body):
        _guarded(loop, nothing, used)


def _guarded(loop: Op, nothing: Facts, used: dict[Value, list[tuple[Op, int]]]) -> None:
    (body,) = loop.regions
    end = body.terminator
    for arg, result in zip(body.args, loop.results, strict=True):
        facts = nothing
        for bit, truth in () if result in used else _bits(arg, used):
            facts = facts.where(end.operands[1 + bit.index], truth)
        after = end.operands[1 + arg.index]
        found = bypassed(after, facts)
        if found is not after:
            end.operands[1 + arg.index] = found
            used.setdefault(found, []).append((end, 1 + arg.index))


def _bits(arg: Value, used: Mapping[Value, list[tuple[Op, int]]]) -> list[tuple[Value, bool]]:
    """Carried bits of the same loop, each with the truth value that it has wherever the value is used."""
    found = [_deciding(op, index) for op, index in used.get(arg, ())]
    return [
        one
        for one in dict.fromkeys(found)
        if found.count(one) == len(found) and one is not None and one[0].owner is arg.owner and one[0].type == BOOL
    ]


def _deciding(op: Op, index: int) -> tuple[Value, bool] | None:
    """The condition under which an operand matters, and the truth value it must have."""
    return (op.operands[0], index == 1) if op.opcode == "select" and index > 0 else None


_RULES: dict[FactSource, Callable[[Function], None]] = {
    FactSource.BRANCHES: _branches,
    FactSource.BACKEDGES: _backedges,
    FactSource.ACCESSES: _accesses,
    FactSource.GUARDS: _guards,
}
