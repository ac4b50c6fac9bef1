"""Modules of the user that wait, as variable-latency units: a request brings operands, a response the result."""

from collections.abc import Callable
from typing import Any

from rtl_lib.arith.waiting import WaitingModule

from ..ir import Function, Op, fixed_operands, walk
from ..planning.schedule.parts import external_params

__all__ = ["ModuleCall", "build_modules", "modules_of"]


class ModuleCall:
    """An ``rtl_wait`` operation, which has a module of its own."""

    def __init__(self, op: Op) -> None:
        self.op, self.unit = op, WaitingModule(external_params(op))

    def request(self) -> tuple[Any, Callable[[Any], list[tuple[Any, Any]]]]:
        """The stream of operands, and a function of its payload: the port of each operand."""

        def fields(payload: Any) -> list[tuple[Any, Any]]:
            operands = self.op.operands[: fixed_operands(self.op)]
            return [(payload[f"a{k}"], value) for k, value in enumerate(operands)]

        return self.unit.i, fields

    def response(self) -> tuple[Any, Callable[[Any], list[tuple[Any, Any, None]]]]:
        """The stream of results, and a function of its payload."""
        return self.unit.o, lambda payload: [(self.op.results[0], payload, None)]


def modules_of(function: Function) -> dict[Op, ModuleCall]:
    """The modules of a kernel that wait."""
    return {op: ModuleCall(op) for op in walk(function.body) if op.opcode == "rtl_wait"}


def build_modules(context: Any) -> None:
    """Put the modules that wait into the kernel's module."""
    for op, call in context.servers.modules.items():
        context.m.submodules[f"{context.names.op(op)}_unit"] = call.unit
