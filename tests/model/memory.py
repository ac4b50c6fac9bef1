"""Global memory as load and store units see it: an interconnect with paths of its own to every bank, and the banks.

Registers on the way are those of ``rtl_lib/interconnect`` and ``rtl_lib/axi``; times of the memory come from the board.
"""

from collections import deque
from dataclasses import dataclass
from functools import reduce
from itertools import repeat
from operator import add

from .dram import READ, WRITE, Channel
from .fifo import Fifo
from .load_unit import LoadUnit
from .store_unit import StoreUnit

__all__ = ["GlobalMemory"]

REORDER_WORDS, TURNS = 128, 128  #: room for each unit and bank: words under way, bursts under way
WAITING, OUTSTANDING = 4, 128  #: bursts of a port that are not yet in the memory, that have no answer yet
ENTRY = 4  #: memory clocks between two bursts that enter the controller: it runs at a quarter of that clock


@dataclass
class _Access:
    """A burst on its way through a bank: one memory request a word, each None until it is pushed."""

    unit: object
    address: int  #: bytes, in the bank
    words: int
    requests: list
    moved: int = 0


class GlobalMemory:
    """``board`` is a :class:`hls.target.board.Board` with DDR memory, which has been running for ``age`` cycles."""

    def __init__(self, clock, board, age=0):
        self.clock, self.memory = clock, board.memory
        self.stores = []
        self._loads = []
        self._banks = [_Bank(clock, self, board, age) for _ in board.memory.banks]
        clock.add(self)

    def unit(self, operation):
        """A new load or store unit."""
        if operation.unit.direction == "load":
            unit = LoadUnit(self.clock, operation, self.memory.word_bytes)
            self._loads.append(_Reads(unit, len(self._banks)))
        else:
            unit = StoreUnit(self.clock, operation, self.memory.word_bytes)
            self.stores.append(_Writes(unit))
        return unit

    @property
    def idle(self):
        """Whether every store is in memory."""
        return all(writes.unit.idle for writes in self.stores)

    def _locate(self, burst):
        """(bank, byte address in it) of a burst."""
        memory = self.memory
        piece, within = divmod(burst.first * memory.word_bytes, memory.interleave_bytes)
        local, bank = divmod(piece, len(memory.banks))
        return bank, local * memory.interleave_bytes + within

    def evaluate(self):
        for reads in self._loads:
            reads.give(self.clock.now)
        for writes in self.stores:
            writes.give(self.clock.now)
        for number, bank in enumerate(self._banks):
            bank.evaluate([self._wanted(reads, number) for reads in self._loads],
                          [self._wanted(writes, number) for writes in self.stores])

    def _wanted(self, port, number):
        """(port, burst, address) where the port's next burst goes to the bank; else None."""
        head = port.unit.bursts.head()
        if head is None:
            return None
        bank, address = self._locate(head[0])
        return (port, head[0], address) if bank == number and port.may_send(bank, head[0]) else None

    def commit(self):
        """All state is in the parts."""


class _Reads:
    """One load unit's path back: words wait for each bank until their turn."""

    def __init__(self, unit, banks):
        self.unit, self.direct = unit, banks == 1
        self._free = [REORDER_WORDS] * banks
        self._here = [deque() for _ in range(banks)]  # cycles from which words are there
        self._turns = deque()  # [cycle, bank, words left]

    def may_send(self, bank, burst):
        return self.direct or self._free[bank] >= burst.words and len(self._turns) < TURNS * len(self._here)

    def send(self, now, bank, burst):
        self._turns.append([now + 1, bank, burst.words])
        self._free[bank] -= burst.words

    def arrive(self, bank, cycle):
        """A word is on the bank's port in that cycle; the FIFO in which it waits is a block RAM."""
        self._here[bank].append(cycle if self.direct else cycle + 2)

    def give(self, now):
        """The word whose turn it is goes to the unit."""
        if not self._turns or self._turns[0][0] > now:
            return
        turn = self._turns[0]
        here = self._here[turn[1]]
        if here and here[0] <= now:
            here.popleft()
            self.unit.arrive()
            self._free[turn[1]] += 1
            turn[2] -= 1
            if turn[2] == 0:
                self._turns.popleft()


class _Writes:
    """One store unit's path: a burst after the other, confirmations in order."""

    def __init__(self, unit):
        self.unit, self.busy_until_moved = unit, 0  # words of the present burst still to move
        self._turns = deque()  # [cycle from which it is confirmed, or None] of each burst

    def may_send(self, bank, burst):
        return self.busy_until_moved == 0 and len(self._turns) < TURNS

    def send(self, now, bank, burst):
        self.busy_until_moved = burst.words
        self._turns.append([None])
        return self._turns[-1]

    def give(self, now):
        if self._turns and self._turns[0][0] is not None and self._turns[0][0] <= now:
            self._turns.popleft()
            self.unit.confirm()


