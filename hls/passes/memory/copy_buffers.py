"""Buffer copies: a kernel that waits for external memory works on copies of its small buffers in on-chip memory."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce

from ...analysis.predicates.implication import Exclusions
from ...ir import (
    BOOL,
    Attr,
    Builder,
    Copying,
    Function,
    IntType,
    MemoryObject,
    Op,
    Region,
    Type,
    Value,
    has,
    is_access,
    may_share,
    memory_name,
    moved_type,
    walk,
)
from ...ir.accesses import PREDICATES, predicate
from ...ir.clone import clone_function, clone_ops
from ...ir.launch import BYTES_BITS, bytes_argument
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["CopyBuffers", "Uncopied"]

#: of the marks that say which elements were stored
MARK = IntType(8)
COUNT = IntType(BYTES_BITS)
#: most arrays of marks for a buffer
MOST_MARKS = 4
#: operations beside pure ones that a kernel with copies may have
ALLOWED = frozenset({"load", "store", "loop", "fresh", "return", "yield"})


@dataclass(frozen=True)
class Uncopied:
    """A buffer of a kernel that may have no copy, and ``why``, as a sentence about it says it."""

    kernel: str
    buffer: str
    why: str


@dataclass(frozen=True)
class CopyBuffers(FunctionPass):
    """Data copying into on-chip memory (scratchpad allocation; Panda, Dutt and Nicolau 1997), with a choice at run
    time. Before: a flat kernel of one work-item, without tokens. After: its body twice, of which a launch executes one.
    The first works on arrays of the kernel instead of the buffers ``names`` (None: all that may be copied); loops in
    front of it copy these buffers there, ``side_by_side`` elements in an iteration (of a buffer that the kernel only
    loads from, of one that it stores to), and loops behind it write the elements back that were stored. It is executed
    where each of the buffers has at most ``longest`` bytes, which hidden arguments say. The second is the kernel as it
    was, or another form of it, ``otherwise``: of the same program, by the same passes, that suits external memory.

    A buffer may be copied if all its accesses are of one type, no other buffer of the kernel may overlap it, and the
    kernel does not synchronize with others (channels, atomic operations, barriers, volatile buffers). Only bytes of the
    buffer are read, and only elements that the program stores are written. ``record`` gets those of ``names`` that may
    not be copied.
    """

    longest: int = 0
    side_by_side: tuple[int, int] = (1, 1)
    names: frozenset[str] | None = None
    record: Callable[[Uncopied], None] | None = None
    otherwise: Function | None = None
    name = "copy-buffers"
    requires = frozenset({Form.FLAT, Form.ACCESSES_LEGAL})
    forbids = frozenset({Form.ORDERED, Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy with both bodies; the function itself where no buffer is worth a copy, or may have one."""
        if not self.longest:
            return function
        accesses, shared = _accesses(function), _shared(function)
        types: dict[str, Type] = {}
        for name in [name for name in accesses if self.names is None or name in self.names]:
            found = shared or self._element(function, name, accesses)
            if isinstance(found, Type):
                types[name] = found
            elif self.record is not None and function.memories[name].space != "private":
                self.record(Uncopied(function.name, name, found))
        if not types:
            return function
        return _Copies(clone_function(function), self.longest, self.side_by_side, types, self.otherwise).build()

    def _element(self, function: Function, name: str, accesses: Mapping[str, list[Op]]) -> Type | str:
        """The type of all accesses of a buffer that may be copied; of any other, why it may not."""
        memory, found = function.memories[name], {moved_type(op) for op in accesses[name]}
        if memory.space != "global":
            return f"it is in {memory.space} memory"
        if memory.volatile:
            return "it is volatile, so every access reaches memory"
        others = [other for other in accesses if other != name and may_share(memory, function.memories[other])]
        if others:
            return f"{others[0]} may be the same buffer: declare both restrict if no launch passes overlapping ones"
        if len(found) != 1:
            return "its accesses are of several types"
        (type,) = found
        if type.bytes.bit_count() != 1:
            return f"its elements of {type.bytes} bytes are no power of two"
        return type if type.bytes <= self.longest else f"an element has more than the {self.longest:,} bytes of a copy"


