"""Names of cells by the lines of Verilog that they come from, without a tool."""

import pytest

from sim.synthesis.sources import source_names
from sim.synthesis.wrapper import TOP

TEXT = """module k(a, b);
endmodule
module level1(a, b);
  wire ult_L7 = a < b;
  assign i__payload$2 = {1'h0, ult_L7};
  always @(posedge clk)
    if (enter)
      carried[3:0] <= carried + b;
endmodule
module fifo(a);
  wire [3:0] after = a + 1'h1;
endmodule
"""


def _scope(first, last):
    return {"type": "$scopeinfo", "attributes": {"module_src": f"k.v:{first}.1-{last}.10"}}


def _cell(source=""):
    return {
        "type": "LUT4",
        "attributes": {"src": f"{source}|/share/map.v:1.2-3.4" if source else "/share/map.v:1.2-3.4"},
    }


@pytest.fixture
def names():
    cells = {
        "design": _scope(1, 2),
        "design.k.level1": _scope(3, 9),
        "design.k.first": _scope(10, 12),
        "design.k.second": _scope(10, 12),
        "design.k.first.words_DI_LUT4_Z_CCU2C_COUT": _cell("k.v:4.17-4.22"),
        "design.k.first.words_DI_LUT4_Z": _cell(),
        "design.k.first.words_DI_LUT4_Z_CCU2C_COUT_B1_LUT4_Z": _cell(),
        "design.k.second.level_CCU2C_S0": _cell("k.v:11.22-11.30"),
        "design.m_port_CCU2C_S0": _cell("k.v:11.22-11.30"),
        "design.m_port_2_CCU2C_S0": _cell("k.v:8.22-8.33"),
        "design.k.first.i_TRELLIS_FF_Q": _cell("k.v:6.3-8.34"),
        "held_TRELLIS_FF_Q_DI_CCU2C_S0": _cell("k.v:5.10-5.33"),
        f"{TOP}_x": _cell(f"{TOP}.v:4.1-4.9"),
    }
    return source_names(cells, {"k.v": TEXT})


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        # a comparison that synthesis named after the queue that takes it, and what is named after the comparison
        ("design.k.first.words_DI_LUT4_Z_CCU2C_COUT", "design.k.level1.ult_L7"),
        ("design.k.first.words_DI_LUT4_Z_CCU2C_COUT$CCU2_COMB1", "design.k.level1.ult_L7"),
        ("design.k.first.words_DI_LUT4_Z_CCU2C_COUT_B1_LUT4_Z", "design.k.level1.ult_L7"),
        # no source, and before the comparison: the queue's
        ("design.k.first.words_DI_LUT4_Z", "design.k.first.words_DI_LUT4_Z"),
        # of two instances of a module, that in which the name is; none if it is in neither
        ("design.k.second.level_CCU2C_S0", "design.k.second.after"),
        ("design.m_port_CCU2C_S0", "design.m_port_CCU2C_S0"),
        ("design.m_port_2_CCU2C_S0", "design.k.level1.carried"),
        # a register whose output has the name of another instance's input
        ("design.k.first.i_TRELLIS_FF_Q", "design.k.level1.i_TRELLIS_FF_Q"),
        # logic of the design that has the name of the register in the surroundings which takes it
        ("held_TRELLIS_FF_Q_DI_CCU2C_S0", "design.k.level1.i__payload$2"),
        (f"{TOP}_x", f"{TOP}_x"),
    ],
)
def test_a_cell_has_the_name_of_what_it_was_made_of(names, cell, name):
    assert names.of(cell) == name
