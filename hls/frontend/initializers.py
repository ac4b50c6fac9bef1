"""Initializers with braces: maps values to the parts of a variable (C99 6.7.8)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..limits import MOST_INITIALIZED_BYTES
from . import tree as tt
from . import types as ct
from .constants import unescaped
from .extensions import Range
from .layout import settled_count

if TYPE_CHECKING:
    from .check_parts import PartChecker

__all__ = ["check_size", "flatten", "implied_length", "listed"]

_Given = list[tuple[int, tt.Expr]]


def listed(checker: "PartChecker", init: c_ast.Node) -> c_ast.Node:
    """A string literal as the list of its characters and the final 0; anything else unchanged."""
    if not isinstance(init, c_ast.Constant) or init.type != "string":
        return init
    codes = [*unescaped(str(init.value)[1:-1], checker.span(init)), 0]
    return c_ast.InitList([c_ast.Constant("int", str(code), init.coord) for code in codes], init.coord)


def flatten(checker: "PartChecker", t: ct.CType, init: c_ast.Node) -> _Given:
    """(number of the first scalar, value) of every initializer value, each converted to the type of its part."""
    out: _Given = []
    _fill(checker, t, init, 0, out)
    return out


def implied_length(checker: "PartChecker", t: ct.Array, init: c_ast.InitList) -> int:
    """The length of an array declared without one, from its initializer."""
    longest = ct.Array(t.element, MOST_INITIALIZED_BYTES // t.element.size + 1)
    with checker.quiet():
        given = flatten(checker, longest, init)
    if not given:
        raise CompileError.at(checker.span(init), "an array needs at least one element", code=Code.INITIALIZER)
    length = max(k for k, _ in given) // settled_count(t.element) + 1
    check_size(length * t.element.size, checker.span(init))
    return length


def check_size(size: int, span: Span | None) -> None:
    """Raises an error if an initializer is for more than so many bytes."""
    if size > MOST_INITIALIZED_BYTES:
        raise CompileError.at(
            span,
            f"this array with an initializer needs {size} bytes",
            f"at most {MOST_INITIALIZED_BYTES}; use a __global buffer, which the host or a kernel fills",
            code=Code.ARRAY_SIZE,
        )


class _Items:
    """The values of one pair of braces, taken in order; an expression is checked once, at its first use."""

    def __init__(self, checker, nodes: Sequence[c_ast.Node]) -> None:
        self.checker = checker
        self.nodes = list(nodes)[::-1]
        self.value: tt.Expr | None = None

    def __bool__(self) -> bool:
        return bool(self.nodes)

    @property
    def next(self):
        return self.nodes[-1]

    def peek(self) -> tt.Expr:
        """The next value, which is neither a list nor designated."""
        if self.value is None:
            self.value = self.checker.rvalue(self.next)
        return self.value

    def take(self):
        """The next item: its value if it was checked already, else its node."""
        value, self.value = self.value, None
        node = self.nodes.pop()
        return value or node

    def is_text(self) -> bool:
        return isinstance(self.next, c_ast.Constant) and self.next.type == "string"

    def is_named(self) -> bool:
        return isinstance(self.next, c_ast.NamedInitializer)

    def is_plain(self) -> bool:
        return not isinstance(self.next, (c_ast.InitList, c_ast.NamedInitializer))


def _fill(checker, t, init, base, out):
    """Initialize one part of type ``t`` from one item: a list, or a value."""
    if _is_characters(t) and not isinstance(init, tt.Expr):
        init = _text(checker, t, init)
    if isinstance(init, c_ast.InitList):
        if ct.aggregate(t):
            _fill_braces(checker, t, init, base, out)
            return
        if init.exprs and isinstance(init.exprs[0], c_ast.NamedInitializer):
            raise CompileError.at(
                checker.span(init.exprs[0]) or checker.span(init),
                f"'{t}' has no members or elements to name",
                "write the value alone",
                code=Code.INITIALIZER,
            )
        if len(init.exprs) != 1:
            raise CompileError.at(
                checker.span(init), f"one value is needed for '{t}', not {len(init.exprs)}", code=Code.INITIALIZER
            )
        init = init.exprs[0]
    if isinstance(t, ct.Array):
        span = init.span if isinstance(init, tt.Expr) else checker.span(init)
        raise CompileError.at(span, "an array needs a list of values", "write { ... }", code=Code.INITIALIZER)
    value = init if isinstance(init, tt.Expr) else checker.rvalue(init)
    out.append((base, checker.assignable(value, t, "the initial value")))


def _is_characters(t: ct.CType) -> bool:
    return isinstance(t, ct.Array) and t.element in (ct.CHAR, ct.UCHAR)


def _text(checker, t: ct.Array, init):
    """The string literal, perhaps in braces, that initializes an array of characters, as their list: its final 0 is
    dropped if it does not fit."""
    if isinstance(init, c_ast.InitList) and len(init.exprs) == 1:
        inner = listed(checker, init.exprs[0])
        init = inner if isinstance(inner, c_ast.InitList) else init
    found = listed(checker, init)
    if found is not init and len(found.exprs) == t.length + 1:
        found.exprs.pop()
    return found


def _fill_braces(checker, t, init, base, out):
    items = _Items(checker, init.exprs)
    _fill_list(checker, t, items, base, out)
    if items:
        raise CompileError.at(checker.span(items.next), f"too many values for '{t}'", code=Code.INITIALIZER)


def _parts(t: ct.CType) -> int:
    """The number of parts that an initializer of the type has."""
    if isinstance(t, ct.Struct):
        return min(1, len(t.members)) if t.union else len(t.members)
    return t.length


def _part(t: ct.CType, k: int) -> tuple[ct.CType, int]:
    """The type of the k-th part, and the number of scalars before it."""
    if isinstance(t, ct.Struct):
        return t.members[k].type, 0 if t.union else sum(settled_count(m.type) for m in t.members[:k])
    return t.element, k * settled_count(t.element)


def _fill_list(checker, t, items: _Items, base: int, out, elided: bool = False, named: bool = False) -> None:
    """Take items for the parts of ``t`` in order; ``elided``: the part has no braces of its own; ``named``: a
    designator begins there nevertheless (``.part.k = ...``)."""
    k, count = 0, _parts(t)
    while items and (k < count or items.is_named()):
        if items.is_named():
            if elided and not named:
                return
            k, named = _designated(checker, t, items), False
        if isinstance(t, ct.Struct) and t.union:
            _fill_union(checker, t, k, items, base, out)
            k = count
            continue
        part, before = _part(t, k)
        k += _fill_part(checker, t, part, items, base + before, out)


def _fill_part(checker, t, part, items: _Items, base: int, out) -> int:
    """Returns how many parts the next item initializes (a vector among elements: its length)."""
    if items.is_named():
        _fill_named(checker, part, items, base, out)
        return 1
    if not items.is_plain() or items.is_text() and _is_characters(part):
        _fill(checker, part, items.take(), base, out)
        return 1
    if isinstance(t, ct.Vector) and isinstance(items.peek().type, ct.Vector):
        value = items.take()
        if isinstance(value, tt.Expr):
            same = ct.Vector(t.element, value.type.length)
            out.append((base, checker.assignable(value, same, "the initial value")))
            return value.type.length
    whole = not ct.aggregate(part) or (
        not isinstance(part, ct.Array) and not items.is_text() and items.peek().type == part
    )
    if whole:
        _fill(checker, part, items.take(), base, out)
    else:
        _fill_list(checker, part, items, base, out, elided=True)
    return 1


def _fill_named(checker, part, items: _Items, base: int, out):
    """Initialize a part that the rest of a designator refers into, and take the values that follow, as far as they
    fit."""
    if not ct.aggregate(part):
        raise CompileError.at(
            checker.span(items.next),
            f"'{part}' has no members or elements to name",
            "write the value alone",
            code=Code.INITIALIZER,
        )
    _fill_list(checker, part, items, base, out, elided=True, named=True)


def _fill_union(checker, t: ct.Struct, k: int, items: _Items, base: int, out) -> None:
    """Initialize a member of a union, as the words that make up the union's value."""
    inner: _Given = []
    member = t.members[k].type
    if items.is_named():
        _fill_named(checker, member, items, 0, inner)
        _put(out, base, _union(checker, t, k, inner))
        return
    parts = not _is_characters(member) if items.is_text() else items.is_plain() and items.peek().type != member
    if ct.aggregate(member) and parts:
        _fill_list(checker, member, items, 0, inner, elided=True)
    else:
        _fill(checker, member, items.take(), 0, inner)
    out.append((base, _union(checker, t, k, inner)))


