"""The text form of IR. It round-trips through ``hls.ir.parser``."""

from .nodes import Function, Module, Op, Region, Value
from .types import FloatType
from .values import float_to_bits

__all__ = ["print_function", "print_module"]


class _Names:
    """A unique printable name for every value: the kernel's name if it has one, with a number."""

    def __init__(self) -> None:
        self.of: dict[Value, str] = {}

    def __call__(self, value: Value) -> str:
        if value not in self.of:
            stem = f"{value.name}." if value.name else ""
            self.of[value] = f"%{stem}{len(self.of)}"
        return self.of[value]


def _attr(value, op: Op | None = None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_attr(v) for v in value) + "]"
    if isinstance(value, float):
        bits = op.result.type.bits if op and op.results and isinstance(op.result.type, FloatType) else 64
        return f"0f{float_to_bits(value, bits):0{bits // 4}x}"
    return str(value)


def _attrs(op: Op) -> str:
    items = [f"{key} = {_attr(value, op)}" for key, value in op.attrs.items()]
    return " {" + ", ".join(items) + "}" if items else ""


def _place(span) -> str:
    return f" @{_attr(span.file)}:{span.line}:{span.column}" if span else ""


def _op(op: Op, names: _Names, indent: str) -> list[str]:
    results = ", ".join(f"{names(v)}: {v.type}" for v in op.results)
    operands = ", ".join(names(v) for v in op.operands)
    head = f"{indent}{results + ' = ' if results else ''}{op.opcode}{' ' + operands if operands else ''}{_attrs(op)}"
    if not op.regions:
        return [head + _place(op.span)]
    lines = [head + _place(op.span) + " {"]
    for k, region in enumerate(op.regions):
        if k:
            lines.append(f"{indent}}} else {{")
        lines += _region(region, names, indent + "  ")
    return [*lines, f"{indent}}}"]


def _region(region: Region, names: _Names, indent: str) -> list[str]:
    lines = []
    if region.args:
        lines.append(indent + "(" + ", ".join(f"{names(v)}: {v.type}" for v in region.args) + "):")
    for op in region.ops:
        lines += _op(op, names, indent)
    return lines


def _memory(m) -> str:
    flags = [f for f in ("const", "restrict", "volatile") if getattr(m, f)]
    length = "?" if m.length is None else str(m.length)
    data = f" = 0x{m.data.hex()}" if m.data is not None else ""
    attrs = " {" + ", ".join(f"{k} = {_attr(v)}" for k, v in m.attrs) + "}" if m.attrs else ""
    return " ".join([f"  memory {m.name}: {m.space} {m.element} x {length}", *flags]) + data + attrs + _place(m.span)


def print_function(f: Function) -> str:
    """One function as text."""
    names = _Names()
    args = ", ".join(f"{names(v)}: {v.type}" for v in f.args)
    attrs = ", ".join(f"{k} = {_attr(v)}" for k, v in f.attrs.items())
    lines = [f"{f.kind} @{f.name}({args})" + (f" {{{attrs}}}" if attrs else "") + _place(f.span) + " {"]
    lines += [
        f"  param {p.name}: {p.kind} {_attr(p.c_type)}{f' = {_attr(p.resolved)}' if p.resolved else ''} {p.bytes}"
        + (f" initial {p.initial.size} 0x{p.initial.data.hex()}" if p.initial else "")
        + _place(p.span)
        for p in f.params
    ]
    lines += [_memory(m) for m in f.memories.values()]
    return "\n".join([*lines, *_region(f.body, names, "  "), "}"]) + "\n"


def print_module(m: Module) -> str:
    """All functions as text, without the source files."""
    channels = "".join(_memory(c)[2:] + "\n" for c in m.channels.values())
    return "\n".join([*([channels] if channels else []), *(print_function(f) for f in m.functions.values())])
