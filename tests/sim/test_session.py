"""A hand-written design on the simulated board: bytes, time, stalls, faults, waveforms."""

from dataclasses import replace

import numpy as np
import pytest

from hls.target.board import load_board
from sim.build import build
from sim.cache import cache_folder
from sim.errors import BuildError, SimulationError
from sim.session import Session
from sim.shared import FaultKind, SharedMemory

from .handmade import OFFSETS, design

pytestmark = pytest.mark.verilator

WORDS = 300  # of 64 bytes: the last burst is short
CYCLES = 0x10


def one_bank(name: str = "de5net"):
    """The board with its first bank only: the designs have one AXI port."""
    board = load_board(name)
    return replace(board, memory=replace(board.memory, banks=board.memory.banks[:1]))


class Board:
    """A running design with `WORDS` words of data at `address`."""

    def __init__(self, design_name: str = "increment", board=None, trace: str = "none", address: int = 8192):
        board = board or one_bank()
        self.memory = SharedMemory(board.memory.bytes)
        self.address = address
        self.data = self.memory.contents[address : address + 64 * WORDS].view(np.int32)
        self.data[:] = np.arange(self.data.size)
        self.memory.publish([(address, address + 64 * WORDS)])
        self.session = Session(build(design(design_name), "sluice_system", trace).executable, board, self.memory)

    def run(self, words: int = WORDS, amount: int = 1, limit: int = 100_000) -> int:
        self.session.write(
            [
                (OFFSETS["data"], self.address),
                (OFFSETS["data"] + 4, 0),
                (OFFSETS["words"], words),
                (OFFSETS["amount"], amount),
                (0, 1),
            ]
        )
        interrupts, _ = self.session.run(limit)
        assert interrupts == 1, "the kernel did not finish"
        self.session.write([(0, 2)])
        return self.session.read([CYCLES])[0]


