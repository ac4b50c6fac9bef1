"""Block RAMs and DSP blocks that are planned are those that Yosys maps, in families of four-input LUTs."""

import pytest

from tests.boards.area import version
from tests.boards.inference import SMALL, infer


@pytest.mark.parametrize("family", ["ecp5", "gowin", "nexus"])
def test_what_is_planned_is_mapped(family):
    try:
        version()
    except RuntimeError as missing:
        pytest.skip(str(missing))
    found = infer(SMALL, family)
    assert found.holds, f"planned {found.planned}, mapped {found.mapped}"
    assert found.planned.rams > 0 and found.planned.dsps > 0
