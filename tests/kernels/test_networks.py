"""Random networks of kernels under random stalls, against the interpreter."""

import random

import numpy as np
import pytest

from tests.kernels.campaign import run_system, wrong
from tests.kernels.groups import ChannelSystem
from tests.kernels.networks import network
from tests.kernels.system import Launch
from tests.kernels.test_memory import narrow_words

#: Networks in one simulated system.
TOGETHER = 4

pytestmark = pytest.mark.verilator


def check(first: int, networks: int = TOGETHER, seeds=(0, 1, 2)) -> int:
    """Build networks number ``first`` and on into one system and run each; returns how many kernels there were."""
    made = [network(f"n{number}", random.Random(number)) for number in range(first, first + networks)]
    system = ChannelSystem("\n".join(one.text for one in made), narrow_words())
    try:
        for one in made:
            for n in (1, 25):
                launches = {
                    kernel: Launch(
                        {
                            "a": np.random.default_rng(k).integers(-99, 99, max(n, 8)).astype(np.int32),
                            "out": np.zeros(n, np.int32),
                        },
                        {"n": n},
                    )
                    for k, kernel in enumerate(one.kernels)
                }
                system.check_together(launches, seeds)
    finally:
        system.close()
    return sum(len(one.kernels) for one in made)


def test_networks():
    assert check(0) >= 8


def test_networks_stop_only_where_it_was_said():
    outcome = run_system(10, 2, (0, 1))
    assert not outcome.faults, outcome.faults[0]
    assert {what.split(", ")[1] for what in outcome.counts} == {"ended", "stopped"}, "too few kinds of networks to tell"


@pytest.mark.parametrize(
    "said, ended, ends, fault",
    [
        ("certain", False, True, False),
        ("certain", True, True, True),
        ("proved", False, True, True),
        ("proved", True, True, False),
        ("possible", True, True, False),
        ("possible", False, False, False),
        ("undecided", False, True, True),
        ("possible", True, False, True),
    ],
)
def test_what_is_a_fault(said, ended, ends, fault):
    assert bool(wrong(said, ended, ends)) == fault