class _Bank:
    """One bank's port of the interconnect, AXI master, AXI port and memory channel."""

    def __init__(self, clock, memory, board, age):
        self.clock, self.memory, self.word_bytes = clock, memory, board.memory.word_bytes
        timing = board.memory.timing
        self.burst_bytes = timing.bus_bits // 8 * 8
        self.ticks_per_cycle = board.clock.period_ns / timing.tck_ns
        self._time = reduce(add, repeat(self.ticks_per_cycle, age), 0.0)  # as the board adds it up, rounding included
        self.channel = Channel(timing, int(self._time))
        self.latency = round(timing.controller_latency_ns / timing.tck_ns)
        self.reads, self.writes = Fifo(clock, 2, "reads"), Fifo(clock, 2, "writes")
        self._last = [-1, -1]  # served last, of loads and stores
        self._asking = [None, None]  # AR, AW: bursts offered to the memory
        self._ready = [False, False]
        self._bursts = (deque(), deque())  # in the memory's port, by direction
        self._pushed, self._feeding, self._next_feed = [0, 0], READ, (int(self._time) // ENTRY + 1) * ENTRY
        self._moving = None  # [write burst, cycle of its next word]: words move behind the request

    def evaluate(self, loads, stores):
        self._accept()
        self._run()
        self._answer()
        self._choose_readies()
        self._offer(READ, self.reads)
        self._offer(WRITE, self.writes)
        self._move_words()
        self._take(READ, loads, self.reads)
        self._take(WRITE, stores, self.writes)

    # -- interconnect and master
    def _take(self, direction, wanted, fifo):
        """Round robin over the units that want the bank."""
        order = [(self._last[direction] + 1 + n) % len(wanted) for n in range(len(wanted))]
        chosen = next((n for n in order if wanted[n] is not None), None)
        if chosen is None or not fifo.can_push():
            return
        port, burst, address = wanted[chosen]
        if direction == WRITE and self._moving is not None:
            return
        number = self.memory._banks.index(self)
        port.unit.bursts.pop()
        token = port.send(self.clock.now, number, burst)
        access = _Access((port, token), address, burst.words, [])
        fifo.push(access)
        if direction == WRITE:
            # words go into a queue from the next cycle on, and on to the master a cycle later, when it has the request
            self._moving = [access, self.clock.now + 1]
        self._last[direction] = chosen

    def _offer(self, direction, fifo):
        """The master's address register."""
        if self._asking[direction] is None and fifo.head() is not None:
            self._asking[direction] = fifo.pop()
        if self._asking[direction] is not None or self._bursts[direction]:
            self.clock.moved()

    def _move_words(self):
        if self._moving is None or self._moving[1] > self.clock.now:
            return
        access, _ = self._moving
        port = access.unit[0]
        if port.unit.words.head() is None:
            return
        port.unit.words.pop()
        port.busy_until_moved -= 1
        if port.busy_until_moved == 0:
            access.moved = self.clock.now + 2  # the last word is in the master's register
            self._moving = None

    # -- the memory's port
    def _accept(self):
        for direction in (READ, WRITE):
            if self._ready[direction] and self._asking[direction] is not None:
                self._bursts[direction].append(self._asking[direction])
                self._asking[direction] = None

    def _choose_readies(self):
        for direction in (READ, WRITE):
            held, pushed = len(self._bursts[direction]), self._pushed[direction]
            self._ready[direction] = held - pushed < WAITING and held < OUTSTANDING

    def _run(self):
        """The memory takes a burst each few ticks; a write when all its words are here."""
        self._time += self.ticks_per_cycle
        now = int(self._time)
        while self._next_feed <= now:
            self._feed(self._next_feed)
            self._next_feed += ENTRY
        self.channel.advance(now)

    def _feed(self, tick):
        under_way = self._front(self._feeding) is not None and self._front(self._feeding).requests
        first = self._feeding if under_way else 1 - self._feeding
        for direction in (first, 1 - first):
            access = self._front(direction)
            if access is not None and self.channel.room(direction) and self._complete(direction, access):
                self._feeding = direction
                self._push(direction, access, tick)
                return

    def _front(self, direction):
        bursts, pushed = self._bursts[direction], self._pushed[direction]
        return bursts[pushed] if pushed < len(bursts) else None

    def _complete(self, direction, access):
        return direction == READ or 0 < access.moved <= self.clock.now

    def _push(self, direction, access, tick):
        address = access.address + len(access.requests) * self.burst_bytes
        access.requests.append(self.channel.push(direction, address, tick))
        if len(access.requests) == access.words * self.word_bytes // self.burst_bytes:
            self._pushed[direction] += 1

    def _answer(self):
        """At most a word and a confirmation go back; both are on the port in the next cycle."""
        if self._bursts[READ]:
            access = self._bursts[READ][0]
            each = self.word_bytes // self.burst_bytes
            parts = access.requests[access.moved * each:(access.moved + 1) * each]
            if len(parts) == each and all(self._finished(part) for part in parts):
                access.moved += 1
                access.unit[0].arrive(self.memory._banks.index(self), self.clock.now + 1)
                if access.moved == access.words:
                    self._retire(READ)
        if self._bursts[WRITE] and self._pushed[WRITE]:
            access = self._bursts[WRITE][0]
            if all(self._finished(part) for part in access.requests):
                access.unit[1][0] = self.clock.now + 2  # through a FIFO of confirmations
                self._retire(WRITE)

    def _finished(self, request):
        return request.done is not None and request.done + self.latency <= self._time

    def _retire(self, direction):
        self._bursts[direction].popleft()
        self._pushed[direction] -= 1
