"""Accesses of one iteration that one wide access could make: same memory, constant distances, nothing between them that
minds."""

from dataclasses import dataclass

from ...ir import (
    Attr,
    Function,
    Op,
    Region,
    has,
    is_access,
    lane_mask,
    memory_name,
    moved_type,
    regions,
    walk,
    word_bytes,
)
from ..dependence.dependence import DependenceTester, Kind, promised

__all__ = ["AccessGroup", "neighbours"]


@dataclass(frozen=True, eq=False)
class AccessGroup:
    """Loads, or stores, of one region, in program order, which may take place together: loads in the place of the first
    of them, stores in that of the last. ``offsets`` are their distances in bytes from the lowest one."""

    members: tuple[Op, ...]
    offsets: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """From the lowest byte to the highest one, both included."""
        return max(offset + moved_type(op).bytes for op, offset in zip(self.members, self.offsets, strict=True))


def neighbours(function: Function, most_bytes: int, address_bits: int = 64) -> list[AccessGroup]:
    """Groups of at least two accesses of a flat kernel without tokens; of no more than ``most_bytes`` each, or a word
    of the memory that the program names for a buffer.

    Loads of the same place are a group for any ``most_bytes``. In memories that the kernel both reads and writes groups
    have no holes, which might seem to touch what another access needs. Addresses that are not known from loops and
    arguments form no groups there if another iteration may store to them, as they are compared at run time, one by one.
    Volatile memories have no groups, nor have those on the chip.
    """
    tester = DependenceTester(function, address_bits)
    used = {kind: {memory_name(op) for op in walk(function.body) if op.opcode == kind} for kind in ("load", "store")}
    found: list[AccessGroup] = []
    for region in regions(function.body):
        items = _Items(function, region, tester, most_bytes, frozenset(used["load"] & used["store"]))
        found += items.loads() + (items.stores() if most_bytes else [])
    return found


class _Gathering:
    """A group that grows: offsets of its members in the memory, beside the terms all share."""

    def __init__(self, op: Op, offset: int):
        self.members, self.offsets = [op], [offset]
        self.low, self.high = offset, offset + moved_type(op).bytes

    def fits(self, op: Op, offset: int, most_bytes: int, holes: bool) -> bool:
        """Whether one access could make this one, too."""
        low, high = min(self.low, offset), max(self.high, offset + moved_type(op).bytes)
        if not holes and (offset > self.high or offset + moved_type(op).bytes < self.low):
            return False
        same = all(
            o == offset and moved_type(m) == moved_type(op) for m, o in zip(self.members, self.offsets, strict=True)
        )
        return same or high - low <= most_bytes

    def add(self, op: Op, offset: int):
        self.members.append(op)
        self.offsets.append(offset)
        self.low, self.high = min(self.low, offset), max(self.high, offset + moved_type(op).bytes)

    def group(self) -> AccessGroup:
        return AccessGroup(tuple(self.members), tuple(offset - self.low for offset in self.offsets))


