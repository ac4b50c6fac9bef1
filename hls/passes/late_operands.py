"""Where values of a loop depend on each other over several iterations, a sum takes what is there early first, and what comes last at its end."""

import heapq
import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from ..analysis.recurrences import components
from ..analysis.wires import is_wires
from ..ir import Builder, Function, IntType, Op, Region, Value, has, loops_inside_out, uses
from ..ir.clone import clone_function
from ..target.delay import DelayModel
from .associative import emit, pair_of, rewrite_as
from .lookahead import CONTROL, logic_delay

__all__ = ["LateOperands"]

#: trees are taken apart into at most so many values
MOST_LEAVES = 16
#: recurrences of more operations times carried values, or of more cycles, are left alone
MOST_WORK, MOST_CYCLES = 20_000, 40
#: carried values that are tried as the first to be there
MOST_FIRST = 4
#: cycles that an operation which is neither logic nor a product is taken to need
_SLOW = 6
_NEVER = -math.inf
_EPSILON_NS = 1e-6


@dataclass(frozen=True)
class LateOperands:
    """Before: flat, the recurrence of each value short. After: in a recurrence of several values, sums and differences (also products, logic, least and
    greatest of integers) take what they add in the order in which it is there, if iterations can start in fewer cycles of ``model``
    (None: nothing is done) for it.

    What was computed some iterations ago is there so many intervals earlier, and what is not part of the recurrence long before: where ``h`` is
    ``e`` of three iterations ago, ``h + f(e) + x`` becomes ``(x + h) + f(e)``. An inner result that is also wanted elsewhere is computed once more
    for that.
    """

    model: DelayModel | None = None

    name = "late-operands"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        for _, loop in loops_inside_out(result.body) if self.model is not None else ():
            body = loop.regions[0]
            together = components(body) if len(body.args) > 1 else {}
            for part in dict.fromkeys(together[arg] for arg in body.args if arg in together):
                _shorten(body, {value for value, number in together.items() if number == part}, self.model)
        return result


def _shorten(body: Region, mine: set[Value], model: DelayModel):
    """Rebuild the trees of one recurrence where that gains a cycle."""
    way = [op for op in body.ops if not mine.isdisjoint(op.results)]
    carried = [k for k, arg in enumerate(body.args) if arg in mine]
    if len(carried) * len(way) > MOST_WORK or any(op.regions for op in way):
        return
    trees = _trees(body, way, mine)
    if not trees:
        return
    cycle = _Cycle(body, way, carried, model)
    if cycle.times(MOST_CYCLES, {}) is None:
        return
    now = cycle.least(MOST_CYCLES, {})
    if now > 1 and cycle.times(now - 1, trees) is not None:
        _rebuild(body, cycle.shapes(trees, cycle.times(cycle.least(now - 1, trees), trees)))


# What stands under one operation is a leaf, (value, whether it is subtracted), or two of them with their kind.


@dataclass(frozen=True, eq=False)
class _Leaf:
    value: Value
    minus: bool = False


@dataclass(frozen=True, eq=False)
class _Node:
    kind: str
    left: "_Leaf | _Node"
    right: "_Leaf | _Node"

    @property
    def minus(self) -> bool:
        """Of a sum: whether this is what is to be subtracted, as both of its parts are."""
        return self.left.minus and self.right.minus


@dataclass(frozen=True)
class _Tree:
    kind: str
    leaves: list[_Leaf]


def _trees(body: Region, way: list[Op], mine: set[Value]) -> dict[Op, _Tree]:
    """The trees of at least three values whose results are wanted for something else than more of the same."""
    kinds = {op: kind for op in way if (kind := _kind(op)) is not None}
    used, found = uses(body), {}
    for op, kind in kinds.items():
        if any(kinds.get(user) != kind for user, _ in used.get(op.result, ())) and not all(has(user, "pointer") for user, _ in used[op.result]):
            leaves = list(_leaves(op, kind, kinds, False))
            if 3 <= len(leaves) <= MOST_LEAVES:
                found[op] = _Tree(kind, leaves)
    return found


def _kind(op: Op) -> str | None:
    if op.opcode == "sub" and isinstance(op.result.type, IntType):
        return "add"
    pair = pair_of(op)
    return pair.kind if pair is not None else None


def _operands(op: Op) -> tuple[Value, Value]:
    if op.opcode == "sub":
        return op.operands[0], op.operands[1]
    pair = pair_of(op)
    return pair.left, pair.right


def _leaves(op: Op, kind: str, kinds: Mapping[Op, str], minus: bool, room: int = MOST_LEAVES) -> list[_Leaf]:
    """What an operation takes, those of the same kind in the recurrence taken apart; more than ``room`` where it would be too much."""
    found: list[_Leaf] = []
    for k, value in enumerate(_operands(op)):
        negative = minus ^ (k == 1 and op.opcode == "sub")
        inner = value.op is not None and kinds.get(value.op) == kind
        found += _leaves(value.op, kind, kinds, negative, room - len(found)) if inner and len(found) < room else [_Leaf(value, negative)]
    return found


