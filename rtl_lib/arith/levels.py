"""Rough depth of common logic, in levels of a six-input lookup table with its routing.

These numbers only decide where a part's registers go and how many it needs; no result depends on them. A carry chain
counts as one level plus its length, and a hard multiplier as the number of levels that takes as long.
"""

from math import ceil, log2

__all__ = ["MULTIPLIER", "MUX", "ROUTE", "adder", "any_of", "leading_zeros", "shifter"]

MUX = 1.0  #: choice between two to four words
#: hard multiplier, from its input pins to its output pins: 4.0 measured on an ECP5 (215 MHz between registers)
MULTIPLIER = 4.3
ROUTE = 2.5  #: routing to or from a column of hard blocks, which is seldom next to the logic


def adder(width: int) -> float:
    """Sum, difference or comparison of two words of ``width`` bits on a carry chain."""
    return 1.0 + width / 32


def any_of(width: int) -> float:
    """Reduction of ``width`` bits to one."""
    levels, bits = 1.0, ceil(width / 6)
    while bits > 1:
        levels, bits = levels + 1, ceil(bits / 6)
    return levels


def shifter(ways: int) -> float:
    """Shift by one of ``ways`` distances; one lookup table selects among four words."""
    return float(ceil(log2(ways) / 2)) if ways > 1 else 0.0


def leading_zeros(width: int) -> float:
    """Position of the first one in ``width`` bits."""
    return 0.5 + 0.5 * ceil(log2(width + 1))
