"""What every way to a board's bus offers."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

__all__ = ["Bus", "Words"]

Words = np.ndarray  #: of uint32


class Bus(Protocol):
    """Words of 32 bits at byte addresses of a board's bus. All methods but ``close`` raise DeviceError whenever the
    board does not answer as it must."""

    @property
    def place(self) -> str:
        """Where the board is, for messages."""
        ...

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        ...

    def settle(self) -> None:
        """Begin: find the end of what an earlier program may have left half done."""
        ...

    def read(self, address: int, words: int = 1) -> Words:
        """The words from that address on."""
        ...

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write words from that address on, once: registers may do something at each write."""
        ...

    def fill(self, address: int, words: Words) -> None:
        """Write words of memory, and again what was lost."""
        ...

    def close(self) -> None:
        """Close it; safe to call twice."""
        ...
