"""Fixtures shared by the tests of parts of the compiler."""

import pytest

from hls.passes.memory.forward_stores import ForwardStores
from hls.passes.memory.hoist_loads import HoistLoads
from hls.passes.memory.scalar_promotion import ScalarPromotion


@pytest.fixture
def where_written(monkeypatch):
    """Loads stay in the loops in which the source has them."""
    monkeypatch.setattr(HoistLoads, "run", lambda self, function: function)


@pytest.fixture
def through_memory(monkeypatch):
    """Every access of a kernel goes to memory: none is replaced by a register."""
    for each in (ForwardStores, ScalarPromotion):
        monkeypatch.setattr(each, "run", lambda self, function: function)
