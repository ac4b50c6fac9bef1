"""Deadlock analysis of kernels connected by channels.

There are four methods. If kernels and channels form no cycle, even ignoring directions, no circular wait is possible.
If the order of all calls is known, a simulation without values (:mod:`hls.analysis.channels.kpn_run`) shows the
outcome of every run. If the kernels are the two parts of one, their calls answer each other in its order, whatever it
is. Otherwise, simulations under assumptions about the unknown show what is possible.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import networkx as nx

from ...diag import Code, Diagnostic, Span
from ...ir import Attr, Function
from ...sentence import enumerated
from .call_skeleton import Assumption, CallSkeleton
from .kpn_run import Budget, Ending, KpnRun, Link, Wait

__all__ = ["Depth", "Verdict", "find_deadlocks", "gathered", "inseparable"]

#: why the parts of a kernel never wait for each other
IN_ONE_ORDER = "the kernels are parts of one, and each receives in the order in which the other sends"

#: why copies of a kernel never wait for each other
SENT_AT_END = "each copy sends what its share accumulates once, at its end, and receives nothing before"

#: calls simulated for all networks of a program together, about a second; and those for one network, to reach its end
#: or to find depths
MOST_CALLS = 150_000
MOST_CALLS_OF_RUN = 20_000
#: greatest depth that is proposed
MOST_DEPTH = 1 << 16
#: most channels that are made deeper at the same time
MOST_RAISED = 4


@dataclass(frozen=True)
class Depth:
    """A channel, and the least depth without a deadlock, with the other channels unchanged or as proposed."""

    channel: str
    depth: int


@dataclass(frozen=True)
class Verdict:
    """The result for one network of kernels: ``kind`` is "proved" (no circular wait is possible), "certain" (there
    always is one), "possible", or "undecided"; ``reason`` says why. ``circle``: each kernel waits for the next.
    ``depths`` would resolve it.

    ``in_order``: in program order, as the emulator executes it, there always is a circular wait; hardware may be ahead
    by some calls.
    """

    kind: str
    kernels: tuple[str, ...]
    reason: str
    circle: tuple[Wait, ...] = ()
    depths: tuple[Depth, ...] = ()
    span: Span | None = None
    in_order: bool = False

    @property
    def warning(self) -> Diagnostic | None:
        """The warning to the user, if any."""
        if not self.circle:
            return None
        names = enumerated(list(dict.fromkeys(wait.kernel for wait in self.circle)))
        text = "always wait" if self.kind == "certain" else "could wait"
        notes = tuple(Diagnostic(described(wait), wait.call.span, severity="note") for wait in self.circle)
        return Diagnostic(
            f"kernels {names} {text} for each other for ever: {self.reason}",
            self.circle[0].call.span,
            self._hint(),
            "warning",
            notes,
            code=Code.DEADLOCK,
        )

    def _hint(self) -> str:
        if self.depths:
            return enumerated([f"give channel '{d.channel}' a depth of {d.depth}" for d in self.depths])
        if any(wait.call.writes for wait in self.circle):
            full = next(wait for wait in self.circle if wait.call.writes)
            return (
                f"make channel '{full.link.name}' deep enough for all values written before its first read, or let "
                "the kernels alternate in shorter bursts"
            )
        return "no channel depth helps: let one of the kernels write before it reads"


def described(wait: Wait) -> str:
    """The text of a wait, for messages."""
    name = wait.link.name
    if wait.call.writes:
        return (
            f"kernel {wait.kernel} waits to write to channel {name}, which is full until kernel {wait.other} reads it"
        )
    return f"kernel {wait.kernel} waits to read from channel {name}, which is empty until kernel {wait.other} writes it"


def find_deadlocks(scripts: Iterable[CallSkeleton], links: Sequence[Link]) -> tuple[Verdict, ...]:
    """A verdict on every group of kernels connected by channels, in program order."""
    by_name = {script.name: script for script in scripts}
    inner = [link for link in links if link.writer and link.reader]
    graph = nx.MultiGraph()
    graph.add_nodes_from(name for link in links for name in (link.writer, link.reader) if name)
    graph.add_edges_from((link.writer, link.reader) for link in inner)
    budget, found = Budget(MOST_CALLS), []
    for names in nx.connected_components(graph):
        members = [script for name, script in by_name.items() if name in names]
        mine = [link for link in links if {link.writer, link.reader} & names]
        if len(members) > 1:
            forest = graph.subgraph(names).number_of_edges() == len(names) - 1
            found.append(_Network(members, mine, budget).verdict(forest))
    order = list(by_name)
    return tuple(sorted(found, key=lambda one: order.index(one.kernels[0])))


def inseparable(part: Function) -> Verdict:
    """The verdict on a memory part and its compute part, whose calls mirror each other: kernels are only split then."""
    return Verdict("proved", (part.attrs[Attr.LOADS_FOR], part.name), IN_ONE_ORDER)


def gathered(first: Function, others: Sequence[Function]) -> Verdict:
    """The verdict on copies of a kernel, of which the ``first`` joins what the others accumulate."""
    return Verdict("proved", (first.name, *(one.name for one in others)), SENT_AT_END)


class _Network:
    """Kernels connected by channels, directly or through others."""

    def __init__(self, scripts: Sequence[CallSkeleton], links: Sequence[Link], budget: Budget) -> None:
        self.scripts, self.links, self.budget = scripts, links, budget
        self.rooms = {link.place: link.room for link in links}

    def verdict(self, forest: bool) -> Verdict:
        """``forest``: any two kernels are connected by only one path."""
        if forest:
            return self._say(
                "proved", "the channels between the kernels form a tree, so that no cyclic wait is possible"
            )
        if self._is_one_kernel():
            return self._say("proved", IN_ONE_ORDER)
        meeting = next((script for script in self.scripts if script.barriers), None)
        if meeting is not None:
            return self._say("undecided", f"kernel {meeting.name} has barriers between its channel calls", meeting.span)
        ending = self._run(self.rooms)
        if ending.circle and not _guessed(ending):
            return self._stuck(ending)
        if ending.assumed:
            return self._assumed(ending)
        polling = next((call for script in self.scripts for call in script.calls() if not call.blocking), None)
        if polling is not None:
            return self._say(
                "undecided",
                "a non-blocking call makes the order of calls depend on the speed of the kernels",
                polling.span,
            )
        if not ending.complete:
            return self._say(
                "undecided", f"no deadlock in the first {MOST_CALLS_OF_RUN:,} calls; later calls were not analysed"
            )
        return self._ended(ending)

    def _is_one_kernel(self) -> bool:
        """Whether these are the two parts of a kernel, whose calls answer each other one by one. The conditions and
        trip counts of both are those of the kernel that was split, so that the calls that are made do as well."""
        if len(self.scripts) != 2 or any(script.barriers for script in self.scripts):
            return False
        one, other = self.scripts
        return (one.loads_for == other.name or other.loads_for == one.name) and one.mirrors(other)

    def _say(self, kind: str, reason: str, span: Span | None = None) -> Verdict:
        return Verdict(kind, tuple(script.name for script in self.scripts), reason, span=span)

    def _run(self, rooms: Mapping[tuple[str, int], float], skip: bool = False) -> Ending:
        mine = Budget(min(self.budget.left, MOST_CALLS_OF_RUN))
        before = mine.left
        ending = KpnRun(self.scripts, self.links, rooms, skip).run(mine)
        self.budget.left -= before - mine.left
        return ending

    def _ended(self, ending: Ending) -> Verdict:
        """The verdict if there is no circular wait, and the order of all calls is known."""
        for script in self.scripts:
            wait = ending.waits.get(script.name)
            if wait is not None and not script.autorun and wait.other in ending.ended:
                verb, done = (
                    ("writes more values to", "reads") if wait.call.writes else ("reads more values from", "writes")
                )
                return self._say(
                    "undecided",
                    f"kernel {script.name} {verb} channel {wait.link.name} than one launch of kernel "
                    f"{wait.other} {done}, so it depends on the number of launches",
                    wait.call.span,
                )
        open_ones = [script.name for script in self.scripts if not self._counted(script.name)]
        if open_ones:
            return self._say(
                "proved",
                f"the order of calls is known for any trip counts of the loops of {enumerated(open_ones)} and contains "
                "no cyclic wait",
            )
        left = [link.name for link in self.links if ending.held[link.place]]
        rest = f"; later launches, which find values left in {enumerated(left)}, were not analysed" if left else ""
        return self._say("proved", "the order of all calls is known and contains no cyclic wait" + rest)

    def _assumed(self, ending: Ending) -> Verdict:
        """The verdict if there is no circular wait under the assumptions made."""
        other = self._run(self.rooms, skip=True)
        if other.circle and not _guessed(other):
            return self._stuck(other, skip=True)
        kernel, what = ending.assumed[0]
        return self._say("undecided", _unknown(kernel, what), what.span)

    def _stuck(self, ending: Ending, skip: bool = False) -> Verdict:
        circle, depths = ending.circle, self._depths(ending, skip)
        polling = any(not call.blocking for script in self.scripts for call in script.calls())
        in_order = not ending.assumed and not polling and all(self._counted(wait.kernel) for wait in circle)
        certain = in_order and self._nothing_ever_comes(ending)
        where = " and ".join(described(wait).removeprefix("kernel ") for wait in circle)
        reason = where if certain else f"in some runs {where}"
        if in_order and not certain:
            reason = f"in program order {where}; the hardware may be a few calls ahead"
        found = self._say("certain" if certain else "possible", reason, circle[0].call.span)
        return replace(found, circle=circle, depths=depths, in_order=in_order)

    def _nothing_ever_comes(self, ending: Ending) -> bool:
        """Whether each kernel in the circle needs its first value from one channel before it can send the first to the
        next, which neither depth nor running ahead can change."""
        waits = ending.circle
        scripts = {script.name: script for script in self.scripts}
        return not any(wait.call.writes or ending.most[wait.link.place] for wait in waits) and all(
            scripts[wait.kernel].needs(wait.link.place, before.link.place)
            for before, wait in zip((waits[-1], *waits), waits)
        )

    def _counted(self, name: str) -> bool:
        """Whether all loops of a kernel have trip counts known at compile time."""
        script = next(script for script in self.scripts if script.name == name)
        return not any(getattr(step, "open", False) for step in script.steps)

    # the depths that channels need

    def _depths(self, ending: Ending, skip: bool) -> tuple[Depth, ...]:
        """The least depths that resolve the deadlock; none if no depth does."""
        rooms = dict(self.rooms)
        raised: list[tuple[str, int]] = []
        while ending.circle:
            full = [wait.link.place for wait in ending.circle if wait.call.writes and wait.link.place not in raised]
            if not full or len(raised) == MOST_RAISED:
                return ()
            raised.append(full[0])
            rooms[full[0]] = MOST_DEPTH
            ending = self._run(rooms, skip)
        if not ending.complete:
            return ()
        for place in raised:
            rooms[place] = self._least(rooms, place, max(ending.most[place], self.rooms[place]), skip)
        names = {link.place: link.name for link in self.links}
        return tuple(Depth(names[place], int(rooms[place])) for place in raised if rooms[place] > self.rooms[place])

    def _least(self, rooms: dict[tuple[str, int], int], place: tuple[str, int], enough: int, skip: bool) -> int:
        """The least depth of one channel without a deadlock, at most ``enough``."""
        low, high = self.rooms[place], enough
        while low < high:
            middle = low + high >> 1
            ending = self._run(rooms | {place: middle}, skip)
            if ending.circle or not ending.complete:
                low = middle + 1
            else:
                high = middle
        return high


def _guessed(ending: Ending) -> bool:
    """Whether the circle may be an artifact of calls assumed to be skipped: no kernel in it waits for room."""
    return any(what.skipped for _, what in ending.assumed) and not any(wait.call.writes for wait in ending.circle)


def _unknown(kernel: str, what: Assumption) -> str:
    place = f" (line {what.span.line})" if what.span else ""
    if what.kind == "count":
        return f"how often kernel {kernel} runs a loop with calls{place} is only known at run time"
    return f"whether kernel {kernel} makes a call{place} is only known at run time"
