"""What tests of parts of the compiler share."""

import pytest

from hls.passes.forward import Forward
from hls.passes.promote import Promote
from hls.passes.steady_loads import SteadyLoads


@pytest.fixture
def where_written(monkeypatch):
    """Loads stay in the loops in which the source has them."""
    monkeypatch.setattr(SteadyLoads, "run", lambda self, function: function)


@pytest.fixture
def through_memory(monkeypatch):
    """Every access of a kernel goes to memory: none is replaced by a register."""
    for each in (Forward, Promote):
        monkeypatch.setattr(each, "run", lambda self, function: function)
