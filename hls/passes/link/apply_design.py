"""Apply a design: set attributes of loops, kernels, parameters and arrays at the places that it names."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...design import KINDS, Design, Setting
from ...diag import Code, CompileError, Diagnostic, Span
from ...ir import Attr, Function, MemoryObject, Module, Parameter, walk
from ...ir.attributes import AttributeValue
from ...ir.clone import clone_function

__all__ = ["apply_design"]

#: a place, and what stands there
_Place = tuple[Span, str]
_Attributes = Mapping[str, AttributeValue]


def _size(value: int | str) -> tuple[int, ...]:
    return tuple(int(part) for part in str(value).split(","))


#: of loops and kernels by the kind of the setting: its attribute, and the attribute's value by that of the setting and
#: what it was
_FORMS: dict[str, tuple[str, Callable[[int | str, AttributeValue | None], AttributeValue]]] = {
    "unroll": (Attr.UNROLL, lambda value, old: value),
    "ivdep": (Attr.IVDEP, lambda value, old: (*(old if isinstance(old, tuple) else ()), ("", 0))),
    "loop_coalesce": (Attr.LOOP_COALESCE, lambda value, old: value),
    "loads_ahead": (Attr.FEED_FORWARD, lambda value, old: True),
    "num_simd_work_items": (Attr.NUM_SIMD_WORK_ITEMS, lambda value, old: value),
    "num_compute_units": (Attr.NUM_COMPUTE_UNITS, lambda value, old: value),
    "reqd_work_group_size": (Attr.WORK_GROUP_SIZE, lambda value, old: _size(value)),
    "feed_forward": (Attr.FEED_FORWARD, lambda value, old: True if value == 1 else (0, int(value))),
}


def apply_design(module: Module, design: Design, main: str) -> Module:
    """The program as the front end leaves it, with the values of the design; the given module is left as it is.

    ``main`` is the name of its main file. Raises CompileError for a setting that names nothing of its kind.
    """
    by_place: dict[_Place, list[Setting]] = {}
    for setting in design.settings:
        place = (Span(setting.file or main, setting.line, setting.column), KINDS[setting.kind])
        by_place.setdefault(place, []).append(setting)
    left = {place: settings[-1] for place, settings in by_place.items()}
    functions = {name: _applied(function, by_place, left) for name, function in module.functions.items()}
    if left:
        raise CompileError(*(_no_such(span, kind, one) for (span, kind), one in left.items()))
    return Module(functions, module.sources, module.channels)


def _applied(function: Function, by_place: Mapping[_Place, list[Setting]], left: dict[_Place, Setting]) -> Function:
    """The function with the settings at it and in it; these are taken out of ``left``."""
    result = clone_function(function)

    def found(span: Span | None, kind: str) -> list[Setting]:
        place = (_start(span), kind)
        left.pop(place, None)
        return by_place.get(place, [])

    for setting in found(function.span, "kernel"):
        _set(result.attrs, setting)
    for op in walk(result.body):
        if op.opcode == "loop":
            for setting in found(op.span, "loop"):
                _set(op.attrs, setting)
    for name, memory in result.memories.items():
        if memory.length is None and found(memory.span, "parameter"):
            result.memories[name] = replace(memory, restrict=True)
            result.params = [_restricted(one) if one.name == name else one for one in result.params]
        for setting in found(memory.span, "array") if memory.length is not None else ():
            result.memories[name] = _banked(memory, int(setting.value))
    return result


def _set(attrs: dict[str, AttributeValue], setting: Setting) -> None:
    name, value = _FORMS[setting.kind]
    attrs[name] = value(setting.value, attrs.get(name))


def _restricted(parameter: Parameter) -> Parameter:
    """The parameter with the type that hosts are told of a ``restrict`` pointer."""
    return replace(parameter, c_type=f"{parameter.c_type} restrict")


def _banked(memory: MemoryObject, banks: int) -> MemoryObject:
    """The memory with so many banks, whatever number the program asks for."""
    kept = tuple((name, value) for name, value in memory.attrs if name != Attr.NUMBANKS)
    return replace(memory, attrs=(*kept, (Attr.NUMBANKS, banks)))


def _start(span: Span | None) -> Span:
    """The place where a span begins, without its length."""
    return Span(span.file, span.line, span.column) if span else Span("", 0)


def _no_such(span: Span, kind: str, setting: Setting) -> Diagnostic:
    return Diagnostic(
        f"the design sets {setting.kind} of {'an' if kind == 'array' else 'a'} {kind} that is not here",
        span,
        "tune again: the program was compiled with other defines than the design was made with",
        code=Code.DESIGN,
    )
