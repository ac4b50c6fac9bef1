"""The base of all arithmetic parts: a chain of combinational steps with registers at some of the cuts between them.

A part defines *what* it computes as a tuple of steps; the number of its registers is its ``latency``, and their
positions are decided here, once, for all parts. Results are the same for any latency from none to a register at every
cut.
"""

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from amaranth import *
from amaranth.hdl import ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing
from rtl_lib.library import shared

__all__ = ["PipelinedPart", "Step", "Values", "Wire", "balanced_cuts", "beside", "least_registers", "segments"]


#: what a step takes and returns: values by name
Values = dict[str, Value]


class Wire(Protocol):
    """What a step is given to make signals with: ``wire(value, name)``, see :class:`Step`."""

    def __call__(self, value: ValueLike, name: str, keep: bool = False) -> Value:
        """A signal that follows ``value``."""


@dataclass(frozen=True)
class Step:
    """One combinational step: a function of named values, and how deep its logic is.

    ``build(wire, **values)`` takes the values it names as keyword arguments and returns new ones by name. A value stays
    available to all later steps until one of them returns the same name again. ``wire(value, name)`` gives an
    intermediate value a signal of its own; without it an expression used twice would become hardware twice. With
    ``keep=True`` synthesis does not merge the logic before the signal with the logic after it.
    """

    name: str
    levels: float  #: see :mod:`rtl_lib.arith.levels`
    build: Callable[..., Values]
    reads: tuple[str, ...] = ()  #: taken from the signature of ``build`` unless given

    def __post_init__(self) -> None:
        if not self.reads:
            object.__setattr__(
                self,
                "reads",
                tuple(
                    name
                    for name, parameter in inspect.signature(self.build).parameters.items()
                    if parameter.kind is parameter.KEYWORD_ONLY
                ),
            )


def beside(name: str, *steps: Step) -> Step:
    """One step that combines several independent steps in parallel."""

    def build(wire: Wire, **values: Value) -> Values:
        results = {}
        for step in steps:
            results.update(step.build(wire, **{name: values[name] for name in step.reads}))
        return results

    reads = tuple(dict.fromkeys(name for step in steps for name in step.reads))
    return Step(name, max(step.levels for step in steps), build, reads)


def segments(levels: Sequence[float], cuts: Sequence[int]) -> tuple[float, ...]:
    """Depth of the logic before, between and after the registers at ``cuts``: one entry more than there are cuts."""
    edges = (0, *cuts, len(levels))
    return tuple(sum(levels[start:end]) for start, end in itertools.pairwise(edges))


@cache
def balanced_cuts(levels: tuple[float, ...], count: int) -> tuple[int, ...]:
    """Positions of ``count`` registers in a chain of steps with these ``levels``: increasing step indices.

    A register at index n stands before step n; at ``len(levels)`` it stands after the last one. Cuts between steps
    are used first, such that the deepest segment is as shallow as possible; when all of them are taken, the next
    register goes to the output and the last one to the input.
    """
    steps = len(levels)
    if not 0 <= count <= steps + 1:
        raise ValueError(f"{count} registers do not fit into {steps} steps; at most {steps + 1} do")
    inner = _inner_cuts(levels, min(count, steps - 1))
    return (0,) * (count > steps) + inner + (steps,) * (count >= steps)


def least_registers(levels: Sequence[float], limit: float) -> int | None:
    """The fewest registers that leave no segment deeper than ``limit``; None if a single step is deeper."""
    if max(levels) > limit:
        return None
    count, depth = 0, 0.0
    for step in levels:
        depth += step
        if depth > limit:
            count, depth = count + 1, step
    return count


def _inner_cuts(levels: tuple[float, ...], count: int) -> tuple[int, ...]:
    """``count`` cuts strictly between steps that minimize the deepest segment, then the sum of squared depths."""
    total = [0.0]
    for depth in levels:
        total.append(total[-1] + depth)
    # best[end]: (deepest, squares, cuts) of the steps before `end` divided by the cuts placed so far
    best: dict[int, tuple[float, float, tuple[int, ...]]] = {
        end: (total[end], total[end] ** 2, ()) for end in range(1, len(levels) + 1)
    }
    for placed in range(1, count + 1):
        best = {
            end: min(
                (max(deepest, total[end] - total[cut]), squares + (total[end] - total[cut]) ** 2, (*cuts, cut))
                for cut, (deepest, squares, cuts) in best.items()
                if cut < end
            )
            for end in range(placed + 1, len(levels) + 1)
        }
    return best[len(levels)][2]


