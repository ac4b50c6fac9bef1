"""The header part issues the same tokens in the same cycles as the model's header."""

import random

import pytest

from ..rtl_lib.header_bench import run
from .meaning import Counted
from .simulate import simulate
from .spec import LevelSpec, LoopSpec, RecurrenceSpec


@pytest.mark.parametrize("slots", [1, 2, 3, 5])
@pytest.mark.parametrize("depth", [0, 1, 3, 6])
def test_same_cycles(slots, depth):
    """``depth``: cycles from the issue of a token to its answer."""
    rng = random.Random(10 * slots + depth)
    trips = [rng.choice([1, 2, 3, 9]) for _ in range(20)]
    part = [(cycle, invocation) for cycle, invocation, _ in run(trips, slots, 64, depth)]
    index = RecurrenceSpec("index", (0, 0), (0, depth))
    loop = LoopSpec("loop", (LevelSpec(depth + 1),), (index,), (0, depth), slots, 64)
    model = simulate(loop, Counted(lambda _, request: trips[request[0]]), [(k,) for k in range(20)])
    shift = part[0][0] - model.loops["loop"].issues[0][0]
    assert part == [(cycle + shift, invocation) for cycle, invocation in model.loops["loop"].issues]
