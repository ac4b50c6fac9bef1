"""The record of a host program: captures of autorun kernels, launches of several threads, limits."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from hls.profile.layout import CYCLES, Account, Layout
from hls.profile.waits import Samples
from hls.target.board import load_board
from sim.cl import timeline
from sim.cl.event import Event, Statistics

ACCOUNTS = (
    Account("0_issued", "issued", category="issue"),
    Account("1_between", "latency between iterations", category="latency"),
    Account("2_drain", "drain", category="drain"),
)


def counters(cycles: int) -> dict[str, int]:
    return {CYCLES: cycles, "account_0_issued": cycles, "account_1_between": 0, "account_2_drain": 0}


class Clock:
    """A probe whose kernels have issued in every cycle so far."""

    cycle = 0

    def counters(self, layout):
        return counters(self.cycle)

    def waits(self, layout):
        return ()

    def level_sums(self, layout):
        return {}

    def replays(self):
        return []


class Compiled:
    def __init__(self, *kernels):
        self.interface = SimpleNamespace(kernels=kernels, probe=None)


def kernel(name: str, autorun: bool = False):
    return SimpleNamespace(name=name, autorun=autorun, layout=Layout(name, 100.0, (), (), ACCOUNTS, counted="accounts"))


class Program:
    """A program with two kernels and an autorun one."""

    def __init__(self):
        self.one, self.two = kernel("one"), kernel("two")
        self.clock = Clock()
        self._compiled = Compiled(self.one, self.two, kernel("always", autorun=True))
        self.source, self._system = "text", SimpleNamespace(probe=self.clock, built=load_board("de5net"))
        self.context = SimpleNamespace(device=SimpleNamespace(board=load_board("de5net")))
        self.queue = Queue()

    def end(self, record: timeline.Timeline, kernel, begin: int, samples=()) -> None:
        cycles = self.clock.cycle - begin
        run = SimpleNamespace(counters=counters(cycles), begin=begin, waits=(), samples=samples, levels={}, banks=())
        space = SimpleNamespace(global_size=(1,), local_size=(1,))
        event = SimpleNamespace(kernel=kernel, command_queue=self.queue, space=space)
        finished = Event(10 * begin, 10 * begin + 10 * cycles, Statistics({}, 0.0), queue=self.queue)
        record.launch(self, run, event, finished)


class Queue:
    pass


@pytest.fixture
def record(monkeypatch):
    monkeypatch.setenv("SLUICE_PROFILE", "folder")
    return timeline.Timeline()


def test_captures_of_launches_that_overlap_begin_with_their_launch(record):
    program = Program()
    program.clock.cycle = 100
    record.begin(program, "one")
    program.clock.cycle = 400
    record.begin(program, "two")
    program.clock.cycle = 600
    program.end(record, program.one, 100)
    program.clock.cycle = 1000
    program.end(record, program.two, 400)
    assert [(one.kernel, one.of, one.cycles) for one in record.launches] == [
        ("one", None, 500),
        ("always", 0, 500),
        ("two", None, 600),
        ("always", 2, 600),
    ]


def test_launches_of_several_threads_have_numbers_of_their_own(record):
    programs = [Program() for _ in range(8)]

    def launch(program: Program) -> None:
        for _ in range(50):
            begin = program.clock.cycle
            record.begin(program, "one")
            program.clock.cycle += 10
            program.end(record, program.one, begin)

    with ThreadPoolExecutor(len(programs)) as pool:
        list(pool.map(launch, programs))
    assert [one.number for one in record.launches] == list(range(800))
    assert all(record.launches[one.launch].kernel == "one" for one in record.commands)
    assert all(record.launches[one.of].program == one.program for one in record.launches if one.capture)


def test_samples_of_all_launches_are_limited(record, monkeypatch):
    monkeypatch.setattr(timeline, "MOST_SAMPLES", 25)
    rows = np.full(10, 64, np.uint32)
    program = Program()
    for _ in range(4):
        begin = program.clock.cycle
        program.clock.cycle += 640
        program.end(record, program.one, begin, (Samples(begin, 64, 0, {}, (rows, 0 * rows), {}, {}, {}),))
    assert [len(one.samples) for one in record.launches] == [1, 1, 0, 0] and record.unsampled == 2


def test_nothing_is_kept_unless_asked_for(monkeypatch):
    for name in ("SLUICE_PROFILE", "SLUICE_STATS_FILE"):
        monkeypatch.delenv(name, raising=False)
    record, program = timeline.Timeline(), Program()
    record.begin(program, "one")
    program.end(record, program.one, 0)
    record.command("build")
    assert not record.launches and not record.commands and not record.statistics
    monkeypatch.setenv("SLUICE_STATS_FILE", "file")
    record = timeline.Timeline()
    program.end(record, program.one, 0)
    assert len(record.statistics) == 1 and not record.launches and not record.commands
