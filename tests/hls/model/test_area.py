"""From the cells of Verilog to blocks of a device, computed by hand; and estimates of real designs within reason."""

import dataclasses

import pytest

from hls.model.area import NOTHING, Resources, capacity, estimate
from hls.target.board import load_board

STRATIX, ECP5 = load_board("de5net").device, load_board("ecp5_onchip").device


def top(body: str, *wires: str) -> dict[str, str]:
    declared = "".join(f"  wire {wire};\n" for wire in wires)
    return {"top.v": f"module top(clk);\n  input clk;\n  wire clk;\n{declared}{body}endmodule\n"}


def memory(depth: int, width: int, clocked: bool) -> dict[str, str]:
    read = (
        "  always @(posedge clk) begin\n    if (en) begin\n      q <= kept[at];\n    end\n  end\n"
        if clocked
        else "  assign q = kept[at];\n"
    )
    kind = "reg" if clocked else "wire"
    text = top(f"  {kind} [{width - 1}:0] q;\n  reg [{width - 1}:0] kept [{depth - 1}:0];\n{read}", "[15:0] at", "en")
    return text


@pytest.mark.parametrize(
    ("depth", "width", "device", "blocks"),
    [
        (512, 40, STRATIX, 1),
        (512, 41, STRATIX, 2),
        (1024, 20, STRATIX, 1),
        (4096, 5, STRATIX, 1),
        (64, 514, STRATIX, 13),
        (513, 40, STRATIX, 2),
        (512, 36, ECP5, 1),
        (2048, 9, ECP5, 1),
        (16384, 1, ECP5, 1),
        (16, 40, STRATIX, 0),
        (80, 11, STRATIX, 1),
        # four-input LUTs: 128 bits of blocks of 16 words, with half a bit for each bit of a multiplexer between these
        (80, 11, ECP5, 0),
        (80, 17, ECP5, 1),
        (50, 26, ECP5, 1),
        (64, 37, ECP5, 0),
    ],
)
def test_block_rams(depth, width, device, blocks):
    found = estimate(memory(depth, width, True), "top", device).total
    assert found.rams == blocks and (found.logic > 0) == (blocks == 0)


@pytest.mark.parametrize(("depth", "width", "blocks"), [(512, 40, 2), (1024, 20, 1), (4096, 5, 1), (16, 40, 2)])
def test_blocks_read_through_two_ports(depth, width, blocks):
    text = memory(depth, width, True)["top.v"].replace(
        "endmodule", f"  reg [{width - 1}:0] r;\n  always @(posedge clk)\n    r <= kept[at];\nendmodule"
    )
    assert estimate({"top.v": text}, "top", STRATIX).total.rams == blocks


def test_memories_read_without_a_clock_are_kept_in_tables():
    assert estimate(memory(32, 20, False), "top", STRATIX).total == Resources(logic=10)
    assert estimate(memory(16, 4, False), "top", ECP5).total == Resources(logic=6)


@pytest.mark.parametrize(
    ("a", "b", "stratix", "ecp5"),
    [(18, 18, 1, 1), (27, 27, 1, 4), (24, 24, 1, 4), (32, 32, 2, 4), (36, 18, 1, 2), (64, 64, 8, 16)],
)
def test_products(a, b, stratix, ecp5):
    text = top("  assign p = x * y;\n", f"[{a - 1}:0] x", f"[{b - 1}:0] y", f"[{a + b - 1}:0] p")
    assert estimate(text, "top", STRATIX).total.dsps == stratix
    assert estimate(text, "top", ECP5).total.dsps == ecp5


def test_cells_are_the_larger_of_what_logic_and_registers_need():
    body = "  reg [99:0] r;\n  always @(posedge clk)\n    r <= s;\n  assign s = a + b;\n"
    found = estimate(top(body, "[99:0] s", "[99:0] a", "[99:0] b"), "top", STRATIX).total
    assert found == Resources(logic=50, registers=100)
    found = estimate(top(body.replace("a + b", "a"), "[99:0] s", "[99:0] a"), "top", STRATIX).total
    assert found == Resources(logic=25, registers=100)


def test_capacity_and_sums():
    assert capacity(STRATIX) == Resources(
        STRATIX.logic_cells, STRATIX.registers, STRATIX.rams.count, STRATIX.dsps.count
    )
    assert Resources(1, 2, 3, 4) + Resources(10, 20, 30, 40) == Resources(11, 22, 33, 44)
    assert NOTHING == Resources(**dict.fromkeys((f.name for f in dataclasses.fields(Resources)), 0))
