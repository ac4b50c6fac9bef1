"""Apply a design: set attributes of loops and kernels at the places that it names."""

from collections.abc import Mapping

from ...design import KINDS, Design, Setting
from ...diag import Code, CompileError, Diagnostic, Span
from ...ir import Attr, Function, Module, walk
from ...ir.clone import clone_function

__all__ = ["apply_design"]

_ATTRIBUTES = {
    "unroll": Attr.UNROLL,
    "num_simd_work_items": Attr.NUM_SIMD_WORK_ITEMS,
    "num_compute_units": Attr.NUM_COMPUTE_UNITS,
}


def apply_design(module: Module, design: Design, main: str) -> Module:
    """The program as the front end leaves it, with the values of the design; the given module is left as it is.

    ``main`` is the name of its main file. Raises CompileError for a setting that names no loop or kernel.
    """
    left: dict[tuple[Span, str], Setting] = {}
    for setting in design.settings:
        left[(Span(setting.file or main, setting.line, setting.column), KINDS[setting.kind])] = setting
    by_place: dict[tuple[Span, str], dict[str, int]] = {}
    for setting in design.settings:
        place = (Span(setting.file or main, setting.line, setting.column), KINDS[setting.kind])
        by_place.setdefault(place, {})[_ATTRIBUTES[setting.kind]] = setting.value
    functions = {name: _applied(function, by_place, left) for name, function in module.functions.items()}
    if left:
        raise CompileError(*(_no_such(span, kind, one) for (span, kind), one in left.items()))
    return Module(functions, module.sources, module.channels)


def _applied(
    function: Function, by_place: Mapping[tuple[Span, str], Mapping[str, int]], left: dict[tuple[Span, str], Setting]
) -> Function:
    """The function with the settings at it and its loops; these are taken out of ``left``."""
    result = clone_function(function)
    if found := by_place.get(place := (_start(function.span), "kernel")):
        result.attrs.update(found)
        left.pop(place, None)
    for op in walk(result.body):
        if op.opcode == "loop" and (found := by_place.get(place := (_start(op.span), "loop"))):
            op.attrs.update(found)
            left.pop(place, None)
    return result


def _start(span: Span | None) -> Span:
    """The place where a span begins, without its length."""
    return Span(span.file, span.line, span.column) if span else Span("", 0)


def _no_such(span: Span, kind: str, setting: Setting) -> Diagnostic:
    return Diagnostic(
        f"the design sets {setting.kind} of a {kind} that is not here",
        span,
        "tune again: the program was compiled with other defines than the design was made with",
        code=Code.DESIGN,
    )
