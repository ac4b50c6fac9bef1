"""Expressions of the typed tree to IR operations.

The value of a type is: bool an i1, other integers and float as their size says, pointers ``ptr``. Variables live in
memories; an address is kept as (memory or pointer, byte offset) until it is used, so that ``a[i][j]`` is one ``addr``.
"""

from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..diag import Span
from ..ir import BOOL, I64, Builder, Region, Value
from . import tree as tt
from . import types as ct
from .builtins import BUILTINS, WORK_ITEM
from .storage import Storage

__all__ = ["Address", "ValueLowering", "harmless"]

_INT_OPS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_SIGNED_OPS = {"/": ("udiv", "sdiv"), "%": ("urem", "srem"), ">>": ("lshr", "ashr")}
_FLOAT_OPS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
#: operator -> (float opcode, unsigned, signed, operands swapped)
_COMPARES = {
    "==": ("feq", "eq", "eq", False), "!=": ("fne", "ne", "ne", False),
    "<": ("flt", "ult", "slt", False), "<=": ("fle", "ule", "sle", False),
    ">": ("flt", "ult", "slt", True), ">=": ("fle", "ule", "sle", True),
}


@dataclass(frozen=True)
class Address:
    """A place: in the memory ``memory``, or where the pointer value ``base`` points; plus ``offset`` bytes (i64)."""

    memory: str | None = None
    base: Value | None = None
    offset: Value | None = None
    name: str = ""  #: of the variable, for the names of what is loaded


