"""How DDR3 is started: its mode registers, and the delay at which each byte lane is read."""

from dataclasses import replace

import numpy as np
import pytest

from hls.export.memory_steps import memory_steps
from hls.export.soc_map import SOC_MAP
from hls.target.board import load_board
from sim.device.line import DeviceError
from sim.device.memory_start import start_memory

PHASE, DATA = 8, 2  #: words of a phase's registers, and of its data


class Memory:
    """A bus with LiteDRAM's controller and PHY; ``right`` says of (lane, shift, delay) whether the lane is read then."""

    place, closed = "test", False

    def __init__(self, right) -> None:
        self.right, self.at, self.controls, self.selected = right, [[0, 0], [0, 0]], [], 0
        self.words = {}
        self.bursts, self.row, self.found = {}, False, np.zeros(16, np.uint8)

    def write(self, address, words) -> None:
        for k, word in enumerate(words):
            self._write(address + 4 * k, int(word))

    def _write(self, address, value) -> None:
        self.words[address] = value
        if address == SOC_MAP.controller:
            self.controls.append(value)
        elif address >= SOC_MAP.phy:
            self._move((address - SOC_MAP.phy) // 4, value)
        elif address > SOC_MAP.controller and (address - SOC_MAP.controller) // 4 % PHASE == 2:
            self._command((address - SOC_MAP.controller) // 4 // PHASE)

    def _move(self, register, value) -> None:
        if not register:
            self.selected = value
        for lane in (0, 1):
            if register and self.selected >> lane & 1:
                at, kind = self.at[lane], int(register < 3)
                at[kind] = 0 if register % 2 else (at[kind] + 1) % (8 if kind else 4)

    def _command(self, phase) -> None:
        base = SOC_MAP.controller + 4 * (1 + PHASE * phase)
        command, column = self.words[base], self.words[base + 8]
        if command == 9:
            self.row = True
        elif command == 11:
            self.row = False
        elif command == 1 | 2 | 4 | 16:
            assert self.row and phase == 1 and not self.selected
            data = [self.words[SOC_MAP.controller + 4 * (1 + PHASE * p + 4 + k)] for p in (0, 1) for k in (1, 0)]
            self.bursts[column] = np.array(data, "<u4").view(np.uint8)
        elif command == 1 | 4 | 32:
            assert self.row and phase == 0 and not self.selected
            self.found = self.bursts[column].copy()
            for lane in (0, 1):
                if not self.right(lane, *self.at[lane]):
                    self.found[lane::2] ^= 1

    def read(self, address, words=1):
        phase, word = divmod((address - SOC_MAP.controller) // 4 - 1, PHASE)
        assert (word, words) == (4 + DATA, DATA)
        return self.found.view("<u4")[2 * phase : 2 * phase + 2][::-1].astype(np.uint32)


def test_each_lane_is_read_in_the_middle_of_what_is_right():
    windows = {0: (1, 2, 6), 1: (3, 0, 3)}  # shift, first delay, last one

    def right(lane, shift, delay):
        wanted, first, last = windows[lane]
        return (shift == wanted and first <= delay <= last) or (lane, shift, delay) == (0, 3, 7)

    memory = Memory(right)
    start_memory(memory, load_board("ecpix5"))
    assert memory.at == [[1, 4], [3, 1]] and memory.selected == 0 and not memory.row
    assert memory.controls == [12, 14, 1], "out of reset, clock on, and in the end the controller's"


def test_a_lane_that_is_never_read():
    with pytest.raises(
        DeviceError, match="the board at test does not answer: byte lane 1 is read wrong at every delay"
    ):
        start_memory(Memory(lambda lane, shift, delay: lane == 0), load_board("ecpix5"))


def test_mode_registers_are_those_of_litedram():
    """For latencies and terminations that LiteDRAM knows."""
    init = pytest.importorskip("litedram.init")
    common = pytest.importorskip("litedram.common")
    timing = load_board("ecpix5").memory.timing
    for cas, write, recovery, ohm in ((6, 5, 5, 60), (7, 6, 6, 0), (11, 8, 12, 40), (5, 5, 3, 120)):
        settings = common.PhySettings(
            phytype="ECP5DDRPHY", memtype="DDR3", databits=16, dfi_databits=64, nphases=2, rdphase=0, wrphase=1,
            cl=cas, cwl=write, read_latency=10, write_latency=3, nranks=1,
        )  # fmt: skip
        settings.rtt_nom = f"{ohm}ohm" if ohm else "disabled"
        theirs, _ = init.get_ddr3_phy_init_sequence(settings, type("Timing", (), {"tWTR": recovery / 2}))
        modes = {bank: value for _, value, bank, command, _ in theirs if command == init.cmds["MODE_REGISTER"]}
        steps = memory_steps(replace(timing, CL=cas, CWL=write, tWR=recovery), ohm)
        assert {step.bank: step.address for step in steps if step.command == 15} == modes
