"""Expressions of generated Verilog: read into trees, with the widths by which Verilog computes them, and written.

Verilog computes an operator such as ``+`` or ``~`` in the width of the widest operand of the whole expression, or of
the signal that it is assigned to. So an expression may stand in the place of a signal that has its value only where
that width stays the same (:func:`substituted`).
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Expression", "has_sign", "names_in", "parsed", "substituted", "width_of", "written"]

_TOKEN = re.compile(
    r"\s*(\d+'s?[bdho][0-9a-fA-FxzXZ?_]+|\d+|\$?[A-Za-z_][\w$]*|<<<|>>>|===|!==|==|!=|<=|>=|&&|\|\||<<|>>|\+:"
    r"|[-+*/%&|^~!<>?:(){}\[\],])"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!=", "===", "!=="),
    ("<", "<=", ">", ">="),
    ("<<", ">>", "<<<", ">>>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_UNARY = frozenset("~!&|^-+")
_COMPARISONS = frozenset(("==", "!=", "===", "!==", "<", "<=", ">", ">="))
_SHIFTS = frozenset(("<<", ">>", "<<<", ">>>"))
_LOGICAL = frozenset(("&&", "||"))
#: operators of one operand whose result is a bit
_REDUCTIONS = frozenset("!&|^")
#: operators that may be written one after the other without parentheses
_CHAINS = frozenset(("&", "|", "^", "&&", "||"))


@dataclass(frozen=True, slots=True)
class Expression:
    """``kind`` is ``name``, ``number``, ``select``, ``concat``, ``repeat``, ``call``, ``choice``, ``unary`` or
    ``binary``; ``text`` the name, number or operator. Parts of a selection are its index, or its first and last bit;
    a repetition has its count as text."""

    kind: str
    text: str
    parts: tuple["Expression", ...] = ()


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise ValueError(f"{token!r} where {expected!r} is expected")
        self.at += 1
        return token

    def choice(self) -> Expression:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        first = self.choice()
        self.take(":")
        return Expression("choice", "?:", (condition, first, self.choice()))

    def binary(self, lowest: int) -> Expression:
        left = self.unary()
        while (level := _LEVEL.get(self.peek(), -1)) >= lowest:
            op = self.take()
            left = Expression("binary", op, (left, self.binary(level + 1)))
        return left

    def unary(self) -> Expression:
        if self.peek() in _UNARY:
            op = self.take()
            return Expression("unary", op, (self.unary(),))
        return self.primary()

    def primary(self) -> Expression:
        token = self.take()
        if token == "(":
            inside = self.choice()
            self.take(")")
            return inside
        if token == "{":
            return self.braces()
        if token[0].isdigit():
            return Expression("number", token)
        if not (token[0].isalpha() or token[0] in "_$"):
            raise ValueError(f"{token!r} begins no operand")
        if self.peek() == "(":
            self.take()
            inside = self.choice()
            self.take(")")
            return Expression("call", token, (inside,))
        return self.selected(token)

    def selected(self, name: str) -> Expression:
        if self.peek() != "[":
            return Expression("name", name)
        self.take()
        parts = [self.choice()]
        if self.peek() == ":":
            self.take()
            parts.append(self.choice())
        self.take("]")
        return Expression("select", name, tuple(parts))

    def braces(self) -> Expression:
        first = self.choice()
        if self.peek() == "{":
            self.take()
            inside = self.list()
            self.take("}")
            return Expression("repeat", first.text, inside)
        if self.peek() == ",":
            self.take()
            return Expression("concat", "{}", (first, *self.list()))
        self.take("}")
        return Expression("concat", "{}", (first,))

    def list(self) -> tuple[Expression, ...]:
        parts = [self.choice()]
        while self.peek() == ",":
            self.take()
            parts.append(self.choice())
        self.take("}")
        return tuple(parts)


@lru_cache(1 << 16)
def parsed(text: str) -> Expression:
    """The tree of an expression. Raises ValueError where it is none that is known here."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise ValueError(f"{text!r} has characters that no token has")
    reader = _Reader(tokens)
    found = reader.choice()
    if reader.peek():
        raise ValueError(f"{reader.peek()!r} behind an expression")
    return found


def written(e: Expression) -> str:
    """The text of an expression. An operator inside another one stands in parentheses, unless both are the same and
    associative."""
    match e.kind:
        case "name" | "number":
            return e.text
        case "select":
            return f"{e.text}[{':'.join(written(part) for part in e.parts)}]"
        case "concat":
            return f"{{{', '.join(_repeated(e.parts))}}}" if len(set(e.parts)) > 1 else _repeated(e.parts)[0]
        case "repeat":
            return f"{{{e.text}{{{', '.join(written(part) for part in e.parts)}}}}}"
        case "call":
            return f"{e.text}({written(e.parts[0])})"
        case "unary":
            inner = e.parts[0]
            return f"{e.text}({written(inner)})" if inner.kind == "unary" else f"{e.text}{_operand(inner)}"
        case "choice":
            condition, first, other = e.parts
            last = written(other) if other.kind == "choice" else _operand(other)
            return f"{_operand(condition)} ? {_operand(first)} : {last}"
        case _:
            left, right = e.parts
            chained = left.kind == "binary" and left.text == e.text and e.text in _CHAINS
            return f"{written(left) if chained else _operand(left)} {e.text} {_operand(right)}"


