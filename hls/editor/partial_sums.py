"""The rewriting of a sum in a loop that the advice of reports describes: partial sums shift through a private array,
one step an iteration, so that each addition has as many iterations as it takes."""

import re
from collections.abc import Sequence

from .edits import Edit, line_start, statement_end, words

__all__ = ["partial_sums"]

_JUMPS = re.compile(r"\b(?:return|goto)\b")
#: a variable of a floating-point type, and others declared before it
_DECLARED = r"\b(?P<type>(?:float|double|half)\d*)\s+(?:[^;{{}}()]*[,\s])?{name}\s*(?:[=,;])"


def partial_sums(code: str, loop: int, names: Sequence[str], count: int, unit: str) -> tuple[Edit, ...] | None:
    """The edits that give each variable of ``names``, to which the loop at the place ``loop`` adds, ``count`` partial
    sums; None where the text does not have the form that they need: one ``s += x;``, ``s -= x;`` or ``s = s + x;``
    for each, and no other use of it in the loop. ``code`` is the text without comments, literals and directives;
    ``unit`` is one step of its indentation."""
    end = statement_end(code, loop)
    before = re.search(r"[^\s](?=\s*$)", code[:loop])
    if end is None or before is None or before.group() not in "{};" or _JUMPS.search(code, loop, end):
        return None
    found = [_one(code, loop, end, name, count, unit) for name in names]
    whole = [one for one in found if one is not None]
    return tuple(edit for one in whole for edit in one) if names and len(whole) == len(names) else None


def _one(code: str, loop: int, end: int, name: str, count: int, unit: str) -> list[Edit] | None:
    update = _update(code, loop, end, name)
    begin = max(code.rfind("\n}", 0, loop), 0)  # of the function, or before it
    declared = [*re.finditer(_DECLARED.format(name=re.escape(name)), code[begin:loop])]
    sums, step, following = (_unused(code, f"{name}_{word}") for word in ("parts", "part", "next"))
    if update is None or not declared:
        return None
    start, after, operator, added = update
    head = _before_directives(code, loop)
    margin = re.match(r"[ \t]*", code[line_start(code, loop) :])
    indent = margin.group() if margin else ""
    inner = _indent_at(code, start, unit)
    shifted = [
        "{",
        f"{unit}{declared[-1]['type']} {following} = {sums}[0] {operator} ({added});",
        f"{unit}#pragma unroll",
        f"{unit}for (int {step} = 0; {step} < {count - 1}; {step}++)",
        f"{unit}{unit}{sums}[{step}] = {sums}[{step} + 1];",
        f"{unit}{sums}[{count - 1}] = {following};",
        "}",
    ]
    first = [
        f"{declared[-1]['type']} {sums}[{count}];",
        "#pragma unroll",
        f"for (int {step} = 0; {step} < {count}; {step}++)",
        f"{unit}{sums}[{step}] = 0;",
    ]
    last = ["#pragma unroll", f"for (int {step} = 0; {step} < {count}; {step}++)", f"{unit}{name} += {sums}[{step}];"]
    return [
        Edit(head, head, "".join(f"{indent}{line}\n" for line in first)),
        Edit(start, after, f"\n{inner}".join(shifted)),
        Edit(end, end, "".join(f"\n{indent}{line}" for line in last)),
    ]


def _update(code: str, loop: int, end: int, name: str) -> tuple[int, int, str, str] | None:
    """The only update of the variable: where its statement begins and ends, its operator, and what is added."""
    places = [*words(code, name, loop, end)]
    if not places:
        return None
    found = re.compile(r"\w+\s*(?:(?P<operator>[+-])=|=\s*(?P<same>\w+)\s*\+(?![+=]))").match(code, places[0])
    if found is None or len(places) != (2 if found["same"] else 1) or found["same"] not in (None, name):
        return None
    after = statement_end(code, places[0])
    if after is None or after > end or not re.search(r"[;{}):]\s*$|\belse\s*$", code[loop : places[0]]):
        return None
    return places[0], after, found["operator"] or "+", " ".join(code[found.end() : after - 1].split())


def _before_directives(code: str, loop: int) -> int:
    """The beginning of the line of the loop, or of the first line above it that is blank in ``code``: a pragma of the
    loop, or a comment on it."""
    start = line_start(code, loop)
    while start > 0 and not code[(above := line_start(code, start - 1)) : start].strip():
        start = above
    return start


def _indent_at(code: str, at: int, unit: str) -> str:
    line = code[line_start(code, at) : at]
    indent = line[: len(line) - len(line.lstrip())]
    return indent if line.strip() == "" else indent + unit


def _unused(code: str, name: str) -> str:
    """The name, with underscores behind it until the text has no such word."""
    while any(True for _ in words(code, name)):
        name += "_"
    return name
