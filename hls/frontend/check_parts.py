"""Parts of values: members of structs, components of vectors; and values composed of parts."""

import re
from collections.abc import Iterable, Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from . import tree as tt
from . import types as ct
from .check_assignments import AssignmentChecker
from .extensions import stored_first
from .initializers import flatten, implied_length, listed
from .layout import leaf_count

__all__ = ["PartChecker"]

_MOST_SHOWN = 8  #: members that a message names
_LETTERS = ("xyzw", "rgba")  #: each name is of one kind
_HALVES = {
    "lo": lambda n: range(n // 2),
    "hi": lambda n: range(n // 2, n),
    "even": lambda n: range(0, n, 2),
    "odd": lambda n: range(1, n, 2),
}


class PartChecker(AssignmentChecker):
    """Adds ``a.b``, ``p->b``, ``v.xyzw``, ``(float4)(...)`` and ``(struct S){...}``."""

    def _expr_structref(self, node):
        span = self.span(node.field)
        if node.type == "->":
            e = self.dereference(self.rvalue(node.name), self.span(node))
        else:
            e = self.expression(node.name)
        if isinstance(e.type, ct.Vector):
            return self._lanes(e, str(node.field.name), span)
        if isinstance(e.type, ct.Struct):
            return self._member(e, str(node.field.name), span)
        has_parts = isinstance(e.type, ct.Pointer) and isinstance(e.type.pointee, ct.Struct | ct.Vector)
        hint = f"write ->{node.field.name}" if has_parts else "only structs, unions and vectors have members"
        raise CompileError.at(span, f"'{e.type}' has no member '{node.field.name}'", hint, code=Code.NO_MEMBER)

    def _member(self, e: tt.Expr, name: str, span: Span) -> tt.Expr:
        self.complete(e.type, span, "this")
        if name not in e.type.index:
            raise CompileError.at(
                span,
                f"'{e.type}' has no member '{name}'",
                self.closest(name, e.type.index) or f"it has {_some(e.type.index)}",
                code=Code.NO_MEMBER,
            )
        for k in e.type.index[name]:
            e = tt.Member(e.type.members[k].type, span, e, k)
        return e

    def _lanes(self, e: tt.Expr, name: str, span: Span) -> tt.Expr:
        lanes = _component_numbers(name, e.type.length)
        if lanes is None:
            raise CompileError.at(
                span,
                f"'{e.type}' has no component '{name}'",
                "components are x y z w, r g b a, s0 to sf, lo, hi, even and odd",
                code=Code.NO_MEMBER,
            )
        if max(lanes) >= e.type.length:
            raise CompileError.at(
                span, f"'{name}' is outside '{e.type}', which has {e.type.length} components", code=Code.INDEX_OUTSIDE
            )
        if len(lanes) not in (1, *ct.VECTOR_LENGTHS):
            raise CompileError.at(
                span, f"there is no vector of {len(lanes)} components", "2, 3, 4, 8 or 16", code=Code.NO_MEMBER
            )
        if isinstance(e, tt.Lanes):
            e, lanes = e.base, tuple(e.lanes[k] for k in lanes)
        t = ct.element_of(e.type)
        return tt.Lanes(t if len(lanes) == 1 else ct.Vector(t, len(lanes)), span, e, lanes)

    def vector_literal(self, t: ct.Vector, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr:
        """``(T)(a, b, ...)``: numbers and vectors of the same element type, with as many elements in total as the
        vector."""
        parts, count = [], 0
        for node in nodes:
            e = self.rvalue(node)
            if not ct.number(e.type):
                raise CompileError.at(
                    e.span, f"a component of '{t}' must be a number, not '{e.type}'", code=Code.VECTOR_LITERAL
                )
            if isinstance(e.type, ct.Vector) and e.type.element != t.element:
                raise CompileError.at(
                    e.span,
                    f"'{e.type}' does not fit into '{t}'",
                    f"write convert_{t.element}{e.type.length}(...)",
                    code=Code.VECTOR_LITERAL,
                )
            parts.append((count, self.convert(e, ct.with_element(e.type, t.element))))
            count += leaf_count(e.type)
        if count != t.length:
            raise CompileError.at(
                span,
                f"'{t}' needs {t.length} components, not {count}",
                "give one value for all, or as many as it has",
                code=Code.VECTOR_LITERAL,
            )
        return tt.Build(t, span, tuple(parts))

    def _expr_compoundliteral(self, node):
        span = self.span(node)
        t = self.declared(node.type, span).type
        if isinstance(t, ct.Array):
            name = "an array without a name"  # no valid identifier, so it cannot clash with a program's name
            return self.expression(stored_first(name, node.type.type, node.init, c_ast.ID(name, node.coord)))
        if isinstance(t, ct.Pointer | ct.Void):
            raise CompileError.at(span, f"there is no literal of type '{t}'", code=Code.VECTOR_LITERAL)
        self.complete(t, span, "this")
        if (
            isinstance(t, ct.Vector)
            and len(node.init.exprs) == 1
            and not isinstance(node.init.exprs[0], c_ast.InitList)
        ):
            return self.assignable(self.rvalue(node.init.exprs[0]), t, "the value")
        return tt.Build(t, span, tuple(flatten(self, t, node.init)))

    def sized(self, t: ct.Array, node: c_ast.Node, span: Span) -> ct.Array:
        """An array declared without a length, with the length of its initializer."""
        if isinstance(node.init, c_ast.Constant) and t.element in (ct.CHAR, ct.UCHAR):
            node.init = listed(self, node.init)
        if not isinstance(node.init, c_ast.InitList):
            raise CompileError.at(
                span, "this array has no length", "write it between the brackets", code=Code.ARRAY_SIZE
            )
        return ct.Array(t.element, implied_length(self, t, node.init))


def _component_numbers(name: str, length: int) -> tuple[int, ...] | None:
    """The component numbers that a name such as ``xy``, ``s03`` or ``hi`` denotes."""
    if name in _HALVES:
        size = 4 if length == 3 else length
        return tuple(k for k in _HALVES[name](size) if k < length)
    for letters in _LETTERS:
        if set(name) <= set(letters):
            return tuple(letters.index(c) for c in name)
    if re.fullmatch(r"[sS][0-9a-fA-F]+", name):
        return tuple(int(c, 16) for c in name[1:])
    return None


def _some(names: Iterable[str]) -> str:
    """The first of the names, in quotes."""
    shown = [f"'{name}'" for name in names]
    return ", ".join(shown[:_MOST_SHOWN]) + (
        f" and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
    )
