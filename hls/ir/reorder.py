"""The order of operations inside regions while more is added: what comes before what, and new places for both."""

from collections.abc import Iterable, Iterator

from . import Function, Op, Region, regions, walk

__all__ = ["Reordering", "inside"]


class Reordering:
    """New operations and new orders, collected first; :meth:`settle` then puts every region in an order that fits.

    Nothing is moved that need not be.
    """

    def __init__(self, function: Function):
        self.function = function
        self.before_: dict[Op, list[Op]] = {}
        self.after_: dict[Op, list[Op]] = {}
        self.extra: dict[Op, set[Op]] = {}  # operations that an operation must come after, beyond its operands
        self.homes = {op: region for region in regions(function.body) for op in region.ops}
        self._known_needs: dict[Op, list[Op]] = {}  #: until an operation is added, or gets operands

    def before(self, region: Region, op: Op, new: Op) -> Op:
        """Put ``new`` before ``op`` of the region."""
        self.before_.setdefault(op, []).append(new)
        return self._enter(region, new)

    def after(self, region: Region, op: Op, new: Op) -> Op:
        """Put ``new`` behind ``op`` of the region, behind what was put there earlier."""
        self.after_.setdefault(op, []).append(new)
        return self._enter(region, new)

    def _enter(self, region: Region, new: Op) -> Op:
        self.homes[new] = region
        self._known_needs.clear()
        return new

    def takes_more(self, op: Op, around: Iterable[Op]) -> None:
        """An operation got further operands; ``around`` are the operations that contain it."""
        for each in (op, *around):
            self._known_needs.pop(each, None)

    def follow(self, region: Region, first: Op, second: Op) -> None:
        """``second`` must stay behind ``first``."""
        self.extra.setdefault(second, set()).add(first)

    def may_follow(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` can be put behind ``first`` (it does not come before it for a reason)."""
        return not self._reaches(region, second, first, by_order=True)

    def answers_to(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` needs a result of ``first`` already."""
        return second is not first and self._reaches(region, first, second, by_order=False)

    def _reaches(self, region: Region, source: Op, target: Op, by_order: bool) -> bool:
        """Whether ``target`` is ``source`` or comes after it, for its values or, if asked for, by order."""
        work, seen = [target], set()
        while work:
            op = work.pop()
            if op is source:
                return True
            if op not in seen:
                seen.add(op)
                if op not in self._known_needs:
                    self._known_needs[op] = self._needs(region, op)
                work += self._known_needs[op]
                work += self.extra.get(op, ()) if by_order else ()
        return False

    def _needs(self, region: Region, op: Op):
        """Operations of the region whose results ``op``, or something inside it, takes; tokens of stores and loops are
        results that were added to them."""
        found = dict.fromkeys(v.op for inner in inside(op) for v in inner.operands)
        return [d for d in found if d is not None and d is not op and self.homes.get(d) is region]

    def settle(self) -> None:
        """Build all regions anew."""
        for region in list(regions(self.function.body)):
            wanted = []
            for op in region.ops:
                wanted += [*self.before_.get(op, ()), op, *self.after_.get(op, ())]
            region.ops = self._sorted(region, wanted)

    def _sorted(self, region: Region, wanted: list[Op]) -> list[Op]:
        """As near to the wanted order as needs and orders allow. AssertionError where they form a circle."""
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


def inside(op: Op) -> Iterator[Op]:
    """The operation and all operations of its regions, at any depth."""
    yield op
    for region in op.regions:
        yield from walk(region)
