"""Where everything is on the bus of a system that ``sluice build`` makes, for soc.py and for hosts."""

from dataclasses import dataclass

__all__ = ["SOC_MAP", "SocMap"]

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
    link_page: int = 3
    phy_page: int = 4
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
        """Of the memory's controller: control, then for each phase of a cycle command, issue, address and bank, a word
        each, and the data to write and that was read."""
        return self.controller_page * PAGE

    @property
    def written(self) -> int:
        """Words that Etherbone has written."""
        return self.link_page * PAGE

    @property
    def phy(self) -> int:
        """Of the PHY of DDR3: the lanes that are selected, and of these a word each, to which a 1 is written: delay to
        0, one more, shift of bits to 0, one more."""
        return self.phy_page * PAGE


SOC_MAP = SocMap()
