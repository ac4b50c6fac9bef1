"""Lowers expressions of the typed tree to IR operations.

The value of a scalar type is an i1 for bool, an IR integer or float of the same size for other numbers, and ``ptr`` for
pointers. That of a vector or struct is a tuple of these; an operation on vectors is one operation per component.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..diag import Span
from ..ir import BOOL, I64, PTR, Attr, Region, Value
from ..ir.wrapping import SUMS
from . import tree as tt
from . import types as ct
from .builtins import BUILTINS, WORK_ITEM
from .builtins_vector import VECTOR_BUILTINS
from .layout import leaf_count, leaves, several, splits
from .lower_convert import ConvertLowering
from .lower_memory import Address

__all__ = ["ValueLowering", "harmless", "lanes"]

_INT_OPS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_SIGNED_OPS = {"/": ("udiv", "sdiv"), "%": ("urem", "srem"), ">>": ("lshr", "ashr")}
_FLOAT_OPS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
#: operator -> (float opcode, unsigned, signed, operands swapped)
_COMPARES = {
    "==": ("feq", "eq", "eq", False),
    "!=": ("fne", "ne", "ne", False),
    "<": ("flt", "ult", "slt", False),
    "<=": ("fle", "ule", "sle", False),
    ">": ("flt", "ult", "slt", True),
    ">=": ("fle", "ule", "sle", True),
}


def lanes(value: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    """The components of a value; a scalar has one."""
    return value if isinstance(value, tuple) else (value,)


def each(fn: Callable[..., Any], *values: Any) -> Any:
    """``fn`` applied to the values, or to each component of them."""
    return tuple(fn(*lane) for lane in zip(*values, strict=True)) if isinstance(values[0], tuple) else fn(*values)


class ValueLowering(ConvertLowering):
    """Appends the operations of expressions."""

    # -- values

    def value(self, e: tt.Expr) -> Any:
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
        if (
            isinstance(e, tt.Convert)
            and isinstance(e.type, ct.Int)
            and isinstance(e.operand.type, ct.Int)
            and e.type.bits >= e.operand.type.bits
        ):
            return self.condition(e.operand)  # widening preserves whether a value is zero
        return self.nonzero(e.span, self.value(e), e.type)

    def _const(self, e):
        return self.const(e.span, e.value, ct.ir_type(e.type))

    def _null(self, e):
        null = self.const(e.span, 0, PTR)
        return (null,) * leaf_count(e.type) if several(e.type) else null

    def _variableref(self, e):
        if buffer := self.storage.buffer(e.variable):
            return self.pointer(Address(buffer), e.span)
        argument = self.storage.argument(e.variable)
        return argument if argument is not None else self.load(self.address(e), e.type, e.span)

    def _dereference(self, e):
        return self.load(self.address(e), e.type, e.span)

    _packed = _dereference

    def _in_memory(self, e: tt.Expr) -> bool:
        """Whether the members of the value are read from memory (it has a location and is not an argument)."""
        root = tt.root_of(e)
        return tt.is_lvalue(e) and not (
            isinstance(root, tt.VariableRef) and self.storage.argument(root.variable) is not None
        )

    def _member(self, e):
        if self._in_memory(e):
            return self.load(self.address(e), e.type, e.span)
        struct, whole = e.base.type, self.value(e.base)
        if struct.union:
            return self.reinterpreted(whole, struct, e.type, e.span)
        before = sum(leaf_count(m.type) for m in struct.members[: e.index])
        count = leaf_count(e.type)
        return whole[before : before + count] if several(e.type) else whole[before]

    def _lanes(self, e):
        if len(e.lanes) == 1 and self._in_memory(e):
            return self.load(self.lane(self.address(e.base), e.lanes[0], e.base.type, e.span), e.type, e.span)
        whole = self.value(e.base)
        picked = tuple(whole[k] for k in e.lanes)
        return picked if isinstance(e.type, ct.Vector) else picked[0]

    def _build(self, e):
        scalars = [None] * leaf_count(e.type)
        for first, part in e.parts:
            for k, value in enumerate(lanes(self.value(part))):
                scalars[first + k] = value
        kinds = leaves(e.type)
        return tuple(self.zero(t, e.span) if v is None else v for v, (_, t) in zip(scalars, kinds))

    def _unionof(self, e):
        return self.reinterpreted(lanes(self.value(e.member)), e.member.type, e.type, e.span)

    def _reinterpret(self, e):
        return self.reinterpreted(self.value(e.operand), e.operand.type, e.type, e.span)

    def _unary(self, e):
        if e.operator == "!":
            if isinstance(e.type, ct.Vector):
                return each(lambda x: self.truth(e.span, self._is_zero(e, x), e.type), self.value(e.operand))
            return self.truth(e.span, self.condition(e), e.type)
        return each(lambda x: self._unary_of(e, x), self.value(e.operand))

    def _is_zero(self, e, x: Value) -> Value:
        t = e.operand.type.element
        return self.emit(e.span, "feq" if isinstance(t, ct.Float) else "eq", x, self.zero(t, e.span))

    def _unary_of(self, e, x: Value) -> Value:
        if e.operator == "~":
            return self.emit(e.span, "xor", x, self.const(e.span, -1, x.type))
        if isinstance(ct.element_of(e.type), ct.Float):
            return self.emit(e.span, "fneg", x)
        return self.emit(e.span, "sub", self.const(e.span, 0, x.type), x, attrs=_wrapping("sub", ct.element_of(e.type)))

    def _binary(self, e):
        return self._combined(e.span, e.operator, self.value(e.left), self.value(e.right), e.type, e.right.type)

    def _combined(self, span, operator, left, right, t: ct.CType, right_type: ct.CType):
        types = ct.element_of(t), ct.element_of(right_type)
        return each(lambda a, b: self.computed(span, operator, a, b, *types), left, right)

    def computed(
        self, span: Span, operator: str, left: Value, right: Value, type: ct.CType, right_type: ct.CType
    ) -> Value:
        """``left operator right`` of type ``type``; only the amount of a shift may have another type."""
        if isinstance(type, ct.Float):
            return self.emit(span, _FLOAT_OPS[operator], left, right)
        if operator in ("<<", ">>"):
            right = self._amount(span, right, right_type, type)
        opcode = "shl" if operator == "<<" else _INT_OPS.get(operator) or _SIGNED_OPS[operator][type.signed]
        return self.emit(span, opcode, left, right, attrs=_wrapping(opcode, type))

    def _amount(self, span, right: Value, right_type: ct.CType, type: ct.CType) -> Value:
        """The shift amount for a ``type``: modulo the width in OpenCL C; for an integer of exact width, the whole
        amount counts."""
        if not type.exact:
            amount = self.converted(span, right, ct.unsigned_of(right_type), ct.unsigned_of(type))
            return self.emit(span, "and", amount, self.const(span, type.bits - 1, amount.type))
        if right_type.bits > type.bits:  # truncation must not make a large amount small
            most = self.const(span, type.bits, right.type)
            right = self.emit(span, "select", self.emit(span, "ult", right, most), right, most)
        return self.converted(span, right, ct.unsigned_of(right_type), ct.unsigned_of(type))

    def _compare(self, e):
        if isinstance(e.type, ct.Vector):
            left, right = self.value(e.left), self.value(e.right)
            return each(lambda a, b: self.truth(e.span, self._compared(e, a, b), e.type), left, right)
        return self.truth(e.span, self._comparison(e), e.type)

    def _comparison(self, e):
        return self._compared(e, self.value(e.left), self.value(e.right))

    def _compared(self, e, left: Value, right: Value) -> Value:
        floating, unsigned, signed, swap = _COMPARES[e.operator]
        t = ct.element_of(e.left.type)
        opcode = floating if isinstance(t, ct.Float) else signed if t.signed else unsigned
        return self.emit(e.span, opcode, *((right, left) if swap else (left, right)))

    def _pointercompare(self, e):
        """Compares pointers into one object, the only case that C defines for < and >; == also distinguishes
        objects. Of a split pointer, the first of its pointers decides."""
        left, right = lanes(self.value(e.left))[0], lanes(self.value(e.right))[0]
        if e.operator in ("==", "!="):
            same = self.emit(e.span, "ptreq", left, right)
            flip = e.operator == "!="
            return self.truth(
                e.span, self.emit(e.span, "xor", same, self.const(e.span, 1, BOOL)) if flip else same, e.type
            )
        _, _, signed, swap = _COMPARES[e.operator]
        places = [self.emit(e.span, "ptroffset", p) for p in (left, right)]
        return self.truth(e.span, self.emit(e.span, signed, *(places[::-1] if swap else places)), e.type)

    def _pointerdistance(self, e):
        left, right = (self.emit(e.span, "ptroffset", lanes(self.value(p))[0]) for p in (e.left, e.right))
        apart = self.emit(e.span, "sub", left, right)
        size = splits(e.left.type.pointee)[0][2] if several(e.left.type) else e.size
        return apart if size == 1 else self.emit(e.span, "sdiv", apart, self.const(e.span, size, I64))

    # -- conditional evaluation

    def _logical(self, e):
        if isinstance(e.type, ct.Vector):
            return each(
                lambda a, b: self.truth(e.span, self._both(e, a, b), e.type), self.value(e.left), self.value(e.right)
            )
        return self.truth(e.span, self._logic(e), e.type)

    def _both(self, e, left: Value, right: Value) -> Value:
        bits = [self.nonzero(e.span, x, e.left.type.element) for x in (left, right)]
        return self.emit(e.span, "and" if e.operator == "&&" else "or", *bits)

    def _logic(self, e):
        """``a && b`` as an i1; b is evaluated only if a is true, unless evaluating it anyway cannot be observed."""
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
        if isinstance(e.condition.type, ct.Vector):
            tops = each(lambda x: self.emit(e.span, "slt", x, self.const(e.span, 0, x.type)), self.value(e.condition))
            return each(
                lambda c, a, b: self.emit(e.span, "select", c, a, b), tops, self.value(e.then), self.value(e.otherwise)
            )
        condition = self.condition(e.condition)
        if isinstance(e.type, ct.Void):
            return self._either(e, condition, ())
        if harmless(e.then) and harmless(e.otherwise):
            return each(
                lambda a, b: self.emit(e.span, "select", condition, a, b), self.value(e.then), self.value(e.otherwise)
            )
        kinds = [ct.ir_type(t) for _, t in leaves(e.type)]
        outcomes = [self.storage.temporary("choice", kind, e.span) for kind in kinds]
        self._either(e, condition, outcomes)
        values = tuple(self.get(name, kind, e.span) for name, kind in zip(outcomes, kinds))
        return values if several(e.type) else values[0]

    def _either(self, e, condition: Value, outcomes) -> None:
        """Evaluate one of two expressions; its scalars are stored to the memories ``outcomes``."""
        with self.branches(e.span, condition) as regions:
            for region, branch in zip(regions, (e.then, e.otherwise)):
                with self.inside(region):
                    value = self.value(branch)
                    for memory, one in zip(outcomes, lanes(value)):
                        self.set(memory, one, e.span)

    @contextmanager
    def branches(self, span: Span, condition: Value) -> Iterator[tuple[Region, Region]]:
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
        arguments = [x for a in e.arguments for x in lanes(self.value(a))]
        for variable in e.callee.program_variables:
            arguments.append(self.pointer(self.address(tt.VariableRef(variable.type, e.span, variable)), e.span))
        kinds = [] if isinstance(e.type, ct.Void) else [ct.ir_type(t) for _, t in leaves(e.type)]
        op = self.op(e.span, "call", *arguments, results=kinds, attrs={Attr.CALLEE: e.callee.name})
        return tuple(op.results) if several(e.type) else op.results[0] if kinds else None

    def _builtin(self, e):
        if e.name in WORK_ITEM:
            fn, result, _ = WORK_ITEM[e.name]
            dim = e.arguments[0].value if e.arguments else 0
            return self.emit(
                e.span, "work_item", result=ct.ir_type(result), attrs={Attr.FN: fn, Attr.DIM: dim}, name=fn
            )
        values, types = [self.value(a) for a in e.arguments], [a.type for a in e.arguments]
        self.builder.span = e.span
        if e.name in VECTOR_BUILTINS and (e.name not in BUILTINS or any(isinstance(t, ct.Vector) for t in types)):
            found = VECTOR_BUILTINS[e.name].emit(self.builder, [lanes(v) for v in values], types, e.type)
            return found if isinstance(e.type, ct.Vector) else found[0]
        return each(lambda *lane: self._function(e, lane), *values)

    def _function(self, e, values) -> Value:
        row = BUILTINS[e.name]
        result = row.emit(self.builder, list(values), ct.element_of(e.arguments[0].type))
        if not (row.test and isinstance(e.type, ct.Vector)):
            return result
        return self.truth(e.span, self.emit(e.span, "ne", result, self.const(e.span, 0, result.type)), e.type)

    # -- pointers

    def _addressof(self, e):
        return self.pointer_to(self.target(e), e.type, e.span)

    _pointeradd = _addressof

    # -- assignment

    def _assign(self, e):
        if isinstance(e.target, tt.Lanes) and len(e.target.lanes) > 1:
            return self._assign_lanes(e.target, self.value(e.value))
        where = self.address(e.target)
        value = self.value(e.value)
        self.store(where, value, e.target.type, e.span)
        return value

    def _assign_lanes(self, target: tt.Lanes, values):
        where, t = self.address(target.base), target.base.type
        for k, value in zip(target.lanes, values, strict=True):
            self.store(self.lane(where, k, t, target.span), value, t.element, target.span)
        return values

    def _update(self, e):
        several = isinstance(e.target, tt.Lanes) and len(e.target.lanes) > 1
        t = e.target.type
        where = None if several else self.address(e.target)
        old = self.value(e.target) if several else self.load(where, t, e.span)
        source, compute = ct.element_of(t), ct.element_of(e.compute)
        left = each(lambda x: self.converted(e.span, x, source, compute), old)
        result = self._combined(e.span, e.operator, left, self.value(e.operand), e.compute, e.operand.type)
        new = each(lambda x: self.converted(e.span, x, compute, source), result)
        if several:
            self._assign_lanes(e.target, new)
        else:
            self.store(where, new, t, e.span)
        return old if e.postfix else new

    def _step(self, e):
        where = self.address(e.target)
        old = self.load(where, e.type, e.span)
        if several(e.type):
            count = self.distance(e.index, 1, e.span)
            sizes = [self.const(e.span, size, I64) for _, _, size in splits(e.type.pointee)]
            steps = tuple(self.offset(e.span, "mul", count, size) for size in sizes)
        else:
            steps = self.distance(e.index, e.type.pointee.size, e.span)
        new = each(lambda pointer, step: self._stepped(e, pointer, step), old, steps)
        self.store(where, new, e.type, e.span)
        return old if e.postfix else new

    def _stepped(self, e, pointer: Value, step: Value) -> Value:
        if e.subtract:
            step = self.offset(e.span, "sub", self.const(e.span, 0, I64), step)
        return self.emit(e.span, "ptradd", pointer, step)


def _wrapping(opcode: str, type: ct.CType) -> dict[str, bool]:
    """The attribute of a sum that C lets wrap around: of unsigned numbers, or of numbers of an exact width. Narrow sums
    are analysed with their wrapping anyway."""
    wraps = opcode in SUMS and isinstance(type, ct.Int) and type.bits >= 32 and (not type.signed or type.exact)
    return {Attr.WRAPS: True} if wraps else {}


_HARMLESS = (
    tt.Const,
    tt.Unary,
    tt.Binary,
    tt.Compare,
    tt.Logical,
    tt.Convert,
    tt.ConvertExactly,
    tt.Conditional,
    tt.Null,
    tt.PointerAdd,
    tt.PointerCompare,
    tt.PointerDistance,
    tt.Build,
    tt.UnionOf,
    tt.Reinterpret,
)


def harmless(e: tt.Expr) -> bool:
    """Whether the expression can be evaluated speculatively: it has no side effect and accesses no element of a
    memory."""
    if isinstance(e, tt.VariableRef):
        return not e.variable.volatile and e.variable.kind != "program"
    if isinstance(e, (tt.Member, tt.Lanes)):
        return harmless(e.base)
    if isinstance(e, tt.AddressOf):
        root = tt.root_of(e.target)
        return isinstance(root, tt.VariableRef) or harmless(root.pointer)
    if isinstance(e, tt.Builtin):
        return e.name in _FUNCTIONS and all(map(harmless, e.arguments))
    return isinstance(e, _HARMLESS) and all(map(harmless, tt.children(e)))


_FUNCTIONS = BUILTINS.keys() | VECTOR_BUILTINS.keys() | WORK_ITEM.keys()
