"""Starts a board's memory over its bus: the chip's mode registers, and for DDR3 the moment at which each byte lane is
read."""

import time
from dataclasses import dataclass

import numpy as np

from hls.export.memory_steps import Commands, memory_steps
from hls.export.soc_map import SOC_MAP
from hls.target.board import Board
from hls.target.memory import DramTiming

from .bus import Bus, Words
from .line import DeviceError

__all__ = ["start_memory"]

WORD = 4
#: of LiteDRAM's PHY for DDR3 on an ECP5: phases of a cycle, transfers of a phase; of a lane, delays and shifts of bits
PHASES, PER_PHASE, DELAYS, SHIFTS = 2, 4, 8, 4
LANE_BITS = 8
#: columns that are written and read back
COLUMNS = (0, 8)


def start_memory(bus: Bus, board: Board) -> None:
    """Start the memory of the system behind ``bus``. Raises DeviceError."""
    timing, soc = board.memory.timing, board.soc
    assert isinstance(timing, DramTiming) and soc is not None
    controller = _Controller(bus, timing.bus_bits * PER_PHASE // 32 if timing.transfers > 1 else 0)
    *steps, handover = memory_steps(timing, soc.termination_ohm)
    for step in steps:
        if step.control:
            controller.control(step.control)
        else:
            controller.command(step.command, step.address, step.bank)
        time.sleep(step.wait)
    if timing.transfers > 1:
        _Lanes(bus, controller, timing).train()
    controller.control(handover.control)


@dataclass(frozen=True)
class _Controller:
    """The registers of LiteDRAM's controller by which a host commands the chip. A phase of a cycle has those of a
    command, and then ``data_words`` to write and as many that were read."""

    bus: Bus
    data_words: int

    def control(self, value: int) -> None:
        """Set reset, clock enable, and who commands."""
        self.bus.write(SOC_MAP.controller, [value])

    def command(self, value: int, address: int = 0, bank: int = 0, phase: int = 0) -> None:
        """Give a command in a phase."""
        base = self._phase(phase)
        self.bus.write(base + 2 * WORD, [address, bank])
        self.bus.write(base, [value, 1])

    def provide(self, burst: Words) -> None:
        """The data of the next writes: the most significant word of a phase comes first."""
        for phase, words in enumerate(burst.reshape(PHASES, self.data_words)):
            self.bus.write(self._phase(phase) + 4 * WORD, words[::-1])

    def fetched(self) -> Words:
        """The data of the last read."""
        return np.concatenate(
            [
                self.bus.read(self._phase(phase) + (4 + self.data_words) * WORD, self.data_words)[::-1]
                for phase in range(PHASES)
            ]
        )

    def _phase(self, phase: int) -> int:
        return SOC_MAP.controller + WORD * (1 + phase * (4 + 2 * self.data_words))


class _Lanes:
    """The byte lanes of a DDR3 memory, each of which is read with a delay and a shift of its bits."""

    def __init__(self, bus: Bus, controller: _Controller, timing: DramTiming) -> None:
        self._bus, self._controller = bus, controller
        self._lanes = timing.bus_bits // LANE_BITS
        # as LiteDRAM's PHY has them: a command whose data come at the end of a cycle is given in the phase before
        self._read_phase, self._write_phase = -timing.CL % PHASES, -timing.CWL % PHASES
        shape = (len(COLUMNS), PHASES * PER_PHASE, self._lanes)
        self._sent = np.random.default_rng(1).integers(0, 1 << LANE_BITS, shape, np.uint8)

    def train(self) -> None:
        """Choose for each lane the middle of the longest run of delays at which it is read right. Raises DeviceError if
        there is none."""
        every = (1 << self._lanes) - 1
        self._write_columns()
        right = np.zeros((self._lanes, SHIFTS, DELAYS), bool)
        self._set(every, back_shift=True)
        for shift in range(SHIFTS):
            self._set(every, back_delay=True)
            for delay in range(DELAYS):
                right[:, shift, delay] = self._right()
                self._set(every, delay=1)
            self._set(every, shift=1)
        for lane, found in enumerate(right):
            shift, delay = self._best(lane, found)
            self._set(1 << lane, True, True, delay, shift)
        if not (now := self._right()).all():
            raise self._failed(int(np.argmin(now)))

    def _best(self, lane: int, right: np.ndarray) -> tuple[int, int]:
        """Shift and delay at which a lane is read best."""
        most: tuple[int, int, int] = (0, 0, 0)
        for shift, row in enumerate(right):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
            for begin, end in edges.reshape(-1, 2):
                if end - begin > most[0]:
                    most = (int(end - begin), shift, int(begin + end - 1) // 2)
        if not most[0]:
            raise self._failed(lane)
        return most[1:]

    def _failed(self, lane: int) -> DeviceError:
        return DeviceError(
            f"the memory of the board at {self._bus.place} does not answer: byte lane {lane} is read wrong at every "
            "delay; switch the board off and on, load the bitstream again, or build it for a slower clock"
        )

    def _write_columns(self) -> None:
        self._controller.command(Commands.ACTIVATE)
        for column, burst in zip(COLUMNS, self._sent, strict=True):
            self._controller.provide(np.frombuffer(burst.tobytes(), "<u4"))
            self._controller.command(Commands.WRITE, column, phase=self._write_phase)
        self._controller.command(Commands.PRECHARGE)

    def _right(self) -> np.ndarray:
        """Which lanes are read right now."""
        right = np.ones(self._lanes, bool)
        self._controller.command(Commands.ACTIVATE)
        for column, burst in zip(COLUMNS, self._sent, strict=True):
            self._controller.command(Commands.READ, column, phase=self._read_phase)
            found = self._controller.fetched().astype("<u4").view(np.uint8).reshape(burst.shape)
            right &= (found == burst).all(axis=0)
        self._controller.command(Commands.PRECHARGE)
        return right

    def _set(
        self, lanes: int, back_delay: bool = False, back_shift: bool = False, delay: int = 0, shift: int = 0
    ) -> None:
        """Put delay and shift of these lanes back to 0, and then on by so many; they are paused meanwhile."""
        base = SOC_MAP.phy
        self._bus.write(base, [lanes])
        for number, times in enumerate((int(back_delay), delay, int(back_shift), shift), 1):
            for _ in range(times):
                self._bus.write(base + number * WORD, [1])
        self._bus.write(base, [0])
