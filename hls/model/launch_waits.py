"""What a launch waits for once: its first words, bursts that gather, a refresh, and the last store
(docs/rationale/model.md)."""

import math
from dataclasses import dataclass

from rtl_lib.lsu.atomic_memory import PATIENCE, PLACES
from rtl_lib.lsu.constant import MOST_FILL, cache_fill

from ..ir import Op
from ..planning.memory import LsuKind
from ..planning.schedule import Point, RegionPlan
from ..target.board import DramTiming
from .extremes import Extreme
from .ideal import Ideal
from .memory_time import BURST_WORDS, HELD, MemoryTime, reads_ahead
from .pace import SchedulePace

__all__ = ["LaunchWaits"]

#: cycles for which an open burst of a load unit waits for another word, and units that gather words so
#: (rtl_lib/lsu/fetch.py)
LOAD_PATIENCE = 5
GATHERING = {LsuKind.LOAD, LsuKind.CACHED_LOAD}


@dataclass(frozen=True)
class LaunchWaits:
    """Those of one kernel's accesses."""

    memory: MemoryTime
    pace: SchedulePace

    @property
    def cycles(self) -> float:
        """Cycles of a launch before its first word is there, until its last one is in memory, and for which a refresh
        stops it."""
        if Ideal.MEMORY in self.memory.ideal or not self.memory.board.memory.timing:
            return 0.0
        stores = any(access.direction == "store" for access in self.memory.memory.outside.values())
        found = self._first_words + self.memory.latency * (stores + self._cold)
        return found + self._refreshed + self._written_back

    @property
    def _written_back(self) -> float:
        """Cycles until the words that the unit of atomic operations holds at the end are in memory: it waits for more
        operations first, and writes one in each cycle."""
        atomics = [op for op in self.memory.memory.outside if op.opcode == "atomic"]
        words = sum(self.memory.traffic(op).distinct for op in atomics)
        return PATIENCE + min(words, PLACES) + self.memory.latency if words else 0.0

    @property
    def _refreshed(self) -> float:
        """Cycles for which a refresh while a loop runs stops the tokens at its load. It counts once: after it, so many
        more tokens are under way, and wait during the next one. Where words take the time of a loop, their rate has
        it."""
        timing, period = self.memory.board.memory.timing, self.memory.board.clock.period_ns
        if self.memory.unknown.memory is Extreme.LEAST or not isinstance(timing, DramTiming):
            return 0.0
        refresh, longest = timing.tRFC * timing.tck_ns / period, 0.0
        for op, access in self.memory.memory.outside.items():
            plan, words = self.memory.regions.get(op), self.memory.traffic(op).words
            if (
                access.direction != "load"
                or plan is None
                or plan.loop is None
                or words < 1
                or self.memory.rate(plan) > 1
            ):
                continue
            iterations, spacing = self.memory.counts.loop(plan.loop).iterations, self.pace.spacing(plan.loop)
            apart = iterations * spacing * self.memory.counts.units / words
            asked = max(0.0, BURST_WORDS / 2 * apart - self.memory.latency) if reads_ahead(access) else 0.0
            if any(row.op.opcode == "loop" for level in plan.levels for row in level.row):
                asked = max(asked, spacing)  # the next iteration asks while the loop inside does this one
            wait = refresh - apart / 2 if apart < refresh else refresh * refresh / 2 / apart
            often = min(1.0, self.pace.running(plan.loop) / (timing.tREFI * timing.tck_ns / period))
            longest = max(longest, often * (wait - asked))
        return longest

    @property
    def _first_words(self) -> float:
        """Cycles for which the first token of a launch waits at loads beyond what :meth:`cycles` has for the average
        first token of an invocation: in each level it fetches a word, as all units are empty, where that one may find
        it in its unit, or has asked for it ahead."""
        if self.memory.unknown.memory is Extreme.LEAST:
            any_load = any(access.direction == "load" for access in self.memory.memory.outside.values())
            return self.memory.latency if any_load else 0.0
        found = 0.0
        for plan in set(self.memory.regions.values()):
            count = self.memory.count_of(plan)
            for level in plan.levels if count.entered else ():
                loads = [row.op for row in level.row if row.joins and row.op in self.memory.memory.outside]
                moved = [(op, self.memory.traffic(op).words) for op in loads if op.opcode in ("load", "atomic")]
                waits = [
                    (1 - self.memory.first_share(op, count, words)) * (self.memory.latency - HELD)
                    + self._gathered(op, plan, words)
                    for op, words in moved
                ]
                found += min(1.0, sum(words for _, words in moved)) * max(waits, default=0.0)
            found += self._standing(plan)
        return found

    def _standing(self, plan: RegionPlan) -> float:
        """Cycles for which the levels of a region stand still as loads inside them wait for a word that does not follow
        the one before: those of one stage ask at the same time, and those of later ones when they go on."""
        most: dict[Point, float] = {}
        for op, place in plan.place.items():
            access = self.memory.memory.outside.get(op)
            if access is not None and access.unit is LsuKind.STEPPING_LOAD and self.memory.traffic(op).words > 0:
                most[place] = max(most.get(place, 0.0), self.memory.jumps_of(op))
        return self.memory.latency * sum(most.values())

    def _gathered(self, op: Op, plan: RegionPlan, words: float) -> float:
        """Cycles for which the first word of a burst waits in a load unit for those that follow: the tokens behind it
        cannot make up for it, so it counts once. A word goes at once where none is under way, and a burst when it is
        full, when another word comes, or when none has come for a time."""
        access = self.memory.memory.accesses[op]
        if plan.loop is None or words < 2 or reads_ahead(access) or access.unit not in GATHERING:
            return 0.0
        iterations = self.memory.counts.loop(plan.loop).iterations * self.memory.counts.units
        apart = max(1.0, iterations * self.pace.spacing(plan.loop) / words)
        if apart >= self.memory.latency:
            return 0.0
        if apart > LOAD_PATIENCE:
            return float(LOAD_PATIENCE)
        run = min(BURST_WORDS, words / min(self.memory.jumps_of(op), words))
        return min(run - 1, words - 2) * apart + 1

    @property
    def _cold(self) -> float:
        """Blocks that several loads of one iteration bring into the constant cache, where none is fetched while another
        one is: the first iteration waits for all of them."""
        if self.memory.unknown.memory is Extreme.LEAST:
            return 0.0
        words: dict[str, float] = {}
        for op, access in self.memory.memory.outside.items():
            copies = self.memory.counted.copies[op.opcode, op.span]
            if access.unit is LsuKind.CONSTANT_LOAD and copies > 1:
                words[access.memory] = max(words.get(access.memory, 0.0), min(copies, self.memory.traffic(op).distinct))
        return sum(math.ceil(one / cache_fill(MOST_FILL, self.memory.board.read_latency)) for one in words.values())
