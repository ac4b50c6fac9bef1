"""Injects faults into the generated hardware, to check that the kernels here detect them.

    python -m tests.kernels.mutations

Each mutation violates one rule of how kernels become hardware. One line is printed for each: detected, and how, or
missed.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from unittest.mock import patch

from amaranth import C

from hls.planning.schedule import region as region_plan
from hls.rtl.kernel import KernelHardware
from hls.rtl.level import LevelBuilder
from hls.rtl.queues import LevelQueues
from hls.rtl.region import RegionBuilder
from sim.errors import SimulationError

from . import test_loops, test_memory, test_recurrences
from .system import Difference, KernelSystem

__all__ = ["MUTATIONS", "Mutation", "notice"]

SEEDS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Mutation:
    """``broken`` is the rule that no longer holds, ``kernel`` the one that should show it, ``owner.name`` what is
    replaced by what ``make`` makes of it."""

    broken: str
    kernel: str
    owner: object
    name: str
    make: Callable


def _always(value):
    return lambda original: lambda *args, **kwargs: value


def _say_again(original):
    return lambda self, builder, stage: C(1)


def _no_condition():
    """The method without the answer of ``_continues``: as if no token were the last."""

    def make(original):
        def method(self, *args):
            with patch.object(RegionBuilder, "_continues", lambda self, builder, stage: C(1)):
                return original(self, *args)

        return method

    return make


def _join_waits_for_all(original):
    def response(self, *args):
        _, stream, on = original(self, *args)
        return stream.valid, stream, on

    return response


def _initial_value_for_ever(original):
    def read(self, arg, stage):
        return self.at(self.context.loops.initial(self.region, self._carried[arg].index), stage)

    return read


def _no_credits(original):
    def queue(self, *args):
        original(self, *args)
        self.room.clear()

    return queue


def _without_units(direction):
    """The kernel's control made as if there were no units of one direction."""

    def make(original):
        def control(self):
            units = self.context.servers.units
            self.context.servers.units = {op: u for op, u in units.items() if u.access.direction != direction}
            if direction == "store":
                self.context.servers.unsent.clear()
            original(self)
            self.context.servers.units = units

        return control

    return make


def _first_slot(original):
    def event(self, builder, event, stage, condition):
        original(self, builder, event, stage, condition)
        if self.plan.slots > 1:
            builder.m.d.comb += event.slot.eq(0)

    return event


MUTATIONS = (
    Mutation(
        "a token waits until the value of the one before it is there",
        "across_a_second_load",
        LevelQueues,
        "_slot_ready",
        _always([]),
    ),
    Mutation(
        "the last token of an invocation makes no slot ready",
        "across_a_second_load",
        RegionBuilder,
        "_announce_ready",
        _no_condition(),
    ),
    Mutation("the last token lets nothing issue behind it", "triangular", RegionBuilder, "_issues_next", _say_again),
    Mutation(
        "the header waits for the recurrences of level 0",
        "across_a_load",
        region_plan,
        "_again",
        lambda original: lambda carried, decide, ii, stages: (decide, 0),
    ),
    Mutation(
        "the header keeps to the II",
        "slow_in_level_0",
        region_plan,
        "_again",
        lambda original: lambda carried, decide, ii, stages: original(carried, decide, 1, stages),
    ),
    Mutation(
        "carried values come back from the slot's register",
        "in_level_0",
        LevelBuilder,
        "_read_carried",
        _initial_value_for_ever,
    ),
    Mutation(
        "values are written to the slot they belong to", "interleaved_sums", RegionBuilder, "_slot_event", _first_slot
    ),
    Mutation(
        "a join waits for no response of what was off", "predicated", LevelQueues, "_response", _join_waits_for_all
    ),
    Mutation("stores and loads that are off are not made", "predicated", LevelQueues, "_enabled", _always(None)),
    Mutation("a level takes room in the queues before a token enters", "gather", LevelQueues, "_queue", _no_credits),
    Mutation("a run ends when its stores are in memory", "copy", KernelHardware, "_control", _without_units("store")),
    Mutation(
        "words fetched by one run are not used by the next", "copy", KernelHardware, "_control", _without_units("load")
    ),
    Mutation("tokens behind the last one of a late exit are dropped", "late_exit", LevelQueues, "_over", _always(C(0))),
)


def notice(mutation: Mutation) -> str:
    """What the mutated machine shows as; empty where nothing is noticed."""
    system = None
    with patch.object(mutation.owner, mutation.name, mutation.make(getattr(mutation.owner, mutation.name))):
        try:
            system = KernelSystem(*_alone(mutation.kernel))
            system.check(mutation.kernel, _launches(mutation.kernel), SEEDS)
        except (Difference, SimulationError) as error:
            return str(error)
        finally:
            if system is not None:
                system.close()
    return ""


def _alone(kernel: str):
    """The source of one kernel, and a board that builds quickly."""
    for module in (test_loops, test_recurrences, test_memory):
        found = re.search(rf"^__kernel void {kernel}\(.*?^}}", module.SOURCE, re.MULTILINE | re.DOTALL)
        if found:
            head = module.SOURCE[: module.SOURCE.index("__kernel")]
            return head + found[0], test_memory.narrow_words()
    raise ValueError(f"no kernel {kernel}")


def _launches(kernel: str) -> list:
    if f"void {kernel}(" in test_loops.SOURCE:
        return [test_loops.launch(n) for n in test_loops.SIZES]
    module = test_recurrences if f"void {kernel}(" in test_recurrences.SOURCE else test_memory
    return [module.launch(kernel, n) for n in module.SIZES]


def main() -> int:
    """Run all of them, or those whose rule has a word of the command line in it."""
    missed = 0
    for mutation in MUTATIONS:
        if sys.argv[1:] and not any(word in mutation.broken for word in sys.argv[1:]):
            continue
        found = notice(mutation)
        missed += not found
        print(f"{'noticed' if found else 'MISSED '}: {mutation.broken} ({mutation.kernel}): {found[:150]}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
