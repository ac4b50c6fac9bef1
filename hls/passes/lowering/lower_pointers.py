"""Pointer lowering: every access gets an address of its own, a memory object and a byte offset."""

from dataclasses import dataclass, replace

from ...diag import Code, CompileError
from ...ir import BOOL, I64, PTR, Attr, Builder, Function, IntType, MemoryObject, Op, Region, Value
from ...ir.clone import clone_function
from ...ir.rewrite import set_results
from ...ir.storage import first_address
from ...narrow import present
from ..manager import Form, FunctionPass
from .points_to import NULL, Roots

__all__ = ["LowerPointers", "parts_of"]

_WHICH = IntType(8)  # identifies a memory among those that a pointer may point into
#: ends of the names of the memories that replace one of pointers
_OFFSETS, _NUMBERS = "offset", "which"


@dataclass(frozen=True)
class LowerPointers(FunctionPass):
    """Pointer lowering by points-to sets. Before: pointers are values that flow through selects, `if` results and
    carried values (mem2reg has run), or are stored in private memories.

    After: the pointer of every load and store is an ``addr`` that only it uses, and no other value is a pointer. A
    pointer became its offset (i64) and, if it may point into several memories, the number of the memory; an access
    through such a pointer became one predicated access for each memory. A memory of pointers became one of offsets and
    one of numbers.
    """

    name = "lower-pointers"
    requires = frozenset({Form.INLINED})
    provides = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """Raises CompileError for an access whose memory cannot be determined."""
        result = clone_function(function)
        _Resolver(result).region(result.body)
        for memory in [m for m in result.memories.values() if m.element == PTR]:
            del result.memories[memory.name]
        return result


def parts_of(memory: MemoryObject) -> list[MemoryObject]:
    """The memories that may replace a memory: of pointers, those of offsets and of numbers; of other values, itself."""
    if memory.element != PTR:
        return [memory]
    kinds = {_OFFSETS: I64, _NUMBERS: _WHICH}
    return [replace(memory, name=f"{memory.name}.{part}", element=element) for part, element in kinds.items()]


class _Kept:
    """The memories that replace a memory of pointers: an offset is at the pointer's address, a number at an eighth of
    it."""

    def __init__(self, function: Function, memory: MemoryObject, roots: list[str]) -> None:
        self.roots = roots
        self.offsets = self._add(function, memory, _OFFSETS, I64)
        self.numbers = self._add(function, memory, _NUMBERS, _WHICH) if len(roots) > 1 else None

    @staticmethod
    def _add(function: Function, memory: MemoryObject, what: str, element) -> str:
        name = f"{memory.name}.{what}"
        while name in function.memories:
            name += "_"
        function.memories[name] = replace(memory, name=name, element=element)
        return name

    @property
    def names(self) -> list[str]:
        return [self.offsets, self.numbers] if self.numbers else [self.offsets]


