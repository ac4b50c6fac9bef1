"""Conversions between types: implicit ones, and casts."""

from dataclasses import replace

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..ir.values import signed
from . import tree as tt
from . import types as ct
from .check_pointers import is_null, unqualified_target
from .check_suspicious import constant_kept
from .check_values import ValueChecker
from .evaluate import constant
from .layout import leaf_count, split_pointer

__all__ = ["ConversionChecker"]

#: values of more scalars than this cannot be copied as a whole
_MOST_SCALARS = 4096


class ConversionChecker(ValueChecker):
    """Adds conversions to the expression checker."""

    def convert(self, e: tt.Expr, t: ct.CType) -> tt.Expr:
        """A number as another number type: a vector element by element, or a scalar as each element of a vector."""
        if e.type == t:
            return e
        if isinstance(t, ct.Vector) and not isinstance(e.type, ct.Vector):
            return tt.Convert(t, e.span, self.convert(e, t.element))
        converted = tt.Convert(t, e.span, e)
        return constant(converted) if isinstance(e, tt.Const) else converted

    def assignable(self, e: tt.Expr, t: ct.CType, role: str) -> tt.Expr:
        """``e`` converted to ``t`` as if by assignment; ``role`` describes ``e`` ("the argument for 'x'")."""
        if ct.number(t) and ct.arithmetic(e.type):
            converted = self.convert(e, t)
            constant_kept(self, e, converted, role)
            return converted
        if e.type == t and not isinstance(t, ct.Pointer | ct.Void):
            if leaf_count(t) > _MOST_SCALARS:
                raise CompileError.at(
                    e.span, f"{role} is a copy of {leaf_count(t)} scalars", "copy it in a loop", code=Code.CONVERSION
                )
            self._advise(e)
            return e
        if isinstance(t, ct.Pointer) and is_null(e):
            return tt.Null(t, e.span)
        if isinstance(t, ct.Pointer) and isinstance(e.type, ct.Pointer):
            return self._pointer_assignable(e, t, role)
        if isinstance(e.type, ct.Void):
            raise CompileError.at(
                e.span, f"{role} is void: there is no value", f"'{t}' is needed here", code=Code.CONVERSION
            )
        addressed = (
            isinstance(t, ct.Pointer)
            and tt.is_lvalue(e)
            and unqualified_target(t.pointee) == unqualified_target(e.type)
        )
        raise CompileError.at(
            e.span,
            f"{role} is '{e.type}', not '{t}'",
            "take its address with &" if addressed else _cast_hint(e.type, t),
            code=Code.CONVERSION,
        )

    def _advise(self, e: tt.Expr) -> None:
        """Warn of a struct whose size is not a power of two: no single access moves it."""
        t, root = e.type, tt.root_of(e)
        buffer = isinstance(root, tt.Dereference) and root.pointer.type.space in ("global", "local")
        if buffer and isinstance(t, ct.Struct) and t.size & t.size - 1 and leaf_count(t) > 1:
            self.warn(
                e.span,
                f"'{t}' has {t.size} bytes, so one of them may lie across two words of memory, or take "
                f"{leaf_count(t)} accesses",
                f"with __attribute__((aligned({1 << t.size.bit_length()}))) after its closing brace, it is one "
                "access of one word",
                code=Code.UNALIGNED_STRUCT,
            )

    def _pointer_assignable(self, e, t, role):
        source = e.type
        if not _reaches(source, t):
            wanted = replace(t, space=source.space, const=source.const, restrict=False)
            raise CompileError.at(
                e.span,
                f"{role} points to __{source.space} memory, not to __{t.space}",
                f"declare {_receiver(role)} as '{wanted}'",
                code=Code.ADDRESS_SPACE,
            )
        self.same_pointee(source, t, e.span, f"{role} is '{source}', not '{t}'")
        _check_split(source, t, e.span)
        if source.const and not t.const and t.space != "constant":  # constant memory is never written anyway
            self.warn(
                e.span,
                f"{role} is '{source}', not '{t}': const is lost",
                f"declare {_receiver(role)} const as well",
                code=Code.CONST_LOST,
            )
        return e if source == t else tt.Convert(t, e.span, e)

    def _expr_cast(self, node):
        span = self.span(node)
        declared = self.declared(node.to_type, span)
        target = declared.type
        if isinstance(target, ct.Void):
            return tt.Convert(target, span, self.rvalue(node.expr))
        if isinstance(target, ct.Vector) and isinstance(node.expr, c_ast.ExprList):
            return self.vector_literal(target, node.expr.exprs, span)
        if isinstance(target, ct.Vector) and (literal := _component_of_literal(node)):
            return self.rvalue(literal)
        e = self.rvalue(node.expr)
        if ct.number(target) and ct.arithmetic(e.type):
            return replace(self.convert(e, target), span=span)
        if e.type == target and not isinstance(target, ct.Pointer | ct.Void):
            return e
        if isinstance(target, ct.Pointer) and is_null(e):
            return tt.Null(target, span)
        if isinstance(target, ct.Pointer) and isinstance(e.type, ct.Pointer):
            return self._pointer_cast(e, target, span)
        if isinstance(target, ct.Int) and isinstance(e.type, ct.Pointer):
            place = _from_null(e)
            if place and target != ct.BOOL_T:  # the usual definition of offsetof
                return self.convert(tt.Const(ct.ULONG, span, place), target)
            if target == ct.BOOL_T:
                return self.convert(self.truth(e), target)
            _check_split(e.type, target, span)
            return tt.Convert(target, span, e)
        if isinstance(target, ct.Vector) and isinstance(e.type, ct.Vector):
            raise CompileError.at(
                span,
                f"a cast cannot turn '{e.type}' into '{target}'",
                f"write convert_{target}(x) for its value or as_{target}(x) for its bits",
                code=Code.CONVERSION,
            )
        raise CompileError.at(
            span, f"cannot cast '{e.type}' to '{target}'", _cast_hint(e.type, target), code=Code.CONVERSION
        )

    def _pointer_cast(self, e, target, span):
        if not _reaches(e.type, target):
            raise CompileError.at(
                span,
                f"a cast cannot move a pointer from __{e.type.space} to __{target.space} memory",
                f"write __{e.type.space} in the cast",
                code=Code.ADDRESS_SPACE,
            )
        _check_split(e.type, target, span)
        return tt.Convert(target, span, e)


