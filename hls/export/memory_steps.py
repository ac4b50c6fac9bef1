"""How the memory chip of a system is started, which a host does by registers of the memory's controller."""

from dataclasses import dataclass

from ..target.memory import DramTiming
from ..target.soc import RECOVERY, TERMINATIONS

__all__ = ["Commands", "MemoryStep", "memory_steps"]

#: bits of the controller's word control, by LiteDRAM's names
BY_CONTROLLER, CKE, ODT, RESET_N = 1, 2, 4, 8
CLOCK_ON = CKE | ODT | RESET_N
#: bits of a phase's word command, by LiteDRAM's names
CS, WE, CAS, RAS, WRITES, READS = 1, 2, 4, 8, 16, 32
ALL_BANKS = 1 << 10  #: of the address of a precharge
LONG = 1 << 10  #: of the address of a calibration

#: of DDR3: the latencies in tCK whose code is 0
CAS_0, WRITE_0 = 4, 5
DLL_RESET = 1 << 8
DRIVE_34_OHM, WRITES_60_OHM = 1 << 1, 1 << 9


class Commands:
    """Values of a phase's word command."""

    MODE = RAS | CAS | WE | CS
    REFRESH = RAS | CAS | CS
    PRECHARGE = RAS | WE | CS
    ACTIVATE = RAS | CS
    CALIBRATE = WE | CS
    WRITE = CAS | WE | CS | WRITES
    READ = CAS | CS | READS


@dataclass(frozen=True)
class MemoryStep:
    """A command to the memory chip, or with ``control`` a value of that word alone. ``wait`` are seconds that pass
    until the next step, at least."""

    control: int = 0
    command: int = 0
    address: int = 0
    bank: int = 0
    wait: float = 0.0


def memory_steps(timing: DramTiming, termination_ohm: int = 60) -> tuple[MemoryStep, ...]:
    """The steps that start a memory chip, SDR SDRAM or DDR3, as JEDEC has them. With the last one the controller takes
    over."""
    own = _ddr3(timing, termination_ohm) if timing.transfers > 1 else _sdr(timing)
    return (*own, MemoryStep(control=BY_CONTROLLER))


def _sdr(timing: DramTiming) -> tuple[MemoryStep, ...]:
    """Clock on, precharge, eight refreshes, mode register."""
    return (
        MemoryStep(control=CLOCK_ON),
        MemoryStep(command=Commands.PRECHARGE, address=ALL_BANKS),
        *[MemoryStep(command=Commands.REFRESH)] * 8,
        MemoryStep(command=Commands.MODE, address=timing.CL << 4 | timing.beats.bit_length() - 1),
    )


def _ddr3(timing: DramTiming, termination_ohm: int) -> tuple[MemoryStep, ...]:
    """Out of reset, clock on, mode registers 2, 3, 1 and 0, calibration of the drivers. Bursts are of eight."""
    recovery = next(code for cycles, code in RECOVERY.items() if cycles >= timing.tWR)
    code = TERMINATIONS[termination_ohm]
    termination = (code & 1) << 2 | (code >> 1 & 1) << 6
    modes = {
        2: (timing.CWL - WRITE_0) << 3 | WRITES_60_OHM,
        3: 0,
        1: DRIVE_34_OHM | termination,
        0: (timing.CL - CAS_0) << 4 | DLL_RESET | recovery << 9,
    }
    return (
        MemoryStep(control=ODT | RESET_N, wait=0.001),
        MemoryStep(control=CLOCK_ON, wait=0.001),
        *(MemoryStep(command=Commands.MODE, address=value, bank=number) for number, value in modes.items()),
        MemoryStep(command=Commands.CALIBRATE, address=LONG, wait=0.001),
    )
