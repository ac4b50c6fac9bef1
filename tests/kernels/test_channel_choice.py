"""Calls on channels selected at run time: the same bytes as the interpreter under random stalls, at the expected
rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.groups import ChannelSystem
from tests.kernels.system import Launch
from tests.kernels.test_channels import SEEDS, ints, only, reads, writes
from tests.kernels.test_memory import narrow_words

SOURCE = (Path(__file__).parent / "channel_choice.cl").read_text()

pytestmark = pytest.mark.verilator


@pytest.fixture(scope="module")
def system():
    system = ChannelSystem(SOURCE, narrow_words(32))
    yield system
    system.close()


def both(n: int) -> Launch:
    return reads(n, out=np.zeros(n, np.int32))


GROUPS = {
    "in_turn": lambda n: {"deal": reads(n), "gather": writes(n)},
    "by_data": lambda n: {"sends": reads(n), "receives": both(n)},
    "that_do_not_block": lambda n: {"tries": reads(n), "polls": writes(n, 2)},
    "rows": lambda n: {"upper": reads(n), "lower": reads(n), "both_rows": writes(n)},
    "wide": lambda n: {"packs": reads(n), "unpacks": writes(n)},
    "several": lambda n: {"swaps": reads(n), "unswaps": both(n)},
    "there_and_back": lambda n: {"asks": both(n), "tells": only(n)},
    "items": lambda n: {
        "item_source": Launch({"a": ints(n)}, {}, (n,)),
        "item_sink": Launch({"a": ints(n), "out": np.zeros(n, np.int32)}, {}, (n,)),
    },
    "pipes": lambda n: {"pipe_source": reads(n), "pipe_sink": both(n)},
}


@pytest.mark.parametrize("group", GROUPS)
def test_same_bytes_as_the_interpreter(system, group):
    for n in (8, 64):
        system.check_together(GROUPS[group](n), SEEDS)


def test_a_value_every_cycle(system):
    n = 2000
    (run,) = system.check_together(GROUPS["in_turn"](n))
    assert max(one["cycles"] for one in run.values()) < n + 400
    ends = {end["name"]: end["values"] for end in run["gather"]["channels"]}
    assert ends == {f"dealt[{k}]": n // 4 for k in range(4)}
