"""A board of hardware in the place of the simulator: the commands of :class:`sim.session.Session` over a line."""

import time
from collections.abc import Sequence
from typing import NoReturn

from hls.export.soc_map import SOC_MAP
from hls.rtl.interface import KernelInterface, SystemInterface
from hls.target.board import Board, DramTiming
from hls.target.links import ETHERNET, SERIAL
from hls.target.soc import Soc
from rtl_lib.axi import register_map as at
from sim.session import ALL, BankStatistics, Session
from sim.shared import SharedMemory

from .bridge import Bridge
from .bus import Bus
from .datagrams import Datagrams
from .etherbone import Etherbone
from .line import DeviceError, Line
from .memory import MirroredMemory
from .memory_start import start_memory

__all__ = ["DeviceSession"]

WORD = 4
HEX_DIGITS = 12  #: of a digest that is shown


class DeviceSession(Session):
    """The board at the other end of ``link`` ("uart:PATH" or "eth:HOST"), loaded with the system of the design of this
    ``interface``, whose ``digest`` the board must have.

    Its memory is brought up, and the kernels are reset. When a kernel is started, the buffers of its arguments are
    written to the board where the host has changed them; when it has ended, those that it writes are read. Time is that
    of the host, in kernel cycles. Raises DeviceError, a SimulationError, whenever the board does not answer as it must.
    """

    def __init__(self, link: str, board: Board, interface: SystemInterface, digest: str, memory: SharedMemory) -> None:
        if board.soc is None or not isinstance(board.memory.timing, DramTiming):
            raise DeviceError(f"no system can be built for board {board.name}: set SLUICE_BOARD to one that has [soc]")
        self.abandoned = False  #: whether it was left in the middle of a command
        self._interface = interface
        self._registers: dict[int, int] = {}  #: last written, by address
        self._bridge = _bus(link, board.soc)
        try:
            self._bridge.settle()
            self._check(digest)
            self._mhz = self._read(SOC_MAP.clock) / 1000
            start_memory(self._bridge, board)
            self._memory = MirroredMemory(self._bridge, memory)
            self._begin = time.monotonic()
            self.restart()
        except BaseException:
            self.close()
            raise

    def _check(self, digest: str) -> None:
        """Raises DeviceError if the board has another design."""
        found = self._bridge.read(SOC_MAP.digest, SOC_MAP.digest_words).astype(">u4").tobytes().hex()
        if found != digest:
            raise DeviceError(
                f"the board at {self._bridge.place} holds another design ({found[:HEX_DIGITS]} ...) than this "
                f"program's ({digest[:HEX_DIGITS]} ...): `sluice build` the kernels with the options that the host "
                "program gives, and load that bitstream"
            )

    def _read(self, address: int) -> int:
        return int(self._bridge.read(address)[0])

    def write(self, registers: Sequence[tuple[int, int]]) -> None:
        """Write (address, value) pairs in their order; a start sends the kernel's buffers before."""
        for address, value in registers:
            self._registers[address] = value & 0xFFFFFFFF
            kernel = self._started(address, value)
            if kernel is not None:
                for buffer in self._buffers(kernel, ("in", "out", "inout")):
                    self._memory.upload(buffer)
            self._bridge.write(SOC_MAP.kernels + address, [value & 0xFFFFFFFF])

    def _started(self, address: int, value: int) -> KernelInterface | None:
        """The kernel that a write starts."""
        kernels = (one for one in self._interface.kernels if address == one.base + at.CONTROL and value & at.START)
        return next(kernels, None)

    def _buffers(self, kernel: KernelInterface, directions: Sequence[str]) -> dict[int, None]:
        """The addresses of its buffers, as its registers have them; 0 stands for none."""
        found: dict[int, None] = {}
        for one in kernel.arguments:
            if one.kind == "buffer" and one.direction in directions:
                low, high = (self._registers.get(kernel.base + one.offset + half, 0) for half in (0, WORD))
                found[low | high << 32] = None
        return found

    def read(self, addresses: Sequence[int]) -> list[int]:
        """The values of the registers at these addresses, read in this order."""
        return [self._read(SOC_MAP.kernels + address) for address in addresses]

    def run(self, cycles: int, interrupts: int = ALL) -> tuple[int, int]:
        """Wait until one of ``interrupts`` (a mask) is high, for at most so many cycles: (interrupts that are high,
        cycle). What the kernels behind them have written is the host's then."""
        until = self.cycle() + cycles
        while not (high := self._read(SOC_MAP.interrupt) & interrupts) and self.cycle() < until:
            pass
        for kernel in self._interface.kernels:
            if high >> kernel.index & 1:
                for buffer in self._buffers(kernel, ("out", "inout")):
                    self._memory.download(buffer)
        return high, self.cycle()

    def cycle(self) -> int:
        """Kernel cycles since the session began, by the host's clock."""
        return int((time.monotonic() - self._begin) * self._mhz * 1e6)

    def reset(self, seed: int = 0) -> None:
        """Reset the kernels; memory keeps its contents. There are no random stalls."""
        self.restart()

    def restart(self) -> None:
        """Reset the kernels, in any state."""
        for value in (1, 0):
            self._bridge.write(SOC_MAP.reset, [value])

    def quiet(self) -> bool:
        """Whether no memory access is in flight: a word of the line takes longer than any."""
        return True

    def statistics(self, bank: int) -> BankStatistics:
        """Nothing is counted of the memory."""
        return BankStatistics(*[0] * 8)

    def _commands(self, lines: list[str]) -> NoReturn:
        """The other commands of a session: of streams, wires, waveforms and probes."""
        raise DeviceError(
            f"a board of hardware has no `{lines[0].split()[0]}`, which is for simulations: leave SLUICE_DEVICE unset"
        )

    @property
    def closed(self) -> bool:
        """Whether the link was closed."""
        return self._bridge.closed

    def close(self) -> None:
        """Close the link; safe to call twice."""
        self._bridge.close()

    def leave(self) -> None:
        """Close this process's end."""
        self.close()


def _bus(link: str, soc: Soc) -> Bus:
    """The way to the board that ``link`` names. Raises DeviceError."""
    if link.startswith(SERIAL):
        return Bridge(Line(link.removeprefix(SERIAL), soc.baud), SOC_MAP.digest)
    if not soc.ethernet:
        raise DeviceError(
            "the board of this program has no Ethernet: use SLUICE_DEVICE=uart:PORT, or set SLUICE_BOARD to a board "
            "whose table [soc] has `ethernet`"
        )
    return Etherbone(Datagrams(link.removeprefix(ETHERNET)), SOC_MAP.written)
