"""Operations that are more than an expression: memory, control, calls. One function each; EFFECTS lists them by opcode.

A writer takes the function's writer ``w`` and the operation, and appends lines.
"""

from ..ir import FloatType, Op, PointerType
from .types import c_type, has_data, masked, memory_type, zero

__all__ = ["EFFECTS"]

_IDS = ("global_id", "local_id", "group_id")


def _is_true(value) -> bool:
    return value.op is not None and value.op.opcode == "const" and value.op.attrs["value"] == 1


def _work_item(w, op: Op):
    fn = op.attrs["fn"]
    if fn == "work_dim":
        text = "item.launch->work_dim"
    else:
        text = f"item.{'' if fn in _IDS else 'launch->'}{fn}[{op.attrs.get('dim', 0)}]"
    w.declare(op.result, masked(text, op.result.type))


def _addr(w, op: Op):
    if op.attrs["mem"] not in w.storage.variables:
        w.declare(op.result, f"moved({w.memories[op.attrs['mem']]}, {w.name(op.operands[0])})")


def _load(w, op: Op):
    pointer, pred = op.operands[:2]
    type, name = op.result.type, w.name(op.result)
    always = _is_true(pred)
    variable = w.storage.variable(pointer)
    if variable is None and not isinstance(type, PointerType) and w.storage.is_copied(op):
        w.flags[op.result] = (f"{name}_set", w.site(op))
        w.line(f"bool {name}_set = true;")
    text = w.memories[variable] if variable is not None else _read(w, op, w.name(pointer))
    if always:
        w.declare(op.result, text)
        return
    w.declare(op.result, zero(type))
    w.line(f"if ({w.name(pred)}) {name} = {text};")


def _read(w, op: Op, pointer: str) -> str:
    """A checked read; of a value that is only copied, also whether it was ever set."""
    type = op.result.type
    if isinstance(type, PointerType):
        return f"read_pointer({pointer}, {w.site(op)})"
    flag, site = w.flags.get(op.result, ("", None))
    rest = f"{site}, {flag}" if flag else f"{w.site(op)}"
    text = f"read<{memory_type(type)}>({pointer}, {rest})"
    if isinstance(type, FloatType):
        return f"half_value({text})" if type.bits == 16 else f"bits_as<{c_type(type)}>({text})"
    return masked(text, type)


def _store(w, op: Op):
    pointer, value, pred = op.operands[:3]
    variable = w.storage.variable(pointer)
    condition = "" if _is_true(pred) else f"if ({w.name(pred)}) "
    if variable is not None:
        text = f"{w.memories[variable]} = {w.name(value)};"
    elif isinstance(value.type, PointerType):
        text = f"write_pointer({w.name(pointer)}, {w.name(value)}, {w.site(op)});"
    else:
        more = "".join(f", {x}" for x in w.flags.get(value, ()))
        text = f"write<{memory_type(value.type)}>({w.name(pointer)}, {_bits(w, value)}, {w.site(op)}{more});"
    w.line(condition + text)


def _bits(w, value) -> str:
    """A value as the unsigned number that memory holds."""
    if isinstance(value.type, FloatType):
        return f"{ {16: 'half', 32: 'float', 64: 'double'}[value.type.bits] }_bits({w.name(value)})"
    return w.name(value)


def _nothing(w, op: Op):
    """Order needs no text: accesses take place in program order."""


def _call(w, op: Op):
    call = f"helper_{op.attrs['callee']}({', '.join(['item', *(w.name(v) for v in op.operands)])})"
    if len(op.results) == 1:
        w.declare(op.result, call)
    elif op.results:
        returned = w.name(op.results[0]) + "_all"
        w.line(f"auto {returned} = {call};")
        for k, value in enumerate(op.results):
            w.declare(value, f"{returned}.r{k}")
    else:
        w.line(f"{call};")


def _declare_results(w, op: Op, initial=None):
    for k, value in enumerate(op.results):
        if has_data(value.type):
            w.declare(value, w.name(initial[k]) if initial else zero(value.type))


def _if(w, op: Op):
    _declare_results(w, op)
    targets = [w.name(v) for v in op.results]
    for head, region in zip((f"if ({w.name(op.operands[0])}) {{", "} else {"), op.regions):
        w.line(head)
        w.region(region, lambda end: w.assign(targets, end.operands))
    w.line("}")


def _loop(w, op: Op):
    """The results double as the carried values: they hold the initial ones when the loop is off."""
    enable, *initial = op.operands
    (body,) = op.regions
    _declare_results(w, op, initial)
    site, left = w.site(op), f"left{len(w.lines)}"
    w.line(f"if ({w.name(enable)}) for (u64 {left} = control->max_iterations;;) {{")
    w.line(f"  iterate({left}, {site});")
    w.depth += 1
    for value, result in zip(body.args, op.results):
        if has_data(value.type):
            w.declare(value, w.name(result))
    w.depth -= 1

    def again(end: Op):
        w.assign([w.name(v) for v in op.results], end.operands[1:])
        w.line(f"if (!{w.name(end.operands[0])}) break;")

    w.region(body, again)
    w.line("}")


EFFECTS = {
    "work_item": _work_item, "addr": _addr, "load": _load, "store": _store, "token": _nothing, "fence": _nothing,
    "call": _call, "if": _if, "loop": _loop,
}
