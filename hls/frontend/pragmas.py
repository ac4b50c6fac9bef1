"""Pragmas and attributes of loops: what they are called, which arguments they take, which contradict each other."""

import re
from dataclasses import dataclass

from ..diag import CompileError, Span

__all__ = ["IGNORED_PRAGMAS", "LOOP_PRAGMAS", "LoopPragma", "PragmaForm", "contradiction", "read_loop_pragma"]


@dataclass(frozen=True)
class PragmaForm:
    """``attr`` is the loop's attribute in the IR; ``bare`` its value without an argument, None if one is needed."""

    attr: str
    bare: int | bool | None
    takes_argument: bool = True
    lowest: int = 0


LOOP_PRAGMAS: dict[str, PragmaForm] = {
    "unroll": PragmaForm("unroll", -1, lowest=1),
    "ii": PragmaForm("ii", None, lowest=1),
    "loop_coalesce": PragmaForm("loop_coalesce", -1, lowest=1),
    "max_concurrency": PragmaForm("max_concurrency", None),
    "max_interleaving": PragmaForm("max_interleaving", None),
    "speculated_iterations": PragmaForm("speculated_iterations", None),
    "disable_loop_pipelining": PragmaForm("disable_loop_pipelining", True, takes_argument=False),
    "loop_fuse": PragmaForm("loop_fuse", True, takes_argument=False),
    "nofusion": PragmaForm("nofusion", True, takes_argument=False),
    "nounroll": PragmaForm("unroll", 1, takes_argument=False),
}

#: first words of pragmas that ask for nothing here
IGNORED_PRAGMAS = frozenset({"OPENCL", "STDC", "once", "GCC", "clang"})

#: attributes before a loop, by the pragma that says the same; a pipelined loop is what every loop is here
_LOOP_ATTRIBUTES = {"opencl_unroll_hint": "unroll", "xcl_pipeline_loop": "ii", "xcl_loop_tripcount": ""}

#: pairs of loop attributes of the IR that cannot both be meant
_OPPOSITES = (("disable_loop_pipelining", "ii"), ("disable_loop_pipelining", "max_interleaving"),
              ("disable_loop_pipelining", "speculated_iterations"), ("loop_fuse", "nofusion"))

@dataclass(frozen=True)
class LoopPragma:
    """A loop pragma as written: ``argument`` is the text of its number; for ivdep, ``array`` and ``safelen``."""

    name: str
    span: Span
    argument: str = ""
    array: str = ""
    safelen: str = ""


def read_loop_pragma(text: str, span: Span) -> LoopPragma | None:
    """The pragma, or None if it is none of a loop. Raises CompileError where its form is wrong."""
    text = _without_vendor(text.strip())
    name, _, rest = re.sub(r"^(\w+)", r"\1 ", text).partition(" ")
    rest = rest.strip()
    if name == "ivdep":
        return _ivdep(rest, span)
    if name not in LOOP_PRAGMAS:
        return None
    if re.fullmatch(r"\(.*\)", rest):
        rest = rest[1:-1].strip()
    form = LOOP_PRAGMAS[name]
    if rest and not form.takes_argument:
        raise CompileError.at(span, f"#pragma {name} takes no argument", f"write #pragma {name}")
    if not rest and form.bare is None:
        raise CompileError.at(span, f"#pragma {name} needs a number", f"write #pragma {name} N")
    return LoopPragma(name, span, rest)


def _without_vendor(text: str) -> str:
    attribute = re.match(r"__attribute__ (\w+) ?(.*)", text)
    if not attribute:
        return text
    name, argument = attribute.groups()
    if name == "xcl_pipeline_loop" and argument.strip() in ("", "0", "1", "-1"):
        return "STDC"  # nothing to ask for
    return f"{_LOOP_ATTRIBUTES.get(name, name) or 'STDC'} {argument}"


def _ivdep(rest: str, span: Span) -> LoopPragma:
    array = safelen = ""
    while rest:
        match = re.match(r"(array|safelen)\s*\(([^()]*(?:\([^()]*\))?[^()]*)\)\s*", rest)
        if not match:
            raise CompileError.at(span, f"#pragma ivdep does not take '{rest}'", "write ivdep array(NAME) safelen(N)")
        if match.group(1) == "array":
            array = match.group(2).strip()
        else:
            safelen = match.group(2).strip()
        rest = rest[match.end():]
    return LoopPragma("ivdep", span, "", array, safelen)


def contradiction(attrs: dict) -> tuple[str, str] | None:
    """Two attributes of one loop that exclude each other."""
    return next(((a, b) for a, b in _OPPOSITES if a in attrs and b in attrs), None)
