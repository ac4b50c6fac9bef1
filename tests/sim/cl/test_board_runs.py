"""When launches begin, in which order they end, and what becomes of them when the simulation fails: on a system made up here."""

from types import SimpleNamespace

import pytest

from hls.ir import Module
from hls.profile.layout import Channel, Layout
from hls.rtl.interface import KernelInterface
from sim import cl
from sim.cl.board_runs import BoardRuns
from sim.errors import SimulationError
from sim.loaded import Run


def kernel(name: str, joined: bool = True) -> KernelInterface:
    channels = (Channel("end", "c", True, 2, 1),) if joined else ()
    return KernelInterface(name, 0, 0, (), False, {}, (), Layout(name, 100.0, (), (), (), False, channels))


class System:
    """Kernels take the cycles given by name; of those that run the one that ends first does. ``stuck`` ones never end."""

    def __init__(self, **cycles: int):
        self.cycles, self.now, self.ends, self.log, self.stuck, self.status = cycles, 0, {}, [], set(), 0
        self.interface = SimpleNamespace(clock_mhz=100.0, ram=())
        self.session = SimpleNamespace(cycle=lambda: self.now)

    @property
    def running(self):
        return list(self.ends)

    def start(self, kernel, arguments, launch, forget):
        assert kernel.name not in self.ends, "started while it ran"
        self.log.append(f"start {kernel.name}")
        self.now += 3  # registers are written
        self.ends[kernel.name] = self.now + self.cycles[kernel.name]

    def advance(self):
        able = {name: end for name, end in self.ends.items() if name not in self.stuck}
        if not able:
            self.ends.clear()
            raise SimulationError("the kernels wait for each other")
        name = min(able, key=able.get)
        self.now = max(self.now, self.ends.pop(name))
        self.log.append(f"end {name}")
        return name, Run(self.cycles[name], {}, self.status, (), 0, 0.0)


@pytest.fixture
def make():
    def made(**cycles):
        system = System(**cycles)
        program = SimpleNamespace(system=system, source="", context=SimpleNamespace(simulated=SimpleNamespace(now_ns=1000.0, memory=None)),
                                  result=SimpleNamespace(decode=lambda name, counters: {"kernel": name}, module=Module()))
        runs, queues = BoardRuns(program), [SimpleNamespace(unfinished=[]) for _ in range(3)]
        return system, runs, queues, lambda queue, name, joined=True: runs.add(queues[queue], kernel(name, joined), [], None, ({}, {}))
    return made


def test_launches_of_several_queues_run_at_once(make):
    system, _, _, launch = make(a=100, b=50)
    first, second = launch(0, "a"), launch(1, "b")
    assert system.log == ["start a", "start b"] and not first.done
    first.wait()
    assert system.log[2:] == ["end b", "end a"] and second.done
    assert (first.profile.start, first.profile.end) == (1000, 2000)
    assert second.profile.start == 1030, "three cycles of 10 ns later"
    assert second.stats.to_dict() == {"kernel": "b"}


def test_launches_of_one_queue_run_one_after_the_other(make):
    system, _, _, launch = make(a=10, b=10)
    launch(0, "a")
    last = launch(0, "b")
    assert system.log == ["start a"]
    last.wait()
    assert system.log == ["start a", "end a", "start b", "end b"]
    assert last.profile.start >= 1100


def test_a_kernel_runs_once_at_a_time(make):
    system, _, _, launch = make(a=10)
    launch(0, "a")
    launch(1, "a").wait()
    assert system.log == ["start a", "end a", "start a", "end a"]


def test_others_run_to_their_end_at_once(make):
    _, _, queues, launch = make(a=100, alone=5)
    waits = launch(0, "a")
    assert launch(1, "alone", joined=False).done and not waits.done
    assert launch(0, "alone", joined=False).done and waits.done, "behind what its queue has not finished"
    assert len(queues[0].unfinished) <= 1


def test_a_launch_that_is_done_leaves_its_queue(make):
    _, _, queues, launch = make(a=1)
    for _ in range(4):
        launch(0, "a").wait()
    assert len(queues[0].unfinished) == 1


def test_kernels_that_never_end_are_given_up_together(make):
    system, _, _, launch = make(a=1, b=1)
    system.stuck = {"a", "b"}
    first, second, behind = launch(0, "a"), launch(1, "b"), launch(1, "a")
    for event in (first, second, behind):
        with pytest.raises(cl.RuntimeError, match="OUT_OF_RESOURCES - the kernels wait for each other"):
            event.wait()
    system.stuck = set()
    launch(0, "a").wait()


def test_what_follows_a_launch_that_failed_is_not_started(make):
    system, _, _, launch = make(a=1, b=1)
    first, behind = launch(0, "a"), launch(0, "b")
    system.status = 1
    with pytest.raises(cl.RuntimeError, match="kernel a ended with error bits 0x1"):
        first.wait()
    with pytest.raises(cl.RuntimeError, match="kernel b was not started: the launch before it in its queue failed"):
        behind.wait()
    assert "start b" not in system.log


def test_a_launch_that_breaks_a_promise_does_not_begin(make):
    system, runs, _, launch = make(a=10, b=20)
    runs._promises = SimpleNamespace(violation=lambda kernel, *rest: "k.cl:6:1: error: it does not hold" if kernel.name == "a" else None)
    with pytest.raises(cl.RuntimeError, match="k.cl:6:1: error: it does not hold"):
        launch(0, "a", False)
    launch(0, "b", False)
    assert system.log == ["start b", "end b"]
    with pytest.raises(cl.RuntimeError, match="it does not hold"):
        launch(1, "a").wait()
