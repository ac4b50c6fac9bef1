"""Fitting the figures of the delay table to measured delays, and writing them into its file."""

import tomllib
from dataclasses import replace

import pytest

from hls.target.delay import OP_CLASSES, load_delays, read_delays
from hls.target.table import Table
from tests.boards.delay_fit import MARGIN_NS, SAID, STEP_NS, WIDTHS, Fit, fit, fit_level, rewritten
from tests.boards.pnr_delays import FOLDER, PROBES

TABLE = FOLDER / "ecp5.toml"
TEXT = TABLE.read_text()
MODEL = load_delays("ecp5", 5.0)


def measured(row=0.9, add=(1.3, 0.02), ult=(1.7, 0.02), eq=(2, 3, 3, 4), shl=(3, 4, 5, 6), ram=2.1) -> dict[str, float]:
    """Delays of a device in which each class follows its formula; ``eq`` and ``shl`` in rows of logic by width."""
    found = {name: row for name in ("xor_8", "xor_32", "select_8", "select_32")} | {"ram_out_1": ram}
    for k, width in enumerate(WIDTHS):
        found |= {
            f"add_{width}": add[0] + add[1] * width,
            f"ult_{width}": ult[0] + ult[1] * width,
            f"eq_{width}": row * eq[k],
            f"shl_{width}": row * shl[k],
        }
    return found


def fitted(found):
    text = rewritten(TEXT, fit(found, MODEL), f"{SAID} a test")
    return read_delays(Table(TABLE, "", tomllib.loads(text)), "ecp5", 5.0)


def test_every_class_that_is_fitted_is_measured():
    entries = fit(measured(), MODEL).entries
    assert set(entries) - {"ram_out"} <= {probe.opclass for probe in PROBES}


@pytest.mark.parametrize("rows", [(2, 2, 3, 3), (2, 3, 3, 4), (3, 3, 4, 5), (3, 4, 5, 6)])
def test_a_device_that_follows_the_formula_is_found(rows):
    found = measured(eq=rows, shl=rows)
    model = fitted(found)
    row = 0.9 + MARGIN_NS
    assert model.delay("xor", 32) == pytest.approx(row, abs=STEP_NS / 2)
    for k, width in enumerate(WIDTHS):
        assert model.delay("add", width) == pytest.approx(found[f"add_{width}"] + MARGIN_NS, abs=STEP_NS / 2)
        assert model.delay("ult", width) == pytest.approx(found[f"ult_{width}"] + MARGIN_NS, abs=STEP_NS / 2)
        for opclass in ("eq", "shl"):
            assert model.delay(opclass, width) == pytest.approx(rows[k] * model.delay("xor", 1)), (opclass, width)
    assert model.delay("ram_out", 18) + model.hop == pytest.approx(2.1 + MARGIN_NS, abs=STEP_NS / 2)


def test_classes_that_are_not_measured_stay():
    model = fitted(measured(row=1.0))
    for opclass in OP_CLASSES - {"add", "sub", "neg", "ult", "slt", "ram_out"}:
        assert replace(model.costs[opclass], luts=0, luts_per_doubling=0) == replace(
            MODEL.costs[opclass], luts=0, luts_per_doubling=0
        )
    assert model.costs["fifo_out"] == MODEL.costs["fifo_out"]
    assert (model.clk_to_q, model.setup, model.lut, model.level) == (
        MODEL.clk_to_q,
        MODEL.setup,
        MODEL.lut,
        MODEL.level,
    )


def test_a_level_is_the_mean_of_the_parts():
    text = rewritten(TEXT, fit_level([0.8, 1.0, 1.5]), f"{SAID} a test")
    assert read_delays(Table(TABLE, "", tomllib.loads(text)), "ecp5", 5.0) == replace(MODEL, level=1.1)


def test_only_figures_change_in_the_file():
    """Lines stay, and so do comments and their columns; the line that says what was measured is another one."""
    before, after = TEXT.splitlines(), rewritten(TEXT, fit(measured(row=1.1), MODEL), f"{SAID} a test").splitlines()
    assert len(before) == len(after)
    changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    assert (f"{SAID} a test") in [other for _, other in changed]
    for one, other in changed:
        if not one.startswith(SAID):
            assert (
                one.partition(" = ")[0] == other.partition(" = ")[0]
                and one.partition("#")[2] == other.partition("#")[2]
            )
            assert one.find("#") == other.find("#")
    assert any(one.startswith("hop = ") for one, _ in changed)


def test_the_figures_of_the_table_change_nothing():
    entries = {opclass: vars(MODEL.costs[opclass]) for opclass in ("add", "ult", "eq", "shl", "ram_out")}
    entries = {opclass: {key: value for key, value in costs.items() if value} for opclass, costs in entries.items()}
    said = next(line for line in TEXT.splitlines() if line.startswith(SAID))
    assert rewritten(TEXT, Fit(MODEL.hop, MODEL.level, entries), said) == TEXT


@pytest.mark.parametrize(
    ("figures", "said", "message"),
    [
        (Fit(entries={"divide": {"base": 1}}), SAID, "0 entries of the table name 'divide'"),
        (Fit(entries={"add": {"luts": 1}}), SAID, "no line of the table sets luts"),
        (Fit(), f"{SAID} twice", "no line of the table begins with"),
    ],
)
def test_a_figure_without_a_line_is_refused(figures, said, message):
    text = TEXT if "twice" not in said else TEXT.replace(SAID, "#")
    with pytest.raises(ValueError, match=message):
        rewritten(text, figures, said)
