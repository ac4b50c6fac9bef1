"""Operators on pointers: dereference, index, sum, difference and comparison."""

from collections.abc import Callable
from dataclasses import replace

from ..diag import Code, CompileError, Span
from ..narrow import instance
from . import tree as tt
from . import types as ct
from .check_types_of import TypeOperators
from .evaluate import constant
from .layout import has_pointer

__all__ = ["COMPARES", "PointerOperators", "index_hint", "is_null", "place_of", "unqualified_target"]

COMPARES = ("==", "!=", "<", "<=", ">", ">=")


class PointerOperators(TypeOperators):
    """Checks operators of which an operand is a pointer."""

    convert: Callable[[tt.Expr, ct.CType], tt.Expr]  #: to a type, of a subclass

    def dereference(self, e: tt.Expr, span: Span) -> tt.Expr:
        """The lvalue that ``e`` points to. Raises CompileError if ``e`` is no pointer, or points to void or an
        incomplete type."""
        if not isinstance(e.type, ct.Pointer):
            raise CompileError.at(span, f"'{e.type}' is not a pointer or an array", "", code=Code.OPERAND_TYPES)
        if isinstance(e.type.pointee, ct.Void):
            raise CompileError.at(
                span,
                "a 'void *' points to nothing that has a type",
                "cast it to the type it points to",
                code=Code.OPERAND_TYPES,
            )
        self.complete(e.type.pointee, span, "what the pointer points to")
        return tt.Dereference(e.type.pointee, span, e)

    def _pointer_add(self, pointer: tt.Expr, index: tt.Expr, span: Span, subtract: bool = False) -> tt.PointerAdd:
        if isinstance(instance(pointer.type, ct.Pointer).pointee, ct.Void):
            raise CompileError.at(
                span,
                "a 'void *' cannot be moved: what it points to has no size",
                "cast it first",
                code=Code.OPERAND_TYPES,
            )
        if not isinstance(index.type, ct.Int):
            raise CompileError.at(
                index.span,
                f"an index must be an integer, not '{index.type}'",
                index_hint(index.type),
                code=Code.OPERAND_TYPES,
            )
        self._check_bound(pointer, index, subtract)
        if index.type.bits < 32:
            index = self.convert(index, ct.INT)
        return tt.PointerAdd(pointer.type, span, pointer, index, subtract)

    def _check_bound(self, pointer: tt.Expr, index: tt.Expr, subtract: bool) -> None:
        """Report a constant index outside an array of known length: it is never intended."""
        target = pointer.target if isinstance(pointer, tt.AddressOf) else None
        if target is None or not isinstance(target.type, ct.Array) or subtract or not isinstance(index, tt.Const):
            return
        t, value = instance(index.type, ct.Int), instance(index.value, int)
        signed = value - (1 << t.bits if t.signed and value >> t.bits - 1 else 0)
        unknown = target.type.length == 0  # declared extern without its length
        if not unknown and not 0 <= signed <= target.type.length:
            raise CompileError.at(
                index.span,
                f"index {signed} is outside the array, which has {target.type.length} elements",
                code=Code.INDEX_OUTSIDE,
            )

    def _pointer_operation(self, op: str, left: tt.Expr, right: tt.Expr, span: Span) -> tt.Expr:
        if op in ("+", "-") and isinstance(left.type, ct.Pointer) and ct.integer(right.type):
            return self._pointer_add(left, right, span, op == "-")
        if op == "+" and isinstance(right.type, ct.Pointer) and ct.integer(left.type):
            return self._pointer_add(right, left, span)
        if isinstance(left.type, ct.Pointer) and isinstance(right.type, ct.Pointer) and op in ("-", *COMPARES):
            return self._two_pointers(op, left, right, span)
        pointer, other = (left, right) if isinstance(left.type, ct.Pointer) else (right, left)
        if op in ("==", "!=") and is_null(other):
            return tt.PointerCompare(ct.INT, span, op, pointer, tt.Null(pointer.type, span))
        raise CompileError.at(
            span, f"'{op}' does not work on '{left.type}' and '{right.type}'", code=Code.OPERAND_TYPES
        )

    def _two_pointers(self, op: str, left: tt.Expr, right: tt.Expr, span: Span) -> tt.Expr:
        a, b = instance(left.type, ct.Pointer), instance(right.type, ct.Pointer)
        if op in ("==", "!=") and tt.Null in (type(left), type(right)):
            left, right = (right, left) if isinstance(left, tt.Null) else (left, right)
            return tt.PointerCompare(ct.INT, span, op, left, tt.Null(left.type, span))
        message = f"'{op}' takes two pointers of one type, not '{a}' and '{b}'"
        if a.space != b.space and "private" not in (a.space, b.space) or op == "-" and a.pointee != b.pointee:
            raise CompileError.at(span, message, code=Code.OPERAND_TYPES)
        self.same_pointee(a, b, span, message)
        if op != "-":
            return tt.PointerCompare(ct.INT, span, op, left, right)
        if isinstance(a.pointee, ct.Void):
            raise CompileError.at(
                span,
                "'void *' cannot be subtracted: what it points to has no size",
                "cast both first",
                code=Code.OPERAND_TYPES,
            )
        return tt.PointerDistance(ct.LONG, span, left, right, a.pointee.size)

    def same_pointee(self, a: ct.Pointer, b: ct.Pointer, span: Span, message: str) -> None:
        """Warn where two pointers used together without a cast point to different types, as other compilers do: the
        bytes are the same. Only pointers to pointers are never reinterpreted."""
        one, other = unqualified_target(a.pointee), unqualified_target(b.pointee)
        if one == other or ct.Void in (type(one), type(other)):
            return
        if has_pointer(one) or has_pointer(other):
            raise CompileError.at(span, message, "the types they point to differ", code=Code.CONVERSION)
        if ct.unsigned_of(one) == ct.unsigned_of(other):
            self.warn(
                span,
                f"{message}: they differ in sign",
                f"cast it if that is meant: ({replace(b, restrict=False)})",
                code=Code.POINTER_SIGN,
            )
        else:
            self.warn(
                span,
                f"{message}: the bytes of one type are reinterpreted as the other",
                f"cast it if that is meant: ({replace(b, restrict=False)})",
                code=Code.POINTER_REINTERPRETED,
            )


def place_of(e: tt.LValue) -> tuple[str, bool, bool]:
    """(address space, const, volatile) of an lvalue's location."""
    root = tt.root_of(e)
    if isinstance(root, tt.VariableRef):
        v = root.variable
        space = v.space or {"constant": "constant", "shared": "local", "program": "global"}.get(v.kind, "private")
        return space, v.const, v.volatile
    if isinstance(root, tt.Dereference):
        t = instance(root.pointer.type, ct.Pointer)
        return t.space, t.const, t.volatile
    raise CompileError.at(root.span, "this array has no place in memory", code=Code.NO_ADDRESS)


def is_null(e: tt.Expr) -> bool:
    """Whether the expression is a null pointer, or the constant 0 that stands for one."""
    if isinstance(e, tt.Null):
        return True
    zero = constant(e) if ct.integer(e.type) else None
    return zero is not None and zero.value == 0


def index_hint(t: ct.CType) -> str:
    """The hint where an index must be an integer."""
    return "write (int)x" if isinstance(t, ct.Float) else ""


def unqualified_target(t: ct.CType) -> ct.CType:
    """A type without the qualifiers of a pointer inside it."""
    return (
        replace(t, pointee=unqualified_target(t.pointee), const=False, volatile=False, restrict=False)
        if isinstance(t, ct.Pointer)
        else t
    )
