"""Random nests: machines of every shape, whose tokens mix all values available to them."""

import random
from collections import Counter
from dataclasses import dataclass, replace
from zlib import crc32

from .fifo import Overflow
from .meaning import reference
from .simulate import ALL_RULES, Deadlock, simulate
from .spec import LevelSpec, LoopSpec, OperationSpec, RecurrenceSpec, UnitSpec

__all__ = ["AHEAD", "FAILURES", "MIXED", "Mixture", "Nest", "Sizes", "check", "random_nest", "smallest_failure"]


#: What a wrong machine shows as; anything else is an error of the nest itself.
FAILURES = (AssertionError, Deadlock, KeyError, Overflow, TimeoutError, TypeError)


@dataclass(frozen=True)
class Sizes:
    """Bounds of a random nest; smaller ones make smaller counterexamples."""

    nesting: int = 3
    levels: int = 3
    depth: int = 5
    row: int = 2
    recurrences: int = 2  #: beside the index
    slots: int = 5
    fifo: int = 6
    latency: int = 20
    trips: int = 6
    requests: int = 3

    def smaller(self):
        """Half of everything, but never less than 1."""
        return Sizes(**{name: max(1, value // 2) for name, value in vars(self).items()})


MIXED = Sizes()
#: Recurrences in the levels that a late exit has not decided about yet.
AHEAD = Sizes(nesting=2, levels=5, recurrences=5, depth=8, fifo=8, trips=3)


def mix(name, *values):
    """A number of 40 bits that depends on the name and on every value."""
    return hash((crc32(name.encode()), *values)) & 0xFF_FFFF_FFFF


@dataclass(frozen=True)
class Mixture:
    """A meaning in which everything depends on all it may see, so that no wrong value goes unnoticed."""

    sees: dict  #: (loop, what is computed) -> names it depends on
    trips: int  #: greatest number of iterations
    by_data: frozenset  #: loops whose iterations end when some value says so, instead of by count
    predicated: frozenset  #: operations that are off at times
    ahead: frozenset  #: operations that speculative tokens ask, some of them in vain
    records: list  #: (unit, payload) of everything the units were asked, in their order

    def _seen(self, loop, what, values):
        return mix(f"{loop.name}.{what}", *(values[name] for name in self.sees[loop.name, what]))

    def initial(self, loop, request):
        return {r.name: 0 if r.name == "index" else mix(r.name, request) for r in loop.recurrences}

    def define(self, loop, recurrence, values):
        if recurrence.name == "index":
            return values["index"] + 1
        return self._seen(loop, recurrence.name, values)

    def on(self, loop, operation, values):
        return operation.name not in self.predicated or self._seen(loop, operation.name, values) % 3 > 0

    def request(self, loop, operation, values):
        return mix("request", self._seen(loop, operation.name, values))

    def continues(self, loop, values):
        if loop.name in self.by_data:
            going = self._seen(loop, "continues", values) % 4 > 0
            return going and values["next index"] < self.trips
        return values["next index"] <= mix("trips", values["request"]) % self.trips

    def result(self, loop, values):
        return self._seen(loop, "result", values)

    def answer(self, operation, payload):
        self.records.append((operation.name, payload))
        return mix("answer", payload)


@dataclass(frozen=True)
class Nest:
    spec: LoopSpec
    meaning: Mixture
    requests: tuple
    in_order: bool  #: no loop has a second slot, so every unit sees the sequential order


class _Generator:
    def __init__(self, seed, sizes):
        self.random, self.sizes, self.names = random.Random(seed), sizes, 0
        self.sees, self.by_data, self.predicated, self.ahead, self.slots = {}, set(), set(), set(), []

    def loop(self, nesting):
        rng, sizes = self.random, self.sizes
        name = self._name("loop")
        many = rng.randint(1, sizes.levels)
        # the level that decides, where tokens are issued before it is known whether there are any
        decides = rng.randint(1, many - 1) if many > 1 and rng.random() < 0.4 else 0
        levels = tuple(self._level(nesting, last=k == many - 1, ahead=k < decides, top=k == 0) for k in range(many))
        points = [(k, stage) for k, level in enumerate(levels) for stage in range(level.depth)]
        late = lambda: rng.choice(points[: rng.choice([1, 2, len(points)])])  # often early
        index = RecurrenceSpec("index", (0, 0), (0, rng.randrange(levels[0].depth)) if decides else late())
        others = [self._recurrence(points, decides) for _ in range(rng.randint(0, sizes.recurrences))]
        continues = (decides, rng.randrange(levels[decides].depth)) if decides else max(index.define, late())
        self.slots.append(rng.choice([1, rng.randint(1, sizes.slots)]))
        entries = rng.randint(1, 2 * sizes.fifo)
        spec = LoopSpec(name, levels, (index, *others), continues, self.slots[-1], entries, bool(decides))
        self._choose_what_is_seen(spec, points)
        return spec

    def _name(self, kind):
        self.names += 1
        return f"{kind}{self.names}"

    def _recurrence(self, points, decides):
        use, define = sorted([self.random.choice(points), self.random.choice(points)])
        if use[0] < decides:  # nothing comes back from behind the decision
            define = (use[0], define[1] if define[0] == use[0] else use[1])
        return RecurrenceSpec(self._name("carried"), use, define)

    def _level(self, nesting, last, ahead, top):
        rng, sizes = self.random, self.sizes
        depth, stall_free = rng.randint(1, sizes.depth), rng.random() < 0.6
        ii = rng.choice([1, 1, rng.randint(1, 2 * depth if top else depth)])
        if last:
            return LevelSpec(depth, stall_free=stall_free, ii=ii)
        row = tuple(
            self._operation(nesting, depth, stall_free, ahead) for _ in range(rng.randint(1 - ahead, sizes.row))
        )
        return LevelSpec(depth, row, rng.randint(1, sizes.fifo), stall_free, ii)

    def _operation(self, nesting, depth, stall_free, ahead):
        rng, sizes, stage = self.random, self.sizes, self.random.randrange(depth)
        name = self._name("operation")
        if rng.random() < 0.4:
            self.predicated.add(name)
        if ahead:
            self.ahead.add(name)
        if nesting > 1 and not ahead and rng.random() < 0.5:
            unit = self.loop(nesting - 1)
        else:
            least = rng.randint(1, sizes.latency)
            unit = UnitSpec((least, rng.randint(least, sizes.latency)), rng.randint(1, sizes.fifo))
        operation = OperationSpec(name, stage, rng.randint(1, sizes.fifo), unit)
        missing = 0 if stall_free else depth - stage - operation.capacity
        return replace(operation, requests=operation.requests + max(0, missing))

    def _choose_what_is_seen(self, spec, points):
        """Everything visible at its point, as the machine orders it; so a value that comes late is noticed."""

        def visible(point, also=False):
            names = ["request", *(r.name for r in spec.recurrences if r.use <= point)]
            names += [f"next {r.name}" for r in spec.recurrences if r.define < point or also and r.define == point]
            return names + [o.name for level in spec.levels[: point[0]] for o in level.row]

        for r in spec.recurrences:
            self.sees[spec.name, r.name] = visible(r.define)
        for k, level in enumerate(spec.levels):
            for operation in level.row:
                self.sees[spec.name, operation.name] = visible((k, operation.stage), also=True)
        self.sees[spec.name, "continues"] = visible(spec.continues, also=True)
        self.sees[spec.name, "result"] = visible(points[-1], also=True)
        if self.random.random() < 0.3:
            self.by_data.add(spec.name)


def random_nest(seed, sizes=MIXED):
    """The nest of that seed."""
    generator = _Generator(seed, sizes)
    spec = generator.loop(sizes.nesting)
    meaning = Mixture(
        generator.sees,
        sizes.trips,
        frozenset(generator.by_data),
        frozenset(generator.predicated),
        frozenset(generator.ahead),
        [],
    )
    requests = tuple(range(generator.random.randint(1, sizes.requests)))
    return Nest(spec, meaning, requests, in_order=max(generator.slots) == 1)


def _compare_units(nest, asked, expected):
    """Units were asked what the reference asks, in its order where that is fixed; in vain only ahead of a late exit."""
    ahead = nest.meaning.ahead
    in_vain = Counter(asked) - Counter(expected)
    assert {name for name, _ in in_vain} <= ahead, "units were asked other things than the reference asks"
    assert not Counter(expected) - Counter(asked), "units were not asked all that the reference asks"
    if not nest.in_order:
        return
    for unit in {name for name, _ in expected}:
        rest = iter([payload for name, payload in asked if name == unit])
        wanted = [payload for name, payload in expected if name == unit]
        assert all(payload in rest for payload in wanted), f"{unit} saw another order than the reference"


def check(seed, sizes=MIXED, rules=ALL_RULES):
    """Runs the nest of that seed under random stalls.

    Returns its figures; raises ``AssertionError`` where it differs from the reference, and what
    :func:`~.simulate.simulate` raises where it stops.
    """
    nest = random_nest(seed, sizes)
    run = simulate(nest.spec, nest.meaning, nest.requests, seed, stalls=[0.0, 0.05, 0.2][seed % 3], rules=rules)
    asked = nest.meaning.records.copy()
    nest.meaning.records.clear()
    expected = [reference(nest.spec, nest.meaning, request) for request in nest.requests]
    assert run.results == expected, f"wrong results: {run.results}, not {expected}"
    _compare_units(nest, asked, nest.meaning.records)
    return run


def smallest_failure(sizes=MIXED, rules=ALL_RULES, seeds=60):
    """The first failing seed among the smallest sizes that fail: ``(seed, sizes, error)``, or None."""
    steps = [sizes]
    while steps[-1] != steps[-1].smaller():
        steps.append(steps[-1].smaller())
    for step in reversed(steps):
        for seed in range(seeds):
            try:
                check(seed, step, rules)
            except FAILURES as error:
                return seed, step, error
    return None
