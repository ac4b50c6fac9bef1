"""Operators on types: ``sizeof``, ``alignof``, ``typeof`` and ``vec_step``."""

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from . import tree as tt
from . import types as ct
from .check_types import TypeChecker
from .scope import TypeName

__all__ = ["OF_TYPES", "TypeOperators"]

#: operators on types, and the error of each for a type without values
OF_TYPES = {"sizeof": "void has no size", "alignof": "void has no alignment", "vec_step": "void is no vector"}


class TypeOperators(TypeChecker):
    """``expression`` and ``sized`` are defined by subclasses."""

    def named_type(self, node: c_ast.Node, span: Span) -> ct.CType:
        """The type that is written, or the type of the expression."""
        named = self.find(str(node.name), self.span(node)) if isinstance(node, c_ast.ID) else None
        if isinstance(node, c_ast.Typename):
            return self.declared(node, span).type
        if isinstance(named, TypeName):  # in an attribute, where the grammar knows no typedefs
            return named.meaning.type
        if isinstance(node, c_ast.CompoundLiteral):  # an array has not decayed to a pointer
            t = self.declared(node.type, span).type
            return self.sized(t, node, span) if isinstance(t, ct.Array) and t.length == 0 else t
        return self.expression(node).type

    def of_type(self, node: c_ast.UnaryOp, span: Span) -> tt.Const:
        """``sizeof``, ``alignof``, and ``vec_step``: the number of elements of a vector; three count as four."""
        t = self.named_type(node.expr, span)
        if isinstance(t, ct.Void):
            raise CompileError.at(span, OF_TYPES[node.op], code=Code.BUILTIN_ARGUMENTS)
        self.complete(t, span, "this")
        if node.op == "vec_step":
            if not ct.number(t):
                raise CompileError.at(
                    span, f"vec_step takes a number or a vector, not '{t}'", code=Code.BUILTIN_ARGUMENTS
                )
            return tt.Const(ct.INT, span, t.size // ct.element_of(t).size)
        return tt.Const(ct.ULONG, span, t.size if node.op == "sizeof" else ct.alignment(t))
