"""Work-items of a group that synchronize at barriers, and kernels that run concurrently and communicate through
channels.

A kernel that may wait is a generator. Each step yields what it waits for: :data:`BARRIER`, :data:`POLL` (nothing:
others may run), or the location of a channel operation as a :class:`Blocked`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..diag import Span
from .attributes import Attr
from .nodes import Function, MemoryObject, Op, Region
from .storage import ExecutionError
from .values import signed

__all__ = [
    "BARRIER",
    "NO_CHANNEL",
    "POLL",
    "Blocked",
    "Channel",
    "Decision",
    "channel_room",
    "chosen_channel",
    "outside_channels",
    "run_group",
    "run_together",
    "waiting_functions",
]

BARRIER, POLL = "barrier", "poll"
#: capacity of a channel without a depth in the program: as in hardware, enough to pass a value every cycle
DEFAULT_ROOM = 2
#: an index outside every array of channels; from here on, one of several indices was outside its dimension
NO_CHANNEL = 1 << 40
_WAITING = frozenset({"barrier", "channel_read", "channel_write"})


@dataclass(frozen=True)
class Blocked:
    """An operation that cannot proceed: the channel is empty, or full."""

    channel: str
    writes: bool
    span: Span | None

    def __str__(self) -> str:
        return f"{self.span}: {'writing to' if self.writes else 'reading from'} channel {self.channel}"


@dataclass(frozen=True)
class Decision:
    """A point where work-items decide, by the condition at one location, whether they reach the barrier at another."""

    barrier: Span | None
    condition: Span | None

    def __call__(self, item: dict[Any, Any], holds: int) -> None:
        """Record a work-item's decision; ExecutionError if an earlier work-item of its group decided differently."""
        history = item["shared"].setdefault("decisions", [])
        number = item["decided"] = item.get("decided", 0) + 1
        if number > len(history):
            history.append((holds, item))
        elif history[number - 1][0] != holds:
            raise ExecutionError(
                f"not all work-items of group {_ids('group_id', item)} reach this barrier: at {self.condition} "
                f"{_ids('local_id', item)} takes another branch than {_ids('local_id', history[number - 1][1])}",
                self.barrier,
            )


def _ids(fn: str, item: dict[Any, Any]) -> tuple[int, ...]:
    return tuple(item[fn, d] for d in range(3))


def channel_room(memory: MemoryObject) -> int:
    """The capacity of a channel: what the program requests; one value where it requests no storage between the ends."""
    depth: int | None = dict(memory.attrs).get(Attr.CHANNEL_DEPTH)
    return DEFAULT_ROOM if depth is None else max(1, depth)


@dataclass
class Channel:
    """A queue of values; ``room`` is its capacity (None: unlimited)."""

    name: str
    room: int | None = None
    values: deque[Any] = field(default_factory=deque)
    moves: int = 0  #: number of values written or read

    @classmethod
    def all_of(cls, memory: MemoryObject) -> "list[Channel]":
        """The channels of a declaration: several for an array."""
        room, count = channel_room(memory), memory.length or 1
        return [cls(memory.name if count == 1 else f"{memory.name}[{k}]", room) for k in range(count)]

    def put(self, value: object) -> None:
        """Append a value; the caller has tested :attr:`full`."""
        self.values.append(value)
        self.moves += 1

    def take(self) -> object:
        """Remove the oldest value and return it. Raises IndexError if there is none."""
        self.moves += 1
        return self.values.popleft()

    @property
    def full(self) -> bool:
        """Whether the channel has no room for another value."""
        return self.room is not None and len(self.values) >= self.room


def chosen_channel(channels: list[Channel], index: int, wanted: int, span: Span | None) -> Channel:
    """One of an array of channels. ExecutionError if the array has none of that index and the call executes
    (``wanted``)."""
    if index < len(channels):
        return channels[index]
    if wanted:
        raise ExecutionError(outside_channels(signed(index, 64), len(channels)), span)
    return channels[0]


def outside_channels(index: int, length: int) -> str:
    """The message for an index outside an array of channels."""
    if index >= NO_CHANNEL:
        return f"an index is outside its dimension of the array, which has {length} channels in all"
    return f"there is no channel {index}: the array has {length}"


def waiting_functions(
    functions: Iterable[Function], calls: Callable[[Function], set[str]], walk: Callable[[Region], Iterable[Op]]
) -> set[str]:
    """The names of the functions that may wait, or call one that may. ``calls`` returns the names a function calls."""
    functions = list(functions)
    found = {f.name for f in functions if any(op.opcode in _WAITING for op in walk(f.body))}
    while True:
        more = {f.name for f in functions if f.name not in found and found & calls(f)}
        if not more:
            return found
        found |= more


def run_group(items: list[Iterator[Any]]) -> Iterator[Any]:
    """Run the work-items of one group; yields the blocked operations whenever none can proceed, and nothing to let
    others run.

    Either all of them reach a barrier, or none: see :class:`Decision`.
    """
    active, arrived = items, []
    while active:
        still, moved, polled, places = [], False, False, []
        for item in active:
            step = next(item, None)
            moved |= not isinstance(step, Blocked)
            polled |= step == POLL
            if step == BARRIER:
                arrived.append(item)
            elif step is not None:
                still.append(item)
                places += [step] if isinstance(step, Blocked) else []
        active = still
        if not active:
            active, arrived = arrived, []
        if polled or not moved:
            yield [] if moved else places


def run_together(
    kernels: dict[str, Iterator[Any]], channels: Iterable[Channel], by_itself: dict[str, Iterator[Any]] | None = None
) -> None:
    """Run kernels (like :func:`run_group` does groups) to their ends, and those ``by_itself`` as far as they go;
    ExecutionError on a deadlock, when all of them wait for each other."""
    channels, wanted = list(channels), set(kernels)
    kernels = kernels | (by_itself or {})
    waiting: dict[str, list[Blocked]] = {}
    while wanted & kernels.keys():
        before, polled = sum(c.moves for c in channels), False
        for name, kernel in list(kernels.items()):
            at: list[Blocked] | None = next(kernel, None)
            polled |= not at
            if at is not None:
                waiting[name] = at
            else:
                del kernels[name]
                waiting.pop(name, None)
        if kernels and not polled and sum(c.moves for c in channels) == before:
            lines = [
                f"kernel {name} waits at {place}" for name, places in waiting.items() for place in dict.fromkeys(places)
            ]
            raise ExecutionError(
                "the kernels wait for each other: " + "; ".join(lines), waiting[next(iter(waiting))][0].span
            )
