"""A pipelined operator that is a Verilog module written elsewhere."""

from dataclasses import dataclass

from amaranth import *

from .pipelined import PipelinedPart

__all__ = ["ExternalParams", "ExternalPart"]


@dataclass(frozen=True)
class ExternalParams:
    """Name, ports and widths of a Verilog module. ``clock`` and ``enable`` are empty for a module without."""

    module: str
    latency: int
    clock: str
    enable: str
    inputs: tuple[tuple[str, int], ...]
    output: tuple[str, int]


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
        wires = {f"i_{name}": getattr(self, f"a{k}") for k, (name, _) in enumerate(params.inputs)}
        wires[f"o_{params.output[0]}"] = self.o
        if params.clock:
            wires[f"i_{params.clock}"] = ClockSignal()
        if params.enable:
            wires[f"i_{params.enable}"] = self.en
        m.submodules.rtl = Instance(params.module, **wires)
        return m