class _Cycle:
    """When the values of a recurrence are there, in ns, if iterations start at a given interval.

    A carried value is there when the iteration before has computed it, less the interval. Beginning with one of them at time 0, the others
    follow as longest paths; where that one itself would come later than it was taken to be, the interval is too short for one
    of the cycles through it.
    """

    def __init__(self, body: Region, way: list[Op], carried: list[int], model: DelayModel):
        self.model, self.way = model, way
        self.carried = {body.args[k]: body.terminator.operands[1 + k] for k in carried}
        self.delays = {op: self._delay(op) for op in way}

    def least(self, works: int, trees: Mapping[Op, _Tree]) -> int:
        """The least interval that works, in clock cycles, where ``works`` is one."""
        return 1 + bisect_left(range(1, works), True, key=lambda cycles: self.times(cycles, trees) is not None)

    def times(self, cycles: int, trees: Mapping[Op, _Tree]) -> dict[Value, float] | None:
        """When the values are there with an interval of so many clock cycles, where ``trees`` take what is there first first, and all others are
        as they are. None: it does not work."""
        room = cycles * (self.model.period_ns - self.model.overhead_ns) - self.model.delay("select", 1)
        for first in [arg for arg, after in self.carried.items() if after not in self.carried][:MOST_FIRST]:
            start = dict.fromkeys(self.carried, _NEVER) | {first: 0.0}
            for _ in range(4 * len(start)):
                times = self._iteration(start, trees)
                after = {arg: times[value] - room for arg, value in self.carried.items()}
                settled = all(after[arg] <= time + _EPSILON_NS for arg, time in start.items())
                if settled or after[first] > _EPSILON_NS:
                    break
                start = {arg: max(time, after[arg]) for arg, time in start.items()}
            if settled:
                return times
        return None

    def shapes(self, trees: Mapping[Op, _Tree], times: Mapping[Value, float]) -> dict[Op, _Node]:
        """Of the trees those that are ready sooner than they are now if what is there first meets first."""
        found = {op: self._soonest(tree, times) for op, tree in trees.items()}
        return {op: node for op, node in found.items() if self._at(node, times) < self._now(op, times) - _EPSILON_NS}

    def _iteration(self, start: Mapping[Value, float], trees: Mapping[Op, _Tree]) -> dict[Value, float]:
        times = dict(start)
        for op in self.way:
            soonest = self._at(self._soonest(trees[op], times), times) if op in trees else math.inf
            times.update(dict.fromkeys(op.results, min(soonest, self._now(op, times))))
        return times

    def _now(self, op: Op, times: Mapping[Value, float]) -> float:
        return max((times.get(v, _NEVER) for v in op.operands), default=_NEVER) + self.delays[op]

    def _at(self, node: _Leaf | _Node, times: Mapping[Value, float]) -> float:
        if isinstance(node, _Leaf):
            return times.get(node.value, _NEVER)
        return max(self._at(node.left, times), self._at(node.right, times)) + self._step(node.kind, _type(node))

    def _soonest(self, tree: _Tree, times: Mapping[Value, float]) -> _Node:
        """What is there first meets first."""
        heap = [(times.get(leaf.value, _NEVER), k, leaf) for k, leaf in enumerate(tree.leaves)]
        heapq.heapify(heap)
        step = self._step(tree.kind, tree.leaves[0].value.type)
        while len(heap) > 1:
            (_, place, first), (time, _, second) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (time + step, place, _Node(tree.kind, first, second)))
        return heap[0][2]

    def _step(self, kind: str, type: IntType) -> float:
        if kind == "mul":
            return self._product(type.bits)
        if kind.endswith(("min", "max")):
            return self.model.delay(f"{kind[0]}lt", type.bits) + self.model.delay("select", type.bits)
        return self.model.delay(kind, type.bits)

    def _product(self, bits: int) -> float:
        return self.model.multiplier(bits).latency * self.model.period_ns

    def _delay(self, op: Op) -> float:
        if is_wires(op) or op.opcode in ("bitcast", "array"):
            return 0.0
        if op.opcode == "mul":
            return self._product(op.result.type.bits)
        integers = all(isinstance(v.type, IntType) for v in (*op.operands, *op.results))
        return logic_delay(op, self.model) if op.opcode in CONTROL and integers else _SLOW * self.model.period_ns


def _type(node: _Leaf | _Node) -> IntType:
    while isinstance(node, _Node):
        node = node.left
    return node.value.type


def _rebuild(body: Region, shapes: Mapping[Op, _Node]):
    """Make the roots what the shapes say; what nobody wants any more stays for others to remove."""
    before, body.ops = body.ops, []
    for op in before:
        if op in shapes:
            node, b = shapes[op], Builder(body, op.span)
            kind, (left, right) = _pairing(node)
            left, right = _built(left, b), _built(right, b)
            if kind == "sub":
                op.attrs = {name: value for name, value in op.attrs.items() if name == "label"}
                op.opcode, op.operands = kind, [left, right]
            else:
                rewrite_as(op, kind, left, right, b)
        body.ops.append(op)


def _pairing(node: _Node) -> tuple[str, tuple]:
    """The operation of a node, and its parts in order. Of a difference the part that is subtracted comes second."""
    if node.left.minus == node.right.minus:
        return node.kind, (node.left, node.right)
    return "sub", (node.right, node.left) if node.left.minus else (node.left, node.right)


def _built(node: _Leaf | _Node, b: Builder) -> Value:
    if isinstance(node, _Leaf):
        return node.value
    kind, (left, right) = _pairing(node)
    return emit(kind, _built(left, b), _built(right, b), b)
