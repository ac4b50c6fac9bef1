"""Row promotion: a row of global memory that every iteration of a loop updates is on the chip while the loop runs."""

from dataclasses import dataclass
from itertools import count

from ...analysis.loops.backward_slice import pure_slice
from ...analysis.loops.loop_tree import Loop
from ...analysis.memory.must_alias import MustAlias
from ...ir import (
    Attr,
    Builder,
    Function,
    IntType,
    MemoryObject,
    Op,
    Region,
    Value,
    is_access,
    loops_inside_out,
    may_share,
    memory_name,
    moved_type,
    walk,
)
from ...ir.accesses import predicate
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import add_carried
from ...ir.rewrite import constant
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["PromoteRows"]

#: iterations of a loop that are worth copying a row twice
FEW = 4


@dataclass(frozen=True)
class PromoteRows(FunctionPass):
    """Data copying into on-chip memory (scratchpad promotion; Baskaran and others 2008). Before: a flat kernel without
    tokens. After: where each iteration of a loop loads and stores the same elements in an inner loop, one for each
    iteration of it, these are in an array of the kernel: a copy of the inner loop before the outer one loads them, and
    one after it stores them.

    Done for rows of at most ``longest`` elements: the memory's latency in iterations. In a longer row, an element is in
    memory again before the next iteration of the outer loop loads it. Only what every iteration accesses is copied, so
    no byte is read or written that the program would not read or write.
    """

    longest: int = 0
    address_bits: int = 64
    name = "promote-rows"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which rows up to ``longest`` elements are in on-chip memory while the outer loop runs; an equal
        copy of an NDRange kernel."""
        result = clone_function(function)
        if self.longest and not function.attrs.get(Attr.NDRANGE):
            for region, outer in list(loops_inside_out(result.body)):
                for row in self._rows(result, outer):
                    row.move(result, region)
        return result

    def _rows(self, function: Function, outer: Op) -> list["_Row"]:
        inner = [op for op in outer.regions[0].ops if op.opcode == "loop"]
        if not any(op.opcode == "store" for loop in inner for op in loop.regions[0].ops):
            return []
        places = MustAlias(function, self.address_bits)
        around = places.tree.loops[outer]
        if around.parallel or outer.attrs.get(Attr.TRIP_COUNT, FEW) < FEW or not places.undisturbed(around.body):
            return []
        rows = (self._row(places, around, places.tree.loops[loop]) for loop in inner)
        return [row for row in rows if row is not None]

    def _row(self, places: MustAlias, outer: Loop, inner: Loop) -> "_Row | None":
        """The row that the inner loop updates, if there is exactly one."""
        trips = inner.op.attrs.get(Attr.TRIP_COUNT, inner.most_trips or places.tester.forms.most_trips(inner))
        by_memory: dict[str, list[Op]] = {}
        for op in walk(outer.body):
            if is_access(op):
                by_memory.setdefault(memory_name(op), []).append(op)
        found = [
            _Row(outer.op, inner.op, members, trips)
            for name, members in by_memory.items()
            if trips is not None
            and trips <= self.longest
            and places.function.memories[name].space == "global"
            and not any(
                other != name and may_share(places.function.memories[name], places.function.memories[other])
                for other in by_memory
            )
            and _is_row(places, outer, inner, members)
        ]
        return next((row for row in found if row.prepare()), None)


def _is_row(places: MustAlias, outer: Loop, inner: Loop, members: list[Op]) -> bool:
    """Whether the accesses are certain, all to one element for each iteration of the inner loop, the same ones in each
    iteration of the outer one, and load before they store."""
    first, form = members[0], places.form(members[0])
    return (
        first.opcode == "load"
        and any(op.opcode == "store" for op in members)
        and abs(form.terms.get(inner, 0)) >= moved_type(first).bytes
        and places.fixed(first, outer)
        and all(
            places.plain(op)
            and places.tree.region_of(op) is inner.body
            and constant(predicate(op)) == 1
            and moved_type(op) == moved_type(first)
            and places.form(op) == form
            for op in members
        )
    )


@dataclass(eq=False)
class _Row:
    """The accesses ``members`` of a row of at most ``length`` elements. ``control`` are the operations of the inner
    loop that its condition and the address need, with the carried values ``kept``; ``fixed`` are those of the outer
    loop that these need, which are invariant."""

    outer: Op
    inner: Op
    members: list[Op]
    length: int

    def prepare(self) -> bool:
        """Find the operations to copy; False if the inner loop's control depends on more than invariant values."""
        (body,) = self.inner.regions
        again, *nexts = body.terminator.operands
        wanted, before = {again, self.members[0].operands[0]}, -1
        while len(wanted) != before:
            before = len(wanted)
            self.control = pure_slice(wanted, body.ops[:-1])
            if self.control is None:
                return False
            wanted.update(v for op in self.control for v in op.operands)
            wanted.update(nexts[arg.index] for arg in body.args if arg in wanted)
        self.kept = [arg.index for arg in body.args if arg in wanted]
        own = {v for op in present(self.control) for v in op.results} | set(body.args)
        outside = {v for v in wanted if v not in own} | {self.inner.operands[1 + k] for k in self.kept}
        outside.add(self.inner.operands[0])
        self.fixed = pure_slice(outside, self.outer.regions[0].ops[:-1])
        if self.fixed is None:
            return False
        outside.update(v for op in self.fixed for v in op.operands)
        return outside.isdisjoint(self.outer.regions[0].args)

    def move(self, function: Function, region: Region) -> None:
        """Let the loops access the row's array, and copy it before and after the outer loop."""
        name = self._array(function)
        before, after = Builder(Region(), self.members[0].span), Builder(Region(), self.members[-1].span)
        values: dict[Value, Value] = {}
        before.region.ops += clone_ops(present(self.fixed), values)
        runs = before.value("and", self.outer.operands[0], values.get(self.inner.operands[0], self.inner.operands[0]))
        self._copy(before, runs, dict(values), name, load=True)
        self._copy(after, runs, dict(values), name, load=False)
        at = region.ops.index(self.outer)
        region.ops[at : at + 1] = [*before.region.ops, self.outer, *after.region.ops]
        self._redirect(name)

    def _array(self, function: Function) -> str:
        memory = memory_name(self.members[0])
        names = (f"{memory}_row{k or ''}" for k in count())
        name = next(each for each in names if each not in function.memories)
        first = self.members[0]
        function.memories[name] = MemoryObject(name, "private", moved_type(first), self.length, span=first.span)
        return name

    @property
    def _counter(self) -> IntType:
        return IntType(max(1, self.length.bit_length()))

    def _element(self, b: Builder, number: Value, name: str) -> Value:
        """The address of an element of the array."""
        size = moved_type(self.members[0]).bytes
        wide = IntType(number.type.bits + size.bit_length())
        offset = b.value("mul", b.value("zext", number, result=wide), b.const(size, wide))
        return b.value("addr", offset, attrs={Attr.MEM: name})

    def _copy(self, b: Builder, runs: Value, values: dict[Value, Value], name: str, load: bool) -> None:
        """A loop that runs as the inner one does, and copies the row: from memory (``load``), or back."""
        (body,), first = self.inner.regions, self.members[0]
        zero = b.const(0, self._counter)
        inits = [values.get(v, v) for v in (self.inner.operands[1 + k] for k in self.kept)]
        copy = Region()
        old = [body.args[k] for k in self.kept]
        copy.args = [Value(v.type, v.name, copy, k) for k, v in enumerate(old)]
        copy.args.append(Value(self._counter, "", copy, len(old)))
        values |= zip(old, copy.args, strict=False)
        copy.ops = clone_ops(present(self.control), values)
        inside, number = Builder(copy, b.span), copy.args[-1]
        there, here = values[first.operands[0]], self._element(inside, number, name)
        source, target = (there, here) if load else (here, there)
        store = next(op for op in self.members if op.opcode == "store")
        attrs = (first.attrs, {}) if load else ({}, store.attrs)
        value = inside.value("load", source, inside.true(), result=moved_type(first), attrs=attrs[0])
        inside.op("store", target, value, inside.true(), attrs=attrs[1])
        again, *nexts = body.terminator.operands
        following = inside.value("add", number, inside.const(1, self._counter))
        kept = [values.get(v, v) for v in (nexts[k] for k in self.kept)]
        inside.op("yield", values.get(again, again), *kept, following)
        trips = {key: self.inner.attrs[key] for key in (Attr.TRIP_COUNT,) if key in self.inner.attrs}
        b.op(
            "loop",
            runs,
            *inits,
            zero,
            attrs={Attr.UNROLL: 1} | trips,
            results=[v.type for v in (*inits, zero)],
            regions=[copy],
        )

    def _redirect(self, name: str) -> None:
        """Let the accesses of the inner loop go to the array."""
        (body,), outer = self.inner.regions, self.outer.regions[0]
        first = Builder(Region(), self.inner.span)
        zero = first.const(0, self._counter)
        outer.ops.insert(outer.ops.index(self.inner), zero.defining_op)
        carried = add_carried(self.inner, zero)
        b = Builder(Region(), self.members[0].span)
        element = self._element(b, carried.arg, name)
        following = b.value("add", carried.arg, b.const(1, self._counter))
        body.ops[:0] = b.region.ops
        carried.set_next(following)
        for op in self.members:
            op.operands[0] = element
