"""Which declarations a waveform of handshakes holds."""

import pytest

from sim.tracing import OFF, ON, only_handshakes


@pytest.mark.parametrize("line", ["  input m_axi0_arvalid;", "  wire o__ready;", "  reg \\load.valid ;", "  wire clk;",
                                  "  output [1:0] interrupt;"])
def test_keeps(line):
    assert only_handshakes(line).splitlines() == [OFF, ON, line, OFF]


@pytest.mark.parametrize("line", ["  wire [511:0] m_axi0_rdata;", "  assign o_valid = i_valid;", "  reg [31:0] payload;"])
def test_leaves_out(line):
    assert only_handshakes(line).splitlines() == [OFF, line]
