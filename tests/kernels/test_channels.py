"""Kernels connected by channels: the same bytes as the interpreter under random stalls, at the expected rate."""

from pathlib import Path

import numpy as np
import pytest

from sim.errors import SimulationError
from tests.kernels.groups import ChannelSystem
from tests.kernels.system import Launch
from tests.kernels.test_memory import narrow_words

SOURCE = (Path(__file__).parent / "channels.cl").read_text()
SEEDS = (0, 1, 2, 3)

pytestmark = pytest.mark.verilator


@pytest.fixture(scope="module")
def system():
    system = ChannelSystem(SOURCE, narrow_words(32))  # one bank of narrow words: less to build
    yield system
    system.close()


def ints(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-999, 999, n).astype(np.int32)


def reads(n: int, **more) -> Launch:
    return Launch({"a": ints(n)} | more, {"n": n})


def writes(n: int, size: int | None = None, **scalars) -> Launch:
    return Launch({"out": np.zeros(size or n, np.int32)}, {"n": n} | scalars)


def only(n: int) -> Launch:
    return Launch({}, {"n": n})


def vectors(n: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(4 * n).astype(np.float32)


GROUPS = {
    "stages": lambda n: {
        "source": reads(n),
        "stage_wires": only(n),
        "stage_shallow": only(n),
        "stage_deep": only(n),
        "sink": writes(n),
    },
    "vectors": lambda n: {
        "vector_source": Launch({"v": vectors(n)}, {"n": n}),
        "vector_sink": Launch({"out": np.zeros(4 * n, np.float32)}, {"n": n}),
    },
    "packets": lambda n: {"packet_source": reads(n), "packet_sink": writes(n)},
    "arrays": lambda n: {"array_source": reads(n), "array_middle": only(n), "array_sink": writes(n)},
    "several": lambda n: {"several_source": reads(n), "several_sink": writes(n, 2 * n)},
    "nested": lambda n: {"nested_source": reads(n), "nested_sink": writes(n, n + 1)},
    "two_loops": lambda n: {"two_loops": reads(n), "one_loop": writes(n, 2 * n)},
    "there_and_back": lambda n: {"asks": reads(n, out=np.zeros(n, np.int32)), "answers": only(n)},
    "far_apart": lambda n: {"forks": reads(n), "joins": writes(n)},
    "that_do_not_block": lambda n: {"tries": reads(n, failed=np.zeros(1, np.int32)), "polls": writes(n)},
    "by_themselves": lambda n: {"chain_source": reads(n), "chain_sink": writes(n)},
    "fences": lambda n: {"fenced_source": reads(n), "fenced_sink": writes(n)},
    "pipes": lambda n: {"pipe_source": reads(n), "pipe_sink": writes(n)},
    "pipes_that_do_not_block": lambda n: {"pipe_tries": reads(n), "pipe_polls": writes(n)},
    "calls_at_once": lambda n: {"lane_source": reads(n), "gathers": only(n), "gathered_sink": writes(n, 2)},
    "items": lambda n: {
        "item_source": Launch({"a": ints(n)}, {}, (n,)),
        "item_sink": Launch({"a": ints(n), "out": np.zeros(n, np.int32)}, {}, (n,)),
    },
}


@pytest.mark.parametrize("group", GROUPS)
def test_same_bytes_as_the_interpreter(system, group):
    for n in (8, 64):
        system.check_together(GROUPS[group](n), SEEDS, frozenset({"failed"}))


def test_what_is_left_stays_for_the_next_launch(system):
    channels = {}
    for k, (fills, drains) in enumerate([(20, 0), (30, 25), (0, 25)]):
        launches = ({"fills": Launch({"a": ints(fills, k)}, {"n": fills})} if fills else {}) | (
            {"drains": writes(drains)} if drains else {}
        )
        system.check_together(launches, fresh=k == 0, channels=channels)


def test_a_value_every_cycle_through_every_kind_of_storage(system):
    n = 4000
    (run,) = system.check_together(GROUPS["stages"](n))
    assert max(one["cycles"] for one in run.values()) < n + 400
    for kernel, name, depth in (
        ("source", "plain", 2),
        ("stage_wires", "wires", 0),
        ("stage_shallow", "shallow", 2),
        ("stage_deep", "deep", 50),
    ):
        (end,) = [end for end in run[kernel]["channels"] if end["end"] == "write"]
        assert (end["name"], end["depth"], end["values"]) == (name, depth, n)
        assert end["max_level"] <= depth


def test_state_that_depends_on_calls_that_do_not_wait(system):
    """Through queues each of the four calls would take six cycles and more, one after the other."""
    n = 400
    (run,) = system.check_together(GROUPS["calls_at_once"](n))
    (loop,) = run["gathers"]["loops"]
    assert loop["static_ii"] <= 10
    assert max(one["cycles"] for one in run.values()) < 3 * n * loop["static_ii"] + 400


def test_who_waits_is_said(system):
    """The reader is as fast as the writer here, and the writer waits for memory only; a slow reader shows at the
    writer."""
    n = 400
    (run,) = system.check_together(GROUPS["there_and_back"](n))
    (read,) = [end for end in run["asks"]["channels"] if end["end"] == "read"]
    assert read["read_stall"] > 0.2
    causes = {account["cause"]: account for account in run["answers"]["accounts"]}
    waits = causes["waiting for channel request to have a value"]
    assert waits["cycles"] > n and waits["line"] == next(
        k for k, line in enumerate(SOURCE.splitlines(), 1) if "channel_intel(request) * 5" in line
    )


def test_kernels_that_wait_for_each_other_are_named(system):
    """One end of a channel is not launched: said after a bounded time, with the calls and the state of the channel."""
    line = {
        text: next(k for k, line in enumerate(SOURCE.splitlines(), 1) if text in line)
        for text in ("write_channel_intel(request", "channel_intel(request) * 5")
    }
    with pytest.raises(SimulationError, match="the kernels wait for each other") as error:
        system.start_together({"asks": GROUPS["there_and_back"](8)["asks"]})
        system.loaded.advance()
    told = str(error.value)
    assert "kernel asks has not ended: it is waiting for channel answer to have a value" in told
    assert (
        f"channel request holds 1 of 2 values; kernel asks (line {line['write_channel_intel(request']}) writes it, "
        f"kernel answers (line {line['channel_intel(request) * 5']}) reads it, which does not run"
    ) in told
