"""Budgets: limits on the size of a program that keep the cost of compiling it bounded.

Small texts can expand to a lot of work: helpers that call twice, a million compute units, a channel of a terabit. Each
budget is far above what programs for real devices need, and is checked before the work is done. ``--limit NAME=N``
overrides one.
"""

from dataclasses import dataclass, fields, replace

__all__ = [
    "DEFAULT_LIMITS",
    "LARGEST_INTERVAL",
    "MOST_AHEAD",
    "MOST_ARGUMENT_BYTES",
    "MOST_ARRAY_BYTES",
    "MOST_CHOSEN",
    "MOST_GLOBAL_ARRAY_BYTES",
    "MOST_INITIALIZED_BYTES",
    "MOST_WORK_ITEMS",
    "TOLD_GROUP",
    "TOLD_WORK_ITEMS",
    "Limits",
    "exceeded",
]

#: most bytes of an array on the chip; larger ones must be buffers. The block RAMs of the device limit it further
MOST_ARRAY_BYTES = 16 << 20
#: most bytes of an array of the program in global memory; the memories of the board limit it further
MOST_GLOBAL_ARRAY_BYTES = 1 << 32
#: most bytes of an array with an initializer, all of which the Verilog text holds
MOST_INITIALIZED_BYTES = 1 << 20
#: bytes of a kernel's arguments, each in whole words of 8 bytes: they share the register window with the sizes of a
#: launch
MOST_ARGUMENT_BYTES = 3584
#: largest II that a program may request for a loop
LARGEST_INTERVAL = 1 << 16
#: most iterations of a loop that are issued before the continue condition is known
MOST_AHEAD = 4096
#: most work-items of a group
MOST_WORK_ITEMS = 1 << 20
#: work-items of the largest group that hosts are told of, by which they size their groups and buffers; a kernel that
#: asks for more, and a launch of a kernel that does not say, may have more
TOLD_WORK_ITEMS = 4096
#: and of a kernel that takes groups of any size: many hosts launch 1,024 work-items in one group as large as this
TOLD_GROUP = 1024
#: most channels among which a call may select at run time; each is hardware of its own
MOST_CHOSEN = 1024


@dataclass(frozen=True)
class Limits:
    """Budgets of one compilation.

    Attributes
    ----------
    operations : of a kernel as written, after inlining every call
    unrolled : operations in all copies of an unrolled loop
    units : compute units of a kernel
    copies : kernels, with all copies of those that are autorun
    accesses : access sites of a kernel to global memory, in all its compute units; each has hardware of its own
    array_accesses : access sites of a kernel to one array in on-chip memory; each takes a port or a share of one, and
        each pair is compared
    barriers : of a kernel with loops unrolled; each holds the work-items of a group
    channel_bits : capacity of all channels in bits; no device has so many
    """

    operations: int = 50_000
    unrolled: int = 50_000
    units: int = 128
    copies: int = 1024
    accesses: int = 256
    array_accesses: int = 1088  # 16 lanes that each load a row of 64 elements, and store a few
    barriers: int = 128
    channel_bits: int = 1 << 30

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names that ``--limit`` accepts."""
        return tuple(field.name.replace("_", "-") for field in fields(cls))

    def with_limit(self, name: str, number: int) -> "Limits":
        """The same limits with one of :meth:`names` changed."""
        return replace(self, **{name.replace("-", "_"): number})


#: the budgets used unless others are set
DEFAULT_LIMITS = Limits()


def exceeded(name: str) -> str:
    """The end of a hint: the option that raises the limit."""
    return f"--limit {name}=N allows more"
