"""Loads that know where their loop ends: which ones do, and that the end is correct."""

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.accesses import last_of_run
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.kernels.system import Launch
from tests.plans import planned_text
from tests.programs.generate import launches, random_kernel
from tests.repetitions import sampled

HEAD = (
    "__kernel void k(__global const int *restrict a, __global const short *restrict s, __global int *restrict b, "
    "__global int *restrict c, "
    "int n, int m, uint u)"
)
WORD = 64

#: body -> loads that are of runs
BODIES = {
    "for (int i = 0; i < n; i++) b[i] = a[i] * 3;": 1,
    "for (int i = 2; i <= n; i++) b[i] = a[i - 2] + s[i + 1];": 2,
    "for (int i = 1; i < n; i += 2) b[i] = s[i];": 1,
    "for (uint i = 0; i < u; i += 2) b[i] = s[i];": 0,  # may begin again behind the greatest number
    "for (int i = 0; i < n; i += 3) b[i] = s[i];": 0,  # how often that is needs a division
    "for (long i = n; i < 40; i++) b[i] = a[i];": 1,
    "for (int i = 0; i < 40; i++) b[i] = a[i + (n & 31)];": 1,
    # what a row before stored is read again
    "for (int y = 0; y < n; y++) for (int x = y; x < m; x++) c[x] += a[y * 17 + x];": 1,
    "for (int t = 0; t < 3; t++) for (int i = 0; i < n; i++) b[i] += t;": 0,  # likewise
    "for (int i = 0; i < n; i++) { b[i] = a[i]; if (a[i] == m) break; }": 0,  # something else may end it
    "for (int i = 0; i < n; i++) if (i & 4) b[i] = a[i];": 0,  # not in each iteration
    "for (int i = n; i > 0; i--) b[i] = a[i];": 0,  # down
    "for (int i = 0; i < n; i++) b[i] = a[i * 4];": 0,  # a word lasts four of them: they share bursts as it is
    "for (int i = 0; i < n; i++) b[i + 9] = b[i] + 1;": 0,  # nine iterations later
    "for (int i = 0; i < n; i++) b[i] = b[i + 9] + 1;": 1,  # overwritten later only
    "int i = 0; do { b[i] = a[i]; } while (++i < n);": 0,  # may begin where it should not go on
    "for (int i = 0; i < n; i++) n -= a[i];": 0,  # the bound changes
    "for (int i = 0; i < n; i++) b[i] = a[i & 15];": 0,
}


def with_lines(body):
    """No loop is unrolled, so that all are left."""
    return f"{HEAD} {{ {body.replace('for', chr(10) + '#pragma unroll 1' + chr(10) + 'for')} }}"


