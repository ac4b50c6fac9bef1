"""A simulator that is interrupted while it starts."""

from types import SimpleNamespace

import pytest

import sim.loaded
from hls.target.board import load_board
from sim.loaded import LoadedSystem


class Simulator:
    """Stands for a session."""

    abandoned = False

    def __init__(self, *given):
        self.closed = False

    def reset(self, seed):
        pass

    def close(self):
        self.closed = True


def test_a_simulator_is_used_with_its_probe_or_not_at_all(monkeypatch):
    """A host program may catch the interrupt and launch again: without the probe nothing would count."""
    made, probes = [], []

    def session(*given):
        made.append(Simulator())
        return made[-1]

    def probe(*given):
        probes.append(given)
        if len(probes) == 1:
            raise KeyboardInterrupt
        return "probe"

    board = load_board("de5net")
    memories = [
        SimpleNamespace(name=one.name, interleave_bytes=one.interleave_bytes, banks=len(one.banks))
        for one in board.memories
    ]
    interface = SimpleNamespace(top="top", probe="map", kernels=(), layouts={}, memories=memories, clock_mhz=240.0)
    monkeypatch.setattr(sim.loaded, "build", lambda *given: SimpleNamespace(executable="simulator"))
    monkeypatch.setattr(sim.loaded, "Session", session)
    monkeypatch.setattr(sim.loaded, "Probe", probe)
    system = LoadedSystem({}, interface, board, None)
    with pytest.raises(KeyboardInterrupt):
        _ = system.session
    assert made[0].closed and system.probe is None
    assert system.session is made[1] and system.probe == "probe" and not made[1].closed
