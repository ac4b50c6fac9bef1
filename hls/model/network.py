"""Cycles of kernels that run together and are connected by channels: one marked graph (docs/rationale/model.md).

A node is one end of a channel in a kernel. The progress of a node is the share of its calls that are done. An edge
(a, b) of ``latency`` w and ``ahead`` t says that b reaches a share x of its calls at least w cycles after a has reached
x - t. Cycles of the graph then limit all launches: the sum of the latencies over the sum of what may be ahead is the
least time of a whole launch (Reiter, "Scheduling parallel computations", 1968).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx

from ..analysis.channels.endpoints import Endpoint, end_of, is_call
from ..ir import Attr, Op
from ..planning.memory import ChannelPlan
from ..planning.schedule import Point, RegionPlan
from ..planning.schedule.channels import ASKED, TO_CHANNEL
from ..target.board import Board
from .estimate import NotModelled, Planned, Timed, alone, regions, timed
from .extremes import Extreme, Unknown
from .prediction import Interval, Prediction
from .workload import Workload

__all__ = [
    "Edge",
    "Member",
    "estimate_network",
    "estimate_together",
    "finish_times",
    "has_calls",
    "links",
    "maximum_cycle_ratio",
    "run_together",
]

Node = tuple[str, Endpoint]

#: stages from a call to the channel, beyond those that a reader's call has passed when its value arrives
WAY = TO_CHANNEL - ASKED


@dataclass(frozen=True)
class Edge:
    """See the module. ``latency`` in cycles; ``ahead`` as a share of the launch, from 0 on."""

    source: Node
    target: Node
    latency: float
    ahead: float


@dataclass(frozen=True)
class Member:
    """One kernel of the network, and its launch."""

    planned: Planned
    workload: Workload

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.planned.function.name


def has_calls(planned: Planned) -> bool:
    """Whether a kernel has calls on channels, so that the time of its launch depends on others."""
    return any(is_call(op) for plan in regions(planned.plan) for op in plan.place)


def links(channels: Iterable[ChannelPlan]) -> frozenset[tuple[str, str]]:
    """The names of the two kernels of each channel that has two."""
    return frozenset((one.writer, one.reader) for one in channels if not one.stream)


def run_together(launched: Sequence[str], links: Iterable[tuple[str, str]]) -> list[list[int]]:
    """The launches that run at the same time, by their numbers. ``launched`` are the kernels by name in the order of
    their launches: launch number k of a kernel runs with number k of those that ``links`` connect it to."""
    graph = nx.Graph(links)
    graph.add_nodes_from(launched)
    turns: Counter[str] = Counter()
    groups: dict[tuple[int, frozenset[str]], list[int]] = {}
    for number, name in enumerate(launched):
        part = frozenset(nx.node_connected_component(graph, name))
        groups.setdefault((turns[name], part), []).append(number)
        turns[name] += 1
    return list(groups.values())


def estimate_together(members: Sequence[Member], channels: Sequence[ChannelPlan], board: Board) -> list[Prediction]:
    """Predict launches, in their order, of any kernels that have calls on channels, with those that run with them
    (:func:`run_together`). Raises NotModelled as :func:`estimate_network` does."""
    found: dict[int, Prediction] = {}
    for numbers in run_together([one.name for one in members], links(channels)):
        together = estimate_network([members[k] for k in numbers], channels, board)
        found.update(zip(numbers, together, strict=True))
    return [found[k] for k in range(len(members))]


def estimate_network(members: Sequence[Member], channels: Sequence[ChannelPlan], board: Board) -> list[Prediction]:
    """Predict launches that start together, one for each kernel. Raises NotModelled where a channel leads to a kernel
    that is not among the ``members``, or no kernel could ever go on."""
    _check_ends(members, channels)
    likely, least, most = (
        _cycles(members, channels, board, Unknown.all(one)) for one in (Extreme.LIKELY, Extreme.LEAST, Extreme.MOST)
    )
    found = []
    for one in members:
        now, low, high = likely[one.name], least[one.name], most[one.name]
        cycles = Interval.of_cycles(now, low, high)
        prediction = alone(one.planned, one.workload, board)
        found.append(replace(prediction, cycles=cycles, seconds=now * board.clock.period_ns * 1e-9))
    return found


def _check_ends(members: Sequence[Member], channels: Sequence[ChannelPlan]) -> None:
    names = {one.name for one in members}
    for channel in channels:
        ends = {channel.writer, channel.reader}
        if not channel.stream and ends & names and ends - names:
            (other,) = ends - names
            raise NotModelled(f"channel {channel.name} to kernel {other}, of which no launch is given beside this one")


def _cycles(
    members: Sequence[Member], channels: Sequence[ChannelPlan], board: Board, unknown: Unknown
) -> dict[str, float]:
    """Cycles of each member's launch."""
    found = {one.name: _Calls(one, timed(one.planned, one.workload, board, unknown)) for one in members}
    edges = [edge for one in found.values() for edge in one.edges()]
    edges += [edge for channel in channels if not channel.stream for edge in _channel_edges(channel, found)]
    first = {node: cycles for one in found.values() for node, cycles in one.first.items()}
    busy = {node: one.timed.cycles - one.first[node] - one.last[node] for one in found.values() for node in one.first}
    ends = finish_times(first, busy, edges)
    return {
        name: max([one.timed.cycles, *(ends[node] + one.last[node] for node in one.first)])
        for name, one in found.items()
    }


