"""Every rule of the machine is needed: without it some of the default nests fail."""

from dataclasses import fields, replace

import pytest

from .fifo import Overflow
from .meaning import Counted
from .nests import AHEAD, FAILURES, MIXED, check
from .simulate import Deadlock, Rules, simulate
from .spec import LevelSpec, LoopSpec, OperationSpec, RecurrenceSpec, UnitSpec

#: What each broken rule shows as.
SYMPTOMS = {
    "waits_for_answer": (AssertionError, KeyError, TypeError),  # more tokens than iterations
    "spacing": (AssertionError, TypeError),  # a value read before it is written
    "waits_for_ready": (AssertionError, TypeError),
    "ready_is_consumed": (AssertionError, TypeError),
    "last_sets_nothing": (AssertionError, TypeError),  # the next invocation of the slot goes too early
    "credits": (Overflow,),
    "credit_back_when_off": (Deadlock,),
    "join_skips_off": (Deadlock,),
    "exits_in_order": (AssertionError,),
    "exit_reserved_at_start": (Deadlock,),
    "drops_behind_last": (AssertionError, Deadlock),
    "end_takes_back": (AssertionError, KeyError, IndexError),  # a token of a slot that does not run
    "epochs": (AssertionError, KeyError, IndexError),
    "first_waits_where_undecided": (AssertionError,),
}


def first_failure(rules, sizes, seeds=240):
    for seed in range(seeds):
        try:
            check(seed, sizes, rules)
        except FAILURES as error:
            return error
    return None


@pytest.mark.parametrize("rule", SYMPTOMS)
def test_broken_rule_is_noticed(rule):
    sizes = AHEAD if rule == "first_waits_where_undecided" else MIXED
    error = first_failure(Rules(**{rule: False}), sizes)
    assert isinstance(error, SYMPTOMS[rule]), repr(error)


def test_every_rule_is_tested():
    assert {field.name for field in fields(Rules)} == {*SYMPTOMS, "refuses_stuck"}


def stopping_cluster(requests, in_flight, depth=6, stage=1):
    """A stall-enabled cluster that asks at ``stage`` and reaches its bypass at ``depth``."""
    operation = OperationSpec("load", stage, requests, UnitSpec((1, 1), in_flight))
    return LoopSpec(
        "loop",
        (LevelSpec(depth, (operation,), bypass=8, stall_free=False), LevelSpec(1)),
        (RecurrenceSpec("index", (0, 0), (0, 0)),),
        (0, 0),
    )


@pytest.mark.parametrize("requests, in_flight", [(4, 1), (1, 4), (2, 3)])
def test_stopped_cluster_needs_room_for_what_it_holds(requests, in_flight):
    """Exactly as deep as asked runs; one less would stop for ever, and is refused."""
    meaning = Counted(lambda loop, indices: 30)
    assert simulate(stopping_cluster(requests, in_flight), meaning, [()]).results == [30]
    shallow = stopping_cluster(max(1, requests - 1), in_flight if requests > 1 else in_flight - 1)
    assert shallow.stuck() == ("load",)
    with pytest.raises(ValueError, match="too shallow.*load"):
        simulate(shallow, meaning, [()])
    with pytest.raises(Deadlock):
        simulate(shallow, meaning, [()], rules=Rules(refuses_stuck=False))


def test_stall_free_cluster_needs_none():
    spec = stopping_cluster(1, 1)
    spec = replace(spec, levels=(replace(spec.levels[0], stall_free=True), spec.levels[1]))
    assert simulate(spec, Counted(lambda loop, indices: 30), [()]).results == [30]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"slots": 0}, "slots"),
        ({"continues": (0, 9)}, "no point"),
        ({"levels": (LevelSpec(1), LevelSpec(1))}, "bypass"),
        ({"recurrences": (RecurrenceSpec("r", (0, 0), (5, 0)),)}, "does not exist"),
    ],
)
def test_impossible_machines_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(stopping_cluster(9, 9), **change)


def test_use_after_definition_is_refused():
    with pytest.raises(ValueError, match="after its definition"):
        RecurrenceSpec("r", (0, 3), (0, 2))
