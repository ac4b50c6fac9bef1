"""Parts, wrapper, netlist and timing of `sluice synth`, without a tool."""

from types import SimpleNamespace

import pytest

from hls.profile.layout import Layout, Loop
from hls.report.facts.synthesis import Place
from sim.synthesis.advice import advice_for, say_place
from sim.synthesis.cells import Used, count_cells, total
from sim.synthesis.device import open_part
from sim.synthesis.flows import ECP5, GOWIN, NEXUS
from sim.synthesis.places import Places
from sim.synthesis.result import resources
from sim.synthesis.timing import PathStep, Timing, read_timing
from sim.synthesis.wrapper import TOP, Port, pads, ports_of, wrapper

LOOP = Loop(key="loop_i_L6", label="i", line=6, static_ii=1, interleaving=1)
ADD = Place("k", "i", "arithmetic", "fadd_L7_fadd", 7)


@pytest.fixture
def places():
    kernel = SimpleNamespace(
        name="k", layout=Layout(kernel="k", clock_mhz=100.0, loops=(LOOP,), accesses=(), accounts=())
    )
    return Places(SimpleNamespace(kernels=(kernel,)), {"k": 3})


@pytest.mark.parametrize(
    ("part", "flow", "options"),
    [
        ("LFE5UM5G-85F-8BG756C", ECP5, "--um5g-85k --package CABGA756 --speed 8"),
        ("LFE5U-85F-6BG381C", ECP5, "--85k --package CABGA381 --speed 6"),
        ("LFE5U-25F-8MG285I", ECP5, "--25k --package CSFBGA285 --speed 8"),
        ("LFE5UM-45F-7BG554C", ECP5, "--um-45k --package CABGA554 --speed 7"),
        ("LIFCL-40-9BG400C", NEXUS, ""),
        ("GW2A-LV18PG256C8/I7", GOWIN, "--device GW2A-LV18PG256C8/I7 --vopt family=GW2A-18"),
    ],
)
def test_parts_are_named_as_nextpnr_does(part, flow, options):
    found = open_part(part)
    assert (found.flow, " ".join(found.options)) == (flow, options)


@pytest.mark.parametrize("part", ["5SGXEA7N2F45C2", "GW2A-LV18EQ144C8/I7"])
def test_parts_that_no_open_flow_places(part):
    assert open_part(part) is None


def test_constraints_of_the_flows():
    clocks, pins = {"clk": 80.0, "sync2x_clk": 160.0}, dict(zip(pads(("clk", "sync2x_clk")), "ABCDE", strict=True))
    assert 'FREQUENCY PORT "sync2x_clk" 160.0 MHZ;' in ECP5.constraints(clocks, {})["design.lpf"]
    gowin = GOWIN.constraints(clocks, pins)
    assert "create_clock -name clk -period 12.5000 [get_ports clk]" in gowin["design.sdc"]
    assert gowin["design.cst"].splitlines()[-1] == 'IO_LOC "shift_out" E;'
    for flow in (ECP5, GOWIN):
        files = {option.removeprefix("cst=") for option in flow.options}
        assert set(flow.constraints(clocks, pins)) <= files


