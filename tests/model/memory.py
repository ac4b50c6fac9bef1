"""Global memory as seen by load-store units: an interconnect with separate paths to every bank, and the banks.

Registers on the paths are those of ``rtl_lib/interconnect`` and ``rtl_lib/axi``; times of the memory come from the
board.
"""

from collections import deque
from dataclasses import dataclass
from functools import reduce
from itertools import repeat
from operator import add

from .burst import MAX_BURST
from .dram import READ, WRITE, Channel
from .fifo import Fifo
from .load_unit import LoadUnit
from .store_unit import StoreUnit

__all__ = ["GlobalMemory"]

REORDER_WORDS, TURNS = 128, 128  #: room for each unit and bank: words under way, bursts under way
WAITING, OUTSTANDING = 4, 128  #: bursts of a port that are not yet in the memory, that have no answer yet
AHEAD = 3  #: words that a store unit may have to move still when its next burst is taken
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
        self._over = False  #: no store is on its way any more
        self._loads = []
        self._banks = [_Bank(clock, self, board, age) for _ in board.memory.banks]
        clock.add(self)

    def unit(self, operation):
        """A new load or store unit."""
        if operation.unit.direction == "load":
            unit = LoadUnit(self.clock, operation, self.memory.word_bytes)
            self._loads.append(_Reads(self.clock, unit, len(self._banks)))
        else:
            unit = StoreUnit(self.clock, operation, self.memory.word_bytes)
            self.stores.append(_Writes(unit))
        return unit

    @property
    def idle(self):
        """Whether every store is in memory."""
        return all(writes.unit.idle for writes in self.stores)

    def end(self):
        """The kernel gives no more stores than those on their way."""
        for writes in self.stores:
            writes.unit.over = self._over
        self._over = all(writes.unit.drained for writes in self.stores)

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
        for writes in self.stores:
            writes.look()
        for bank in self._banks:
            bank.evaluate()
        for number, bank in enumerate(self._banks):
            bank.choose(
                [self._wanted(reads, reads.asking, number) for reads in self._loads],
                [self._wanted(writes, writes.unit.bursts, number) for writes in self.stores],
            )
        for reads in self._loads:
            head = reads.unit.bursts.head()
            bank = None if head is None else self._locate(head[0])[0]
            may = head is not None and reads.may_ask(bank)
            reads.look()
            if may:
                reads.ask(self.clock.now, bank)

    def _wanted(self, port, queue, number):
        """(port, queue, burst, address) where the queue's next burst goes to the bank; else None."""
        head = queue.head()
        if head is None:
            return None
        bank, address = self._locate(head[0])
        return (port, queue, head[0], address) if bank == number and port.may_send() else None

    def commit(self):
        """All state is in the parts."""


class _Reads:
    """One load unit's path back: words wait for each bank until their turn."""

    def __init__(self, clock, unit, banks):
        self.unit, self.direct = unit, banks == 1
        self.asking = Fifo(clock, 2, "asking")  # bursts with a turn and a place for their words
        self._free, self._fits = [REORDER_WORDS] * banks, [True] * banks
        self._here = [deque() for _ in range(banks)]  # cycles from which words are there
        self._turns = deque()  # [cycle, bank, words left]

    def may_ask(self, bank):
        room = self.direct or self._fits[bank] and len(self._turns) < TURNS * len(self._here)
        return room and self.asking.can_push()

    def look(self):
        """What is known of the room in the next cycle: that of this one, for two bursts, as one may be taken now."""
        self._fits = [free >= 2 * MAX_BURST for free in self._free]

    def ask(self, now, bank):
        burst = self.unit.bursts.pop()
        self.asking.push(burst)
        self._turns.append([now + 1, bank, burst.words])
        self._free[bank] -= burst.words

    def may_send(self):
        return True

    def send(self, now, bank, burst):
        """What comes back has its place since the burst asked."""

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
        self.unit = unit
        self.ahead = self._known_ahead = 0  # words that were taken and have not moved: now, and as the cycle began
        self.order, self.busy = deque(), False  # banks at which bursts begin; whether one's words move
        self._turns = deque()  # [cycle from which it is confirmed, or None] of each burst

    def look(self):
        self._known_ahead = self.ahead

    def may_send(self):
        return self._known_ahead <= AHEAD and len(self._turns) < TURNS

    def send(self, now, bank, burst):
        self.ahead += burst.words
        self.order.append(bank)
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
        # chosen, and fetched
        self.reads, self.writes = (Fifo(clock, 3, name, latency=2) for name in ("reads", "writes"))
        self.begun = Fifo(clock, 2, "begun")  # writes whose words move, or did
        self._last = [-1, -1]  # served last, of loads and stores
        self._asking = [None, None]  # AR, AW: bursts offered to the memory
        self._ready = [False, False]
        self._bursts = (deque(), deque())  # in the memory's port, by direction
        self._pushed, self._feeding, self._next_feed = [0, 0], READ, (int(self._time) // ENTRY + 1) * ENTRY
        self._moving = None  # [write burst, cycle of its next word, words left]: words move behind the request

    def evaluate(self):
        self._accept()
        self._run()
        self._answer()
        self._choose_readies()
        self._offer(READ, self.reads)
        self._offer(WRITE, self.begun)
        self._move_words()

    def choose(self, loads, stores):
        """Behind what moved at all banks."""
        self._begin()
        self._take(READ, loads, self.reads)
        self._take(WRITE, stores, self.writes)

    # -- interconnect and master
    def _take(self, direction, wanted, fifo):
        """Round robin over the units that want the bank."""
        order = [(self._last[direction] + 1 + n) % len(wanted) for n in range(len(wanted))]
        chosen = next((n for n in order if wanted[n] is not None), None)
        if chosen is None or not fifo.can_push():
            return
        port, queue, burst, address = wanted[chosen]
        number = self.memory._banks.index(self)
        queue.pop()
        token = port.send(self.clock.now, number, burst)
        fifo.push(_Access((port, token), address, burst.words, []))
        self._last[direction] = chosen

    def _begin(self):
        """The next burst's request goes, and its words may move from the next cycle on, when those of the unit's burst
        before have."""
        head = self.writes.head()
        if head is None or self._moving is not None or not self.begun.can_push():
            return
        port = head[0].unit[0]
        if port.busy or port.order[0] != self.memory._banks.index(self):
            return
        port.busy = True
        port.order.popleft()
        self.begun.push(self.writes.pop())
        self._moving = [head[0], self.clock.now + 1, head[0].words]

    def _offer(self, direction, fifo):
        """The master's address register."""
        if self._asking[direction] is None and fifo.head() is not None:
            self._asking[direction] = fifo.pop()
        if self._asking[direction] is not None or self._bursts[direction]:
            self.clock.moved()

    def _move_words(self):
        if self._moving is None or self._moving[1] > self.clock.now:
            return
        access = self._moving[0]
        port = access.unit[0]
        if port.unit.words.head() is None:
            return
        port.unit.words.pop()
        port.ahead -= 1
        self._moving[2] -= 1
        if self._moving[2] == 0:
            access.moved = self.clock.now + 2  # the last word is in the master's register
            port.busy, self._moving = False, None

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
            parts = access.requests[access.moved * each : (access.moved + 1) * each]
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
