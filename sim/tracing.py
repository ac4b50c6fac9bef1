"""Chooses what a waveform holds, by marks in the Verilog that Verilator understands."""

import re

__all__ = ["TRACES", "only_handshakes"]

TRACES = ("none", "handshakes", "all")

#: Declarations of valid/ready pairs, clocks, resets and what a person steps through by.
HANDSHAKE = re.compile(r"^\s*(?:input|output|wire|reg|logic)\b.*"
                       r"(?:valid|ready|\bclk|\brst|interrupt|start|done|issued|stall|cycles)\w*\b")
ON, OFF = "/*verilator tracing_on*/", "/*verilator tracing_off*/"


def only_handshakes(verilog: str) -> str:
    """The same Verilog, marked so that only lines that declare handshakes are traced. Yosys writes one declaration a line."""
    lines = [OFF]
    for line in verilog.splitlines():
        lines += [ON, line, OFF] if HANDSHAKE.match(line) else [line]
    return "\n".join(lines) + "\n"