def test_the_wrapper_connects_every_bit_once():
    text = (
        "module t(clk, rst, a, b, c);\n  input clk;\n  wire clk;\n  input rst;\n  input [7:0] a;\n"
        "  output b;\n  output reg [3:0] c = 4'h0;\nendmodule\nmodule u(x);\n  input x;\nendmodule\n"
    )
    ports = ports_of(text, "t")
    assert ports == (
        Port("clk", "input", 1),
        Port("rst", "input", 1),
        Port("a", "input", 8),
        Port("b", "output", 1),
        Port("c", "output", 4),
    )
    made = wrapper("t", ports, ("clk",))
    assert ".clk(clk)" in made and made.count("_bring[") == 2 and "_bring[8:1])" in made and "_given[4:1])" in made
    with pytest.raises(ValueError, match="no module v"):
        ports_of(text, "v")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("design.k.top.loop_i_L6.level0.fadd_L7_fadd.cut4_lost_TRELLIS_FF_Q_22_DI_LUT4_Z", ADD),
        ("design.k.top.loop_i_L6.level0.i_3_TRELLIS_FF_Q", Place("k", "i", "state", "level0", 6)),
        ("design.k.static_.slt_L6_2_CCU2C_COUT", Place("k", "", "launch-invariant values", "static_", 6)),
        ("design.k.load_a_L9_port.data_LUT4_Z", Place("k", "", "access units", "load_a_L9_port", 9)),
        ("design.k_control.cycles_TRELLIS_FF_Q", Place("k", "", "kernel dispatch", "cycles", 3)),
        ("design.k_counters.residue0_1_TRELLIS_FF_Q", Place("k", "", "hardware counters", "residue0_1", 3)),
        ("design.read_interconnect.x_LUT4_Z", Place(role="global interconnect", part="read_interconnect")),
        ("design.k.top.loop_i_L6.level0.fadd_L7_fadd.x_DFFRE_Q_3_D_LUT3_F", ADD),
        ("design.k.top.loop_i_L6.level0.fadd_L7_fadd.x_FD1P3IX_Q_3_D_WIDEFN9_Z", ADD),
        ("design.k.top.loop_i_L6.level0.fadd_L7_fadd.x_MULTADDSUB18X18_Z", ADD),
        ("design.k.top.loop_i_L6.level0.i_3_ALU_SUM_2", Place("k", "i", "state", "level0", 6)),
        ("surroundings_held_TRELLIS_FF_Q", None),
    ],
)
def test_a_cell_is_led_back_to_its_source(places, name, place):
    assert places.of(name) == place


def _cell(kind, source="k.v:1.2-3.4"):
    return {"type": kind, "attributes": {"src": source}}


def test_cells_are_counted_without_those_of_the_wrapper(places):
    add = "design.k.top.loop_i_L6.level0.fadd_L7_fadd"
    cells = {
        f"{add}.a_LUT4_Z": _cell("LUT4"),
        f"{add}.a_CCU2C_S0": _cell("CCU2C"),
        f"{add}.p": _cell("MULT18X18D"),
        f"{add}.q_PFUMX_Z": _cell("PFUMX"),
        "design.k_control.cycles_TRELLIS_FF_Q": _cell("TRELLIS_FF"),
        "design.k.load_a_L9_port.data_TRELLIS_FF_Q": _cell("TRELLIS_FF", f"{TOP}.v:3.1|/share/cells_map.v:1.1"),
        "surroundings_LUT4_Z": _cell("LUT4"),
    }
    found = count_cells(cells, places, ECP5.cells)
    assert found[ADD] == Used(places=3, luts=1, carries=1, dsps=1) and found[ADD].logic == 3
    assert total(found) == Used(places=3, luts=1, carries=1, registers=1, dsps=1)


def _estimate(kernel, role, line, **used):
    span = {"file": "k.cl", "line": line} if line else None
    resources = dict.fromkeys(("logic", "registers", "rams", "dsps"), 0) | used
    return {"kernel": kernel, "role": role, "span": span, "resources": resources}


def test_mapped_figures_stand_beside_estimates():
    copies = {"name": "k0", "copies": {"names": ["k0", "k1"]}}
    report = {
        "kernels": [copies],
        "lines": [
            _estimate("", "board interface", 3, logic=7),
            _estimate("k0", "arithmetic", 7, logic=50, dsps=2),
            _estimate("k0", "local memory", 5, rams=2),
        ],
    }
    found = {
        Place("k0", "i", "arithmetic", "a", 7): Used(places=20, luts=10, carries=5, dsps=1),
        Place("k1", "i", "arithmetic", "a", 7): Used(places=20, luts=20, registers=1, dsps=1),
        Place(role="board interface", part="control_windows"): Used(places=10, luts=10),
    }
    one = resources(found, report)
    assert (one.design.logic.mapped, one.design.logic.estimated, one.design.dsps.error) == (50, 57, 0.0)
    assert (one.design.rams.mapped, one.design.rams.estimated, one.design.rams.error) == (0, 2, None)
    errors = [(row.kernel, row.logic.mapped, row.logic.error) for row in one.kernels]
    assert errors == [("", 10, -30.0), ("k0", 40, 25.0)]
    assert [(row.kernel, row.part, row.mapped.luts) for row in one.parts] == [
        ("", "board interface", 10),
        ("k0", "arithmetic", 30),
    ]
    assert [(row.kernel, row.line, row.mapped.luts) for row in one.lines] == [("", None, 10), ("k0", 7, 30)]


