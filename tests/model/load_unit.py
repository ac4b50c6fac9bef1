"""A load unit: words are fetched in bursts, and accesses wait in order for their words."""

from collections import deque

from .burst import MAX_BURST, BurstBuilder
from .fifo import Fifo

__all__ = ["LoadUnit"]

PATIENCE = 4  #: cycles that an open burst waits for another word
QUEUE = 2  #: cycles through the queue of accesses, which is a block RAM


class LoadUnit:
    """Requests are byte addresses (of a unit that reads ahead, pairs of one and the last one of its run); every one is
    answered, in order, when its word is here.

    A cached unit (``spec.kept``) takes ``spec.lookup`` cycles to find out whether a word is among those kept; the
    others, and a cached one at rest, know the word of the access before. An access to it while none is under way is not queued. While few words are under way it looks further back, as far as a margin of words more may
    be placed; those are counted in stretches, the next of which waits for such accesses of the one before.

    With ``spec.next_word``, each access that needs a word has the next one of its block requested. An access that needs
    another word than that one first drops it.
    """

    def __init__(self, clock, operation, word_bytes):
        self.clock, self.spec, self.word_bytes = clock, operation.unit, word_bytes
        self.requests = Fifo(clock, operation.requests, f"{operation.name}.requests", operation.latency)
        self.bursts = Fifo(clock, 2, f"{operation.name}.bursts")
        self.builder, self._age = BurstBuilder(word_bytes), 0
        # words of a run that are to be asked for; words of it that are, and that no access has come to
        self._ahead, self._run = [], 0
        self._asked = 0  # the last word that is in either
        self._guess = None  # the word that is requested ahead of accesses, or will be
        self._finding = deque()  # (cycle from which it is decided, word), cached units only
        self._placed, self._hints, self._last = 0, {}, None
        self._margin = 2 * max(1, self.spec.pending // 8)
        self._reach = max(self.spec.kept, self.spec.kept + self.spec.pending - self._margin)
        self._calm, self._since = False, 0  # words placed in this stretch
        self._deep = [0, 0]  # accesses under way up to the last of these, of the stretch before and of this one
        # (cycle from which it is seen, whether it needs the next word, whether it only drops that)
        self._accesses = deque()
        self._direct = False  # whether the only access under way has come in this cycle, to the word in use
        self._free, self._arrived, self._arriving = self.spec.pending, 0, 0
        self._offered = self._taken = False
        clock.add(self)

    # the pipeline's side
    def response(self):
        return (0,) if self._offered else None

    def take(self):
        self._taken = True
        self.clock.moved()
        return 0

    # the memory's side
    def arrive(self):
        """A word has come back."""
        self._arriving += 1

    def evaluate(self):
        close, urgent, was_open = self._age == PATIENCE, self._free == self.spec.pending, self.builder.open
        word, fresh = self._next_access()
        first = self._ahead[0] if self._ahead else None  # goes before what an access asks for
        if fresh and self.spec.next_word and (first is not None or self._drops(word)):
            word, fresh = None, False
        needs = fresh and not self._run
        full, calm = self._since == self._margin // 2, self._free >= self.spec.pending - self._margin // 2
        held = full and self._deep[0]
        room = len(self._accesses) < self.spec.in_flight and (not needs or (self._free > 0 and not held))
        asked = first if first is not None and self._free > 0 else word if first is None and needs and room else None
        at_rest = self.spec.kept and not self._finding and not self._accesses
        if full and not held:
            self._since, self._deep = 0, [self._deep[1], 0]
        accepted, burst = self.builder.step(asked, close, urgent, self.bursts.can_push())
        if burst is not None:
            self.bursts.push(burst)
        if word is not None and room and (not needs or accepted and first is None):
            self._accept(word, fresh, needs)
        if first is not None and accepted:
            self._free, self._run = self._free - 1, self._run + 1
            self._ahead.pop(0)
        self._calm = calm
        if accepted or not was_open:
            self._age = 0
        elif not close:
            self._age += 1
        if at_rest and self._is_last():
            self.requests.pop()
            self._direct = True
            self._accesses.append((self.clock.now, False, False))
        elif self.spec.kept:
            self._look_up()
        if was_open or self._finding:
            self.clock.moved()

    def _next_access(self):
        """(word, whether it must be fetched) of the access whose turn it is, or (None, False)."""
        if self.spec.kept:
            if not self._finding or self._finding[0][0] > self.clock.now:
                return None, False
            word = self._finding[0][1]
            place = self._hints.get(word)
            return word, word != self._last and (
                place is None or self._placed - place > (self._reach if self._calm else self.spec.kept)
            )
        head = self.requests.head()
        if head is None:
            return None, False
        word = (head[0][0] if self.spec.reads_ahead else head[0]) // self.word_bytes
        return word, word != self._last

    def _is_last(self):
        """Whether the next request is for the word of the access before."""
        head = self.requests.head()
        return head is not None and head[0] // self.word_bytes == self._last

    def _accept(self, word, fresh, needs):
        self._direct = not self._accesses and word == self._last
        self._accesses.append((self.clock.now + (0 if self._direct else QUEUE), fresh, False))
        if self.spec.kept and not fresh and word != self._last and self._placed - self._hints[word] > self.spec.kept:
            self._deep[1] = len(self._accesses)
        self._since += fresh
        self._last = word
        if needs:
            self._hints[word] = self._placed
            self._placed += 1
            self._free -= 1
        elif fresh:
            self._run -= 1
        if self.spec.kept:
            self._finding.popleft()
        else:
            request = self.requests.pop()
            if fresh and self.spec.next_word:
                self._guess = word + 1 if (word + 1) % self.spec.next_word else None
                self._ahead += [] if self._guess is None else [self._guess]
            if fresh and self.spec.reads_ahead:
                self._asked = word if needs else self._asked
                end = min(request[1] // self.word_bytes, word + MAX_BURST // 2 | MAX_BURST - 1)
                self._ahead += range(self._asked + 1, end + 1)
                self._asked = max(self._asked, end)

    def _drops(self, word):
        """Whether an access to the word has to wait, as another one is requested ahead. That is dropped if there is
        room."""
        if self._guess is None or word == self._guess:
            return False
        if len(self._accesses) < self.spec.in_flight:
            self._accesses.append((self.clock.now + QUEUE, True, True))
            self._guess, self._run = None, self._run - 1
            self.clock.moved()
        return True

    def _look_up(self):
        """Stages that stand while the access at their end does."""
        stands = self._finding and self._finding[0][0] <= self.clock.now
        if stands:
            self._finding = deque((cycle + (n > 0), word) for n, (cycle, word) in enumerate(self._finding))
        elif self.requests.head() is not None:
            self._finding.append((self.clock.now + self.spec.lookup, self.requests.pop() // self.word_bytes))

    def commit(self):
        if self._taken or not self._offered:
            self._offered = self._select()
        if self._direct and self._accesses:  # not taken: goes through the queue
            self._accesses[0] = (self.clock.now + QUEUE, False, False)
        self._direct = False
        self._taken = False
        self._arrived += self._arriving
        self._arriving = 0

    def _select(self):
        """Whether the oldest access is offered from the next cycle on."""
        if not self._accesses or self._accesses[0][0] > self.clock.now:
            return False
        if self._accesses[0][1]:
            if self._arrived == 0:
                return False
            self._arrived -= 1
            self._free += 1
        _, _, dropped = self._accesses.popleft()
        self._deep = [max(n - 1, 0) for n in self._deep]
        if dropped:
            self.clock.moved()
        return not dropped
