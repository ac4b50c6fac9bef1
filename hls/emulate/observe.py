"""The places of a program at which the emulator counts what a run does (``observe.h``).

A loop, an ``if``, an access through a pointer and a call on a channel each have a number: the index of their row in the
tables here, and of their counters in the library.
"""

from dataclasses import dataclass

from ..diag import Span
from ..ir import Attr, Op

__all__ = [
    "CACHES",
    "MOST_LEVELS",
    "AccessPlace",
    "BranchPlace",
    "ChannelPlace",
    "LoopPlace",
    "Memories",
    "NotObserved",
    "Observed",
    "Observer",
]

#: loops around an access that are told apart, innermost first, with the loop over work-items as the outermost
MOST_LEVELS = 8
#: direct-mapped caches of 1, 2, 4, ... words that every access is looked up in
CACHES = 18


@dataclass(frozen=True)
class Memories:
    """What the counts of a run refer to: the ``word_bytes`` of a port of global memory, and the ``row_bytes`` that a
    memory keeps open at a time; powers of two, the second no smaller than the first."""

    word_bytes: int
    row_bytes: int


@dataclass(frozen=True)
class LoopPlace:
    """A loop of ``function``. ``around`` is the number of the next loop around it, None for the outermost."""

    function: str
    span: Span | None
    around: int | None


@dataclass(frozen=True)
class BranchPlace:
    """An ``if``, in loop number ``loop`` (None: in none)."""

    function: str
    span: Span | None
    loop: int | None


@dataclass(frozen=True)
class AccessPlace:
    """An access of ``bytes``: ``kind`` is "load", "store" or "atomic". ``levels`` are the numbers of the loops around
    it that its strides are told for, innermost first; None is the loop over work-items."""

    function: str
    span: Span | None
    loop: int | None
    kind: str
    bytes: int
    levels: tuple[int | None, ...]


@dataclass(frozen=True)
class ChannelPlace:
    """A call on a channel."""

    function: str
    span: Span | None
    loop: int | None
    channel: str
    writes: bool


@dataclass(frozen=True)
class Observed:
    """The tables of a program that counts."""

    loops: tuple[LoopPlace, ...]
    branches: tuple[BranchPlace, ...]
    accesses: tuple[AccessPlace, ...]
    channels: tuple[ChannelPlace, ...]


KINDS = {"load": ("load", "LOADS"), "store": ("store", "STORES"), "atomic": ("atomic", "BOTH")}
COUNTERS = "item.launched->observed"


class NotObserved:
    """Writes the hooks of a program that counts nothing: none."""

    tables: Observed | None = None
    headers: tuple[str, ...] = ()  #: files of the runtime that the hooks need
    late_headers: tuple[str, ...] = ()  #: those behind what they need of the runtime
    checks_promises: bool = True  #: whether accesses are checked against what `#pragma ivdep` asserts

    def head(self) -> list[str]:
        """Lines that precede the runtime."""
        return []

    def tail(self, buffers: list[bool]) -> list[str]:
        """The tables of the library; ``buffers`` says of each memory object whether it is a buffer of the host."""
        return []

    def start(self, function: str) -> str:
        """The statement with which the body of a kernel begins."""
        return ""

    def enter(self, function: str, loop: Op, last: str = "") -> str:
        """The statement with which an iteration of a loop begins; ``last`` says of a work-item that meets others
        whether it is the last of its group."""
        return ""

    def leave(self, trips: str) -> str:
        """The statement with which the innermost loop ends after so many ``trips``."""
        return ""

    def skipped(self) -> str:
        """The statement for an innermost loop that is not entered; the loop is left with it."""
        return ""

    def branch(self, function: str, op: Op, condition: str) -> str:
        """The condition of an ``if``."""
        return condition

    def access(self, function: str, op: Op, pointer: str, bytes: int, last: str | None = None) -> str:
        """The pointer of an access that is about to be made; ``last`` is that of the last one of its run."""
        return pointer

    def lanes(self, op: Op, predicate: str, pointer: str) -> list[str]:
        """The statements before the accesses of the enabled lanes of ``op``; ``pointer`` is that of lane 0."""
        return []

    def event(self, op: Op, facts: list[tuple[str, str]]) -> list[str]:
        """The statements of an operation without data of its own: pairs of a condition and a number."""
        return []

    def call(self, function: str, op: Op, done: str) -> str:
        """The statement after a call on a channel that was ``done``, or not."""
        return ""

    def unit(self, function: str, units: int) -> str:
        """The expression for the compute unit that runs a group: the first, where nobody knows."""
        return "0"

    def outcome(self, op: Op, queue: str, writes: str, site: int) -> str:
        """The expression that decides whether a call transfers a value that does not block; "" if the state of the
        queue does."""
        return ""


