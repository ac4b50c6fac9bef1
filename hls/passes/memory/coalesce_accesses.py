"""Access coalescing: adjacent accesses of one iteration become one wide access; equal loads are merged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from ...analysis.dependence.dependence import writers_of
from ...analysis.memory.access_groups import AccessGroup, neighbours
from ...analysis.predicates.implication import implied
from ...ir import (
    BOOL,
    I32,
    I64,
    ArrayType,
    Attr,
    Builder,
    FloatType,
    Function,
    IntType,
    Op,
    Region,
    Type,
    Value,
    regions,
    walk,
)
from ...ir.accesses import memory_name, moved_type, predicate, stands_for
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ...ir.storage import zero
from ..manager import Form, FunctionPass

__all__ = ["CoalesceAccesses"]


@dataclass(frozen=True)
class CoalesceAccesses(FunctionPass):
    """Static access coalescing (LLVM: LoadStoreVectorizer) and redundant load elimination. Before: a flat kernel
    without tokens. After: loads, or stores, at constant distances from each other that may execute together are one
    access, whose lanes are as wide as the smallest step between their elements. The predicates of conditional accesses
    are in its lane mask. Loads of the same address are one load.

    ``word_bytes`` is the most that one access may span: a word of the memory. With 0 only equal loads are merged. The
    new access has attributes ``members`` (the number of accesses that it replaces) and ``lines`` (their source lines).
    """

    word_bytes: int = 64
    address_bits: int = 64
    name = "coalesce-accesses"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which groups of neighbouring accesses are single wide ones; an equal copy if there are none."""
        result = clone_function(function)
        groups = neighbours(result, self.word_bytes, self.address_bits)
        if not groups:
            return result
        homes = {op: region for region in regions(result.body) for op in region.ops}
        by_region: dict[Region, list[AccessGroup]] = {}
        for group in groups:
            by_region.setdefault(homes[group.members[0]], []).append(group)
        values: dict[Value, Value] = {}
        for region, mine in by_region.items():
            _Joiner(region, mine, values, self.address_bits).run()
        for op in walk(result.body):
            op.operands = [values.get(v, v) for v in op.operands]
        return result


class _Joiner:
    """Rebuilds a region with its access groups joined; ``values`` maps each loaded value to its replacement."""

    def __init__(
        self, region: Region, groups: list[AccessGroup], values: dict[Value, Value], address_bits: int
    ) -> None:
        self.region, self.values, self.address_bits = region, values, address_bits
        self.place = {(g.members[0] if g.members[0].opcode == "load" else g.members[-1]): g for g in groups}
        self.members = {op for g in groups for op in g.members}
        self.own = {value: op for op in region.ops for value in op.results}
        self.done: set[Op] = set()

    def run(self) -> None:
        before, self.region.ops = self.region.ops, []
        for op in before:
            if op in self.place:
                self._join(self.place[op])
            elif op not in self.members:
                self._put(op)

    def _put(self, op: Op) -> None:
        """Append the operation after the operations it needs. (Only pure operations are moved ahead by that.)"""
        if op not in self.done:
            self._ahead(op.operands)
            self.done.add(op)
            self.region.ops.append(op)

    def _ahead(self, values: Iterable[Value]) -> None:
        """Append the region's operations that compute these values, if they have not been appended yet."""
        work = [self.own[v] for v in values if v in self.own]
        while work:
            op = work[-1]
            missing = [self.own[v] for v in op.operands if v in self.own and self._is_missing(self.own[v])]
            if not self._is_missing(op):
                work.pop()
            elif missing:
                work += missing
            else:
                self.done.add(work.pop())
                self.region.ops.append(op)

    def _is_missing(self, op: Op) -> bool:
        return op not in self.done and op not in self.members

    def _join(self, group: AccessGroup) -> None:
        for op in group.members:
            self._ahead(op.operands)
        b = Builder(self.region, group.members[0].span)
        if group.members[0].opcode == "store":
            _WideStore(group, b, self.address_bits).build()
        elif len({moved_type(op) for op in group.members}) == 1 and not any(group.offsets):
            self._once(group, b)
        else:
            self.values.update(_WideLoad(group, b, self.address_bits).build())

    def _once(self, group: AccessGroup, b: Builder) -> None:
        """Merge equal loads into one."""
        first = group.members[0]
        conditions = {op: predicate(op) for op in group.members}
        first.operands[1] = _any(conditions.values(), b)
        first.attrs.update(_attributes(group))
        result = Value(first.result.type, first.result.name, first, 0)
        self.region.ops.append(first)
        for op in group.members:
            self.values[op.result] = _under(conditions[op], first.operands[1], result, b)
        first.results = [result]


