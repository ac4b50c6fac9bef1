"""How many operations unrolling makes that constant folding does not remove."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...ir import Attr, Function, Op, Region, Value, has, memory_name, walk
from .unroll_policy import WIRES
from .unroll_trips import trips_to_unroll

__all__ = ["UnrolledSize", "all_operations"]


def all_operations(region: Region, all_inside: bool = False) -> int:
    """The number of operations of a region after its marked loops (``all_inside``: all of its loops) are unrolled, as
    far as their trip counts are known, before any of them is folded."""
    return sum(
        1 + _copies(op, all_inside) * sum(all_operations(inner, all_inside) for inner in op.regions)
        for op in region.ops
    )


def _copies(op: Op, all_inside: bool = False) -> int:
    """How often the regions of an operation stand there after loops are unrolled."""
    wish = op.attrs.get(Attr.UNROLL, 0) if op.opcode == "loop" else 1
    wish = wish or -all_inside
    known = trips_to_unroll(op) if wish == -1 else None
    return known.count if known else max(1, wish)


@dataclass
class UnrolledSize:
    """The size of parts of a kernel once all marked loops in it are unrolled, without what has constant operands in
    each copy: subscripts and conditions computed from counters.

    Binding-time analysis (Jones, Gomard and Sestoft 1993): an operation without effects is static if its operands are.
    A value that an entirely unrolled loop carries is static if it begins so and each iteration leaves it so: the
    greatest solution, found by assuming it of all and taking back what does not hold. Nor do accesses to a
    static element of a private array count, as elements become values, and conversions, which are wires.
    """

    function: Function
    static: set[Value] = field(default_factory=set)

    @classmethod
    def of(cls, function: Function) -> "UnrolledSize":
        """The sizes inside a kernel."""
        found = cls(function)
        found._visit(function.body)
        return found

    def present(self, region: Region) -> int:
        """Operations of a region as it stands that are not folded."""
        return sum(self._is_left(op) + sum(self.present(inner) for inner in op.regions) for op in region.ops)

    def remaining(self, region: Region) -> int:
        """As :meth:`present`, with the marked loops inside unrolled."""
        return sum(self._is_left(op) + _copies(op) * sum(map(self.remaining, op.regions)) for op in region.ops)

    def _is_left(self, op: Op) -> bool:
        if op.opcode in ("load", "store") and op.operands[0] in self.static:
            return self.function.memories[memory_name(op)].space != "private"
        return op.opcode not in WIRES and not (op.results and self.static.issuperset(op.results))

    def _visit(self, region: Region) -> None:
        for op in region.ops:
            if op.opcode == "loop":
                self._enter(op)
            else:
                for inner in op.regions:
                    self._visit(inner)
                if self._is_static(op):
                    self.static.update(op.results)

    def _enter(self, loop: Op) -> None:
        wish = loop.attrs.get(Attr.UNROLL, 0)
        trips = trips_to_unroll(loop) if wish not in (0, 1) else None
        if trips is None or 0 < wish < trips.count:
            self._visit(loop.regions[0])
            return
        self._unrolled(loop)
        if trips.exact:
            self.static.update(_left_static(loop, self.static, loop.results))

    def _unrolled(self, loop: Op) -> None:
        """The values inside a loop that is unrolled entirely."""
        (body,) = loop.regions
        held = {arg for arg, init in zip(body.args, loop.operands[1:], strict=True) if init in self.static}
        while True:
            self.static |= held
            self._visit(body)
            left = held.intersection(_left_static(loop, self.static, body.args))
            if left == held:
                return
            held = left
            self.static.difference_update(body.args, *(_defined(op) for op in walk(body)))

    def _is_static(self, op: Op) -> bool:
        if op.opcode == "if":
            chosen = [value for region in op.regions for value in region.terminator.operands]
            return bool(op.regions) and self.static.issuperset([*op.operands, *chosen])
        return has(op, "pure") and not op.regions and self.static.issuperset(op.operands)


def _left_static(loop: Op, static: set[Value], values: Iterable[Value]) -> list[Value]:
    """Of ``values``, one for each value that the loop carries, those that an iteration leaves static."""
    nexts = loop.regions[0].terminator.operands[1:]
    return [value for value, following in zip(values, nexts, strict=True) if following in static]


def _defined(op: Op) -> list[Value]:
    return [*op.results, *(arg for region in op.regions for arg in region.args)]
