"""The Verilog as it is written is the circuit that was made, in fewer lines."""

import pytest
from amaranth.back import verilog
from amaranth.hdl import Elaboratable, Module, Signal, signed

from hls import driver
from hls.options import Options
from hls.output_files import written_verilog
from hls.target.board import load_board
from hls.verilog import commented, plain_names, renamed, tidied
from tests.yosys import run_yosys

KERNEL = """__kernel void k(__global int *restrict o, int a, int b)
{
    for (int i = 0; i < 2; i++)
        o[i] = a + (b ^ i);
}
"""
CYCLES = 8
PART = """module part_1(a, b, seen);
  input [7:0] a;
  wire [7:0] a;
  (* init = 8'h00 *)
  output [7:0] b;
  reg [7:0] b = 8'h00;
  output seen;
  wire seen;
  assign seen = a == b;
endmodule
"""
TOP = """module top(x, y);
  input [7:0] x;
  wire [7:0] x;
  output [7:0] y;
  wire [7:0] y;
  wire u_n1;
  wire [-1:0] none ;
  (* enum_base_type = "State" *)
  (* enum_value_0 = "IDLE" *)
  wire field ;
  wire of_field;
  wire kept;
  top_u  u (
    .a(x),
    .b(y)
  );
  assign u_n1 = kept;
  assign kept = x[1];
  assign of_field = x[0];
  assign field = of_field & x[1];
  other o (
    .i(u_n1)
  );
endmodule

module top_u(a, b);
  wire n1 ;
  input [7:0] a;
  wire [7:0] a;
  output [7:0] b;
  wire [7:0] b;
  part_1 part (
    .a(a),
    .b(b),
    .seen(n1 )
  );
endmodule
"""


def test_what_nothing_uses_is_left_out():
    tidy = tidied({"top.v": TOP, "part_1.v": PART})
    assert tidy.verilog["part_1.v"] == (
        "module part_1(\n  input wire [7:0] a,\n  (* init = 8'h00 *)\n  output reg [7:0] b = 8'h00,\n"
        "  output wire seen\n);\n  assign seen = a == b;\nendmodule\n"
    )
    assert tidy.verilog["top.v"] == (
        "module top(\n  input wire [7:0] x,\n  output wire [7:0] y\n);\n  wire kept = x[1];\n"
        "  part_1 u (\n    .a(x),\n    .b(y),\n    .seen()\n  );\n  other o (\n    .i(kept)\n  );\nendmodule\n"
    )
    assert tidy.unwrapped == {("top", "u"): "top_u"}
    told = commented(tidy.verilog, [], {}, [], "top.v", {("top", "u"): "line 7", ("other", "u"): "no"})
    assert "  // line 7\n  part_1 u (\n" in told["top.v"] and "no\n" not in told["top.v"]


def test_what_must_stay():
    """A foreign file; a module that does more than hold another, or connects a port twice; an instance that would have
    the name of a signal inside it."""
    assert tidied({"part_1.v": PART}, {"part_1.v"}).verilog["part_1.v"] == PART
    for old, new in (
        ("  part_1 part", "  assign n1 = a[0];\n  part_1 part"),
        (".a(a)", ".a({ a[6:0], 1'h0 })"),
        (".seen(n1 )", ".seen(b)"),
        ("  top_u  u (", "  top_u  seen ("),
    ):
        tidy = tidied({"top.v": TOP.replace(old, new), "part_1.v": PART})
        assert "module top_u(\n" in tidy.verilog["top.v"] and not tidy.unwrapped
    constant = tidied({"top.v": TOP.replace(".a(a)", ".a(8'h2a)"), "part_1.v": PART}).verilog["top.v"]
    assert "  part_1 u (\n    .a(8'h2a),\n    .b(y),\n" in constant and "top_u" not in constant


def differs(before: dict[str, str], after: dict[str, str], folder) -> bool:
    """Whether the designs have different outputs within some cycles, for any inputs (Yosys)."""
    for name, texts in (("before", before), ("after", after)):
        (folder / f"{name}.v").write_text("".join(texts.values()))
    reads = "; ".join(
        f"read_verilog -sv {name}.v; hierarchy -check -top sluice_system; proc; flatten; memory; opt_clean; "
        f"rename sluice_system {name}; design -stash {name}"
        for name in ("before", "after")
    )
    both = "; ".join(f"design -copy-from {name} -as {name} {name}" for name in ("before", "after"))
    proof = f"miter -equiv -flatten before after both; sat -verify -set-init-zero -seq {CYCLES} -prove trigger 0 both"
    code, _, errors = run_yosys(f"{reads}; {both}; {proof}", folder)
    assert not code or "proof did fail" in errors, errors
    return bool(code)


