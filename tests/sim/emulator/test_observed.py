"""What an observed run counts, against lists of all accesses that the same loops make in Python."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from hls.emulate import CACHES, Memories
from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from hls.model.workload import AccessRuns, Histogram, read_workload
from hls.passes.lowering.inline import Inline
from hls.passes.run_stages import link_program
from sim import cl
from sim.emulator import Emulator

WORD, ROW = 16, 64
ONE_ITEM = IndexSpace.of((1,))
SOURCE = """
int below(__global const int *a, int i) { int s = 0; while (a[i] > 0) s += a[i++]; return s; }

__kernel void rows(__global const int *restrict start, __global const int *restrict at, __global int *restrict bins,
                   int n) {
    for (int r = 0; r < n; r++)
        for (int e = start[r]; e < start[r + 1]; e++)
            if (at[e] % 3)
                bins[at[e]] += 1;
}

__kernel void turned(__global const int *restrict a, __global int *restrict b, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    b[y * n + x] = a[x * n + y];
}

__kernel void twice(__global const int *restrict a, __global int *restrict b) {
    b[0] = below(a, 0);
    b[1] = below(a, 5);
}
"""


@dataclass
class Trace:
    """The accesses of one place: (byte offset, iteration of the innermost loop, ticks) in order."""

    at: list[int] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    met: list[int] = field(default_factory=list)

    def check(self, runs: AccessRuns) -> None:
        words = [offset // WORD for offset in self.at]
        changes = [w for w, before in zip(words, [None, *words], strict=False) if w != before]
        assert runs.count == len(self.at)
        assert runs.same_word == len(words) - len(changes)
        assert (runs.words, runs.rows) == (len(set(words)), len({offset // ROW for offset in self.at}))
        assert _counts(runs.reuse) == _reuse(changes)
        assert runs.cold == len(set(words)) and runs.misses == 0
        steps = zip(zip(self.at, self.turn), zip(self.at[1:], self.turn[1:]))
        wanted = Counter(b - a for (a, i), (b, k) in steps if k == i + 1)
        assert _counts(runs.strides[0].bytes) == wanted
        assert _counts(runs.conflicts) == Counter(self.met)


def _counts(histogram: Histogram) -> Counter:
    assert all(one.low == one.high for one in histogram.ranges)
    return Counter({one.low: one.count for one in histogram.ranges})


def _reuse(words: list[int]) -> Counter:
    """By the size of the smallest direct-mapped cache that holds the word: one cache at a time."""
    hits = []
    for size in (1 << k for k in range(CACHES)):
        cache: dict[int, int] = {}
        hits.append([cache.get(w % size) == w or cache.update({w % size: w}) for w in words])
        hits[-1] = [hit is True for hit in hits[-1]]
    smallest = (next((1 << k for k in range(CACHES) if hits[k][n]), 0) for n in range(len(words)))
    return Counter(size for size in smallest if size)


@pytest.fixture(scope="module")
def emulator():
    module = Inline().run(link_program(parse_source(SOURCE, "k.cl", {}, []).module))
    return Emulator(module, hasty=True, observe=Memories(WORD, ROW))


def observed(emulator, kernel, buffers, scalars, space=ONE_ITEM):
    started = emulator.start(kernel, buffers, scalars, space)
    emulator.advance(last=True)
    return emulator.observed(started, "k.cl")


def test_nest_with_condition_and_conflicts(emulator):
    rng = np.random.default_rng(3)
    start = np.array([0, 3, 3, 10, 24], np.int32)
    at = rng.integers(0, 20, 24).astype(np.int32)
    found = observed(emulator, "rows", {"start": start, "at": at, "bins": np.zeros(20, np.int32)}, {"n": 4})
    outer, inner = found.loops
    assert (outer.iterations, _counts(outer.trips)) == (4, Counter({4: 1}))
    assert inner.around == outer.place and inner.iterations == 24
    assert _counts(inner.trips) == Counter({3: 1, 0: 1, 7: 1, 14: 1})
    (branch,) = found.branches
    assert (branch.reached, branch.held) == (24, int(np.count_nonzero(at % 3)))
    load, tick, stored = Trace(), 1, {}  # the work-item itself is the first tick
    for r in range(4):
        tick += 1
        for e in range(start[r], start[r + 1]):
            tick += 1
            if at[e] % 3:
                load.at.append(4 * int(at[e]))
                load.turn.append(int(e))
                if at[e] in stored:
                    load.met.append(tick - stored[at[e]])
                stored[at[e]] = tick
    (bins,) = [one for one in found.accesses if one.buffer == "bins" and one.kind == "load"]
    load.check(bins)
    (store,) = [one for one in found.accesses if one.kind == "store"]
    assert (store.count, store.words, store.conflicts.count) == (bins.count, bins.words, 0)


def test_work_items_are_the_outermost_level(emulator):
    n = 8
    buffers = {"a": np.zeros(n * n, np.int32), "b": np.zeros(n * n, np.int32)}
    found = observed(emulator, "turned", buffers, {"n": n}, IndexSpace.of((n, n), (4, 4)))
    items = [(gx * 4 + x, gy * 4 + y) for gy in range(2) for gx in range(2) for y in range(4) for x in range(4)]
    load, store = (next(one for one in found.accesses if one.kind == kind) for kind in ("load", "store"))
    assert load.strides[0].loop is None
    Trace([4 * (x * n + y) for x, y in items], list(range(64))).check(load)
    Trace([4 * (y * n + x) for x, y in items], list(range(64))).check(store)


def test_calls_of_a_helper_are_told_apart(emulator):
    a = np.array([3, 2, 0, 0, 0, 9, 9, 9, 9, 0], np.int32)
    found = observed(emulator, "twice", {"a": a, "b": np.zeros(2, np.int32)}, {})
    first, second = found.loops
    assert (first.place.copy, second.place.copy) == (0, 1)
    assert (first.place.line, second.place.line) == (2, 2)
    assert (first.iterations, second.iterations) == (2, 4)


def test_file_of_each_launch(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_WORKLOAD", str(tmp_path / "out"))
    context = cl.create_some_context(device="emulator")
    queue, program = cl.CommandQueue(context), cl.Program(context, SOURCE).build()
    a = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.arange(64, dtype=np.int32))
    b = cl.Buffer(context, cl.mem_flags.READ_WRITE, 256)
    for _ in range(3):
        program.turned(queue, (8, 8), (4, 4), a, b, np.int32(8))
    queue.finish()
    files = sorted((tmp_path / "out").iterdir())
    assert [one.name for one in files] == [f"00{k}-turned.json.gz" for k in range(3)]
    before, first, second = map(read_workload, files)
    assert first == second and files[1].read_bytes() == files[2].read_bytes()
    assert before.inputs_hash != first.inputs_hash  # the first launch changed b
    assert (first.kernel, first.work_items, first.local_size) == ("turned", 64, (4, 4))
    assert [(one.name, one.bytes, one.value) for one in first.arguments] == [
        ("a", 256, None),
        ("b", 256, None),
        ("n", 0, "8"),
    ]
