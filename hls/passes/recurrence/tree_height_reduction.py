"""Chains of integer operations that may be regrouped become trees: what is there first meets first."""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from ...analysis.loops.sccs import components
from ...analysis.timing import Arrival, Arrivals, TimingModel
from ...ir import Builder, Function, Op, Region, Value, has, loops_inside_out, regions, uses
from ...ir.associative import AssociativePair, emit, pair_of, rewrite_as
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["TreeHeightReduction"]


@dataclass(frozen=True)
class TreeHeightReduction(FunctionPass):
    """Before: flat. After: a tree of sums, products, logic, least or greatest whose inner results nobody else looks at,
    over at least ``least`` values, takes them in the order in which they are there, so that its result is there as soon
    as can be.

    What a loop carries meets the others last, as :class:`RecurrenceHeightReduction` leaves it: it stays beside the tree
    of those that do not depend on it. ``timing`` says when operands are there (None: nothing is done). The number of
    operations stays the same. Trees that cannot become shorter stay as they are, and so do places in memory, in which
    others look for what is the same.
    """

    timing: TimingModel | None = None
    least: int = 4

    name = "tree-height-reduction"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        if self.timing is None:
            return function
        result = clone_function(function)
        used = uses(result.body)
        bodies = {loop.regions[0] for _, loop in loops_inside_out(result.body)}
        for region in list(regions(result.body)):
            begun = dict.fromkeys(region.args, self.timing.register())
            recurrence = components(region) if region in bodies else {}
            _Region(region, used, self.least, Arrivals(self.timing, begun), recurrence).run()
        return result


@dataclass
class _Region:
    region: Region
    used: dict[Value, list[tuple[Op, int]]]
    least: int
    arrivals: Arrivals
    recurrence: dict[Value, int]  #: which values depend on themselves in an iteration before, together with which
    pairs: dict[Op, AssociativePair] = field(init=False)

    def __post_init__(self):
        self.pairs = {op: pair for op in self.region.ops if (pair := pair_of(op)) is not None}

    def run(self):
        inner = {
            op
            for op, pair in self.pairs.items()
            if (user := self._only_pair(op)) is not None
            and self.pairs[user].kind == pair.kind
            and not self._meets_carried(user)
        }
        before, self.region.ops = self.region.ops, []
        dead: set[Op] = set()
        for op in before:
            if op in self.pairs and op not in inner:
                dead |= self._root(op, inner)
            self.region.ops.append(op)
            self._note(op)
        self.region.ops = [op for op in self.region.ops if op not in dead]

    def _only_pair(self, op: Op) -> Op | None:
        """The one pair that uses the result of an operation; None where it has other users. The comparison of a least
        value is a part of its pair."""
        users = {user for user, _ in self.used.get(op.result, [])}
        for compare in [user for user in users if has(user, "compare")]:
            choices = {user for user, _ in self.used.get(compare.result, [])}
            if len(choices) != 1 or not choices <= users:
                return None
            users.remove(compare)
        (user, *others) = users or {None}
        return user if not others and user in self.pairs else None

    def _meets_carried(self, op: Op) -> bool:
        """Whether one operand belongs to the recurrence of the operation, and the other is there before."""
        mine, pair = self.recurrence.get(op.result), self.pairs[op]
        return mine is not None and (self.recurrence.get(pair.left) == mine) != (
            self.recurrence.get(pair.right) == mine
        )

    def _leaves(self, op: Op, inner: set[Op]) -> Iterator[Value]:
        for value in (self.pairs[op].left, self.pairs[op].right):
            if value.op in inner:
                yield from self._leaves(value.op, inner)
            else:
                yield value

    def _inside(self, op: Op, inner: set[Op]) -> Iterator[Op]:
        for value in (self.pairs[op].left, self.pairs[op].right):
            if value.op in inner:
                yield value.op
                yield from self._inside(value.op, inner)

    def _compares(self, op: Op) -> list[Op]:
        """The comparison of a least or greatest value, if it is for nothing else."""
        if op.opcode != "select" or any(user is not op for user, _ in self.used[op.operands[0]]):
            return []
        return [op.operands[0].op]

    def _root(self, op: Op, inner: set[Op]) -> set[Op]:
        """Rebuild a tree if that makes it shorter; returns the operations that are no longer needed."""
        leaves, kind = list(self._leaves(op, inner)), self.pairs[op].kind
        if len(leaves) < self.least or all(has(user, "pointer") for user, _ in self.used.get(op.result, [])):
            return set()
        join = partial(self.arrivals.timing.joined, kind, op.result.type)
        heap = [(self.arrivals.at(leaf), k, leaf) for k, leaf in enumerate(leaves)]
        heapq.heapify(heap)
        if _ready(heap, join) >= self.arrivals.after(op):
            return set()
        gone = set(self._inside(op, inner))
        gone |= {compare for each in (op, *gone) for compare in self._compares(each)}
        b = Builder(self.region, op.span)
        while len(heap) > 2:
            first, second = heapq.heappop(heap), heapq.heappop(heap)
            joined = emit(kind, first[2], second[2], b)
            heapq.heappush(heap, (join(max(first[0], second[0])), len(leaves) + len(heap), joined))
        rewrite_as(op, kind, heapq.heappop(heap)[2], heapq.heappop(heap)[2], b)
        return gone

    def _note(self, op: Op):
        """Remember what the operation is now, and when its results are there."""
        pair = pair_of(op)
        if pair is not None:
            self.pairs[op] = pair
        self.arrivals.note(op)


def _ready(heap: list, join: Callable[[Arrival], Arrival]) -> Arrival:
    """When a tree over these is there at the soonest."""
    times = [time for time, *_ in heap]
    heapq.heapify(times)
    while len(times) > 1:
        first, second = heapq.heappop(times), heapq.heappop(times)
        heapq.heappush(times, join(max(first, second)))
    return times[0]
