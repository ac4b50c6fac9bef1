"""Access legalization: accesses get sizes and alignments that memory units can serve."""

from dataclasses import dataclass

from ...ir import ArrayType, Attr, Builder, Function, IntType, Op, Type, Value, memory_name, walk, word_bytes
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ...ir.types import scalar_type
from ...narrow import instance, present
from ..manager import Form, FunctionPass

__all__ = ["LegalizeAccesses", "split_load", "split_store"]

_MOST_ZEROS = 64


@dataclass(frozen=True)
class LegalizeAccesses(FunctionPass):
    """Access legalization. Before: accesses may have ``align``: their address is only known to be a multiple of less
    than their size; buffers begin at multiples of every size. After: every access is naturally aligned, by proof or by
    being split into several, and has at most ``max_bytes`` bytes, or a word of the memory that the program names for
    its buffer; ``align`` is gone.
    """

    max_bytes: int = 64

    name = "legalize-accesses"
    requires = frozenset({Form.ARRAYS_LOWERED})
    provides = frozenset({Form.ACCESSES_LEGAL})

    def run(self, function: Function) -> Function:
        """A copy in which accesses are split where alignment is not proven; the function itself if all are aligned."""
        accesses = [op for op in walk(function.body) if op.opcode in ("load", "store")]
        if not any(Attr.ALIGN in op.attrs or _type(op).bytes > self._most(function, op) for op in accesses):
            return function
        result = clone_function(function)
        zeros = _trailing_zeros(result)
        rewrite(result.body, lambda op, b: self._visit(result, op, b, zeros))
        return result

    def _most(self, function: Function, op: Op) -> int:
        return word_bytes(function.memories[memory_name(op)], self.max_bytes)

    def _visit(self, function: Function, op: Op, b: Builder, zeros: dict[Value, int]) -> list[Value] | None:
        if op.opcode not in ("load", "store"):
            return None
        type, attrs = _type(op), {k: v for k, v in op.attrs.items() if k != Attr.ALIGN}
        size = min(type.bytes, self._most(function, op))
        if Attr.ALIGN in op.attrs:
            proved = 1 << zeros.get(op.operands[0].defining_op.operands[0], 0)
            size = min(size, max(op.attrs[Attr.ALIGN], proved))
        op.attrs = attrs
        if size == type.bytes:
            return None
        return [split_load(op, size, b)] if op.opcode == "load" else split_store(op, size, b)


def _type(op: Op) -> Type:
    return (op.result if op.opcode == "load" else op.operands[1]).type


def _pieces(op: Op, type: Type, size: int, b: Builder) -> tuple[Type, list[Value]]:
    """The type of each piece of ``size`` bytes, and their addresses."""
    whole = isinstance(type, ArrayType) and size % type.element.bytes == 0
    count = size // instance(type, ArrayType).element.bytes if whole else 0
    piece = (
        IntType(8 * size)
        if not whole
        else instance(type, ArrayType).element
        if count == 1
        else ArrayType(instance(type, ArrayType).element, count)
    )
    addr = op.operands[0].op
    (offset,) = present(addr).operands
    places = [offset] + [b.value("add", offset, b.const(k, offset.type)) for k in range(size, type.bytes, size)]
    return piece, [b.addr(present(addr).attrs[Attr.MEM], place) for place in places]


def split_load(op: Op, size: int, b: Builder) -> Value:
    """The value of a load, assembled from loads of ``size`` bytes each; ``size`` divides its own size."""
    type = op.result.type
    piece, places = _pieces(op, type, size, b)
    loads = [
        b.value("load", place, *op.operands[1:], result=piece, attrs=op.attrs, name=op.result.name) for place in places
    ]
    if isinstance(piece, ArrayType):
        loads = [b.value("extract", one, b.const(k, IntType(64))) for one in loads for k in range(piece.length)]
    whole = b.value("array", *loads)
    return whole if whole.type == type else b.value("bitcast", whole, result=type)


def split_store(op: Op, size: int, b: Builder) -> list[Value]:
    """Split a store into several of ``size`` bytes each."""
    _, value, *rest = op.operands
    piece, places = _pieces(op, value.type, size, b)
    flat = piece if isinstance(piece, IntType) else getattr(piece, "element", piece)
    whole = ArrayType(scalar_type(flat), value.type.bytes // flat.bytes)
    value = value if value.type == whole else b.value("bitcast", value, result=whole)
    elements = [b.value("extract", value, b.const(k, IntType(64))) for k in range(whole.length)]
    each = whole.length // len(places)
    for k, place in enumerate(places):
        part = elements[k * each : (k + 1) * each]
        b.op("store", place, part[0] if each == 1 else b.value("array", *part), *rest, attrs=op.attrs)
    return []


def _trailing_zeros(function: Function) -> dict[Value, int]:
    """The number of low bits of each integer that are certainly 0: the greatest fixed point, so a loop keeps a property
    that every step preserves."""
    zeros: dict[Value, int] = dict.fromkeys(function.args, 0)
    ops = list(walk(function.body))
    changed = True
    while changed:
        changed = False
        for op in ops:
            for value, count in _known(op, zeros):
                if zeros.get(value, _MOST_ZEROS) != count:
                    zeros[value], changed = count, True
    return zeros


def _known(op: Op, zeros: dict[Value, int]):
    """(value, zeros) for each result of the operation."""

    def of(value: Value) -> int:
        return zeros.get(value, _MOST_ZEROS)

    if op.opcode == "loop":
        (body,) = op.regions
        for k, arg in enumerate(body.args):
            count = min(of(op.operands[1 + k]), of(body.terminator.operands[1 + k]))
            yield arg, count
            yield op.results[k], count
    elif op.opcode == "if":
        for k, value in enumerate(op.results):
            yield value, min(of(region.terminator.operands[k]) for region in op.regions)
    else:
        for value in op.results:
            yield value, _of_result(op, of) if isinstance(value.type, IntType) else 0


def _of_result(op: Op, of) -> int:
    if op.opcode == "const":
        number = op.attrs[Attr.VALUE]
        return (number & -number).bit_length() - 1 if number else _MOST_ZEROS
    if op.opcode in ("add", "sub", "or", "xor"):
        return min(map(of, op.operands))
    if op.opcode == "select":
        return min(map(of, op.operands[1:]))
    if op.opcode == "and":
        return max(map(of, op.operands))
    if op.opcode == "mul":
        return min(_MOST_ZEROS, sum(map(of, op.operands)))
    if op.opcode == "shl":
        amount = constant(op.operands[1])
        return of(op.operands[0]) if amount is None else min(_MOST_ZEROS, of(op.operands[0]) + amount)
    return of(op.operands[0]) if op.opcode in ("zext", "sext", "trunc") else 0
