"""Constructs of C++, CUDA and other languages that have no word of their own: they are told by the tokens around the
one that the parser stopped at."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..diag import Code, CompileError, Diagnostic, Span
from .foreign_words import PLAIN_WORDS, foreign_hint

__all__ = ["BEGIN_TYPE", "NESTED", "TYPES", "foreign_error", "statement_hint"]

#: tokens that name types: those of OpenCL C are tokens as `int` is
TYPES = frozenset({"TYPEID", "VOID", "_BOOL", "CHAR", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "SIGNED", "UNSIGNED"})
_QUALIFIERS = frozenset({"CONST", "VOLATILE", "RESTRICT", "INLINE", "STATIC", "EXTERN", "REGISTER", "AUTO"})
_KEYED = frozenset({"STRUCT", "UNION", "ENUM"})
#: tokens that a declaration begins with
BEGIN_TYPE = TYPES | _QUALIFIERS | _KEYED
#: what a lambda may stand behind
_BEFORE_LAMBDA = frozenset({"EQUALS", "LPAREN", "COMMA", "RETURN"})
NESTED = "a function cannot be defined inside another: move it out, or write the '}' that the one above lacks"
_C = "is C++, and kernels are C"


def foreign_error(
    read: Sequence[Any], following: Any, is_known: Callable[[str], bool], stopped: Diagnostic | None, top: bool
) -> CompileError | None:
    """The error at a construct that does not parse because it is of another language; None if it is of none that is
    known here. ``read`` are its tokens up to the one that the parser stopped at, ``following`` is the one behind that
    (None at the end), ``is_known`` tells whether the program declares a name. ``stopped`` is the parser's own error;
    ``top`` says that the construct is at file scope."""
    word = _word(read, is_known)
    if word is not None:
        name = word.value.spelled
        told = Diagnostic(f"'{name}' is no word of OpenCL C", word.value.span, foreign_hint(name), code=Code.SYNTAX)
        return CompileError(told)
    for shape in _SHAPES if top else (*_SHAPES, _nested_function):
        if found := shape(read, following):
            place, hint = found
            message = stopped.message if stopped is not None and stopped.span == place else _unexpected(read, place)
            return CompileError(Diagnostic(message, place, hint, code=Code.SYNTAX))
    return None


def statement_hint(kind: str | None) -> str:
    """What to do about a token of this kind where a statement should begin; empty where nothing is known of it."""
    if kind == "ELSE":
        return "no 'if' is open here: put the statements between 'if' and 'else' into braces"
    if kind in TYPES:
        return "put a declaration here into braces"
    if kind in ("RPAREN", "RBRACKET"):
        return "it closes nothing: remove it, or write what it closes"
    return ""


def _unexpected(read: Sequence[Any], place: Span) -> str:
    shown = next(token.value.spelled for token in read if token.value.span == place)
    return f"unexpected '{shown}'"


def _word(read: Sequence[Any], is_known: Callable[[str], bool]) -> Any:
    """The first word of another language up to the construct's first brace or semicolon, or beside the stop."""
    inside = next((k for k, t in enumerate(read) if t.type in ("LBRACE", "SEMI")), len(read))
    for k, token in enumerate(read):
        beside = k == 0 or k >= len(read) - 3
        if token.type != "ID" or not (beside or k < inside) or _kind(read, k - 1) in ("PERIOD", "ARROW"):
            continue
        name = token.value.spelled
        if foreign_hint(name) and (beside or name not in PLAIN_WORDS) and not is_known(str(token.value)):
            return token
    return None


def _kind(read: Sequence[Any], index: int) -> str:
    return str(read[index].type) if -len(read) <= index < len(read) and index >= 0 else ""


def _back(read: Sequence[Any], steps: int) -> str:
    """The kind of the token so many ``steps`` before the stop; empty where there is none."""
    return _kind(read, len(read) - 1 - steps)


Found = tuple[Span, str] | None


def _extern_c(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 1) != "EXTERN" or _back(read, 0) != "STRING_LITERAL":
        return None
    return read[-1].value.span, 'leave extern "C" out, and its braces: kernels are C'


