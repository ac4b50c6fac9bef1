"""Reorders operations of regions while operations and order constraints are added."""

from collections.abc import Iterable, Iterator

from . import Function, Op, Region, regions, walk

__all__ = ["Reordering", "inside"]


class Reordering:
    """Collects new operations and new order constraints; :meth:`settle` then sorts every region accordingly.

    Operations are only moved if necessary.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.before_: dict[Op, list[Op]] = {}
        self.after_: dict[Op, list[Op]] = {}
        self.extra: dict[Op, set[Op]] = {}  # operations that an operation must come after, beyond its operands
        self.homes = {op: region for region in regions(function.body) for op in region.ops}
        #: by region: operations whose operands are to be read, again for those that got more
        self._unread: dict[Region, dict[Op, None]] = {}
        for op, region in self.homes.items():
            self._unread.setdefault(region, {})[op] = None
        self._by_data, self._by_order = _Closure(), _Closure()

    def before(self, region: Region, op: Op, new: Op) -> Op:
        """Put ``new`` before ``op`` of the region."""
        self.before_.setdefault(op, []).append(new)
        return self._enter(region, new)

    def after(self, region: Region, op: Op, new: Op) -> Op:
        """Put ``new`` after ``op`` of the region, after what was put there earlier."""
        self.after_.setdefault(op, []).append(new)
        return self._enter(region, new)

    def _enter(self, region: Region, new: Op) -> Op:
        self.homes[new] = region
        self._unread.setdefault(region, {})[new] = None
        return new

    def takes_more(self, op: Op, around: Iterable[Op]) -> None:
        """Record that an operation got further operands; ``around`` are the operations that contain it."""
        for each in (op, *around):
            self._unread.setdefault(self.homes[each], {})[each] = None

    def follow(self, region: Region, first: Op, second: Op) -> None:
        """Constrain ``second`` to stay after ``first``."""
        self.extra.setdefault(second, set()).add(first)
        self._by_order.add(first, second)

    def may_follow(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` can be put after ``first`` (no dependence or constraint puts it before)."""
        return not self.leads(region, second, first)

    def leads(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` is ``first``, or a dependence or constraint puts it behind that."""
        return self._reaches(region, first, second, by_order=True)

    def answers_to(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` already depends on a result of ``first``."""
        return second is not first and self._reaches(region, first, second, by_order=False)

    def _reaches(self, region: Region, source: Op, target: Op, by_order: bool) -> bool:
        """Whether ``target`` is ``source`` or comes after it, by data dependences or, with ``by_order``, also by order
        constraints."""
        for op in self._unread.pop(region, ()):
            for need in self._needs(region, op):
                self._by_data.add(need, op)
                self._by_order.add(need, op)
        return (self._by_order if by_order else self._by_data).leads(source, target)

    def _needs(self, region: Region, op: Op) -> list[Op]:
        """Operations of the region whose results ``op``, or an operation inside it, uses; tokens of stores and loops
        are results that were added to them."""
        found = dict.fromkeys(v.op for inner in inside(op) for v in inner.operands)
        return [d for d in found if d is not None and d is not op and self.homes.get(d) is region]

    def settle(self) -> None:
        """Rebuild all regions."""
        for region in list(regions(self.function.body)):
            wanted = []
            for op in region.ops:
                wanted += [*self.before_.get(op, ()), op, *self.after_.get(op, ())]
            region.ops = self._sorted(region, wanted)

    def _sorted(self, region: Region, wanted: list[Op]) -> list[Op]:
        """As close to the wanted order as dependences and constraints allow. AssertionError if they form a cycle."""
        placed: dict[Op, None] = {}
        rank = {op: k for k, op in enumerate(wanted)}
        needs = {op: [*self._needs(region, op), *self.extra.get(op, ())] for op in wanted}
        for first in wanted:
            work, waiting = [first], set()
            while work:
                op = work[-1]
                missing = [d for d in needs[op] if d not in placed]
                if missing:
                    if op in waiting:
                        raise AssertionError(f"{op} has to come before itself")
                    waiting.add(op)
                    work += sorted(missing, key=rank.__getitem__, reverse=True)
                else:
                    placed.setdefault(work.pop())
        return list(placed)


class _Closure:
    """What comes before each operation, kept up to date while edges are added (Italiano's algorithm): an edge only
    visits operations that something new comes before. All edges together take no more steps than there are pairs of an
    operation and an edge, each a union of sets of bits."""

    def __init__(self) -> None:
        self._numbers: dict[Op, int] = {}
        self._before: dict[Op, int] = {}  #: a bit for the operation itself, and for each that comes before it
        self._after: dict[Op, list[Op]] = {}  #: edges, without those that follow from others

    def leads(self, source: Op, target: Op) -> bool:
        """Whether ``target`` is ``source`` or comes after it."""
        return bool(self._of(target) >> self._numbers[source] & 1) if source in self._numbers else source is target

    def add(self, first: Op, second: Op) -> None:
        """Add an edge. It may be known already, and may close a cycle."""
        new = self._of(first)
        if self._of(second) | new == self._of(second):
            return  # also what later comes before ``first`` reaches ``second``, through the edges in between
        self._after.setdefault(first, []).append(second)
        work = [(second, new)]
        while work:
            op, more = work.pop()
            known = self._before[op]
            if known | more != known:
                self._before[op] = known | more
                work += [(user, known | more) for user in self._after.get(op, ())]

    def _of(self, op: Op) -> int:
        if op not in self._before:
            self._numbers[op] = len(self._numbers)
            self._before[op] = 1 << self._numbers[op]
        return self._before[op]


def inside(op: Op) -> Iterator[Op]:
    """The operation and all operations of its regions, at any depth."""
    yield op
    for region in op.regions:
        yield from walk(region)
