"""Calls of RTL functions: one operation each, which a Verilog module of the user computes."""

from ...diag import Code, CompileError
from ...ir import Attr, Builder, Function, Op, PointerType, Value, has, walk
from ...ir.printer import print_function
from ...ir.rtl_ports import RtlPorts

__all__ = ["rtl_operation"]

#: what a model may do beside pure operations: keep variables of its own
_OWN = frozenset({"load", "store", "fresh", "if", "loop", "yield", "return"})
_KEYS = (Attr.RTL_MODULE, Attr.RTL_LATENCY, Attr.RTL_PORTS, Attr.RTL_WAITS)


def rtl_operation(call: Op, model: Function, b: Builder) -> Value:
    """The operation for the call of an RTL function, whose model has no calls left. Raises CompileError for a model
    that is no pure function of numbers, and for other arguments than the module has ports."""
    _check(call, model)
    attrs = {key: model.attrs[key] for key in _KEYS if key in model.attrs}
    return b.value(
        "rtl",
        *call.operands,
        result=call.result.type,
        attrs={**attrs, Attr.RTL_MODEL: tuple(print_function(model).splitlines())},
    )


def _check(call: Op, model: Function) -> None:
    def refuse(message: str, hint: str) -> None:
        raise CompileError.at(call.span, f"RTL function {model.name} {message}", hint, code=Code.RTL_LIBRARY)

    ports = len(RtlPorts.of(model.attrs[Attr.RTL_PORTS]).inputs)
    if any(isinstance(value.type, PointerType) for value in model.args):
        refuse("takes a pointer", "a module computes with numbers: load the value before the call")
    if len(call.results) != 1:
        refuse(f"has {len(call.results)} results", "a module returns one number")
    if len(model.args) != ports:
        refuse(
            f"takes {len(model.args)} numbers, but its module {model.attrs[Attr.RTL_MODULE]} has {ports} inputs",
            "name a port for each argument in the description: inputs",
        )
    for op in walk(model.body):
        outside = op.opcode in ("load", "store") and any(m.space == "global" for m in model.memories.values())
        if outside or not has(op, "pure") and op.opcode not in _OWN or op.opcode in ("work_item", "given"):
            refuse(
                f"has a model that is no function of its arguments: {op.opcode}",
                "a model has no buffers, channels, barriers, and work-item functions",
            )
