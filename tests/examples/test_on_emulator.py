"""Every example on the emulator, at full size: correct bytes."""

import pytest
from hosts import SMALL, launches_of, load


@pytest.mark.parametrize("name", sorted(SMALL))
def test_result(name, monkeypatch, capsys):
    monkeypatch.setenv("SLUICE_DEVICE", "emulator")
    found = load(name).main([])
    assert capsys.readouterr().out.count("result check passed") == len(found) > 0
    assert {launch.event.stats.to_dict()["device"] for launch in launches_of(found)} == {"emulator"}
