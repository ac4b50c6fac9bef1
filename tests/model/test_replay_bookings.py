"""Levels that share write ports, and copies of local memory that are all in use, on the replay: their cycles are those
of the simulated board, whose memory was reset before."""

from pathlib import Path

import numpy as np
import pytest

import tests.kernels
from hls.ir.launch import IndexSpace
from hls.model.replay import machine
from sim.model import Launched
from tests.kernels.system import KernelSystem, Launch

from .compare import _starts
from .replays import replayer

SOURCE = (Path(tests.kernels.__file__).parent / "bookings.cl").read_text()
BOARD = "de5net"
RNG = np.random.default_rng(11)


def groups(count, size, **scalars):
    n = count * size
    buffers = {"in": RNG.integers(-1000, 1000, n).astype(np.int32), "out": np.zeros(n, np.int32)}
    return Launch(buffers, scalars, (n,), (size,))


def rows(size, n, type):
    return Launch({"in": RNG.integers(1, 100, size).astype(type), "out": np.zeros(size, type)}, {"n": n})


LAUNCHES = {
    "around": groups(40, 16),
    "rounds": groups(9, 32, n=3),
    "crosswise": groups(40, 16),
    "beside_atomics": groups(24, 16),
    "crowded": groups(64, 16),
    "decomposed": rows(256, 16, np.float32),
    "halves": rows(384, 20, np.int32),
    "triples": rows(256, 3, np.int32),
}


def replayed(kernel, launch, addresses, start=None):
    """The cycles of a launch on the replay, with its buffers at these addresses, that starts in that cycle of the
    board; None: at once."""
    made = replayer(SOURCE, BOARD)
    buffers = {name: array.copy() for name, array in launch.buffers.items()}
    space = IndexSpace.of(launch.global_size, launch.local_size, launch.offset)
    started = made.emulator.start(kernel, buffers, launch.scalars, space)
    made.emulator.advance(last=True)
    made.restart()
    cycle = 0 if start is None else start - made.register_cycles(kernel)
    return made.replay([Launched(started, addresses)], cycle)[0].cycles


@pytest.mark.verilator
def test_cycles_are_those_of_the_board():
    system = KernelSystem(SOURCE, BOARD)
    try:
        for kernel, launch in LAUNCHES.items():
            with _starts() as started:
                (stats,) = system.check(kernel, [launch])
            found = replayed(kernel, launch, system.addresses(kernel, launch), started[-1])
            assert abs(found / stats["cycles"] - 1) <= 0.003, (kernel, found, stats["cycles"])
    finally:
        system.close()


def without_bookings(plan, regions):
    return []


def twice_the_copies(plan, level, window):
    until, stage, most, *rest = WINDOW(plan, level, window)
    return [until, stage, 2 * most, *rest]


WINDOW = machine._window


@pytest.mark.parametrize(
    "kernel, name, other", [("rounds", "booking_numbers", without_bookings), ("crowded", "_window", twice_the_copies)]
)
def test_what_is_shared_counts(monkeypatch, kernel, name, other):
    """Without reservations of a port, or with more copies, a launch ends earlier: the engine reads what it is given."""
    launch = LAUNCHES[kernel]
    addresses = {buffer: 4096 * (k + 1) for k, buffer in enumerate(launch.buffers)}
    usual = replayed(kernel, launch, addresses)
    monkeypatch.setattr(machine, name, other)
    assert replayed(kernel, launch, addresses) < usual - 10
