"""The clock, and a run from requests to results."""

import random
from dataclasses import dataclass

from .loop import Loop

__all__ = ["ALL_RULES", "Clock", "Deadlock", "Figures", "Rules", "Run", "simulate"]


class Deadlock(Exception):
    """Nothing has moved for longer than any stall lasts."""


@dataclass(frozen=True)
class Rules:
    """Each rule of the machine that can be broken, to show that a test notices. All hold by default."""

    waits_for_answer: bool = True  #: a slot issues again only when its last token has said so
    spacing: bool = True  #: the answer waits for the recurrences of level 0, not only for the decision to go on
    waits_for_ready: bool = True  #: a token waits at a later level until the value it needs is there
    ready_is_consumed: bool = True  #: a value lets one token in
    last_sets_nothing: bool = True  #: the last token of an invocation leaves its slot's ready bits alone
    credits: bool = True  #: a stall-free cluster takes its room before a token enters
    credit_back_when_off: bool = True  #: an operation that is off gives its room back
    join_skips_off: bool = True  #: a join waits for the responses of operations that were asked, only
    exits_in_order: bool = True  #: results leave in the order in which their invocations started
    refuses_stuck: bool = True  #: a nest in which a stall-enabled cluster can stop for ever is not built
    exit_reserved_at_start: bool = True  #: the room of a result is reserved when its invocation starts
    drops_behind_last: bool = True  #: the level that decides drops what a speculative loop issued in vain
    end_takes_back: bool = True  #: the end of a speculative invocation takes back answers that did not issue yet
    epochs: bool = True  #: a token issued in vain does not let the slot's next invocation go on
    first_waits_where_undecided: bool = True  #: nobody knows yet which token was the last: all wait for the one before


ALL_RULES = Rules()


class Clock:
    """Runs all parts in step: first every ``evaluate``, which sees only the last cycle, then every ``commit``."""

    IDLE = 400  #: cycles without any movement that are a deadlock

    def __init__(self, seed=0, stalls=0.0):
        self.random, self.stalls = random.Random(seed), stalls
        self.now = self._moved = 0
        self._parts = []

    def add(self, part):
        self._parts.append(part)

    def moved(self):
        self._moved = self.now

    def stall(self, stalled):
        """The next state of a random stall: single cycles and bursts. ``stalls`` is the share of new ones."""
        if not self.stalls:
            return False
        return self.random.random() < (0.7 if stalled else self.stalls)

    def step(self):
        for part in self._parts:
            part.evaluate()
        for part in self._parts:
            part.commit()
        self.now += 1
        if self.now - self._moved > self.IDLE:
            raise Deadlock(f"nothing has moved since cycle {self._moved}")


@dataclass(frozen=True)
class Figures:
    """What one loop's header counted."""

    issues: tuple  #: (cycle, invocation) of every token
    invocations: int

    @property
    def issued(self):
        return len(self.issues)

    @property
    def span(self):
        """Cycles from the first issue to the last, both included."""
        return self.issues[-1][0] - self.issues[0][0] + 1 if self.issues else 0

    @property
    def measured_ii(self):
        return self.span / self.issued


@dataclass(frozen=True)
class Run:
    cycles: int  #: until the last result was taken
    results: list
    loops: dict  #: name -> Figures


def simulate(spec, meaning, requests, seed=0, stalls=0.0, rules=ALL_RULES, limit=200_000):
    """Runs the nest on the requests, one after the other as it takes them.

    Raises ``ValueError`` for a nest that can get stuck, :class:`Deadlock`, or ``TimeoutError`` after
    ``limit`` cycles.
    """
    if rules.refuses_stuck and spec.stuck():
        raise ValueError(f"request FIFOs too shallow behind stall-enabled clusters: {', '.join(spec.stuck())}")
    clock, loops = Clock(seed, stalls), {}
    root = Loop(clock, spec, meaning, rules, requests=2, loops=loops)
    waiting, results = list(requests), []
    while len(results) < len(requests):
        if waiting and root.requests.can_push():
            root.requests.push(waiting.pop(0))
        if root.response() is not None:
            results.append(root.take())
        clock.step()
        if clock.now > limit:
            raise TimeoutError(f"{limit} cycles and {len(results)} of {len(requests)} results")
    figures = {name: Figures(tuple(loop.header.issues), loop.header.started) for name, loop in loops.items()}
    return Run(clock.now, results, figures)
