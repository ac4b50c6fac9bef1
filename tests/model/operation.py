"""An in-order unit with a request FIFO before it and room for its responses after it."""

from collections import deque

from .fifo import Fifo

__all__ = ["Unit"]


class Unit:
    """Takes a request a cycle while a response has room, and answers in order, at most one a cycle."""

    def __init__(self, clock, spec, depth, name, answer):
        """``answer(payload)`` is the response; it is called in the order in which requests are taken."""
        self.clock, self.spec, self.answer = clock, spec, answer
        self.requests = Fifo(clock, depth, f"{name}.requests")
        self.responses = Fifo(clock, spec.in_flight, f"{name}.responses")
        self._running = deque()  # (cycle of the push, response)
        clock.add(self)

    def response(self):
        return self.responses.head()

    def take(self):
        return self.responses.pop()

    def evaluate(self):
        request = self.requests.head()
        if request is not None and self.responses.available():
            self.responses.reserve()
            due = self.clock.now + self.clock.random.randint(*self.spec.latency) - 1
            self._running.append((due, self.answer(self.requests.pop())))
        if self._running and self._running[0][0] <= self.clock.now:
            self.responses.push(self._running.popleft()[1])
        elif self._running:
            self.clock.moved()  # waiting for a latency to pass is no deadlock

    def commit(self):
        """All state is in the FIFOs and in what only this unit sees."""
