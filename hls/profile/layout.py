"""Which counters a kernel has, and what each one counts.

The layout is made once from the schedule. The hardware is built from it, a register for each of
:attr:`Layout.registers`, and :func:`hls.profile.decode` reads the values with it, so the two always agree. Counters
that follow from others have no register: the issues of the only innermost loop are those of the account, and a loop
that begins once in a run has begun if it issued anything.

Of a loop: ``issued`` counts iterations, ``invocations`` first iterations, ``busy`` cycles in which a slot is running
or an iteration issues, and ``starts`` the times ``busy`` begins; for an outer loop, ``busy`` lasts from the first
iteration that leaves to the last one, plus one cycle for each of ``starts``. Of a memory access: ``accepted``
requests, cycles in which a request was ``stalled``, ``bursts`` sent to memory and ``words`` moved on its bus; of
atomic operations, which share words that lie on the chip meanwhile, ``words`` are those that were read for them, and
``bursts`` those that they will have written; of a load that is made before it is known whether the program makes it,
also those made in ``vain``. Of an access to a memory inside the kernel, ``accepted`` requests, and cycles in which one
``stalled`` for a port. Of a channel, as observed by one of its kernels from its start on: values ``moved`` by that
kernel, cycles in which a call waited for a value (``read_stall``) or for room (``write_stall``), the values inside now
(``level``) and the most there were (``max_level``). Of a kernel: one counter for each :class:`Account`; exactly one of
them counts in each cycle from start to done, and so do all other counters but ``level``. A kernel of several compute
units has all of these for each unit; stalls, events and traffic are then summed.

A simulator that counts the signals of a probe itself also counts what would be too much for hardware
(:attr:`Layout.probed`): all of memories inside the kernel, and of accesses to those outside the requests that are
``unaligned``, which is to say that they cross from one word to the next, and the ``full`` bursts, which have as many
words as the unit's bursts can have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

__all__ = [
    "ACCESS_KINDS",
    "CATEGORIES",
    "CHANNEL_KINDS",
    "COUNTER_BITS",
    "CYCLES",
    "DRAIN_BITS",
    "EARLY_KINDS",
    "LOCAL_KINDS",
    "LOOP_KINDS",
    "Access",
    "Account",
    "Channel",
    "Counter",
    "Layout",
    "Local",
    "Loop",
]

#: what an account says: something was issued; nothing was issued yet, or will be, or the tokens under way are on their
#: way (ramp-up, drain, latency); or what is waited for
CATEGORIES = (
    "issue",
    "ramp-up",
    "drain",
    "latency",
    "memory",
    "memory order",
    "local memory",
    "channel",
    "barrier",
    "inner loop",
    "recurrence",
    "groups",
)
LOOP_KINDS = ("issued", "invocations", "busy", "starts")
ACCESS_KINDS = ("accepted", "stalled", "bursts", "words")
EARLY_KINDS = (*ACCESS_KINDS, "vain")
LOCAL_KINDS = ("accepted", "stalled")
CHANNEL_KINDS = ("moved", "read_stall", "write_stall", "level", "max_level")
LEVEL_KINDS = ("level", "max_level")
#: of the register of ``drain``, the latency of the pipelines after the last issue, which is at most their depth and the
#: latency of memory; it stops at half of its range, and what is longer counts as latency before the last issue
DRAIN_BITS = 16
COUNTER_BITS = 48  #: overflows after 13 days at 240 MHz
CYCLES = "cycles"  #: the name of the control port's cycle count in ``decode``


@dataclass(frozen=True)
class Counter:
    """One hardware counter. ``name`` is unique in its kernel and a legal Verilog identifier."""

    name: str
    kind: str  #: one of LOOP_KINDS, EARLY_KINDS, CHANNEL_KINDS, "unaligned", "full" or "account"
    owner: str  #: key of the loop, access or channel, or the cause of the account
    line: int | None
    bits: int = COUNTER_BITS


@dataclass(frozen=True)
class Loop:
    """A loop header. ``key`` is unique in the kernel and a legal identifier."""

    key: str
    label: str
    line: int | None
    static_ii: int
    interleaving: int  #: number of interleaved invocations; more than static_ii of them would not increase the rate
    name: str = ""  #: the label, with the line if several loops of the kernel have that label
    floating: int = 0  #: floating-point operations of an iteration
    integer: int = 0  #: integer operations of an iteration
    path: str = ""  #: the labels of the loops around it and its own, outermost first, as "i/k"
    once: bool = False  #: it begins at most once in a run, and then issues until it ends
    sole: bool = False  #: the only innermost loop, whose issues are those of the account "issued"

    def __post_init__(self) -> None:
        if not 1 <= self.interleaving <= self.static_ii:
            raise ValueError(f"loop {self.key}: interleaving {self.interleaving} is not in 1..II = {self.static_ii}")

    def counters(self) -> tuple[Counter, ...]:
        """The loop's counters, one for each of ``LOOP_KINDS``."""
        return tuple(Counter(f"{self.key}_{kind}", kind, self.key, self.line) for kind in LOOP_KINDS)

    @property
    def derived(self) -> tuple[str, ...]:
        """The kinds of its counters that are 1 if the loop issued anything, else 0."""
        return ("invocations", "starts") if self.once else ()


