"""A shifted array as one circular buffer: a shift moves its head, not the elements."""

from typing import Any

from ...ir import Attr, Builder, IntType, Op, Value
from ...ir.element_index import element_index
from ...ir.rewrite import constant
from ...ir.snippets import counted_loop, element_pointer, read, write
from .array_replacement import ArrayReplacement

__all__ = ["CircularBuffer"]

#: most elements that a shift may move by; each of them is a store
MOST_STEPS = 8


class CircularBuffer(ArrayReplacement):
    """An array whose shifts all move the whole array by the same number of elements, s.

    Counted in the direction of movement, the first s elements are registers (nothing moves into them); element p after
    them is at ``head + p - s`` of a buffer whose length is a power of two. A shift subtracts s from the head and stores
    the registers: so a conditional shift costs no more than an unconditional one.
    """

    @staticmethod
    def fits(uses: Any) -> bool:
        """Whether all shifts and fills concern the whole array, with one common distance of at most ``MOST_STEPS``."""
        whole = 0, uses.memory.length
        steps = {op.attrs[Attr.BY] for op in uses.shifts}
        parts = {(op.attrs[Attr.LOW], op.attrs[Attr.HIGH]) for op in (*uses.shifts, *uses.fills)}
        return len(steps) == 1 and parts == {whole} and abs(*steps) <= MOST_STEPS

    def build(self) -> None:
        """Add head, buffer and registers to the function, and replace all accesses of the array."""
        memory, (by, *_) = self.memory, (op.attrs[Attr.BY] for op in self.uses.shifts)
        self.by, self.steps = by, abs(by)
        bits = max(1, (memory.length - self.steps - 1).bit_length())
        attrs = self.uses.attrs
        self.head = self._add("head", 1, IntType(bits), attrs)
        self.buffer = self._add("ring", 1 << bits, attrs=attrs)
        self.cells = [self._add(str(k), 1, attrs=attrs) for k in range(self.steps)]
        self._replace()

    def _begin(self, b: Builder) -> None:
        write(self.head, 0, b.const(0, self.head.element), b)

    def _access(self, op: Op, b: Builder) -> list[Value]:
        size, length = self.memory.element.bytes, self.memory.elements
        index = element_index(op.operands[0].defining_op.operands[0], size, b)
        place = index if self.by > 0 else b.value("sub", b.const(length - 1, index.type), index)
        return [self._load(op, place, b)] if op.opcode == "load" else self._store(op, place, b)

    def _pointer(self, place: Value, b: Builder) -> Value:
        """The address in the buffer of an element, counted in the direction of movement."""
        type = self.head.element
        low = b.value("trunc", place, result=type) if place.type != type else place
        at = b.value("add", low, b.value("sub", read(self.head, 0, b), b.const(self.steps, type)))
        return element_pointer(self.buffer, at, b)

    def _load(self, op: Op, place: Value, b: Builder) -> Value:
        on, number = op.operands[1], self._fixed(op)
        if number is not None and number < self.steps:
            return b.value("load", b.addr(self.cells[number].name), on, result=op.result.type, name=op.result.name)
        value = b.value("load", self._pointer(place, b), on, result=op.result.type, name=op.result.name)
        for k, cell in enumerate(self.cells if number is None else ()):
            here = b.value("and", on, b.value("eq", place, b.const(k, place.type)))
            value = b.value("select", here, read(cell, 0, b), value)
        return value

    def _store(self, op: Op, place: Value, b: Builder) -> list[Value]:
        _, value, on = op.operands
        number = self._fixed(op)
        if number is None or number >= self.steps:
            inside = (
                b.value("and", on, b.value("ule", b.const(self.steps, place.type), place)) if number is None else on
            )
            b.op("store", self._pointer(place, b), value, inside)
        for k, cell in enumerate(self.cells):
            if number in (None, k):
                here = b.value("and", on, b.value("eq", place, b.const(k, place.type))) if number is None else on
                b.op("store", b.addr(cell.name), value, here)
        return []

    def _fixed(self, op: Op) -> int | None:
        """The element that an access addresses, counted in the direction of movement, if it is constant."""
        offset = constant(op.operands[0].defining_op.operands[0])
        if offset is None:
            return None
        index = offset // self.memory.element.bytes
        return index if self.by > 0 else self.memory.elements - 1 - index

    def _fresh(self, op: Op, b: Builder) -> None:
        for memory in (*self.cells, self.buffer):
            b.op("fresh", attrs={**op.attrs, Attr.MEM: memory.name})

    def _fill(self, op: Op, b: Builder) -> None:
        (value,) = op.operands
        for cell in self.cells:
            write(cell, 0, value, b)
        counted_loop(
            self.buffer.elements,
            f"{self.memory.name} = value",
            b,
            lambda k, inner: inner.op(
                "store", element_pointer(self.buffer, self._narrow(k, inner), inner), value, inner.true()
            ),
        )

    def _narrow(self, count: Value, b: Builder) -> Value:
        return b.value("trunc", count, result=self.head.element)

    def _shift(self, op: Op, b: Builder) -> None:
        type = self.head.element
        head = b.value("sub", read(self.head, 0, b), b.const(self.steps, type))
        for k, cell in enumerate(self.cells):
            at = b.value("add", head, b.const(k, type)) if k else head
            b.op("store", element_pointer(self.buffer, at, b), read(cell, 0, b), b.true())
        write(self.head, 0, head, b)