class _Resolver:
    """Splits pointers into (offset, which); ``roots`` holds the memories that each may point into."""

    def __init__(self, function: Function) -> None:
        self.roots = Roots(function)
        self.numbers = {name: k for k, name in enumerate(function.memories)}
        self.arguments = {parameter.name for parameter in function.params if parameter.kind == "buffer"}
        self.split: dict[Value, tuple[Value, Value | None]] = {}
        self.kept = {
            m.name: _Kept(function, m, self.roots.inside(m.name))
            for m in list(function.memories.values())
            if m.element == PTR
        }

    def region(self, region: Region) -> None:
        before, region.ops = region.ops, []
        for op in before:
            handler = getattr(self, f"_on_{op.opcode}", _keep)
            handler(op, Builder(region, op.span))

    def _on_addr(self, op, b) -> None:
        (offset,) = op.operands
        offset = b.value("zext", offset, result=I64) if offset.type.bits < 64 else offset
        self.split[op.result] = (offset, None)

    def _on_ptradd(self, op, b) -> None:
        pointer, distance = op.operands
        if distance.type.bits < 64:
            distance = b.value("sext", distance, result=I64)
        offset, which = self.split[pointer]
        self.split[op.result] = (b.value("add", offset, distance, name=op.result.name), which)

    def _on_ptroffset(self, op, b) -> None:
        offset, _ = self.split[op.operands[0]]
        set_results(b.op("add", offset, b.const(0, I64)), [op.result])

    def _on_ptreq(self, op, b) -> None:
        """Equal offsets in the same memory; two buffers are two memories, and null is none. A buffer that the host did
        not pass is null, too."""
        pair = op.operands
        same = b.value("eq", *(self.split[p][0] for p in pair))
        roots = self.roots.ordered({name for p in pair for name in self.roots[p]})
        numbers = [self._number(p, roots, b) for p in pair]
        same = b.value("and", same, b.value("eq", *numbers))
        if NULL in roots:
            same = b.value("or", same, b.value("and", *(self._null(p, b) for p in pair)))
        set_results(b.op("and", same, b.true()), [op.result])

    def _on_ptraddr(self, op, b) -> None:
        """The first address of the object that it points into, plus the offset; 0 if it is null."""
        (pointer,) = op.operands
        roots, (offset, which) = self.roots[pointer], self.split[pointer]
        first = b.const(0, I64)
        for k, root in enumerate(roots):
            begin = b.const(0 if root == NULL else first_address(self.numbers[root]), I64)
            first = (
                begin if which is None else b.value("select", b.value("eq", which, b.const(k, _WHICH)), begin, first)
            )
        null = self._null(pointer, b)
        set_results(b.op("select", null, b.const(0, I64), b.value("add", first, offset)), [op.result])

    def _null(self, pointer: Value, b: Builder) -> Value:
        """Whether the pointer is null, or an argument for which the host passed no buffer."""
        found, which, roots = b.const(0, BOOL), self.split[pointer][1], self.roots[pointer]
        for k, root in enumerate(roots):
            if root == NULL:
                missing = b.true()
            elif root in self.arguments:
                missing = b.value("xor", b.value("given", attrs={Attr.MEM: root}), b.true())
            else:
                continue
            here = b.true() if which is None else b.value("eq", which, b.const(k, _WHICH))
            found = b.value("or", found, b.value("and", here, missing))
        return found

    def _on_const(self, op, b) -> None:
        if op.result.type == PTR:
            self.split[op.result] = (b.const(0, I64), None)
        else:
            _keep(op, b)

    def _on_fresh(self, op, b):
        kept = self.kept.get(op.attrs[Attr.MEM])
        if kept is None:
            return _keep(op, b)
        for name in kept.names:
            b.op("fresh", attrs={**op.attrs, Attr.MEM: name})
        return None

    def _on_select(self, op, b):
        if op.result.type != PTR:
            return _keep(op, b)
        condition, *arms = op.operands
        offsets = [self.split[arm][0] for arm in arms]
        which = None
        if self._many(op.result):
            which = b.value("select", condition, *(self._which(arm, op.result, b) for arm in arms))
        self.split[op.result] = (b.value("select", condition, *offsets), which)
        return None

    def _many(self, value: Value) -> bool:
        return len(self.roots[value]) > 1

    def _which(self, value: Value, target: Value, b: Builder) -> Value:
        """The number of the root of ``value`` among those of ``target``."""
        return self._number(value, self.roots[target], b)

    def _number(self, value: Value, wanted: list[str], b: Builder) -> Value:
        """The number of the root of ``value`` among those ``wanted``."""
        return _renumbered(self.split[value][1], self.roots[value], wanted, b)

    # control flow: a pointer becomes one or two integers

    def _parts(self, value: Value, target: Value, b: Builder) -> list[Value]:
        if value.type != PTR:
            return [value]
        offset = self.split[value][0]
        return [offset, self._which(value, target, b)] if self._many(target) else [offset]

    def _split_value(self, value: Value) -> list[Value]:
        """The replacements of a value that is defined by control flow."""
        if value.type != PTR:
            return [value]
        offset, which = Value(I64, value.name), Value(_WHICH, value.name) if self._many(value) else None
        self.split[value] = (offset, which)
        return [offset, which] if which is not None else [offset]

    def _on_if(self, op, b) -> None:
        for inner in op.regions:
            self.region(inner)
            self._end(inner, op.results, 0)
        set_results(op, [part for value in op.results for part in self._split_value(value)])
        b.region.ops.append(op)

    def _on_loop(self, op, b) -> None:
        results, (body,) = op.results, op.regions
        inits = [part for v, target in zip(op.operands[1:], results) for part in self._parts(v, target, b)]
        op.operands = [op.operands[0], *inits]
        body.args = [part for value in body.args for part in self._split_value(value)]
        for k, value in enumerate(body.args):
            value.owner, value.index = body, k
        self.region(body)
        self._end(body, results, 1)
        set_results(op, [part for value in results for part in self._split_value(value)])
        b.region.ops.append(op)

    def _end(self, region: Region, results: list[Value], first: int) -> None:
        """Split operands of the terminator, from operand ``first`` on, as its results are split."""
        end = region.ops.pop()
        b = Builder(region, end.span)
        parts = [part for v, target in zip(end.operands[first:], results) for part in self._parts(v, target, b)]
        end.operands = end.operands[:first] + parts
        region.ops.append(end)

    # accesses

    def _on_load(self, op, b) -> None:
        pointer, pred = op.operands
        if op.result.type == PTR:
            self._load_pointer(op, b)
            return
        loads = [
            (here, b.value("load", b.addr(root, self.split[pointer][0]), here, result=op.result.type, attrs=op.attrs))
            for root, here in self._places(op, pointer, pred, b)
        ]
        set_results(
            _chosen(loads, b).defining_op, [op.result]
        )  # keeps the result value, so that its users need not change

    def _on_store(self, op, b) -> None:
        pointer, value, pred = op.operands
        if value.type == PTR:
            self._store_pointer(op, b)
            return
        for root, here in self._places(op, pointer, pred, b):
            b.op("store", b.addr(root, self.split[pointer][0]), value, here, attrs=op.attrs)

    def _on_atomic(self, op, b) -> None:
        pointer, pred, *rest = op.operands
        type = op.result.type
        done = [
            (here, b.value("atomic", b.addr(root, self.split[pointer][0]), here, *rest, result=type, attrs=op.attrs))
            for root, here in self._places(op, pointer, pred, b)
        ]
        set_results(_chosen(done, b).defining_op, [op.result])

    def _load_pointer(self, op, b) -> None:
        """Load a pointer from memory: its offset, and its number among all memories that it may point into."""
        pointer, pred = op.operands
        roots, offsets, numbers = self.roots[op.result], [], []
        for name, here in self._places(op, pointer, pred, b):
            kept, place = self.kept[name], self.split[pointer][0]
            offsets.append((here, b.value("load", b.addr(kept.offsets, place), here, result=I64)))
            which = None
            if kept.numbers:
                eighth = b.value("lshr", place, b.const(3, I64))
                which = b.value("load", b.addr(kept.numbers, eighth), here, result=_WHICH)
            numbers.append((here, _renumbered(which, kept.roots, roots, b)))
        self.split[op.result] = (_chosen(offsets, b), _chosen(numbers, b) if len(roots) > 1 else None)

    def _store_pointer(self, op, b) -> None:
        pointer, value, pred = op.operands
        for name, here in self._places(op, pointer, pred, b):
            kept, place = self.kept[name], self.split[pointer][0]
            b.op("store", b.addr(kept.offsets, place), self.split[value][0], here)
            if kept.numbers:
                eighth = b.value("lshr", place, b.const(3, I64))
                b.op("store", b.addr(kept.numbers, eighth), self._number(value, kept.roots, b), here)

    def _places(self, op, pointer, pred, b) -> list[tuple[str, Value]]:
        """(memory, predicate) of every memory that the access may address."""
        roots = self.roots[pointer]
        if set(roots) <= {NULL}:
            raise CompileError.at(
                op.span,
                "it cannot be told at compile time which object this pointer points to",
                "set the pointer from a kernel argument or an array before it is used",
                code=Code.POINTER_UNRESOLVED,
            )
        which = self.split[pointer][1]
        if which is None:
            return [(roots[0], pred)]
        return [
            (root, b.value("and", pred, b.value("eq", which, b.const(k, _WHICH))))
            for k, root in enumerate(roots)
            if root != NULL
        ]


def _chosen(values: list[tuple[Value, Value]], b: Builder) -> Value:
    """Of (predicate, value) pairs the value whose predicate holds."""
    _, found = values[-1]
    for here, other in reversed(values[:-1]):
        found = b.value("select", here, other, found)
    return found


def _renumbered(which: Value | None, own: list[str], wanted: list[str], b: Builder) -> Value:
    """Translate ``which`` from a number among ``own`` (None: there is at most one) to a number among ``wanted``."""
    if len(own) <= 1:
        return b.const(wanted.index(own[0]) if own else 0, _WHICH)
    if own == wanted:
        return present(which)
    found = b.const(0, _WHICH)
    for k, root in enumerate(own):
        here = b.value("eq", present(which), b.const(k, _WHICH))
        found = b.value("select", here, b.const(wanted.index(root), _WHICH), found)
    return found


def _keep(op: Op, b: Builder) -> None:
    b.region.ops.append(op)
