"""Recurrence height reduction: integer recurrences are reassociated so that increments are combined off the
recurrence."""

from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...ir import BOOL, Attr, Builder, Function, IntType, Op, Region, Value, loops_inside_out
from ...ir.associative import emit, neutral, pair_of, rewrite_as
from ...ir.clone import clone_function
from ...ir.wrapping import has_wrapping
from ...narrow import instance, present
from ..manager import Form, FunctionPass

__all__ = ["RecurrenceHeightReduction"]


#: the kind of a form in which ``rest`` replaces ``root`` under a condition
REPLACED = "replaced"


@dataclass(frozen=True)
class _Form:
    """A value of a recurrence as ``kind(root, rest)``: ``root`` is on the recurrence, too, ``rest`` is not. ``minus``:
    in a sum, ``rest`` is subtracted; with ``condition`` the value is ``rest`` if that holds, else ``root``."""

    kind: str
    root: Value
    rest: Value
    minus: bool = False
    condition: Value | None = None


@dataclass(frozen=True)
class RecurrenceHeightReduction(FunctionPass):
    """Recurrence height reduction by reassociation (back-substitution; Schlansker and Kathail 1993). Before: flat.
    After: the carried value enters each chain of associative operations once: ``(s + x) + y`` is ``s + (x + y)``, and
    ``c ? s + x : s`` is ``s + (c ? x : 0)``; the same for products, logic and min/max. Values that replace the carried
    value under several conditions are selected off the recurrence, too, and ``s + x == y`` compares ``s``.

    Only operations that join a value of a recurrence with one off it are changed: the latter arrives early, while each
    further operation in the chain costs cycles between iterations. Intermediate results with other users are computed
    from the carried value in one step as well.
    """

    name = "recurrence-height-reduction"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which carried values enter each chain once, the innermost loops first."""
        result = clone_function(function)
        for _, loop in loops_inside_out(result.body):
            _Body(loop.regions[0]).run()
        return result


class _Body:
    def __init__(self, region: Region) -> None:
        self.region = region
        self.component = components(region)
        self.forms: dict[Value, _Form] = {}

    def run(self) -> None:
        before, self.region.ops = self.region.ops, []
        for op in before:
            if len(op.results) == 1 and op.result in self.component and isinstance(op.result.type, IntType):
                if op.result.type != BOOL:
                    self._visit(op, Builder(self.region, op.span))
                elif op.opcode in ("eq", "ne"):
                    self._compare(op, Builder(self.region, op.span))
            self.region.ops.append(op)

    def _compare(self, op: Op, b: Builder) -> None:
        """``s + x == y`` is ``s == y - x``, so that the sum is not on the path to the condition, as for a counter that
        restarts."""
        for value, other in (op.operands, op.operands[::-1]):
            form = self.forms.get(value)
            if form is not None and form.kind == "add" and self._is_late(value, op) and not self._is_late(other, op):
                op.operands = [form.root, b.value("add" if form.minus else "sub", other, form.rest)]
                return

    def _visit(self, op: Op, b: Builder) -> None:
        form = self._of_pair(op, b) or self._of_difference(op, b) or self._of_choice(op, b)
        if form is not None:
            self.forms[op.result] = form

    def _is_late(self, value: Value, op: Op) -> bool:
        """Whether the value is on the recurrence of the operation."""
        return self.component.get(value) == self.component[op.result]

    def _of_pair(self, op: Op, b: Builder) -> _Form | None:
        pair = pair_of(op)
        if pair is None or self._is_late(pair.left, op) == self._is_late(pair.right, op):
            return None
        late, early = (pair.left, pair.right) if self._is_late(pair.left, op) else (pair.right, pair.left)
        return self._joined(op, _Form(pair.kind, late, early), b)

    def _of_difference(self, op: Op, b: Builder) -> _Form | None:
        if op.opcode != "sub" or not self._is_late(op.operands[0], op) or self._is_late(op.operands[1], op):
            return None
        return self._joined(op, _Form("add", op.operands[0], op.operands[1], minus=True), b)

    def _joined(self, op: Op, last: _Form, b: Builder) -> _Form:
        """Fold an operation on a value that has a form already into the rest of that form."""
        form = self.forms.get(last.root)
        if form is None or form.kind != last.kind:
            return last
        rest = emit("sub" if form.minus != last.minus else form.kind, form.rest, last.rest, b)
        return self._become(op, form, rest, b)

    def _become(self, op: Op, form: _Form, rest: Value, b: Builder) -> _Form:
        """Make the operation compute ``form`` with another ``rest``."""
        if form.minus:
            wraps = {Attr.WRAPS: True} if has_wrapping(op) else {}
            op.opcode, op.operands, op.attrs = "sub", [form.root, rest], op.attrs | wraps
        else:
            rewrite_as(op, form.kind, form.root, rest, b)
        return _Form(form.kind, form.root, rest, form.minus)

    def _of_choice(self, op: Op, b: Builder) -> _Form | None:
        if op.opcode != "select" or self._is_late(op.operands[0], op):
            return None
        condition, *sides = op.operands
        forms = [self.forms.get(side) for side in sides]
        form = self._common(forms, sides)
        if form is None:
            return self._replaced(op, condition, sides, b)
        rests = [self._rest(own, side, form, b) for own, side in zip(forms, sides, strict=True)]
        return self._become(op, form, b.value("select", condition, *rests), b)

    def _replaced(self, op: Op, condition: Value, sides: list[Value], b: Builder) -> _Form | None:
        """``c2 ? y : (c1 ? x : s)`` is ``c1 or c2 ? (c2 ? y : x) : s``."""
        if self._is_late(sides[0], op) == self._is_late(sides[1], op):
            return None
        kept = self._is_late(sides[0], op)  # the condition keeps the carried value; otherwise it replaces it
        late, early = sides if kept else sides[::-1]
        taken = b.value("xor", condition, b.true()) if kept else condition
        form = self.forms.get(late)
        if form is None or form.kind != REPLACED:
            return _Form(REPLACED, late, early, condition=taken)
        rest, either = b.value("select", taken, early, form.rest), b.value("or", taken, present(form.condition))
        op.operands = [either, rest, form.root]
        return _Form(REPLACED, form.root, rest, condition=either)

    def _common(self, forms: list[_Form | None], sides: list[Value]) -> _Form | None:
        """The form of one arm of a select if the other arm has the same root; None otherwise. A sum is preferred to a
        difference."""
        for form in sorted(
            (form for form in forms if form is not None and form.kind != REPLACED), key=lambda form: form.minus
        ):
            if all(
                side is form.root or own is not None and (own.kind, own.root) == (form.kind, form.root)
                for own, side in zip(forms, sides, strict=True)
            ):
                return form
        return None

    def _rest(self, own: _Form | None, side: Value, form: _Form, b: Builder) -> Value:
        """What an arm of a select combines with the root of ``form``."""
        if side is form.root:
            return neutral(form.kind, instance(side.type, IntType), b)
        return (
            present(own).rest
            if present(own).minus == form.minus
            else b.value("sub", b.const(0, side.type), present(own).rest)
        )
