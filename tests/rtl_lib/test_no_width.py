"""Parts with values of width 0 become Verilog: a loop may carry nothing and return nothing."""

import pytest
from amaranth.back import verilog
from amaranth.hdl import unsigned

from rtl_lib.exit_buffer import ExitBuffer, ExitFifo
from rtl_lib.loop import LoopHeader
from rtl_lib.state import SlotRegister

NOTHING = unsigned(0)


@pytest.mark.parametrize(
    "build",
    [
        lambda: LoopHeader(NOTHING, NOTHING, 1, 1),
        lambda: LoopHeader(NOTHING, NOTHING, 3, 5),
        lambda: ExitBuffer(NOTHING, 3),
        lambda: ExitFifo(NOTHING, 3),
        lambda: SlotRegister(NOTHING, 3),
    ],
    ids=["one slot", "slots", "exit buffer", "exit fifo", "slot register"],
)
def test_becomes_verilog(build):
    assert "module top" in verilog.convert(build(), name="top")