def _channel_edges(channel: ChannelPlan, found: dict[str, "_Calls"]) -> Iterator[Edge]:
    """A value is on its way to the channel, and can be read a cycle after it is there; the writer is ahead by what both
    hold at most."""
    ends = [(one, Endpoint(channel.channel, channel.index, writes)) for one, writes in _sides(channel)]
    if not all(name in found for name, _ in ends):
        return
    writer, reader = ends
    values = max(found[writer[0]].values.get(writer, 0), found[reader[0]].values.get(reader, 0))
    if not values:
        return
    if found[reader[0]].waits(reader):
        yield Edge(writer, reader, 1.0 + WAY, 0.0)
    if found[writer[0]].waits(writer):
        yield Edge(reader, writer, 0.0, (max(channel.depth, 1) + WAY) / values)


def _sides(channel: ChannelPlan) -> tuple[tuple[str, bool], tuple[str, bool]]:
    return (channel.writer, True), (channel.reader, False)


class _Calls:
    """The calls of one kernel on channels. Of several calls on one end the one that is made most often stands for
    all."""

    def __init__(self, member: Member, terms: Timed) -> None:
        self.member, self.timed = member, terms
        self.pace = terms.pace
        self.values: dict[Node, int] = {}
        self.first: dict[Node, float] = {}
        self.last: dict[Node, float] = {}

        for node, (plan, op) in self._places.items():
            point = plan.place[op]
            self.values[node] = self._done(node)
            before, after = self._around(plan)
            end = Point(len(plan.levels) - 1, plan.levels[-1].depth - 1)
            self.first[node] = before + self.pace.through(plan, Point(0, 0), point, first=True)
            self.last[node] = after + self.pace.through(plan, point, end)

    @cached_property
    def _places(self) -> dict[Node, tuple[RegionPlan, Op]]:
        found: dict[Node, tuple[RegionPlan, Op]] = {}
        for plan in regions(self.member.planned.plan):
            for op in plan.place:
                if is_call(op):
                    node = (self.member.name, end_of(op))
                    if node not in found or self._iterations(plan) > self._iterations(found[node][0]):
                        found[node] = plan, op
        return found

    def _iterations(self, plan: RegionPlan) -> float:
        return self.timed.counts.loop(plan.loop).iterations if plan.loop else 1.0

    def _done(self, node: Node) -> int:
        """Values that the launch passed at an end of a channel; of an array's elements the mean."""
        end = node[1]
        own = [one for one in self.member.workload.channels if (one.channel, one.writes) == (end.channel, end.writes)]
        same = [one for _, one in self._places if (one.channel, one.writes) == (end.channel, end.writes)]
        return math.ceil(sum(one.done for one in own) / len(same))

    def waits(self, node: Node) -> bool:
        """Whether the call waits for the channel."""
        return bool(self._places[node][1].attrs.get(Attr.BLOCKING, True))

    def _around(self, plan: RegionPlan) -> tuple[float, float]:
        """Cycles from the start of the launch to the first iteration of a region, and from its last one to the end."""
        memory, kernel = self.timed.memory, self.member.planned.plan
        kinds = {access.direction for access in memory.memory.outside.values()}
        latency = memory.latency if memory.board.memory.timing is not None else 0.0
        before = kernel.static_depth + ("load" in kinds) * latency
        after = ("store" in kinds) * latency
        while plan.loop is not None:
            outer = next(one for one in regions(kernel) if plan.loop in one.place)
            point = outer.place[plan.loop]
            before += self.pace.through(outer, Point(0, 0), point, first=True) + 1
            behind = Point(min(point.level + 1, len(outer.levels) - 1), 0)
            end = Point(len(outer.levels) - 1, outer.levels[-1].depth - 1)
            after += self.pace.through(outer, behind, end) + 1
            plan = outer
        return before, after

    def edges(self) -> Iterator[Edge]:
        """Between every two ends of channels that one token calls: the second one comes later, and at most as many
        tokens are between them as their queues hold, or as values carried from one iteration to the next allow."""
        nodes = sorted(self._places, key=lambda node: (self._point(node), node))
        for k, a in enumerate(nodes):
            for b in nodes[k + 1 :]:
                (plan, _), (other, _) = self._places[a], self._places[b]
                if plan is other:
                    yield from self._within(plan, a, b)

    def _point(self, node: Node) -> Point:
        plan, op = self._places[node]
        return plan.place[op]

    def _within(self, plan: RegionPlan, a: Node, b: Node) -> Iterator[Edge]:
        start, end = self._point(a), self._point(b)
        total = max(self._iterations(plan), 1.0)
        room = _room(plan, start.level, end.level)
        if end.level > start.level:
            yield Edge(a, b, self.pace.through(plan, start, end) - 1, 0.0)
        else:
            yield Edge(a, b, 0.0, room / total)
        yield Edge(b, a, 0.0, room / total)
        yield from self._carried(plan, a, b, total)
        yield from self._carried(plan, b, a, total)

    def _carried(self, plan: RegionPlan, a: Node, b: Node, total: float) -> Iterator[Edge]:
        """Where a value that waits for call ``a`` is carried to an iteration that needs it for call ``b``."""
        start, end = self._point(b), self._point(a)
        for carried in plan.carried:
            if carried.overlap or carried.between:
                continue
            if carried.read.level <= start.level and end.level < carried.write.level:
                back = self.pace.through(plan, end, carried.write) + self.pace.through(plan, carried.read, start) - 1
                yield Edge(a, b, back, carried.distance / total)


