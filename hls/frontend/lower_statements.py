"""Lowers statements of the typed tree to structured IR.

The IR has no jumps. ``break``, ``continue`` and ``return`` set a flag (a private i1), and the statements that follow
them in the source run under an ``if`` of that flag. Where a branch of an ``if`` always jumps, the statements after the
``if`` move into the other branch instead and need no flag. A flag starts as false in each iteration, since an iteration
begins only when no earlier one has left the loop: so flags never become recurrences.
"""

from collections.abc import Sequence

from ..diag import Span
from ..ir import BOOL, I64, Attr, Op, Region, Type, Value
from . import tree as tt
from . import types as ct
from .evaluate import table_of
from .flow import completes, exits, goto
from .layout import leaf_count, leaves
from .lower_group import EffectLowering
from .lower_memory import Address
from .lower_values import harmless, lanes
from .storage import Storage

__all__ = ["StatementLowering"]


class StatementLowering(EffectLowering):
    """Lowers the body of one function. ``result`` is the memory of the value it returns, if any."""

    def __init__(self, storage: Storage, body: Region, result_type: ct.CType) -> None:
        super().__init__(storage, body)
        self._flags: dict[str, str] = {}  #: "break", "continue", "return" -> the current flag
        self._writes: dict[str, list[tuple[Region, list[Op]]]] = {}
        self._read_flags: set[str] = set()
        self._result_type = result_type
        self._results: list[tuple[str, Type]] = []

    # -- the function

    def function(self, body: tt.Block, span: Span) -> None:
        """Lower the whole body, including its return."""
        if "return" in exits(body):
            self._flags["return"] = self._new_flag("returned", span)
            self._write_flag("return", 0, span)
        if not isinstance(self._result_type, ct.Void):
            kinds = [ct.ir_type(t) for _, t in leaves(self._result_type)]
            self._results = [(self.storage.temporary("result", kind, span), kind) for kind in kinds]
        self.block(body.statements)
        self.op(span, "return", *(self.get(memory, kind, span) for memory, kind in self._results))
        self._drop_unread_flags()

    # -- flags

    def _new_flag(self, name: str, span: Span) -> str:
        flag = self.storage.temporary(name, BOOL, span)
        self._writes[flag] = []
        return flag

    def _write_flag(self, kind: str, value: int, span: Span) -> None:
        region = self.builder.region
        before = len(region.ops)
        self.set(self._flags[kind], self.const(span, value, BOOL), span)
        self._writes[self._flags[kind]].append((region, region.ops[before:]))

    def _none_set(self, kinds, span: Span) -> Value:
        """Whether none of the flags is set."""
        flags = [self._flags[kind] for kind in sorted(kinds)]
        self._read_flags.update(flags)
        values = [self.get(flag, BOOL, span) for flag in flags]
        any_set = values[0]
        for value in values[1:]:
            any_set = self.emit(span, "or", any_set, value)
        return self.emit(span, "xor", any_set, self.const(span, 1, BOOL))

    def _drop_unread_flags(self) -> None:
        for flag, writes in self._writes.items():
            if flag in self._read_flags:
                continue
            for region, ops in writes:
                dead = {id(op) for op in ops}
                region.ops[:] = [op for op in region.ops if id(op) not in dead]
            del self.storage.function.memories[flag]

    # -- statements

    def block(self, statements: Sequence[tt.Stmt]) -> None:
        """Lower statements in order; after one that may jump, the rest runs only if it did not."""
        last = max((k for k, s in enumerate(statements) if isinstance(s, tt.Label)), default=None)
        if last is not None:
            self._past_label(statements[:last], statements[last], statements[last + 1 :])
            return
        for k, s in enumerate(statements):
            rest = statements[k + 1 :]
            leaving = exits(s)
            if leaving and rest and completes(s):
                self._guarded(s, rest, leaving)
                return
            self.statement(s)
            if not completes(s):
                return

    def _past_label(self, before: tuple, label: tt.Label, rest: tuple) -> None:
        """Lower statements before and after a label: a goto to it only skips the rest of those before."""
        part, kind, outer = tt.Block(label.span, before), goto(label.name), dict(self._flags)
        if kind in exits(part):
            self._flags[kind] = self._new_flag(label.name, label.span)
            self._write_flag(kind, 0, label.span)
        self.block(before)
        self._flags = outer
        leaving = exits(part) - {kind}
        if not leaving:
            self.block(rest)
            return
        with self.branches(label.span, self._none_set(leaving, label.span)) as (on, _), self.inside(on):
            self.block(rest)

    def _guarded(self, s: tt.Stmt, rest: tuple, leaving) -> None:
        if isinstance(s, tt.If) and not completes(s.then):
            self._if(tt.If(s.span, s.condition, s.then, _joined(s.otherwise, rest)))
        elif isinstance(s, tt.If) and s.otherwise is not None and not completes(s.otherwise):
            self._if(tt.If(s.span, s.condition, _joined(s.then, rest), s.otherwise))
        else:
            self.statement(s)
            with self.branches(s.span, self._none_set(leaving, s.span)) as (on, _), self.inside(on):
                self.block(rest)

    def statement(self, s: tt.Stmt) -> None:
        """Append the operations of one typed statement."""
        getattr(self, f"_{type(s).__name__.lower()}")(s)

    def _evaluate(self, s) -> None:
        self.value(s.expression)

    def _statementexpr(self, e):
        self.block(e.block.statements)
        return self.value(e.result) if e.result is not None else None

    def _block(self, s) -> None:
        self.block(s.statements)

    def _if(self, s) -> None:
        with self.branches(s.span, self.condition(s.condition)) as (then, otherwise):
            with self.inside(then):
                self.statement(s.then)
            if s.otherwise is not None:
                with self.inside(otherwise):
                    self.statement(s.otherwise)

    def _declare(self, s) -> None:
        """A new instance of the variable: what its initializer does not set is 0, in every iteration of an enclosing
        loop."""
        variable, t, initial = s.variable, s.variable.type, s.initial or ()
        if variable.kind == "shared":
            self.storage.memory(variable)
            return
        data = table_of(s)
        if data is not None:
            self.storage.table(variable, data)
            return
        values = [(first, value, lanes(self.value(value))) for first, value in initial]
        if sum(len(scalars) for _, _, scalars in values) < leaf_count(t):
            for memory in self.storage.memories(variable):
                self.op(s.span, "fresh", attrs={Attr.MEM: memory, Attr.SET: s.initial is not None})
        for first, e, scalars in values:
            for k, one in enumerate(scalars):
                memory, offset, scalar = self.storage.scalar(variable, first + k)
                self.store(Address(memory, offset=self.const(e.span, offset, I64)), one, scalar, e.span)

    def _break(self, s) -> None:
        self._write_flag("break", 1, s.span)

    def _continue(self, s) -> None:
        self._write_flag("continue", 1, s.span)

    def _goto(self, s) -> None:
        self._write_flag(goto(s.name), 1, s.span)

    def _return(self, s) -> None:
        if s.value is not None:
            for (memory, _), value in zip(self._results, lanes(self.value(s.value))):
                self.set(memory, value, s.span)
        self._write_flag("return", 1, s.span)

    # -- loops

    def _loop(self, s) -> None:
        for first in s.first:
            self.statement(first)
        certain = s.form == "do" or s.condition is None
        enable = self.const(s.span, 1, BOOL) if certain else self.condition(s.condition)
        body = Region()
        self.op(s.span, "loop", enable, attrs=self._loop_attrs(s), regions=[body])
        outer = dict(self._flags)
        with self.inside(body):
            self._iteration(s)
        self._flags = outer

    def _iteration(self, s) -> None:
        leaving = exits(s.body)
        for kind, name in (("break", "left"), ("continue", "skipped")):
            if kind in leaving:
                self._flags[kind] = self._new_flag(name, s.span)
        for kind in sorted(leaving):
            self._write_flag(kind, 0, s.span)
        self.block((s.body,))
        self.op(s.span, "yield", self._again(s, leaving - {"continue"}))

    def _again(self, s, leaving) -> Value:
        """Step and condition for the next iteration; False if this one left the loop."""
        if not leaving:
            if s.step is not None:
                self.value(s.step)
            return self._holds(s)
        if not completes(s.body) and "continue" not in exits(s.body):
            return self.const(s.span, 0, BOOL)
        stay = self._none_set(leaving, s.span)
        if s.step is None and (s.condition is None or harmless(s.condition)):
            return stay if s.condition is None else self.emit(s.span, "and", stay, self._holds(s))
        again = self.storage.temporary("again", BOOL, s.span)
        with self.branches(s.span, stay) as (on, off):
            with self.inside(on):
                if s.step is not None:
                    self.value(s.step)
                self.set(again, self._holds(s), s.span)
            with self.inside(off):
                self.set(again, self.const(s.span, 0, BOOL), s.span)
        return self.get(again, BOOL, s.span)

    def _holds(self, s) -> Value:
        return self.const(s.span, 1, BOOL) if s.condition is None else self.condition(s.condition)

    def _loop_attrs(self, s) -> dict:
        attrs = {Attr.LABEL: s.label, Attr.FORM: s.form, Attr.UNROLL: 0, **s.attrs}
        if s.ivdep:
            attrs[Attr.IVDEP] = tuple(("" if v is None else self._named(v), safelen) for v, safelen in s.ivdep)
        return attrs

    def _named(self, variable: tt.Variable) -> str:
        """The memory that ``ivdep array(variable)`` refers to."""
        return self.storage.buffer(variable) or self.storage.memory(variable)

    # -- switch

    def _switch(self, s) -> None:
        """Lower sections in order, each under an ``if``; ``fell`` says that the one before fell through."""
        outer = dict(self._flags)
        value = self.value(s.value)
        matches = [self._matches(value, section) for section in s.sections]
        may_fall = [completes(section.body) for section in s.sections]
        fell = self.storage.temporary("fell", BOOL, s.span) if any(may_fall[:-1]) else None
        if fell:
            self.set(fell, self.const(s.span, 0, BOOL), s.span)
        for k, section in enumerate(s.sections):
            enter = self._default(s, matches) if section.default else matches[k]
            fell_in = k > 0 and may_fall[k - 1]
            if fell_in:
                enter = self.emit(section.span, "or", enter, self.get(fell, BOOL, section.span))
            falls_on = may_fall[k] and k + 1 < len(s.sections)
            with self.branches(section.span, enter) as (on, _), self.inside(on):
                if fell_in:
                    self.set(fell, self.const(section.span, 0, BOOL), section.span)
                reached = self._section(section)
                if falls_on:
                    self.set(fell, reached, section.span)
        self._flags = outer

    def _section(self, section) -> Value:
        """Lower the statements of a section; returns whether its end was reached."""
        leaving = exits(section.body)
        if "break" in leaving:
            self._flags["break"] = self._new_flag("left", section.span)
            self._write_flag("break", 0, section.span)
        self.block(section.body.statements)
        if leaving and completes(section.body):
            return self._none_set(leaving, section.span)
        return self.const(section.span, 1, BOOL)

    def _matches(self, value: Value, section) -> Value | None:
        hit = None
        for first, last in section.labels:
            same = self._between(value, first, last)
            hit = same if hit is None else self.emit(first.span, "or", hit, same)
        return hit

    def _between(self, value: Value, first: tt.Const, last: tt.Const) -> Value:
        low, high = (self.const(label.span, label.value, value.type) for label in (first, last))
        if first.value == last.value:
            return self.emit(first.span, "eq", value, low)
        compare = "sle" if first.type.signed else "ule"
        return self.emit(
            first.span, "and", self.emit(first.span, compare, low, value), self.emit(last.span, compare, value, high)
        )

    def _default(self, s, matches) -> Value:
        """Whether the default section is entered: for a label of its own, or when no label matches."""
        others = [m for m, section in zip(matches, s.sections) if m is not None and not section.default]
        taken = None
        for m in others:
            taken = m if taken is None else self.emit(s.span, "or", taken, m)
        return (
            self.const(s.span, 1, BOOL)
            if taken is None
            else self.emit(s.span, "xor", taken, self.const(s.span, 1, BOOL))
        )


def _joined(first: tt.Stmt | None, rest: tuple) -> tt.Block:
    statements = rest if first is None else (first, *rest)
    return tt.Block(statements[0].span, statements)
