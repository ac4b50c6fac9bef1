"""Shift-register inference: shifted arrays become registers, and delay lines in block RAM between accessed elements."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from ...diag import Code, CompileError
from ...ir import BOOL, I64, Attr, Builder, Function, IntType, MemoryObject, Op, Value, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ...ir.snippets import counted_loop, element_pointer, read, write
from ...limits import exceeded
from ...narrow import present
from ..manager import Form, FunctionPass
from .array_replacement import ArrayReplacement
from .circular_buffer import MOST_STEPS, CircularBuffer
from .storage_attributes import wants_registers

__all__ = ["LowerShiftRegisters"]


@dataclass(frozen=True)
class LowerShiftRegisters(FunctionPass):
    """Shift-register inference. Before: unrolled; arrays with ``shift`` and ``fill``. After: none of these operations.

    An array of up to ``max_bits`` bits is moved element by element. A larger one with constant indices only becomes a
    variable for each accessed element (a tap), and a circular buffer for each long stretch between them (more than
    ``ring_bits``), of which each shift reads the oldest element and overwrites it. One with other indices becomes a
    single circular buffer, see :class:`~hls.passes.memory.circular_buffer.CircularBuffer`. Of any other, more than
    ``most_moved`` elements are moved by a loop, unless a pragma asks to unroll it. All else is moved element by
    element, in at most ``max_ops`` operations: else CompileError.
    """

    max_bits: int = 1024
    max_ops: int = 20_000
    most_moved: int = 512
    ring_bits: int = 1024  #: bits up to which mem2reg would build multiplexers for a buffer
    name = "lower-shift-registers"
    requires = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """A copy in which accesses of registers or circular buffers replace ``shift`` and ``fill``; the function
        itself if it has none."""
        whole = {op.attrs[Attr.MEM] for op in walk(function.body) if op.opcode in ("shift", "fill")}
        if not whole:
            return function
        result = clone_function(function)
        for name in sorted(whole):
            self._memory(result, result.memories[name])
        return result

    def _memory(self, function: Function, memory: MemoryObject) -> None:
        uses = _Uses(function, memory)
        small = memory.elements * memory.element.bits <= self.max_bits or wants_registers(memory)
        if uses.plain and not small:
            chains = _chains(uses, self.ring_bits) if uses.constant else None
            if chains is not None:
                _Chained(function, memory, uses, chains).build()
                return
            if CircularBuffer.fits(uses):
                CircularBuffer(function, memory, uses).build()
                return
        moved = _Moved(memory, memory.elements if small else self.most_moved)
        self._check_size(moved, uses)
        moved.build(function)

    def _check_size(self, moved: "_Moved", uses: "_Uses") -> None:
        single = [op for op in uses.shifts + uses.fills if not moved.by_loop(op)]
        total = 0
        for op in single:
            total += len(_targets(op)) * (4 if op.opcode == "shift" else 2)  # addresses, loads and stores
            if total > self.max_ops:
                raise CompileError.at(
                    op.span,
                    f"shifting '{uses.memory.name}', element by element, makes {total:,} operations; the limit is "
                    f"{self.max_ops:,}",
                    "access it at constant indices only, or shift all of it by one distance of at most "
                    f"{MOST_STEPS}{', or leave out #pragma unroll' if Attr.UNROLL in op.attrs else ''}; "
                    f"{exceeded('unrolled')}",
                    code=Code.BUDGET,
                )


class _Uses:
    """The uses of an array: ``shifts`` and ``fills`` of it, ``accesses`` to elements."""

    def __init__(self, function: Function, memory: MemoryObject) -> None:
        self.memory = memory
        self.addresses = [op for op in walk(function.body) if op.opcode == "addr" and op.attrs[Attr.MEM] == memory.name]
        pointers = {op.result for op in self.addresses}
        users = [op for op in walk(function.body) if pointers.intersection(op.operands)]
        self.accesses = [op for op in users if op.opcode in ("load", "store") and op.operands[0] in pointers]
        self.shifts, self.fills = (
            [op for op in walk(function.body) if op.opcode == kind and op.attrs[Attr.MEM] == memory.name]
            for kind in ("shift", "fill")
        )
        conditional = {
            inner for op in walk(function.body) if op.opcode == "if" for part in op.regions for inner in walk(part)
        }
        self.attrs = ((Attr.CONDITIONAL, True),) if conditional.intersection(self.shifts) else ()
        self.plain = len(users) == len(self.accesses) and all(self._is_plain(op) for op in self.accesses)

    def _is_plain(self, op: Op) -> bool:
        """Whether the access moves one whole element."""
        type = op.result.type if op.opcode == "load" else op.operands[1].type
        place = self.offset(op)
        return type == self.memory.element and Attr.ALIGN not in op.attrs and (place is None or place % type.bytes == 0)

    def offset(self, access: Op) -> int | None:
        return constant(access.operands[0].defining_op.operands[0])

    @property
    def constant(self) -> bool:
        return all(self.offset(op) is not None for op in self.accesses)

    @property
    def places(self) -> set[int]:
        """The elements that are accessed, if all indices are constant."""
        return {present(self.offset(op)) // self.memory.element.bytes for op in self.accesses}


@dataclass(frozen=True)
class _Moved:
    """An array that is not replaced: its elements are moved one by one, or by a loop where they are more than ``most``
    and no pragma asks to unroll it."""

    memory: MemoryObject
    most: int

    def build(self, function: Function) -> None:
        rewrite(function.body, self._visit)

    def by_loop(self, op: Op) -> bool:
        """Whether a loop moves the elements of this shift or fill."""
        return Attr.UNROLL not in op.attrs and len(_targets(op)) > self.most

    def _visit(self, op: Op, b: Builder) -> list[Value] | None:
        if op.opcode not in ("shift", "fill") or op.attrs[Attr.MEM] != self.memory.name:
            return None
        targets = _targets(op)
        if self.by_loop(op):
            label = f"{self.memory.name} {'moved' if op.opcode == 'shift' else '= value'}"
            counted_loop(len(targets), label, b, partial(self._move_one, op, targets))
        elif op.opcode == "fill":
            for k in targets:
                write(self.memory, k, op.operands[0], b)
        else:
            values = [read(self.memory, k - op.attrs[Attr.BY], b) for k in targets]
            for k, value in zip(targets, values, strict=True):
                write(self.memory, k, value, b)
        return []

    def _move_one(self, op: Op, targets: range, count: Value, b: Builder) -> None:
        """Element ``count`` of those in ``targets``."""
        wide = b.value("mul", b.value("zext", count, result=I64), b.const(targets.step, I64))
        place = b.value("add", wide, b.const(targets.start, I64))
        if op.opcode == "fill":
            value = op.operands[0]
        else:
            before = b.value("sub", place, b.const(op.attrs[Attr.BY], I64))
            value = read(self.memory, before, b)
        write(self.memory, place, value, b)


def _targets(op: Op) -> range:
    """The elements that a shift or fill sets, in the order that reads each before it is set."""
    low, high = op.attrs[Attr.LOW], op.attrs[Attr.HIGH]
    by = op.attrs[Attr.BY] if op.opcode == "shift" else 0
    return range(high - 1, low + by - 1, -1) if by > 0 else range(low, high + by)


@dataclass(frozen=True)
class _Stretch:
    """Neighbouring elements of a chain, in the order of movement; with ``ring`` a circular buffer, else a register for
    each."""

    elements: tuple[int, ...]
    ring: bool


def _chains(uses: _Uses, ring_bits: int) -> dict[tuple[int, int], list[list[_Stretch]]] | None:
    """For each shifted part (low, high) the chains of elements that move along each other; None if parts overlap, if
    one is shifted by different distances, or if a filled range ends inside a buffer."""
    parts = {(op.attrs[Attr.LOW], op.attrs[Attr.HIGH]): op.attrs[Attr.BY] for op in uses.shifts}
    if len({(op.attrs[Attr.LOW], op.attrs[Attr.HIGH], op.attrs[Attr.BY]) for op in uses.shifts}) != len(parts):
        return None
    ordered = sorted(parts)
    if any(one[1] > other[0] for one, other in pairwise(ordered)):
        return None
    ends = {end for op in uses.fills for end in (op.attrs[Attr.LOW], op.attrs[Attr.HIGH])}
    found = {}
    for part, by in parts.items():
        line = range(*part) if by > 0 else range(part[1] - 1, part[0] - 1, -1)
        chains = [list(_stretches(line[k :: abs(by)], uses, ring_bits)) for k in range(abs(by))]
        for stretch in (s for chain in chains for s in chain if s.ring):
            low, high = min(stretch.elements), max(stretch.elements)
            if any(low < end <= high for end in ends):
                return None
        found[part] = chains
    return found


def _stretches(line, uses: _Uses, ring_bits: int) -> Iterable[_Stretch]:
    places, bits, quiet = uses.places, uses.memory.element.bits, []
    for k, element in enumerate(line):
        if k and element not in places:
            quiet.append(element)
            continue
        if quiet:
            yield _Stretch(tuple(quiet), len(quiet) * bits > ring_bits)
        yield _Stretch((element,), False)
        quiet = []


@dataclass(frozen=True)
class _Head:
    """The variables for the head of a buffer of ``length`` elements: its index ``place``, and ``last``, whether that is
    the last index (computed one shift ahead, so that the comparison is not on the recurrence of the head)."""

    place: MemoryObject
    last: MemoryObject
    length: int

    def begin(self, b: Builder) -> None:
        write(self.place, 0, b.const(0, self.place.element), b)
        write(self.last, 0, b.const(0, BOOL), b)

    def move(self, head: Value, b: Builder) -> None:
        following = b.value("add", head, b.const(1, head.type))
        write(self.place, 0, b.value("select", read(self.last, 0, b), b.const(0, head.type), following), b)
        write(self.last, 0, b.value("eq", head, b.const(self.length - 2, head.type)), b)


class _Chained(ArrayReplacement):
    """An array split into a variable for every element that is accessed or in a short stretch, and buffers for long
    stretches."""

    def __init__(self, function: Function, memory: MemoryObject, uses: _Uses, parts) -> None:
        super().__init__(function, memory, uses)
        self.parts = parts
        self.cells: dict[int, MemoryObject] = {}
        self.buffers: dict[_Stretch, MemoryObject] = {}
        self.heads: dict[tuple, _Head] = {}  #: by the shifted part, and the length of a buffer in it

    def build(self) -> None:
        found = [(part, s) for part, chains in self.parts.items() for chain in chains for s in chain]
        for part, stretch in found:
            if stretch.ring:
                self._add_buffer(part, stretch)
        singles = {k for _, s in found if not s.ring for k in s.elements} | self.uses.places
        for k in sorted(singles):
            self.cells[k] = self._add(str(k), 1)
        self._replace()

    def _add_buffer(self, part: tuple[int, int], stretch: _Stretch) -> None:
        ends = sorted((stretch.elements[0], stretch.elements[-1]))
        length = len(stretch.elements)
        self.buffers[stretch] = self._add(
            f"{ends[0]}..{ends[1]}", length, attrs=((Attr.DELAY_LINE, length), *self.uses.attrs)
        )
        if (part, length) not in self.heads:
            self.heads[part, length] = _Head(
                self._add(f"head{length}", 1, IntType((length - 1).bit_length())),
                self._add(f"last{length}", 1, BOOL),
                length,
            )

    def _begin(self, b: Builder) -> None:
        """All heads are 0 at the start of the kernel."""
        for head in self.heads.values():
            head.begin(b)

    def _access(self, op: Op, b: Builder) -> list[Value]:
        cell = self.cells[self.uses.offset(op) // self.memory.element.bytes]
        if op.opcode == "load":
            return [b.value("load", b.addr(cell.name), *op.operands[1:], result=op.result.type, name=op.result.name)]
        b.op("store", b.addr(cell.name), *op.operands[1:])
        return []

    def _fresh(self, op: Op, b: Builder) -> None:
        for memory in (*self.cells.values(), *self.buffers.values()):
            b.op("fresh", attrs={**op.attrs, Attr.MEM: memory.name})

    def _fill(self, op: Op, b: Builder) -> None:
        value, covered = op.operands[0], range(op.attrs[Attr.LOW], op.attrs[Attr.HIGH])
        for k, cell in self.cells.items():
            if k in covered:
                write(cell, 0, value, b)
        buffers = [buffer for stretch, buffer in self.buffers.items() if stretch.elements[0] in covered]
        for length in dict.fromkeys(buffer.length for buffer in buffers):
            same = [buffer for buffer in buffers if buffer.length == length]
            counted_loop(present(length), f"{self.memory.name} = value", b, partial(_store_all, same, value))

    def _shift(self, op: Op, b: Builder) -> None:
        part = op.attrs[Attr.LOW], op.attrs[Attr.HIGH]
        heads = {length: read(head.place, 0, b) for (mine, length), head in self.heads.items() if mine == part}
        new = []  # read everything before writing anything
        for chain in self.parts[part]:
            given = None
            for stretch in chain:
                if stretch.ring:
                    given = self._through(self.buffers[stretch], present(given), heads, b)
                    continue
                for k in stretch.elements:
                    if given is not None:
                        new.append((self.cells[k], given))
                    given = read(self.cells[k], 0, b)
        for cell, value in new:
            write(cell, 0, value, b)
        for length, head in heads.items():
            self.heads[part, length].move(head, b)

    def _through(self, buffer: MemoryObject, given: Value, heads: dict[int, Value], b: Builder) -> Value:
        """The oldest element of a buffer; ``given`` overwrites it."""
        pointer = element_pointer(buffer, heads[buffer.elements], b)
        oldest = b.value("load", pointer, b.true(), result=buffer.element, name=buffer.name)
        b.op("store", pointer, given, b.true())
        return oldest


def _store_all(buffers: Iterable[MemoryObject], value: Value, place: Value, b: Builder) -> None:
    """Store the value to one element of each buffer."""
    for buffer in buffers:
        b.op("store", element_pointer(buffer, place, b), value, b.true())
