"""Constant table lowering: small constant tables become values."""

from dataclasses import dataclass

from ...diag import Code, CompileError
from ...ir import ArrayType, Attr, Builder, Function, MemoryObject, Op
from ...ir.clone import clone_function
from ...ir.element_index import element_index
from ...ir.rewrite import constant, rewrite
from ...ir.storage import zero
from ...ir.types import scalar_type
from ..manager import Form, FunctionPass
from .linear_tables import LinearTables, elements_of
from .storage_attributes import wants_memory

__all__ = ["LowerConstantTables"]


@dataclass(frozen=True)
class LowerConstantTables(FunctionPass):
    """Constant table lowering. Before: no pointer variables. After: no loads of constant tables of up to ``max_bits``
    bits: the whole table is one constant array from which the element is extracted. Indices outside the table give 0.
    A larger table of integers each of which is the XOR of those for the single bits of its index (a CRC, or products
    over GF(2)) is computed from these bits. Other larger tables stay memories, which become block RAM used as ROM."""

    max_bits: int = 2048

    name = "lower-constant-tables"
    requires = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """Raises CompileError for a small table that is not read by its scalar elements."""
        result, tables = clone_function(function), LinearTables()
        rewrite(result.body, lambda op, b: self._read(op, b, result, tables))
        return result

    def _read(self, op: Op, b: Builder, function: Function, tables: LinearTables):
        if op.opcode != "load" or op.operands[0].op is None or op.operands[0].op.opcode != "addr":
            return None
        addr, pred = op.operands[0].op, op.operands[1]
        memory = function.memories[addr.attrs[Attr.MEM]]
        if memory.space != "constant" or wants_memory(memory):
            return None
        type = op.result.type
        if memory.elements * memory.element.bits > self.max_bits:
            value = tables.computed(memory, op, b)
            if value is None:
                return None
        else:
            self._check(op, memory)
            index = element_index(addr.operands[0], type.bytes, b)
            value = b.value("extract", _contents(memory, op, b), index, name=memory.name)
        if constant(pred) == 1:
            return [value]
        return [b.value("select", pred, value, b.const(zero(type), type))]

    def _check(self, op: Op, memory: MemoryObject) -> None:
        if (
            isinstance(op.result.type, ArrayType)
            or op.attrs.get(Attr.ALIGN, op.result.type.bytes) < op.result.type.bytes
        ):
            raise CompileError.at(
                op.span,
                f"the table {memory.name} is read as {op.result.type}, not by its scalars",
                "read its elements or members one by one",
                code=Code.TABLE_ACCESS,
            )


def _contents(memory: MemoryObject, op: Op, b: Builder):
    """The whole table as elements of the type that is loaded; the load is aligned to that type."""
    type, elements = op.result.type, elements_of(memory, op)
    table = b.const(elements, ArrayType(scalar_type(type), len(elements)))
    table.name = memory.name
    return table