def _namespace(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "COLONCOLON":
        return None
    return read[-1].value.span, f"a name with '::' {_C}: leave '::' and what precedes it out"


def _reference(read: Sequence[Any], following: Any) -> Found:
    before = _back(read, 1)
    typed = before in TYPES or before == "TIMES" or before == "ID" and _back(read, 2) in _KEYED
    if _back(read, 0) not in ("AND", "LAND") or not typed or following is None or following.type != "ID":
        return None
    name = following.value.spelled
    return read[-1].value.span, f"a reference {_C}: declare a pointer *{name}, give it &x, and use *{name}"


def _braced_value(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "LBRACE" or _back(read, 1) != "ID" or not _declares(read):
        return None
    name = read[-2].value.spelled
    return read[-1].value.span, f"{name}{{...}} {_C}: write {name} = and the value"


def _nested_function(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "LBRACE" or _back(read, 1) != "RPAREN" or not _declares(read):
        return None
    return read[-1].value.span, NESTED


def _lambda(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "LBRACKET" or _back(read, 1) not in _BEFORE_LAMBDA:
        return None
    return read[-1].value.span, f"a lambda {_C}: write a function at file scope"


def _launch(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "LT" or _back(read, 1) != "LSHIFT":
        return None
    return read[
        -1
    ].value.span, "<<< >>> is CUDA: the host launches kernels; here call it as a function, without <<< >>>"


def _default_argument(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "EQUALS" or _back(read, 1) != "ID" or not _declares(read) or _depth(read) == 0:
        return None
    return read[-1].value.span, f"a parameter with a value of its own {_C}: give the value in every call"


def _range(read: Sequence[Any], following: Any) -> Found:
    head = _for_head(read)
    if _back(read, 0) != "COLON" or head is None or "SEMI" in head:
        return None
    return read[-1].value.span, f"a loop over a range {_C}: write for (int i = 0; i < N; i++)"


def _commas_in_for(read: Sequence[Any], following: Any) -> Found:
    head = _for_head(read)
    if head is None or head.count("SEMI") == 2 or "COMMA" not in head or _back(read, 0) not in ("LT", "GT", "LE", "GE"):
        return None
    return read[-1].value.span, "the three parts of a for are separated by ';': for (int i = 0; i < n; i++)"


def _template_call(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) not in TYPES or _back(read, 1) != "LT" or _back(read, 2) != "ID":
        return None
    name = read[-3].value.spelled
    return read[-3].value.span, f"{name}<...> is a template of C++, and kernels are C: write a function for each type"


def _double_brackets(read: Sequence[Any], following: Any) -> Found:
    at = next((t for t in read[-2:] if t.type == "ATTRIBUTE_BEGIN"), None)
    if at is None:
        return None
    return at.value.span, "write a pragma before a loop (#pragma ii 1, #pragma unroll 4), or __attribute__((...))"


def _compared_value(read: Sequence[Any], following: Any) -> Found:
    if _back(read, 0) != "EQ" or _back(read, 1) != "ID" or not _declares(read):
        return None
    return read[-1].value.span, "the initial value of a variable stands behind '='"


def _auto(read: Sequence[Any], following: Any) -> Found:
    names = (t for t, behind in itertools.pairwise(read) if t.type == "AUTO" and behind.type == "ID")
    at = next(names, None)
    if at is None:
        return None
    return at.value.span, "'auto' stands for no type in OpenCL C: write the type, or typeof(value)"


#: the first one that fits tells
_SHAPES = (
    _extern_c,
    _namespace,
    _reference,
    _lambda,
    _range,
    _auto,
    _braced_value,
    _launch,
    _default_argument,
    _commas_in_for,
    _template_call,
    _double_brackets,
    _compared_value,
)


def _declares(read: Sequence[Any]) -> bool:
    """Whether the tokens in front of the stop, back to the begin of their statement, begin with a type."""
    begin = len(read) - 1
    while begin and _kind(read, begin - 1) not in ("SEMI", "LBRACE", "RBRACE"):
        begin -= 1
    if head := _for_head(read):
        begin = len(read) - len(head)
    while _kind(read, begin) in _QUALIFIERS:
        begin += 1
    return _kind(read, begin) in TYPES | _KEYED


def _depth(read: Sequence[Any]) -> int:
    """How many parentheses are open at the stop."""
    kinds = [token.type for token in read[:-1]]
    return kinds.count("LPAREN") - kinds.count("RPAREN")


def _for_head(read: Sequence[Any]) -> list[str] | None:
    """The kinds of the tokens behind the ``for (`` that is open at the stop; None if there is none."""
    begin = max((k for k in range(len(read)) if read[k].type == "FOR"), default=None)
    if begin is None or _kind(read, begin + 1) != "LPAREN" or _depth(read[begin:]) <= 0:
        return None
    return [token.type for token in read[begin + 2 :]]
