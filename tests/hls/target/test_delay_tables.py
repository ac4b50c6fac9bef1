"""Delay tables: complete, sensible, and refused when they are not."""

from importlib import resources

import pytest

from hls.planning.memory import LsuKind
from hls.target.board import BoardError
from hls.target.delay import OP_CLASSES, known_delays, load_delays, read_delays
from hls.target.table import read_toml
from tests.boards.delay_fit import SAID

OF_DEVICES = (
    *("arria10", "cyclonev_7", "ecp5", "ecp5_6", "ecp5_8", "gw2a_c8", "nexus_9", "stratixv"),
    *("ultrascaleplus", "xc7_1"),
)
WIRES = ["const_shl", "const_lshr", "const_ashr", "trunc", "zext", "sext", "bitcast", "extract", "insert"]


def test_known_delays():
    assert known_delays() == tuple(sorted((*OF_DEVICES, "unit")))


def test_a_faster_grade_is_faster():
    six, eight, best = (load_delays(name, 8.0) for name in ("ecp5_6", "ecp5_8", "ecp5"))
    assert (six.grade, eight.grade, six.family, eight.family) == ("6", "8", "ecp5", "ecp5")
    for op in ("add", "ult", "xor", "ram_out"):
        delays = [model.overhead_ns + model.delay(op, 32) for model in (best, eight, six)]
        assert delays == sorted(delays), op


def test_fitted_tables_say_what_they_were_fitted_with():
    for name in known_delays():
        text = resources.files("hls.target").joinpath(f"delays/{name}.toml").read_text()
        assert (SAID in text) == load_delays(name, 5.0).fitted, name


@pytest.mark.parametrize("name", OF_DEVICES)
class TestTables:
    def test_delays_grow_with_width(self, name):
        model = load_delays(name, 4.0)
        for op in OP_CLASSES:
            delays = [model.delay(op, width) for width in (1, 2, 8, 32, 64)]
            assert delays == sorted(delays), op
            assert delays[0] >= 0

    def test_wires_take_nothing_and_logic_something(self, name):
        model = load_delays(name, 4.0)
        assert all(model.delay(op, 64) == 0 for op in WIRES)
        assert all(model.delay(op, 2) > 0 for op in OP_CLASSES - set(WIRES))

    def test_one_row_of_logic_is_the_cheapest(self, name):
        model = load_delays(name, 4.0)
        row = model.delay("xor", 32)
        assert row == pytest.approx(model.hop + model.lut)
        assert row < model.delay("add", 32) and row < model.delay("eq", 32) and row < model.delay("shl", 32)


def test_comparison_tree_of_four_input_luts():
    """32 + 32 inputs: 16, 4, 1 LUTs in three rows; 4 + 4 inputs: 2, 1."""
    model = load_delays("ecp5", 8.0)
    row = model.delay("xor", 1)
    assert [round(model.delay("eq", width) / row) for width in (1, 2, 4, 8, 32, 64)] == [1, 1, 2, 2, 3, 4]


def test_ecp5_adder_agrees_with_place_and_route():
    """A 32-bit adder alone between registers runs at 451 MHz there, with less routing than a filled device has."""
    model = load_delays("ecp5", 8.0)
    routed = model.clk_to_q + model.setup + model.delay("add", 32) - model.hop
    assert routed < 1000 / 451 < routed + model.hop


def test_unit_model():
    model = load_delays("unit", 3.0)
    assert (model.overhead_ns, model.period_ns) == (0.0, 3.0)
    assert model.delay("add", 7) == model.delay("eq", 64) == 1.0
    assert model.delay("zext", 64) == 0.0


def test_unknown_class_and_width():
    model = load_delays("unit", 3.0)
    with pytest.raises(KeyError):
        model.delay("teleport", 8)
    with pytest.raises(ValueError, match="at least 1"):
        model.delay("add", 0)
    with pytest.raises(ValueError, match="must be positive"):
        load_delays("unit", 0)
    with pytest.raises(BoardError, match="cannot be read"):
        load_delays("none", 1.0)


UNIT = '[[unit]]\ndirection = "load"\nkind = "burst"\nmhz = 100\n'


def test_units_are_those_that_the_compiler_builds():
    built = {(kind.direction, name) for kind in LsuKind for name in (kind.words, kind.wide_words)}
    tables = {name: load_delays(name, 5.0) for name in known_delays()}
    assert {name for name, table in tables.items() if table.units} == {"ecp5", "ecp5_6", "ecp5_8"}
    for table in tables.values():
        assert set(table.units) <= built and (table.fitted or not table.units)
    assert tables["ecp5_6"].units["load", "burst-coalesced cached"] < tables["ecp5_6"].units["load", "burst-coalesced"]


@pytest.mark.parametrize(
    "old, new, key, expected",
    [
        ("hop = 0.0", "hop = -1.0", "hop", "between 0 and 100"),
        ("fitted = false", "fitted = 0", "fitted", "must be true or false, not 0"),
        ("fitted = false", "", "fitted", "is missing; expected true or false"),
        ('"add", ', "", "delay", "gives no delay for add"),
        ('"add", ', '"add", "add", ', "delay[0].ops", "'add' is given twice"),
        ('"add", ', '"add", "fma", ', "delay[0].ops", "'fma' is no class"),
        ("base = 1.0", "bass = 1.0", "delay[0].bass", "did you mean base"),
        ("[[delay]]", UNIT.replace("load", "read") + "[[delay]]", "unit[0].direction", "'read' is none of load"),
        ("[[delay]]", 2 * UNIT + "[[delay]]", "unit[1].kind", "'burst' is given twice for a load"),
        ("[[delay]]", UNIT.replace("100", "0") + "[[delay]]", "unit[0].mhz", "between 1 and"),
    ],
)
def test_wrong_tables_are_refused(tmp_path, old, new, key, expected):
    text = resources.files("hls.target").joinpath("delays/unit.toml").read_text()
    assert old in text
    file = tmp_path / "table.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(BoardError, match=expected) as caught:
        read_delays(read_toml(file), "table", 1.0)
    assert (caught.value.file, caught.value.key) == (str(file), key)
