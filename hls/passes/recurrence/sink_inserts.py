"""Insert sinking: stores to one element of an array in registers, in several branches, become one store."""

from dataclasses import dataclass
from itertools import islice

from ...analysis.timing import TimingModel, carried_arrivals, longest_recurrence
from ...ir import ArrayType, Builder, Function, Op, Region, Value, innermost_first, uses
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ..manager import Form, FunctionPass
from .mux_trees import choose_last, leaves_of

__all__ = ["SinkInserts"]

#: most leaves of a tree of which one is selected last
_MOST_LEAVES = 256


@dataclass(frozen=True)
class SinkInserts(FunctionPass):
    """Code sinking into the join of branches. Before: flat; arrays in registers are values. After: in a loop, a tree of
    selects among an array and inserts into it, all at one index, is one insert: of the element that the branch selects,
    if any branch inserts; the element that arrives last is selected last. The branches then share the logic that finds
    the element, and only the elements pass their selects, not whole arrays. Not done if a recurrence takes more cycles
    of ``timing`` by it (None: never done).

    In an interpreter (``switch (op) { case ADD: r[d] = r[s] + r[t]; break; case MUL: r[d] = r[s] * r[t]; ... }``) a
    late result is the last one that is selected, instead of passing the arrays of all cases that come after it.
    """

    timing: TimingModel | None = None

    name = "sink-inserts"
    requires = frozenset({Form.FLAT, Form.ARRAYS_LOWERED})

    def run(self, function: Function) -> Function:
        """A copy in which branches of loops share their inserts; an equal copy without ``timing``."""
        result = clone_function(function)
        if self.timing is None:
            return result
        timing = self.timing.unplanned(function)
        for number, loop in enumerate(innermost_first(result)):
            if not any(op.opcode == "insert" for op in loop.regions[0].ops):
                continue
            candidate = clone_function(result)
            changed = _Sinking(innermost_first(candidate)[number].regions[0], timing).run()
            before, after = (longest_recurrence(innermost_first(one)[number], timing) for one in (result, candidate))
            if changed and after <= before:
                result = candidate
        return result


@dataclass(frozen=True)
class _Inserted:
    """An array that is ``base`` with ``element`` at ``index`` where the condition ``on`` holds (None: everywhere), by
    so many ``inserts``."""

    base: Value
    index: Value
    element: Value
    on: Value | None
    inserts: int


class _Sinking:
    """Rebuilds one body."""

    def __init__(self, body: Region, timing: TimingModel) -> None:
        self.body = body
        self.arrivals, _ = carried_arrivals(body, timing)
        self.known: dict[Value, _Inserted] = {}

    def run(self) -> bool:
        """Whether anything has changed."""
        ops, used = list(self.body.ops), uses(self.body)
        self.body.ops = []
        for op in ops:
            if op.opcode == "insert":
                self.known[op.result] = _Inserted(op.operands[0], op.operands[1], op.operands[2], None, 1)
            elif op.opcode == "select" and isinstance(op.result.type, ArrayType):
                found = self._joined(op, Builder(self.body, op.span))
                if found is not None:
                    self.known[op.result] = found
            self.body.ops.append(op)
        roots = [
            op
            for op in self.body.ops
            if op.opcode == "select"
            and (found := self.known.get(op.result)) is not None
            and found.inserts > 1
            and any(user.opcode != "select" or user.result not in self.known for user, _ in used.get(op.result, ()))
        ]
        for op in roots:
            self._build(op, self.known[op.result])
        return bool(roots)

    def _joined(self, op: Op, b: Builder) -> _Inserted | None:
        """What a select between two arrays is; None if they are not inserts at one index into one array."""
        condition, *sides = op.operands
        yes, no = (self.known.get(side) for side in sides)
        if yes is None and no is None:
            return None
        if yes is None or no is None:
            one, other = (yes, sides[1]) if yes is not None else (no, sides[0])
            assert one is not None
            if one.base is not other:
                return None
            here = condition if yes is not None else _inverse(condition, b)
            return _Inserted(one.base, one.index, one.element, _both(here, one.on, b), one.inserts)
        if yes.base is not no.base or not _same(yes.index, no.index):
            return None
        element = yes.element if yes.element is no.element else b.value("select", condition, yes.element, no.element)
        on = None
        if yes.on is not None or no.on is not None:
            on = b.value("select", condition, *(one.on if one.on is not None else b.true() for one in (yes, no)))
        return _Inserted(yes.base, yes.index, element, on, yes.inserts + no.inserts)

    def _build(self, op: Op, found: _Inserted) -> None:
        """Let the select be the one insert, where its condition holds."""
        b = Builder(Region(), op.span)
        whole = b.value("insert", found.base, found.index, self._latest_last(found.element, b))
        place = self.body.ops.index(op)
        op.operands = [found.on if found.on is not None else b.true(), whole, found.base]
        self.body.ops[place:place] = b.region.ops

    def _latest_last(self, element: Value, b: Builder) -> Value:
        """The element with the leaf of its selects that arrives last selected last."""
        leaves = list(islice(leaves_of(element, set(self.body.ops)), _MOST_LEAVES + 1))
        if len(leaves) > _MOST_LEAVES:
            return element
        late = max(leaves, key=lambda leaf: self.arrivals.at(leaf.value))
        if len(late.conditions) < 2 or sum(leaf.value is late.value for leaf in leaves) > 1:
            return element
        return b.value("select", *choose_last(element.defining_op, late, b, _inverse))


def _both(one: Value, other: Value | None, b: Builder) -> Value:
    return one if other is None else b.value("and", one, other)


def _inverse(condition: Value, b: Builder) -> Value:
    return b.value("xor", condition, b.true())


def _same(one: Value, other: Value) -> bool:
    """Whether two indices are equal."""
    return one is other or constant(one) is not None and constant(one) == constant(other)
