"""Finds misspelt words of the language behind a syntax error, and where a statement ends that does not parse."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import NamedTuple

from ..diag import Code, Diagnostic
from .foreign_syntax import BEGIN_TYPE
from .unknown_types import PREFIXES, Tokens
from .words import ACCESS_WORDS, SPELLINGS, STREAM_WORDS

__all__ = ["OUTSIDE", "ForHeads", "UnknownWord", "unknown_word"]

#: tokens that begin a statement, or follow the name that one begins with, and begin no declaration
OUTSIDE = frozenset(
    [
        "IF",
        "ELSE",
        "FOR",
        "WHILE",
        "DO",
        "SWITCH",
        "CASE",
        "DEFAULT",
        "RETURN",
        "BREAK",
        "CONTINUE",
        "GOTO",
        "LBRACKET",
        "PERIOD",
        "ARROW",
        "PLUSPLUS",
        "MINUSMINUS",
        "EQUALS",
        "PLUSEQUAL",
        "MINUSEQUAL",
        "TIMESEQUAL",
        "DIVEQUAL",
        "MODEQUAL",
        "LSHIFTEQUAL",
        "RSHIFTEQUAL",
        "ANDEQUAL",
        "OREQUAL",
        "XOREQUAL",
    ]
)
#: what may precede a type in a declaration
_WORDS = sorted(
    {*SPELLINGS, *STREAM_WORDS, *ACCESS_WORDS}
    | {
        "const",
        "volatile",
        "static",
        "extern",
        "typedef",
        "struct",
        "union",
        "enum",
        "signed",
        "unsigned",
        "long",
        "short",
    }
)


class UnknownWord(NamedTuple):
    """The number of a token that no declaration can begin with, and the ``diagnostic`` that tells of it."""

    place: int
    diagnostic: Diagnostic


def unknown_word(tokens: Tokens, declared: Callable[[str], bool]) -> UnknownWord | None:
    """The name in front of a type, near the token that the parser stopped at, that is neither a word of the language
    nor ``declared``: a misspelt `__kernel`, or a macro that nobody defined. None if there is none."""
    place = tokens.mark()
    for index in (place - 1, place, place - 2):
        token, behind = (tokens.at(k) if k >= 0 else None for k in (index, index + 1))
        if token is None or behind is None or token.type != "ID" or behind.type not in BEGIN_TYPE:
            continue
        before = tokens.at(index - 1) if index else None
        fits = before is None or before.type in PREFIXES
        if fits and token.value.span.line == behind.value.span.line and not declared(str(token.value)):
            name = token.value.spelled
            near = get_close_matches(name, _WORDS, 1, 0.7)
            hint = f"did you mean '{near[0]}'?" if near else f"remove it, or define it as nothing with -D {name}="
            told = f"'{name}' is no word of OpenCL C"
            return UnknownWord(index, Diagnostic(told, token.value.span, hint, code=Code.SYNTAX))
    return None


class ForHeads:
    """Follows the tokens of a text, and tells which ';' separate the parts of the head of a ``for``."""

    def __init__(self) -> None:
        self._open: list[list[int]] = []  #: for each head: parentheses that are open in it, and ';' that may follow
        self._before = ""

    def separates(self, kind: str) -> bool:
        """Whether the next token, of this kind, is such a ';'."""
        before, self._before = self._before, kind
        if kind == "LPAREN" and before == "FOR":
            self._open.append([0, 2])
        elif not self._open:
            return False
        elif kind == "LPAREN":
            self._open[-1][0] += 1
        elif kind == "RPAREN" and self._open[-1][0] == 0:
            self._open.pop()
        elif kind == "RPAREN":
            self._open[-1][0] -= 1
        elif kind == "SEMI" and self._open[-1][1] > 0:
            self._open[-1][1] -= 1
            return True
        return False
