"""Tables that are linear over GF(2): each element is the XOR of the elements for the single bits of its index."""

from ...analysis.bits.wiring import possible_ones
from ...ir import BOOL, Attr, Builder, IntType, MemoryObject, Op, Value
from ...ir.element_index import element_index
from ...ir.rewrite import constant
from ...ir.storage import BoundMemory, accessors
from ...ir.values import Constant
from ...narrow import instance, present

__all__ = ["LinearTables", "elements_of"]

#: most bits of an index
_MOST_BITS = 16


def elements_of(memory: MemoryObject, op: Op) -> tuple[Constant, ...]:
    """The whole table as elements of the type that ``op`` loads; the load is aligned to that type."""
    type = op.result.type
    load, _ = accessors(type)
    data = bytearray(present(memory.data))
    data += bytes(-len(data) % type.bytes)
    bound = BoundMemory(memory.name, data, len(data))
    return tuple(load((bound, k), op.span) for k in range(0, len(data), type.bytes))


class LinearTables:
    """Computes elements of linear tables, or of linear rows of a table. A ROM answers an index in two cycles; the XORs
    of the index's bits take part of one."""

    def __init__(self) -> None:
        self._elements: dict[tuple[str, int], tuple[Constant, ...]] = {}
        #: by (table, width, first element, index bits): element 0, and the XOR that each bit of the index contributes
        self._columns: dict[tuple[str, int, int, int], tuple[int, list[int]] | None] = {}

    def computed(self, memory: MemoryObject, load: Op, b: Builder) -> Value | None:
        """What a load from a constant table gives, as XORs of bits of its index; None if the table is not linear, or
        not one of integers."""
        type = load.result.type
        if not isinstance(type, IntType) or type == BOOL or load.attrs.get(Attr.ALIGN, type.bytes) < type.bytes:
            return None
        key = memory.name, type.bits
        if key not in self._elements:
            self._elements[key] = elements_of(memory, load)
        offset = load.operands[0].defining_op.operands[0]
        before = len(b.region.ops)
        row = _row(element_index(offset, type.bytes, b), len(self._elements[key]))
        found = None if row is None else self._found(key, row[0], row[2])
        if row is None or found is None:
            del b.region.ops[before:]  # the index
            return None
        return _xor(*found, row[1], type, b)

    def _found(self, key: tuple[str, int], first: int, bits: int) -> tuple[int, list[int]] | None:
        """Element ``first`` of a table, and what each bit of an index from there changes; None: not linear."""
        if (*key, first, bits) not in self._columns:
            numbers = [instance(x, int) for x in self._elements[key][first : first + (1 << bits)]]
            self._columns[*key, first, bits] = _columns(numbers)
        return self._columns[*key, first, bits]


def _row(index: Value, length: int) -> tuple[int, Value, int] | None:
    """(first, index, bits): the index of an element is the constant ``first``, a multiple of 2**bits, plus that number
    of at most so many bits. None for others, and for single elements."""
    first = 0
    while index.op is not None and index.op.opcode == "add" and constant(index.op.operands[1]) is not None:
        first, index = first + present(constant(index.op.operands[1])), index.op.operands[0]
    bits = possible_ones(index).bit_length()
    if first == 0 and 1 << bits > length and length & length - 1 == 0:
        bits = length.bit_length() - 1
    if not 1 <= bits <= _MOST_BITS or first & (1 << bits) - 1 or first + (1 << bits) > length:
        return None
    return first, index, bits


def _columns(numbers: list[int]) -> tuple[int, list[int]] | None:
    """Element 0, and what each bit of the index changes in it; None if the elements are no such XORs."""
    start = numbers[0]
    columns = [numbers[1 << k] ^ start for k in range(len(numbers).bit_length() - 1)]
    for k in range(1, len(numbers)):
        low = k & -k
        if numbers[k] != numbers[k ^ low] ^ columns[low.bit_length() - 1]:
            return None
    return start, columns


def _xor(start: int, columns: list[int], index: Value, type: IntType, b: Builder) -> Value:
    """A balanced tree of the columns of the bits that are set."""
    terms = [b.const(start, type)] if start else []
    for k, column in enumerate(columns):
        if column:
            moved = b.value("lshr", index, b.const(k, index.type)) if k else index
            spread = b.value("sext", b.value("trunc", moved, result=BOOL), result=type)
            terms.append(b.value("and", spread, b.const(column, type)))
    while len(terms) > 1:
        terms = [b.value("xor", *terms[k : k + 2]) if k + 1 < len(terms) else terms[k] for k in range(0, len(terms), 2)]
    return terms[0] if terms else b.const(0, type)
