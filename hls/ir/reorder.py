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
        self._known_needs: dict[Op, list[Op]] = {}  #: cache, valid until an operation is added, or gets operands
        self._numbers: dict[Op, int] = {}
        #: by operation and kind of order: the version at which it was found, and a bit for each operation before it
        self._known_before: dict[tuple[Op, bool], tuple[int, int]] = {}
        self._version = 0  #: of operations, their operands and the order

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
        self._known_needs.clear()
        self._version += 1
        return new

    def takes_more(self, op: Op, around: Iterable[Op]) -> None:
        """Record that an operation got further operands; ``around`` are the operations that contain it."""
        self._version += 1
        for each in (op, *around):
            self._known_needs.pop(each, None)

    def follow(self, region: Region, first: Op, second: Op) -> None:
        """Constrain ``second`` to stay after ``first``."""
        before = self.extra.setdefault(second, set())
        if first not in before:
            before.add(first)
            self._version += 1

    def may_follow(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` can be put after ``first`` (no dependence or constraint puts it before)."""
        return not self._reaches(region, second, first, by_order=True)

    def answers_to(self, region: Region, first: Op, second: Op) -> bool:
        """Whether ``second`` already depends on a result of ``first``."""
        return second is not first and self._reaches(region, first, second, by_order=False)

    def _reaches(self, region: Region, source: Op, target: Op, by_order: bool) -> bool:
        """Whether ``target`` is ``source`` or comes after it, by data dependences or, with ``by_order``, also by order
        constraints."""
        bit = 1 << self._number(source)
        version, before = self._known_before.get((target, by_order), (-1, 0))
        # operations, operands and constraints are only added: what came before an operation still does
        if not before & bit and version != self._version:
            before = self._before(region, target, by_order)
            self._known_before[target, by_order] = self._version, before
        return bool(before & bit)

    def _before(self, region: Region, target: Op, by_order: bool) -> int:
        """A bit for ``target`` and for each operation that it comes after."""
        work, seen = [target], set()
        while work:
            op = work.pop()
            if op not in seen:
                seen.add(op)
                if op not in self._known_needs:
                    self._known_needs[op] = self._needs(region, op)
                work += self._known_needs[op]
                work += self.extra.get(op, ()) if by_order else ()
        numbers = [self._number(op) for op in seen]
        bits = bytearray((max(numbers) >> 3) + 1)
        for number in numbers:
            bits[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(bits, "little")

    def _number(self, op: Op) -> int:
        return self._numbers.setdefault(op, len(self._numbers))

    def _needs(self, region: Region, op: Op):
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


def inside(op: Op) -> Iterator[Op]:
    """The operation and all operations of its regions, at any depth."""
    yield op
    for region in op.regions:
        yield from walk(region)
