"""Where everything is on the bus of a system that ``sluice build`` makes, for soc.py and for hosts."""

from dataclasses import dataclass

__all__ = ["SOC_MAP", "MemoryStep", "SocMap", "memory_start"]

#: bytes of LiteX's bus that one block of its registers takes
PAGE = 0x800
WORD = 4


@dataclass(frozen=True)
class SocMap:
    """Byte addresses: of global memory, of the kernels' windows, and of two blocks of registers in the order in which
    soc.py and LiteDRAM make them."""

    memory: int = 0x4000_0000
    kernels: int = 0x9000_0000
    design_page: int = 1
    controller_page: int = 2
    digest_words: int = 8  #: the most significant one first

    @property
    def digest(self) -> int:
        """The SHA-256 of the design."""
        return self.design_page * PAGE

    @property
    def clock(self) -> int:
        """The kernel clock in kHz."""
        return self.digest + self.digest_words * WORD

    @property
    def reset(self) -> int:
        """1 holds the kernels in reset."""
        return self.clock + WORD

    @property
    def interrupt(self) -> int:
        """A bit for each kernel."""
        return self.reset + WORD

    @property
    def controller(self) -> int:
        """Of the memory's controller: control, command, issue, address and bank, a word each."""
        return self.controller_page * PAGE


SOC_MAP = SocMap()

#: bits of the controller's words control and command, by LiteDRAM's names
BY_CONTROLLER, CKE, ODT, RESET_N = 1, 2, 4, 8
CS, WE, CAS, RAS = 1, 2, 4, 8
ALL_BANKS = 1 << 10  #: of the address of a precharge


@dataclass(frozen=True)
class MemoryStep:
    """A command to the memory chip, or with ``control`` a value of that word alone."""

    control: int = 0
    command: int = 0
    address: int = 0


def memory_start(cas_latency: int, beats: int) -> tuple[MemoryStep, ...]:
    """The steps that start an SDR SDRAM for bursts of so many transfers, as JEDEC has them: clock on, precharge, eight
    refreshes, mode register; then the controller takes over."""
    refresh = MemoryStep(command=RAS | CAS | CS)
    mode = cas_latency << 4 | beats.bit_length() - 1
    return (
        MemoryStep(control=CKE | ODT | RESET_N),
        MemoryStep(command=RAS | WE | CS, address=ALL_BANKS),
        *[refresh] * 8,
        MemoryStep(command=RAS | CAS | WE | CS, address=mode),
        MemoryStep(control=BY_CONTROLLER),
    )
