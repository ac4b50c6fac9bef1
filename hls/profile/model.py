"""The profile of a program's run as data: what ``profile.json`` holds. docs/profile.schema.json describes it.

Cycles are those of the kernel clock, ``..._ns`` simulated time since the context was made, shares fractions of one.
``id`` of an account, access, loop or channel end is its key in the layout of the kernel's counters
(:mod:`hls.profile.layout`), unique in its kernel.
"""

from dataclasses import dataclass

__all__ = [
    "SCHEMA",
    "Access",
    "Account",
    "Area",
    "Bank",
    "Blame",
    "ChannelDepth",
    "ChannelEnd",
    "Column",
    "Command",
    "Depth",
    "Figure",
    "Held",
    "Kernel",
    "Launch",
    "Local",
    "Loop",
    "Memory",
    "Profile",
    "Program",
    "Samples",
    "Unit",
    "Verdict",
    "Work",
]

SCHEMA = 1


@dataclass(frozen=True)
class Memory:
    """One of the board's memories. ``peak_bytes_per_ns`` is over all banks; None where each access has a port of its
    own, as on the chip, so that accesses share no peak."""

    name: str
    kind: str
    banks: int
    peak_bytes_per_ns: float | None


@dataclass(frozen=True)
class Area:
    """What a ``kernel``, with all of its copies and compute units, takes of the device, as its report estimates it; the
    whole design where ``kernel`` is empty. ``logic`` is in the device's logic cells."""

    kernel: str
    logic: int
    registers: int
    rams: int
    dsps: int


@dataclass(frozen=True)
class Program:
    """A program that was built: its text, and its kernels' names; the host does not start the ``autorun`` ones. The
    kernels in an entry of ``copies`` are equal but for the indices of their channels. ``areas`` are those of its
    report, the probe of the simulation included."""

    number: int
    source: str
    kernels: tuple[str, ...]
    autorun: tuple[str, ...]
    copies: tuple[tuple[str, ...], ...] = ()
    areas: tuple[Area, ...] = ()


@dataclass(frozen=True)
class Account:
    """Cycles attributed to one cause. ``category`` is one of hls.profile.layout.CATEGORIES."""

    id: str
    cause: str
    category: str
    line: int | None
    cycles: int


@dataclass(frozen=True)
class Loop:
    """A loop in hardware. ``path`` has the labels of the loops around it and its own, outermost first, as "i/k"; it has
    no lines, so that edited sources can be compared."""

    id: str
    name: str
    line: int | None
    static_ii: int
    interleaving: int
    scheduled_ii: float
    measured_ii: float | None
    iterations: int
    invocations: int
    path: str = ""


@dataclass(frozen=True)
class Access:
    """A load, store or atomic operation on global memory. ``loop`` is the id of the innermost loop around it.
    ``full_bursts`` is the share of bursts that have ``max_burst`` words, ``unaligned`` that of requests which cross
    from one word to the next, null for accesses that cannot."""

    id: str
    kind: str
    buffer: str
    line: int | None
    loop: str | None
    unit: str
    memory: str
    access_bytes: int
    occupancy: float | None
    activity: float | None
    stall: float | None
    bytes_used: int
    bytes_moved: int
    efficiency: float | None
    reuse: float | None
    bytes_per_ns: float | None
    bandwidth: float | None
    average_burst: float | None
    max_burst: int | None
    cache_hit: float | None
    in_vain: float | None
    full_bursts: float | None = None
    unaligned: float | None = None


@dataclass(frozen=True)
class Local:
    """A load, store or atomic operation on a memory inside the kernel: ``requests`` made, ``activity`` and ``stall``
    the shares of cycles in which one was made and in which one waited for a port."""

    id: str
    kind: str
    memory: str
    line: int | None
    loop: str | None
    requests: int
    activity: float | None
    stall: float | None


@dataclass(frozen=True)
class ChannelEnd:
    """A kernel's end of a channel; ``end`` is "read" or "write"."""

    id: str
    name: str
    line: int | None
    end: str
    depth: int
    max_level: int
    mean_level: float | None
    values: int
    read_stall: float | None
    write_stall: float | None


@dataclass(frozen=True)
class Unit:
    """One of several compute units; ``groups`` is how many work-groups it took."""

    number: int
    groups: int | None
    occupancy: float | None
    accounts: tuple[Account, ...]


@dataclass(frozen=True)
class Held:
    """In so many ``cycles`` the operation ``id`` was held up while the cycle's account was ``cause``."""

    id: str
    what: str
    line: int | None
    cause: str
    cause_line: int | None
    cycles: int


@dataclass(frozen=True)
class Blame:
    """In so many ``cycles`` the kernel's account was ``cause``, a wait for a channel, and the chain of waits led
    through ``kernels`` to the last of them. ``end`` is "account": that one's account was ``last_cause``; "idle": it did
    not run; "stream": the chain ends at a stream of the board; "circle": the last one waited for one before it."""

    cause: str
    line: int | None
    kernels: tuple[str, ...]
    end: str
    last_cause: str | None
    last_line: int | None
    cycles: int


