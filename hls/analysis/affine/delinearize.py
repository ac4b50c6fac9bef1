"""Delinearization: accesses to a matrix whose row length is known at run time only, as row and column."""

from dataclasses import dataclass

from ...ir import Value
from ...narrow import present
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
    lengths: list[tuple[Affine, int]] = []
    for form in (one, other):
        for symbol, factor in form.terms.items():
            length = _length(forms, symbol) if isinstance(symbol, Symbol) else None
            if length is not None and (length, factor) not in lengths:
                lengths.append((length, factor))
    if len(lengths) != 1:
        return None
    first, second = (_split(forms, form, *lengths[0]) for form in (one, other))
    return None if first is None or second is None else (first, second)


def _split(forms: AffineForms, form: Affine, length: Affine, factor: int) -> InRow | None:
    pitch = length * factor
    row, column = Affine(), form
    for symbol, times in form.terms.items():
        if isinstance(symbol, Symbol) and _length(forms, symbol) is not None:
            rows = _rows(forms, symbol.value, length)
            if rows is None or times != factor:
                return None
            row += rows
            column -= Affine(0, {symbol: times})
    # whole rows added to the product, as in `(i - 1) * n` that became `i * n - n`
    (unknown, once), *rest = pitch.terms.items()
    if not rest and column.terms.get(unknown, 0) % once == 0:
        whole = column.terms.get(unknown, 0) // once
        row, column = row + Affine(whole), column - pitch * whole
    return InRow(row, column, pitch)


def _length(forms: AffineForms, symbol: Symbol) -> Affine | None:
    """The launch-invariant number of which the symbol is a multiple, if that multiple is no constant: a factor of a
    product, or the step of a carried value."""
    value = symbol.value
    if symbol.wraps is not None or not _is_whole(forms, symbol):
        return None
    if value.op is None:
        step = _step(forms, value)
        length = None if step is None else _number(forms, step)
        if length is None or not _is_length(forms, length) or _rows(forms, value, length) is None:
            return None
        return length
    if value.defining_op.opcode != "mul":
        return None
    left, right = (_number(forms, v) for v in value.defining_op.operands)
    for times, length in ((left, right), (right, left)):
        if _is_length(forms, length) and (not _is_length(forms, times) or _is_square(times, length)):
            return length
    return None


def _is_whole(forms: AffineForms, symbol: Symbol) -> bool:
    """Whether the symbol stands for a product of numbers that does not wrap: a signed one of 32 bits or more, as C
    leaves its overflow undefined unless the source computes it as unsigned, or one of as many bits as an address, of
    which narrowing leaves no more, as no byte offset wraps around the address space."""
    bits = symbol.value.type.bits
    return bits >= forms.address_bits or symbol.signed and bits >= 32 and not forms.may_wrap(symbol.value)


def _step(forms: AffineForms, value: Value) -> Value | None:
    """What a loop adds to a value that it carries."""
    loop = forms.tree.holder(value)
    after = None if loop is None or value.owner is not loop.body else loop.following(value).op
    if after is None or after.opcode != "add" or value not in after.operands:
        return None
    return after.operands[1 - after.operands.index(value)]


def _rows(forms: AffineForms, value: Value, length: Affine) -> Affine | None:
    """How many times the length the value is; None if it is no such multiple as far as products, sums, and values that
    loops carry show."""
    form = _number(forms, value)
    if form == Affine() or form == length:
        return Affine(int(form == length))
    if value.op is None:
        step, loop = _step(forms, value), forms.tree.holder(value)
        each = None if step is None else _rows(forms, step, length)
        first = None if each is None else _rows(forms, present(loop).op.operands[1 + value.index], length)
        return None if first is None or present(each).terms else first + Affine(0, {loop: present(each).const})
    if value.op.opcode == "mul":
        left, right = (_number(forms, v) for v in value.op.operands)
        return left if right == length else right if left == length else None
    if value.op.opcode in ("add", "sub"):
        one, other = (_rows(forms, v, length) for v in value.op.operands)
        return None if one is None or other is None else one + other * (1 if value.op.opcode == "add" else -1)
    return None


def _number(forms: AffineForms, value: Value) -> Affine:
    """The operand of a product, as a number where the product is one, else modulo the size of the address space."""
    return forms.exact(value, True) if value.type.bits >= 32 else forms.modular(value)


def _is_length(forms: AffineForms, form: Affine) -> bool:
    """Whether the form is launch-invariant, but not constant."""
    return bool(form.terms) and all(
        isinstance(unknown, Symbol) and forms.tree.changing(unknown.value) is None for unknown in form.terms
    )


def _is_square(times: Affine, length: Affine) -> bool:
    """Whether the row depends on the length only, as in `(n - 1) * n`."""
    return length.const == 0 and times.terms.keys() == length.terms.keys()