class ValueLowering:
    """Appends the operations of expressions to ``self.builder``, whose region changes as branches are entered."""

    def __init__(self, storage: Storage, body: Region):
        self.storage = storage
        self.builder = Builder(body)
        self.always = self.builder.true()  #: the predicate of every access

    # -- regions

    @contextmanager
    def inside(self, region: Region):
        """Append to ``region`` in between."""
        outer, self.builder.region = self.builder.region, region
        try:
            yield
        finally:
            self.builder.region = outer

    def op(self, span: Span, opcode: str, *operands, **options):
        self.builder.span = span
        return self.builder.op(opcode, *operands, **options)

    def emit(self, span: Span, opcode: str, *operands, **options) -> Value:
        return self.op(span, opcode, *operands, **options).result

    def const(self, span: Span, value, type) -> Value:
        self.builder.span = span
        return self.builder.const(value, type)

    # -- values

    def value(self, e: tt.Expr) -> Value | None:
        """The value of the expression; None for void."""
        return getattr(self, f"_{type(e).__name__.lower()}")(e)

    def condition(self, e: tt.Expr) -> Value:
        """The expression as an i1: not equal to zero."""
        if isinstance(e, tt.Compare):
            return self._comparison(e)
        if isinstance(e, tt.Logical):
            return self._logic(e)
        if isinstance(e, tt.Unary) and e.operator == "!":
            return self.emit(e.span, "xor", self.condition(e.operand), self.const(e.span, 1, BOOL))
        if isinstance(e, tt.Convert) and isinstance(e.type, ct.Int) and isinstance(e.operand.type, ct.Int) \
                and e.type.bits >= e.operand.type.bits:
            return self.condition(e.operand)  # widening keeps zero and non-zero apart
        x = self.value(e)
        if x.type == BOOL:
            return x
        zero = self.const(e.span, 0.0 if isinstance(e.type, ct.Float) else 0, x.type)
        return self.emit(e.span, "fne" if isinstance(e.type, ct.Float) else "ne", x, zero)

    def _const(self, e):
        return self.const(e.span, e.value, ct.ir_type(e.type))

    def _variableref(self, e):
        if buffer := self.storage.buffer(e.variable):
            return self.pointer(Address(buffer), e.span)
        argument = self.storage.argument(e.variable)
        return argument if argument is not None else self.load(self.address(e), e.type, e.span)

    def _dereference(self, e):
        return self.load(self.address(e), e.type, e.span)

    def _convert(self, e):
        if isinstance(e.type, ct.Void):
            self.value(e.operand)
            return None
        if e.type == ct.BOOL_T:
            return self.condition(e.operand)
        if isinstance(e.operand, (tt.Compare, tt.Logical)) and isinstance(e.type, ct.Int):
            return self._widened(e.span, self.condition(e.operand), ct.ir_type(e.type))
        return self.converted(e.span, self.value(e.operand), e.operand.type, e.type)

    def converted(self, span: Span, x: Value, source: ct.CType, target: ct.CType) -> Value:
        """``x`` of type ``source`` as a ``target`` (which is not bool, unless both are)."""
        wanted = ct.ir_type(target)
        if x.type == wanted:
            return x
        if target == ct.BOOL_T:
            opcode, zero = ("fne", 0.0) if isinstance(source, ct.Float) else ("ne", 0)
            return self.emit(span, opcode, x, self.const(span, zero, x.type))
        if isinstance(target, ct.Float) and isinstance(source, ct.Float):
            return self.emit(span, "fresize", x, result=wanted)
        if isinstance(target, ct.Float):
            return self.emit(span, "sitofp" if source.signed else "uitofp", x, result=wanted)
        if isinstance(source, ct.Float):
            return self.emit(span, "fptosi" if target.signed else "fptoui", x, result=wanted)
        if target.bits < source.bits:
            return self.emit(span, "trunc", x, result=wanted)
        return self.emit(span, "sext" if source.signed else "zext", x, result=wanted)

    def _widened(self, span, bit, type):
        return self.emit(span, "zext", bit, result=type)

    def _unary(self, e):
        if e.operator == "!":
            return self._widened(e.span, self.condition(e), ct.ir_type(e.type))
        x = self.value(e.operand)
        if e.operator == "~":
            return self.emit(e.span, "xor", x, self.const(e.span, -1, x.type))
        if isinstance(e.type, ct.Float):
            return self.emit(e.span, "fneg", x)
        return self.emit(e.span, "sub", self.const(e.span, 0, x.type), x)

    def _binary(self, e):
        left = self.value(e.left)
        return self.computed(e.span, e.operator, left, self.value(e.right), e.type, e.right.type)

    def computed(self, span, operator, left: Value, right: Value, type: ct.CType, right_type: ct.CType) -> Value:
        """``left operator right`` of type ``type``; only a shift's amount may have another type."""
        if isinstance(type, ct.Float):
            return self.emit(span, _FLOAT_OPS[operator], left, right)
        if operator in ("<<", ">>"):
            # OpenCL C takes the amount modulo the width
            amount = self.converted(span, right, replace(right_type, signed=False), replace(type, signed=False))
            right = self.emit(span, "and", amount, self.const(span, type.bits - 1, amount.type))
        opcode = "shl" if operator == "<<" else _INT_OPS.get(operator) or _SIGNED_OPS[operator][type.signed]
        return self.emit(span, opcode, left, right)

    def _compare(self, e):
        return self._widened(e.span, self._comparison(e), ct.ir_type(e.type))

    def _comparison(self, e):
        floating, unsigned, signed, swap = _COMPARES[e.operator]
        t = e.left.type
        opcode = floating if isinstance(t, ct.Float) else signed if t.signed else unsigned
        pair = self.value(e.left), self.value(e.right)
        return self.emit(e.span, opcode, *(reversed(pair) if swap else pair))

    # -- what may not be evaluated

    def _logical(self, e):
        return self._widened(e.span, self._logic(e), ct.ir_type(e.type))

    def _logic(self, e):
        """``a && b`` as an i1; b is evaluated only where it counts, unless nobody could tell."""
        left = self.condition(e.left)
        if harmless(e.right):
            return self.emit(e.span, "and" if e.operator == "&&" else "or", left, self.condition(e.right))
        decided = int(e.operator == "||")
        outcome = self.storage.temporary("logic", BOOL, e.span)
        with self.branches(e.span, left) as (then, otherwise):
            evaluated, skipped = (otherwise, then) if decided else (then, otherwise)
            with self.inside(evaluated):
                self.set(outcome, self.condition(e.right), e.span)
            with self.inside(skipped):
                self.set(outcome, self.const(e.span, decided, BOOL), e.span)
        return self.get(outcome, BOOL, e.span)

    def _conditional(self, e):
        condition = self.condition(e.condition)
        if harmless(e.then) and harmless(e.otherwise) and not isinstance(e.type, ct.Void):
            return self.emit(e.span, "select", condition, self.value(e.then), self.value(e.otherwise))
        void = isinstance(e.type, ct.Void)
        outcome = None if void else self.storage.temporary("choice", ct.ir_type(e.type), e.span)
        with self.branches(e.span, condition) as regions:
            for region, branch in zip(regions, (e.then, e.otherwise)):
                with self.inside(region):
                    value = self.value(branch)
                    if not void:
                        self.set(outcome, value, e.span)
        return None if void else self.get(outcome, ct.ir_type(e.type), e.span)

    @contextmanager
    def branches(self, span: Span, condition: Value):
        """An ``if``: yields its two regions and closes them afterwards."""
        op = self.op(span, "if", condition, regions=(Region(), Region()))
        yield tuple(op.regions)
        for region in op.regions:
            with self.inside(region):
                self.op(span, "yield")

    def _sequence(self, e):
        self.value(e.first)
        return self.value(e.second)

    # -- calls

    def _call(self, e):
        arguments = [self.value(a) for a in e.arguments]
        result = None if isinstance(e.type, ct.Void) else ct.ir_type(e.type)
        op = self.op(e.span, "call", *arguments, result=result, attrs={"callee": e.callee.name})
        return op.result if result is not None else None

    def _builtin(self, e):
        if e.name in WORK_ITEM:
            fn, result, _ = WORK_ITEM[e.name]
            dim = e.arguments[0].value if e.arguments else 0
            return self.emit(e.span, "work_item", result=ct.ir_type(result), attrs={"fn": fn, "dim": dim}, name=fn)
        values = [self.value(a) for a in e.arguments]
        self.builder.span = e.span
        return BUILTINS[e.name].emit(self.builder, values, e.arguments[0].type)

    # -- memory

    def load(self, address: Address, type: ct.CType, span: Span) -> Value:
        return self._read(self.pointer(address, span), ct.ir_type(type), span, address.name)

    def _read(self, pointer, type, span, name):
        return self.emit(span, "load", pointer, self.always, result=type, name=name)

    def store(self, address: Address, value: Value, span: Span):
        self.op(span, "store", self.pointer(address, span), value, self.always)

    def set(self, memory: str, value: Value, span: Span):
        """Assign a scalar private memory by name."""
        self.store(Address(memory), value, span)

    def get(self, memory: str, type, span: Span) -> Value:
        return self._read(self.pointer(Address(memory), span), type, span, memory)

    def pointer(self, a: Address, span: Span) -> Value:
        """The address as one pointer value."""
        if a.memory is not None:
            offset = a.offset if a.offset is not None else self.const(span, 0, I64)
            return self.emit(span, "addr", offset, attrs={"mem": a.memory})
        return a.base if a.offset is None else self.emit(span, "ptradd", a.base, a.offset)

    def address(self, e: tt.LValue) -> Address:
        """Where the lvalue is."""
        if isinstance(e, tt.VariableRef):
            return Address(self.storage.memory(e.variable), name=e.variable.name)
        return self.target(e.pointer)

    def target(self, e: tt.Expr) -> Address:
        """Where the pointer expression points."""
        if isinstance(e, tt.AddressOf):
            return self.address(e.target)
        if isinstance(e, tt.PointerAdd):
            return self._moved(e)
        if isinstance(e, tt.VariableRef) and (buffer := self.storage.buffer(e.variable)):
            return Address(buffer, name=e.variable.name)
        if isinstance(e, tt.Convert):
            return self.target(e.operand)
        name = e.variable.name if isinstance(e, tt.VariableRef) else ""
        return Address(base=getattr(self, f"_{type(e).__name__.lower()}")(e), name=name)

    def _moved(self, e):
        start = self.target(e.pointer)
        step = self.distance(e.index, e.pointer.type.pointee.size, e.span)
        if e.subtract:
            zero = self.const(e.span, 0, I64)
            before = start.offset if start.offset is not None else zero
            return replace(start, offset=self.emit(e.span, "sub", before, step))
        offset = step if start.offset is None else self.emit(e.span, "add", start.offset, step)
        return replace(start, offset=offset)

    def distance(self, index: tt.Expr, size: int, span: Span) -> Value:
        """``index`` elements of ``size`` bytes, as an i64."""
        if isinstance(index, tt.Const):
            count = index.value - (1 << index.type.bits if index.type.signed and index.value >> index.type.bits - 1 else 0)
            return self.const(span, count * size, I64)
        wide = ct.LONG if index.type.signed else ct.ULONG
        count = self.converted(index.span, self.value(index), index.type, wide)
        return count if size == 1 else self.emit(span, "mul", count, self.const(span, size, I64))

    def _addressof(self, e):
        return self.pointer(self.target(e), e.span)

    def _pointeradd(self, e):
        return self.pointer(self._moved(e), e.span)

    # -- assignment

    def _assign(self, e):
        where = self.address(e.target)
        value = self.value(e.value)
        self.store(where, value, e.span)
        return value

    def _update(self, e):
        where, t = self.address(e.target), e.target.type
        old = self.load(where, t, e.span)
        left = self.converted(e.span, old, t, e.compute)
        result = self.computed(e.span, e.operator, left, self.value(e.operand), e.compute, e.operand.type)
        new = self.converted(e.span, result, e.compute, t)
        self.store(where, new, e.span)
        return old if e.postfix else new

    def _step(self, e):
        where = self.address(e.target)
        old = self.load(where, e.type, e.span)
        step = self.distance(e.index, e.type.pointee.size, e.span)
        if e.subtract:
            step = self.emit(e.span, "sub", self.const(e.span, 0, I64), step)
        new = self.emit(e.span, "ptradd", old, step)
        self.store(where, new, e.span)
        return old if e.postfix else new


_HARMLESS = (tt.Const, tt.Unary, tt.Binary, tt.Compare, tt.Logical, tt.Convert, tt.Conditional, tt.PointerAdd)


def harmless(e: tt.Expr) -> bool:
    """Whether evaluating the expression for nothing changes nothing and touches no element of a memory."""
    if isinstance(e, tt.VariableRef):
        return not e.variable.volatile
    if isinstance(e, tt.AddressOf):
        return isinstance(e.target, tt.VariableRef) or harmless(e.target.pointer)
    if isinstance(e, tt.Builtin):
        return all(map(harmless, e.arguments))
    return isinstance(e, _HARMLESS) and all(harmless(c) for c in vars(e).values() if isinstance(c, tt.Expr))
