"""Sketches of rewrites that only the programmer can make, in the words of the kernel."""

import re
from collections.abc import Mapping, Sequence

from ..ir import Attr, Function, Parameter
from ..model.elements import element_of
from ..model.rewrites import VECTOR, Kind, Rewrite
from ..model.workload import Place
from ..narrow import present
from ..sentence import enumerated

__all__ = ["described", "sketch"]

INDENT = "    "
WIDE = 16  #: elements that a copy moves in an iteration
FLOATS = {"half", "float", "double"}


def described(rewrite: Rewrite) -> str:
    """What a rewrite is, for a line of text."""
    buffers = enumerated(rewrite.buffers)
    return {
        Kind.LOCAL: f"local memory: a copy of {buffers} on the chip",
        Kind.PRIVATE: f"private memory: a copy of {buffers} on the chip, written back at the end",
        Kind.ORDER: f"order of accesses: {buffers} by neighbours",
        Kind.VECTORS: f"vectors of {VECTOR}",
        Kind.PARTIALS: f"partial results: {rewrite.copies} arrays in turn instead of {buffers}",
    }[rewrite.kind]


def sketch(rewrite: Rewrite, function: Function, lines: Mapping[str, Sequence[str]]) -> str:
    """The text of a rewrite of a kernel, with what is left to the programmer in comments. ``lines`` are those of the
    files that the places of workloads name."""
    if rewrite.kind is Kind.VECTORS:
        return _vectors(function)
    if rewrite.kind is Kind.ORDER:
        return _order(rewrite, lines)
    if rewrite.kind is Kind.PARTIALS:
        return _partials(rewrite, lines)
    return _copy(rewrite, function, lines)


def _partials(rewrite: Rewrite, lines: Mapping[str, Sequence[str]]) -> str:
    """Arrays that take the updates of a loop in turn, and the loop behind it that joins them."""
    (array,), copies, count = rewrite.buffers, rewrite.copies, rewrite.elements
    part, turn, index, copy = (_unused(name, lines) for name in (f"{array}_part", "turn", "t", "p"))
    loop = _line(rewrite.inner, lines) if rewrite.inner else "the loop"
    used = f"line {rewrite.place.line}" if rewrite.place else "the update"
    all_of = [f"for (int {index} = 0; {index} < {count}; {index}++)", f"{INDENT}#pragma unroll"]
    each = f"{INDENT}for (int {copy} = 0; {copy} < {copies}; {copy}++)"
    order = ["// floats are added in another order"] if rewrite.element in FLOATS else []
    return "\n".join(
        [
            "// before the loop",
            f"{rewrite.element} {part}[{copies}][{count}];",
            *all_of,
            f"{each} {part}[{copy}][{index}] = 0;",
            f"uint {turn} = 0;",
            f"{loop}  // at the end of each iteration: {turn}++;",
            f"{INDENT}// {used}: {part}[{turn} & {copies - 1}][...] instead of {array}[...]",
            "// behind the loop",
            *order,
            *all_of,
            f"{each} {array}[{index}] {rewrite.operator} {part}[{copy}][{index}];",
        ]
    )


def _copy(rewrite: Rewrite, function: Function, lines: Mapping[str, Sequence[str]]) -> str:
    """A copy of a buffer on the chip, and what fills it, and writes it back."""
    (buffer,), count = rewrite.buffers, rewrite.elements
    near, index = _unused(f"{buffer}_near", lines), _unused("t", lines)
    stored, groups = rewrite.kind is Kind.PRIVATE, bool(function.attrs.get(Attr.NDRANGE))
    where = f"line {rewrite.place.line}" if rewrite.place else "the accesses"
    first, step = ("get_local_id(0)", f"{index} += get_local_size(0)") if groups else ("0", f"{index}++")
    wide = [f"#pragma unroll {WIDE}"] if count >= WIDE and not groups else []
    moving = [*wide, f"for (int {index} = {first}; {index} < {count}; {step})"]
    memory, element = "" if stored else "__local ", next(one for one in function.params if one.name == buffer)
    text = [
        "// at the begin of the kernel; launches with another size need another number",
        f"{memory}{present(element_of(element)).written} {near}[{count}];",
        *moving,
        f"{INDENT}{near}[{index}] = {buffer}[{index}];",
        *(["barrier(CLK_LOCAL_MEM_FENCE);"] if groups else []),
        f"// from {where} on: {near}[...] instead of {buffer}[...]",
    ]
    if stored:
        text += ["// at the end of the kernel", *moving, f"{INDENT}{buffer}[{index}] = {near}[{index}];"]
    return "\n".join(text)


def _unused(name: str, lines: Mapping[str, Sequence[str]]) -> str:
    """The name, with as many underscores behind it as make it one that no text has."""
    known = {word for text in lines.values() for line in text for word in re.findall(r"\w+", line)}
    while name in known:
        name += "_"
    return name


def _order(rewrite: Rewrite, lines: Mapping[str, Sequence[str]]) -> str:
    """The loops exchanged, as they are written."""
    text = []
    for number, place in enumerate((rewrite.inner, rewrite.outer)):
        if place is not None:
            what = "inside" if number else "outside"
            text.append(f"{INDENT * number}{_line(place, lines)}  // line {place.line}, now {what}")
    use = f"// line {rewrite.place.line}: {', '.join(rewrite.buffers)} with the same index" if rewrite.place else ""
    text.append(INDENT * 2 + use)
    text.append(
        "// a value that the loop carries becomes an array with an element for each iteration of the one inside"
    )
    return "\n".join(text)


def _vectors(function: Function) -> str:
    """The head with vectors, and what becomes of the launch."""
    given = [f"{_vector(one) if one.kind == 'buffer' else one.c_type} {one.name}" for one in function.params]
    text = [
        f"__kernel void {function.name}({', '.join(given)})",
        f"// the body as it is: operators work on all {VECTOR} components; `if` becomes `select`, and an id that is no",
        f"// index becomes the vector of its {VECTOR} ids",
        f"// the host divides the work-items of the first dimension by {VECTOR}, and limits of the kernel's ids, too",
    ]
    return "\n".join(text)


def _vector(parameter: Parameter) -> str:
    """The type of a pointer to vectors of what a parameter points to."""
    element = present(element_of(parameter))
    return parameter.c_type.replace(element.written, f"{element.scalar}{VECTOR}", 1).replace("* ", "*")


def _line(place: Place, lines: Mapping[str, Sequence[str]]) -> str:
    """The head of a loop."""
    found = lines.get(place.file, ())
    text = found[place.line - 1][max(place.column - 1, 0) :].strip() if 0 < place.line <= len(found) else ""
    depth = 0
    for number, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and not depth:
            return text[: number + 1]
    return f"// the loop of line {place.line}, column {place.column}"
