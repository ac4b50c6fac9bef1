"""The loop header and the exit: which invocation issues, and in which order results leave."""

from collections import deque
from dataclasses import dataclass, field

from .fifo import Fifo

__all__ = ["Exit", "Header", "Token"]


@dataclass
class Token:
    """One iteration on its way. ``values`` are the live values; ``on`` names the operations it asked."""

    slot: int
    entry: int
    first: bool
    initial: dict
    values: dict
    on: set = field(default_factory=set)
    last: bool | None = None  #: None until the token has passed the point that decides
    epoch: bool = False  #: the header's at the issue


class Header:
    """Starts invocations while a slot and an exit entry are free, before running slots; these in order of readiness.

    A speculative loop is told ``again`` before anybody knows whether the token is the last. With one slot, ``done``
    then takes back what has not been issued, and changes the epoch, by which an ``again`` from behind the end is
    recognized. With several, every token answers ``again``, and ``done`` marks the slot, which is free when it has its
    turn again.
    """

    def __init__(self, clock, spec, requests, initial, rules):
        """``requests``: depth of the request FIFO; ``initial(request)``: the carried values at the start."""
        self.clock, self.rules, self.initial = clock, rules, initial
        self.requests = Fifo(clock, requests, f"{spec.name}.requests")
        self.entries, self.speculative, self.delay = spec.entries, spec.speculative, spec.again_delay
        self.started = self.retired = 0
        self.epoch = False
        self.issues = []  # (cycle, invocation)
        self._free, self._ready, self._held = list(range(spec.slots)), deque(), False
        self._running = {}  # slot -> (entry, request)
        self.marks, self._over = spec.speculative and spec.slots > 1, set()  # slots of invocations that have ended
        self._again, self._done, self._retire = [], [], 0
        self._later = []  # (cycle, slot): answers on their way
        clock.add(self)

    def peek(self):
        """The token on offer in this cycle, or None."""
        request = self.requests.head()
        room = self.started - self.retired < self.entries or not self.rules.exit_reserved_at_start
        if request is not None and self._free and room and not self._held:
            initial = self.initial(request[0])
            return Token(self._free[0], self.started, True, initial, {"request": request[0]}, epoch=self.epoch)
        if not self._ready or self._ready[0] in self._over and self.rules.end_takes_back:
            return None
        self._held = True  # cleared by take: an offer stands until it is accepted
        entry, request = self._running[self._ready[0]]
        return Token(self._ready[0], entry, False, {}, {"request": request}, epoch=self.epoch)

    def take(self, token):
        """The level has accepted the token on offer."""
        if token.first:
            self._running[token.slot] = (self.started, self.requests.pop())
            self._free.remove(token.slot)
            self.started += 1
        else:
            self._ready.popleft()
            self._held = False
        self.issues.append((self.clock.now, token.entry))
        self.clock.moved()
        if not self.rules.waits_for_answer:
            self._again.append(token.slot)

    def again(self, token):
        """The next token of the slot may come, unless this one is behind the end of its invocation."""
        behind = self.speculative and not self.marks and token.epoch != self.epoch and self.rules.epochs
        if self.rules.waits_for_answer and not behind:
            self._later.append((self.clock.now + self.delay, token.slot))

    def done(self, slot):
        self._done.append(slot)

    def retire(self):
        self._retire += 1

    def evaluate(self):
        """Level 0 asks and takes; the header itself only answers."""

    def commit(self):
        self._again += [slot for cycle, slot in self._later if cycle == self.clock.now]
        self._later = [answer for answer in self._later if answer[0] > self.clock.now]
        if self._later:
            self.clock.moved()
        if self.marks:
            self._free_ended()
        elif self.speculative and self._done:
            self.epoch = not self.epoch
            if self.rules.end_takes_back:
                self._again, self._later, self._held = [], [], False
                self._ready.clear()
        self._ready.extend(self._again)
        for slot in self._done if not self.marks else ():
            self._free.append(slot)
        self._free.sort()
        self.retired += self._retire
        self._again, self._done, self._retire = [], [], 0

    def _free_ended(self):
        """The slot whose turn it is, if its invocation has ended, takes no further part; and mark the slots of those
        that end in this cycle."""
        if self._ready and self._ready[0] in self._over:
            slot = self._ready.popleft()
            self._over.remove(slot)
            self._free.append(slot)
            self._held = False
            self.clock.moved()
        self._over.update(self._done)


class Exit:
    """Results wait here for their turn: the order in which their invocations started."""

    def __init__(self, clock, spec, header, rules):
        self.clock, self.header, self.rules, self.entries = clock, header, rules, spec.entries
        self._written, self._new, self._next, self._stalled = {}, {}, 0, False
        self.latency = spec.exit_latency
        clock.add(self)

    def has_room(self, coming):
        """Only asked under the broken rule that reserves at the end: room for ``coming`` more results."""
        return len(self._written) + len(self._new) + coming < self.entries

    def write(self, entry, result):
        assert len(self._written) + len(self._new) < self.entries, "more results than exit entries"
        self._new[entry] = (result, self.clock.now + self.latency)
        self.clock.moved()

    def _turn(self):
        if self.rules.exits_in_order:
            return self._next if self._next in self._written else None
        return next(iter(self._written), None)

    def response(self):
        turn = self._turn()
        if turn is None or self._stalled:
            return None
        result, since = self._written[turn]
        return (result,) if since <= self.clock.now else None

    def take(self):
        result, _ = self._written.pop(self._turn())
        self._next += 1
        self.header.retire()
        self.clock.moved()
        return result

    def evaluate(self):
        """Written by the last level, read by the parent."""

    def commit(self):
        self._written.update(self._new)
        self._new = {}
        self._stalled = self.clock.stall(self._stalled)
