"""Maps a global address to a bank and an address within it."""

from dataclasses import dataclass

from amaranth import Value
from amaranth.hdl import C, Cat
from amaranth.utils import exact_log2

from rtl_lib.mem.ports import require_power_of_two

__all__ = ["AddressMap"]


@dataclass(frozen=True)
class AddressMap:
    """Global memory over several banks.

    Bits ``shift`` and up of a global address select the bank; the bits above and below them, concatenated, are the
    address within the bank, less the ``base`` at which the memory begins. With a small ``granule`` the banks are
    interleaved, so that one stream uses all of them; with a granule as large as a bank the memory is partitioned, and
    the host chooses the bank of a buffer.

    The simulated board stores data at :meth:`locate`; the interconnect is built from :meth:`bank_bits` and
    :meth:`local_bits`, which compute the same.
    """

    banks: int  #: a power of two
    granule: int  #: bytes, a power of two: consecutive addresses stay this long in one bank
    base: int = 0  #: a multiple of the size of all banks together

    def __post_init__(self) -> None:
        require_power_of_two("banks", self.banks)
        require_power_of_two("granule", self.granule)

    @classmethod
    def interleaved(cls, banks: int, granule: int = 1024, base: int = 0) -> "AddressMap":
        """Consecutive pieces of ``granule`` bytes are assigned to the banks in rotation."""
        return cls(banks, granule, base)

    @classmethod
    def partitioned(cls, banks: int, bank_bytes: int) -> "AddressMap":
        """Each bank is one range of ``bank_bytes`` bytes."""
        return cls(banks, bank_bytes)

    def locate(self, addr: int) -> tuple[int, int]:
        """Golden: (bank, byte address within it) of a global byte address."""
        piece, within = divmod(addr - self.base, self.granule)
        return piece % self.banks, piece // self.banks * self.granule + within

    def globalize(self, bank: int, local: int) -> int:
        """Golden: the global byte address of an address in a bank; the inverse of :meth:`locate`."""
        piece, within = divmod(local, self.granule)
        return self.base + (piece * self.banks + bank) * self.granule + within

    def bank_bits(self, addr: Value) -> Value:
        """The bank number in an Amaranth value that holds a global address."""
        low = exact_log2(self.granule)
        return addr[low : low + exact_log2(self.banks)] if low < len(addr) else C(0, 1)

    def local_bits(self, addr: Value) -> Value:
        """The address within the bank, as wide as ``addr``. For an address outside of the memory the upper bits are not
        all 0, so that it lies beyond the bank's end."""
        low = min(exact_log2(self.granule), len(addr))
        local = Cat(addr[:low], addr[low + exact_log2(self.banks) :])
        return local ^ C(self.base // self.banks, len(local)) if self.base else local
