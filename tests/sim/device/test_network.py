"""Host programs on a board in the network: lost and repeated datagrams, links that are dead, packets as LiteX has them."""

import random
import socket

import numpy as np
import pytest

from hls.export.soc_map import SOC_MAP
from hls.options import Options
from hls.target.board import load_board
from sim import cl
from sim.cl import compiler
from sim.device import etherbone, line
from sim.device.datagrams import Datagrams
from sim.device.etherbone import Etherbone
from sim.device.line import DeviceError
from tests.pocl import ROOT
from tests.sim.device.board import NetworkBoard
from tests.sim.device.test_device import SOURCE, Host, scale


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A board with Ethernet, and SDR SDRAM, which needs no training."""
    path = tmp_path_factory.mktemp("board") / "net.toml"
    path.write_text((ROOT / "boards/ulx3s.toml").read_text() + 'ethernet = "eth"\n')
    return path


@pytest.fixture(scope="module")
def design(file):
    compiled = compiler.compile_for_hardware(SOURCE, load_board(str(file)), Options(), "k.cl")
    return compiled.interface, compiler.digest_of(compiled)


@pytest.fixture
def board(file, design, monkeypatch):
    made = []

    def make(digest=None, **more):
        interface, own = design
        made.append(NetworkBoard(interface, digest or own, {"scale": scale}, **more))
        monkeypatch.setenv("SLUICE_DEVICE", f"eth:{made[-1].port}")
        monkeypatch.setenv("SLUICE_BOARD", str(file))
        return made[-1]

    monkeypatch.setattr(line, "SILENCE", 0.3)
    monkeypatch.setattr(etherbone, "WAIT", 0.01)
    yield make
    for one in made:
        one.unplug()


def test_a_program_on_a_board(board):
    fake, host = board(), Host()
    assert "eth:127.0.0.2" in host.context.devices[0].name
    assert (host.run(3, 2000) == np.where(host.a < 2000, 3 * host.a, -host.a)).all()
    before = fake.written
    assert (host.run(5, 3000) == 5 * host.a).all()
    assert fake.written == before, "nothing has changed since: nothing is sent again"


@pytest.mark.parametrize("seed", range(4))
def test_datagrams_that_are_lost(board, monkeypatch, seed):
    """Whatever is lost, each word is written once: the right bytes, and a start for each launch."""
    monkeypatch.setattr(line, "SILENCE", 3.0)
    dice = random.Random(seed)
    fake, host = board(lose=lambda number: dice.random() < 0.15), Host(1500)
    for factor in (3, 5):
        assert (host.run(factor, 1500) == factor * host.a).all()
    assert fake.starts == 2


def test_datagrams_that_come_twice(board):
    fake, host = board(), Host()
    host.run(1, 10)
    fake.twice = lambda number: number == fake.came
    with pytest.raises(cl.RuntimeError, match=r"was written \d+ words instead of \d+: another program uses it"):
        host.run(2, 10)
    fake.twice = lambda number: False
    assert (host.run(2, 3000) == 2 * host.a).all(), "the next launch begins anew"


def test_a_board_that_goes_away(board):
    fake, host = board(), Host()
    first = host.run(3, 3000)
    fake.lose = lambda number: True
    with pytest.raises(cl.RuntimeError, match=r"the board at 127.0.0.2:\d+ does not answer within 0.3 s; check cable"):
        host.run(4, 3000)
    out = np.empty_like(first)
    cl.enqueue_copy(host.queue, out, host.b_dev).wait()
    assert (out == first).all(), "the host's bytes are as before"


def test_writes_that_never_arrive(board):
    fake, host = board(), Host()
    host.run(1, 10)
    fake.lose = lambda number: number % 3 == 1  # of each three the write, not the question for the count and its answer
    fake.came = 0
    with pytest.raises(cl.RuntimeError, match="the network has lost 8 packets to the board"):
        host.run(2, 10)


def test_links_that_are_refused(board, monkeypatch):
    fake = board(digest="ab" * 32)
    with pytest.raises(cl.RuntimeError, match=r"holds another design \(abababababab ...\) than this program's"):
        Host().run(1, 10)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", int(fake.port.rpartition(":")[2])))
        with pytest.raises(cl.RuntimeError, match=r"UDP port \d+ of this machine, to which the board at .* is in use"):
            Host().run(1, 10)
    for link, message in (
        ("eth:127.0.0.3:9", "the board at 127.0.0.3:9 cannot be reached: Connection refused; check cable"),
        ("eth:no.such.host.invalid", "cannot find no.such.host.invalid: .*; name the board's address"),
        ("eth:127.0.0.2:x", "'127.0.0.2:x' is no address of a board: SLUICE_DEVICE=eth:HOST, or eth:HOST:PORT"),
    ):
        monkeypatch.setenv("SLUICE_DEVICE", link)
        with pytest.raises(cl.RuntimeError, match=message):
            Host().run(1, 10)
    monkeypatch.setenv("SLUICE_BOARD", "ulx3s")
    with pytest.raises(cl.RuntimeError, match="the board of this program has no Ethernet: use SLUICE_DEVICE=uart:PORT"):
        Host().run(1, 10)


def test_the_count_begins_anew(board):
    """After 2^32 words."""
    fake = board()
    fake.count = (1 << 32) - 2
    link = Etherbone(Datagrams(fake.port), SOC_MAP.written)
    link.settle()
    words = np.arange(300, dtype=np.uint32)
    link.fill(SOC_MAP.memory, words)
    assert (link.read(SOC_MAP.memory, 300) == words).all() and fake.count == 298
    link.close()
    assert link.closed
    with pytest.raises(DeviceError, match="is closed"):
        link.read(0)


def test_packets_are_those_of_litex():
    """LiteX's own decoder reads what we send."""
    decoder = pytest.importorskip("litex.tools.remote.etherbone")

    class Kept:
        place, closed = "test", False

        def __init__(self) -> None:
            self.sent = []

        def send(self, data: bytes) -> None:
            self.sent.append(data)

        def receive(self, seconds: float) -> bytes:
            packet = decoder.EtherbonePacket()
            tag = int.from_bytes(self.sent[-1][12:16], "big")
            reads = self.sent[-1][11]
            packet.records = [decoder.EtherboneRecord()]
            packet.records[0].writes = decoder.EtherboneWrites(base_addr=tag, datas=[7] * reads)
            packet.records[0].wcount = reads
            packet.encode()
            return packet.bytes

    kept = Kept()
    link = Etherbone(kept, SOC_MAP.written)
    assert link.read(0x40000000, 3).tolist() == [7, 7, 7]
    link._count = 5
    link.fill(0x40000010, np.array([1, 0x89ABCDEF], np.uint32))
    read, write = kept.sent[:2]
    for data in (read, write):
        packet = decoder.EtherbonePacket(init=data)
        packet.decode()
        (record,) = packet.records
        if data is read:
            assert [one.addr for one in record.reads.reads] == [0x40000000, 0x40000004, 0x40000008]
        else:
            assert record.writes.base_addr == 0x40000010
            assert [one.data for one in record.writes.writes] == [1, 0x89ABCDEF]
