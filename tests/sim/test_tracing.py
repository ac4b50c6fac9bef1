"""The declarations that a waveform of handshakes contains."""

import pytest

from sim.tracing import OFF, ON, marked


@pytest.mark.parametrize(
    "line",
    ["  input m_axi0_arvalid;", "  wire o__ready;", "  reg \\load.valid ;", "  wire clk;", "  output [1:0] interrupt;"],
)
def test_keeps(line):
    assert marked(line, "handshakes").splitlines() == [line]


@pytest.mark.parametrize("line", ["  wire [511:0] m_axi0_rdata;", "  reg [31:0] payload;", "  wire \\i__valid$12 ;"])
def test_leaves_out(line):
    assert marked(line, "handshakes").splitlines() == [OFF, line, ON]


@pytest.mark.parametrize(
    "line", ["  assign o_valid = i_valid;", "  loop_i_L4 loop_i_L4 (", "module top(clk);", "  always @(posedge clk)"]
)
def test_instances_stay_traced(line):
    """Tracing that is off at an instance is off for all that is inside it."""
    assert marked("  wire [7:0] payload;\n" + line, "handshakes").splitlines() == [
        OFF,
        "  wire [7:0] payload;",
        ON,
        line,
    ]


def test_accounts_need_only_what_the_probe_observes():
    assert marked("  wire [191:0] observed;", "accounts").splitlines() == ["  wire [191:0] observed;"]
    assert marked("  input m_axi0_arvalid;", "accounts").splitlines() == [OFF, "  input m_axi0_arvalid;", ON]
    assert marked("  wire x;", "all") == marked("  wire x;", "none") == "  wire x;"
