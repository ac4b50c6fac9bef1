"""Finds the name of an undeclared type behind a syntax error: the C grammar tells types from other names only by their
declarations, so an unknown one makes the parser stop at a token nearby."""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple, Protocol

from ..diag import Code, Diagnostic
from .words import NOT_BUILT_TYPES, TYPE_WORDS

__all__ = ["PREFIXES", "Tokens", "UnknownType", "unknown_type"]

#: an integer type of so many bits
_SIZED = re.compile(r"u?int(\d+)_t$")
#: tokens that may precede a type
_PREFIXES = frozenset(
    {"CONST", "VOLATILE", "RESTRICT", "INLINE", "STATIC", "EXTERN", "REGISTER", "TYPEDEF", "SEMI", "LBRACE", "RBRACE"}
)
_OPENS = frozenset({"LPAREN", "COMMA"})
#: tokens that a declaration, or that of a parameter, may stand behind
PREFIXES = _PREFIXES | _OPENS | {"PPPRAGMASTR"}
#: tokens behind the * of a pointer's declaration
_BEHIND_STAR = frozenset({"ID", "RPAREN", "COMMA", "TIMES", "CONST", "VOLATILE", "RESTRICT"})
#: tokens in front of the ( of a call
_CALLED = frozenset({"ID", "RPAREN", "RBRACKET"})
_WORDS = frozenset({"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "return"})


class Tokens(Protocol):
    """The tokens that a parser has read so far."""

    def mark(self) -> int:
        """The number of the next token."""
        ...

    def at(self, index: int) -> Any:
        """The token of that number, None if it was not read yet or is the end."""
        ...

    def peek(self, k: int = 1) -> Any:
        """The k-th of the next tokens, which is read if it was not; None at the end."""
        ...


class UnknownType(NamedTuple):
    """The ``name`` of a type that is not declared, and the ``diagnostic`` that tells of it."""

    name: str
    diagnostic: Diagnostic


def unknown_type(
    tokens: Tokens, error: Diagnostic, declared: Callable[[str], bool], types: Iterable[str]
) -> UnknownType | None:
    """What to report in place of a syntax ``error`` in front of the next one of ``tokens``: the type that is unknown.

    None if no name there can be one. ``declared`` tells whether a name is known, ``types`` are the user's types.
    """
    place = tokens.mark()
    _read_ahead(tokens)
    for index in (*_at(tokens, error), place, place - 1, place - 2):
        token = _token(tokens, index)
        if token is None or token.type != "ID" or declared(str(token.value)) or not _is_type(tokens, index, place):
            continue
        name = token.value.spelled
        told = Diagnostic(f"unknown type '{name}'", token.value.span, _hint(name, types), code=Code.UNKNOWN_TYPE)
        return UnknownType(str(token.value), told)
    return None


def _hint(name: str, types: Iterable[str] = ()) -> str:
    """What declares the unknown type ``name``, or which of the known ``types`` and words is most similar to it."""
    if name in NOT_BUILT_TYPES:
        what, instead = NOT_BUILT_TYPES[name]
        return f"it is for {what}, which OpenCL C 2.0 has and this compiler has not: {instead}"
    sized = _SIZED.match(name)
    if sized is not None and sized[1] in ("8", "16", "32", "64"):
        return f"#include <stdint.h> declares '{name}'"
    if sized is not None and 1 <= int(sized[1]) <= 64:
        return f"#include \"ihc_apint.h\" declares '{name}'"
    if sized is not None:
        return f"there are no integers of {sized[1]} bits, only of 1 to 64"
    near = get_close_matches(name, sorted({*TYPE_WORDS, *_WORDS, *types}), 1, 0.7)
    declare = f"declare it with typedef, or define it with -D {name}=TYPE"
    return f"did you mean '{near[0]}'? Otherwise {declare}" if near else declare


def _at(tokens: Tokens, error: Diagnostic) -> list[int]:
    """The token that is the error's place, as far back as a declaration may begin."""
    place = tokens.mark()
    back = range(place, max(place - 64, -1), -1)
    return [i for i in back if (token := _token(tokens, i)) is not None and token.value.span == error.span][:1]


def _is_type(tokens: Tokens, index: int, place: int) -> bool:
    """Whether the name at ``index`` stands where the grammar has a type, and the error at ``place`` follows from it."""
    before, after, second = (_kind(tokens, index + step) for step in (-1, 1, 2))
    if before is not None and before not in PREFIXES:
        return False
    if after == "RPAREN":  # a conversion, the error is behind it
        return before == "LPAREN" and index == place - 2 and _kind(tokens, index - 2) not in _CALLED
    return after == "ID" or (after == "TIMES" and second in _BEHIND_STAR and index > place - 2) or before == "TYPEDEF"


def _read_ahead(tokens: Tokens) -> None:
    """Read as many tokens as decide, the first of which is the one that the parser stopped at."""
    for step in (1, 2, 3):
        if tokens.peek(step) is None:
            return


def _kind(tokens: Tokens, index: int) -> str | None:
    token = _token(tokens, index)
    return None if token is None else token.type


def _token(tokens: Tokens, index: int) -> Any:
    return tokens.at(index) if index >= 0 else None
