"""A registered FIFO: an action of one side in a cycle is visible to the other in the next."""

from collections import deque

__all__ = ["Fifo", "Overflow"]


class Overflow(Exception):
    """A producer that cannot stop found no room."""


class Fifo:
    """First in, first out, with room that can be reserved ahead (credits).

    A producer that can stop asks ``can_push``. One that cannot takes a credit by ``reserve`` long before it
    pushes, and gives it back by ``cancel`` when it turns out not to push. An item is on offer ``latency`` cycles
    after its push at the earliest.
    """

    def __init__(self, clock, depth, name, latency=1):
        self.clock, self.depth, self.name, self.latency = clock, depth, name, latency
        self._items, self._pushed = deque(), []
        self._level, self._credits, self._returned = 0, depth, 0
        self._stalled_in = self._stalled_out = False
        clock.add(self)

    # the producer's side
    def available(self):
        """Whether a credit can be taken."""
        return self._credits > 0 and not self._stalled_in

    def reserve(self):
        self._credits -= 1

    def cancel(self):
        self._returned += 1

    def can_push(self):
        return self._level < self.depth and not self._stalled_in

    def push(self, item):
        if self._level + len(self._pushed) >= self.depth:
            raise Overflow(f"{self.name}: depth {self.depth}")
        self._pushed.append((item, self.clock.now + self.latency))
        self.clock.moved()

    # the consumer's side
    def head(self):
        """A 1-tuple with the item on offer, or None."""
        if not self._items or self._stalled_out:
            return None
        item, since = self._items[0]
        return (item,) if since <= self.clock.now else None

    def pop(self):
        self._returned += 1
        self.clock.moved()
        return self._items.popleft()[0]

    def empty(self):
        """Whether nothing is inside."""
        return self._level == 0

    def evaluate(self):
        """Nothing happens inside: both sides act."""

    def commit(self):
        self._items.extend(self._pushed)
        self._pushed.clear()
        self._level = len(self._items)
        self._credits += self._returned
        self._returned = 0
        if self.clock.stalls:
            self._stalled_in = self.clock.stall(self._stalled_in)
            self._stalled_out = self.clock.stall(self._stalled_out)
