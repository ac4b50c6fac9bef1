"""A design between shift registers, so that it is placed whatever number of pins the device has.

All inputs come from one register that shifts, and all outputs go into one that shifts as it adds: synthesis can take
no port for constant or unused, no path of the design ends at a pin, and no net of the surroundings goes far. They have
a reset that no register of the design has, so that synthesis does not make one register of one here and one there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["DESIGN", "TOP", "Port", "pads", "ports_of", "wrapper"]

#: the wrapper's module, whose file has the same name, and the design's instance in it
TOP, DESIGN = "synthesis_top", "design"
#: in front of the wrapper's own names: synthesis names a cell by the shortest of the names around it, and these must
#: never be shorter than those of the design
_LONG = "surroundings_" + 240 * "x" + "_"


@dataclass(frozen=True)
class Port:
    """A port of a module, ``bits`` wide; ``direction`` "input" or "output"."""

    name: str
    direction: str
    bits: int


_PORT = re.compile(
    r"^  (input|output) (?:reg |wire )?(?:\[(\d+):0\] )?([A-Za-z_][\w$]*)(?: = [^;,\n]*)? ?[;,]?$", re.MULTILINE
)


def ports_of(verilog: str, module: str) -> tuple[Port, ...]:
    """The ports of a module in a text that the compiler wrote. Raises ValueError if the module is not there."""
    found = re.search(rf"^module {re.escape(module)} ?\(.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"there is no module {module}")
    return tuple(Port(name, way, int(high or 0) + 1) for way, high, name in _PORT.findall(found[0]))


def pads(clocks: Sequence[str]) -> tuple[str, ...]:
    """The ports of the wrapper around a design with these clocks, which come first."""
    return (*clocks, "shift_in", "clear", "shift_out")


def wrapper(design: str, ports: Sequence[Port], clocks: Sequence[str]) -> str:
    """The Verilog of the wrapper around module ``design``; ``clocks`` are the ports that are its clocks."""
    ins = [port for port in ports if port.direction == "input" and port.name not in clocks]
    outs = [port for port in ports if port.direction == "output"]
    bring, given, held, gather = (f"{_LONG}{name}" for name in ("bring", "given", "held", "gather"))
    taken, told = (max(1, sum(port.bits for port in some)) for some in (ins, outs))
    wires = [*(f".{clock}({clock})" for clock in clocks), *_slices(ins, bring), *_slices(outs, given)]
    *inputs, output = pads(clocks)
    return f"""module {TOP}({", ".join(f"input {port}" for port in inputs)}, output {output});
  reg [{taken - 1}:0] {bring};
  wire [{told - 1}:0] {given};
  reg [{told - 1}:0] {held}, {gather};
  always @(posedge {clocks[0]}) begin
    {bring} <= {{{bring}, shift_in}};
    {held} <= {given};
    {gather} <= {held} ^ {{{gather}, shift_in}};
    if (clear) begin {bring} <= 0; {held} <= 0; {gather} <= 0; end
  end
  assign shift_out = {gather}[{told - 1}];
  {design} {DESIGN}({", ".join(wires)});
endmodule
"""


def _slices(ports: Sequence[Port], register: str) -> Iterator[str]:
    low = 0
    for port in ports:
        yield f".{port.name}({register}[{low + port.bits - 1}:{low}])"
        low += port.bits
