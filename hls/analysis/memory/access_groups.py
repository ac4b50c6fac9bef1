"""Access grouping for coalescing: accesses of one iteration to one memory at constant distances, with no conflicting
access between them."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...ir import (
    Attr,
    Function,
    Op,
    Region,
    has,
    is_access,
    is_early,
    lane_mask,
    memory_name,
    moved_type,
    regions,
    walk,
    word_bytes,
)
from ...ir.accesses import orders_accesses
from ..dependence.dependence import DependenceTester, Kind, promised

__all__ = ["AccessGroup", "neighbours"]


@dataclass(frozen=True, eq=False)
class AccessGroup:
    """Loads, or stores, of one region, in program order, that may execute together: loads at the position of the first,
    stores at that of the last. ``offsets`` are their distances in bytes from the lowest address."""

    members: tuple[Op, ...]
    offsets: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The bytes from the lowest to the highest one, inclusive."""
        return max(offset + moved_type(op).bytes for op, offset in zip(self.members, self.offsets, strict=True))


def neighbours(function: Function, most_bytes: int, address_bits: int = 64) -> list[AccessGroup]:
    """Groups of at least two accesses of a flat kernel without tokens; each group spans at most ``most_bytes``, or a
    word of the memory that the program names for a buffer.

    Loads of the same address form a group for any ``most_bytes``. In memories that the kernel both reads and writes,
    groups have no holes, which might seem to conflict with other accesses. There, addresses not derived from loops and
    arguments form no groups if another iteration may store to them, as they are compared at run time, one by one.
    Volatile and on-chip memories have no groups.
    """
    tester = DependenceTester(function, address_bits)
    used = {kind: {memory_name(op) for op in walk(function.body) if op.opcode == kind} for kind in ("load", "store")}
    found: list[AccessGroup] = []
    for region in regions(function.body):
        items = _Items(function, region, tester, most_bytes, frozenset(used["load"] & used["store"]))
        found += items.loads() + (items.stores() if most_bytes else [])
    return found


class _Gathering:
    """A group under construction: the offsets of its members, relative to the terms that all share."""

    def __init__(self, op: Op, offset: int) -> None:
        self.members, self.offsets = [op], [offset]
        self.low, self.high = offset, offset + moved_type(op).bytes
        self.alike = True  #: whether all members have one offset and one type

    def fits(self, op: Op, offset: int, most_bytes: int, holes: bool) -> bool:
        """Whether one access could cover this one, too."""
        low, high = min(self.low, offset), max(self.high, offset + moved_type(op).bytes)
        if not holes and (offset > self.high or offset + moved_type(op).bytes < self.low):
            return False
        return high - low <= most_bytes or self._is_alike(op, offset)

    def _is_alike(self, op: Op, offset: int) -> bool:
        return self.alike and offset == self.offsets[0] and moved_type(op) == moved_type(self.members[0])

    def add(self, op: Op, offset: int) -> None:
        self.alike = self._is_alike(op, offset)
        self.members.append(op)
        self.offsets.append(offset)
        self.low, self.high = min(self.low, offset), max(self.high, offset + moved_type(op).bytes)

    def group(self) -> AccessGroup:
        return AccessGroup(tuple(self.members), tuple(offset - self.low for offset in self.offsets))