def _repeated(parts: tuple[Expression, ...]) -> list[str]:
    """The texts of the parts of a concatenation; of equal ones that follow each other once, with how often."""
    texts = [(written(part), len(list(same))) for part, same in itertools.groupby(parts)]
    if len(texts) == 1 and texts[0][1] == 1:
        return [f"{{{texts[0][0]}}}"]
    return [text if times == 1 else f"{{{times}{{{text}}}}}" for text, times in texts]


def _operand(e: Expression) -> str:
    plain = e.kind not in ("binary", "choice", "unary") or (e.kind == "unary" and e.text in "~!")
    return written(e) if plain else f"({written(e)})"


def names_in(e: Expression) -> list[str]:
    """The names of signals in an expression, as often as they stand there."""
    found: list[str] = []
    _collect(e, found)
    return found


def _collect(e: Expression, found: list[str]) -> None:
    if e.kind == "name" or e.kind == "select":
        found.append(e.text)
    for part in e.parts:
        _collect(part, found)


def width_of(e: Expression, widths: Mapping[str, int], words: Mapping[str, int]) -> int:
    """Bits of an expression that stands alone, with signals of ``widths`` and memories of ``words`` bits. Raises
    ValueError where that is not known."""
    match e.kind:
        case "name":
            found = widths.get(e.text)
            if found is None:
                raise ValueError(f"{e.text} has no width")
            return found
        case "number":
            size, quote, _ = e.text.partition("'")
            if not quote:
                raise ValueError(f"{e.text} has no size")
            return int(size)
        case "select":
            return _selected_width(e, words)
        case "concat":
            return sum(width_of(part, widths, words) for part in e.parts)
        case "repeat":
            return int(e.text) * sum(width_of(part, widths, words) for part in e.parts)
        case "choice":
            return max(width_of(part, widths, words) for part in e.parts[1:])
    if _is_bit(e):
        return 1
    if e.kind == "binary" and e.text in _SHIFTS:
        return width_of(e.parts[0], widths, words)
    return max(width_of(part, widths, words) for part in e.parts)


def _selected_width(e: Expression, words: Mapping[str, int]) -> int:
    if len(e.parts) == 1:
        return words.get(e.text, 1)
    return int(e.parts[0].text) - int(e.parts[1].text) + 1


def _is_bit(e: Expression) -> bool:
    """Whether the operator's result is one bit, whatever surrounds it."""
    return (e.kind == "unary" and e.text in _REDUCTIONS) or (
        e.kind == "binary" and (e.text in _COMPARISONS or e.text in _LOGICAL)
    )


def _stands_alone(e: Expression) -> bool:
    """Whether what surrounds the expression has no influence on its value but to extend it by zeros."""
    return e.kind in ("name", "number", "select", "concat", "repeat") or _is_bit(e)


def has_sign(e: Expression) -> bool:
    """Whether an operand of the operators that what surrounds them decides on is signed."""
    if e.kind == "call" or (e.kind == "number" and "'s" in e.text):
        return True
    return not _stands_alone(e) and any(has_sign(part) for part in e.parts)


@dataclass(frozen=True)
class _Places:
    """What is known while expressions are put in the place of signals."""

    values: Mapping[str, Expression]
    widths: Mapping[str, int]
    words: Mapping[str, int]

    def alone(self, e: Expression) -> Expression:
        """An expression whose width nothing around it decides."""
        return self.inside(e, width_of(e, self.widths, self.words), False)

    def inside(self, e: Expression, width: int, firm: bool) -> Expression:
        """An expression computed in ``width`` bits, which are ``firm`` if they are those of what it is assigned to."""
        if e.kind == "name":
            return self.value(e, width, firm)
        if e.kind in ("number", "select") and all(part.kind == "number" for part in e.parts):
            return e
        if _stands_alone(e) and not (e.kind == "binary" and e.text in _COMPARISONS) or e.kind == "call":
            return Expression(e.kind, e.text, tuple(self.alone(part) for part in e.parts))
        if e.kind == "binary" and e.text in _COMPARISONS:
            width, firm = max(width_of(part, self.widths, self.words) for part in e.parts), False
        if e.kind == "choice":
            condition, *branches = e.parts
            return Expression(
                e.kind, e.text, (self.alone(condition), *(self.inside(part, width, firm) for part in branches))
            )
        if e.kind == "binary" and e.text in _SHIFTS:
            return Expression(e.kind, e.text, (self.inside(e.parts[0], width, firm), self.alone(e.parts[1])))
        return Expression(e.kind, e.text, tuple(self.inside(part, width, firm) for part in e.parts))

    def value(self, e: Expression, width: int, firm: bool) -> Expression:
        value = self.values.get(e.text)
        if value is None:
            return e
        own, bits = width_of(value, self.widths, self.words), self.widths[e.text]
        if _stands_alone(value) and not has_sign(value):
            return value if own == bits else e
        fits = width == bits and (own == bits or (firm and own < bits))
        return value if fits and not has_sign(value) else e


def substituted(
    e: Expression,
    values: Mapping[str, Expression],
    widths: Mapping[str, int],
    words: Mapping[str, int],
    target: int | None = None,
) -> Expression:
    """The expression, assigned to ``target`` bits or standing alone, with the ``values`` of signals in their place
    wherever that does not change what it computes. Raises ValueError where a width is not known."""
    places = _Places(values, widths, words)
    if target is None:
        return places.alone(e)
    own = width_of(e, widths, words)
    return places.inside(e, max(target, own), own <= target)
