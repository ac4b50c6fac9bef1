"""The probe: signals of a design that a simulator counts itself, instead of counters in the hardware.

The output ``probe`` of the top module has a section for each compute unit of each kernel, then a word for each
channel: the values that it holds. A section is made of words of 64 bits: the flags (bit 0 the unit is busy, bit 1 it
starts), the events, which are the signals that the counters of :attr:`hls.profile.layout.Layout.events` count, and the
causes, which are those of the cycle account before the most important one is chosen.
"""

from dataclasses import dataclass

__all__ = ["HELD", "START", "WORD", "Hold", "Link", "ProbeMap", "ProbeUnit", "words"]

WORD = 64  #: bits of a word
START = 1  #: the place of the flag that a unit starts
#: what the names of the counters of cycles in which an access is held up end with
HELD = "_stalled"


def words(bits: int) -> int:
    """Words that hold so many bits."""
    return -(-bits // WORD)


@dataclass(frozen=True)
class Link:
    """Account number ``account`` is a wait for the kernel at the other end of ``channel``."""

    account: int
    channel: str  #: its name in hardware
    writes: bool  #: this kernel writes the channel: it waits for room


@dataclass(frozen=True)
class Hold:
    """A place where requests can be held up: an access, or a call on a channel."""

    key: str  #: that of the access in the layout, or of the call
    what: str  #: "load of a", "read from channel c"
    line: int | None
    bit: int  #: among the events of the unit, or with ``is_cause`` among its causes
    is_cause: bool = False
    loop: str | None = None  #: the key of the innermost loop around it
    waits: tuple[int, ...] = ()  #: the numbers of the causes that are waits for it
    moves: str | None = None  #: the event that is a request taken, if it is of this place alone


@dataclass(frozen=True)
class ProbeUnit:
    """A section: one compute unit of a kernel."""

    kernel: str
    events: tuple[str, ...]  #: names of the counters (of one unit) that count each bit
    causes: int
    issues: bool  #: whether cause 0 is that something was issued
    autorun: bool
    links: tuple[Link, ...]
    holds: tuple[Hold, ...]
    channels: tuple[str, ...]  #: those that it has ends of, in the order of the layout
    path: str = ""  #: of its instance in the hardware

    @property
    def bits(self) -> int:
        """Width of the section."""
        return WORD * (1 + words(len(self.events)) + words(self.causes))

    def event_bit(self, name: str) -> int:
        """The place of the bit of an event, by the name of its counter, in the section."""
        return WORD + self.events.index(name)

    def cause_bit(self, number: int) -> int:
        """The place of the bit of a cause in the section."""
        return WORD * (1 + words(len(self.events))) + number

    def hold_bit(self, hold: Hold) -> int:
        """The place of a hold's bit in the section."""
        return self.cause_bit(hold.bit) if hold.is_cause else WORD + hold.bit


@dataclass(frozen=True)
class ProbeMap:
    """The whole output. ``ends`` has for each channel, in order, the numbers of the units that write and read it; -1
    where the channel leads to a stream of the board."""

    units: tuple[ProbeUnit, ...]
    channels: tuple[str, ...]
    ends: tuple[tuple[int, int], ...]

    def start(self, unit: int) -> int:
        """The first bit of a unit's section."""
        return sum(one.bits for one in self.units[:unit])

    def level(self, channel: str) -> int:
        """The first bit of the word of a channel."""
        return self.start(len(self.units)) + WORD * self.channels.index(channel)

    def of_kernel(self, kernel: str) -> tuple[int, ...]:
        """The numbers of the units of a kernel."""
        return tuple(k for k, unit in enumerate(self.units) if unit.kernel == kernel)
