"""Operations with internal registers, as instances of the arithmetic parts."""

from collections.abc import Sequence
from typing import Any

from amaranth import *

from ..ir import Op
from ..planning.schedule.parts import PartChoice

__all__ = ["pipelined_unit"]


def pipelined_unit(
    m: Module, choice: PartChoice, op: Op, operands: Sequence[Value], latency: int, go: Value, name: str
) -> Any:
    """Instantiate the operation's part in ``m`` and return its result, ``latency`` enabled cycles after the
    operands."""
    part = m.submodules[f"{name}_{op.opcode}"] = choice.part(choice.params, latency)
    ports = list(choice.part.inputs(choice.params))
    m.d.comb += [part.en.eq(go), *(getattr(part, port).eq(value) for port, value in zip(ports, operands, strict=True))]
    return getattr(part, choice.output)