def _attributes(group: AccessGroup) -> dict[str, Any]:
    return stands_for(group.members) | _told_apart(group.members)


def _told_apart(members: Sequence[Op]) -> dict[str, Any]:
    """The stores that the joined access needs no order with: those that all members of a lane need none with. Stores of
    other work-items are irrelevant to a lane."""
    writers = [writers_of(op) for op in members]
    lanes = [op.attrs.get(Attr.LANE) for op in members]
    if None in lanes:
        lanes = [None] * len(members)
    apart: dict[Any, Any] = {}
    for lane, op in zip(lanes, members, strict=True):
        numbers = set(op.attrs.get(Attr.APART, ()))
        apart[lane] = apart.get(lane, numbers) & numbers
    known = set().union(*apart.values())
    found = {Attr.WRITER: tuple(sorted(set().union(*writers)))} if all(writers) else {}
    return found | ({Attr.APART: tuple(sorted(known))} if known else {})


def _under(condition: Value, given: Value, value: Value, b: Builder) -> Value:
    """The result of a load with predicate ``condition``, from the value of a load whose predicate it implies."""
    if condition is given or constant(condition) == 1:
        return value
    return b.value("select", condition, value, b.const(zero(value.type), value.type))


def _follows(condition: Value, others: Iterable[Value]) -> bool:
    """Whether each of the others implies the condition."""
    return constant(condition) == 1 or all(implied(other).get(condition) for other in others)


def _any(conditions: Iterable[Value], b: Builder) -> Value:
    """OR of the conditions, without those that imply another one."""
    terms = list(dict.fromkeys(conditions))
    for term in terms:
        if _follows(term, terms):
            return term
    total = terms[0]
    for term in terms[1:]:
        total = b.value("or", total, term)
    return total


