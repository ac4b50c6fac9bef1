"""Settings from the environment."""

import pytest

from sim.build import build
from sim.errors import BuildError
from sim.settings import switch


def test_a_switch(monkeypatch):
    for text, on in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv("SLUICE_SHORT_RUNS", text)
        assert switch("SLUICE_SHORT_RUNS") == on
    monkeypatch.setenv("SLUICE_SHORT_RUNS", "yes")
    with pytest.raises(BuildError, match="SLUICE_SHORT_RUNS must be 0 or 1, not 'yes'"):
        build({}, "sluice_system")
