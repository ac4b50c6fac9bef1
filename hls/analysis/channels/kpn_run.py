"""Kahn process network simulation without values: runs the call skeletons of connected kernels to find which kernels
end up waiting for each other.

Kernels with blocking calls in a fixed order reach the same final state whatever their speeds are (Kahn 1974), so that
one execution order represents all.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...narrow import present
from .call_skeleton import Assumption, CallSkeleton, CallStep, Player

__all__ = ["Budget", "Ending", "KpnRun", "Link", "Wait"]

#: calls of one kernel before others run
TURN = 64
#: most recent states, equal except for iteration counts, that are compared: the most periods that may lie between
#: iterations of enclosing loops
REMEMBERED = 8


@dataclass(frozen=True)
class Link:
    """A channel between two kernels; the name of either is None if the board is at that end. It holds ``room`` values
    before its writer waits; ``name`` is that of the source."""

    place: tuple[str, int]
    name: str
    room: int
    writer: str | None
    reader: str | None


@dataclass
class Budget:
    """The number of calls that may still be simulated."""

    left: int


@dataclass(frozen=True)
class Wait:
    """A kernel that waits at ``call`` for ``other`` to make room (``call.writes``) or to send a value."""

    kernel: str
    call: CallStep
    link: Link

    @property
    def other(self) -> str | None:
        """The kernel at the other end of the channel, None if that end is the host's."""
        return self.link.reader if self.call.writes else self.link.writer


@dataclass(frozen=True)
class Ending:
    """How a run ended. ``circle``: kernels each of which waits for the next, and the last for the first; ``waits``: all
    waits, by kernel; ``assumed``: the assumptions, by kernel; ``most``: the greatest fill level of each channel,
    ``held`` the final one. ``complete``: no other behaviour can follow."""

    circle: tuple[Wait, ...]
    waits: Mapping[str, Wait]
    ended: frozenset[str]
    assumed: tuple[tuple[str, Assumption], ...]
    most: Mapping[tuple[str, int], int]
    held: Mapping[tuple[str, int], int]
    complete: bool


class KpnRun:
    """One run of the kernels from the start, with these channel depths; ``skip`` as for :class:`Player`."""

    def __init__(
        self, scripts: Sequence[CallSkeleton], links: Sequence[Link], rooms: Mapping[tuple[str, int], float], skip: bool
    ) -> None:
        self.links, self.rooms = {link.place: link for link in links}, rooms
        self.players = [Player(script, skip) for script in scripts]
        self.held = {link.place: 0 for link in links}
        self.most = dict(self.held)
        self.waits: dict[str, Wait] = {}
        self._seen: dict[tuple[Any, ...], deque[Any]] = {}

    def run(self, budget: Budget) -> Ending:
        """Run until nothing moves, until the state repeats, or until the budget is used up."""
        complete = False
        while budget.left > 0 and not complete:
            complete = self._repeats()
            if not complete:
                budget.left -= 1 + sum(self._turn(player) for player in self.players)
        assumed = tuple((p.script.name, one) for p in self.players for one in p.assumed.values())
        ended = frozenset(p.script.name for p in self.players if p.ended)
        waits = {name: wait for name, wait in self.waits.items() if not self._ready(wait.call)}  # still blocked
        return Ending(_circle(waits), waits, ended, assumed, self.most, self.held, complete)

    def _turn(self, player: Player) -> int:
        """Let a kernel execute calls until it waits; returns their number."""
        self.waits.pop(player.script.name, None)
        for made in range(TURN):
            step = player.call()
            if step is None:
                return made
            if not self._ready(step):
                if step.blocking:
                    self.waits[player.script.name] = Wait(player.script.name, step, self.links[step.place])
                    return made
                player.made()  # a non-blocking call failed: others run before the next attempt
                return made
            self._move(step)
            player.made()
        return TURN

    def _ready(self, step: CallStep) -> bool:
        link = self.links[step.place]
        if (link.reader if step.writes else link.writer) is None:
            return True
        return self.held[step.place] < self.rooms[step.place] if step.writes else self.held[step.place] > 0

    def _move(self, step: CallStep) -> None:
        link = self.links[step.place]
        if link.reader is None or link.writer is None:
            return
        self.held[step.place] += 1 if step.writes else -1
        self.most[step.place] = max(self.most[step.place], self.held[step.place])

    def _repeats(self) -> bool:
        """Whether the state has occurred before, so that it will recur for ever. If only iteration counts have
        decreased, as many repetitions as possible are skipped."""
        key = (tuple(p.position() for p in self.players), tuple(self.held.values()))
        counts = tuple(p.counts() for p in self.players)
        states = self._seen.setdefault(key, deque(maxlen=REMEMBERED))
        if counts in states:
            return True
        found = [(min(_periods(*pair) for pair in zip(before, counts, strict=True)), before) for before in states]
        states.append(counts)
        periods, before = max(found, key=lambda one: one[0], default=(0, counts))
        if periods:
            for player, old, new in zip(self.players, before, counts, strict=True):
                player.forward(_after(old, new, periods))
        return False


def _changed(before: tuple[Any, ...], now: tuple[Any, ...]) -> int | None:
    """The outermost loop whose number of remaining iterations differs."""
    return next((k for k, (old, new) in enumerate(zip(before, now, strict=True)) if old != new), None)


def _periods(before: tuple[Any, ...], now: tuple[Any, ...]) -> float:
    """How often the behaviour between two states can repeat before the loop that counts it ends; 0 if that is not
    known, because inner loops are in different iterations."""
    k = _changed(before, now)
    if k is None:
        return float("inf")
    if now[k] > before[k] or before[k + 1 :] != now[k + 1 :]:
        return 0
    return now[k] // (before[k] - now[k])


def _after(before: tuple[Any, ...], now: tuple[Any, ...], periods: float) -> tuple[Any, ...]:
    k = _changed(before, now)
    if k is None:
        return now
    return (*now[:k], now[k] - int(periods) * (before[k] - now[k]), *now[k + 1 :])


def _circle(waits: Mapping[str, Wait]) -> tuple[Wait, ...]:
    """A circular wait, if there is any."""
    done: set[str] = set()
    for start in waits:
        path: list[Wait] = []
        name: str | None = start
        while name in waits and name not in done:
            done.add(present(name))
            path.append(waits[present(name)])
            name = waits[present(name)].other
        if any(wait.kernel == name for wait in path):
            return tuple(path[next(k for k, wait in enumerate(path) if wait.kernel == name) :])
    return ()
