"""The DRAM model: the device's rules by an independent checker, and its rate for scattered words."""

from collections import defaultdict, deque
from dataclasses import dataclass, replace

import pytest

from hls.target.board import DramTiming, load_board

from .native_bench import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


@dataclass(frozen=True)
class Command:
    name: str
    tick: int
    bank: int
    row: int


def commands(text: str) -> list[Command]:
    split = (line.split() for line in text.splitlines())
    return [Command(name, int(tick), int(bank), int(row)) for name, tick, bank, row in split]


def broken_rules(trace: list[Command], t: DramTiming) -> set[str]:
    """Names of the timing rules that the commands break, found command by command from their definitions."""
    broken = set()
    last = defaultdict(lambda: -(10**9))  # (command, scope) -> tick
    rows: dict[int, int] = {}
    activates: deque[int] = deque(maxlen=4)

    def at_least(rule: str, tick: int, since: tuple, distance: int) -> None:
        if tick - last[since] < distance:
            broken.add(rule)

    for c in trace:
        group = c.bank % t.bank_groups
        if c.name == "activate":
            if c.bank in rows:
                broken.add("activate of an open bank")
            rows[c.bank] = c.row
            at_least("tRP", c.tick, ("precharge", c.bank), t.tRP)
            at_least("tRRD_S", c.tick, ("activate",), t.tRRD_S)
            at_least("tRRD_L", c.tick, ("activate", "group", group), t.tRRD_L)
            at_least("tRFC", c.tick, ("refresh",), t.tRFC)
            if len(activates) == 4 and c.tick - activates[0] < t.tFAW:
                broken.add("tFAW")
            activates.append(c.tick)
        elif c.name == "precharge":
            rows.pop(c.bank)
            at_least("tRAS", c.tick, ("activate", c.bank), t.tRAS)
            at_least("tRTP", c.tick, ("read", c.bank), t.tRTP)
            at_least("tWR", c.tick, ("write", c.bank), t.CWL + t.burst_ticks + t.tWR)
        elif c.name == "refresh":
            if rows:
                broken.add("refresh with open banks")
            at_least("tRP", c.tick, ("precharge",), t.tRP)
        else:
            if rows.get(c.bank) != c.row:
                broken.add("column command to a closed row")
            at_least("tRCD", c.tick, ("activate", c.bank), t.tRCD)
            at_least("tCCD_S", c.tick, ("column",), t.tCCD_S)
            at_least("tCCD_L", c.tick, ("column", "group", group), t.tCCD_L)
            if c.name == "read":
                at_least("tWTR_S", c.tick, ("write",), t.CWL + t.burst_ticks + t.tWTR_S)
                at_least("tWTR_L", c.tick, ("write", "group", group), t.CWL + t.burst_ticks + t.tWTR_L)
            else:
                at_least("turnaround", c.tick, ("read",), t.CL + t.burst_ticks + 2 - t.CWL)
            last["column",] = last["column", "group", group] = c.tick
        last[c.name,] = last[c.name, c.bank] = last[c.name, "group", group] = c.tick
    return broken


@pytest.mark.parametrize("name", ["de5net", "a10pac", "ecpix5", "ulx3s"])
def test_keeps_the_timing_of_the_device(bench, name):
    board = load_board(name)
    trace = commands(bench.run(board, "commands", 20000, 1))
    assert sum(c.name in ("read", "write") for c in trace) > 19000
    assert {c.name for c in trace} == {"activate", "precharge", "read", "write", "refresh"}
    assert broken_rules(trace, board.memory.timing) == set()


@pytest.mark.parametrize(
    "rule", ["tRCD", "tRP", "tRAS", "tRTP", "tWR", "tCCD_S", "tCCD_L", "tRRD_L", "tFAW", "tWTR_L", "tRFC"]
)
def test_is_no_slower_than_the_device(bench, rule):
    """Each rule is reached: one tick more would be broken. So the checker sees it, and the model is not too careful."""
    board = load_board("a10pac")
    trace = commands(bench.run(board, "commands", 20000, 1))
    stricter = replace(board.memory.timing, **{rule: getattr(board.memory.timing, rule) + 1})
    assert rule in broken_rules(trace, stricter)


@pytest.mark.parametrize("rule", ["tRCD", "tRP", "tRAS", "tWR", "tCCD_S", "tRRD_S", "tRFC"])
def test_is_no_slower_than_sdr_memory(bench, rule):
    board = load_board("ulx3s")
    trace = commands(bench.run(board, "commands", 20000, 1))
    stricter = replace(board.memory.timing, **{rule: getattr(board.memory.timing, rule) + 1})
    assert rule in broken_rules(trace, stricter)


def test_refreshes_in_time(bench):
    board = load_board("de5net")
    ticks = [c.tick for c in commands(bench.run(board, "commands", 20000, 2)) if c.name == "refresh"]
    period = board.memory.timing.tREFI
    late = 200  # rows are closed and tRP waited for before a refresh begins
    assert len(ticks) > 5
    assert all(0 <= tick - period * (k + 1) <= late for k, tick in enumerate(ticks))


# GB/s: 64 random bytes at a time cost a row each, so four activates move 256 bytes in tFAW; less refresh.
@pytest.mark.parametrize("name", ["de5net", "a10pac"])
def test_random_reads_reach_the_activate_limit(bench, name):
    board = load_board(name)
    t = board.memory.timing
    limit = 256 / (t.tFAW * t.tck_ns) * (1 - t.tRFC / t.tREFI)
    assert float(bench.run(board, "random", 50000)) == pytest.approx(limit, rel=0.03)
