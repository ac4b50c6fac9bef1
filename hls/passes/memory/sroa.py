"""SROA: private memories that are accessed at constant offsets become one variable for each piece."""

from dataclasses import dataclass, replace

from ...ir import I8, Attr, Builder, Function, IntType, MemoryObject, Op, PointerType, Region, Type, Value, uses, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ...narrow import present
from ..manager import Form, FunctionPass
from .storage_attributes import wants_memory

__all__ = ["Sroa", "drop_addresses"]


@dataclass(frozen=True)
class Sroa(FunctionPass):
    """Scalar replacement of aggregates (LLVM: SROA). Before: private memories (after LowerPointers). After: those whose
    accesses are all at constant offsets, and that no attribute makes memories, are variables, named ``array.k`` for
    element k, which mem2reg turns into values.

    The pieces are as large as all accesses allow: an int of which one byte is read separately becomes that byte and the
    parts on either side of it. Reading a larger type concatenates pieces, which costs no logic.
    """

    name = "sroa"
    requires = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """A copy in which arrays with only constant offsets are variables, one for each element."""
        result = clone_function(function)
        table = uses(result.body)
        accesses: dict[str, list[_Access]] = {}
        for op in walk(result.body):
            if op.opcode == "addr" and result.memories[op.attrs[Attr.MEM]].space == "private":
                found = accesses.setdefault(op.attrs[Attr.MEM], [])
                found += [_Access.of(op, user, index) for user, index in table.get(op.result, [])]
        for name, found in accesses.items():
            memory = result.memories[name]
            simple = [one for a in found if (one := _simple(a, memory)) is not None]
            if not wants_memory(memory) and len(simple) == len(found) and not _is_scalar(memory, simple):
                _split(result, memory, simple)
        return result


@dataclass(frozen=True)
class _Access:
    """An access of ``bytes`` bytes at ``offset`` (None: not a constant); ``type`` is None for a use that is no
    access."""

    type: Type | None
    offset: int | None

    @classmethod
    def of(cls, addr: Op, user: Op, index: int) -> "_Access":
        if user.opcode not in ("load", "store") or index != 0:
            return cls(None, None)
        return cls(_type(user), constant(addr.operands[0]))


def _type(access: Op) -> Type:
    return access.result.type if access.opcode == "load" else access.operands[1].type


@dataclass(frozen=True)
class _Simple:
    """An access at a constant offset, inside a memory."""

    type: Type
    offset: int


def _simple(access: _Access, memory: MemoryObject) -> _Simple | None:
    if access.type is None or access.offset is None or isinstance(memory.element, PointerType):
        return None
    inside = access.offset + access.type.bytes <= memory.elements * memory.element.bytes
    return _Simple(access.type, access.offset) if inside else None


def _is_scalar(memory: MemoryObject, accesses: list[_Simple]) -> bool:
    """Whether mem2reg promotes the memory without a split."""
    return memory.length == 1 and all(a.type.bits == memory.element.bits for a in accesses)


def _split(function: Function, memory: MemoryObject, accesses: list[_Simple]) -> None:
    """Replace the memory by variables, and rewrite its accesses."""
    pieces = _Pieces(function, memory, accesses)

    def visit(op: Op, b: Builder):
        if op.opcode == "fresh" and op.attrs[Attr.MEM] == memory.name:
            for name in pieces.names.values():
                b.op("fresh", attrs={**op.attrs, Attr.MEM: name})
            return []
        if op.opcode not in ("load", "store") or not _points_to(op, memory):
            return None
        offset = constant(op.operands[0].defining_op.operands[0])
        return [pieces.load(op, present(offset), b)] if op.opcode == "load" else pieces.store(op, present(offset), b)

    rewrite(function.body, visit)
    drop_addresses(function.body, memory.name)
    del function.memories[memory.name]


def _points_to(op: Op, memory: MemoryObject) -> bool:
    addr = op.operands[0].op
    return addr is not None and addr.opcode == "addr" and addr.attrs[Attr.MEM] == memory.name