@pytest.fixture(scope="module")
def design():
    return driver.compile(KERNEL, load_board("ecp5_onchip"), Options(control="wires"), "k.cl")


def test_the_circuit_is_the_same(design, tmp_path):
    before, after = renamed(design.verilog, plain_names(design.verilog)), written_verilog(design)
    lines = [sum(text.count("\n") for text in texts.values()) for texts in (before, after)]
    assert lines[1] < 0.4 * lines[0]
    assert not differs(before, after, tmp_path)
    wrong = {name: text.replace(" ^ ", " | ") for name, text in after.items()}
    assert wrong != after and differs(before, wrong, tmp_path), "the proof sees a wrong operation"


def test_a_port_whose_name_is_a_word_of_the_language():
    """Amaranth escapes such a name, and a second space follows it where the port is a register."""
    part = PART.replace(" b", r" \and ").replace("a == b", r"a == \and ")
    text = renamed({"p.v": part}, plain_names({"p.v": part}))
    assert "output reg [7:0] and_ = 8'h00" in tidied(text, set()).verilog["p.v"]


class Odd(Elaboratable):
    """What no kernel of the examples has: reductions of complements, conditions that end conditions, signed divisions,
    and a module around one instance whose port has an escaped name."""

    def __init__(self) -> None:
        self.a, self.b, self.c = Signal(4), Signal(signed(3)), Signal(signed(3))
        self.parity, self.any, self.chosen = Signal(), Signal(), Signal(2)
        self.quotient, self.rest, self.sign = Signal(signed(4)), Signal(signed(4)), Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = Signal(4, name="n1")
        m.d.comb += [n.eq(~self.a), self.parity.eq(n.xor()), self.any.eq((~self.a).any())]
        with m.If(self.a[0]), m.If(self.a[1]):
            m.d.sync += self.chosen.eq(1)
        with m.Else():
            m.d.sync += self.chosen.eq(self.a[2:])
        m.d.comb += [self.quotient.eq(self.b // self.c), self.rest.eq(self.b % self.c), self.sign.eq(self.b < n[:3])]
        return m


def test_odd_designs_stay_the_same(tmp_path):
    odd = Odd()
    ports = [odd.a, odd.b, odd.c, odd.parity, odd.any, odd.chosen, odd.quotient, odd.rest, odd.sign]
    raw = {"top.v": verilog.convert(odd, name="sluice_system", ports=ports, strip_internal_attrs=True)}
    before = renamed(raw, plain_names(raw))
    after = tidied(before, set()).verilog
    assert not differs(before, after, tmp_path)
    assert "^~" not in after["top.v"] and "|~" not in after["top.v"]


@pytest.mark.parametrize(
    "text",
    [
        "module top(a, o);\n  input a;\n  wire a;\n  output o;\n  wire o;\n  bb b (\n    .a(a),\n    .o(o)\n  );\nendmodule\n",
        "module top(p);\n  inout [1:0] p;\n  wire [1:0] p;\n  pad b (\n    .p(p)\n  );\n  assign p = 2'h0;\nendmodule\n",
    ],
    ids=["one instance", "inout"],
)
def test_tops_that_stay(text):
    tidy = tidied({"top.v": text}, set()).verilog["top.v"]
    assert tidy.startswith("module top(") and tidy.count("p") >= text.count("inout")


def test_strings_and_modules_are_no_signals():
    """The signal that equals another one has its name, and what is called the same and is no signal keeps its own."""
    text = (
        "module top(a, y);\n  input [7:0] a;\n  wire [7:0] a;\n  output [7:0] y;\n  wire [7:0] y;\n  wire [7:0] fast;\n"
        '  assign fast = a;\n  fast #(\n    .MODE("fast")\n  ) b (\n    .i(fast),\n    .o(y)\n  );\nendmodule\n'
    )
    tidy = tidied({"top.v": text}, set()).verilog["top.v"]
    assert "  fast #(" in tidy and '.MODE("fast")' in tidy and ".i(a)" in tidy