def _union(checker, t: ct.Struct, k: int, inner: _Given) -> tt.UnionOf:
    span = inner[0][1].span if inner else checker.here_span
    return tt.UnionOf(t, span, k, tt.Build(t.members[k].type, span, tuple(inner)))


def _put(out: _Given, base: int, value: tt.Expr) -> None:
    """Add a value; one for a part of a union's member keeps the other parts of that member (``.u.x = 1, .u.y = 2``)."""
    for n, (place, before) in enumerate(out):
        if (
            isinstance(value, tt.UnionOf)
            and isinstance(before, tt.UnionOf)
            and (place, before.type, before.index) == (base, value.type, value.index)
        ):
            parts = list(before.member.parts)
            for inner in value.member.parts:
                _put(parts, *inner)
            value = replace(value, member=replace(value.member, parts=tuple(parts)))
            del out[n]
            break
    out.append((base, value))


def _designated(checker, t: ct.CType, items: _Items) -> int:
    """Replace ``[k] = value`` or ``.name = value`` at the front of the items by its value, and ``.name.rest = value``
    by ``.rest = value``; returns the number of the part."""
    named = items.take()
    place = next(
        (
            n
            for n, one in enumerate(named.name)
            if isinstance(one, c_ast.ArrayDesignator) and isinstance(one.expr, Range)
        ),
        None,
    )
    if place is not None:
        return _repeated(checker, t, named, place, items)
    k, *path = _path(checker, t, named)
    items.nodes.append(c_ast.NamedInitializer(path, named.expr, named.coord) if path else named.expr)
    return k


