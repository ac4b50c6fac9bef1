"""Limits on the size of a source: one beyond them is a mistake, or an attack, and is rejected early."""

import re

from ..diag import Code, CompileError, Span

__all__ = [
    "CHARACTERS_FOR_EACH",
    "DEEPEST_INCLUDE",
    "EXPANDED_FOR_EACH",
    "MOST_BYTES",
    "MOST_EXPANDED",
    "MOST_READ",
    "check_source",
]

MOST_BYTES = 4 << 20
_MOST_TOKENS = 200_000
_DEEPEST = 400
_LONGEST = 4_096
#: most tokens of a file including all its includes
MOST_READ = 300_000
#: most tokens that all macros may expand to, and how many more for each token that was read
MOST_EXPANDED, EXPANDED_FOR_EACH = 200_000, 10
#: most characters of these tokens, per token: a string literal is one token, whatever its length
CHARACTERS_FOR_EACH = 16
#: nesting depth of includes
DEEPEST_INCLUDE = 200

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[({\[]|[)}\]]|\w+|[^\w\s]""", re.DOTALL
)


def check_source(text: str, file: str) -> int:
    """The number of tokens of a file; raises CompileError if it is larger or nests deeper than any real program."""
    if len(text) > MOST_BYTES:
        raise CompileError.at(
            Span(file, 1),
            f"this file has {len(text):,} characters, more than {MOST_BYTES:,}",
            "pass large tables as __global const arguments",
            code=Code.SOURCE_TOO_LARGE,
        )
    count = depth = 0
    for match in _TOKEN.finditer(text):
        count += 1
        first = text[match.start()]
        if first in "([{":
            depth += 1
            if depth > _DEEPEST:
                raise CompileError.at(
                    _place(text, file, match.start()),
                    f"brackets nest more than {_DEEPEST} deep here",
                    "split the expression or statement up",
                    code=Code.NESTED_TOO_DEEP,
                )
        elif first in ")]}":
            depth = max(0, depth - 1)
        elif match.end() - match.start() > _LONGEST and first != "/":
            raise CompileError.at(
                _place(text, file, match.start()),
                f"a word of {match.end() - match.start():,} characters",
                f"at most {_LONGEST:,}",
                code=Code.SOURCE_TOO_LARGE,
            )
        if count > _MOST_TOKENS:
            raise CompileError.at(
                _place(text, file, match.start()),
                f"a program of more than {_MOST_TOKENS:,} words and signs",
                "pass large tables as __global const arguments",
                code=Code.SOURCE_TOO_LARGE,
            )
    return count


def _place(text: str, file: str, offset: int) -> Span:
    return Span(file, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
