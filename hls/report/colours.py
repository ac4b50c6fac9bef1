"""Colours of a source: which pieces of each line are keywords, comments and so on, as Pygments finds them."""

from typing import Any

from pygments.lexers.c_cpp import CLexer
from pygments.token import Comment, Keyword, Literal, Name

__all__ = ["CLASSES", "colours"]

#: CSS class of each kind of token; the first kind that contains the token's decides
CLASSES = (
    (Comment.Preproc, "p"),
    (Comment.PreprocFile, "s"),
    (Comment, "c"),
    (Keyword.Type, "t"),
    (Keyword, "k"),
    (Literal.Number, "n"),
    (Literal, "s"),
    (Name.Function, "f"),
    (Name.Label, "f"),
)
#: words of OpenCL C that are none of C
QUALIFIERS = {"kernel", "global", "local", "constant", "private", "channel", "read_only", "write_only", "pipe"}
QUALIFIERS |= {f"__{word}" for word in QUALIFIERS} | {"__attribute__", "restrict", "__restrict"}
TYPES = {"bool", "half", "uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t"}
VECTORS = {
    f"{base}{lanes}"
    for base in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
    for lanes in (2, 3, 4, 8, 16)
}


def colours(text: str) -> list[list[int | str]]:
    """For each line a flat list of (first column, length, class) of its coloured pieces, one after the other; columns
    begin at 0 and count code points."""
    lines: list[list[int | str]] = [[]]
    column = 0
    lexer = CLexer(stripnl=False, ensurenl=False)
    for kind, token in lexer.get_tokens(text + "\n"):  # a comment is recognized by the end of its line
        colour = _class(kind, token)
        for number, piece in enumerate(token.split("\n")):
            if number:
                lines.append([])
                column = 0
            if colour and piece.strip():
                lines[-1] += [column, len(piece), colour]
            column += len(piece)
    return lines[:-1]


def _class(kind: Any, token: str) -> str:
    """The CSS class of a token, "" for none."""
    if token in QUALIFIERS:
        return "k"
    if token in TYPES or token in VECTORS:
        return "t"
    return next((name for parent, name in CLASSES if kind in parent), "")