def _path(checker, t: ct.CType, named: c_ast.NamedInitializer) -> list:
    """The number of the part of ``t`` that a designator begins with, and its rest: nodes, and numbers of unnamed
    members."""
    first, *rest = named.name
    if isinstance(first, int):
        return [first, *rest]
    if isinstance(first, c_ast.ArrayDesignator) and isinstance(t, ct.Array):
        k = checker.constant_int(first.expr, "the index of a designator")
        if not 0 <= k < t.length:
            raise CompileError.at(checker.span(first), f"index {k} is outside '{t}'", code=Code.INITIALIZER)
        return [k, *rest]
    name = getattr(first, "name", None)
    if isinstance(t, ct.Struct) and name in t.index:
        return [*t.index[name], *rest]
    raise CompileError.at(
        checker.span(first),
        f"this designator does not fit '{t}'",
        "write .name = value" if isinstance(t, ct.Struct) else "write [index] = value",
        code=Code.INITIALIZER,
    )


def _repeated(checker, t: ct.CType, named, place: int, items: _Items) -> int:
    """Like ``_designated`` where the part of the designator at ``place`` is ``[first ... last]``: it is expanded to
    that many whole designators, so that those of an inner array begin where the outer one's do."""
    ends = named.name[place].expr
    first, last = (checker.constant_int(end, "the index of a designator") for end in (ends.first, ends.last))
    # an inner one is checked where its array is known
    fits = place > 0 or isinstance(t, ct.Array) and last < t.length
    if not fits or not 0 <= first <= last:
        raise CompileError.at(
            checker.span(ends),
            f"elements {first} to {last} are no part of '{t}'",
            "write [first ... last] = value",
            code=Code.INITIALIZER,
        )
    one, before, behind = c_ast.NamedInitializer, named.name[:place], named.name[place + 1 :]
    each = [
        one(
            [*before, c_ast.ArrayDesignator(c_ast.Constant("int", str(k), ends.coord), ends.coord), *behind],
            named.expr,
            named.coord,
        )
        for k in range(first, last + 1)
    ]
    items.nodes += each[::-1]
    return _designated(checker, t, items)