@dataclass(frozen=True)
class Access:
    """A load or store of a global buffer. ``loop`` is the key of the innermost loop that contains it, or None."""

    key: str
    line: int | None
    buffer: str
    kind: str  #: "load", "store" or "atomic"
    lsu: str  #: the unit's kind, e.g. "burst-coalesced"
    access_bytes: int
    word_bytes: int
    loop: str | None = None
    cached: bool = False  #: a load whose unit keeps words for later requests
    early: bool = False  #: a load that is made before it is known whether the program makes it
    memory: str = ""  #: the board's memory that it accesses, e.g. "DDR"
    peak_bytes_per_ns: float = 0.0  #: of that memory, all banks together; 0 where no peak is shared
    max_burst: int = 0  #: most words of a burst that the unit makes; 0 if unknown
    wide: bool = False  #: of several lanes, which may lie in two words

    def counters(self, probed: bool = False) -> tuple[Counter, ...]:
        """The counters of the access; an ``early`` one also counts the loads that were made in vain. With ``probed``
        also those that only a simulator has: ``unaligned`` requests of a wide access, and ``full`` bursts where bursts
        of several words are possible."""
        more = (("unaligned", self.wide), ("full", self.max_burst > 1))
        kinds = (*(EARLY_KINDS if self.early else ACCESS_KINDS), *(kind for kind, has in more if probed and has))
        return tuple(Counter(f"{self.key}_{kind}", kind, self.key, self.line) for kind in kinds)


@dataclass(frozen=True)
class Local:
    """A load, store or atomic operation on a ``memory`` inside the kernel. ``loop`` is the key of the innermost loop
    that contains it, or None."""

    key: str
    line: int | None
    memory: str  #: its name in the source
    kind: str  #: "load", "store" or "atomic"
    loop: str | None = None

    def counters(self) -> tuple[Counter, ...]:
        """The counters of the access, one for each of ``LOCAL_KINDS``."""
        return tuple(Counter(f"{self.key}_{kind}", kind, self.key, self.line) for kind in LOCAL_KINDS)


@dataclass(frozen=True)
class Channel:
    """A kernel's end of a channel; ``line`` is that of its first call, ``depth`` the channel's depth in hardware."""

    key: str
    name: str  #: as in the source
    writes: bool
    depth: int
    line: int | None
    inner: bool = False  #: leads to another part of the same kernel; ``name`` says what passes there

    def counters(self) -> tuple[Counter, ...]:
        """The counters of this end, one for each of ``CHANNEL_KINDS``. Those of levels are as wide as the depth."""
        bits = dict.fromkeys(LEVEL_KINDS, max(1, self.depth.bit_length()))
        return tuple(
            Counter(f"{self.key}_{kind}", kind, self.key, self.line, bits.get(kind, COUNTER_BITS))
            for kind in CHANNEL_KINDS
        )


