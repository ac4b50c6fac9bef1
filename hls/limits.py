"""Budgets: how large a program may become before it costs more than anybody meant to spend.

Small texts can ask for much: helpers that call twice, a million compute units, a channel of a terabit. Each budget is
far above what programs for real devices need, and is checked before the work is done. ``--limit NAME=N`` sets another
one.
"""

from dataclasses import dataclass, fields, replace

__all__ = [
    "DEFAULT_LIMITS",
    "LARGEST_INTERVAL",
    "MOST_AHEAD",
    "MOST_ARGUMENT_BYTES",
    "MOST_CHOSEN",
    "MOST_WORK_ITEMS",
    "Limits",
    "exceeded",
]

#: of a kernel's arguments, each in whole words of 8 bytes: what its registers have room for beside the size of a launch
MOST_ARGUMENT_BYTES = 3584
#: of a loop: cycles between two iterations that a program may ask for
LARGEST_INTERVAL = 1 << 16
#: of a loop: iterations that are issued before it is known whether there are any
MOST_AHEAD = 4096
#: of a group; what the host is told of the device
MOST_WORK_ITEMS = 1 << 20
#: channels of which a call may choose one as it runs; each is hardware of its own
MOST_CHOSEN = 1024


@dataclass(frozen=True)
class Limits:
    """Budgets of one compilation.

    Attributes
    ----------
    operations : of a kernel as it is written, once the bodies of all that it calls stand where they are called
    unrolled : operations in all copies of a loop that is unrolled
    units : compute units of a kernel
    copies : kernels, with all copies of those that are autorun
    accesses : places where a program accesses global memory, in all compute units; each has hardware of its own
    array_accesses : places where a kernel accesses one array that is kept in memory on the chip; each takes a port or a
        turn at one, and each two are compared
    channel_bits : that channels hold; no device has so many
    """

    operations: int = 50_000
    unrolled: int = 20_000
    units: int = 128
    copies: int = 1024
    accesses: int = 256
    array_accesses: int = 1024
    channel_bits: int = 1 << 30

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """As ``--limit`` calls them."""
        return tuple(field.name.replace("_", "-") for field in fields(cls))

    def with_limit(self, name: str, number: int) -> "Limits":
        """The same but for one, which must be of the :meth:`names`."""
        return replace(self, **{name.replace("-", "_"): number})


#: the budgets where nobody sets others
DEFAULT_LIMITS = Limits()


def exceeded(name: str) -> str:
    """The end of a hint: what allows more."""
    return f"--limit {name}=N allows more"
