"""Warnings of code that is legal C, and most probably not what its author means.

They are those of C compilers at -Wall, with two of -Wextra (comparisons that a type decides, and empty bodies), and as
careful: nothing is said of operators that a macro expands to, which may have to fit several uses, nor of files that
line markers name, as macros are expanded in these.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isfinite
from typing import Protocol

from pycparser import c_ast

from ..diag import Code, Span
from ..ir.values import signed
from ..narrow import instance
from . import tree as tt
from . import types as ct
from .builtins import WORK_ITEM
from .check_pointers import COMPARES, place_of
from .evaluate import constant
from .flow import exits
from .lexer import Word
from .parse import Syntax

__all__ = [
    "constant_comparison",
    "constant_kept",
    "empty_bodies",
    "never_reached",
    "tested_assignment",
    "unary_after_equals",
    "unused_result",
    "unused_variables",
]

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
#: expressions that only compute a value from their operands
_COMPUTES = (
    tt.AddressOf,
    tt.Binary,
    tt.Build,
    tt.Builtin,
    tt.Compare,
    tt.Conditional,
    tt.Const,
    tt.Convert,
    tt.ConvertExactly,
    tt.Dereference,
    tt.Lanes,
    tt.Logical,
    tt.Member,
    tt.Null,
    tt.Packed,
    tt.PointerAdd,
    tt.PointerCompare,
    tt.PointerDistance,
    tt.Reinterpret,
    tt.Sequence,
    tt.Unary,
    tt.UnionOf,
    tt.VariableRef,
)


class _Checker(Protocol):
    """What the checks need of the checker of a program."""

    syntax: Syntax
    doubles: bool
    types_of_macros: set[Span]

    def span(self, node: c_ast.Node) -> Span: ...

    def warn(self, span: Span | None, message: str, hint: str = "", *, code: Code) -> None: ...


# -- results that nobody uses


def unused_result(checker: _Checker, e: tt.Expr) -> None:
    """Warn of an expression that is a statement, or the left side of a comma, although it only computes a value."""
    if not _only_computes(e) or _expanded(checker, _parts(e)):
        return
    moved = isinstance(e, tt.Dereference) and isinstance(e.pointer, tt.Step)
    if isinstance(e, tt.Compare) and e.operator == "==":
        hint = "write '=' to assign"
    else:
        hint = "without the '*' it moves the pointer" if moved else "assign it, or remove it"
    checker.warn(e.span, "the result of this expression is not used", hint, code=Code.RESULT_UNUSED)


def _only_computes(e: tt.Expr) -> bool:
    """Whether the outermost operation has no effect of its own. Its operands may have effects."""
    if isinstance(e, tt.Sequence):  # of one place: a function that also stores, as modf does
        return e.first.span != e.second.span and _only_computes(e.second)
    if isinstance(e, tt.Conditional):
        return _only_computes(e.then) and _only_computes(e.otherwise)
    if isinstance(e, tt.Logical):
        return _only_computes(e.right)
    if isinstance(e, tt.Convert):
        return not isinstance(e.type, ct.Void) and _only_computes(e.operand)
    return _computes(e)


def _computes(e: tt.Expr) -> bool:
    """Whether evaluating the expression without its operands has no effect. Asking for an index of the work-item has
    one: it makes the kernel an NDRange kernel."""
    if isinstance(e, tt.Builtin) and e.name in WORK_ITEM or not isinstance(e, _COMPUTES):
        return False
    root = tt.root_of(e)
    return not isinstance(root, tt.VariableRef | tt.Dereference) or not place_of(root)[2]


def unused_variables(checker: _Checker, declared: Iterable[tt.Declare], used: set[object]) -> None:
    """Warn of local variables that are not ``used``, unless their initial value has an effect."""
    for s in declared:
        if s.variable in used or checker.syntax.is_expanded(s.span):
            continue
        if all(_computes(part) for _, e in s.initial or () for part in _parts(e)):
            checker.warn(s.span, f"'{s.variable.name}' is never used", "remove it", code=Code.UNUSED_VARIABLE)


# -- operators that are easily confused


def tested_assignment(checker: _Checker, node: c_ast.Node) -> None:
    """Warn of a condition that is an assignment without parentheses of its own."""
    if not isinstance(node, c_ast.Assignment) or node.op != "=" or node in checker.syntax.parenthesized:
        return
    span = node.op.span if isinstance(node.op, Word) else checker.span(node)
    if not checker.syntax.is_expanded(span):
        checker.warn(
            span,
            "an assignment is used as a condition",
            "write '==' to compare, or put the assignment into parentheses of its own",
            code=Code.ASSIGNMENT_TESTED,
        )


def unary_after_equals(checker: _Checker, node: c_ast.Assignment) -> None:
    """Warn of ``x =+ y`` and ``x =- y``: the sign belongs to the value, but stands at the assignment."""
    value = node.rvalue
    while isinstance(value, c_ast.BinaryOp):
        value = value.left
    if not isinstance(value, c_ast.UnaryOp) or value.op not in ("+", "-"):
        return
    if not isinstance(node.op, Word) or node.op != "=" or not isinstance(value.op, Word):
        return
    at, sign = node.op.span, value.op.span
    if checker.syntax.is_expanded(at) or not value.op.touches or value.op.followed or at.line != sign.line:
        return
    checker.warn(
        at,
        f"'={value.op}' assigns a value with a sign",
        f"write '{value.op}=' to {'add' if value.op == '+' else 'subtract'}, or a blank before the sign",
        code=Code.SIGN_AFTER_EQUALS,
    )


# -- what types decide


def constant_comparison(checker: _Checker, node: c_ast.BinaryOp, left: tt.Expr, right: tt.Expr, span: Span) -> None:
    """Warn of a comparison of an integer with a number in the text that no value of the integer's type changes.
    ``left`` and ``right`` are the operands before C's conversions. A program whose types are macros, as with
    ``-DT=uchar``, may be compiled with others."""
    op = str(node.op)
    if op not in COMPARES:
        return
    if _is_number(node.left):
        op, left, right = _MIRRORED[op], right, left
    elif not _is_number(node.right):
        return
    if not isinstance(left.type, ct.Int) or not isinstance(right.type, ct.Int) or constant(left) is not None:
        return
    t, value = instance(ct.common(left.type, right.type), ct.Int), constant(right)
    if value is None or left.type.signed and not t.signed and left.type.bits < t.bits:
        return  # its negative values become large ones
    number = _as_number(int(value.value), t, right.type)
    low, high = _range(left.type if left.type.bits < t.bits else t)
    result = _decided(op, low, high, number)
    if result is None or checker.syntax.is_expanded(span):
        return
    parts = [*_parts(left), *_parts(right)]
    typed = (part.variable.span if isinstance(part, tt.VariableRef) else part.span for part in parts)
    if _expanded(checker, parts) or not checker.types_of_macros.isdisjoint(typed):
        return
    here = f" here, as '{t}'" if (low, high) != _range(left.type) else ""
    checker.warn(
        span,
        f"this comparison is always {'true' if result else 'false'}: '{left.type}' is from {low} to {high}{here}",
        "use a signed type if the value can be negative"
        if low == 0 and number <= 0
        else "check the type and the number",
        code=Code.COMPARISON_DECIDED,
    )


def _is_number(node: c_ast.Node) -> bool:
    while isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+", "~"):
        node = node.expr
    return isinstance(node, c_ast.Constant) and node.type != "string"


def _as_number(pattern: int, t: ct.Int, source: ct.Int) -> int:
    """The number that a pattern of type ``source`` is after its conversion to ``t``."""
    value = signed(pattern, source.bits) if source.signed else pattern
    kept = value & (1 << t.bits) - 1
    return signed(kept, t.bits) if t.signed else kept


def _range(t: ct.Int) -> tuple[int, int]:
    bits = 1 if t == ct.BOOL_T else t.bits
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if t.signed else (0, (1 << bits) - 1)


def _decided(op: str, low: int, high: int, number: int) -> bool | None:
    """What ``x op number`` is for all x from ``low`` to ``high``; None if they differ."""
    if op in ("==", "!="):
        return None if low <= number <= high else op == "!="
    if op in (">", ">="):  # not less or equal, not less
        opposite = _decided("<=" if op == ">" else "<", low, high, number)
        return None if opposite is None else not opposite
    last = number if op == "<=" else number - 1
    return True if high <= last else False if low > last else None


def constant_kept(checker: _Checker, e: tt.Expr, converted: tt.Expr, role: str) -> None:
    """Warn of a constant ``e`` that its implicit conversion to an integer type changes to another number. A pattern
    of as many bits as the type has is not another number: ``char c = 0xFF``."""
    t = converted.type
    if not isinstance(t, ct.Int) or t == ct.BOOL_T or isinstance(e.type, ct.Int) and e.type.bits <= t.bits:
        return
    if not isinstance(e.type, ct.Int) and not isinstance(e, tt.Const):
        return
    known, kept = constant(e), constant(converted)
    if known is None or kept is None:
        return
    after = _as_number(int(kept.value), t, t)
    before: int | float
    if isinstance(known.type, ct.Int):
        before = _as_number(int(known.value), known.type, known.type)
        fits = before.bit_length() <= t.bits if before >= 0 else (~before).bit_length() < t.bits
    elif isinstance(known.type, ct.Float):
        before = float(known.value)
        if not isfinite(before):
            return
        fits = after == before
    else:
        return
    if not fits:
        checker.warn(
            e.span,
            f"{role} is {before:.6g}, which becomes {after} as '{t}'"
            if isinstance(before, float)
            else f"{role} is {before}, which becomes {after} as '{t}'",
            f"use a wider type, or write ({t})",
            code=Code.CONSTANT_CHANGED,
        )


# -- empty bodies


def empty_bodies(checker: _Checker, nodes: list[c_ast.Node]) -> None:
    """Warn of ``if (x);``, and of a loop whose body is a ``;`` behind its head and is followed by what looks like the
    body that is meant: a block, or a statement that is indented deeper."""
    for node, following in zip(nodes, [*nodes[1:], None]):
        if isinstance(node, c_ast.If):
            body = node.iftrue if node.iffalse is None else None
        elif isinstance(node, c_ast.For | c_ast.While):
            body = node.stmt if following is not None and _looks_like_body(checker, node, following) else None
        else:
            body = None
        if body in checker.syntax.behind_heads:
            word = {c_ast.If: "if", c_ast.For: "for", c_ast.While: "while"}[type(node)]
            checker.warn(
                checker.span(body),
                f"the ';' is the whole body of this '{word}'",
                "remove it, or write { } if nothing is to be done",
                code=Code.EMPTY_BODY,
            )


def _looks_like_body(checker: _Checker, loop: c_ast.Node, following: c_ast.Node) -> bool:
    if isinstance(following, c_ast.Compound):
        return True
    head, after = checker.span(loop), checker.span(following)
    return after is not None and after.line > head.line and after.column > head.column and after.file == head.file


# -- loops without an end


def never_reached(checker: _Checker, statements: list[tt.Stmt]) -> None:
    """Warn of a loop that is followed by statements which are never executed: its condition is always true, and
    nothing in it leaves the loop."""
    for loop, following in pairwise(statements):
        if not isinstance(loop, tt.Loop) or checker.syntax.is_expanded(loop.span) or not _is_endless(loop):
            continue
        if not isinstance(following, tt.Label | tt.Return):  # a function with a type may need its return
            checker.warn(
                following.span,
                f"this is never executed: the loop of line {loop.span.line} does not end",
                "give the loop a condition, or leave it with 'break'",
                code=Code.NEVER_REACHED,
            )


def _is_endless(loop: tt.Loop) -> bool:
    known = None if loop.condition is None else constant(loop.condition)
    tested = loop.condition is not None and (known is None or not known.value)
    return not tested and exits(loop.body) <= {"continue"}


def _parts(e: tt.Expr) -> Iterator[tt.Expr]:
    """The expression, and all those in it."""
    yield e
    for part in tt.children(e):
        if isinstance(part, tt.Expr):
            yield from _parts(part)


def _expanded(checker: _Checker, parts: Iterable[tt.Expr]) -> bool:
    return any(checker.syntax.is_expanded(part.span) for part in parts)
