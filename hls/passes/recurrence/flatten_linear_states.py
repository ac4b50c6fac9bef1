"""GF(2)-linear recurrences (LFSRs, CRCs): each bit of the next state is one XOR tree."""

import math
from collections.abc import Container
from dataclasses import dataclass

from ...analysis.bits.gf2_forms import LinearForms
from ...analysis.loops.sccs import components
from ...analysis.timing import Arrival, Arrivals, TimingModel
from ...ir import BOOL, ArrayType, Builder, Function, IntType, Op, Region, Value, has, loops_inside_out
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["FlattenLinearStates"]

#: most leaves of all trees of a state
MOST_TERMS = 4096


@dataclass(frozen=True)
class FlattenLinearStates(FunctionPass):
    """Flattening of GF(2)-linear recurrences (LFSR and CRC in matrix form). Before: flat and narrow. After: a carried
    integer whose next value has bits that are XORs of bits of carried and other values is computed bit by bit, by one
    XOR tree for each, if the program's path misses a cycle of ``timing`` (None: nothing is done) and the trees are
    faster.

    The program's computation stays for its other users.
    """

    timing: TimingModel | None = None

    name = "flatten-linear-states"
    requires = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy with an XOR tree for each bit of linear states; an equal copy without ``timing``."""
        result = clone_function(function)
        if self.timing is not None:
            for _, loop in loops_inside_out(result.body):
                _Loop(loop.regions[0], self.timing).run()
        return result


class _Loop:
    def __init__(self, body: Region, timing: TimingModel) -> None:
        self.body, self.timing = body, timing

    def run(self) -> None:
        args = [k for k, arg in enumerate(self.body.args) if isinstance(arg.type, IntType) and arg.type.bits > 1]
        together = components(self.body) if args else {}
        for part in dict.fromkeys(together[self.body.args[k]] for k in args if self.body.args[k] in together):
            way = [op for op in self.body.ops if any(together.get(v) == part for v in op.results)]
            if all(has(op, "pure") and not op.regions for op in way):
                self._part([k for k in args if together.get(self.body.args[k]) == part], way)

    def _part(self, indices: list[int], way: list[Op]) -> None:
        """Treat the carried values of these indices, which depend on each other through the operations of ``way``."""
        carried = {self.body.args[k] for k in indices}
        parities = LinearForms(way)
        arrivals = Arrivals(self.timing, dict.fromkeys(carried, self.timing.register())).follow(way)
        computed = {result for op in way for result in op.results}
        for k in indices:
            following = self.body.terminator.operands[1 + k]
            if not arrivals.misses(following):
                continue
            forms = parities.of(following)
            if sum((form >> 1).bit_count() for form in forms) > MOST_TERMS:
                continue
            trees = _Trees(parities, forms, carried, computed)
            if trees.linear and self._ready(trees) < arrivals.at(following):
                end = self.body.ops.pop()
                b = Builder(self.body, following.defining_op.span)
                end.operands[1 + k] = trees.build(b, following)
                self.body.ops.append(end)

    def _ready(self, trees: "_Trees") -> Arrival:
        """The arrival of the last tree."""
        arrival = self.timing.register()
        for _ in range(trees.levels):
            arrival = self.timing.joined("xor", BOOL, arrival)
        return arrival


def _members(form: int) -> list[int]:
    """The atoms of a form without the constant, in ascending order."""
    digits = bin(form)[:1:-1]  # one step for each member: shifts of a form with many atoms are long
    places, at = [], digits.find("1", 1)
    while at > 0:
        places.append(at)
        at = digits.find("1", at + 1)
    return places


class _Trees:
    """A tree for each bit of a value: its leaves are bits of ``carried`` values, and one more leaf for the XOR of all
    bits off the recurrence. Not linear if a leaf is ``computed`` from carried values in another way."""

    def __init__(
        self, parities: LinearForms, forms: list[int], carried: Container[Value], computed: Container[Value]
    ) -> None:
        self.parities = parities
        self.made: dict[int | tuple[Value, Value], Value] = {}  # by atom, and by the operands of a sum
        members = [_members(form) for form in forms]
        self.linear = not any(parities.bit(n)[0] in computed for row in members for n in row)
        self.ones = [form & 1 for form in forms]
        self.carried = [[n for n in row if parities.bit(n)[0] in carried] for row in members]
        self.others = [[n for n in row if parities.bit(n)[0] not in carried] for row in members]

    @property
    def levels(self) -> int:
        """The levels of the tree with the most leaves."""
        return max(
            math.ceil(math.log2(max(1, len(carried) + bool(others))))
            for carried, others in zip(self.carried, self.others)
        )

    def build(self, b: Builder, like: Value) -> Value:
        bits = []
        for carried, others, one in zip(self.carried, self.others, self.ones):
            leaves = [self._bit(b, n) for n in carried]
            leaves += [self._tree(b, [self._bit(b, n) for n in others])] if others else []
            bit = self._tree(b, leaves) if leaves else b.const(0, BOOL)
            bits.append(b.value("xor", bit, b.true()) if one else bit)
        return b.value(
            "bitcast", b.value("array", *bits, result=ArrayType(BOOL, len(bits))), result=like.type, name=like.name
        )

    def _bit(self, b: Builder, number: int) -> Value:
        if number not in self.made:
            value, place = self.parities.bit(number)
            moved = b.value("lshr", value, b.const(place, value.type)) if place else value
            self.made[number] = moved if value.type == BOOL else b.value("trunc", moved, result=BOOL)
        return self.made[number]

    def _tree(self, b: Builder, leaves: list[Value]) -> Value:
        """Joins neighbours first, so that trees can share subtrees."""
        while len(leaves) > 1:
            pairs = [self._joined(b, *leaves[k : k + 2]) for k in range(0, len(leaves) - 1, 2)]
            leaves = pairs + leaves[len(pairs) * 2 :]
        return leaves[0]

    def _joined(self, b: Builder, x: Value, y: Value) -> Value:
        if (x, y) not in self.made:
            self.made[x, y] = b.value("xor", x, y)
        return self.made[x, y]
