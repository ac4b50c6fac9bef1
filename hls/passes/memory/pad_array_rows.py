"""Array padding: rows begin at multiples of a power of two, so that address bits select the row."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from ...analysis.affine.affine import Affine, AffineForms, Symbol
from ...analysis.loops.loop_tree import Loop
from ...ir import I64, Attr, Builder, Function, MemoryObject, Op, Value, memory_name, moved_type, reaches_memory, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["PadArrayRows"]

#: most rows: no kernel accesses more at once
MOST_ROWS = 64
#: attributes by which the program, or the compiler, fixes the layout of elements
LAID_OUT = frozenset({Attr.NUMBANKS, Attr.BANKWIDTH, Attr.BANK_BITS, Attr.MERGED, Attr.DELAY_LINE})


@dataclass(frozen=True)
class PadArrayRows(FunctionPass):
    """Array padding to power-of-two rows. Before: on-chip memories hold arrays in the layout of the program; addresses
    of loads and stores are sums. After: if accesses of one iteration go to different rows of an array, at independent
    positions within the rows, and the row length is not a power of two, each row begins at a multiple of the next power
    of two. So each row can be a bank of its own; without padding no address bits select the row.

    The row of each access must be a sum computable from its address, and the remainder be known to stay within a row.
    """

    name = "pad-array-rows"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy with longer rows of the arrays that gain by it; the function itself if it has no on-chip array."""
        accesses = _accesses(function)
        if not accesses:
            return function
        result = clone_function(function)
        moved: dict[Op, Affine] = {}
        forms = AffineForms(result)
        for name, ops in _accesses(result).items():
            memory = result.memories[name]
            if (padded := _padded(memory, ops, forms)) is not None:
                result.memories[name] = replace(memory, length=padded.length)
                moved |= padded.moved
        rewrite(result.body, lambda op, b: _address(op, b, moved))
        return result if moved else function


@dataclass(frozen=True)
class _Padded:
    """The number of elements of the padded array, and the amount to add to the offset of each address."""

    length: int
    moved: dict[Op, Affine]


def _accesses(function: Function) -> dict[str, list[Op]]:
    """The accesses to arrays on the chip whose layout nothing else fixes."""
    found: dict[str, list[Op]] = {}
    for op in walk(function.body):
        if reaches_memory(op) and _free(function.memories[memory_name(op)]):
            found.setdefault(memory_name(op), []).append(op)
    return found


def _free(memory: MemoryObject) -> bool:
    return (
        memory.space in ("private", "local")
        and not memory.const
        and (memory.length or 1) > 1
        and LAID_OUT.isdisjoint(name for name, _ in memory.attrs)
    )


def _padded(memory: MemoryObject, ops: list[Op], forms: AffineForms) -> _Padded | None:
    """The array in the largest number of rows that all accesses allow; None if nothing is gained."""
    for rows in range(min(MOST_ROWS, memory.elements), 1, -1):
        length, rest = divmod(memory.elements, rows)
        if rest or not length & length - 1:
            continue
        bytes = length * memory.element.bytes
        parts = {op: place for op in ops if (place := _split(op, bytes, forms)) is not None}
        if len(parts) == len(ops) and _gains(parts, forms):
            padded = 1 << (length - 1).bit_length()
            moved = _moved(parts, padded * memory.element.bytes - bytes)
            return None if moved is None else _Padded(rows * padded, moved)
    return None


@dataclass(frozen=True)
class _Place:
    """The position of an access: the number of its row, and the terms of its offset within the row."""

    row: Affine
    terms: dict[Any, Any]


def _split(op: Op, bytes: int, forms: AffineForms) -> _Place | None:
    """None unless the offset is known to be a number of rows, each of so many bytes, plus less than one row."""
    if op.operands[0].defining_op.operands[0].type != I64:
        return None
    form = forms.offset(op)
    whole = {unknown: factor // bytes for unknown, factor in form.terms.items() if factor % bytes == 0}
    terms = {unknown: factor for unknown, factor in form.terms.items() if factor % bytes}
    if not all(_countable(unknown) for unknown in whole):
        return None
    low, high = forms.bounds(Affine(form.const, terms))
    if low // bytes != (high + moved_type(op).bytes - 1) // bytes:
        return None
    return _Place(Affine(low // bytes, whole), terms)


def _countable(unknown: Any) -> bool:
    """Whether an unknown of a sum can be computed as a value."""
    if isinstance(unknown, Symbol):
        return unknown.wraps is None
    return _counter(unknown) is not None


def _counter(loop: Loop) -> Value | None:
    """A carried value that counts the iterations of the loop from a constant, without wrapping."""
    for arg, counted in loop.inductions.items():
        start = constant(counted.init)
        if (
            counted.step == 1
            and start is not None
            and loop.most_trips is not None
            and start + loop.most_trips <= 1 << arg.type.bits
        ):
            return arg
    return None


def _gains(parts: dict[Op, _Place], forms: AffineForms) -> bool:
    """Whether two loads, or two other accesses, of one region go to rows at a constant distance, and to independent
    positions within them."""
    return any(
        (one.opcode == "load") == (other.opcode == "load")
        and forms.tree.region_of(one) is forms.tree.region_of(other)
        and parts[one].terms != parts[other].terms
        and parts[one].row.terms == parts[other].row.terms
        and parts[one].row.const != parts[other].row.const
        for one, other in combinations(parts, 2)
    )


def _moved(parts: dict[Op, _Place], more: int) -> dict[Op, Affine] | None:
    """The amount to add to each address; None if accesses that share an address need different amounts."""
    found: dict[Op, Affine] = {}
    for op, place in parts.items():
        if found.setdefault(op.operands[0].defining_op, place.row * more) != place.row * more:
            return None
    return found


def _address(op: Op, b: Builder, moved: dict[Op, Affine]) -> list[Value] | None:
    if op not in moved:
        return None
    offset = b.value("add", op.operands[0], b.const(moved[op].const, I64))
    for value, factor in _values(moved[op].terms.items(), b):
        offset = b.value("add", offset, b.value("mul", value, b.const(factor, I64)))
    return [b.value("addr", offset, attrs=dict(op.attrs))]


def _values(terms: Iterable[Any], b: Builder) -> Iterator[tuple[Value, int]]:
    for unknown, factor in terms:
        if isinstance(unknown, Symbol):
            yield _wide(unknown.value, "sext" if unknown.signed else "zext", b), factor
        else:
            arg = _counter(unknown)
            start = b.const(constant(unknown.inductions[arg].init), I64)
            yield b.value("sub", _wide(present(arg), "zext", b), start), factor


def _wide(value: Value, how: str, b: Builder) -> Value:
    return value if value.type == I64 else b.value(how, value, result=I64)
