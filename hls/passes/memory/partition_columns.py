"""Array partitioning by dimension: a small 2-D private array whose column index is constant becomes one per column."""

from dataclasses import dataclass, field, replace
from math import gcd

from ...ir import Attr, Builder, Function, MemoryObject, Op, Value, walk
from ...ir.clone import clone_function
from ...ir.element_index import element_index
from ...ir.rewrite import constant, rewrite
from ...ir.values import signed
from ...narrow import present
from ..manager import Form, FunctionPass
from .mem2reg import Mem2Reg
from .sroa import drop_addresses

__all__ = ["PartitionColumns"]


@dataclass(frozen=True)
class PartitionColumns(FunctionPass):
    """Complete array partitioning along the dimension with constant indices. Before: private memories (after
    LowerPointers), those with constant offsets only already split. After: an array that ``to_values`` would make one
    wide value, and of which every access is known to be in one of several columns, is an array for each column.

    In ``sum[c][d]`` with ``d`` constant and ``c`` not, as left by an unrolled loop over ``d``, an element is selected
    among those of column ``d`` only, and a store to one column does not delay loads of another.
    """

    to_values: Mem2Reg = field(default_factory=lambda: Mem2Reg(arrays=True))

    name = "partition-columns"
    requires = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """A copy in which each column of an array is an array; the function itself if none is partitioned."""
        arrays = {m.name: m for m in self.to_values.arrays_of(function)}
        accesses: dict[str, list[Op]] = {name: [] for name in arrays}
        for op in walk(function.body):
            if (name := _array(op)) in arrays:
                accesses[name].append(op)
        rows = {name: row for name, m in arrays.items() if (row := _row(m, accesses[name]))}
        if not rows:
            return function
        result = clone_function(function)
        for name, row in rows.items():
            _split(result, result.memories[name], row)
        return result


def _array(op: Op) -> str | None:
    """The memory that a load or store addresses directly."""
    if op.opcode not in ("load", "store") or op.operands[0].op is None or op.operands[0].op.opcode != "addr":
        return None
    return op.operands[0].op.attrs[Attr.MEM]


def _offset(access: Op) -> Value:
    return access.operands[0].defining_op.operands[0]


def _row(memory: MemoryObject, accesses: list[Op]) -> int:
    """Bytes of a row such that each access is in one column of it; 0 if there is none, or only one column. The number
    is a power of two, or one by which the offsets can be divided."""
    size = memory.element.bytes
    row = gcd(memory.elements * size, *(_remainder(_offset(op))[0] for op in accesses))
    offsets = [_offset(op) for op in accesses]
    if (
        row <= size
        or row == memory.elements * size
        or row % size
        or any(_remainder(offset)[1] % size for offset in offsets)
    ):
        return 0
    return row if row & (row - 1) == 0 or all(_is_row(offset, row) for offset in offsets) else 0


def _remainder(value: Value) -> tuple[int, int]:
    """(m, r): the value is r modulo m; with m = 0 it is r. An offset that wraps around has left its array."""
    number = constant(value)
    if number is not None:
        return 0, signed(number, value.type.bits)
    op = value.op
    if op is None:
        return 1, 0
    if op.opcode in ("sext", "zext", "trunc"):
        modulus, rest = _remainder(op.operands[0])
        # wrapping preserves the remainder modulo a power of two
        modulus = min(modulus & -modulus, 1 << min(value.type.bits, op.operands[0].type.bits))
        return modulus, rest % modulus if modulus else rest
    if op.opcode not in ("add", "sub", "mul", "shl"):
        return 1, 0
    (one, left), (other, right) = map(_remainder, op.operands)
    if op.opcode in ("add", "sub"):
        modulus = gcd(one, other)
        total = left + right if op.opcode == "add" else left - right
    elif op.opcode == "shl" and (other or not 0 <= right < value.type.bits):
        return 1, 0
    else:
        factor = 1 << right if op.opcode == "shl" else right
        modulus, total = gcd(one * factor, other * left, one * other), left * factor
    return modulus, total % modulus if modulus else total


def _is_row(offset: Value, row: int) -> bool:
    """Whether the offset of an element is a constant, or a product with the bytes of a row plus a constant."""
    if constant(offset) is not None:
        return True
    base, _ = _base(offset)
    return base.op is not None and base.op.opcode == "mul" and (constant(base.op.operands[1]) or 1) % row == 0


def _base(offset: Value) -> tuple[Value, int]:
    """An offset without the constant that is added last, and that constant."""
    if offset.op is not None and offset.op.opcode == "add" and (number := constant(offset.op.operands[1])) is not None:
        return offset.op.operands[0], signed(number, offset.type.bits)
    return offset, 0


def _split(function: Function, memory: MemoryObject, row: int) -> None:
    """Replace the array by its columns, named ``array.k``, and rewrite the accesses."""
    size = memory.element.bytes
    columns = [_add(function, memory, k, row) for k in range(row // size)]

    def visit(op: Op, b: Builder) -> list[Value] | None:
        if op.opcode == "fresh" and op.attrs[Attr.MEM] == memory.name:
            for name in columns:
                b.op("fresh", attrs={**op.attrs, Attr.MEM: name})
            return []
        if _array(op) != memory.name:
            return None
        column, place = _place(_offset(op), row, size, b)
        op.operands[0] = b.addr(columns[column], place)
        return None

    rewrite(function.body, visit)
    drop_addresses(function.body, memory.name)
    del function.memories[memory.name]


def _add(function: Function, memory: MemoryObject, k: int, row: int) -> str:
    name = f"{memory.name}.{k}"
    while name in function.memories:
        name += "_"
    function.memories[name] = replace(memory, name=name, length=memory.elements * memory.element.bytes // row)
    return name


def _place(offset: Value, row: int, size: int, b: Builder) -> tuple[int, Value]:
    """The column of an offset, and the offset in the column's array."""
    rest = _remainder(offset)[1] % row
    if constant(offset) is not None:
        return rest // size, b.const(signed(present(constant(offset)), offset.type.bits) // row * size, offset.type)
    base, number = _base(offset)
    if number != rest:
        base = b.value("add", base, b.const(number - rest, offset.type))
    return rest // size, b.value("mul", element_index(base, row, b), b.const(size, offset.type))
