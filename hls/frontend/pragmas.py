"""Pragmas and attributes of loops: their names, their arguments, and which contradict each other."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..diag import Code, CompileError, Span
from ..ir import Attr
from ..limits import LARGEST_INTERVAL, MOST_AHEAD
from ..narrow import present

__all__ = [
    "IGNORED_PRAGMAS",
    "LARGEST",
    "LOOP_PRAGMAS",
    "LoopPragma",
    "PragmaForm",
    "contradiction",
    "read_loop_pragma",
    "without_vendor",
]

#: the largest number a pragma may have
LARGEST = (1 << 31) - 1


@dataclass(frozen=True)
class PragmaForm:
    """``attr`` is the loop's attribute in the IR; ``bare`` its value without an argument, None if one is required.
    ``highest`` is the largest argument that a device has room for."""

    attr: str
    bare: int | bool | None
    takes_argument: bool = True
    lowest: int = 0
    highest: int = LARGEST


LOOP_PRAGMAS: dict[str, PragmaForm] = {
    "unroll": PragmaForm(Attr.UNROLL, -1, lowest=1),
    "ii": PragmaForm(Attr.II, None, lowest=1, highest=LARGEST_INTERVAL),
    "loop_coalesce": PragmaForm(Attr.LOOP_COALESCE, -1, lowest=1),
    "max_concurrency": PragmaForm(Attr.MAX_CONCURRENCY, None),
    "max_interleaving": PragmaForm(Attr.MAX_INTERLEAVING, None),
    "speculated_iterations": PragmaForm(Attr.SPECULATED_ITERATIONS, None, highest=MOST_AHEAD),
    "disable_loop_pipelining": PragmaForm(Attr.DISABLE_LOOP_PIPELINING, True, takes_argument=False),
    "nofusion": PragmaForm(Attr.NOFUSION, True, takes_argument=False),
    "nounroll": PragmaForm(Attr.UNROLL, 1, takes_argument=False),
    "xcl_pipeline_loop": PragmaForm(Attr.PIPELINED, True, takes_argument=False),
    "feed_forward": PragmaForm(Attr.FEED_FORWARD, True, takes_argument=False),
}

#: first words of pragmas without effect here
IGNORED_PRAGMAS = frozenset({"OPENCL", "STDC", "once"})

#: an attribute before a loop, as the parser passes it on: like a pragma
_ATTRIBUTE = re.compile(r"__attribute__ (\w+) ?(.*)")
#: attributes before a loop, by the equivalent pragma
_LOOP_ATTRIBUTES = {"opencl_unroll_hint": "unroll", "xcl_pipeline_loop": "ii", "xcl_loop_tripcount": ""}


@dataclass(frozen=True)
class Opposites:
    """Two attributes of a loop that contradict each other, if ``when`` holds for their values."""

    first: str
    second: str
    when: Callable[[int, int], bool] = lambda first, second: True


_OPPOSITES = (
    *(
        Opposites(Attr.DISABLE_LOOP_PIPELINING, other)
        for other in (Attr.II, Attr.MAX_INTERLEAVING, Attr.SPECULATED_ITERATIONS)
    ),
    Opposites(Attr.DISABLE_LOOP_PIPELINING, Attr.MAX_CONCURRENCY, lambda first, second: second != 1),
    # a loop that is fully unrolled cannot be paced, merged with others, or split
    *(
        Opposites(Attr.UNROLL, other, lambda first, second: first == -1)
        for other in (
            Attr.II,
            Attr.MAX_INTERLEAVING,
            Attr.SPECULATED_ITERATIONS,
            Attr.MAX_CONCURRENCY,
            Attr.DISABLE_LOOP_PIPELINING,
            Attr.LOOP_COALESCE,
            Attr.FEED_FORWARD,
        )
    ),
)


@dataclass(frozen=True)
class LoopPragma:
    """A loop pragma: ``argument`` is the text of its number; for ivdep, ``array`` and ``safelen``; for loop_fuse, whose
    number is a depth, ``independent``."""

    name: str
    span: Span
    argument: str = ""
    array: str = ""
    safelen: str = ""
    independent: bool = False
    attribute: str = ""  #: its name, where an attribute stands for the pragma

    @property
    def written(self) -> str:
        """As messages name it: without its number."""
        return f"attribute {self.attribute}" if self.attribute else f"#pragma {self.name}"


def read_loop_pragma(text: str, span: Span) -> LoopPragma | None:
    """The pragma, or None if it is not a loop pragma. Raises CompileError if its form is wrong."""
    attribute = _attribute(text)
    text = without_vendor(text.strip())
    name, _, rest = re.sub(r"^(\w+)", r"\1 ", text).partition(" ")
    rest = rest.strip()
    if name in _CLAUSES:
        return _CLAUSES[name](rest, span)
    if name not in LOOP_PRAGMAS:
        return None
    rest = _bare(rest)
    form, pragma = LOOP_PRAGMAS[name], LoopPragma(name, span, rest, attribute=attribute)
    if rest and not form.takes_argument:
        raise CompileError.at(
            span, f"{pragma.written} takes no argument", f"write #pragma {name}", code=Code.PRAGMA_ARGUMENT
        )
    if not rest and form.bare is None:
        raise CompileError.at(
            span, f"{pragma.written} needs a number", f"write #pragma {name} N", code=Code.PRAGMA_ARGUMENT
        )
    return pragma


def _attribute(text: str) -> str:
    """The name of the attribute that a pragma's text stands for; empty for a pragma."""
    found = _ATTRIBUTE.match(text.strip())
    return found[1] if found else ""


