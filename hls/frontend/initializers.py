"""Initializers with braces: which value goes to which element."""

from pycparser import c_ast

from ..diag import CompileError
from ..ir.values import float_to_bits
from . import types as ct
from .check_types import MAX_ARRAY_BYTES

__all__ = ["encoded", "flatten", "implied_length"]


def flatten(checker, t: ct.CType, init) -> list[tuple[int, c_ast.Node]]:
    """(index of the scalar element, its expression) for every value given, in the order of C99 6.7.8."""
    out: list[tuple[int, c_ast.Node]] = []
    _fill(checker, t, init, 0, out)
    return out


def implied_length(checker, t: ct.Array, init: c_ast.InitList) -> int:
    """The length that the initializer gives to an array declared without one."""
    longest = ct.Array(t.element, MAX_ARRAY_BYTES // t.element.size + 1)
    given = flatten(checker, longest, init)
    if not given:
        raise CompileError.at(checker.span(init), "an array needs at least one element")
    length = max(k for k, _ in given) // _scalars(t.element) + 1
    if length * t.element.size > MAX_ARRAY_BYTES:
        raise CompileError.at(checker.span(init), f"this array needs {length * t.element.size} bytes on the chip",
                              f"at most {MAX_ARRAY_BYTES}; use a __global buffer")
    return length


def _scalars(t: ct.CType) -> int:
    return t.size // t.scalar.size if isinstance(t, ct.Array) else 1


def _fill(checker, t, init, base, out):
    if isinstance(t, ct.Array):
        if not isinstance(init, c_ast.InitList):
            raise CompileError.at(checker.span(init), "an array needs a list of values", "write { ... }")
        items = list(init.exprs)[::-1]
        _fill_list(checker, t, items, base, out)
        if items:
            raise CompileError.at(checker.span(items[-1]), f"too many values for '{t}'")
        return
    if isinstance(init, c_ast.InitList):
        if len(init.exprs) != 1:
            raise CompileError.at(checker.span(init), f"one value is needed for '{t}', not {len(init.exprs)}")
        init = init.exprs[0]
    out.append((base, init))


def _fill_list(checker, t: ct.Array, items: list, base: int, out, elided: bool = False):
    """Take values off the end of ``items`` for the elements in order; ``elided``: the array has no braces of its own."""
    k = 0
    while items and (k < t.length or isinstance(items[-1], c_ast.NamedInitializer)):
        if isinstance(items[-1], c_ast.NamedInitializer):
            if elided:
                return
            k = _designated(checker, t, items)
        item, start = items[-1], base + k * _scalars(t.element)
        if isinstance(t.element, ct.Array) and not isinstance(item, c_ast.InitList):
            _fill_list(checker, t.element, items, start, out, elided=True)
        else:
            _fill(checker, t.element, items.pop(), start, out)
        k += 1


def _designated(checker, t: ct.Array, items: list) -> int:
    """Replace ``[k] = value`` at the end of ``items`` by its value; k."""
    named = items.pop()
    first = named.name[0]
    if len(named.name) != 1 or not isinstance(first, c_ast.ArrayDesignator):
        raise CompileError.at(checker.span(first), "this designator is not supported", "write [index] = value")
    k = checker.constant_int(first.expr, "the index of a designator")
    if not 0 <= k < t.length:
        raise CompileError.at(checker.span(first), f"index {k} is outside '{t}'")
    items.append(named.expr)
    return k


def encoded(value, t: ct.CType) -> bytes:
    """The bytes of a constant in memory, little endian."""
    if isinstance(t, ct.Float):
        return float_to_bits(value.value, t.bits).to_bytes(t.size, "little")
    return value.value.to_bytes(t.size, "little")
