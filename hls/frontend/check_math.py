"""Functions with a second result through a pointer: ``sincos``, ``fract``, ``modf``, ``frexp``, ``lgamma_r``,
``remquo``.

Each is expanded into functions with one result. Its operands are evaluated once, into variables of their own.
"""

from collections.abc import Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from . import tree as tt
from . import types as ct
from .check_vectors import VectorCallChecker

__all__ = ["PointerMathChecker"]

#: name -> (function for the value, function for the result stored through the pointer)
_PAIRS = {
    "sincos": ("sin", "cos"),
    "fract": ("fract.part", "floor"),
    "modf": ("modf.part", "trunc"),
    "frexp": ("frexp.mantissa", "frexp.exponent"),
    "lgamma_r": ("lgamma", "lgamma.sign"),
}

#: functions whose second result is an integer
_COUNTS = frozenset({"frexp", "lgamma_r", "remquo"})


class PointerMathChecker(VectorCallChecker):
    """Adds these functions."""

    def pointer_math(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr | None:
        """The call of such a function; None if ``name`` is not one."""
        if name not in _PAIRS and name != "remquo":
            return None
        self.count(name, nodes, 2 + (name == "remquo"), span)
        given = [self._operand(n, name) for n in nodes[:-1]]
        t = given[0].type
        if not isinstance(ct.element_of(t), ct.Float):
            t = ct.with_element(t, ct.FLOAT)
        kept = [self._kept(self.assignable(e, t, f"an argument of {name}")) for e in given]
        kept.append(self._kept(self._second(name, nodes[-1], ct.with_element(t, ct.INT) if name in _COUNTS else t)))
        *operands, place = [variable for _, variable in kept]
        first, second = (
            self._remquo(operands, span)
            if name == "remquo"
            else [self.applied(function, operands, span) for function in _PAIRS[name]]
        )
        result = tt.Sequence(first.type, span, self.stored(self.dereference(place, span), second, span), first)
        for effect, _ in reversed(kept):
            result = tt.Sequence(result.type, span, effect, result)
        return result

    def _second(self, name: str, node, t: ct.CType) -> tt.Expr:
        """The pointer argument, which must point to a ``t``."""
        pointer = self.rvalue(node)
        if not isinstance(pointer.type, ct.Pointer) or pointer.type.pointee != t:
            raise CompileError.at(
                pointer.span,
                f"the last argument of {name} must point to '{t}', not '{pointer.type}'",
                f"declare '{t} second;' and pass &second",
                code=Code.BUILTIN_ARGUMENTS,
            )
        self.check_writable(name, pointer, pointer.span)
        return pointer

    @staticmethod
    def _kept(e: tt.Expr) -> tuple[tt.Expr, tt.Expr]:
        """(assignment to a new variable, the variable)."""
        variable = tt.Variable("operand", e.type, "local", e.span, written=True)
        ref = tt.VariableRef(e.type, e.span, variable)
        return tt.Assign(e.type, e.span, ref, e), ref

    def _remquo(self, operands, span: Span) -> tuple[tt.Expr, tt.Expr]:
        """The quotient is taken modulo 128: it has the low seven bits of the true one."""
        x, y = operands
        t, ints = x.type, ct.with_element(x.type, ct.INT)
        size, step = (self.applied("fabs", [e], span) for e in operands)
        turns = tt.Binary(t, span, "*", step, self.convert(tt.Const(ct.FLOAT, span, 128.0), t))
        rest = self.applied("fmod", [size, turns], span)
        whole = tt.Binary(t, span, "-", rest, self.applied("remainder", [rest, step], span))
        count = tt.ConvertExactly(ints, span, tt.Binary(t, span, "/", whole, step), False, "rte")
        low = tt.Binary(ints, span, "&", count, self.convert(tt.Const(ct.INT, span, 127), ints))
        signs = [self.applied("signbit", [e], span) for e in operands]
        differ = tt.Compare(ct.truth_of(ints), span, "!=", *(self.convert(s, ints) for s in signs))
        signed = tt.Conditional(ints, span, differ, tt.Unary(ints, span, "-", low), low)
        return self.applied("remainder", [x, y], span), signed