#: the same of work-items
ITEMS = {
    "int i = get_global_id(0); b[i] = a[i] + s[i];": 2,
    "int i = get_global_id(0), j = get_global_id(1); b[j * n + i] = a[j * n + i] + s[i * 2];": 2,
    "int i = get_global_id(1), j = get_global_id(0); b[j] = a[i];": 0,  # the same for all of a row
    "int i = get_group_id(0) * get_local_size(0) + get_local_id(0); b[i] = a[i];": 1,
    "int i = get_local_id(0); b[get_global_id(0)] = a[i] + s[get_group_id(0)];": 1,
    "int i = get_global_id(0); b[i] = a[s[i] & 63];": 1,  # s
    "int i = get_global_id(0); b[i] = a[(s[i] & 63) + i];": 1,
    "int i = get_global_id(0); if (i < n) b[i] = a[i];": 1,
    "int i = get_global_id(0); if (i >= m) return; b[i] = a[i + 2];": 1,
    "int i = get_global_id(0), j = get_global_id(1); if (i > 0 && i < m && j < m) b[j * n + i] = a[j * n + i - 1] + "
    "s[j * n + i + 7];": 2,
    "int i = get_global_id(0); if (i + 3 <= n && i < m + 9 && n > 4) b[i] = a[i];": 1,
    "uint i = get_global_id(0); if (i + 6 < u) b[i] = a[i];": 1,
    "uint i = get_global_id(0); if (i - 6 < u) b[i] = a[i];": 0,  # may be false, and true again
    "int i = get_global_id(0); if (i - 6 < n) b[i] = a[i];": 1,
    "int i = get_global_id(0); if (i == n || i < m) b[i] = a[i];": 0,
    "int i = get_group_id(0) * get_local_size(0) + get_local_id(0); if (i <= 2 || i + 2 > n) return; b[i] = a[i] + "
    "s[i + 1];": 2,
    "int i = get_global_id(0); if (!(i >= n)) b[i] = a[i]; else if (i < m + n) c[i] = s[i];": 2,
    "int i = get_group_id(0) * get_local_size(0) + get_local_id(0); if (i < n - 30) b[i] = a[i];": 1,
    "int i = get_global_id(0); if (s[i] < n) b[i] = a[i];": 1,  # s
    "int i = get_global_id(0); b[i] = a[200 - i];": 0,
    # c behind the barrier
    "__local int t[64]; int i = get_local_id(0); t[i] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); "
    "b[get_global_id(0)] = t[(i + 1) % get_local_size(0)] + c[i];": 1,
    # work-items may pass each other
    "int i = get_global_id(0), v = 0; for (int k = 0; k < (i & 3); k++) v += k * k ^ v; b[i] = a[i] + v;": 0,
}


class Checker:
    """Told of each access, it holds the runs against what they say; ``seen`` counts accesses in them."""

    def __init__(self):
        self.runs, self.seen = {}, 0

    def access(self, op, offset, last=None):
        if last is None or offset is None:
            return
        word, last = offset // WORD, last // WORD
        before, end = self.runs.get(op, (word, word))
        assert last >= word
        assert before == end or (last == end and word - before in (0, 1)), (
            f"line {op.span.line}: {before} to {end}, then {word} to {last}"
        )
        self.runs[op] = word, last
        self.seen += 1

    def finish(self):
        assert all(word == last for word, last in self.runs.values())

    def enter(self, op, on): ...

    def iterate(self, op): ...

    def leave(self, op): ...


def checked(function, launch) -> int:
    """Accesses of runs, each held against the others of its run."""
    checker = Checker()
    buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
    run_kernel(
        function,
        function.name,
        buffers,
        launch.scalars,
        launch.global_size,
        launch.local_size,
        launch.offset,
        watch=checker,
    )
    checker.finish()
    return checker.seen


def test_buffers_that_may_overlap():
    """In runs in which they do each access is a run of its own."""
    text = (
        "__kernel void k(__global int *a, __global int *b, int n) { for (int i = 0; i < n; i++) b[i] = a[i + 3] * 2; }"
    )
    items = (
        "__kernel void k(__global int *a, __global int *b, int n) { int i = get_global_id(0); if (i < n) b[i] = a[i]; }"
    )
    for source, count in ((text, 1), (items, 1)):
        module, kernel = optimized(source)
        assert len(of_runs(kernel)) == count
        launch = Launch(
            {name: np.arange(100, dtype=np.int32) for name in "ab"},
            {"n": 50},
            (50,) if source is items else (1,),
            (5,) if source is items else (1,),
        )
        assert outcome_of(kernel, launch) == outcome_of(module, launch)
        assert checked(kernel, launch) == 50


def of_runs(function):
    return [op for op in walk(function.body) if op.opcode == "load" and last_of_run(op) is not None]


def outcome_of(function_or_module, launch) -> dict:
    """The bytes of all buffers after a run in groups."""
    buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
    run_kernel(function_or_module, "k", buffers, launch.scalars, launch.global_size, launch.local_size, launch.offset)
    return {name: bytes(data) for name, data in buffers.items()}