def test_logic_of_rows_may_be_more_than_that_of_the_design():
    """Everything else sums up: where registers bind in one row, and LUTs in another, logic does not."""
    found = {
        Place("k0", "i", "arithmetic", "a", 7): Used(places=20, luts=20, registers=5),
        Place("k0", "i", "state", "s", 6): Used(places=1, luts=1, registers=30),
    }
    one = resources(found, {"kernels": [], "lines": []})
    assert sum(row.mapped.logic for row in one.parts) == 50 and one.design.mapped.logic == 35
    for kind in ("places", "luts", "registers"):
        assert sum(getattr(row.mapped, kind) for row in one.parts) == getattr(one.design.mapped, kind)


def _hop(kind, cell, delay, port="F"):
    return {"type": kind, "delay": delay, "from": {"cell": cell, "port": port}, "to": {"cell": cell, "port": "A"}}


def _path(start, end, *hops):
    return {"from": start, "to": end, "path": hops}


ADD_CELL = "design.k.top.loop_i_L6.level0.fadd_L7_fadd.a_LUT4_Z"
WINDOW = "design.k_control.cycles_TRELLIS_FF_Q"


def _report(**clocks):
    hops = (
        _hop("clk-to-q", WINDOW, 0.5, "Q"),
        _hop("routing", WINDOW, 1.0),
        _hop("logic", ADD_CELL, 0.25),
        _hop("routing", ADD_CELL, 0.75),
        _hop("logic", ADD_CELL, 0.25, "FCI"),
        _hop("setup", ADD_CELL, 0.25),
    )
    return {
        "fmax": {name: {"achieved": mhz} for name, mhz in clocks.items()},
        "critical_paths": [
            _path("posedge clk$a", "posedge clk$a", *hops),
            _path("<async>", "posedge clk$a", _hop("source", "shift_in", 90.0)),
        ],
    }


def test_the_critical_path_is_told_in_places(places):
    timing = read_timing(_report(**{"clk$a": 333.0}), places)
    control = Place("k", "", "kernel dispatch", "cycles", 3)
    assert timing == Timing(333.0, (PathStep(control, 0.5, 0.0, 0), PathStep(ADD, 0.75, 1.75, 1)))
    assert (timing.ns, round(timing.routing, 3)) == (3.0, 0.583)
    assert say_place(ADD) == "fadd_L7_fadd (arithmetic), line 7, loop i, kernel k"


def test_a_double_clock_counts_half(places):
    report = _report(**{"clk$a": 333.0, "sync2x_clk$b": 400.0})
    assert read_timing(report, places, "sync2x_clk").mhz == 200.0
    crossing = _path("posedge clk$a", "posedge sync2x_clk$b", _hop("logic", ADD_CELL, 4.0))
    report["critical_paths"].append(crossing)
    timing = read_timing(report, places, "sync2x_clk")
    assert (timing.mhz, timing.steps) == (125.0, (PathStep(ADD, 4.0, 0.0, 1),))
    with pytest.raises(ValueError, match="no clock"):
        read_timing({"fmax": {}, "critical_paths": []}, places)


def test_advice_is_about_what_is_slow():
    def advice(place, logic, routing, ram=False):
        return " ".join(advice_for(Timing(80.0, (PathStep(place, logic, routing, 3),), ram), 100.0, 100.0))

    assert "--clock 125" in advice(ADD, 8, 4.5) and "--seed" not in advice(ADD, 8, 4.5)
    assert "--seed" in advice(ADD, 2, 10) and "block RAM" in advice(ADD, 8, 4.5, True)
    unit = advice(Place("k", "", "access units", "load_a_L9_unit", 9), 8, 4.5)
    assert "speed grade" in unit and "--clock" not in unit
    assert "larger II" in advice(Place("k", "i", "feedback", "x", 6), 8, 4.5)
    shared = advice(Place(role="board interface", part="control_windows"), 8, 4.5)
    assert "control registers" in shared and "--clock" not in shared and "80 MHz" in shared
    assert not list(advice_for(Timing(100.0, (PathStep(ADD, 8, 2, 3),)), 100.0, 100.0))
