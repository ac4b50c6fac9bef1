"""Assignments, and their valid targets."""

from ..diag import Code, CompileError, Span
from . import read_only
from . import tree as tt
from . import types as ct
from .check_conversions import ConversionChecker
from .check_pointers import place_of
from .check_suspicious import unary_after_equals
from .check_values import number_hint

__all__ = ["AssignmentChecker"]


class AssignmentChecker(ConversionChecker):
    """Adds assignments to the expression checker."""

    def _expr_assignment(self, node):
        span = self._operator_span(node)
        target = self.writable(self.expression(node.lvalue), span)
        value = self.rvalue(node.rvalue)
        t = target.type
        unary_after_equals(self, node)
        if node.op == "=":
            return tt.Assign(t, span, target, self.assignable(value, t, "the assigned value"))
        op = str(node.op)[:-1]
        if isinstance(t, ct.Pointer):
            return self._step(target, op, value, span)
        self.operands(op, target, value, span)
        if op in ("<<", ">>"):
            amount = self.shift(op, target, value, span).right
            return tt.Update(t, span, target, op, amount, ct.promoted(t))
        compute = self.common(target, value, span, op)
        if isinstance(compute, ct.Vector) and t != compute:
            raise CompileError.at(
                span,
                f"'{node.op}' would turn '{t}' into '{compute}'",
                "use one component of the right side",
                code=Code.CONVERSION,
            )
        value = self.convert(value, compute)
        self._check_division(op, value, span)
        return tt.Update(t, span, target, op, value, compute)

    def _step(self, target, op, index, span, postfix: bool = False):
        if op not in ("+", "-") or not ct.integer(index.type):
            raise CompileError.at(
                span, f"'{op}=' does not work on '{target.type}' and '{index.type}'", code=Code.OPERAND_TYPES
            )
        if isinstance(target.type.pointee, ct.Void):
            raise CompileError.at(
                span,
                "a 'void *' cannot be moved: what it points to has no size",
                "cast it first",
                code=Code.OPERAND_TYPES,
            )
        if index.type.bits < 32:
            index = self.convert(index, ct.INT)
        return tt.Step(target.type, span, target, index, op == "-", postfix)

    def _increment(self, node, span):
        target = self.writable(self.expression(node.expr), span)
        op, postfix, t = str(node.op)[-1], node.op.startswith("p"), target.type
        if isinstance(t, ct.Pointer):
            return self._step(target, op, tt.Const(ct.INT, span, 1), span, postfix)
        if not ct.number(t):
            raise CompileError.at(
                span, f"'{node.op.strip('p')}' does not work on '{t}'", number_hint(t), code=Code.OPERAND_TYPES
            )
        compute = t if isinstance(t, ct.Vector) else ct.common(t, ct.INT)
        one = self.convert(tt.Const(ct.INT, span, 1), compute)
        return tt.Update(t, span, target, op, one, compute, postfix)

    def writable(self, e: tt.Expr, span: Span) -> tt.LValue:
        """``e`` as the target of an assignment."""
        if not tt.is_lvalue(e):
            raise CompileError.at(
                span,
                "this cannot be assigned to",
                "the left side must be a variable or an element",
                code=Code.NOT_ASSIGNABLE,
            )
        if isinstance(e.type, ct.Array):
            raise CompileError.at(
                span,
                "an array cannot be assigned as a whole",
                "assign its elements in a loop",
                code=Code.NOT_ASSIGNABLE,
            )
        if isinstance(e, tt.Lanes) and len(set(e.lanes)) < len(e.lanes):
            raise CompileError.at(
                e.span,
                "a component is named twice, so this cannot be assigned to",
                "name each once",
                code=Code.NOT_ASSIGNABLE,
            )
        space, const, _ = place_of(e)
        if const or space == "constant":
            raise CompileError.at(span, *read_only.reason(e), code=Code.READ_ONLY)
        root = tt.root_of(e)
        if isinstance(root, tt.VariableRef):
            root.variable.written = True
        return e