def _check_split(source: ct.CType, target: ct.CType, span: Span) -> None:
    """Raise CompileError if one of the types, which differ in more than qualifiers, is a split pointer."""
    split = next((t for t in (source, target) if split_pointer(t)), None)
    if split is None:
        return
    pointers = isinstance(source, ct.Pointer) and isinstance(target, ct.Pointer)
    if pointers and unqualified_target(source.pointee) == unqualified_target(target.pointee):
        return
    raise CompileError.at(
        span,
        f"'{split}' cannot become another pointer or a number: the struct holds pointers, so it has no bytes",
        "pass it as it is",
        code=Code.CONVERSION,
    )


def _from_null(e: tt.Expr) -> int | None:
    """How many bytes after null a pointer leads, if it is derived from null."""
    if isinstance(e, tt.Null):
        return 0
    if isinstance(e, tt.Convert | tt.PointerAdd):
        inner = _from_null(e.operand if isinstance(e, tt.Convert) else e.pointer)
        if inner is None or isinstance(e, tt.Convert):
            return inner
        index = constant(e.index)
        if index is None:
            return None
        steps = signed(index.value, index.type.bits) if index.type.signed else index.value
        return inner + (-steps if e.subtract else steps) * e.type.pointee.size
    target, place = e.target if isinstance(e, tt.AddressOf) else None, 0
    while isinstance(target, tt.Member):
        place, target = place + target.base.type.members[target.index].offset, target.base
    inner = _from_null(target.pointer) if isinstance(target, tt.Dereference) else None
    return None if inner is None else inner + place


def _reaches(source: ct.Pointer, target: ct.Pointer) -> bool:
    """Whether the pointer converts to the other type without an address space error. A pointer without an address space
    may point anywhere, as of OpenCL C 2.0, so that one helper serves buffers and arrays. A pointer into constant memory
    must be const."""
    if source.space == target.space:
        return True
    return target.space == "private" and (source.space != "constant" or target.const)


def _cast_hint(source: ct.CType, target: ct.CType) -> str:
    if isinstance(target, ct.Pointer) and ct.arithmetic(source):
        return "a number cannot become a pointer here: move a pointer, as in p + n, or index it"
    return "(size_t)p gives the address as a number" if isinstance(source, ct.Pointer) and ct.arithmetic(target) else ""


def _component_of_literal(node: c_ast.Cast) -> c_ast.Node | None:
    """``(float4)(a, b, c, d).x`` with the component applied to the literal: the C grammar applies it to ``(a, b, c,
    d)``."""
    names, inner = [], node.expr
    while isinstance(inner, c_ast.StructRef) and inner.type == ".":
        names.append(inner)
        inner = inner.name
    if not names or not isinstance(inner, c_ast.ExprList):
        return None
    found = c_ast.Cast(node.to_type, inner, node.coord)
    for one in reversed(names):
        found = c_ast.StructRef(found, ".", one.field, one.coord)
    return found


def _receiver(role: str) -> str:
    """What takes the value of this ``role``."""
    parameter = role.removeprefix("the argument for ")
    if parameter != role:
        return f"the parameter {parameter}"
    return {"the returned value": "the function's result"}.get(role, "the variable")