def drop_addresses(region: Region, name: str) -> None:
    """Remove address computations for a memory that has no accesses any more."""
    region.ops = [op for op in region.ops if not (op.opcode == "addr" and op.attrs[Attr.MEM] == name)]
    for op in region.ops:
        for inner in op.regions:
            drop_addresses(inner, name)


class _Pieces:
    """The variables that a memory is split into: between any two offsets at which an access begins or ends."""

    def __init__(self, function: Function, memory: MemoryObject, accesses: list[_Simple]) -> None:
        self.memory = memory
        ends = {a.offset for a in accesses} | {a.offset + a.type.bytes for a in accesses}
        self.places = sorted(ends)
        exact = {(a.offset, a.type.bytes): a.type for a in reversed(accesses)}
        self.types: dict[int, Type] = {}
        self.names: dict[int, str] = {}
        for place, end in zip(self.places, self.places[1:]):
            if any(a.offset <= place and end <= a.offset + a.type.bytes for a in accesses):
                type: Type = exact.get((place, end - place), IntType(8 * (end - place)))
                self.types[place] = type
                self.names[place] = self._add(function, place, type)

    def _add(self, function: Function, place: int, type: Type) -> str:
        k, rest = divmod(place, self.memory.element.bytes)
        name = f"{self.memory.name}.{k}" + (f".{rest}" if rest else "")
        while name in function.memories:
            name += "_"
        function.memories[name] = replace(self.memory, name=name, element=type, length=1)
        return name

    def _covered(self, offset: int, type: Type) -> list[int]:
        return [p for p in self.types if offset <= p < offset + type.bytes]

    def load(self, op: Op, offset: int, b: Builder) -> Value:
        found = [
            b.value("load", b.addr(self.names[p]), *op.operands[1:], result=self.types[p], name=op.result.name)
            for p in self._covered(offset, op.result.type)
        ]
        return _joined(found, op.result.type, b)

    def store(self, op: Op, offset: int, b: Builder) -> list:
        _, value, *rest = op.operands
        places = self._covered(offset, value.type)
        if len(places) == 1:
            self._put(places[0], _as(value, self.types[places[0]], b), rest, b)
            return []
        bits = _as(value, IntType(8 * value.type.bytes), b)
        for place in places:
            part = b.value("lshr", bits, b.const(8 * (place - offset), bits.type)) if place > offset else bits
            width = _int(self.types[place])
            part = b.value("trunc", part, result=width) if width != part.type else part
            self._put(place, _as(part, self.types[place], b), rest, b)
        return []

    def _put(self, place: int, value: Value, rest, b: Builder) -> None:
        b.op("store", b.addr(self.names[place]), value, *rest)


def _int(type: Type) -> IntType:
    return IntType(8 * type.bytes) if type.bits == 1 else IntType(type.bits)


def _as(value: Value, type: Type, b: Builder) -> Value:
    """The bits of a value as another type; a bool is a byte."""
    if value.type == type:
        return value
    if value.type.bits == 1:
        value = b.value("zext", value, result=I8)
    if type.bits == 1:
        return b.value("trunc", _as(value, I8, b), result=type)
    return b.value("bitcast", value, result=type) if value.type != type else value


def _joined(parts: list[Value], type: Type, b: Builder) -> Value:
    """Neighbouring pieces, lowest first, as one value."""
    if len(parts) == 1:
        return _as(parts[0], type, b)
    if len({_int(p.type) for p in parts}) == 1:
        whole = b.value("array", *(_as(p, _int(p.type), b) for p in parts))
        return _as(whole, IntType(whole.type.bits) if type.bits == 1 else type, b)
    wide, bits = IntType(8 * type.bytes), None
    place = 0
    for part in parts:
        piece = b.value("zext", _as(part, _int(part.type), b), result=wide)
        piece = b.value("shl", piece, b.const(place, wide)) if place else piece
        bits = piece if bits is None else b.value("or", bits, piece)
        place += _int(part.type).bits
    return _as(present(bits), type, b)
