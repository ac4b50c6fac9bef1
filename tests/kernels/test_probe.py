"""The probe: counts of a simulator equal those of the hardware counters, and say who waits for whom."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hls.ir.launch import OVERLAP, IndexSpace
from hls.profile.layout import CYCLES
from hls.profile.waits import describe_waits
from sim.progress import read_counters

from .system import KernelSystem, Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "waits.cl").read_text()
RNG = np.random.default_rng(7)
N = 600


class Probed(KernelSystem):
    """The kernels with counters and probe, which may run at the same time."""

    def __init__(self, **options):
        super().__init__(SOURCE, **options)

    def together(self, launches: dict[str, Launch], seed: int | None = None) -> dict:
        """Run kernels at the same time, with a seed after a reset; their runs by name."""
        if seed is not None:
            self.loaded.session.reset(seed)
        everything = Launch({name: a for one in launches.values() for name, a in one.buffers.items()})
        for kernel, launch in launches.items():
            interface = self.kernels[kernel]
            places = self.addresses(kernel, everything)
            self._place(kernel, everything)
            space = IndexSpace.of(launch.global_size, launch.local_size)
            sizes = {name: 0 if name == OVERLAP else space.argument(name) for name in interface.launch}
            self.loaded.start(interface, places | dict(launch.scalars), sizes)
        self.registers = {}
        runs = {}
        while len(runs) < len(launches):
            name, run = self.loaded.advance()
            runs[name] = run
            if self.kernels[name].counters:
                self.registers[name] = read_counters(self.loaded.session, self.kernels[name])
        return runs

    def waits(self, name: str, run) -> dict:
        layouts = {kernel: one.layout for kernel, one in self.kernels.items()}
        unit = next(unit for unit in self.result.interface.probe.units if unit.kernel == name)
        return describe_waits(layouts, name, unit.holds, run.waits)


@pytest.fixture(scope="module")
def system():
    system = Probed(counters="all", probe=True, intervals=64)
    yield system
    system.close()


def chain(n=N) -> dict[str, Launch]:
    at = RNG.integers(0, 1 << 16, n).astype(np.int32)
    table = RNG.integers(0, 9, 1 << 16).astype(np.int32)
    return {
        "feed": Launch({"at": at, "table": table}, {"n": n}),
        "drain": Launch({"out": np.zeros(n, np.int32)}, {"n": n}),
    }


def pair(writer: str, reader: str, n=N) -> dict[str, Launch]:
    return {
        writer: Launch({"out": np.zeros(1, np.int32)} if writer == "there" else {}, {"n": n}),
        reader: Launch({} if writer == "there" else {"out": np.zeros(1, np.int32)}, {"n": n}),
    }


def alone(kernel: str) -> dict[str, Launch]:
    if kernel == "shared_out":
        buffers = {"in": np.arange(512, dtype=np.int32), "out": np.zeros(512, np.int32)}
        return {kernel: Launch(buffers, {}, (512,), (16,))}
    if kernel == "one_port":
        buffers = {"in": RNG.integers(0, 1 << 20, 512).astype(np.int32), "out": np.zeros(512, np.int32)}
        return {kernel: Launch(buffers, {}, (512,), (64,))}
    if kernel == "small_table":
        at = np.concatenate([np.arange(0, 256, 16), RNG.integers(0, 256, N - 16)]).astype(np.int32)
        buffers = {"at": at, "table": np.zeros(256, np.int32), "out": np.zeros(1, np.int32)}
        return {kernel: Launch(buffers, {"n": N})}
    size = {"stride": 16 * N, "misaligned": 4 * N + 1}.get(kernel, N)
    return {kernel: Launch({"in": np.zeros(size, np.int32), "out": np.zeros(1, np.int32)}, {"n": N})}


RUNS = {
    "chain": chain,
    "pair": lambda: pair("write_fast", "read_slowly"),
    "circle": lambda: pair("there", "and_back"),
    "stride": lambda: alone("stride"),
    "one_in_four": lambda: alone("one_in_four"),
    "shared_out": lambda: alone("shared_out"),
    "misaligned": lambda: alone("misaligned"),
    "small_table": lambda: alone("small_table"),
    "one_port": lambda: alone("one_port"),
}


@pytest.mark.parametrize("seed", [0, 3], ids=["quiet", "stalls"])
@pytest.mark.parametrize("name", RUNS)
def test_counts_of_the_probe_are_those_of_the_hardware(system, name, seed):
    for kernel, run in system.together(RUNS[name](), seed).items():
        layout = system.kernels[kernel].layout
        # what a channel holds now is no count: it changes while the registers are read
        built = replace(layout, probed=False).counters
        names = [CYCLES, *(c.name for c in built if c.kind != "level")]
        assert len(names) > 8 and run.counters[CYCLES] > 100
        assert {n: run.counters[n] for n in names} == {n: system.registers[kernel][n] for n in names}, kernel


@pytest.mark.parametrize("name", RUNS)
def test_the_waits_of_a_place_sum_to_the_cycles_in_which_it_was_held_up(system, name):
    for kernel, run in system.together(RUNS[name](), 0).items():
        layout, found = system.kernels[kernel].layout, system.waits(kernel, run)
        counters = layout.sums(run.counters)
        for access in layout.accesses:
            held = sum(one["cycles"] for one in found["held"] if one["key"] == access.key)
            assert held == counters[f"{access.key}_stalled"], (kernel, access)


@pytest.mark.parametrize("name", ["chain", "pair", "circle"])
def test_a_place_is_held_up_under_the_account_of_the_same_cycle(system, name):
    """A call whose wait is the account of a cycle is held up in that cycle; nothing is held up longer than an account
    lasts."""
    anything = False
    for kernel, run in system.together(RUNS[name](), 3).items():
        layout = system.kernels[kernel].layout
        unit = next(unit for unit in system.result.interface.probe.units if unit.kernel == kernel)
        cycles = [run.counters[counter.name] for account in layout.accounts for counter in account.counters()]
        cycles[-2:] = [sum(cycles[-2:])]  # the probe has one account of the cycles without a cause
        held = {(one.account, one.hold): one.cycles for one in run.waits[0].held}
        assert all(count <= cycles[account] for (account, _), count in held.items()), kernel
        anything |= any(held.values())
        calls = [(hold.bit, number) for number, hold in enumerate(unit.holds) if hold.is_cause]
        assert calls and [held.get(call, 0) for call in calls] == [cycles[account] for account, _ in calls], kernel
    assert anything, "a reader that always finds a value holds nothing up, but its writer does"


@pytest.mark.parametrize("name", ["chain", "pair", "circle"])
@pytest.mark.parametrize("seed", [0, 5], ids=["quiet", "stalls"])
def test_blame_sums_to_the_cycles_of_waits_for_channels(system, name, seed):
    for kernel, run in system.together(RUNS[name](), seed).items():
        stats, found = system.result.decode(kernel, run.counters), system.waits(kernel, run)
        waits = {a["cause"]: a["cycles"] for a in stats["accounts"] if "channel" in a["cause"] and a["cycles"]}
        blamed = {cause: 0 for cause in waits}
        for one in found["blame"]:
            blamed[one["cause"]] += one["cycles"]
        assert blamed == waits, kernel


def test_a_chain_of_waits_is_followed_to_its_source(system):
    runs = system.together(chain(4096), 0)
    found = system.waits("drain", runs["drain"])["blame"]
    assert all(one["kernels"] in (["pass"], ["pass", "feed"]) and one["line"] == 28 for one in found), found
    source = next(one for one in found if "load of table" in str(one["last_cause"]))
    assert source["kernels"] == ["pass", "feed"] and source["last_line"] == 13


def test_a_slow_reader_holds_up_its_writer(system):
    runs = system.together(pair("write_fast", "read_slowly"), 0)
    stats = system.result.decode("write_fast", runs["write_fast"].counters)
    reader = system.result.decode("read_slowly", runs["read_slowly"].counters)
    (ii,) = [loop["static_ii"] for loop in reader["loops"]]
    accounts = {account["cause"]: account["cycles"] for account in stats["accounts"]}
    wait = accounts["waiting for channel shallow to have room"]
    # of each interval one cycle is the issue
    assert ii > 2 and accounts["issued"] / stats["cycles"] == pytest.approx(1 / ii, abs=0.02)
    assert wait / stats["cycles"] == pytest.approx(1 - 1 / ii, abs=0.02)
    found = system.waits("write_fast", runs["write_fast"])["blame"]
    causes = {one["last_cause"]: one["cycles"] for one in found if one["kernels"] == ["read_slowly"]}
    assert max(causes, key=causes.get) == "recurrence of loop k", causes


def test_figures_known_by_hand(system):
    stats = system.result.decode("stride", system.together(alone("stride"), 0)["stride"].counters)
    (load,) = [access for access in stats["memory"] if access["kind"] == "load"]
    assert load["efficiency"] == 1 / 16 and load["reuse"] == 1
    assert load["memory"] == "DDR" and load["bytes_moved"] == 64 * N
    moved = load["bytes_moved"] / (stats["cycles"] / 0.24)
    assert load["bytes_per_ns"] == pytest.approx(moved) and load["bandwidth"] == pytest.approx(moved / 25.6, rel=0.01)
    stats = system.result.decode("one_in_four", system.together(alone("one_in_four"), 0)["one_in_four"].counters)
    (load,) = [access for access in stats["memory"] if access["kind"] == "load"]
    assert load["activity"] == pytest.approx(load["occupancy"] / 4)


def figures(system, kernel: str) -> dict:
    return system.result.decode(kernel, system.together(alone(kernel), 0)[kernel].counters)


def access(stats: dict, buffer: str) -> dict:
    (found,) = [one for one in stats["memory"] if one["buffer"] == buffer]
    return found


def test_requests_that_cross_a_word_are_counted(system):
    load = access(figures(system, "misaligned"), "in")
    assert load["unaligned"] == 1 / 4
    # each word is moved once, although it is part of up to five requests
    assert load["bytes_used"] == 16 * N and load["bytes_moved"] == 64 * (N // 4 + 1)
    narrow = access(figures(system, "stride"), "in")
    assert narrow["unaligned"] is None, "an access of one lane cannot cross a word"


def test_bursts_of_the_greatest_length_are_counted(system):
    # 600 words one after the other, in bursts of 16 that end at multiples of 1,024 bytes
    load = access(figures(system, "stride"), "in")
    assert load["max_burst"] == 16 and load["full_bursts"] == pytest.approx(N / 16 / (N / 16 + 1), abs=0.06)
    # words in any order: no burst is full, and neither is that of a single store
    run = system.together(chain(), 0)["feed"]
    table = access(system.result.decode("feed", run.counters), "table")
    assert table["full_bursts"] == 0 and table["average_burst"] < 2
    assert access(figures(system, "stride"), "out")["full_bursts"] == 0


def test_hits_are_all_but_one_request_for_each_word(system):
    table = access(figures(system, "small_table"), "table")
    assert table["cache_hit"] == (N - 16) / N and table["bytes_moved"] == 16 * 64


def test_accesses_inside_a_kernel_are_counted(system):
    launch = alone("one_port")["one_port"]
    rounds = int((launch.buffers["in"] & 7).sum())
    run = system.together({"one_port": launch}, 0)["one_port"]
    stats = system.result.decode("one_port", run.counters)
    assert stats["memory"] and {one["memory"] for one in stats["local"]} == {"t"}
    requests = [(one["kind"], one["requests"]) for one in sorted(stats["local"], key=lambda one: one["line"])]
    assert requests == [("store", 512), ("store", rounds), ("load", 512)]
    ports = {a["line"]: a["cycles"] for a in stats["accounts"] if "the write port of t" in a["cause"]}
    waited = {one["line"]: round(one["stall"] * stats["cycles"]) for one in stats["local"] if one["stall"]}
    # whatever the port makes wait is attributed to it, unless something more important holds in the same cycle
    assert set(waited) == set(ports) and any(ports.values()), (waited, ports)
    assert all(ports[line] <= cycles for line, cycles in waited.items()), (waited, ports)


def test_levels_of_an_interval_lie_between_least_and_most(system):
    run = system.together(pair("write_fast", "read_slowly"), 0)["write_fast"]
    (end,) = system.kernels["write_fast"].layout.channels
    (samples,) = run.samples
    least, most = samples.level_least[end.key], samples.level_most[end.key]
    lengths = np.full(len(least), samples.length)
    lengths[-1] = samples.last or samples.length
    means = samples.level_sums[end.key] / lengths
    assert (least <= means).all() and (means <= most).all()
    # the reader is slower: the channel is full but for the cycle after a read, once it was
    assert set(least[2:-1]) <= {end.depth - 1, end.depth} and set(most[1:-1]) == {end.depth} and least[0] == 0


@pytest.mark.parametrize("name", ["chain", "circle"])
def test_samples_sum_to_the_counts(system, name):
    for kernel, run in system.together(RUNS[name](), 0).items():
        layout = system.kernels[kernel].layout
        (samples,) = run.samples
        rows = len(samples.accounts[0])
        assert 8 <= rows <= 64 and samples.length >= 64 and samples.length & (samples.length - 1) == 0
        whole = rows - bool(samples.last)
        assert whole * samples.length + samples.last == run.cycles
        assert sum(map(sum, samples.accounts)) == run.cycles
        assert all(sum(column) == run.counters[one] for one, column in samples.events.items())
        for channel in layout.channels:
            assert max(samples.level_most[channel.key]) <= run.counters[f"{channel.key}_max_level"]
            assert sum(samples.level_sums[channel.key]) <= run.cycles * channel.depth


def test_neither_counters_nor_the_probe_change_a_cycle():
    names = ("chain", "shared_out", "small_table", "one_port")  # channels, two units, memory, and memory on the chip
    kernels = frozenset().union(*(RUNS[name]() for name in names))
    options = ({}, {"probe": True}, {"counters": "all"})
    built = [Probed(**{"counters": "", "choose": lambda _: kernels} | each) for each in options]
    try:
        for k, name in enumerate(names, 1):
            launches = RUNS[name]()
            for one in built:  # the memory refreshes in fixed cycles
                one.loaded.session.reset(0)
                one.loaded.session.run(20_000 * k - one.loaded.session.cycle(), 0)
            cycles = [{kernel: run.cycles for kernel, run in one.together(launches).items()} for one in built]
            assert cycles[0] == cycles[1] == cycles[2], name
    finally:
        for one in built:
            one.close()
