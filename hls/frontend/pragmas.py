"""Pragmas and attributes of loops and functions: what they are called and which arguments they take."""

import re
from dataclasses import dataclass

from ..diag import CompileError, Span

__all__ = ["FUNCTION_ATTRIBUTES", "IGNORED_ATTRIBUTES", "IGNORED_PRAGMAS", "LATER_ATTRIBUTES", "LOOP_PRAGMAS", "LoopPragma",
           "PragmaForm", "read_loop_pragma"]


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

_LOOP_ATTRIBUTES = {"opencl_unroll_hint": "unroll"}

#: function attributes: number of integer arguments (the IR attribute has the same name unless renamed below)
FUNCTION_ATTRIBUTES: dict[str, tuple[str | None, int]] = {
    "reqd_work_group_size": ("work_group_size", 3),
    "max_work_group_size": ("max_work_group_size", 1),
    "work_group_size_hint": (None, 3),
    "vec_type_hint": (None, -1),
}


#: attributes that ask for nothing here, or for what is done anyway
IGNORED_ATTRIBUTES = frozenset({"always_inline", "noinline", "unused", "task", "max_global_work_dim",
                                "uses_global_work_offset", "register", "aligned"})

#: attributes that will mean something: said to be ignored for now
LATER_ATTRIBUTES = frozenset({
    "num_simd_work_items", "num_compute_units", "autorun", "scheduler_target_fmax_mhz", "num_share_resources",
    "local_mem_size", "buffer_location", "memory", "numbanks", "bankwidth", "bank_bits",
    "singlepump", "doublepump", "numreadports", "numwriteports", "merge", "max_replicates", "private_copies",
    "max_private_copies", "simple_dual_port", "static_array_offset", "force_pow2_depth", "depth", "io", "packed",
})


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
    if attribute:
        return f"{_LOOP_ATTRIBUTES.get(attribute.group(1), attribute.group(1))} {attribute.group(2)}"
    return text


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
