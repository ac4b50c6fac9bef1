"""What is run in the folder of a system, from its Verilog to a bitstream: by us, and by the build.sh beside it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from hls.narrow import present

from ..synthesis.device import OpenPart
from ..synthesis.run import NETLIST, REPORT
from ..synthesis.tools import ECPPACK, YOSYS, Tool

__all__ = ["BITSTREAM", "CONFIG", "DESCRIPTION", "TOP", "Step", "Steps"]

#: the module of the whole system, its file, and what the tools make of it
TOP, VERILOG, CONSTRAINTS = "soc", "soc.v", "soc.lpf"
CONFIG, BITSTREAM, DESCRIPTION = "soc.config", "soc.bit", "soc.json"
#: LiteX writes keep="true", which yosys takes for a text
_KEEP = 'attrmap -tocase keep -imap keep="true" keep=1 -imap keep="false" keep=0 -remove keep=0'


@dataclass(frozen=True)
class Step:
    """One call of a tool."""

    tool: Tool
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Steps:
    """The calls for a part: synthesis, place and route with a seed, packing."""

    synthesis: Step
    place: Step
    pack: Step

    @classmethod
    def of(cls, device: OpenPart, files: Sequence[str], seed: int) -> "Steps":
        """The calls for a system whose design has these files in ``rtl/``."""
        read = " ".join([*(f"rtl/{name}" for name in files), VERILOG])
        script = f"read_verilog -sv {read}; {_KEEP}; {device.flow.synthesis} -top {TOP} -json {NETLIST}"
        return cls(
            Step(YOSYS, ("-q", "-p", script)),
            Step(
                present(device.flow.place),
                (*device.options, "--json", NETLIST, "--lpf", CONSTRAINTS, "--textcfg", CONFIG, "--report", REPORT)
                + ("--seed", str(seed), "--timing-allow-fail", "-q"),
            ),
            Step(ECPPACK, ("--compress", "--input", CONFIG, "--bit", BITSTREAM)),
        )

    def script(self, mhz: float) -> str:
        """The same as a shell script, from soc.py on, for tools on the PATH."""
        calls = [(step.tool.name, *step.arguments) for step in (self.synthesis, self.place, self.pack)]
        lines = [f"python soc.py . --clock {mhz:g}", *(shlex.join(call) for call in calls)]
        return "\n".join(["#!/bin/sh", "# From soc.py to the bitstream.", "set -e", *lines, ""])