@dataclass(frozen=True)
class Column:
    """A number for each interval. ``kind`` is "account", "accepted", "stalled", "level" (mean), "min_level" or
    "max_level"; ``id`` that of its account, access or channel end. Only columns with a number other than 0 are
    there."""

    kind: str
    id: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Samples:
    """Counts of intervals of ``interval`` cycles from cycle ``first`` of the simulation on; the last interval has
    ``last`` cycles, if not 0."""

    unit: int
    first: int
    interval: int
    last: int
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Bank:
    """Commands of one bank of memory during a launch, those of other kernels included. ``busy`` is the share of the
    time in which data moves; null for memory without timing."""

    number: int
    memory: str
    busy: float | None
    bytes_read: int
    bytes_written: int
    reads: int
    writes: int
    activates: int
    precharges: int
    refreshes: int
    turnarounds: int


@dataclass(frozen=True)
class Work:
    """Arithmetic operations of a ``kind``, "floating-point" or "integer": those of the iterations that were issued, a
    condition of theirs not considered; ``per_ns`` is what all of the kernel's operators could start."""

    kind: str
    operations: int
    per_ns: float


@dataclass(frozen=True)
class Launch:
    """One run of a kernel; with ``capture``, the part of an autorun kernel's run that lies in launch ``of``, or, if
    that is null, between two captures of the host, or in the whole run of the program. ``begin`` is the cycle of its
    program's simulator before its first one. ``roof_bytes_per_ns`` is what the board's memory can move at most for
    accesses in this order, and ``roof_by`` what holds it to that."""

    number: int
    kernel: str
    program: int
    queue: int
    capture: bool
    of: int | None
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    begin: int
    cycles: int
    clock_mhz: float
    start_ns: float
    end_ns: float
    accounts: tuple[Account, ...]
    loops: tuple[Loop, ...]
    accesses: tuple[Access, ...]
    channels: tuple[ChannelEnd, ...]
    units: tuple[Unit, ...]
    held: tuple[Held, ...]
    blame: tuple[Blame, ...]
    samples: tuple[Samples, ...]
    banks: tuple[Bank, ...]
    work: tuple[Work, ...] = ()
    roof_bytes_per_ns: float | None = None
    roof_by: str = ""
    local: tuple[Local, ...] = ()
    part: bool = False  #: of a part of a split kernel, which starts and ends with launch ``of``


@dataclass(frozen=True)
class Command:
    """A command of the host. ``kind`` is "launch", "read", "write", "copy", "fill", "map", "unmap", "build", "create"
    (a buffer that is initialized from the host's memory) or "capture" (of an autorun kernel); ``name`` the kernel of a
    launch or capture, ``launch`` its number. ``host_s`` is when it ended, in wall time since the program began."""

    number: int
    kind: str
    queue: int | None
    name: str
    launch: int | None
    bytes: int
    queued_ns: float
    submit_ns: float
    start_ns: float
    end_ns: float
    host_s: float


@dataclass(frozen=True)
class Figure:
    """A number that a verdict rests on."""

    name: str
    value: float


@dataclass(frozen=True)
class Verdict:
    """What limits a kernel, and what to do; ``rule`` is its name in rules.toml."""

    rule: str
    sentence: str
    remedies: tuple[str, ...]
    section: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Kernel:
    """All launches of a kernel (all captures of an autorun kernel): cycles in total, on average and at most.
    ``accounts`` are sums over them, ``worst`` the number of the longest."""

    name: str
    autorun: bool
    launches: int
    cycles: int
    mean: float
    most: int
    worst: int
    accounts: tuple[Account, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Depth:
    """With this depth of a channel its values take so many ``cycles`` from the first write to the last read, and its
    ends wait for it in so many."""

    depth: int
    cycles: int
    writer_waits: int
    reader_waits: int


@dataclass(frozen=True)
class ChannelDepth:
    """What other depths of a channel between two kernels would have meant for a program's run: ``actual`` is the depth
    that it has, ``least`` the least one with which the values take no longer than with any greater one, null where no
    depth helps, and ``saved`` the cycles that it saves."""

    program: int
    channel: str
    values: int
    actual: Depth
    others: tuple[Depth, ...]
    least: int | None
    saved: int
    sentence: str


@dataclass(frozen=True)
class Profile:
    """The profile of one run of a host program. ``recorded`` says which launches were recorded, if not all."""

    schema: int
    command: tuple[str, ...]
    board: str
    clock_mhz: float
    memories: tuple[Memory, ...]
    programs: tuple[Program, ...]
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    commands: tuple[Command, ...]
    recorded: str = ""
    depths: tuple[ChannelDepth, ...] = ()