@pytest.fixture(scope="module", autouse=True)
def built_for_long_runs():
    """Here simulators are built as without SLUICE_SHORT_RUNS, which the other tests set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SLUICE_SHORT_RUNS")
        yield


@pytest.fixture
def board():
    running = Board()
    yield running
    running.session.close()


def test_adds_and_takes_the_memory_s_time(board):
    board.session.reset()
    cycles = board.run(amount=5)
    assert (board.data == np.arange(board.data.size) + 5).all()
    assert board.memory.take_fault() is None
    # 12.8 GB/s at 240 MHz are 53 bytes a cycle; the start takes the latency of the controller and of the DRAM.
    bus = 2 * WORDS * 64 / (12.8 / 0.240)
    assert bus < cycles < 1.2 * bus + 150
    statistics = board.session.statistics(0)
    assert (statistics.bytes_read, statistics.bytes_written) == (64 * WORDS, 64 * WORDS)


def test_random_stalls_change_time_but_no_byte(board):
    seen = set()
    for seed in (0, 1, 2, 3):
        board.data[:] = np.arange(board.data.size)
        board.session.reset(seed)
        seen.add(board.run(amount=7))
        assert (board.data == np.arange(board.data.size) + 7).all()
        assert board.memory.take_fault() is None
    assert len(seen) == 4


def test_a_run_is_reproducible():
    def cycles():
        board = Board()
        board.session.reset(5)
        taken = [board.run(words) for words in (3, 100, WORDS)]
        board.session.close()
        return taken

    assert cycles() == cycles()


def test_reset_in_the_middle_of_bursts(board):
    board.session.reset(1)
    board.session.write([(OFFSETS["data"], board.address), (OFFSETS["words"], WORDS), (OFFSETS["amount"], 1), (0, 1)])
    board.session.run(90)
    board.session.reset(2)
    board.data[:] = np.arange(board.data.size)
    board.run(amount=3)
    assert (board.data == np.arange(board.data.size) + 3).all()


def test_reading_beyond_the_buffer_is_a_fault(board):
    board.session.reset()
    board.memory.contents[board.address + 64 * WORDS :][:64] = 9
    board.run(words=WORDS + 1)
    faults = [(fault.kind, fault.address, fault.count) for fault in board.memory.take_faults()]
    beyond = board.address + 64 * WORDS
    assert faults == [(FaultKind.READ_OUTSIDE, beyond, 1), (FaultKind.WRITE_OUTSIDE, beyond, 1)]
    assert board.session.read([0x04]) == [1], "the design saw no SLVERR"
    assert (board.memory.contents[board.address + 64 * WORDS :][:64] == 9).all(), "written beyond the buffer"
    assert board.memory.take_fault() is None


def test_bursts_across_4_kib_are_refused():
    board = Board(address=8192 + 64)  # the design's bursts of 8 words are not aligned to it
    board.session.reset()
    board.run()
    assert board.memory.take_fault().kind is FaultKind.PROTOCOL
    board.session.close()


def test_interleaved_banks_share_one_file():
    """Bank 0 of two holds every other kilobyte of the global addresses."""
    board = Board(board=load_board("de5net"), address=0)
    pieces = board.memory.contents[: 40 * 1024].view(np.int32).reshape(20, 2, 256)  # kilobytes: pair, bank, integer
    pieces[:] = 0
    board.memory.publish([(0, pieces.nbytes)])
    board.session.reset()
    board.run(words=20 * 1024 // 64)
    assert (pieces[:, 0] == 1).all()
    assert (pieces[:, 1] == 0).all()
    board.session.close()


def test_plain_ram_ports():
    board = Board("ram_increment", one_bank("ecp5_onchip"), address=4096)
    board.session.reset()
    assert board.run(words=16 * WORDS, amount=4) <= 16 * WORDS + 4
    assert (board.data == np.arange(board.data.size) + 4).all()
    assert board.memory.take_fault() is None
    board.run(words=16 * WORDS + 1)
    assert board.memory.take_fault().address == board.address + 64 * WORDS
    board.session.close()


def test_on_chip_memory_behind_axi_is_fast():
    board = Board(board=one_bank("ecp5_onchip"), address=8192)
    board.session.reset()
    assert board.run() < WORDS + 40
    assert (board.data == np.arange(board.data.size) + 1).all()
    board.session.close()


@pytest.mark.parametrize("trace", ["handshakes", "all"])
def test_waveform_of_a_window(tmp_path, trace):
    board = Board(trace=trace)
    board.session.reset()
    path = tmp_path / "run.fst"
    board.session.trace(path, board.session.cycle() + 10, 50)
    board.run()
    board.session.close()
    content = path.read_bytes()
    assert content[0] == 0, "no FST header"
    start, end = (int.from_bytes(content[at : at + 8], "big") for at in (9, 17))
    period = 1e6 / 240
    assert end - start == pytest.approx(49.5 * period, abs=period)


def test_waveform_of_handshakes_is_smaller(tmp_path):
    sizes = {}
    for trace in ("handshakes", "all"):
        board = Board(trace=trace)
        board.session.trace(tmp_path / trace, 0, 2000)
        board.run()
        board.session.close()
        sizes[trace] = (tmp_path / trace).stat().st_size
    assert sizes["handshakes"] < sizes["all"] / 4


def test_no_waveform_without_a_traced_build(board, tmp_path):
    board.session.trace(tmp_path / "run.fst", 0, 50)
    with pytest.raises(SimulationError, match="cannot write a waveform"):
        board.run()


def test_the_watchdog_stops_what_does_not_finish(board):
    board.session.reset()
    interrupts, cycle = board.session.run(500)
    assert (interrupts, cycle) == (0, board.session.cycle())


def test_a_build_is_reused():
    steps: list[str] = []
    build(design("increment"), "sluice_system", progress=steps.append)
    steps.clear()
    build(design("increment"), "sluice_system", progress=steps.append)
    assert steps == []


def test_a_hasty_build_does_the_same(board):
    """It reads a header that was compiled before."""
    cycles = board.run()
    simulator = build(design("increment"), "sluice_system", hasty=True)
    assert list((cache_folder() / "header").glob("*/verilated.h.gch"))
    board.session.close()
    board.session = Session(simulator.executable, one_bank(), board.memory)
    board.data[:] = np.arange(board.data.size)
    assert board.run() == cycles and (board.data == np.arange(board.data.size) + 1).all()


def test_wrong_verilog_is_named_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path))
    with pytest.raises(BuildError, match=r"broken\.v:1"):
        build({"broken.v": "module sluice_system(input clk; endmodule"}, "sluice_system")
    assert not any(path.is_dir() for path in (tmp_path / "design").iterdir())


@pytest.mark.parametrize(
    ("ports", "missing"),
    [
        pytest.param("input clk", "rst", id="reset"),
        pytest.param("input clk, input rst, output interrupt", "s_axil_awvalid", id="control"),
    ],
)
def test_a_design_without_the_needed_ports_is_refused(ports, missing):
    simulator = build({"empty.v": f"module sluice_system({ports}); endmodule"}, "sluice_system")
    with pytest.raises(SimulationError, match=f"no port {missing}"):
        Session(simulator.executable, one_bank(), SharedMemory(1 << 20))
