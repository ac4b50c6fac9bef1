"""An operator of unknown latency that is a Verilog module written elsewhere."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .external import ExternalParams, external_instance

__all__ = ["WaitingModule"]


class WaitingModule(wiring.Component):
    """An instance of a Verilog module with handshakes. Its text is added to the design's.

    Rules
    -----
    1. Operands are taken in the cycles in which ``i`` is valid and ready, results in those in which ``o`` is: each set
       of operands gives one result, in order, if the module keeps to that.

    Ports
    -----
    i : stream of ``{a0, a1...}``, the operands
    o : stream of results
    """

    def __init__(self, params: ExternalParams) -> None:
        self.params = params
        operands = data.StructLayout({f"a{k}": width for k, (_, width) in enumerate(params.inputs)})
        super().__init__({"i": In(stream.Signature(operands)), "o": Out(stream.Signature(unsigned(params.output[1])))})

    def elaborate(self, platform: object) -> Module:
        """The instance of the module, and wires."""
        m = Module()
        control = {
            "input_valid": self.i.valid,
            "input_ready": self.i.ready,
            "output_valid": self.o.valid,
            "output_ready": self.o.ready,
        }
        operands = [self.i.payload[f"a{k}"] for k in range(len(self.params.inputs))]
        m.submodules.rtl = external_instance(self.params, control, operands, self.o.payload)
        return m
