"""A conflict at the least distance found by trial, so that most queries need no solver.

Most pairs of accesses either conflict at the least distance for nearly any value of their unknowns, or never. For the
former, one point of the query's set proves the answer: the unknowns that are free get a number, those that are defined
by others (quotients, wrapped sums, periodic sequences) follow from it, and every constraint is evaluated. A condition
that does not hold is made true by a change of one free unknown in it; where only the addresses differ, one of the free
unknowns is changed so that they meet. This costs a tenth of a query to isl. A point that is not in the set proves
nothing. The numbers of the conflicts found last are tried before all others: of many conditional updates of one array,
most pairs conflict where a pair before did.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product

from ...ir import Op
from ...narrow import present
from ..affine.affine import Affine, Symbol
from ..affine.iteration_domain import Condition
from ..induction.periodic import PeriodicSequence
from ..loops.loop_tree import Loop
from .polyhedral import DistanceQuery, Lanes, size_of

__all__ = ["conflicts_at_once"]

#: numbers that are tried for the free unknowns: the second is more than most loops need as a bound to have iterations
TRIED = (0, 64)
#: free unknowns of a point that are changed, one at a time, to bring the accesses together
MOST_MOVED = 4
#: conditions of a point that are made true, one after the other, by a change of a free unknown in each
MOST_REPAIRED = 4


def conflicts_at_once(query: DistanceQuery) -> bool:
    """Whether the accesses are found to conflict in one iteration or, with a ``loop``, in two consecutive iterations of
    it: at the least distance that the query allows. False proves nothing."""
    facts = _Facts(query)
    last = _Point(facts, TRIED[0], query.tester.witness)
    for point in chain((last,), (point for free in TRIED for point in _points(facts, free))):
        if point.is_conflict():
            query.tester.witness.update(point.chosen)
            return True
    return False


class _Facts:
    """What all points of a query have in common: the conditions under which its accesses execute, by side, and what
    the number of an unknown is kept under. Unknowns are told apart as in the query's text: those that change in loops
    at the same iteration for both accesses have one number, others one for each side."""

    def __init__(self, query: DistanceQuery) -> None:
        self.query, self.tree = query, query.tester.tree
        self.conditions = {
            side: tuple(query.tester.domains.of(access)) for side, access in (("src", query.src), ("dst", query.dst))
        }
        self._keys: dict[tuple[Symbol | Loop, str], object] = {}

    def key(self, unknown: Symbol | Loop, side: str) -> object:
        """What the number of the unknown is kept under, equal for both sides if they share it."""
        asked = unknown, side
        if asked not in self._keys:
            home = unknown if isinstance(unknown, Loop) else self.tree.changing(unknown.value)
            self._keys[asked] = unknown if home is None or home in self.query.shared else asked
        return self._keys[asked]


def _points(facts: _Facts, free: int) -> Iterator["_Point"]:
    """The point at which the free unknowns have this number, but for those that a condition forbids it, and the points
    at which the accesses meet if their distance is linear in one of these."""
    start = _repaired(_Point(facts, free, {}))
    yield start
    distance = start.distance()
    for unknown, number in list(start.chosen.items())[:MOST_MOVED] if distance is not None else ():
        beside = _Point(facts, free, {**start.moved, unknown: number + 1}).distance()
        if beside is not None and beside != distance:
            steps, rest = divmod(-present(distance), beside - present(distance))
            if rest == 0:
                yield _Point(facts, free, {**start.moved, unknown: number + steps})


def _repaired(point: "_Point") -> "_Point":
    """The point with free unknowns changed so that further conditions hold, as far as such a change is found."""
    for _ in range(MOST_REPAIRED):
        moves = point.moves()
        if moves is None:
            break
        point = _Point(point.facts, point.free, {**point.moved, **moves})
    return point


class _Outside(Exception):
    """No value of an unknown satisfies its definition at this point."""


class _Point:
    """The numbers of all unknowns of a query, given that of the ``free`` ones; loops are in their first iteration,
    but for the later one that the query is about. Numbers, and which conditions hold, are computed once."""

    def __init__(self, facts: _Facts, free: int, moved: Mapping[object, int]) -> None:
        self.facts, self.query, self.tester = facts, facts.query, facts.query.tester
        self.free, self.moved = free, moved
        self.numbers: dict[object, int] = {}
        self.chosen: dict[object, int] = {}  #: numbers of those among them that were free
        self._known: dict[tuple[int, str], bool] = {}  #: whether conditions hold, by place among those of a side
        self._apart: int | None = None
        self._is_measured = False

    def distance(self) -> int | None:
        """By how many bytes the destination is behind the source; None if a constraint does not hold."""
        if not self._is_measured:
            self._apart, self._is_measured = self._distance(), True
        return self._apart

    def _distance(self) -> int | None:
        query = self.query
        accesses = (("dst", query.dst), ("src", query.src))
        try:
            if query.rows:
                places = {"src": query.rows[0], "dst": query.rows[1]}
                columns = [self._sum(places[side].column, side) for side, _ in accesses]
                rows = [self._sum(places[side].row, side) for side, _ in accesses]
                if rows[0] != rows[1]:
                    return None
            else:
                columns = [self._sum(self.tester.forms.offset(access), side) for side, access in accesses]
            both = all(self._executes(side) for side in ("src", "dst"))
            return columns[0] - columns[1] if both else None
        except _Outside:
            return None

    def _sum(self, form: Affine, side: str) -> int:
        return form.const + sum(factor * self._number(unknown, side) for unknown, factor in form.terms.items())

    def _number(self, unknown: Symbol | Loop, side: str) -> int:
        key = self.facts.key(unknown, side)
        if key not in self.numbers:
            later = unknown is self.query.loop and side == "dst"
            self.numbers[key] = self._symbol(unknown, side, key) if isinstance(unknown, Symbol) else int(later)
        return self.numbers[key]

    def _symbol(self, symbol: Symbol, side: str, key: object) -> int:
        """A number that satisfies the definition of the symbol. Raises _Outside if there is none."""
        if symbol.course is not None:
            return _at(symbol.course, self._number(symbol.course.loop, side))
        if symbol.wraps is not None:
            size, total = 1 << symbol.value.type.bits, self._sum(symbol.wraps, side)
            number = -((total - symbol.low) // size)
            value = number * size + total
        elif symbol.quotient is not None:
            found, dividend = symbol.quotient
            total = self._sum(dividend, side)
            is_up = found.to_zero and total < 0
            number = value = -(-total // found.divisor) if is_up else total // found.divisor
        elif symbol.pace is not None:
            first, loop, least, _ = symbol.pace
            number = value = self._sum(first, side) + least * self._number(loop, side)
        else:
            number = value = self.moved.get(key, min(max(self.free, symbol.low), symbol.high))
            self.chosen[key] = number
        if not symbol.low <= value <= symbol.high or (symbol.wraps is not None and (symbol.quotient or symbol.pace)):
            raise _Outside
        return number

    def _executes(self, side: str) -> bool:
        return all(self._holds(place, side) for place in range(len(self.facts.conditions[side])))

    def _holds(self, place: int, side: str) -> bool:
        """Whether the condition at this place among those of the side holds."""
        key = place, side
        if key not in self._known:
            self._known[key] = self._is_true(self.facts.conditions[side][place], side)
        return self._known[key]

    def _is_true(self, condition: Condition, side: str) -> bool:
        first = condition.unless_first
        if first is not None and self._number(first, side) == 0:
            return True
        return all(self._sum(form, side) >= 0 for form in condition.forms)

    def moves(self) -> dict[object, int] | None:
        """The number of a free unknown with which the first condition holds that does not; None if all hold, or no
        unknown of it has such a number."""
        for side, conditions in self.facts.conditions.items():
            for place, condition in enumerate(conditions):
                try:
                    broken = None if self._holds(place, side) else self._broken(condition, side)
                except _Outside:
                    return None
                if broken is not None:
                    return self._moves(broken, side)
        return None

    def _broken(self, condition: Condition, side: str) -> Affine:
        return next(form for form in condition.forms if self._sum(form, side) < 0)

    def _moves(self, form: Affine, side: str) -> dict[object, int] | None:
        missing = -self._sum(form, side)
        for unknown, factor in form.terms.items():
            key = self.facts.key(unknown, side)
            if isinstance(unknown, Symbol) and key in self.chosen:
                steps = -(-missing // abs(factor))
                number = self.chosen[key] + (steps if factor > 0 else -steps)
                if unknown.low <= number <= unknown.high:
                    return {key: number}
        return None

    def is_conflict(self) -> bool:
        """Whether every constraint of the query holds, and the accesses have a byte in common."""
        distance = self.distance()
        try:
            return distance is not None and self._share_a_byte(distance)
        except _Outside:
            return False

    def _share_a_byte(self, distance: int) -> bool:
        """Whether the accesses have a byte in common, with the destination so many bytes behind the source."""
        return any(
            max(dst.low + distance, src.low) < min(dst.high + distance, src.high)
            for dst, src in product(self._lanes(self.query.dst, "dst"), self._lanes(self.query.src, "src"))
        )

    def _lanes(self, access: Op, side: str) -> Sequence[Lanes]:
        lanes = self.tester.lanes_of(access) or (Lanes(0, size_of(access), ()),)
        return [one for one in lanes if all(self._sum(form, side) >= 0 for form in one.forms)]


def _at(course: PeriodicSequence, count: int) -> int:
    """The value of a periodic sequence in an iteration."""
    return course.const + sum(digit.factor * (count // digit.divide % digit.modulus) for digit in course.digits)
