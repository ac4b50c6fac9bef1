"""Addresses of the control registers of a kernel: the one table that host and hardware share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "ARGUMENTS",
    "CONTROL",
    "COUNTERS",
    "CYCLES",
    "CYCLE_BITS",
    "DONE",
    "FORGET",
    "IDENTIFICATION",
    "IDLE",
    "INTERRUPT",
    "START",
    "STATUS",
    "RegisterMap",
]

CONTROL, STATUS, IDENTIFICATION, INTERRUPT, CYCLES = 0x00, 0x04, 0x08, 0x0C, 0x10
ARGUMENTS, COUNTERS = 0x100, 0x1000
START, DONE, IDLE, FORGET = 1, 2, 4, 8  # bits of CONTROL
CYCLE_BITS = 48  # of the cycle counter, whose register has 64: more than a month at 100 MHz
SLOT = 8  # bytes: an argument takes a multiple of this, a counter exactly this, whatever its width


@dataclass(frozen=True)
class RegisterMap:
    """Byte addresses of arguments and counters, given as (name, bits) pairs; a counter has at most 64 bits."""

    arguments: tuple[tuple[str, int], ...] = ()
    counters: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for kind in ("arguments", "counters"):
            pairs = tuple(tuple(pair) for pair in getattr(self, kind))
            object.__setattr__(self, kind, pairs)
            names = [name for name, _ in pairs]
            if len(set(names)) != len(names):
                raise ValueError(f"{kind} must have different names: {names}")
            for name, bits in pairs:
                most = 8 * (SLOT if kind == "counters" else COUNTERS - ARGUMENTS)
                if not 1 <= bits <= most:
                    raise ValueError(f"{kind}: {name!r} must have 1 to {most} bits, not {bits!r}")
        if sum(_slots(bits) for _, bits in self.arguments) > (COUNTERS - ARGUMENTS) // SLOT:
            raise ValueError(f"at most {COUNTERS - ARGUMENTS} bytes of arguments")

    @property
    def addr_bits(self) -> int:
        """Width of an address that reaches every register."""
        return max(12, (COUNTERS + SLOT * len(self.counters) - 1).bit_length())

    def argument(self, name: str) -> int:
        """Byte address of the low word of an argument; KeyError if no argument has that name."""
        return self._slot(ARGUMENTS, self.arguments, name)

    def counter(self, name: str) -> int:
        """Byte address of the low word of a counter; KeyError if no counter has that name."""
        return self._slot(COUNTERS, self.counters, name)

    @staticmethod
    def _slot(base: int, pairs: Sequence[tuple[str, int]], name: str) -> int:
        for each, bits in pairs:
            if each == name:
                return base
            base += SLOT * _slots(bits)
        raise KeyError(name)

    def argument_writes(self, values: Mapping[str, int]) -> list[tuple[int, int]]:
        """Golden: the (address, 32-bit word) writes which set the arguments to ``values``, a dict of ints.

        Negative values are encoded in two's complement. Raises KeyError for an argument that is missing.
        """
        writes = []
        for name, bits in self.arguments:
            value, at = values[name] % (1 << max(64, bits)), self.argument(name)
            writes += [(at + 4 * n, value >> 32 * n & 0xFFFF_FFFF) for n in range(-(-bits // 32))]
        return writes


def _slots(bits: int) -> int:
    return -(-bits // (8 * SLOT))