def _bare(text: str) -> str:
    """The text without enclosing parentheses."""
    inside, rest = _parenthesized(text)
    return text if inside is None or rest else inside


def _parenthesized(text: str) -> tuple[str | None, str]:
    """The text inside the parentheses at the beginning of ``text``, and the text after them; None if it begins with
    none, or they are not closed."""
    depth = 0
    for k, character in enumerate(text if text.startswith("(") else ""):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[1:k].strip(), text[k + 1 :].strip()
    return None, text


def without_vendor(text: str) -> str:
    """A pragma's text; for an attribute before a loop, that of the equivalent pragma."""
    attribute = _ATTRIBUTE.match(text)
    if not attribute:
        return text
    name, argument = attribute.groups()
    if name == "xcl_pipeline_loop" and argument.strip() in ("", "0", "1", "-1"):
        return name  # every loop is pipelined anyway; but inner loops must be unrolled
    return f"{_LOOP_ATTRIBUTES.get(name, name) or 'STDC'} {argument}"


def _ivdep(rest: str, span: Span) -> LoopPragma:
    found = _clauses("ivdep", rest, span, ("array", "safelen"), (), "write ivdep array(NAME) safelen(N)")
    return LoopPragma("ivdep", span, "", _bare(found.get("array", "")), found.get("safelen", ""))


def _loop_fuse(rest: str, span: Span) -> LoopPragma:
    found = _clauses("loop_fuse", rest, span, ("depth",), ("independent",), "write loop_fuse depth(N) independent")
    return LoopPragma("loop_fuse", span, found.get("depth", ""), independent="independent" in found)


def _clauses(
    pragma: str, rest: str, span: Span, valued: tuple[str, ...], bare: tuple[str, ...], form: str
) -> dict[str, str]:
    """The clauses of a pragma in any order: ``valued`` clauses are followed by parentheses, whose text is returned;
    ``bare`` ones are not."""
    found: dict[str, str] = {}
    while rest:
        name = present(re.match(r"\w*", rest))[0]
        inside, after = _parenthesized(rest[len(name) :].strip()) if name in valued else ("", rest[len(name) :].strip())
        if name not in (*valued, *bare) or name in valued and not inside:
            raise CompileError.at(span, f"#pragma {pragma} does not take '{rest}'", form, code=Code.PRAGMA_ARGUMENT)
        if name in found:
            raise CompileError.at(
                span, f"#pragma {pragma} has {name} twice", "write a pragma for each", code=Code.PRAGMA_ARGUMENT
            )
        found[name], rest = inside or "", after
    return found


#: pragmas with named arguments
_CLAUSES = {"ivdep": _ivdep, "loop_fuse": _loop_fuse}


def contradiction(attrs: dict[str, Any]) -> tuple[str, str] | None:
    """Two attributes of one loop that exclude each other."""
    return next(
        (
            (pair.first, pair.second)
            for pair in _OPPOSITES
            if pair.first in attrs and pair.second in attrs and pair.when(attrs[pair.first], attrs[pair.second])
        ),
        None,
    )
