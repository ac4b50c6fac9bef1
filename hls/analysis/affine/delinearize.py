"""Delinearization: accesses to a matrix whose row length is known at run time only, as row and column."""

from dataclasses import dataclass

from ...ir import Value
from .affine import Affine, AffineForms, Symbol

__all__ = ["InRow", "rows_of"]


@dataclass(frozen=True)
class InRow:
    """A byte offset ``row * pitch + column``: ``pitch`` is ``factor`` times a launch-invariant value; row and column
    are affine forms."""

    row: Affine
    column: Affine
    pitch: Affine

    def from_the_end(self) -> "InRow":
        """The same offset in the previous row, for columns counted back from the row's end, as in `i * n + (n - 1 -
        j)`."""
        return InRow(self.row - Affine(1), self.column + self.pitch, self.pitch)


def rows_of(forms: AffineForms, one: Affine, other: Affine) -> tuple[InRow, InRow] | None:
    """Two offsets delinearized with the same row length; None unless exactly one product in them determines it."""
    found = {
        (product[1], factor)
        for form in (one, other)
        for symbol, factor in form.terms.items()
        if isinstance(symbol, Symbol) and (product := _product(forms, symbol))
    }
    if len(found) != 1:
        return None
    length, factor = found.pop()
    first, second = (_split(forms, form, length, factor) for form in (one, other))
    return None if first is None or second is None else (first, second)


def _split(forms: AffineForms, form: Affine, length: Value, factor: int) -> InRow | None:
    pitch = forms.exact(length, True) * factor
    row, column = Affine(), form
    for symbol, times in form.terms.items():
        product = _product(forms, symbol) if isinstance(symbol, Symbol) else None
        if product is not None:
            row += product[0]
            column -= Affine(0, {symbol: times})
    # whole rows added to the product, as in `(i - 1) * n` that became `i * n - n`
    (unknown, once), *rest = pitch.terms.items()
    if not rest and column.terms.get(unknown, 0) % once == 0:
        whole = column.terms.get(unknown, 0) // once
        row, column = row + Affine(whole), column - pitch * whole
    return InRow(row, column, pitch)


def _product(forms: AffineForms, symbol: Symbol) -> tuple[Affine, Value] | None:
    """(sum, launch-invariant value) whose product the symbol is; signed, of 32 bits or more, so that it does not
    wrap."""
    value = symbol.value
    if symbol.wraps is not None or not symbol.signed or value.type.bits < 32:
        return None
    return _multiplied(forms, value) if value.op is not None else _summed(forms, value)


def _multiplied(forms: AffineForms, value: Value) -> tuple[Affine, Value] | None:
    if value.defining_op.opcode != "mul":
        return None
    for times, length in (value.defining_op.operands, value.defining_op.operands[::-1]):
        if _is_length(forms, length) and (not _is_length(forms, times) or _is_square(forms, times, length)):
            return forms.exact(times, True), length
    return None


def _summed(forms: AffineForms, value: Value) -> tuple[Affine, Value] | None:
    """A carried value that increases by the row length in each iteration, starting from a multiple of it."""
    loop = forms.tree.holder(value)
    if loop is None:
        return None
    after, start = loop.following(value).op, loop.op.operands[1 + value.index]
    if after is None or after.opcode != "add" or value not in after.operands:
        return None
    length = after.operands[1 - after.operands.index(value)]
    first = Affine() if forms.exact(start, True) == Affine() else None
    if first is None and start.op is not None:
        product = _multiplied(forms, start)
        first = product[0] if product is not None and product[1] is length else None
    return (first + Affine(0, {loop: 1}), length) if first is not None and _is_length(forms, length) else None


def _is_length(forms: AffineForms, value: Value) -> bool:
    """Whether the value is launch-invariant, but not constant."""
    return forms.tree.changing(value) is None and bool(forms.exact(value, True).terms)


def _is_square(forms: AffineForms, times: Value, length: Value) -> bool:
    """Whether the row depends on the length only, as in `(n - 1) * n`."""
    row, pitch = forms.exact(times, True), forms.exact(length, True)
    return pitch.const == 0 and row.terms.keys() == pitch.terms.keys()
