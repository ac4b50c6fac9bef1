"""Memory-to-register promotion: private variables become SSA values."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ...diag import Code, Diagnostic
from ...ir import Attr, Builder, FloatType, Function, MemoryObject, Op, PointerType, Region, Type, Value, uses, walk
from ...ir.clone import clone_function
from ...ir.element_index import element_index
from ...ir.loops import add_carried
from ...ir.rewrite import constant, set_results
from ...ir.types import ArrayType, scalar_type
from ...narrow import instance
from ..manager import Form, FunctionPass
from .storage_attributes import wants_memory, wants_registers

__all__ = ["Mem2Reg"]

#: behind the names of copies of a variable, and of elements that are variables of their own
_NUMBERS = re.compile(r"(\.\d+_?)+$")


@dataclass(frozen=True)
class Mem2Reg(FunctionPass):
    """Promotion of private memories to SSA values (LLVM: mem2reg). Before: variables are private memories. After: those
    whose address is only used by plain accesses are gone.

    A scalar becomes a value; with ``arrays``, an array of up to ``max_bits`` bits and ``max_elements`` elements, or
    with a register attribute and none that requests a memory, becomes one value of array type, read by ``extract`` and
    written by ``insert``. Values pass through results of `if` and carried values of loops; unneeded ones are left to
    dead code elimination. A read of a variable that was never written is 0, with a warning.
    """

    arrays: bool = False
    max_bits: int = 1024  #: above, multiplexers cost more than a block RAM
    max_elements: int = 256  #: above, selecting among all takes longer than a cycle of the boards
    warn: Callable[[Diagnostic], None] | None = None
    requires = frozenset({Form.INLINED})

    @property
    def name(self) -> str:
        """The name with ``arrays`` is "arrays-to-values", else "mem2reg"; both are in the pipeline."""
        return "arrays-to-values" if self.arrays else "mem2reg"

    def run(self, function: Function) -> Function:
        """A copy without the promoted memories. ``warn`` is told once of each variable that is
        read before it is written."""
        result = clone_function(function)
        variables = {m.name: type for m in _promotable(result) if (type := self._type(m)) is not None}
        if variables:
            _Promoter(result, variables, self.warn or (lambda diagnostic: None)).run()
        for name in variables:
            del result.memories[name]
        return result

    def arrays_of(self, function: Function) -> list[MemoryObject]:
        """The arrays of the function that become values."""
        return [m for m in _promotable(function) if isinstance(self._type(m), ArrayType)]

    def _type(self, memory: MemoryObject) -> Type | None:
        if memory.length == 1:
            return memory.element
        if not self.arrays or isinstance(memory.element, PointerType) or wants_memory(memory):
            return None
        small = (
            wants_registers(memory)
            or memory.elements <= self.max_elements
            and memory.elements * memory.element.bits <= self.max_bits
        )
        return ArrayType(scalar_type(memory.element), memory.elements) if small else None


def _in_source(name: str) -> str:
    """The name of a memory as the source has it: without that of an inlined function in front of it, and the numbers of
    a copy and of an element behind it."""
    return _NUMBERS.sub("", name).rpartition(".")[2]


def _promotable(function: Function) -> list[MemoryObject]:
    """The private memories all of whose uses are loads or stores of a whole element."""
    private = {m.name: m for m in function.memories.values() if m.space == "private"}
    table = uses(function.body)
    for op in walk(function.body):
        if op.opcode == "addr" and op.attrs[Attr.MEM] in private:
            memory = private[op.attrs[Attr.MEM]]
            if not all(_is_plain(user, index, memory) for user, index in table.get(op.result, [])):
                del private[memory.name]
    return list(private.values())


def _is_plain(user: Op, index: int, memory: MemoryObject) -> bool:
    """Whether the use of the address is an access of one whole element.

    A scalar can only be accessed at byte 0, however the offset is computed.
    """
    if user.opcode not in ("load", "store") or index != 0:
        return False
    type = user.result.type if user.opcode == "load" else user.operands[1].type
    if isinstance(memory.element, PointerType) or isinstance(type, PointerType):
        return type == memory.element and memory.length == 1
    return type.bits == memory.element.bits


class _Promoter:
    """One walk in program order that tracks the current value of every variable."""

    def __init__(self, function: Function, variables: dict[str, Type], warn) -> None:
        self.function, self.variables, self.warn = function, variables, warn
        self.replaced: dict[Value, Value] = {}
        self.initial: set[Value] = set()
        self.warned: set[str] = set()

    def run(self) -> None:
        top = Region()
        b = Builder(top, self.function.span)
        current = {name: b.const(_zero(type), type) for name, type in self.variables.items()}
        self.initial = set(current.values())
        kinds = dict.fromkeys(self.variables.values())
        self.unset = {type: b.const(_zero(type), type) for type in kinds}
        self.zeros = {type: b.const(_zero(type), type) for type in kinds}
        self.initial |= set(self.unset.values())
        body = self.function.body
        self._region(body, current)
        body.ops = top.ops + body.ops

    def _region(self, region: Region, current: dict[str, Value]) -> None:
        """Rewrite the region's accesses; ``current`` is updated to the values at its end."""
        before, region.ops = region.ops, []
        b = Builder(region)
        for op in before:
            op.operands = [self.replaced.get(v, v) for v in op.operands]
            b.span = op.span
            if op.opcode == "if":
                self._if(op, current)
            elif op.opcode == "loop":
                self._loop(op, current)
            elif op.opcode == "fresh" and op.attrs[Attr.MEM] in self.variables:
                type = self.variables[op.attrs[Attr.MEM]]
                current[op.attrs[Attr.MEM]] = (self.zeros if op.attrs[Attr.SET] else self.unset)[type]
                continue
            elif self._variable(op):
                self._access(op, b, current)
                continue
            if not (op.opcode == "addr" and op.attrs[Attr.MEM] in self.variables):
                region.ops.append(op)

    def _variable(self, op: Op) -> str | None:
        """The promoted variable that the operation reads or writes, if any."""
        if op.opcode not in ("load", "store"):
            return None
        addr = op.operands[0].op
        name = addr.attrs[Attr.MEM] if addr is not None and addr.opcode == "addr" else None
        return name if name in self.variables else None

    def _access(self, op: Op, b: Builder, current) -> None:
        name = self._variable(op)
        if op.opcode == "load":
            self.replaced[op.results[0]] = self._read(op, name, b, current[name])
        else:
            current[name] = self._write(op, name, b, current[name])

    def _index(self, op, name, b) -> Value:
        return element_index(op.operands[0].op.operands[0], instance(self.variables[name], ArrayType).element.bytes, b)

    def _read(self, op, name, b, value) -> Value:
        self._check_set(op, name, value)
        wanted = op.result.type
        if isinstance(self.variables[name], ArrayType):
            value = b.value("extract", value, self._index(op, name, b), name=name)
        if value.type != wanted:
            value = b.value("bitcast", value, result=wanted)
        if constant(op.operands[1]) == 1:
            return value
        return b.value("select", op.operands[1], value, b.const(_zero(wanted), wanted))

    def _write(self, op, name, b, old) -> Value:
        _, value, pred = op.operands
        type = self.variables[name]
        element = type.element if isinstance(type, ArrayType) else type
        if value.type != element:
            value = b.value("bitcast", value, result=element)
        if isinstance(type, ArrayType):
            value = b.value("insert", old, self._index(op, name, b), value, name=name)
        value.name = value.name or name
        return value if constant(pred) == 1 else b.value("select", pred, value, old, name=name)

    def _check_set(self, op, name, value) -> None:
        said = _in_source(name)
        if value in self.initial and not isinstance(value.type, ArrayType) and said not in self.warned:
            self.warned.add(said)
            self.warn(
                Diagnostic(
                    f"{said} is read before it is set",
                    op.span,
                    "its value is 0 here",
                    "warning",
                    code=Code.UNINITIALIZED_READ,
                )
            )

    def _written(self, op: Op) -> list[str]:
        inside = [inner for region in op.regions for inner in walk(region)]
        names = {self._variable(inner) for inner in inside if inner.opcode == "store"}
        names |= {inner.attrs[Attr.MEM] for inner in inside if inner.opcode == "fresh"}
        return [name for name in self.variables if name in names]

    def _if(self, op: Op, current) -> None:
        written = self._written(op)
        for region in op.regions:
            inside = dict(current)
            self._region(region, inside)
            region.terminator.operands += [inside[name] for name in written]
        self._add_results(op, written, current)

    def _loop(self, op: Op, current) -> None:
        written, (body,) = self._written(op), op.regions
        inside = dict(current)
        carried = {
            name: add_carried(op, current[name], name, result=Value(self.variables[name], name)) for name in written
        }
        inside |= {name: each.arg for name, each in carried.items()}
        self._region(body, inside)
        for name, each in carried.items():
            each.set_next(inside[name])
            current[name] = each.result

    def _add_results(self, op, written, current) -> None:
        new = [Value(self.variables[name], name) for name in written]
        set_results(op, op.results + new)
        current.update(zip(written, new))


def _zero(type: Type):
    if isinstance(type, ArrayType):
        return (_zero(type.element),) * type.length
    return 0.0 if isinstance(type, FloatType) else 0
