"""Values of a kernel that are constant for a whole run, the widths of all values, and what the tokens of its loops
carry."""

from collections.abc import Mapping
from typing import Any

from amaranth import C, Signal
from amaranth import Value as HardwareValue

from ..ir import Attr, Function, Op, PointerType, TokenType, Value, uses
from ..ir.launch import OVERLAP, PER_GROUP, hidden_arguments, units_of
from ..planning.memory import MemoryPlan
from ..planning.schedule import RegionPlan
from .expression import constant

__all__ = ["LoopState", "Values"]


class Values:
    """``arguments`` maps parameter names to signals that hold while the kernel runs; ``of_group`` holds, by name, the
    signals that come with each group; ``static`` those of launch-invariant operations, once they are built."""

    def __init__(
        self, function: Function, memory: MemoryPlan, address_bits: int, arguments: Mapping[str, HardwareValue]
    ) -> None:
        self.arguments, self._address_bits, self._onchip = arguments, address_bits, memory.onchip
        self._uses = uses(function.body)
        self._hidden = hidden_arguments(function)
        self.static: dict[Value, HardwareValue] = {}
        self.of_group: dict[str, Signal] = {}
        self._args: dict[Value, HardwareValue] = {}
        scalars = [p.name for p in function.params if p.kind == "scalar"]
        for name, value in zip([*scalars, *self._hidden], function.args, strict=True):
            if name.startswith(PER_GROUP) and units_of(function) > 1:
                self.of_group[name] = Signal(value.type.bits, name=name)
            else:
                self._args[value] = arguments[name]

    def group_values(self) -> dict[Value, HardwareValue]:
        """The values that a token brings into the kernel's top, with their signals."""
        return {self._hidden[name]: signal for name, signal in self.of_group.items()}

    def width(self, value: Value) -> int:
        """How many bits the value's signal has."""
        return self._address_bits if isinstance(value.type, PointerType) else value.type.bits

    def fixed(self, value: Value) -> HardwareValue | None:
        """The signal of a value that is constant for the whole run: a constant, an argument, a launch-invariant value;
        else None.

        A memory token has no signal at all: the plan represents it by a level or a point.
        """
        if isinstance(value.type, TokenType):
            return C(0, 0)
        if value.op is not None and value.op.opcode == "const":
            return constant(value.op, self.width(value))
        return self._args.get(value, self.static.get(value))

    def used(self, value: Value) -> bool:
        """Whether any operation uses the value."""
        return bool(self._uses.get(value))

    def base(self, op: Op) -> HardwareValue:
        """The base address of an ``addr`` operation: that of a buffer, or 0 in a memory of the kernel."""
        name = op.attrs[Attr.MEM]
        return C(0) if name in self._onchip else self.arguments[name]

    @property
    def overlap(self) -> HardwareValue:
        """High in runs in which buffers may overlap; only for kernels whose plan distinguishes such runs."""
        return self.arguments[OVERLAP]


class LoopState:
    """The state that the loops of a kernel keep between iterations: ``pseudo`` values of the tokens of each,
    ``registers`` of carried values, and ``histories`` (delay lines) of older ones."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self.pseudo: dict[Any, Any] = {}
        self.registers: dict[Any, Any] = {}
        self.histories: dict[Any, Any] = {}

    def initial(self, plan: RegionPlan, index: int) -> Value:
        """The initial value of a carried value in the loop's tokens; a fixed value is not sent with the request."""
        value = plan.loop_op.operands[1 + index]
        known = self._values.fixed(value) is not None or index in _brought(plan)
        return value if known else self.pseudo[plan].initial[index]

    def travelling(self, plan: RegionPlan) -> list[int]:
        """Indices of the carried values whose initial values come with the request, for the first token."""
        # in a barrier loop the value changes with each iteration, whatever it began as
        return [
            k
            for k, v in enumerate(plan.loop_op.operands[1:])
            if plan.ring is not None or (self._values.fixed(v) is None and k not in _brought(plan))
        ]


def _brought(plan: RegionPlan) -> set[int]:
    """Indices of the carried values whose initial values every token brings, as an invariant: those of delay lines, if
    there may be more than one invocation."""
    return {c.index for c in plan.carried if c.root is not None and not plan.once}
