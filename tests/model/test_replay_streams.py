"""Kernels that read and write streams of the board on the model: cycles as the simulated board measured them."""

import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: by packets: cycles of log_packets on the simulated board (`examples/packets/host.py --packets N` of the default board)
MEASURED = {300: 6174, 50: 1141}


def test_a_stream_of_the_board_gives_and_takes_a_value_a_cycle(monkeypatch):
    monkeypatch.setenv("SLUICE_DEVICE", "model")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), str(EXAMPLES / "packets"), *sys.path])
    monkeypatch.delitem(sys.modules, "host", raising=False)
    import host

    try:
        for count, measured in MEASURED.items():
            (launch,) = host.main(["--packets", str(count)])  # compares the bytes of memory and stream
            cycles = launch.event.stats.to_dict()["cycles"]
            assert launch.cycles < cycles == pytest.approx(measured, rel=0.01)
    finally:
        del sys.modules["host"]