class _Items:
    """Accesses and other effects of a region, and loops that hold some, in the order in which they would take place."""

    def __init__(
        self, function: Function, region: Region, tester: DependenceTester, most_bytes: int, both: frozenset[str]
    ):
        self.function, self.region, self.tester, self.most_bytes, self.both = function, region, tester, most_bytes, both
        self.accesses = {op: found for op in region.ops if (found := _accesses(op))}
        self.order = list(self.accesses)
        self.levels = _levels(region)
        self.position = {op: k for k, op in enumerate(region.ops)}
        # where an operation's results are known: those of a load that joined others, at the first of these
        self.known = dict(self.position)
        self.own = {value: op for op in region.ops for value in op.results}

    def loads(self) -> list[AccessGroup]:
        """Each joins the first group that lets it; it then takes place where the first of that group does."""
        return self._gather("load", self._may_rise, lambda members, op: self._rise(members[0], op))

    def stores(self) -> list[AccessGroup]:
        """Each takes those before it down to its own place."""
        return self._gather("store", self._may_sink, lambda members, op: self._stand(op, members[-1]))

    def _gather(self, kind: str, may_move, move) -> list[AccessGroup]:
        buckets: dict[tuple, list[_Gathering]] = {}
        for op in [op for op in self.order if op.opcode == kind and self._movable(op)]:
            form = self.tester.forms.offset(op)
            if (
                memory_name(op) in self.both
                and any(self.tester.tree.changing(s.value) for s in form.symbols())
                and self._is_compared(op)
            ):
                continue
            bucket = buckets.setdefault((memory_name(op), frozenset(form.terms.items())), [])
            holes = memory_name(op) not in self.both
            for gathering in bucket:
                if gathering.fits(op, form.const, self._most_bytes(op), holes) and may_move(gathering.members, op):
                    move(gathering.members, op)
                    gathering.add(op, form.const)
                    break
            else:
                bucket.append(_Gathering(op, form.const))
        return [g.group() for bucket in buckets.values() for g in bucket if len(g.members) > 1]

    def _most_bytes(self, op: Op) -> int:
        return self.most_bytes and word_bytes(self.function.memories[memory_name(op)], self.most_bytes)

    def _movable(self, op: Op) -> bool:
        memory = self.function.memories[memory_name(op)]
        return (
            memory.space == "global"
            and not memory.volatile
            and lane_mask(op) is None
            and not op.attrs.get(Attr.ALONE)
            and Attr.UNIT not in op.attrs
        )

    def _is_compared(self, op: Op) -> bool:
        """Whether the access may meet a store that stands here, made in another iteration, so that addresses are worth
        comparing."""
        stores = [
            other
            for other in self.order
            if other.opcode == "store" and memory_name(other) == memory_name(op) and other is not op
        ]
        return any(
            fact.loop is not None and fact.kind is not Kind.WAR and promised(fact) is not None
            for store in stores
            for fact in self.tester.pair(*sorted((op, store), key=self.position.get))
        )

    def _may_rise(self, members: list[Op], op: Op) -> bool:
        """Whether a load may take place where the first of the members does, and would not make it wait for
        anything."""
        first = members[0]
        between = self.order[self.order.index(first) + 1 : self.order.index(op)]
        passed = [x for item in between for x in self.accesses[item] if x.opcode != "load"]
        return (
            self.levels[op] == self.levels[first]
            and self._known_at(first, op)
            and not any(self._holds(x, op) for x in passed)
        )

    def _known_at(self, place: Op, op: Op) -> bool:
        """Whether the operands of ``op`` can be computed where ``place`` stands."""
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
        """Whether the stores that are members may take place where ``op`` does."""
        passed = self.order[self.order.index(members[-1]) + 1 : self.order.index(op)]
        return not any(
            self._holds(member, access) for item in passed for access in self.accesses[item] for member in members
        )

    def _holds(self, first: Op, second: Op) -> bool:
        """Whether one must stay behind the other; whatever is neither load nor store stays where it is."""
        return not is_access(first) or not is_access(second) or self.tester.within(first, second)

    def _rise(self, place: Op, op: Op):
        """As :meth:`_stand`; what the load gives may then be a condition, or part of an address, of one that rises
        later."""
        self._stand(place, op)
        self.known[op] = self.position[place]

    def _stand(self, place: Op, op: Op):
        """From now on ``op``, and what stands there, takes place where ``place`` does."""
        self.order.remove(op)
        self.accesses[place] = [*self.accesses[place], *self.accesses[op]]


def _accesses(op: Op) -> list[Op]:
    if op.regions:
        return [inner for region in op.regions for inner in walk(region) if is_access(inner) or has(inner, "effect")]
    return [op] if is_access(op) or has(op, "effect") else []


def _levels(region: Region) -> dict[Op, int]:
    """Behind how many loads and loops, one after the other, each operation stands for its operands."""
    values: dict = {}
    levels = {}
    for op in region.ops:
        needed = [*op.operands, *(v for inner in op.regions for each in walk(inner) for v in each.operands)]
        levels[op] = max((values.get(v, 0) for v in needed), default=0)
        later = levels[op] + (not has(op, "pure"))
        values.update(dict.fromkeys(op.results, later))
    return levels
