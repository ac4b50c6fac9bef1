"""A pipelined operator that is a Verilog module written elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amaranth import *

from .pipelined import PipelinedPart

__all__ = ["ExternalParams", "ExternalPart", "external_instance"]

#: ports of control that are outputs of the module
_OUTPUTS = frozenset({"input_ready", "output_valid"})


@dataclass(frozen=True)
class ExternalParams:
    """Name, ports and widths of a Verilog module. ``control`` has pairs of what a port is (clock, enable, reset,
    resetn, input_valid, input_ready, output_valid, output_ready) and its name."""

    module: str
    latency: int
    control: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, int], ...]
    output: tuple[str, int]


def external_instance(
    params: ExternalParams, control: Mapping[str, Value], operands: Sequence[Value], result: Value
) -> Instance:
    """An instance of the module; ``control`` has signals for its ports of control other than clock and resets; an
    output that it does not name is left open."""
    wires = {"clock": ClockSignal(), "reset": ResetSignal(), "resetn": ~ResetSignal(), **control}
    ports = {
        f"{'o' if kind in _OUTPUTS else 'i'}_{name}": wires[kind] for kind, name in params.control if kind in wires
    }
    ports |= {f"i_{name}": value for (name, _), value in zip(params.inputs, operands, strict=True)}
    return Instance(params.module, **ports, **{f"o_{params.output[0]}": result})


class ExternalPart(PipelinedPart):
    """An instance of a Verilog module with a fixed latency. Its text is added to the design's.

    Rules 1 to 3 of :class:`PipelinedPart` hold if the module keeps them; one without an enable stands only where ``en``
    is constant 1.
    """

    kind = "external"
    Params = ExternalParams
    params: ExternalParams

    @classmethod
    def inputs(cls, params: ExternalParams) -> dict[str, int]:
        """``a0``, ``a1``...: the operands, in the order of the ports."""
        return {f"a{k}": width for k, (_, width) in enumerate(params.inputs)}

    @classmethod
    def outputs(cls, params: ExternalParams) -> dict[str, int]:
        """``o``: the result."""
        return {"o": params.output[1]}

    @classmethod
    def latencies(cls, params: ExternalParams) -> range:
        """The one that the module has."""
        return range(params.latency, params.latency + 1)

    @classmethod
    def fixed_latency(cls, params: ExternalParams) -> int:
        """The one that the module has."""
        return params.latency

    def elaborate(self, platform: object) -> Module:
        """The instance of the module, and wires."""
        m, params = Module(), self.params
        # operands are always valid, and the result is always taken
        wires = {"enable": self.en, "input_valid": C(1), "output_ready": C(1)}
        operands = [getattr(self, f"a{k}") for k in range(len(params.inputs))]
        m.submodules.rtl = external_instance(params, wires, operands, self.o)
        return m