def _shared(function: Function) -> str:
    """Why others may see the buffers of a kernel while it runs; "" for one work-item that synchronizes with nothing."""
    if function.attrs.get(Attr.NDRANGE):
        return "work-items of a launch share it"
    if function.attrs.get(Attr.NUM_COMPUTE_UNITS, 1) != 1:
        return "several compute units share it"
    if function.attrs.get(Attr.AUTORUN):
        return "an autorun kernel never ends, so nothing would be copied back"
    others = [op.opcode for op in walk(function.body) if not has(op, "pure") and op.opcode not in ALLOWED]
    if others:
        return f"the kernel synchronizes with others while it runs ({others[0].replace('_', ' ')})"
    return ""


def _accesses(function: Function) -> dict[str, list[Op]]:
    """The loads and stores of each memory."""
    found: dict[str, list[Op]] = {}
    for op in walk(function.body):
        if is_access(op):
            found.setdefault(memory_name(op), []).append(op)
    return found


class _Copies:
    """Builds both bodies of a kernel, in place, where the buffers named in ``types``, of elements of these types, have
    copies of up to ``longest`` bytes, which ``side_by_side`` elements enter in an iteration. The second is that of
    ``otherwise`` (None: the function's own)."""

    def __init__(
        self,
        function: Function,
        longest: int,
        side_by_side: tuple[int, int],
        types: Mapping[str, Type],
        otherwise: Function | None,
    ) -> None:
        self.function, self.longest, self.types, self.otherwise = function, longest, types, otherwise
        self.stored = {memory_name(op) for op in walk(function.body) if op.opcode == "store"}
        self.moved = {name: side_by_side[name in self.stored] for name in types}
        self.counts: dict[str, Value] = {}

    def build(self) -> Function:
        """The function."""
        function, body = self.function, self.function.body
        *own, end = body.ops
        before, after = Builder(Region(), function.span), Builder(Region(), function.span)
        fits = self._fits(before)
        function.attrs[Attr.COPY_BYTES] = self.longest
        arrays = {name: self._copy(name, type) for name, type in self.types.items()}
        marks = {name: self._marks(name) for name in self.types if name in self.stored}
        for name in self.types:
            self._copy_in(before, fits, name, arrays[name], marks.get(name, ()))
        copy = Region(ops=clone_ops(own, {}))
        self._redirect(copy, arrays, marks)
        _under(copy, fits)
        for name, those in marks.items():
            self._copy_out(after, fits, name, arrays[name], those)
        rest = Region(ops=own if self.otherwise is None else self._ops_of(self.otherwise))
        _under(rest, after.value("xor", fits, after.true()))
        for op in walk(rest):
            if op.opcode == "loop":
                op.attrs[Attr.COPYING] = Copying.WITHOUT
        body.ops = [*before.region.ops, *copy.ops, *after.region.ops, *rest.ops, end]
        return function

    def _ops_of(self, other: Function) -> list[Op]:
        """Copies of the operations of another form of the kernel, which access its memories. Arrays of that form that
        the function has not, or has with other properties, become arrays of the function."""
        memories, own = self.function.memories, dict[str, str]()
        for name, memory in other.memories.items():
            if memories.get(name) != memory:
                assert memory.space == "private", f"{name} differs between two forms of {other.name}"
                own[name] = self._name(name)
                memories[own[name]] = replace(memory, name=own[name])
        named = {value.name: value for value in self.function.args}
        ops = clone_ops(other.body.ops[:-1], {value: named[present(value.name)] for value in other.args})
        _rename(Region(ops=ops), own)
        return ops

    def _fits(self, b: Builder) -> Value:
        """Whether each of the buffers has an element, and at most as many as its array."""
        fits = b.true()
        for name, type in self.types.items():
            size = self._argument(name)
            self.counts[name] = b.value("lshr", size, b.const(type.bytes.bit_length() - 1, COUNT))
            fits = b.value("and", fits, b.value("ule", b.const(type.bytes, COUNT), size))
            fits = b.value("and", fits, b.value("ule", size, b.const(self.longest, COUNT)))
        return fits

    def _argument(self, name: str) -> Value:
        """The hidden argument that has the bytes of a buffer."""
        function, hidden = self.function, bytes_argument(name)
        function.attrs[Attr.LAUNCH_ARGS] = (*function.attrs.get(Attr.LAUNCH_ARGS, ()), hidden)
        function.args.append(Value(COUNT, hidden, function.body, len(function.args)))
        return function.args[-1]

    def _copy(self, name: str, type: Type) -> str:
        array, memories = self._array(name, self.function.memories[name], "_copy", type), self.function.memories
        memories[array] = replace(memories[array], attrs=((Attr.COPY_OF, name),))
        return array

    def _array(self, name: str, memory: MemoryObject, suffix: str, type: Type) -> str:
        array = self._name(name + suffix)
        length = -(-self.longest // (self.types[name].bytes * self.moved[name])) * self.moved[name]
        self.function.memories[array] = MemoryObject(array, "private", type, length, span=memory.span)
        return array

    def _marks(self, name: str) -> tuple[str, ...]:
        """The arrays that say which elements were stored: as many as an iteration may store at most, up to
        ``MOST_MARKS``, as two stores to one array take turns. The elements themselves may be stored less often, where
        what is stored next replaces them."""
        body, memory = self.function.body, self.function.memories[name]
        regions = [body, *(inner for op in walk(body) for inner in op.regions)]
        places = [place for each in regions for place in _places(each, name).values()]
        return tuple(self._array(name, memory, "_stored", MARK) for _ in range(max(places) + 1))

    def _name(self, wanted: str) -> str:
        while wanted in self.function.memories:
            wanted += "_"
        return wanted

    def _copy_in(self, b: Builder, fits: Value, name: str, array: str, marks: tuple[str, ...]) -> None:
        """A loop over the buffer that loads its elements, and says that none is stored yet. The array has room for what
        the last iteration stores behind the end."""
        inside, group = self._loop_body(name)
        type = self.types[name]
        for number in self._numbers(inside, name, group):
            within = inside.true() if number is group else inside.value("ult", number, self.counts[name])
            value = inside.value("load", _element(inside, name, number, type), within, result=type)
            inside.op("store", _element(inside, array, number, type), value, inside.true())
            for mark in marks:
                inside.op("store", _element(inside, mark, number, MARK), inside.const(0, MARK), inside.true())
        self._close(b, fits, "copy", name, inside, group)

    def _copy_out(self, b: Builder, fits: Value, name: str, array: str, marks: tuple[str, ...]) -> None:
        """A loop over the buffer that writes the elements back that were stored."""
        inside, group = self._loop_body(name)
        type = self.types[name]
        for number in self._numbers(inside, name, group):
            value = inside.value("load", _element(inside, array, number, type), inside.true(), result=type)
            made = [
                inside.value("load", _element(inside, mark, number, MARK), inside.true(), result=MARK) for mark in marks
            ]
            stored = inside.value("trunc", reduce(partial(inside.value, "or"), made), result=BOOL)
            inside.op("store", _element(inside, name, number, type), value, stored)
        self._close(b, fits, "copy back", name, inside, group)

    def _numbers(self, b: Builder, name: str, group: Value) -> Iterator[Value]:
        """The numbers of the elements of a buffer that an iteration moves, the first of which is ``group``."""
        return (b.value("add", group, b.const(k, COUNT)) if k else group for k in range(self.moved[name]))

    def _loop_body(self, name: str) -> tuple[Builder, Value]:
        body = Region()
        body.args = [Value(COUNT, "", body, 0)]
        return Builder(body, self.function.memories[name].span), body.args[0]

    def _close(self, b: Builder, fits: Value, label: str, name: str, inside: Builder, group: Value) -> None:
        """Ends the body of a loop over groups of elements, of which the first is number ``group``."""
        following = inside.value("add", group, inside.const(self.moved[name], COUNT))
        again = inside.value("ult", following, self.counts[name])
        inside.op("yield", again, following)
        spare, b.span = b.span, inside.span
        attrs = {Attr.UNROLL: 1, Attr.LABEL: label, Attr.COPYING: Copying.MOVES}
        b.op("loop", fits, b.const(0, COUNT), attrs=attrs, results=[COUNT], regions=[inside.region])
        b.span = spare

    def _redirect(self, copy: Region, arrays: Mapping[str, str], marks: Mapping[str, tuple[str, ...]]) -> None:
        """Let the operations of a copied body access the arrays, and mark what they store; arrays of the kernel have a
        second memory each."""
        own: dict[str, str] = dict(arrays)
        made = {*arrays.values(), *(mark for those in marks.values() for mark in those)}
        for name, memory in list(self.function.memories.items()):
            if memory.space == "private" and name not in made:
                own[name] = self._name(name + "_copy")
                self.function.memories[own[name]] = replace(
                    memory, name=own[name], attrs=(*memory.attrs, (Attr.COPY_OF, name))
                )
        for region in [copy, *(inner for op in walk(copy) for inner in op.regions)]:
            mark = {op: those[k] for name, those in marks.items() for op, k in _places(region, name).items()}
            region.ops = [new for op in region.ops for new in self._marked(op, mark)]
        _rename(copy, own)

    def _marked(self, op: Op, marks: Mapping[Op, str]) -> list[Op]:
        """The operation, with one in front of it that marks the element which it stores, in its array of marks."""
        if op not in marks:
            return [op]
        b = Builder(Region(), op.span)
        offset = op.operands[0].defining_op.operands[0]
        size = moved_type(op).bytes
        place = b.value("lshr", offset, b.const(size.bit_length() - 1, offset.type)) if size > 1 else offset
        b.op("store", b.value("addr", place, attrs={Attr.MEM: marks[op]}), b.const(1, MARK), op.operands[2])
        return [*b.region.ops, op]


def _places(region: Region, name: str) -> dict[Op, int]:
    """The number of the array of marks for each store of a region to a buffer. Of stores with one number at most one is
    executed in an iteration, except for those beyond ``MOST_MARKS``."""
    exclusions, sharing = Exclusions(), [list[Op]() for _ in range(MOST_MARKS)]
    places: dict[Op, int] = {}
    for op in region.ops:
        if op.opcode != "store" or memory_name(op) != name:
            continue
        free = (k for k, ops in enumerate(sharing) if all(exclusions.never_both(*_conditions(op, one)) for one in ops))
        places[op] = next(free, len(places) % MOST_MARKS)
        sharing[places[op]].append(op)
    return places


def _conditions(one: Op, other: Op) -> tuple[Value, Value]:
    return predicate(one), predicate(other)


def _rename(region: Region, own: Mapping[str, str]) -> None:
    """Rename the memories that operations of a region access, and that its loops name."""
    for op in walk(region):
        if (name := str(op.attrs.get(Attr.MEM, ""))) in own:
            op.attrs[Attr.MEM] = own[name]
        _rename_in_loop(op, own)


def _rename_in_loop(op: Op, own: Mapping[str, str]) -> None:
    """Rename the memories that attributes of a loop name."""
    for key in (Attr.OWN, Attr.ANEW):
        if key in op.attrs:
            op.attrs[key] = tuple(sorted(own.get(name, name) for name in op.attrs[key]))
    if Attr.IVDEP in op.attrs:
        op.attrs[Attr.IVDEP] = tuple((own.get(name, name), safelen) for name, safelen in op.attrs[Attr.IVDEP])


def _element(b: Builder, memory: str, number: Value, type: Type) -> Value:
    """The address of an element."""
    return b.value("addr", b.value("mul", number, b.const(type.bytes, COUNT)), attrs={Attr.MEM: memory})


def _under(region: Region, condition: Value) -> None:
    """Let the loops and accesses of a body be executed only under a condition, in place; those inside of loops are,
    with their loops."""
    guarded: list[Op] = []
    for op in region.ops:
        if (place := PREDICATES.get(op.opcode)) is not None:
            b = Builder(Region(), op.span)
            op.operands[place] = b.value("and", condition, op.operands[place])
            guarded += b.region.ops
        guarded.append(op)
    region.ops = guarded
