"""Random networks of kernels under random stalls, against the interpreter."""

import random

import numpy as np
import pytest

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
                launches = {kernel: Launch({"a": np.random.default_rng(k).integers(-99, 99, max(n, 8)).astype(np.int32),
                                            "out": np.zeros(n, np.int32)}, {"n": n}) for k, kernel in enumerate(one.kernels)}
                system.check_together(launches, seeds)
    finally:
        system.close()
    return sum(len(one.kernels) for one in made)


def test_networks():
    assert check(0) >= 8
