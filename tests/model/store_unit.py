"""A store unit: adjacent stores are combined into words, words into bursts; it is idle when the memory has
acknowledged all."""

from collections import deque

from .burst import Burst, BurstBuilder
from .fifo import Fifo

__all__ = ["StoreUnit"]

PATIENCE = 256  #: cycles without a store after which what is held goes
WORDS, OUTSTANDING = 32, 16  #: room for words, and for bursts without confirmation
SCATTERED = 256  #: for bursts of scattered words


class StoreUnit:
    """Requests are byte addresses."""

    def __init__(self, clock, operation, word_bytes):
        self.clock, self.spec, self.word_bytes = clock, operation.unit, word_bytes
        self.requests = Fifo(clock, operation.requests, f"{operation.name}.requests", operation.latency)
        self.bursts = Fifo(clock, 2, f"{operation.name}.bursts")
        self.words = Fifo(clock, WORDS, f"{operation.name}.words")
        self.builder, self._age, self._held = BurstBuilder(word_bytes), 0, deque()
        self.drained = self.over = False  #: no store is on its way; none will come any more
        self._waiting, self._sent, self._confirmed, self._confirming = deque(), None, 0, 0
        clock.add(self)

    def confirm(self):
        """The memory has written a burst."""
        self._confirming += 1

    @property
    def idle(self):
        return self.requests.empty() and not self._held and not self.builder.open and not self._waiting

    def evaluate(self):
        if self.spec.pipelined:
            self._pass_on()
        else:
            self._gather()

    def _pass_on(self):
        """A store is offered to the memory in the cycle after it was taken; the next is taken when its word has
        moved."""
        if (
            self.requests.head() is not None
            and self.words.empty()
            and self.bursts.can_push()
            and len(self._waiting) < OUTSTANDING
        ):
            store = self.requests.pop() // self.word_bytes
            self.words.push(store)
            self.bursts.push(Burst(store, 1))
            self._sent = self.clock.now + 1

    def _gather(self):
        head = self.requests.head()
        self.drained = head is None
        quiet = self._age == PATIENCE or self.over and head is None
        store = None if head is None else head[0] // self.word_bytes
        had, joins, full = bool(self._held), store in self._held, len(self._held) == self.spec.gathers
        leaves = had and (quiet if store is None else not joins and full) and self.words.can_push()
        room = self.bursts.can_push() and len(self._waiting) < (SCATTERED if self.spec.scattered else OUTSTANDING)
        leaving, burst = self.builder.step(self._held[0] if leaves else None, quiet and not had, False, room)
        if burst is not None:
            self.bursts.push(burst)
            self._sent = self.clock.now + 1
        if leaving:
            self.words.push(self._held.popleft())
        if store is not None and (not full or joins or leaving):
            self.requests.pop()
            self._age = 0
            if not joins:
                self._held.append(store)
        elif not quiet:
            self._age += 1
        if self._held or self.builder.open:
            self.clock.moved()

    def commit(self):
        if self._waiting and self._waiting[0] <= self.clock.now and self._confirmed:
            self._waiting.popleft()
            self._confirmed -= 1
        if self._sent is not None:
            self._waiting.append(self._sent)
            self._sent = None
        self._confirmed += self._confirming
        self._confirming = 0