class Observer(NotObserved):
    """Writes the hooks of a program that counts, and numbers its places."""

    headers = ("observe.h",)

    def __init__(self, memories: Memories) -> None:
        self.memories = memories
        self._loops: list[LoopPlace] = []
        self._branches: list[BranchPlace] = []
        self._accesses: list[AccessPlace] = []
        self._channels: list[ChannelPlace] = []
        self._inside: list[int] = []  #: numbers of the loops around the operation that is written, outermost first

    @property
    def tables(self) -> Observed:  # type: ignore[override]  # they grow while the program is written
        """The rows so far."""
        return Observed(tuple(self._loops), tuple(self._branches), tuple(self._accesses), tuple(self._channels))

    def head(self) -> list[str]:
        """The definitions before the runtime: word and row size in bytes, and the limits of the counters."""
        return [
            "#define OBSERVED",
            f"#define WORD_BYTES {self.memories.word_bytes}ull",
            f"#define ROW_BYTES {self.memories.row_bytes}ull",
            f"#define MOST_LEVELS {MOST_LEVELS}",
            f"#define CACHES {CACHES}",
        ]

    def tail(self, buffers: list[bool]) -> list[str]:
        """The constants after the program: how many places of each kind it has, and which memories are ``buffers``."""
        flags = ", ".join(str(int(one)) for one in buffers)
        counts = {
            "loops": len(self._loops),
            "branches": len(self._branches),
            "accesses": len(self._accesses),
            "channels": len(self._channels),
            "memories": len(buffers),
        }
        numbers = ", ".join(f"observed_{name} = {count}" for name, count in counts.items())
        return [f"const u32 {numbers};", f"const u8 is_buffer[] = {{{flags}}};"]

    def enter(self, function: str, loop: Op, last: str = "") -> str:
        """Number the loop, and return the C declaration that counts an iteration at the start of its body."""
        number = len(self._loops)
        self._loops.append(LoopPlace(function, loop.span, self._loop))
        self._inside.append(number)
        return f"const u64 turn{number} = next_iteration({COUNTERS}, {number});"

    def leave(self, trips: str) -> str:
        """The C statement that records ``trips`` iterations of the innermost loop as it ends."""
        return f"leave_loop({COUNTERS}, {self._inside[-1]}, {trips});"

    def skipped(self) -> str:
        """The C statement for an invocation of the innermost loop without iterations. The loop is closed here."""
        return f"leave_loop({COUNTERS}, {self._inside.pop()}, 0);"

    def branch(self, function: str, op: Op, condition: str) -> str:
        """Number the branch, and return the C expression that counts the outcome of ``condition`` and has its value."""
        self._branches.append(BranchPlace(function, op.span, self._loop))
        return f"decided({COUNTERS}, {len(self._branches) - 1}, {condition})"

    def access(self, function: str, op: Op, pointer: str, bytes: int, last: str | None = None) -> str:
        """Number the access, and return the C expression that counts ``bytes`` at ``pointer`` and has its value."""
        name, kind = KINDS[op.opcode]
        levels = (*reversed(self._inside), None)[:MOST_LEVELS]
        self._accesses.append(AccessPlace(function, op.span, self._loop, name, bytes, levels))
        turns = ", ".join("item.turn" if level is None else f"turn{level}" for level in levels)
        number = len(self._accesses) - 1
        return f"observed<{len(levels)}>({COUNTERS}, {number}, {pointer}, {bytes}, {kind}, {{{turns}}})"

    def call(self, function: str, op: Op, done: str) -> str:
        """Number the channel call, and return the C statement that counts whether it is ``done``."""
        writes = op.opcode == "channel_write"
        self._channels.append(ChannelPlace(function, op.span, self._loop, op.attrs[Attr.CHANNEL], writes))
        return f"called({COUNTERS}, {len(self._channels) - 1}, {done});"

    @property
    def _loop(self) -> int | None:
        return self._inside[-1] if self._inside else None
