"""Channels in kernels with barriers, and memory accesses ordered by channel values, against the interpreter under
stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.groups import ChannelSystem
from tests.kernels.system import Launch
from tests.kernels.test_memory import narrow_words

SOURCE = (Path(__file__).parent / "channel_groups.cl").read_text()
SEEDS = (0, 1, 2, 3)
RNG = np.random.default_rng(11)

pytestmark = pytest.mark.verilator


@pytest.fixture(scope="module")
def system():
    system = ChannelSystem(SOURCE, narrow_words(32))
    yield system
    system.close()


def ints(n: int) -> np.ndarray:
    return RNG.integers(-999, 999, n).astype(np.int32)


def zeros(n: int) -> np.ndarray:
    return np.zeros(n, np.int32)


def items(n: int, size: int, scalars=None, **buffers) -> Launch:
    return Launch(buffers, scalars or {}, (n,), (size,))


@pytest.mark.parametrize("groups, size", [(5, 2), (7, 16), (3, 64)])
def test_before_and_behind_a_barrier(system, groups, size):
    n = groups * size
    system.check_together(
        {"turn": items(n, size, a=ints(n)), "take_turn": Launch({"out": zeros(n)}, {"groups": groups, "size": size})},
        SEEDS,
    )


@pytest.mark.parametrize("groups, size, rounds", [(3, 4, 5), (4, 32, 3)])
def test_in_a_loop_with_barriers(system, groups, size, rounds):
    n = groups * size
    system.check_together(
        {
            "tiles": items(n, size, {"rounds": rounds}, a=ints(n), out=zeros(n)),
            "feed": Launch({"b": ints(n * rounds)}, {"n": n * rounds}),
            "gather": Launch({"sums": zeros(n * rounds)}, {"n": n * rounds}),
        },
        SEEDS,
    )


@pytest.mark.parametrize("groups, size", [(4, 1), (5, 8), (3, 40)])
def test_a_group_asks_before_it_is_answered(system, groups, size):
    n = groups * size
    system.check_together(
        {
            "asks_all": items(n, size, a=ints(n), out=zeros(n)),
            "answers_all": Launch({}, {"groups": groups, "size": size}),
        },
        SEEDS,
    )


def test_memory_goes_to_and_fro(system):
    n, shared = 60, zeros(2)
    system.check_together(
        {
            "puts": Launch({"a": ints(n), "shared": shared}, {"n": n}),
            "gets": Launch({"shared": shared, "out": zeros(n)}, {"n": n}),
        },
        SEEDS,
    )


def test_blocks_of_memory(system):
    blocks, shared = 12, zeros(12 * 24)
    system.check_together(
        {
            "puts_blocks": Launch({"a": ints(blocks * 24), "shared": shared}, {"blocks": blocks}),
            "gets_blocks": Launch({"shared": shared, "out": zeros(blocks)}, {"blocks": blocks}),
        },
        SEEDS,
    )


def test_work_items_tell_of_what_they_stored(system):
    n, shared = 64, zeros(64)
    system.check_together(
        {"item_puts": items(n, 8, a=ints(n), shared=shared), "item_gets": items(n, 8, shared=shared, out=zeros(n))},
        SEEDS,
    )


def test_fences_between_work_items(system):
    n = 64
    system.check("fenced_items", [items(n, 8, a=ints(n), out=zeros(n), more=zeros(n))], SEEDS)