class _Bucket:
    """The groups under construction of one memory, whose members share the terms of their addresses; found by where
    they begin, in steps of the ``most_bytes`` that a group may span."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self._step = most_bytes, max(most_bytes, 1)
        self.groups: list[_Gathering] = []
        self._at: dict[int, list[int]] = {}  #: numbers of the groups that begin, or began, in a step

    def near(self, offset: int) -> Iterator[_Gathering]:
        """The groups that begin less than ``most_bytes`` before or behind an offset, and some others, oldest first."""
        step = offset // self._step
        numbers = {number for k in (step - 1, step, step + 1) for number in self._at.get(k, ())}
        return (self.groups[number] for number in sorted(numbers))

    def open(self, op: Op, offset: int) -> None:
        """Begin another group with an access."""
        self.groups.append(_Gathering(op, offset))
        self._begins(len(self.groups) - 1)

    def add(self, group: _Gathering, op: Op, offset: int) -> None:
        """Add an access to a group."""
        low = group.low
        group.add(op, offset)
        if group.low // self._step != low // self._step:
            self._begins(self.groups.index(group))

    def _begins(self, number: int) -> None:
        self._at.setdefault(self.groups[number].low // self._step, []).append(number)


class _Items:
    """Accesses and other effects of a region, and loops that contain some, in their planned order of execution."""

    def __init__(
        self, function: Function, region: Region, tester: DependenceTester, most_bytes: int, both: frozenset[str]
    ) -> None:
        self.function, self.region, self.tester, self.most_bytes, self.both = function, region, tester, most_bytes, both
        self.accesses = {op: found for op in region.ops if (found := _accesses(op))}
        self.order = list(self.accesses)
        self.levels = _levels(region)
        self.position = {op: k for k, op in enumerate(region.ops)}
        # the position from which an operation's results are available: for a load that joined a group, its first
        # member's
        self.known = dict(self.position)
        self.own = {value: op for op in region.ops for value in op.results}

    def loads(self) -> list[AccessGroup]:
        """Each load joins the first group that accepts it, and then executes at the position of the group's first
        member."""
        return self._gather("load", self._may_rise, lambda members, op: self._rise(members[0], op))

    def stores(self) -> list[AccessGroup]:
        """Each store takes compatible earlier ones down to its own position."""
        return self._gather("store", self._may_sink, lambda members, op: self._stand(op, members[-1]))

    def _gather(self, kind: str, may_move, move) -> list[AccessGroup]:
        buckets: dict[tuple, _Bucket] = {}
        for op in [op for op in self.order if op.opcode == kind and self._movable(op)]:
            form = self.tester.forms.offset(op)
            if (
                memory_name(op) in self.both
                and any(self.tester.tree.changing(s.value) for s in form.symbols())
                and self._is_compared(op)
            ):
                continue
            key = memory_name(op), frozenset(form.terms.items())
            bucket = buckets.setdefault(key, _Bucket(self._most_bytes(op)))
            holes = memory_name(op) not in self.both
            for gathering in bucket.near(form.const):
                if gathering.fits(op, form.const, bucket.most_bytes, holes) and may_move(gathering.members, op):
                    move(gathering.members, op)
                    bucket.add(gathering, op, form.const)
                    break
            else:
                bucket.open(op, form.const)
        return [g.group() for bucket in buckets.values() for g in bucket.groups if len(g.members) > 1]

    def _most_bytes(self, op: Op) -> int:
        return self.most_bytes and word_bytes(self.function.memories[memory_name(op)], self.most_bytes)

    def _movable(self, op: Op) -> bool:
        memory = self.function.memories[memory_name(op)]
        return (
            memory.space == "global"
            and not memory.volatile
            and lane_mask(op) is None
            and not op.attrs.get(Attr.ALONE)
            and not is_early(op)
            and Attr.UNIT not in op.attrs
        )

    def _is_compared(self, op: Op) -> bool:
        """Whether the access may conflict with a store of another iteration in this region, so that run-time comparison
        of addresses pays."""
        stores = [
            other
            for other in self.order
            if other.opcode == "store" and memory_name(other) == memory_name(op) and other is not op
        ]
        return any(
            fact.loop is not None and fact.kind is not Kind.WAR and promised(fact) is not None
            for store in stores
            for first, second in (sorted((op, store), key=self.position.__getitem__),)
            for fact in self.tester.pair(first, second)
        )

    def _may_rise(self, members: list[Op], op: Op) -> bool:
        """Whether a load may execute at the position of the first member without waiting for anything more."""
        first = members[0]
        between = self.order[self.order.index(first) + 1 : self.order.index(op)]
        passed = [x for item in between for x in self.accesses[item] if x.opcode != "load"]
        return (
            self.levels[op] == self.levels[first]
            and self._known_at(first, op)
            and not any(self._holds(x, op) for x in passed)
        )

    def _known_at(self, place: Op, op: Op) -> bool:
        """Whether the operands of ``op`` can be computed at the position of ``place``."""
        work, seen = [op], set()
        while work:
            for value in work.pop().operands:
                producer = self.own.get(value)
                if producer is None or producer in seen or self.known[producer] < self.position[place]:
                    continue
                if not has(producer, "pure"):
                    return False
                seen.add(producer)
                work.append(producer)
        return True

    def _may_sink(self, members: list[Op], op: Op) -> bool:
        """Whether the member stores may execute at the position of ``op``."""
        passed = self.order[self.order.index(members[-1]) + 1 : self.order.index(op)]
        return not any(
            self._holds(member, access) for item in passed for access in self.accesses[item] for member in members
        )

    def _holds(self, first: Op, second: Op) -> bool:
        """Whether ``second`` must stay after ``first``; operations other than loads and stores do not move."""
        return not is_access(first) or not is_access(second) or self.tester.within(first, second)

    def _rise(self, place: Op, op: Op) -> None:
        """As :meth:`_stand`; the loaded value is then available earlier, as a predicate or an address of loads that
        rise later."""
        self._stand(place, op)
        self.known[op] = self.position[place]

    def _stand(self, place: Op, op: Op) -> None:
        """From now on ``op``, and accesses joined with it, execute at the position of ``place``."""
        self.order.remove(op)
        self.accesses[place] = [*self.accesses[place], *self.accesses[op]]


def _accesses(op: Op) -> list[Op]:
    if op.regions:
        return [inner for region in op.regions for inner in walk(region) if is_access(inner) or orders_accesses(inner)]
    return [op] if is_access(op) or orders_accesses(op) else []


def _levels(region: Region) -> dict[Op, int]:
    """For each operation the number of loads and loops in sequence that its operands depend on."""
    values: dict = {}
    levels = {}
    for op in region.ops:
        needed = [*op.operands, *(v for inner in op.regions for each in walk(inner) for v in each.operands)]
        levels[op] = max((values.get(v, 0) for v in needed), default=0)
        later = levels[op] + (not has(op, "pure"))
        values.update(dict.fromkeys(op.results, later))
    return levels
