"""Decodes from the status of a run which accesses the memory refused."""

from collections.abc import Sequence

from .layout import Access

__all__ = ["READ_REFUSED", "STATUS_BITS", "WRITE_REFUSED", "refused", "refused_bit"]

#: width of a kernel's status register, whose bits stay until the next start
STATUS_BITS = 32
READ_REFUSED, WRITE_REFUSED = 0, 1
FIRST = 2


def refused_bit(number: int) -> int:
    """The status bit of the access of that number in its kernel's layout; all accesses beyond the register share the
    last bit."""
    return min(FIRST + number, STATUS_BITS - 1)


def refused(accesses: Sequence[Access], status: int) -> list[Access]:
    """The accesses of a layout that were refused, or may have been where several share a bit."""
    return [access for number, access in enumerate(accesses) if status >> refused_bit(number) & 1]
