"""Selects the signals of a waveform, by Verilator's tracing directives in the Verilog."""

import re

__all__ = ["OFF", "ON", "TRACES", "marked"]

#: what a waveform can hold: nothing; accounts, and the states of accesses and channels; also handshakes; everything
TRACES = ("none", "accounts", "handshakes", "all")

#: Declarations of valid/ready pairs, clocks, resets and signals that a person steps through by.
HANDSHAKE = re.compile(
    r"^\s*(?:input|output|wire|reg|logic)\b.*"
    r"(?:valid|ready|\bclk|\brst|interrupt|start|done|issued|stall|cycles|observed)\w*\b"
)
DECLARATION = re.compile(r"^\s*(?:input|output|inout|wire|reg|logic|integer)\b")
NUMBERED = re.compile(r"\$\d+")
ON, OFF = "/*verilator tracing_on*/", "/*verilator tracing_off*/"


#: What `sluice stalls` reads.
OBSERVED = re.compile(r"^\s*(?:output|wire|reg|logic)\b.*\bobserved\b")


def marked(verilog: str, signals: str) -> str:
    """The same Verilog, marked so that of all declarations only those of the signals (one of TRACES) are traced; Yosys
    writes one a line.

    Instances stay traced: with tracing off at an instance, nothing inside it is traced, and a waveform would contain
    the top alone. Names that Yosys numbered are copies of signals that have their own name in their own module, and
    are left out.
    """
    if signals in ("none", "all"):
        return verilog
    wanted = HANDSHAKE if signals == "handshakes" else OBSERVED
    lines = []
    for line in verilog.splitlines():
        hidden = DECLARATION.match(line) and (NUMBERED.search(line) or not wanted.match(line))
        lines += [OFF, line, ON] if hidden else [line]
    return "\n".join(lines) + "\n"
