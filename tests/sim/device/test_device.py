"""Host programs on a board of hardware: the same API and the same bytes, and what goes wrong is said."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hls.export.memory_steps import MemoryStep, memory_steps
from hls.export.soc_map import SOC_MAP
from hls.options import Options
from hls.target.board import load_board
from sim import cl
from sim.cl import compiler
from sim.device import line
from sim.device.bridge import Bridge
from sim.device.memory import _runs
from tests.repetitions import sampled
from tests.sim.device.board import FakeBoard

SOURCE = """__kernel void scale(__global const int *restrict a, __global int *restrict b, int f, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] * f;
}
"""


@cache
def design():
    compiled = compiler.compile_for_hardware(SOURCE, load_board("ulx3s"), Options(), "k.cl")
    return compiled.interface, compiler.digest_of(compiled)


def scale(memory, a, b, f, n):
    words = memory.view(np.int32)
    words[b // 4 : b // 4 + n] = words[a // 4 : a // 4 + n] * f


@pytest.fixture
def board(monkeypatch):
    made = []

    def make(digest=None, **more):
        interface, own = design()
        made.append(FakeBoard(interface, digest or own, {"scale": scale}, **more))
        monkeypatch.setenv("SLUICE_DEVICE", f"uart:{made[-1].port}")
        monkeypatch.setenv("SLUICE_BOARD", "ulx3s")
        return made[-1]

    monkeypatch.setattr(line, "SILENCE", 0.3)
    yield make
    for one in made:
        one.unplug()


class Host:
    """A program with two buffers."""

    def __init__(self, n: int = 3000, source: str = SOURCE) -> None:
        self.n, self.a = n, np.arange(n, dtype=np.int32)
        self.context = cl.create_some_context()
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, source).build()
        flags = cl.mem_flags
        self.a_dev = cl.Buffer(self.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=self.a)
        self.b_dev = cl.Buffer(self.context, flags.WRITE_ONLY | flags.COPY_HOST_PTR, hostbuf=-self.a)

    def run(self, f: int, n: int) -> np.ndarray:
        event = self.program.scale(self.queue, (1,), None, self.a_dev, self.b_dev, np.int32(f), np.int32(n))
        event.wait()
        out = np.empty_like(self.a)
        cl.enqueue_copy(self.queue, out, self.b_dev).wait()
        return out


def test_a_program_on_a_board(board):
    fake, host = board(), Host()
    assert "uart:/dev/" in host.context.devices[0].name
    # what the kernel does not write keeps the host's bytes, although the board's memory held others
    assert (host.run(3, 2000) == np.where(host.a < 2000, 3 * host.a, -host.a)).all()
    before = fake.written
    assert (host.run(5, 3000) == 5 * host.a).all()
    assert fake.written == before, "nothing has changed since: nothing is sent again"
    changed = host.a.copy()
    changed[[7, 8, 2000]] = (70, 80, 20)
    cl.enqueue_copy(host.queue, host.a_dev, changed).wait()
    assert (host.run(2, 3000) == 2 * changed).all()
    assert fake.written == before + 3, "three words have changed"


def test_how_the_board_is_brought_up(board):
    fake = board()
    Host(10).run(1, 10)
    at = SOC_MAP.controller
    steps = [value for address, value in fake.controller if address in (at, at + 4)]
    assert steps == [14, 11, *[13] * 8, 15, 1], "clock enable, precharge, refreshes, mode, the controller"
    modes = [value for address, value in fake.controller if address == at + 12]
    assert modes[0] == 1 << 10 and modes[-1] == 3 << 4 | 1, "CAS latency 3, bursts of two transfers"
    assert fake.controller[-2:] == [(SOC_MAP.reset, 1), (SOC_MAP.reset, 0)]
    timing = replace(load_board("ulx3s").memory.timing, CL=2, beats=8)
    assert memory_steps(timing)[-2] == MemoryStep(command=15, address=2 << 4 | 3)


def test_bytes_of_a_transfer_that_are_lost(board):
    """Memory is written again, with the right bytes in the end."""
    lost = set()

    def lose(number: int) -> bool:
        return number in lost

    fake, host = board(lose=lose), Host()
    host.run(1, 10)
    lost.add(fake.came + 500)
    cl.enqueue_copy(host.queue, host.a_dev, host.a[::-1].copy()).wait()
    assert (host.run(4, 3000) == 4 * host.a[::-1]).all() and fake.came > min(lost)


def test_a_register_whose_bytes_are_lost(board):
    """A register is not written twice: the launch fails, and says why."""
    lost = []
    fake, host = board(lose=lambda number: bool(lost) and number == lost[0]), Host()
    host.run(1, 10)
    lost.append(fake.came + 8)
    with pytest.raises(cl.RuntimeError, match="bytes to the board were lost"):
        host.run(2, 10)
    lost.clear()
    assert (host.run(2, 3000) == 2 * host.a).all(), "the next launch begins anew"


def test_a_board_that_goes_away(board):
    fake, host = board(), Host()
    first = host.run(3, 3000)
    fake.unplug()
    with pytest.raises(cl.RuntimeError, match="is gone|does not answer|takes no more bytes"):
        host.run(4, 3000)
    out = np.empty_like(first)
    cl.enqueue_copy(host.queue, out, host.b_dev).wait()
    assert (out == first).all(), "the host's bytes are as before"
    with pytest.raises(cl.RuntimeError, match="cannot open|is gone|is no serial port"):
        host.run(4, 3000)


def test_a_board_that_does_not_answer(board):
    board(lose=lambda number: True)
    with pytest.raises(cl.RuntimeError, match=r"does not answer: 0 of 4 bytes came within 0.3 s; check cable"):
        Host().run(1, 10)


def test_a_bitstream_of_another_design(board):
    board(digest="ab" * 32)
    with pytest.raises(cl.RuntimeError, match=r"holds another design \(abababababab ...\) than this program's"):
        Host().run(1, 10)


def test_what_a_board_has_not(board, monkeypatch):
    board()
    monkeypatch.setenv("SLUICE_STALL_SEED", "3")
    with pytest.raises(cl.RuntimeError, match="random stalls are for simulations"):
        Host().run(1, 10)
    monkeypatch.delenv("SLUICE_STALL_SEED")
    monkeypatch.setenv("SLUICE_BOARD", "de5net")
    with pytest.raises(cl.RuntimeError, match="no system can be built for board de5net: set SLUICE_BOARD"):
        Host().run(1, 10)
    monkeypatch.setenv("SLUICE_DEVICE", "uart:")
    with pytest.raises(
        cl.LogicError, match="uart:PORT for a board at a serial port, or eth:HOST for one in the network; not 'uart:'"
    ):
        Host()
    monkeypatch.setenv("SLUICE_BOARD", "ulx3s")
    monkeypatch.setenv("SLUICE_DEVICE", "uart:/dev/null")
    with pytest.raises(cl.RuntimeError, match="/dev/null is no serial port"):
        Host().run(1, 10)
    monkeypatch.setenv("SLUICE_DEVICE", "uart:/dev/none")
    with pytest.raises(cl.RuntimeError, match="cannot open /dev/none: No such file or directory; connect the board"):
        Host().run(1, 10)


def test_what_an_earlier_program_left(board):
    """A command that was half sent is ended by a pause."""
    fake = board()
    port = line.Line(fake.port, 1_000_000)
    port.send(bytes((1, 200, 0, 0)))
    bridge = Bridge(port, SOC_MAP.digest)
    bridge.settle()
    assert bridge.read(SOC_MAP.clock)[0] == 60_000
    port.close()
    port.close()
    with pytest.raises(line.DeviceError, match="is closed"):
        port.send(b"x")
    with pytest.raises(line.DeviceError, match="no serial lines of 12345 Baud"):
        line.Line(fake.port, 12345)


@pytest.mark.parametrize("seed", sampled(range(20)))
def test_stretches_of_changed_words(seed):
    rng = np.random.default_rng(seed)
    wanted = rng.random(rng.integers(0, 200)) < rng.choice([0.02, 0.3, 0.9])
    covered = np.zeros(len(wanted), bool)
    for run in _runs(wanted):
        assert wanted[run.start] and wanted[run.stop - 1] and not covered[run].any()
        covered[run] = True
    assert (covered | ~wanted).all()
