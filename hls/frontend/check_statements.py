"""Checks statements; produces the typed tree."""

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..ir.values import signed
from . import tree as tt
from . import types as ct
from .check_pragmas import PragmaChecker
from .check_suspicious import empty_bodies, never_reached, tested_assignment, unused_result
from .entries import Entries
from .evaluate import constant
from .extensions import Range, StatementExpr
from .flow import exits
from .parse import Syntax
from .pragmas import LoopPragma

__all__ = ["StatementChecker"]

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


class StatementChecker(PragmaChecker):
    """Adds statements."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self._inside: list[str] = []  #: "loop" and "switch" for each enclosing one
        self._entries: Entries | None = None  #: of the enclosing switch, if labels stand inside its statements

    # -- lists of statements

    def block(self, node: c_ast.Node) -> tt.Block:
        """A compound statement in a scope of its own."""
        with self.scope():
            return tt.Block(self.span(node), tuple(self.statements(node.block_items or [])))

    def statements(self, nodes: Sequence[c_ast.Node]) -> list[tt.Stmt]:
        """The typed statements of a block. A statement with an error is left out, and its message kept; pragmas
        apply to the statement after them."""
        found, pragmas = [], []
        empty_bodies(self, nodes)
        for node in nodes:
            if isinstance(node, c_ast.Pragma):
                with self.recover():
                    pragmas += self.pragma(node)
                continue
            with self.recover():
                found += self._one(node, pragmas)
            pragmas = []
        self.unattached(pragmas)
        never_reached(self, found)
        return found

    def _one(self, node, pragmas) -> list[tt.Stmt]:
        own, loop = _labelled_loop(node)
        if loop is not None:
            pragmas = [*pragmas, *(pragma for each in own for pragma in self.pragma(each))]
            label = node.name if isinstance(node, c_ast.Label) else ""
            return [*self._label_place(node), self._loop(loop, pragmas, label)]
        if isinstance(node, c_ast.Compound):
            return [
                self.fused(block, pragmas) if isinstance(block, tt.Block) else block for block in self.statement(node)
            ]
        self.unattached(pragmas)
        return self.statement(node)

    def _expr_statementexpr(self, node):
        """The statements in a scope of their own; if the last one is an expression, it is the value."""
        last = node.items[-1] if node.items and self._is_expression(node.items[-1]) else None
        with self.scope():
            around, self._inside, self._entries = (self._inside, self._entries), [], None
            try:
                found = self.statements(node.items[:-1] if last is not None else node.items)
            finally:
                self._inside, self._entries = around
            block = tt.Block(self.span(node), tuple(found))
            result = self.rvalue(last) if last is not None else None
        if exits(block):
            raise CompileError.at(
                block.span, "a jump out of '({ ... })'", "let it compute a value, and jump after it", code=Code.JUMP
            )
        return tt.StatementExpr(result.type if result is not None else ct.VOID, block.span, block, result)

    def _is_expression(self, node) -> bool:
        return isinstance(node, StatementExpr) or (
            not isinstance(node, (*_LOOPS, c_ast.Pragma)) and not hasattr(self, f"_stmt_{type(node).__name__.lower()}")
        )

    def body(self, node: c_ast.Node) -> tt.Stmt:
        """The one statement of an ``if`` or a loop, in a scope of its own."""
        if isinstance(node, c_ast.Compound):
            return self.block(node)
        with self.scope():
            found = self.statements([node])
        return (
            found[0]
            if len(found) == 1 and not isinstance(found[0], tt.Label)
            else tt.Block(self.span(node), tuple(found))
        )

    def statement(self, node: c_ast.Node) -> list[tt.Stmt]:
        """The typed statements of one node; a node that is no statement is evaluated as an expression."""
        check = getattr(self, f"_stmt_{type(node).__name__.lower()}", None)
        if check is not None:
            return check(node)
        e = self.rvalue(node)
        unused_result(self, e)
        return [tt.Evaluate(e.span, e)]

    def _stmt_compound(self, node):
        return [self.block(node)]

    def _stmt_statementexpr(self, node):
        """``({ ... });`` whose value nobody uses: a block, which jumps may leave and enter."""
        return [self.block(c_ast.Compound(node.items, node.coord))]

    def _stmt_emptystatement(self, node):
        return []

    def _stmt_label(self, node):
        return [*self._label_place(node), *self._one(node.stmt, [])]

    def _label_place(self, node) -> list[tt.Stmt]:
        return [tt.Label(self.span(node), str(node.name))] if isinstance(node, c_ast.Label) else []

    def _stmt_goto(self, node):
        return [tt.Goto(self.span(node), str(node.name))]

    def _stmt_staticassert(self, node):
        raise CompileError.at(
            self.span(node), "_Static_assert is not a word of OpenCL C", "use #if and #error", code=Code.NOT_OPENCL
        )

    # -- control flow

    def _stmt_if(self, node):
        condition = self._tested(node.cond)
        then = self.body(node.iftrue) if node.iftrue is not None else tt.Block(self.span(node), ())
        otherwise = self.body(node.iffalse) if node.iffalse is not None else None
        return [] if condition is None else [tt.If(self.span(node), condition, then, otherwise)]

    def _tested(self, node) -> tt.Expr | None:
        """A condition, or None after an error, so that the statements it controls are still checked."""
        tested_assignment(self, node)
        with self.recover():
            return self.condition(node)
        return None

    def _stmt_break(self, node):
        if not self._inside:
            raise CompileError.at(self.span(node), "break outside a loop or switch", code=Code.JUMP)
        return [tt.Break(self.span(node))]

    def _stmt_continue(self, node):
        if "loop" not in self._inside:
            raise CompileError.at(self.span(node), "continue outside a loop", code=Code.JUMP)
        return [tt.Continue(self.span(node))]

    def _stmt_return(self, node):
        span, result = self.span(node), self.function.result
        if node.expr is None:
            if not isinstance(result, ct.Void):
                raise CompileError.at(
                    span, f"'{self.function.name}' must return a value of type '{result}'", code=Code.RETURN
                )
            return [tt.Return(span, None)]
        e = self.rvalue(node.expr)
        if isinstance(result, ct.Void):
            if isinstance(e.type, ct.Void):
                return [tt.Evaluate(e.span, e), tt.Return(span, None)]
            raise CompileError.at(
                e.span, f"'{self.function.name}' returns nothing", "remove the value", code=Code.RETURN
            )
        return [tt.Return(span, self.assignable(e, result, "the returned value"))]

    def _stmt_switch(self, node):
        value = self.number(node.cond, "the value of a switch")
        if not ct.integer(value.type):
            raise CompileError.at(value.span, "the value of a switch must be an integer", code=Code.SWITCH)
        value = self.convert(value, ct.promoted(value.type))
        nodes = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
        first = next(
            (k for k, each in enumerate(nodes) if not isinstance(each, (c_ast.Decl, c_ast.Typedef))), len(nodes)
        )
        inner = [s for each in nodes for s in (each.stmts or [] if _is_label(each) else [each])]
        self._inside.append("switch")
        around, self._entries = self._entries, Entries(value, self.span(node)) if any(map(_has_label, inner)) else None
        try:
            with self.scope():
                if self._entries is not None:
                    return self._entries.switch(self.statements(nodes))
                return [
                    *self._unset(nodes[:first]),
                    tt.Switch(self.span(node), value, self._sections(nodes[first:], value.type)),
                ]
        finally:
            self._inside.pop()
            self._entries = around

    def _unset(self, nodes) -> list[tt.Stmt]:
        """Declarations before the first label of a switch, whose initializers the jump to a label skips."""
        found = self.statements(nodes)
        for s in found:
            if isinstance(s, tt.Declare) and s.initial is not None:
                self.warn(
                    s.span,
                    f"'{s.variable.name}' is declared before the first case, so it never gets its value",
                    "declare it before the switch",
                    code=Code.NEVER_SET,
                )
        return [replace(s, initial=None) if isinstance(s, tt.Declare) else s for s in found]

    def _sections(self, nodes: list, t: ct.CType) -> tuple[tt.Section, ...]:
        sections: list[tt.Section] = []
        labels, default, span, seen, general = [], False, None, {}, None
        for node in nodes:
            if not isinstance(node, (c_ast.Case, c_ast.Default)):
                raise CompileError.at(
                    self.span(node),
                    "a statement of a switch before its first case",
                    "put it after a case label or before the switch",
                    code=Code.SWITCH,
                )
            span = span or self.span(node)
            if isinstance(node, c_ast.Default):
                with self.recover():
                    if general is not None:
                        hint = f"the first is at line {general.line}"
                        raise CompileError.at(self.span(node), "a second default", hint, code=Code.SWITCH)
                default, general = True, general or self.span(node)
            else:
                with self.recover():
                    labels.append(self._label(node, t, seen))
            inner = [n for n in node.stmts or [] if not isinstance(n, c_ast.EmptyStatement)]
            if inner or node is nodes[-1]:
                sections.append(tt.Section(span, tuple(labels), default, tt.Block(span, tuple(self.statements(inner)))))
                labels, default, span = [], False, None
        return tuple(sections)

    def _label(self, node, t: ct.CType, seen: dict[tuple[int, int], Span]) -> tuple[tt.Const, tt.Const]:
        """The first and the last value of a label, which are equal unless it is a range."""
        ends = (node.expr.first, node.expr.last) if isinstance(node.expr, Range) else (node.expr, node.expr)
        first, last = (constant(self.convert(self.number(end, "a case label"), t)) for end in ends)
        span = self.span(node)
        if first is None or last is None:
            raise CompileError.at(span, "a case label must be a constant integer", code=Code.CONSTANT_NEEDED)
        low, high = (signed(e.value, t.bits) if t.signed else e.value for e in (first, last))
        if low > high:
            raise CompileError.at(
                span, f"the label {low} ... {high} holds no value", "write the smaller one first", code=Code.SWITCH
            )
        before = next((place for (begin, end), place in seen.items() if begin <= high and low <= end), None)
        if before is not None:
            raise CompileError.at(span, "duplicate case label", f"the first is at line {before.line}", code=Code.SWITCH)
        seen[low, high] = span
        return first, last

    def _stmt_case(self, node):
        span, entries = self.span(node), self._entries
        if entries is None:
            raise CompileError.at(
                span,
                "a case label outside a switch",
                "put it into the switch; it cannot stand in '({ ... })'",
                code=Code.SWITCH,
            )
        found: list[tt.Stmt] = []
        with self.recover():  # the statements behind a wrong label are those of the switch, too
            if isinstance(node, c_ast.Default) and entries.default is not None:
                raise CompileError.at(span, "a second default", "remove one of them", code=Code.SWITCH)
            labels = self._label(node, entries.type, entries.seen) if isinstance(node, c_ast.Case) else None
            found.append(entries.add(span, labels))
        return [*found, *self.statements(node.stmts or [])]

    _stmt_default = _stmt_case

    # -- loops

    def _loop(self, node, pragmas: list[LoopPragma], label: str) -> tt.Loop:
        form = {c_ast.For: "for", c_ast.While: "while", c_ast.DoWhile: "do"}[type(node)]
        with self.scope():
            first = self._first(node) if form == "for" else []
            condition = self._tested(node.cond) if node.cond is not None else None
            step = None
            if form == "for" and node.next is not None:
                with self.recover():
                    step = self.rvalue(node.next)
                    unused_result(self, step)
            attrs, ivdep = self.loop_attrs(pragmas)
            self._inside.append("loop")
            try:
                body = self.body(node.stmt)
            finally:
                self._inside.pop()
        name = label or (_induction_name(first, step) if form == "for" else "") or form
        return tt.Loop(self.span(node), form, str(name), tuple(first), condition, step, body, attrs, ivdep)

    def _first(self, node) -> list[tt.Stmt]:
        if node.init is None:
            return []
        with self.recover():
            return self.statement(node.init)
        return []


def _is_label(node) -> bool:
    return isinstance(node, (c_ast.Case, c_ast.Default))


def _has_label(node) -> bool:
    """Whether it contains a label of the enclosing switch."""
    return (
        _is_label(node) or not isinstance(node, c_ast.Switch) and any(_has_label(child) for _, child in node.children())
    )


def _labelled_loop(node):
    """The loop that ``node`` is, possibly after a label, and the pragmas between label and loop."""
    pragmas = []
    if isinstance(node, c_ast.Label):
        node = node.stmt
        if isinstance(node, c_ast.Compound) and node.block_items:  # the grammar's form of a statement with pragmas
            *pragmas, node = node.block_items
    found = isinstance(node, _LOOPS) and all(isinstance(each, c_ast.Pragma) for each in pragmas)
    return (pragmas, node) if found else ([], None)


def _induction_name(first, step) -> str:
    """The name of the variable that counts the iterations, as far as it can be recognized."""
    if isinstance(step, (tt.Update, tt.Step, tt.Assign)) and isinstance(step.target, tt.VariableRef):
        return step.target.variable.name
    for s in first:
        if isinstance(s, tt.Declare):
            return s.variable.name
    return ""