def optimized(text):
    """(module of the source, its kernel after all passes)."""
    module = parse_source(text, "k.cl", {}, []).module
    (kernel,) = optimize(
        module,
        PipelineOptions(address_bits=32, hazards=True, timing=OperatorTiming.of(load_board("de5net")), check=True),
    ).kernels
    return module, kernel


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_runs_are_what_they_say(body):
    module, kernel = optimized(with_lines(body))
    assert len(of_runs(kernel)) == BODIES[body]
    rng, seen = np.random.default_rng(1), 0
    for n, m, u in ((0, 3, 0), (1, 20, 1), (2, 2, 2), (17, 16, 17), (33, 34, 30), (-5, -4, 7)):
        buffers = {name: rng.integers(-2, 3, 4096).astype(np.int16 if name == "s" else np.int32) for name in "asbc"}
        launch = Launch(buffers, {"n": n, "m": m, "u": u})
        if n < 0 and "i = n" in body:
            continue
        assert outcome(kernel, launch) == outcome(module, launch), (n, m, u)
        seen += checked(kernel, launch)
    assert bool(seen) == bool(BODIES[body])


@pytest.mark.parametrize("body", ITEMS, ids=range(len(ITEMS)))
def test_runs_of_work_items(body):
    module, kernel = optimized(f"{HEAD} {{ {body} }}")
    assert len(of_runs(kernel)) == ITEMS[body]
    if "barrier" in body:
        return  # the interpreter runs groups as the source has them; hardware: tests/kernels/test_rows.py
    rng, seen = np.random.default_rng(1), 0
    for size, local, offset in (
        ((1,), (1,), (0,)),
        ((32,), (8,), (5,)),
        ((48, 3), (16, 1), (0, 2)),
        ((4, 2, 3), (4, 2, 1), (0, 0, 0)),
    ):
        buffers = {name: rng.integers(-2, 3, 4096).astype(np.int16 if name == "s" else np.int32) for name in "asbc"}
        for scalars in (
            {"n": 70, "m": 3, "u": 9},
            {"n": -5, "m": 40, "u": 20},
            {"n": 30, "m": -(1 << 31), "u": (1 << 32) - 1},
            {"n": (1 << 31) - 1, "m": 9, "u": 0},
        ):
            launch = Launch(buffers, scalars, size, local, offset)
            if not 0 < scalars["n"] < 99 and "* n" in body:
                continue
            assert outcome_of(kernel, launch) == outcome_of(module, launch), size
            seen += checked(kernel, launch)
    assert bool(seen) == bool(ITEMS[body])


@pytest.mark.parametrize("seed", sampled(range(0, 120, 3)))
def test_runs_of_random_programs(seed):
    kernel = random_kernel(seed)
    _, function = optimized(kernel.text)
    for launch in launches(kernel, seed):
        checked(function, launch)


def test_units_read_ahead_where_no_invocations_take_turns():
    text = f"""{HEAD} {{ for (int i = 0; i < n; i++) b[i] = a[i] + __prefetching_load(&s[i]) + __burst_coalesced_load(&s[i + 70]); }}
__kernel void sums(__global const float *restrict a, __global float *restrict b, int n, int m) {{
  for (int y = 0; y < n; y++) {{
    float sum = 0;
    for (int x = 0; x < m; x++) sum += a[y * m + x];
    b[y] = sum;
  }}
}}"""
    copy, sums = planned_text(text, load_board("de5net"), Options()).kernels
    ahead = [
        (access.reads_ahead, access.reason.split(",")[0])
        for access in copy.memory.accesses.values()
        if access.direction == "load"
    ]
    assert sorted(ahead) == [
        (False, "requested"),
        (True, "consecutive addresses: reads words ahead in bursts"),
        (True, "prefetching requested: reads words ahead in bursts"),
    ]
    (load,) = (access for access in sums.memory.accesses.values() if access.direction == "load")
    assert not load.reads_ahead and load.cache_words and last_of_run(load.op) is None