@dataclass(frozen=True)
class Account:
    """One of the causes that the cycles of a run are attributed to, e.g. "issued" or "load of a"."""

    key: str
    cause: str
    line: int | None = None
    category: str = "memory"  #: one of CATEGORIES

    def __post_init__(self) -> None:
        if self.category not in CATEGORIES:
            raise ValueError(f"account {self.key}: no category {self.category!r}")

    def counters(self) -> tuple[Counter, ...]:
        """The single counter of the account, in cycles."""
        bits = DRAIN_BITS if self.category == "drain" else COUNTER_BITS
        return (Counter(f"account_{self.key}", "account", self.cause, self.line, bits),)


@dataclass(frozen=True)
class Layout:
    """All counters of one kernel. ``counted`` says which were built (:class:`hls.options.Options`); where it is empty,
    only the cycles of a run are known."""

    kernel: str
    clock_mhz: float
    loops: tuple[Loop, ...]
    accesses: tuple[Access, ...]
    accounts: tuple[Account, ...]
    counted: str = "all"  #: "", "accounts", "accesses" or "all"
    channels: tuple[Channel, ...] = ()
    units: int = 1  #: compute units, each of which has all of these
    local: tuple[Local, ...] = ()
    probed: bool = False  #: counted by a simulator, which also counts what hardware does not
    parts: tuple["Layout", ...] = ()  #: of a split kernel, those of its other parts, which run as long as it does

    def __post_init__(self) -> None:
        names = [counter.name for counter in self.counters]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"kernel {self.kernel}: counters named twice: {', '.join(twice)}")
        loops = {loop.key for loop in self.loops}
        around = [(access.key, access.loop) for access in self.accesses]
        for key, loop in [*around, *((local.key, local.loop) for local in self.local)]:
            if loop is not None and loop not in loops:
                raise ValueError(f"kernel {self.kernel}: access {key} is in unknown loop {loop}")

    @property
    def counters(self) -> tuple[Counter, ...]:
        """In register order, unit after unit; then those of the other parts."""
        return (*self.own, *(replace(one, name=f"part{k}_{one.name}") for k, one in self._of_parts()))

    def _of_parts(self) -> Iterator[tuple[int, Counter]]:
        """Each counter of the other parts, with the part's number."""
        return ((k, one) for k, part in enumerate(self.parts, 1) for one in part.counters)

    def of_part(self, part: "Layout", values: Mapping[str, int]) -> dict[str, int]:
        """The values of one of the other ``parts`` by its own names, from those of the kernel by all names."""
        place = self.parts.index(part) + 1
        found = {one.name: f"part{place}_{one.name}" for one in part.counters}
        rest = {CYCLES: CYCLES} | {name: whole for name, whole in found.items() if whole in values}
        return {name: values[whole] for name, whole in rest.items()}

    def of_whole(self, part: "Layout", values: Mapping[str, int]) -> dict[str, int]:
        """The inverse of :meth:`of_part`: the values of a part by the names of the kernel, cycles left out."""
        place = self.parts.index(part) + 1
        return {f"part{place}_{name}": value for name, value in values.items() if name != CYCLES}

    @property
    def rests(self) -> tuple[tuple[str, str], ...]:
        """The names of the two counters of the cycles without a cause, before the last issue and after it, for each
        unit."""
        if not self.has_accounts:
            return ()
        between, drain = (
            [account.counters()[0] for account in self.accounts if account.category == category]
            for category in ("latency", "drain")
        )
        units = range(self.units)
        return tuple(
            (self.unit_name(k, one), self.unit_name(k, two)) for k in units for one, two in zip(between, drain)
        )

    def of_registers(self, shown: Mapping[str, int]) -> dict[str, int]:
        """The counters from what their registers show. The register of the cycles without a cause before the last issue
        also counts those after it, which have a short register of their own. (Of a kernel that runs, registers are read
        one after the other, so the difference may be some cycles below 0; the sum of both is exact.) Counters
        without a register follow from that of another."""
        values = dict(shown)
        for name, (source, at_most_one) in self._derived().items():
            values[name] = min(1, shown[source]) if at_most_one else shown[source]
        for between, drain in self.rests:
            values[between] -= values[drain]
        for part in self.parts:
            values |= self.of_whole(part, part.of_registers(self.of_part(part, values)))
        return values

    @property
    def joined(self) -> bool:
        """Whether the kernel passes values to or from others."""
        return any(not one.inner for one in self.channels)

    @property
    def all_accesses(self) -> tuple[Access, ...]:
        """The accesses of all parts, in the order in which the status register numbers them."""
        return (*self.accesses, *(access for part in self.parts for access in part.accesses))

    @property
    def own(self) -> tuple[Counter, ...]:
        """The counters of the part that has the kernel's name, unit after unit."""
        if self.units == 1:
            return self.of_unit
        return tuple(
            replace(counter, name=self.unit_name(unit, counter))
            for unit in range(self.units)
            for counter in self.of_unit
        )

    @property
    def events(self) -> tuple[Counter, ...]:
        """Those of the counters of each unit that count the cycles in which a signal is high."""
        return tuple(one for one in self.of_unit if one.kind not in (*LEVEL_KINDS, "account"))

    @property
    def registers(self) -> tuple[Counter, ...]:
        """Those of :attr:`counters` that hardware has, in the same order; the others follow from these."""
        derived = self._derived()
        return tuple(counter for counter in self.counters if counter.name not in derived)

    def _derived(self) -> dict[str, tuple[str, bool]]:
        """By the name of each counter that no register shows: the register that it follows from, and whether it is at
        most 1, else equal to that."""
        found: dict[str, tuple[str, bool]] = {}
        issues = next((one for one in self.accounts if one.category == "issue" and self.has_accounts), None)
        for loop in self.loops if self.has_events else ():
            of = {counter.kind: counter for counter in loop.counters()}
            source = issues.counters()[0] if issues and loop.sole else of["issued"]
            kinds = (*loop.derived, *(("issued",) if source is not of["issued"] else ()))
            for unit in range(self.units):
                shown = self.unit_name(unit, source)
                found |= {self.unit_name(unit, of[kind]): (shown, kind != "issued") for kind in kinds}
        for part in self.parts:
            by_part, part_of = part._derived(), self.parts.index(part) + 1
            found |= {f"part{part_of}_{name}": (f"part{part_of}_{by}", one) for name, (by, one) in by_part.items()}
        return found

    def unit_name(self, unit: int, counter: Counter) -> str:
        """The name of one unit's counter, from the name that all units share."""
        return counter.name if self.units == 1 else f"unit{unit}_{counter.name}"

    def sums(self, values: Mapping[str, int]) -> dict[str, int]:
        """Values by the names of :attr:`of_unit`, summed over the units; other values are unchanged."""
        mine = {counter.name for counter in self.own}
        rest = {name: value for name, value in values.items() if name not in mine}
        return rest | {
            counter.name: sum(values[self.unit_name(unit, counter)] for unit in range(self.units))
            for counter in self.of_unit
            if self.unit_name(0, counter) in values
        }

    @property
    def has_events(self) -> bool:
        """Whether loops, accesses and channels have counters."""
        return self.counted in ("accesses", "all")

    @property
    def has_accounts(self) -> bool:
        """Whether each cause that cycles are attributed to has a counter."""
        return self.counted in ("accounts", "all")

    @property
    def of_unit(self) -> tuple[Counter, ...]:
        """The counters of each unit: loops, accesses, channels, accesses inside the kernel, accounts."""
        found: list[tuple[Counter, ...]] = []
        if self.has_events:
            found += [loop.counters() for loop in self.loops]
            found += [access.counters(self.probed) for access in self.accesses]
            found += [channel.counters() for channel in self.channels]
            found += [local.counters() for local in self.local if self.probed]
        if self.has_accounts:
            found += [account.counters() for account in self.accounts]
        return tuple(counter for counters in found for counter in counters)