class _Wide:
    """An access group as lanes of ``grain`` bytes."""

    def __init__(self, group: AccessGroup, b: Builder, address_bits: int) -> None:
        self.group, self.b, self.address_bits = group, b, address_bits
        sizes = [moved_type(op).bytes for op in group.members]
        self.grain = gcd(*(_element(moved_type(op)).bytes for op in group.members), *group.offsets)
        self.lane = IntType(8 * self.grain)
        self.type = ArrayType(self.lane, group.bytes // self.grain)
        #: for each member: its first lane, and the number of its lanes
        self.lanes = [
            (offset // self.grain, size // self.grain) for offset, size in zip(group.offsets, sizes, strict=True)
        ]

    def takers(self, lane: int) -> list[tuple[Op, int]]:
        """The members that access the lane, in program order, each with the lane's number within the member."""
        return [
            (op, lane - first)
            for op, (first, count) in zip(self.group.members, self.lanes, strict=True)
            if first <= lane < first + count
        ]

    def operands(self) -> tuple[Value, Value, Value]:
        """The pointer to lane 0, the predicate, and the mask."""
        b, conditions = self.b, [predicate(op) for op in self.group.members]
        mask = []
        for lane in range(self.type.length):
            takers = self.takers(lane)
            mask.append(_any([predicate(op) for op, _ in takers], b) if takers else b.const(0, BOOL))
        return self._pointer(conditions), _any(conditions, b), b.value("array", *mask)

    def _pointer(self, conditions: list[Value]) -> Value:
        """The pointer to lane 0, computed from that of a member that executes whenever any does: the pointers of others
        may be invalid when they do not execute."""
        members = sorted(zip(self.group.offsets, self.group.members, strict=True), key=lambda pair: pair[0])
        sure = [(offset, op) for offset, op in members if _follows(predicate(op), conditions)]
        offset, op = (sure or members)[0]
        pointer = op.operands[0]
        (place,) = pointer.defining_op.operands
        if sure and offset == 0 or place.type.bits < self.address_bits and offset == 0:
            return pointer
        if place.type.bits < I64.bits:
            # extended to all bits of an address: an offset below the buffer's begin is negative
            extend = "sext" if place.type.bits >= self.address_bits else "zext"
            place = self.b.value(extend, place, result=I64)
        if offset:
            place = self.b.value("add", place, self.b.const(-offset, I64))
        return self.b.addr(memory_name(op), place)


def _element(type: Type) -> Type:
    return type.element if isinstance(type, ArrayType) else type


class _WideLoad(_Wide):
    def build(self) -> dict[Value, Value]:
        """Build the load; returns the replacement for the result of each member."""
        pointer, given, mask = self.operands()
        lanes = self.b.value(
            "load",
            pointer,
            given,
            mask,
            result=self.type,
            attrs=_attributes(self.group),
            name=memory_name(self.group.members[0]),
        )
        found: dict[tuple[Any, ...], Value] = {}
        taken = {}
        for op, (first, count) in zip(self.group.members, self.lanes, strict=True):
            key = first, count, op.result.type
            if key not in found:
                pieces = [self.b.value("extract", lanes, self.b.const(first + k, I32)) for k in range(count)]
                found[key] = self._whole(pieces, op.result.type)
            alone = all(predicate(other) is predicate(op) for k in range(count) for other, _ in self.takers(first + k))
            taken[op.result] = found[key] if alone else _under(predicate(op), given, found[key], self.b)
        return taken

    def _whole(self, pieces: list[Value], type: Type) -> Value:
        """A value of the type, assembled from its lanes."""
        if isinstance(type, ArrayType):
            each = len(pieces) // type.length
            parts = [pieces[k : k + each] for k in range(0, len(pieces), each)]
            return self.b.value("array", *(self._whole(part, type.element) for part in parts))
        b, bits = self.b, IntType(8 * type.bytes)
        value = pieces[0]
        if len(pieces) > 1:
            value = b.value("zext", value, result=bits)
            for k, piece in enumerate(pieces[1:], 1):
                wide = b.value("zext", piece, result=bits)
                value = b.value("or", value, b.value("shl", wide, b.const(k * self.lane.bits, bits)))
        if isinstance(type, FloatType):
            return b.value("bitcast", value, result=type)
        return b.value("trunc", value, result=type) if type.bits < bits.bits else value


class _WideStore(_Wide):
    def build(self) -> None:
        pointer, given, mask = self.operands()
        pieces = {op: self._pieces(op.operands[1]) for op in self.group.members}
        lanes = []
        for lane in range(self.type.length):
            takers = self.takers(lane)
            value = pieces[takers[0][0]][takers[0][1]] if takers else self.b.const(0, self.lane)
            for op, piece in takers[1:]:  # the last store that executes wins
                value = self.b.value("select", predicate(op), pieces[op][piece], value)
            lanes.append(value)
        self.b.op("store", pointer, self.b.value("array", *lanes), given, mask, attrs=_attributes(self.group))

    def _pieces(self, value: Value) -> list[Value]:
        """A value split into lanes."""
        b, type = self.b, value.type
        if isinstance(type, ArrayType):
            elements = [b.value("extract", value, b.const(k, I32)) for k in range(type.length)]
            return [piece for element in elements for piece in self._pieces(element)]
        bits = IntType(8 * type.bytes)
        if isinstance(value.type, FloatType):
            value = b.value("bitcast", value, result=bits)
        elif value.type.bits < bits.bits:
            value = b.value("zext", value, result=bits)
        count = bits.bits // self.lane.bits
        shifted = [value, *(b.value("lshr", value, b.const(k * self.lane.bits, bits)) for k in range(1, count))]
        return [b.value("trunc", v, result=self.lane) if count > 1 else v for v in shifted]
