"""Attributes that a memory cannot satisfy, each with the nearest that it can."""

from collections.abc import Sequence

from rtl_lib.mem.pumped import MOST_WRITES

from .access_set import Asked, Use

__all__ = ["Refusal", "check"]


class Refusal(ValueError):
    """An attribute that contradicts another, the memory or its accesses. ``hint`` says what to write instead."""

    def __init__(self, attribute: str, message: str, hint: str) -> None:
        self.attribute, self.hint = attribute, hint
        super().__init__(message)


def check(asked: Asked, size: int, uses: Sequence[Use]) -> None:
    """Raise :class:`Refusal` if a memory of ``size`` bytes with these accesses cannot satisfy an attribute."""
    widest = max((use.bytes for use in uses), default=1)
    if asked.bankwidth is not None and asked.bankwidth < widest:
        raise Refusal(
            "bankwidth",
            f"bankwidth({asked.bankwidth}) is less than the {widest} bytes of an access",
            f"write bankwidth({widest}), or access less at a time",
        )
    word = asked.bankwidth or widest
    words = -(-size // word)
    if asked.bankwidth is not None and asked.bankwidth > widest and asked.bankwidth > 1 << (size - 1).bit_length():
        raise Refusal(
            "bankwidth",
            f"bankwidth({asked.bankwidth}) is more than the memory's {size} bytes",
            f"write bankwidth({1 << (size - 1).bit_length()}), or less",
        )
    if asked.numbanks is not None and asked.numbanks > max(1, 1 << (words - 1).bit_length()):
        raise Refusal(
            "numbanks",
            f"numbanks({asked.numbanks}) is more than the memory's {words} words of {word} bytes",
            f"write numbanks({1 << (words - 1).bit_length()}), or a smaller bankwidth",
        )
    _check_bits(asked, words, word)
    _check_writes(asked, uses)


def _check_writes(asked: Asked, uses: Sequence[Use]) -> None:
    if asked.numwriteports is None or asked.numwriteports == 1:
        return
    refused = f"numwriteports({asked.numwriteports}) cannot be had: "
    if not asked.pumped:
        raise Refusal(
            "numwriteports",
            refused
            + "a bank whose blocks run at the kernel's clock is written through one port, so that all its copies "
            "hold the same",
            f"write doublepump with numwriteports({MOST_WRITES}), or numbanks for more stores in a cycle",
        )
    if asked.numwriteports > MOST_WRITES:
        raise Refusal(
            "numwriteports",
            refused + f"a double-pumped block has time for {MOST_WRITES} writes in a cycle",
            f"write numwriteports({MOST_WRITES}), and numbanks for more stores in a cycle",
        )
    if any(use.loads and use.stores for use in uses):
        raise Refusal(
            "numwriteports",
            refused + "an atomic operation comes between no other one's load and store, so all of them share a port",
            "write numwriteports(1)",
        )


def _check_bits(asked: Asked, words: int, word: int) -> None:
    bits = asked.bank_bits or ()
    top = max(0, (words - 1).bit_length() - 1)
    for bit in bits:
        if bits.count(bit) > 1:
            raise Refusal("bank_bits", f"bank_bits names bit {bit} twice", "name each bit once")
        if bit > top:
            raise Refusal(
                "bank_bits",
                f"bit {bit} of bank_bits is always 0: the memory has {words} words of {word} bytes",
                f"write {top}, the highest bit of a word's number, or less",
            )
    if asked.bank_bits is not None and asked.numbanks is not None and asked.numbanks != 1 << len(bits):
        raise Refusal(
            "bank_bits",
            f"{len(bits)} bank bits choose among {1 << len(bits)} banks, not {asked.numbanks}",
            f"write numbanks({1 << len(bits)})",
        )
