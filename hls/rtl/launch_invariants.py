"""Launch-invariant values: registers beside the pipeline, stable before the first token starts."""

from typing import TYPE_CHECKING

from amaranth import *

from ..narrow import present
from .expression import combinational
from .units import pipelined_unit

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["build_static"]


def build_static(context: "KernelContext") -> Module:
    """One register after every launch-invariant operation; all are valid ``KernelPlan.static_depth`` cycles after the
    arguments."""
    m = Module()
    for op in context.plan.static:
        if op.opcode == "const":
            continue
        operands = [present(context.values.fixed(v)) for v in op.operands]
        name = context.names.value(op.result)
        latency = context.latency(op)
        settled = Signal(context.values.width(op.result), name=name, reset_less=True)
        if op in context.plan.parts:
            result = pipelined_unit(m, context.plan.parts[op], op, operands, latency, C(1), name)
        elif op.opcode == "addr":
            result = context.values.base(op) + operands[0]
        elif op.opcode == "given":
            result = context.values.base(op).any()
        else:
            result = combinational(op, operands)
        m.d.sync += settled.eq(result)
        context.values.static[op.result] = settled
    return m
