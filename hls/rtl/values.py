"""Values of a kernel that hold for a whole run, widths of all, and what the tokens of its loops carry."""

from collections.abc import Mapping

from amaranth import *

from ..ir import Attr, Function, Op, PointerType, TokenType, Value, uses
from ..ir.launch import OVERLAP, PER_GROUP, hidden_arguments, units_of
from ..planning.memory import MemoryPlan
from ..planning.schedule import RegionPlan
from .expression import constant

__all__ = ["LoopState", "Values"]


class Values:
    """``arguments`` maps parameter names to signals that hold while the kernel runs; ``of_group`` holds the signals of
    what comes with each group, by name; ``static`` those of operations on arguments alone, once they are built."""

    def __init__(self, function: Function, memory: MemoryPlan, address_bits: int, arguments: Mapping[str, Signal]):
        self.arguments, self._address_bits, self._onchip = arguments, address_bits, memory.onchip
        self._uses = uses(function.body)
        self._hidden = hidden_arguments(function)
        self.static: dict[Value, Signal] = {}
        self.of_group: dict[str, Signal] = {}
        self._args: dict[Value, Signal] = {}
        scalars = [p.name for p in function.params if p.kind == "scalar"]
        for name, value in zip([*scalars, *self._hidden], function.args, strict=True):
            if name.startswith(PER_GROUP) and units_of(function) > 1:
                self.of_group[name] = Signal(value.type.bits, name=name)
            else:
                self._args[value] = arguments[name]

    def group_values(self) -> dict[Value, Signal]:
        """The values that a token brings into the kernel's top, with their signals."""
        return {self._hidden[name]: signal for name, signal in self.of_group.items()}

    def width(self, value: Value) -> int:
        """How many bits the value's signal has."""
        return self._address_bits if isinstance(value.type, PointerType) else value.type.bits

    def fixed(self, value: Value):
        """The signal of a value that holds for the whole run: a constant, an argument, a static value; else None.

        A token has no signal at all: it stands in the plan, as a level or a point.
        """
        if isinstance(value.type, TokenType):
            return C(0, 0)
        if value.op is not None and value.op.opcode == "const":
            return constant(value.op, self.width(value))
        return self._args.get(value, self.static.get(value))

    def used(self, value: Value) -> bool:
        """Whether anything needs the value."""
        return bool(self._uses.get(value))

    def base(self, op: Op):
        """The address of the memory that an ``addr`` operation points into: of a buffer, or 0 in a memory of its
        own."""
        name = op.attrs[Attr.MEM]
        return C(0) if name in self._onchip else self.arguments[name]

    @property
    def overlap(self):
        """High in runs in which buffers may overlap; only to be asked for where a plan tells such runs apart."""
        return self.arguments[OVERLAP]


class LoopState:
    """What the loops of a kernel keep between iterations: ``pseudo`` values of the tokens of each, ``registers`` of
    carried values, and ``histories`` of older ones."""

    def __init__(self, values: Values):
        self._values = values
        self.pseudo: dict = {}
        self.registers: dict = {}
        self.histories: dict = {}

    def initial(self, plan: RegionPlan, index: int) -> Value:
        """The initial value of a carried value as the loop's tokens know it; one that is fixed need not travel."""
        value = plan.loop.operands[1 + index]
        return value if self._values.fixed(value) is not None else self.pseudo[plan].initial[index]

    def travelling(self, plan: RegionPlan) -> list[int]:
        """Indices of the carried values whose initial values come with the request."""
        # what goes round a ring is another value the next time, whatever it began as
        return [
            k for k, v in enumerate(plan.loop.operands[1:]) if plan.ring is not None or self._values.fixed(v) is None
        ]
