"""Maps the words of a memory to banks: the one definition that planner, hardware and tests share."""

from dataclasses import dataclass
from typing import Any, overload

__all__ = ["BankMap"]


@dataclass(frozen=True)
class BankMap:
    """Banks selected by bits of a word's number.

    Rules
    -----
    1. The bank is the number that ``bits`` of the word's number form, the first of them its most significant one.
    2. With a ``skew`` the word's number, shifted right by that, is added to it, modulo the banks. The bits then are
       adjacent, and all of them below the skew.
    3. With a ``fold`` (width, top) the lowest ``width`` bits of the bank, which are adjacent in the word's number,
       are the exclusive or of all digits of ``width`` bits that the word's number has from there up to bit ``top``,
       exclusive.
    4. The address within the bank (``place``) is the word's number without the bits. It is unique in the bank.

    Cyclic banking uses the lowest bits, block banking the highest, block-cyclic banking bits in between. A skew moves
    the banks of each row by one against the row before, as padding a row by a word would, without the padding. With a
    fold of one bit, words whose numbers differ in any one bit are in different banks.

    The functions take Python integers or numpy arrays of them.
    """

    bits: tuple[int, ...] = ()
    skew: int | None = None
    fold: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if len(set(self.bits)) < len(self.bits) or any(bit < 0 for bit in self.bits):
            raise ValueError(f"bank bits must be different, none negative: {self.bits}")
        if self.fold is not None:
            self._check_fold(*self.fold)
        if self.skew is None:
            return
        if not self.bits or self.bits != tuple(range(self.bits[0], self.bits[0] - len(self.bits), -1)):
            raise ValueError(f"bits of skewed banks must be neighbours, the highest first: {self.bits}")
        if self.skew <= self.bits[0]:
            raise ValueError(f"a skew of {self.skew} is not above the bank bits {self.bits}")

    def _check_fold(self, width: int, top: int) -> None:
        low = self.bits[-width:]
        if self.skew is not None or not 0 < width <= len(self.bits) or low != tuple(range(low[0], low[0] - width, -1)):
            raise ValueError(f"the lowest {width} bits of folded banks must be neighbours, and not skewed: {self.bits}")
        if top <= low[0]:
            raise ValueError(f"a fold up to bit {top} leaves nothing above the bank bits {self.bits}")

    @property
    def folded(self) -> tuple[tuple[int, int], ...]:
        """The other digits of a fold, each as (first bit of the word's number, end)."""
        if self.fold is None:
            return ()
        width, top = self.fold
        return tuple((at, min(at + width, top)) for at in range(self.bits[-1] + width, top, width))

    @property
    def banks(self) -> int:
        """Number of banks."""
        return 1 << len(self.bits)

    @property
    def reach(self) -> int:
        """Number of low bits of a word's number that determine its bank."""
        if self.skew is not None:
            return self.skew + len(self.bits)
        return max((0, *(bit + 1 for bit in self.bits), *(end for _, end in self.folded)))

    @property
    def _runs(self) -> list[tuple[int, int]]:
        """The bits as (the lowest one, how many) of each run of adjacent ones, the most significant first."""
        runs: list[tuple[int, int]] = []
        for bit in self.bits:
            if runs and runs[-1][0] == bit + 1:
                runs[-1] = bit, runs[-1][1] + 1
            else:
                runs.append((bit, 1))
        return runs

    @overload
    def bank(self, word: int) -> int: ...
    @overload
    def bank(self, word: Any) -> Any: ...
    def bank(self, word: Any) -> Any:
        """The bank of a word."""
        bank = 0 * word
        for low, width in self._runs:
            bank = bank << width | word >> low & (1 << width) - 1
        for begin, end in self.folded:
            bank = bank ^ word >> begin & (1 << end - begin) - 1
        return bank if self.skew is None else bank + (word >> self.skew) & self.banks - 1

    @overload
    def place(self, word: int) -> int: ...
    @overload
    def place(self, word: Any) -> Any: ...
    def place(self, word: Any) -> Any:
        """The address of a word within its bank."""
        for bit in sorted(self.bits, reverse=True):
            word = word >> bit + 1 << bit | word & (1 << bit) - 1
        return word

    def words(self, words: int) -> int:
        """The depth that each bank needs for a memory of so many words."""
        covered = words
        for bit in sorted(self.bits, reverse=True):
            whole, rest = divmod(covered, 2 << bit)
            covered = (whole << bit) + min(rest, 1 << bit)
        return max(1, covered)