@shared
class PipelinedPart(wiring.Component):
    """An operator that accepts operands and returns a result every cycle, ``latency`` enabled cycles later.

    Rules
    -----
    1. The outputs belong to the operands that were present ``timing.latency`` cycles with ``en`` earlier;
       with latency 0 they follow the operands within the cycle.
    2. While ``en`` is low no register changes.
    3. There is no reset: until ``latency`` enabled cycles have passed the outputs are undefined.

    Parameters
    ----------
    params : instance of ``Params``, a frozen dataclass with the operator's formats and options
    latency : registers between operands and outputs, one of ``latencies(params)``

    Ports
    -----
    en : clock enable; tie it high where nothing ever stalls
    operands and outputs : named and sized as ``inputs(params)`` and ``outputs(params)`` say, all plain bits
    """

    kind: str  #: short name in the catalog
    Params: type

    def __init__(self, params: Any, latency: int) -> None:
        if not isinstance(params, self.Params):
            raise TypeError(f"{type(self).__name__} takes {self.Params.__name__}, not {type(params).__name__}")
        allowed = self.latencies(params)
        if latency not in allowed:
            raise ValueError(f"{self.kind}: latency must be {allowed[0]} to {allowed[-1]}, not {latency!r}")
        self.params = params
        self.timing = Timing(latency=latency, stallable=False)
        super().__init__(
            {
                "en": In(1),
                **{name: In(shape) for name, shape in self.inputs(params).items()},
                **{name: Out(shape) for name, shape in self.outputs(params).items()},
            }
        )

    @classmethod
    def inputs(cls, params: Any) -> dict[str, int]:
        """Name and width of each operand, in the order ``golden`` takes them."""
        raise NotImplementedError

    @classmethod
    def outputs(cls, params: Any) -> dict[str, int]:
        """Name and width of each result, in the order in which ``golden`` returns them."""
        raise NotImplementedError

    @classmethod
    def fixed_latency(cls, params: Any) -> int | None:
        """The only latency of a part whose text is not ours; None for one that is cut for the clock."""
        return None

    @classmethod
    def steps(cls, params: Any) -> tuple[Step, ...]:
        """The part's steps in order; the first ones read the inputs, the last ones return the outputs."""
        raise NotImplementedError

    @classmethod
    def golden(cls, params: Any, *operands: Any) -> Any:
        """Reference model on Python integers that hold the bits: one integer, or a tuple of several outputs."""
        raise NotImplementedError

    @classmethod
    def stage_delays(cls, params: Any) -> list[float]:
        """Depth of the logic between neighbouring cuts, in lookup-table levels, from inputs to outputs."""
        return [step.levels for step in cls.steps(params)]

    @classmethod
    def latencies(cls, params: Any) -> range:
        """The latencies this part can be built with."""
        return range(len(cls.steps(params)) + 2)

    @classmethod
    def segments(cls, params: Any, latency: int) -> tuple[float, ...]:
        """Depth of the logic before, between and after its ``latency`` registers, in lookup-table levels."""
        levels = tuple(cls.stage_delays(params))
        return segments(levels, balanced_cuts(levels, latency))

    def elaborate(self, platform: object) -> Module:
        """Build the steps as combinational logic, with registers enabled by ``en`` at ``latency`` cuts that balance the
        levels of logic between them."""
        m = Module()
        steps, outputs = self.steps(self.params), self.outputs(self.params)
        cuts = balanced_cuts(tuple(step.levels for step in steps), self.timing.latency)
        values = {name: getattr(self, name) for name in self.inputs(self.params)}
        for index, step in enumerate(steps):
            if index in cuts:
                values = self._register(m, values, index, {name for later in steps[index:] for name in later.reads})
            values |= self._wires(m, step, values)
        if len(steps) in cuts:
            values = self._register(m, values, len(steps), set(outputs))
        m.d.comb += [getattr(self, name).eq(values[name]) for name in outputs]
        return m

    def _wires(self, m: Module, step: Step, values: Values) -> Values:
        """The step's results as named signals, so that the Verilog and a waveform can be read."""
        missing = [name for name in step.reads if name not in values]
        if missing:
            raise KeyError(f"{self.kind}: step {step.name} reads {', '.join(missing)}, which no earlier step returns")

        def wire(value: ValueLike, name: str, keep: bool = False) -> Signal:
            value = Value.cast(value)
            signal = Signal(value.shape(), name=f"{step.name}_{name}", attrs={"keep": 1} if keep else {})
            m.d.comb += signal.eq(value)
            return signal

        results = step.build(wire, **{name: values[name] for name in step.reads})
        return {name: wire(value, name) for name, value in results.items()}

    def _register(self, m: Module, values: Values, index: int, needed: set[str]) -> Values:
        """Registers at cut ``index`` for those values that later steps (or outputs) still need."""
        needed = needed | set(self.outputs(self.params))
        held: Values = {
            name: Signal(value.shape(), name=f"cut{index}_{name}", reset_less=True)
            for name, value in values.items()
            if name in needed
        }
        with m.If(self.en):
            m.d.sync += [register.eq(values[name]) for name, register in held.items()]
        return held
