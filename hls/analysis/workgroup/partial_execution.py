"""Partial evaluation of a work-group: all its work-items side by side, as far as ids and constants determine values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from ...ir import Attr, Function, IntType, Op, Region, Value, evaluate, has

__all__ = ["PartialExecution", "equal_in_groups", "local_ids", "needed_for", "places_in"]

#: most evaluations of an operation for one work-item, in total; beyond that values are unknown
MOST_STEPS = 200_000


def places_in(size: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The local ids of a group, x fastest."""
    return [place[::-1] for place in product(*(range(n) for n in reversed(size)))]


def needed_for(function: Function, wanted: set[Value]) -> set[Value]:
    """The values and everything they are computed from, except through memory."""
    ends = _LoopValues(function)
    found, work = set(), list(wanted)
    while work:
        value = work.pop()
        if value not in found:
            found.add(value)
            work += ends.of.get(value) or (value.op.operands if value.op is not None and has(value.op, "pure") else ())
    return found


def local_ids(size: tuple[int, ...]) -> dict[tuple[str, int], list[int]]:
    """The ids of the work-items of a group of the size, as far as they are the same in each group."""
    places = places_in(size)
    return {("local_id", d): [place[d] for place in places] for d in range(3)} | {
        ("local_size", d): [size[d]] * len(places) for d in range(3)
    }


def equal_in_groups(function: Function, needed: set[Value]) -> set[Value]:
    """Values that are provably equal for all work-items of every group."""
    size = function.attrs.get(Attr.WORK_GROUP_SIZE)
    return PartialExecution(function, local_ids(tuple(size)), needed).equal if size else set()


class _LoopValues:
    """The values from which carried values and results of loops are computed."""

    def __init__(self, function: Function) -> None:
        self.of: dict[Value, tuple[Value, ...]] = {}
        self._region(function.body)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if op.opcode == "loop":
                (body,) = op.regions
                again, *nexts = body.terminator.operands
                for arg, result, init, after in zip(body.args, op.results, op.operands[1:], nexts, strict=True):
                    self.of[arg] = (init, after)
                    self.of[result] = (init, after, again, op.operands[0])
            for inner in op.regions:
                self._region(inner)


@dataclass
class PartialExecution:
    """Runs a flat kernel for one group. ``ids`` maps queries (function, dimension) with known results to the result for
    each work-item; only the values ``needed`` are computed. Afterwards a value is in

    ``parted`` if work-items had different ones at the same time, in ``unknown`` if it could not be computed at least
    once, and in ``equal`` if it was always computed, and equal for all.
    """

    function: Function
    ids: Mapping[tuple[str, int], list[int]]
    needed: set[Value]
    parted: set[Value] = field(default_factory=set)
    unknown: set[Value] = field(default_factory=set)
    seen: set[Value] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._items = len(next(iter(self.ids.values()), [0]))
        self._steps = MOST_STEPS
        # one number if equal for all, a list with one for each, None if unknown
        self._now: dict[Value, int | list[int] | None] = {}
        self._region(self.function.body)

    @property
    def equal(self) -> set[Value]:
        """The computed values that were the same for all work-items each time."""
        return self.seen - self.parted - self.unknown

    def _set(self, value: Value, number) -> None:
        if isinstance(number, list) and all(n == number[0] for n in number):
            number = number[0]
        self._now[value] = number
        (self.unknown if number is None else self.parted if isinstance(number, list) else self.seen).add(value)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if op.opcode == "loop":
                self._loop(op)
            elif op.results and op.results[0] in self.needed:
                self._set(op.results[0], self._result(op))
                for value in op.results[1:]:
                    self._set(value, None)

    def _result(self, op: Op):
        if op.opcode == "const":
            return op.attrs[Attr.VALUE] if isinstance(op.result.type, IntType) else None
        if op.opcode == "work_item":
            answer = self.ids.get((op.attrs[Attr.FN], op.attrs.get(Attr.DIM, 0)))
            return None if answer is None else [n & (1 << op.result.type.bits) - 1 for n in answer]
        given = [self._now.get(v) for v in op.operands]
        if (
            not has(op, "pure")
            or None in given
            or not all(isinstance(v.type, IntType) for v in (*op.operands, op.result))
        ):
            return None
        return self._evaluated(op, given)

    def _evaluated(self, op: Op, given: list):
        count = self._items if any(isinstance(n, list) for n in given) else 1
        self._steps -= count
        if self._steps < 0:
            return None
        types = [v.type for v in op.operands]
        rows = zip(*(n if isinstance(n, list) else [n] * count for n in given))
        found = [evaluate(op.opcode, row, types, op.result.type, op.attrs) for row in rows]
        return found[0] if count == 1 else found

    def _loop(self, op: Op) -> None:
        (body,) = op.regions
        enable, *given = (self._now.get(v) for v in op.operands)
        again, *nexts = body.terminator.operands
        if enable == 0:
            self._leave(op, given)
            return
        going: object = enable if isinstance(enable, int) else None
        while going:
            for arg, number in zip(body.args, given, strict=True):
                self._carry(arg, number)
            self._region(body)
            going, *given = (self._now.get(v) for v in (again, *nexts))
            self._steps -= 1  # also if nothing is computed
            if self._steps < 0 or not isinstance(going, int):
                going = None
        if going is None:  # the remaining trip count and carried values are unknown
            for arg in body.args:
                self._carry(arg, None)
            self._region(body)
            given = [None] * len(given)
        self._leave(op, given)

    def _leave(self, op: Op, given: list) -> None:
        for result, number in zip(op.results, given, strict=True):
            self._carry(result, number)

    def _carry(self, value: Value, number) -> None:
        if value in self.needed:
            self._set(value, number)