def _room(plan: RegionPlan, first: int, last: int) -> int:
    """Tokens that may have passed a call of level ``first`` and not yet made one of level ``last``: what the queues
    behind the levels from the first one on hold, and the request queue of the last one, of which a token reserves an
    entry before it enters that level; where the level is stall-enabled instead, its stages hold tokens, too. Calls of
    one level are asked side by side: each may be ahead by what its request queue holds."""
    levels = plan.levels[first : last + 1]
    stages = sum(level.depth for level in levels[1:] if level.elastic)
    return sum(level.bypass_depth for level in levels[:-1]) + stages + min(row.request_depth for row in levels[-1].row)


def maximum_cycle_ratio(edges: Iterable[Edge], least: float = 0.0) -> tuple[float, frozenset[Node]]:
    """The largest ratio of latency to what may be ahead over all cycles, and the nodes of a cycle that has it; not
    below ``least``, with no nodes if no cycle exceeds that. Each step takes a cycle that exceeds the ratio so far for
    the next ratio, so that the search ends at the exact one (Dinkelbach's method). Raises NotModelled for a cycle that
    lets nothing be ahead."""
    edges = list(edges)
    ratio, critical = least, frozenset[Node]()
    while cycle := _exceeding(edges, ratio):
        latency, ahead = sum(edge.latency for edge in cycle), sum(edge.ahead for edge in cycle)
        if not ahead:
            raise NotModelled(f"channel {cycle[0].source[1].channel} in a cycle of calls that wait for each other")
        if latency / ahead <= ratio * (1 + 1e-9):
            break
        ratio, critical = latency / ahead, frozenset(edge.source for edge in cycle)
    return ratio, critical


def _exceeding(edges: Sequence[Edge], ratio: float) -> list[Edge]:
    """A cycle whose latency exceeds ``ratio`` times what may be ahead; empty if there is none (Bellman and Ford: a node
    that is still moved after as many rounds as there are nodes lies behind such a cycle)."""
    times = {node: 0.0 for edge in edges for node in (edge.source, edge.target)}
    moved, by = _moved(times, edges, ratio, {})
    for _ in times:
        if not moved:
            return []
        moved, by = _moved(times, edges, ratio, by)
    if not moved:
        return []
    node = moved[0]
    for _ in times:  # back onto the cycle
        node = by[node].source
    cycle, start = [by[node]], node
    while cycle[-1].source != start:
        cycle.append(by[cycle[-1].source])
    return cycle[::-1]


def _moved(
    times: dict[Node, float], edges: Iterable[Edge], ratio: float, by: dict[Node, Edge]
) -> tuple[list[Node], dict[Node, Edge]]:
    """One round in which every edge may move its target to a later time: the nodes that moved, and the last edge that
    moved each of all. Less than a cycle's millionth is rounding."""
    found = []
    for edge in edges:
        later = times[edge.source] + _time(edge, ratio)
        if later > times[edge.target] + 1e-6:
            times[edge.target] = later
            by[edge.target] = edge
            found.append(edge.target)
    return found, by


def _time(edge: Edge, ratio: float) -> float:
    return edge.latency - ratio * edge.ahead


def finish_times(first: dict[Node, float], busy: dict[Node, float], edges: Sequence[Edge]) -> dict[Node, float]:
    """The cycle of the last call of each node: ``first`` is the cycle of its first call, and ``busy`` the time from
    that to its last one, if it never waits for another node. Raises NotModelled as :func:`maximum_cycle_ratio`."""
    if not first:
        return {}
    ratio, critical = maximum_cycle_ratio(edges, max(busy.values()))
    starts = _longest(first, [replace(edge, ahead=0.0) for edge in edges if not edge.ahead], 0.0)
    ends = {node: starts[node] + (ratio if node in critical else busy[node]) for node in first}
    return _longest(ends, edges, ratio)


def _longest(least: dict[Node, float], edges: Sequence[Edge], ratio: float) -> dict[Node, float]:
    """The earliest times of all nodes that are not below ``least`` and keep the edges at that pace."""
    times, by = dict(least), dict[Node, Edge]()
    for _ in times:
        moved, by = _moved(times, edges, ratio, by)
        if not moved:
            break
    return times
