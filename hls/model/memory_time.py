"""Time that accesses to global memory take, from the words that they move and the facts of the board
(docs/rationale/model.md). Words cost the data bus of a bank its time, and a word's latency is hidden as far as a unit
may have words under way.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from types import MappingProxyType

from rtl_lib.channel import ChannelReader
from rtl_lib.lsu.atomic import ANSWERS
from rtl_lib.lsu.atomic_memory import PLACES
from rtl_lib.lsu.store import StoreUnit

from ..analysis.affine.affine import AffineForms
from ..ir import Attr, Op
from ..planning.memory import Access, LsuKind, MemoryPlan
from ..planning.memory.hazards import HazardPlan
from ..planning.schedule import Point, RegionPlan, Row
from ..planning.schedule.levels import is_exceptional
from ..planning.schedule.queues import HAZARD_LATENCY
from ..target.board import Board, DramTiming, PortTiming
from .bank_queue import cycles_held_up, uneven_banks
from .conflicts import pace_of_conflicts, pace_of_table, pace_of_table_and_bus
from .extremes import LIKELY, Extreme, Unknown
from .ideal import Ideal
from .interleaved import wait_in_order
from .pace import Fetched
from .runs import LoopCount, RunCounts
from .sequences import jumps
from .traffic import AccessTraffic, TrafficCounts
from .workload import AccessRuns, Range

__all__ = ["BURST_WORDS", "HELD", "MemoryTime", "reads_ahead"]

#: kernel cycles that requests and answers spend in registers between a unit and a bank's port (rtl_lib/interconnect)
PATH = 10
#: kernel cycles of a load while no other is under way: of the word of the load before, and of another one that a cache
#: must look up, whose queue of accesses is a block RAM (rtl_lib/lsu)
HELD, LOOKED_UP = 2, 6
#: cycles from an atomic operation on a word that the unit of atomic operations holds to its answer
#: (rtl_lib/lsu/atomic_memory.py)
EXECUTED = 9
#: cycles for which a store unit waits for more stores to a burst (rtl_lib/lsu/store.py)
PATIENCE = 16
#: units that keep the words of invocations before
KEEPING = {LsuKind.CONSTANT_LOAD, LsuKind.CACHED_LOAD, LsuKind.SHARED_LOAD}
#: words of a burst, and stores of one where a hazard unit counts them (rtl_lib/lsu/store.py)
BURST_WORDS, BURST_STORES = 16, 128
#: bursts of a store unit that may wait for the memory, where the plan sets no other number
BURSTS_UNDER_WAY = signature(StoreUnit).parameters["outstanding"].default
#: tokens that are in a hazard unit while its answer waits: one on offer, one compared, and the next one; besides those
#: on their way, the queue of its requests has room for as many as the plan says (rtl_lib/lsu/hazard.py)
HAZARD_TOKENS = 3
#: cycles of a hazard unit's answer before it holds a token that meets a store (rtl_lib/lsu/hazard.py)
COMPARING = 2
#: cycles of a channel call from the end of its queue of requests, in which a token spends a cycle at every unit
SERVED = ChannelReader.timing.latency
#: operations that answer after a fixed number of cycles
FIXED = {"hazard": HAZARD_LATENCY, "channel_read": SERVED, "channel_write": SERVED}


#: cycles of a token of a region from one point to another
Through = Callable[[RegionPlan, Point, Point], float]


class MemoryTime:
    """The times of one kernel's accesses on a board; see :class:`hls.model.pace.Responses`."""

    def __init__(
        self,
        memory: MemoryPlan,
        counts: RunCounts,
        board: Board,
        regions: Mapping[Op, RegionPlan],
        unknown: Unknown = LIKELY,
        ideal: Ideal = Ideal.NOTHING,
        near: Mapping[Op, float] = MappingProxyType({}),
    ) -> None:
        self.near = near  #: words that accesses move which are taken to go to a copy on the chip
        self.memory, self.counts, self.board, self.unknown, self.ideal = memory, counts, board, unknown, ideal
        self.regions = regions  #: of each operation outside loops' own: the region that it stands in
        # of the load before the store, and of the store
        under_way = 2 * self.latency + PATIENCE + PATH if board.memory.timing is not None else 0.0
        self.counted = TrafficCounts(memory, counts, regions, under_way, unknown, ideal, near)

    @cached_property
    def latency(self) -> float:
        """Kernel cycles from a request to its word: in a memory without other traffic, or at most under load."""
        if self.unknown.memory is Extreme.MOST and self.board.memory.timing:
            return float(self.board.read_latency) + PATH
        timing, period = self.board.memory.timing, self.board.clock.period_ns
        if isinstance(timing, DramTiming):
            return PATH + timing.first_word_ns / period
        return PATH + timing.latency_ns / period if isinstance(timing, PortTiming) else 1.0

    def count_of(self, plan: RegionPlan) -> LoopCount:
        """The counts of a region: of a loop, or of the kernel's top."""
        return self.counts.loop(plan.loop) if plan.loop else LoopCount(1.0, 1.0, 1.0)

    def jumps_of(self, op: Op) -> float:
        """How often an access goes to a word that does not follow the one before, the first time included."""
        found = sum(jumps(one, self.counts.workload) for one in self.counts.accesses(op))
        return max(1.0, found / self.counted.copies[op.opcode, op.span])

    @cached_property
    def word_cycles(self) -> float:
        """Kernel cycles of the data bus of all banks together for a word, refresh included."""
        memory, period = self.board.memory, self.board.clock.period_ns
        rate = memory.peak_bytes_per_ns(period)
        if isinstance(memory.timing, DramTiming):
            rate *= memory.timing.in_use
        return max(memory.word_bytes / rate / period, 1 / len(memory.banks))

    @cached_property
    def row_cycles(self) -> float:
        """Kernel cycles for a word that opens a row, by all banks, refresh included."""
        timing, memory = self.board.memory.timing, self.board.memory
        if not isinstance(timing, DramTiming):
            return self.word_cycles
        return timing.scattered_ns / self.board.clock.period_ns / len(memory.banks)

    def traffic(self, op: Op) -> AccessTraffic:
        """What an access of the schedule moves."""
        return self.counted.of(op)

    def interval(self, plan: RegionPlan, through: Through) -> float:
        """Cycles of the memory for an iteration of a loop: those of the bus, of rows that are opened, of the unit that
        waits longest for words under way, and of loads that wait for the kernel's own stores."""
        if plan.loop is None or Ideal.MEMORY in self.ideal:
            return 0.0
        own = [(op, one) for op, one in self.memory.hazards.items() if self.regions.get(op) is plan]
        free = 0.0
        if self.board.memory.timing is not None:
            free = max(
                [
                    self.rate(plan),
                    self._executed(plan),
                    1.0 + self._behind_bursts(plan),
                    *(self._table(op, one, plan, through) for op, one in own),
                ]
            )
        waits = self._waits_of(plan, through, 1.0)
        return max(free, 1.0 + waits) if waits else free

    def conflicting(self, plan: RegionPlan, through: Through, interval: float) -> float:
        """Cycles for which an iteration of a loop, one each ``interval``, waits for conflicts in levels behind those of
        their checks, where others make their requests meanwhile."""
        if plan.loop is None or Ideal.MEMORY in self.ideal:
            return 0.0
        return self._waits_of(plan, through, max(interval, 1.0), behind=True)

    def _waits_of(self, plan: RegionPlan, through: Through, interval: float, behind: bool = False) -> float:
        if self.unknown.conflicts is Extreme.LEAST or Ideal.DEPENDENCES in self.ideal:
            return 0.0
        waits: dict[int, float] = {}  # checks of one level wait at the same time, those of others after each other
        for op, one in self.memory.hazards.items():
            if self.regions.get(op) is plan and not (behind and self._waits_at(op, one, plan) is op):
                level = plan.place[op].level
                waits[level] = max(waits.get(level, 0.0), self._conflicts(op, one, plan, through, interval))
        return sum(waits.values())

    def meetings(self, plan: RegionPlan, through: Through) -> list[tuple[Op, Op, float]]:
        """For each check of a loop the operation that waits for its stores, a load that waits with it, and the cycles
        for which an iteration does."""
        own = [(op, one) for op, one in self.memory.hazards.items() if self.regions.get(op) is plan and one.loads]
        return [
            (self._waits_at(op, one, plan), one.loads[0], self._conflicts(op, one, plan, through, 1.0))
            for op, one in own
        ]

    def rate(self, plan: RegionPlan) -> float:
        """Cycles for an iteration's words of memory outside the chip."""
        iterations = max(self.counts.loop(plan.loop_op).iterations, 1.0)
        own = [(op, access) for op, access in self.memory.outside.items() if self.regions.get(op) is plan]
        moved = [self.traffic(op) for op, _ in own]
        scattered = sum(_moves(op) * one.scattered for (op, _), one in zip(own, moved))
        rows = scattered * self.row_cycles * self._closed([op for op, _ in own])
        most = max((self._requests(op) / _pending(access) for op, access in own), default=0.0)
        # compute units share the memory, but each has units of its own for its accesses
        return max(self._bus(own), rows, most / self.counts.units * self.latency) / iterations

    def _executed(self, plan: RegionPlan) -> float:
        """Cycles for an iteration's atomic operations: one unit executes those of all kernels on a memory, one in each
        cycle, and in order, with so many of each under way. A word that it has evicted for another one is read again
        only when it is in memory, and all operations wait for that."""
        own = [op for op in self.memory.outside if op.opcode == "atomic" and self.regions.get(op) is plan]
        iterations, found = max(self.counts.loop(plan.loop_op).iterations, 1.0), [self.traffic(op) for op in own]
        pace = sum(one.count for one in found) / iterations
        for one in found:
            inside = EXECUTED + wait_in_order(self.latency, one.fetching, 1.0)
            pace = max(pace, one.count / iterations * inside / ANSWERS)
        distinct = sum(one.distinct for one in found)
        if distinct <= PLACES or self.unknown.memory is Extreme.LEAST:
            return pace
        # of the distinct words, latency * words / interval are on their way; half of that time is left on average
        words, count = sum(one.words for one in found) / iterations, sum(one.count for one in found) / iterations
        waits = count * words * self.latency**2 / (2 * distinct)
        return (pace + math.sqrt(pace**2 + 4 * waits)) / 2

    def _behind_bursts(self, plan: RegionPlan) -> float:
        """Cycles for which an iteration of a loop, one in each cycle, waits as a bank takes bursts of some accesses and
        single words of others have filled its queue: these go to the banks in their order, so that a full one holds up
        all. Accesses that go through their buffers side by side send their bursts to a bank at the
        same time. Under load, the queue is full when they come."""
        if self.unknown.memory is Extreme.LEAST:
            return 0.0
        iterations, banks = max(self.counts.loop(plan.loop_op).iterations, 1.0), len(self.board.memory.banks)
        single, together, times = 0.0, 0.0, 0.0
        for op, access in self.memory.outside.items():
            if self.regions.get(op) is plan and (words := self.traffic(op).words) > 0:
                bursts = words if self._scattered(op, access) else self._bursts(op)
                if bursts < words:
                    together, times = together + words, max(times, bursts)
                else:
                    single += words
        if not single or not together:
            return 0.0
        full, held = self.unknown.memory is Extreme.MOST, self.word_cycles * banks
        return cycles_held_up(together, times, held, single / iterations / banks, full) / iterations

    def _scattered(self, op: Op, access: Access) -> bool:
        return access.scattered and op not in self.near

    def _requests(self, op: Op) -> float:
        """What the unit of an access may have only so much of under way: words of a load, bursts of a store."""
        return self._bursts(op) if op.opcode == "store" else self.traffic(op).words

    def _bus(self, own: Sequence[tuple[Op, Access]]) -> float:
        """Cycles of the busiest bank's data bus for the words of some accesses: of all of them, spread over all banks,
        or of one buffer, which lies in as many banks as it has interleaved pieces."""
        banks, words, distinct = len(self.board.memory.banks), dict[str, float](), dict[str, float]()
        for op, access in own:
            traffic = self.traffic(op)
            spread = not self._scattered(op, access) or self.unknown.memory is Extreme.LEAST
            uneven = 1.0 if spread else uneven_banks(banks)
            words[access.memory] = words.get(access.memory, 0.0) + _moves(op) * traffic.words * uneven
            distinct[access.memory] = max(distinct.get(access.memory, 0.0), traffic.distinct)
        bytes_apart = self.board.memory.interleave_bytes / self.board.memory.word_bytes
        of_one = (words[name] * banks / min(banks, max(1, math.ceil(distinct[name] / bytes_apart))) for name in words)
        bus = max(sum(words.values()), *of_one, 0.0) * self.word_cycles
        turns = len({access.direction for _, access in own}) > 1 or any(_moves(op) > 1 for op, _ in own)
        return bus * (1 + self._turning) if turns else bus

    @cached_property
    def _turning(self) -> float:
        """The time in which the data bus turns, as a share of that of its words: a busy bank moves as many words in one
        direction as its controller takes together, and then as many in the other one."""
        timing = self.board.memory.timing
        return timing.turn_ns / (2 * timing.batch * timing.burst_ns) if isinstance(timing, DramTiming) else 0.0

    def _table(self, op: Op, hazard: HazardPlan, plan: RegionPlan, through: Through) -> float:
        """Cycles for an iteration of a loop as a hazard unit has room for few stores, which leave it in their order:
        each when it is in memory, those that are not made with them."""
        iterations, found = max(self.counts.loop(plan.loop_op).iterations, 1.0), 0.0
        stores = zip(hazard.stores, hazard.certain, hazard.per_word, hazard.entries, strict=True)
        for store, certain, per_word, entries in stores:
            if store not in plan.place or op.attrs.get(Attr.UNTIL_PUSHED):
                continue
            time = through(plan, plan.place[op], plan.place[store]) + PATIENCE + self.latency + PATH
            traffic = self.traffic(store)
            entered = traffic.words if per_word else traffic.count if certain else iterations
            waits, gaps = self._in_order(plan, plan.place[op], plan.place[store])
            bursts = self._bursts(store) + gaps * traffic.count / iterations
            together = 1.0 if self.unknown.memory is Extreme.LEAST else entered / min(bursts, traffic.words or 1.0)
            if min(together, entries) >= BURST_STORES:  # sent as its last store comes
                time -= PATIENCE
            pace = pace_of_table(time + waits, entries, min(together, BURST_STORES))
            share, bus = entered / self.counts.units / iterations, self.rate(plan)
            of_table = share * pace
            if share and bus and self.unknown.memory is not Extreme.LEAST:
                of_table = pace_of_table_and_bus(of_table, max(1.0, entries / share), bus)
            found = max(found, of_table)
        return found

    def _bursts(self, store: Op) -> float:
        """The bursts of a store's words: one for each run of words that follow each other, or more of long runs."""
        found, words = self.counts.accesses(store), self.traffic(store).words
        jumped = sum(self.counted.interleaved(store, one) or jumps(one, self.counts.workload) for one in found)
        return max(1.0, min(jumped / self.counted.copies[store.opcode, store.span], words), words / BURST_WORDS)

    def _in_order(self, plan: RegionPlan, start: Point, last: Point) -> tuple[float, float]:
        """Between two points: the cycles for which tokens of a loop, one in each cycle, wait behind others that wait
        for memory, as answers come in order, beyond the mean response; and how many gaps these leave in which a store
        unit sends its burst. Loads of a level fetch at the same tokens, at which rows begin."""
        found, gaps, count = 0.0, 0.0, self.counts.loop(plan.loop_op)
        for level in plan.levels[start.level : last.level]:
            waits = [self.fetched(row.op, plan) for row in level.row if row.joins]
            share = min(1.0, max((one.others + one.first / max(count.trips, 1.0) for one in waits), default=0.0))
            longest = max((one.cycles for one in waits), default=0.0)
            found += wait_in_order(longest, share, 1.0) - share * longest
            gaps += count.iterations * share * (1 - share) ** PATIENCE if longest > PATIENCE else 0.0
        return found, gaps

    def _closed(self, accesses: list[Op]) -> float:
        """The share of rows that are not open when accesses go to them at random: DRAM keeps one open in each of its
        banks."""
        timing, memory = self.board.memory.timing, self.board.memory
        if not isinstance(timing, DramTiming):
            return 1.0
        rows: dict[str, float] = {}
        for op in accesses:
            name = self.memory.accesses[op].memory
            rows[name] = max(rows.get(name, 0.0), self.traffic(op).rows)
        opened = timing.bank_groups * timing.banks_per_group * len(memory.banks)
        return max(0.0, 1.0 - opened / max(sum(rows.values()), 1.0))

    def _conflicts(self, op: Op, hazard: HazardPlan, plan: RegionPlan, through: Through, interval: float) -> float:
        """Cycles that an iteration, one each ``interval``, waits until stores that its loads meet are in memory, or
        where these are forwarded or in memory on the chip, until they are made."""
        waits = self._waits_at(op, hazard, plan)
        begins = plan.place[waits]
        beside = any(row.op.opcode == "loop" for row in plan.levels[begins.level].row)
        if beside:  # it waits while this loop runs
            begins = Point(begins.level + 1, 0)
        stores = [plan.place[one] for one in hazard.stores if one in plan.place]
        time = max((through(plan, begins, one) for one in stores), default=float(plan.latency))
        late = self.unknown.conflicts is Extreme.MOST
        if not beside and not late:  # from one token's hold to the next one's
            time = max(1.0, time - COMPARING)
        if self.board.memory.timing is not None and not op.attrs.get(Attr.FINDS):
            time += PATIENCE + self.latency + PATH
        found, kept = 0.0, self._kept(hazard, plan)
        for load in hazard.loads:
            runs = self.counts.accesses(load)
            rows = self._rows_apart(load, hazard, plan)
            each = [self._waits(one, time, interval, plan, kept, rows) for one in runs]
            found = max(found, sum(each) / len(each) if each else 0.0)
        return found

    def _kept(self, hazard: HazardPlan, plan: RegionPlan) -> float:
        """Stores that a hazard unit compares loads with for each one that is made. It keeps those that it knows too
        late not to be made as long as the others; their addresses are taken to be spread like the others'."""
        iterations = self.counts.loop(plan.loop_op).iterations * self.counts.units
        stores = zip(hazard.stores, hazard.certain, strict=True)
        pairs = [(self.traffic(one).count, sure) for one, sure in stores if one in plan.place]
        made = sum(count for count, _ in pairs)
        return max(1.0, sum(count if sure else iterations for count, sure in pairs) / made) if made else 1.0

    def _rows_apart(self, load: Op, hazard: HazardPlan, plan: RegionPlan) -> tuple[tuple[float, float], ...]:
        """Pairs of trips of a loop and their share of its iterations, if its load meets the store that was made these
        trips before: to the same element in an invocation, to another one in each iteration, and to the same ones in
        the next invocation. Nothing elsewhere: the workload counts distances in iterations of all loops."""
        count, offset = self.counts.loop(plan.loop_op), self._forms.offset(load)
        stores = [one for one in hazard.stores if one in plan.place]
        found = self.counts.accesses(load)
        if not count.spread or not stores or any(self._forms.offset(one) != offset for one in stores):
            return ()
        if not found or not all(self.counted.repeats(one, plan) for one in found):
            return ()
        return tuple((trips, trips * share / count.trips) for trips, share in count.spread)

    @cached_property
    def _forms(self) -> AffineForms:
        return AffineForms(self.counts.function)

    def _waits(
        self,
        runs: AccessRuns,
        time: float,
        interval: float,
        plan: RegionPlan,
        kept: float,
        rows: Sequence[tuple[float, float]],
    ) -> float:
        """Cycles that an iteration of a loop waits, on average, for conflicts of a load with stores that take a
        ``time`` each; there are ``kept`` times as many as the workload tells. ``rows`` are distances in the loop's own
        iterations, with their shares, where they are known."""
        if rows:
            count, most = runs.conflicts.count * kept, self.counts.loop(plan.loop_op).iterations
            return pace_of_conflicts([(d, share * count) for d, share in rows], 1.0, most, time, interval) - interval
        most = self.unknown.conflicts is Extreme.MOST
        ranges = [(one.low if most else _middle(one), one.count * kept) for one in runs.conflicts.ranges]
        apart = [(self._own_distance(distance, plan), count) for distance, count in ranges]
        if all(distance * interval >= time for distance, _ in apart):
            return 0.0
        steady, iterations = runs.steady / runs.conflicts.count, self.counts.loop(plan.loop_op).iterations
        return pace_of_conflicts(apart, steady, iterations, time, interval) - interval

    def _waits_at(self, op: Op, hazard: HazardPlan, plan: RegionPlan) -> Op:
        return self._taking(op, hazard, plan) if op.attrs.get(Attr.FINDS) else op

    def _taking(self, op: Op, hazard: HazardPlan, plan: RegionPlan) -> Op:
        """Where the values of stores that were found in flight are waited for: the last check of the same stores in
        the loop."""
        same = [one for one, other in self.memory.hazards.items() if set(other.stores) & set(hazard.stores)]
        later = [one for one in same if one in plan.place and one.attrs.get(Attr.UNTIL_PUSHED)]
        return max(later, key=lambda one: (plan.place[one].level, plan.place[one].stage), default=op)

    def _own_distance(self, iterations: float, plan: RegionPlan) -> float:
        """How many of so many iterations, of any loop, are the loop's own. The loops that stand in the innermost
        invocation of this loop, or of one around it, that has so many iterations run at the same time."""
        own, around = self.counts.loop(plan.loop_op).iterations, plan.loop_op
        while True:
            inside = self._inside(around)
            outer = self.regions.get(around)
            if iterations <= inside / max(self.counts.loop(around).entered, 1.0) or outer is None or outer.loop is None:
                return max(1.0, iterations * own / max(inside, 1.0))
            around = outer.loop

    def _inside(self, loop: Op) -> float:
        """Iterations of a loop and of all loops inside, over a launch."""
        nested = [op for op, region in self.regions.items() if op.opcode == "loop" and region.loop is loop]
        return self.counts.loop(loop).iterations + sum(self._inside(op) for op in nested)

    def room(self, row: Row) -> float:
        """Tokens that may be between the request of an operation and the level behind it for the operation's sake."""
        return HAZARD_TOKENS + row.waiting if row.op.opcode == "hazard" else math.inf

    def fetched(self, op: Op, plan: RegionPlan) -> Fetched:
        """What the tokens of a region wait for at an access, beyond the time of one that finds its word in its unit."""
        access, count = self.memory.accesses.get(op), self.counts.loop(plan.loop_op)
        if access is None or op not in self.memory.outside or not count.iterations or Ideal.MEMORY in self.ideal:
            return Fetched(0.0, 0.0, 0.0)
        words = self.traffic(op).words / self.counts.units
        ahead = reads_ahead(access)
        first = self.first_share(op, count, words)
        others = 0.0 if ahead else max(0.0, words - first * count.entered) / count.iterations
        return Fetched(max(0.0, self.latency - HELD), first, others)

    def first_share(self, op: Op, count: LoopCount, words: float) -> float:
        """The share of the first tokens of a loop's invocations that wait for one of so many words. A unit that reads
        ahead of its address begins anew in each invocation; one that asks for the next word has asked for it, unless
        the invocation begins elsewhere than the one before ended. A cache still has the word with which the invocation
        before began. The first word of a launch is one of :class:`hls.model.launch_waits.LaunchWaits`."""
        access, found = self.memory.accesses[op], self.counts.accesses(op)
        if access.unit is LsuKind.NEXT_WORD_LOAD and found:
            words = min(words, sum(jumps(one, self.counts.workload) for one in found))
        waiting = min(words, count.entered)
        if access.unit in KEEPING and (moves := self.counted.moves_between(op)) is not None:
            waiting = min(waiting, 1 + moves * (count.entered - 1))
        if reads_ahead(access):
            waiting = max(0.0, waiting - 1)
        return waiting / count.entered if count.entered else 0.0

    def cycles(self, op: Op, plan: RegionPlan, first: bool) -> float:
        """Cycles from an operation of variable latency to its response, expected over the launch."""
        if op.opcode in FIXED:
            return float(FIXED[op.opcode])
        if op.opcode == "rtl_wait":
            return float(op.attrs[Attr.RTL_LATENCY])
        if op.opcode == "fence":
            return 0.0 if is_exceptional(op) or Ideal.MEMORY in self.ideal else self.latency
        count = self.counts.loop(plan.loop) if plan.loop else LoopCount(1.0, 1.0, 1.0)
        traffic, access = self.traffic(op), self.memory.accesses[op]
        made = min(1.0, traffic.count / self.counts.units / count.iterations) if count.iterations else 0.0
        if op.opcode == "atomic":
            fetching = 0.0 if Ideal.MEMORY in self.ideal else traffic.fetching
            return made * (EXECUTED + fetching * (self.latency - HELD))
        searched = traffic.looked_up if access.unit in (LsuKind.CACHED_LOAD, LsuKind.SHARED_LOAD) else 0.0
        held = HELD + searched * (LOOKED_UP - HELD)
        ahead = reads_ahead(access)
        if ahead and not first or self.unknown.memory is Extreme.LEAST or Ideal.MEMORY in self.ideal:
            return made * held
        if first:
            fetching = self.first_share(op, count, traffic.words)
            return made * (fetching * self.latency + (1 - fetching) * held)
        return made * (held + wait_in_order(self.latency - held, traffic.fetching, 1.0, self._in_turn(plan)))

    def _in_turn(self, plan: RegionPlan) -> float:
        """Tokens of a loop, of several invocations, that make their requests one after the other."""
        around = self.regions.get(plan.loop) if plan.loop else None
        return max(1.0, self.counts.in_turn(plan, around)) if around else 1.0


def reads_ahead(access: Access) -> bool:
    """Whether a load's unit asks for words before the accesses that need them."""
    return access.reads_ahead or access.unit is LsuKind.NEXT_WORD_LOAD


def _middle(one: Range) -> float:
    return (one.low + one.high) / 2


def _moves(op: Op) -> int:
    """How often a word that an access moves is on the bus: that of an atomic operation is read, and written when
    another word takes its place."""
    return 2 if op.opcode == "atomic" else 1


def _pending(access: Access) -> float:
    """Words, or bursts of stores, that the unit of an access may have under way: infinitely many where its part sets no
    limit."""
    options = access.hardware.options if access.hardware else {}
    default = BURSTS_UNDER_WAY if access.unit in (LsuKind.STORE, LsuKind.ACKNOWLEDGED_STORE) else None
    found = options.get("pending", options.get("outstanding", options.get("ahead", default)))
    return float(found) if isinstance(found, int) else math.inf
