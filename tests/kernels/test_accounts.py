"""Accounts of the cycles of a run: waits are attributed to their operation, and only latency is ramp-up or drain."""

from pathlib import Path

import numpy as np
import pytest

from hls.ir.launch import OVERLAP
from hls.target.board import load_board
from sim.progress import read_counters

from .system import KernelSystem, Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "accounts.cl").read_text()
RNG = np.random.default_rng(5)
LATENCY = load_board("de5net").read_latency


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE)
    yield system
    system.close()


def _accounts(stats) -> dict[str, int]:
    found: dict[str, int] = {}
    for account in stats["accounts"]:
        found[account["cause"]] = found.get(account["cause"], 0) + account["cycles"]
    assert sum(found.values()) == stats["cycles"]
    return found


def _latency(accounts) -> int:
    return accounts["ramp-up"] + accounts["drain"] + accounts["latency between iterations"]


def _check(system, kernel: str, launch: Launch) -> tuple[dict, dict[str, int]]:
    (stats,) = system.check(kernel, [launch])
    return stats, _accounts(stats)


def test_interval_of_an_outer_loop_is_that_at_which_its_iterations_leave(system):
    m, v = RNG.integers(0, 100, 128 * 128).astype(np.int32), RNG.integers(0, 100, 128).astype(np.int32)
    stats, accounts = _check(system, "sum_of_rows", Launch({"m": m, "v": v, "out": np.zeros(1, np.int32)}))
    outer = next(loop for loop in stats["loops"] if loop["label"] == "r")
    # the inner loop issues an iteration a cycle: the run's own length says how far apart the rows are
    assert abs(outer["measured_ii"] - 128) <= 1, outer
    assert abs(outer["measured_ii"] - (stats["cycles"] - _latency(accounts)) / 128) <= 2
    assert _latency(accounts) < 3 * LATENCY, accounts


def test_interval_of_an_outer_loop_against_a_trace_of_the_inner_one(system):
    """The trace is taken while the kernel runs: how many iterations of the inner loop were issued until when. Nothing of
    it comes from the counters that the interval is computed from."""
    m, v = RNG.integers(0, 100, 128 * 128).astype(np.int32), RNG.integers(0, 100, 128).astype(np.int32)
    launch = Launch({"m": m, "v": v, "out": np.zeros(1, np.int32)})
    session, interface = system.loaded.session, system.kernels["sum_of_rows"]
    session.reset(0)
    places, sizes = system.addresses("sum_of_rows", launch), dict.fromkeys(interface.launch, 1) | {OVERLAP: 0}
    system.loaded.start(interface, places, sizes)
    (inner,) = [loop for loop in interface.layout.loops if loop.label == "c"]
    trace = []
    while (found := system.loaded.step(1000)) is None:
        trace.append((session.cycle(), read_counters(session, interface)[f"{inner.key}_issued"]))
    stats = system.result.decode("sum_of_rows", found[1].counters)
    running = [(cycle, issued) for cycle, issued in trace if 0 < issued < 128 * 128]
    (first, begin), (last, end) = running[0], running[-1]
    traced = 128 * (last - first) / (end - begin)
    outer = next(loop for loop in stats["loops"] if loop["label"] == "r")
    assert len(running) > 5 and abs(traced - 128) <= 1 and abs(outer["measured_ii"] - traced) <= 1, (traced, outer)


def test_waits_behind_the_last_issue_belong_to_what_is_waited_for(system):
    data = Launch({"in": np.zeros(1500, np.uint8), "bins": np.zeros(256, np.uint32)}, {"n": 1500})
    stats, accounts = _check(system, "one_bin", data)
    value = accounts["waiting for the value of an earlier store to bins to the same address"]
    room = accounts["waiting for room among the stores to bins in flight"]
    assert value > room > 0 and value + room > 0.8 * stats["cycles"], accounts
    assert _latency(accounts) < 0.05 * stats["cycles"], accounts


def test_updates_wait_for_their_own_loads_and_stores_not_for_a_loop(system):
    data = Launch({"table": np.zeros(1 << 14, np.uint32)}, {"mask": (1 << 14) - 1, "rounds": 4, "n": 1500})
    stats, accounts = _check(system, "updates", data)
    loops = sum(cycles for cause, cycles in accounts.items() if "of loop" in cause)
    named = sum(cycles for cause, cycles in accounts.items() if "table" in cause)
    assert loops < 0.05 * stats["cycles"] and named > 0.3 * stats["cycles"], accounts


def test_a_loop_that_is_not_pipelined_is_named(system):
    arrays = {name: RNG.random(64, np.float32) for name in ("b", "c")} | {"a": np.zeros(64, np.float32)}
    stats, accounts = _check(system, "repeated_triad", Launch(arrays, {"times": 10, "n": 64}))
    memory = sum(cycles for cause, cycles in accounts.items() if "load of" in cause or "store" in cause)
    named = sum(cycles for cause, cycles in accounts.items() if "disable_loop_pipelining" in cause)
    assert named > 100 and memory + named > 0.5 * (stats["cycles"] - accounts["issued"]), accounts


def test_requests_that_memory_does_not_take_are_waits_also_behind_the_last_iteration(system):
    n = 2048
    arrays = {
        "at": RNG.integers(0, 1 << 18, n).astype(np.int32),
        "table": RNG.integers(0, 9, 1 << 18).astype(np.int32),
        "out": np.zeros(n, np.int32),
    }
    stats, accounts = _check(system, "gather", Launch(arrays, {"n": n}))
    waits = sum(cycles for cause, cycles in accounts.items() if cause.startswith("waiting for load of table"))
    others = stats["cycles"] - accounts["issued"] - accounts["ramp-up"] - accounts["drain"]
    assert others > 0.1 * stats["cycles"], accounts
    assert waits > 0.6 * others, accounts  # of the addresses, some wait for the refresh that the run meets
    assert accounts["ramp-up"] + accounts["drain"] < 2.5 * LATENCY, accounts
