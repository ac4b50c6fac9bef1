"""The declarations that a waveform of handshakes contains."""

import pytest

from sim.tracing import OFF, ON, only_handshakes


@pytest.mark.parametrize(
    "line",
    ["  input m_axi0_arvalid;", "  wire o__ready;", "  reg \\load.valid ;", "  wire clk;", "  output [1:0] interrupt;"],
)
def test_keeps(line):
    assert only_handshakes(line).splitlines() == [line]


@pytest.mark.parametrize("line", ["  wire [511:0] m_axi0_rdata;", "  reg [31:0] payload;", "  wire \\i__valid$12 ;"])
def test_leaves_out(line):
    assert only_handshakes(line).splitlines() == [OFF, line, ON]


@pytest.mark.parametrize(
    "line", ["  assign o_valid = i_valid;", "  loop_i_L4 loop_i_L4 (", "module top(clk);", "  always @(posedge clk)"]
)
def test_instances_stay_traced(line):
    """Tracing that is off at an instance is off for all that is inside it."""
    assert only_handshakes("  wire [7:0] payload;\n" + line).splitlines() == [OFF, "  wire [7:0] payload;", ON, line]
