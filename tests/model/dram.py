"""One memory channel, from its timing table: open rows, one bus, batches in one direction, refresh.

Simpler than the controller of the simulated board: the bursts of a direction stay in order. Times are in memory
clocks.
"""

from collections import deque
from dataclasses import dataclass

__all__ = ["Channel", "Request"]

READ, WRITE = 0, 1
BURST_TICKS = 4  #: eight transfers at double rate
TURNAROUND = 2  #: of the bus, from reading to writing
LONG_AGO = -(1 << 30)


@dataclass
class Request:
    """One burst: a place, when it came, and when it is finished (None: not known yet)."""

    bank: int
    row: int
    came: int
    done: int | None = None
    ready: int | None = None  #: when its row is open


@dataclass
class _Bank:
    row: int | None = None
    waiting: int = 0
    activated: int = LONG_AGO
    closable: int = LONG_AGO  #: when the row may be closed, for what was done in it


class Channel:
    """Who pushes asks ``room`` first. ``now``: the tick from which on it is used; it has been refreshed since tick
    0."""

    def __init__(self, timing, now=0):
        self.timing = timing
        self._banks = [_Bank() for _ in range(timing.bank_groups * timing.banks_per_group)]
        self._queues, self._direction, self._batch = (deque(), deque()), READ, 0
        self._column = self._activate = LONG_AGO
        self._last, self._recent = [LONG_AGO, LONG_AGO], deque([LONG_AGO] * 4, 4)
        self._refresh, self._blocked = (now // timing.tREFI + 1) * timing.tREFI, 0

    @property
    def busy(self):
        return any(self._queues)

    def room(self, direction):
        return len(self._queues[direction]) < self.timing.queue

    def push(self, direction, address, now):
        """Takes the burst at that byte address of the channel; the request's ``done`` is known some time later."""
        t = self.timing
        burst_bytes = t.bus_bits // 8 * 2 * BURST_TICKS
        index, group = divmod(address // burst_bytes, t.bank_groups)
        row, bank = divmod(index // (t.row_bytes // burst_bytes), t.banks_per_group)
        request = Request(bank * t.bank_groups + group, row, now + 1)
        self._queues[direction].append(request)
        state = self._banks[request.bank]
        state.waiting += 1
        if state.waiting == 1:  # its row is opened while others use the bus
            request.ready = self._open(state, request)
        return request

    def advance(self, now):
        """Issue what can be issued up to that tick."""
        while self.busy:
            direction = self._choose()
            request = self._queues[direction][0]
            bank = self._banks[request.bank]
            if request.ready is None or bank.row != request.row:
                request.ready = self._open(bank, request)
            when = max(request.ready, self._bus(direction), self._blocked)
            if when >= self._refresh:
                self._close_all()
                continue
            if when > now:
                return
            self._issue(direction, request, when)

    def _choose(self):
        other = 1 - self._direction
        if self._queues[other] and (not self._queues[self._direction] or self._batch >= self.timing.batch):
            self._direction, self._batch = other, 0
        return self._direction

    def _open(self, bank, request):
        """When the row of the bank's next request is open."""
        t = self.timing
        if bank.row == request.row:
            return max(request.came, bank.activated + t.tRCD)
        start = max(request.came, self._blocked)
        if bank.row is not None:
            start = max(start, bank.closable, bank.activated + t.tRAS) + t.tRP
        bank.activated = max(start, self._activate + t.tRRD_S, self._recent[0] + t.tFAW)
        self._activate = bank.activated
        self._recent.append(bank.activated)
        bank.row = request.row
        return bank.activated + t.tRCD

    def _bus(self, direction):
        t = self.timing
        spacing = self._column + (t.tCCD_S if t.bank_groups == 1 else max(t.tCCD_S, BURST_TICKS))
        if direction == READ:
            return max(spacing, self._last[WRITE] + t.CWL + BURST_TICKS + t.tWTR_S)
        return max(spacing, self._last[READ] + t.CL + BURST_TICKS + TURNAROUND - t.CWL)

    def _issue(self, direction, request, when):
        t, bank = self.timing, self._banks[request.bank]
        self._queues[direction].popleft()
        bank.waiting -= 1
        self._column = self._last[direction] = when
        self._batch += 1
        if direction == READ:
            request.done = when + t.CL + BURST_TICKS
            bank.closable = max(bank.closable, when + t.tRTP)
        else:
            request.done = when + t.CWL + BURST_TICKS
            bank.closable = max(bank.closable, request.done + t.tWR)

    def _close_all(self):
        t = self.timing
        self._blocked = max(self._refresh, *(bank.closable for bank in self._banks)) + t.tRP + t.tRFC
        self._refresh += t.tREFI
        for bank in self._banks:
            bank.row = None
