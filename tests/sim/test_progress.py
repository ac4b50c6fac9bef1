"""When kernels are reported to have stopped, and with which message: on mock counters."""

import pytest

from hls.profile.layout import CYCLES, Account, Channel, Layout, Loop
from hls.rtl.interface import CounterInterface, KernelInterface, SystemInterface
from sim.progress import PATIENCE, Progress


def kernel(name: str, writes: bool, index: int = 0, joined: bool = True) -> KernelInterface:
    channels = (Channel("end_of_c", "c", writes, 4, 7 + index),) if joined else ()
    layout = Layout(
        name,
        100.0,
        (Loop("i", "i", 3, 1, 1),),
        (),
        (Account("0_wait", "waiting for channel c to have room", 5 + index),),
        channels=channels,
    )
    counters = tuple(CounterInterface(c.name, 16 * k + 4096, c.bits) for k, c in enumerate(layout.counters))
    return KernelInterface(name, index, index * 0x10000, (), False, {}, counters, layout)


def system(*kernels: KernelInterface) -> SystemInterface:
    return SystemInterface("top", kernels, (64,), (), 30, 1024, 100.0, False)


class Session:
    """Registers with values by (kernel, counter name); ``memory`` says whether an access is on its way."""

    def __init__(self, kernels):
        self.places = {k.base + c.offset: (k.name, c.name) for k in kernels for c in k.counters} | {
            k.base + 0x10: (k.name, CYCLES) for k in kernels
        }
        self.values, self.memory = dict.fromkeys(self.places.values(), 0), False

    def read(self, addresses):
        return [self.values[self.places[a]] if a in self.places else 0 for a in addresses]

    def quiet(self):
        return not self.memory


@pytest.fixture
def joined():
    kernels = [kernel("writer", True), kernel("reader", False, 1)]
    session = Session(kernels)
    return session, Progress(session, kernels[:1], system(*kernels))


def test_a_kernel_that_gets_on(joined):
    session, progress = joined
    assert not progress.look()
    for counter in ("i_issued", "end_of_c_moved", "i_issued"):
        session.values["writer", counter] += 1
        assert not progress.look()
    assert progress.look()


def test_a_memory_that_takes_long_is_no_deadlock(joined):
    session, progress = joined
    session.memory = True
    assert not any(progress.look() for _ in range(20))
    session.memory = False
    assert progress.look()


def test_who_waits_for_what_is_said(joined):
    session, progress = joined
    assert not progress.look()
    session.values["writer", "account_0_wait"] += progress.patience
    session.values["writer", "end_of_c_level"] = 4
    told = progress.look()
    assert "kernel writer has not ended: it is waiting for channel c to have room (line 5)" in told
    assert (
        "channel c holds 4 of 4 values; kernel writer (line 7) writes it, kernel reader (line 8) reads it, which "
        "does not run" in told
    )


def test_a_kernel_without_channels_is_given_longer():
    alone = kernel("alone", True, joined=False)
    progress = Progress(Session([alone]), [alone], system(alone))
    assert progress.patience == PATIENCE
    assert not progress.look()
    assert progress.look().startswith(
        "kernel alone has stopped: for 2,000,000 cycles no loop issued and no memory access was accepted"
    )
