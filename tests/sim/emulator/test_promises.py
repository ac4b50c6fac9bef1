"""``#pragma ivdep`` is checked against the accesses of a run: violations name both locations, and a run without
violations is unaffected."""

from functools import cache

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from sim.emulator import EmulationError, Emulator

ONE = IndexSpace.of((1,))
SOURCE = """
void put(__global int *p, int k, int x) { p[k] = x; }
int sum(int x) { int mine[4]; for (int k = 0; k < 4; k++) mine[k] = x; return mine[x & 3]; }
__kernel void shifted(__global int *a, int n, int d) {
    #pragma ivdep
    for (int i = 0; i < n; i++)
        a[i + d] = a[i] + 1;
}
__kernel void far(__global int *a, int n, int d) {
    #pragma ivdep safelen(4)
    for (int i = 0; i < n; i++) {
        int x = a[i];
        a[i + d] = x;
    }
}
__kernel void one_of_two(__global int *a, __global int *b, int n, int d) {
    #pragma ivdep array(a)
    for (int i = 0; i < n; i++) {
        b[0] += i;
        a[i] = i;
        a[i + d] = 2;
    }
}
__kernel void earlier(__global int *a, int n, int m) {
    #pragma ivdep
    for (int i = 0; i < n; i++) {
        int x = a[(i + 1) % n];
        if (i == m) { x += a[0]; put(a, 0, x); }
    }
}
__kernel void inner(__global int *a, int n) {
    for (int j = 0; j < n; j++) {
        #pragma ivdep
        for (int i = 0; i < n; i++)
            a[i] = a[i] * 3 + sum(i);
    }
}
__kernel void outer(__global int *a, int n) {
    #pragma ivdep
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i] += j;
}
__kernel void own(__global int4 *a, int n) {
    #pragma ivdep
    for (int i = 0; i < n; i++) {
        int t[8];
        for (int k = 0; k < 8; k++) t[k] = i * k;
        a[i].yz = (int2)(t[i & 7], t[3]);
        a[i].x = 1;
    }
}
__kernel void bytes(__global char *a, int n) {
    #pragma ivdep
    for (int i = 0; i < n; i++)
        a[2 * i] = a[2 * i + 1];
}
__kernel void ahead(__global int *a, int n, int d) {
    #pragma ivdep
    for (int i = 0; i < n; i++)
        a[i] = a[i + d];
}
__kernel void sums(__global int *a, int n, int d) {
    int acc[16] = {0};
    #pragma ivdep array(acc) safelen(8)
    for (int i = 0; i < n; i++)
        acc[i % d] += a[i];
    a[0] = acc[d - 1];
}
"""
ANY = "".join(
    f"""
__kernel void any{safelen}(__global int *a, int n, int p, int q, int r, int s) {{
    #pragma ivdep {f"safelen({safelen})" if safelen else ""}
    for (int i = 0; i < n; i++) {{
        int x = a[p * i + q];
        if (x & 3) a[r * i + s] = x + i;
    }}
}}"""
    for safelen in (0, 2, 5)
)
HOLDS = [
    ("shifted", 20, 20),
    ("far", 20, 4),
    ("far", 20, 7),
    ("one_of_two", 8, 8),
    ("earlier", 9, 8),
    ("inner", 8),
    ("own", 9),
    ("bytes", 30),
    ("sums", 30, 8),
]
#: the message's middle, the line of it, the line of the earlier access, and the line of the loop
BROKEN = [
    (
        ("shifted", 20, 5),
        "iteration 5 reads bytes 20 to 23 of argument `a` (index 5), which iteration 0 wrote",
        7,
        7,
        6,
    ),
    (
        ("ahead", 20, 2),
        "iteration 2 writes bytes 8 to 11 of argument `a` (index 2), which iteration 0 read",
        61,
        61,
        60,
    ),
    (("far", 20, 3), "iteration 3 reads bytes 12 to 15 of argument `a` (index 3), which iteration 0 wrote", 12, 13, 11),
    (
        ("one_of_two", 8, 2),
        "iteration 2 writes bytes 8 to 11 of argument `a` (index 2), which iteration 0 wrote",
        20,
        21,
        18,
    ),
    (("earlier", 9, 0), "iteration 8 reads bytes 0 to 3 of argument `a` (index 0), which iteration 0 wrote", 27, 2, 26),
    # in registers or not
    (
        ("sums", 30, 7),
        "iteration 7 reads bytes 0 to 3 of private array `acc` (index 0), which iteration 0 wrote",
        67,
        67,
        66,
    ),
    (("outer", 4), "iteration 1 reads bytes 0 to 3 of argument `a` (index 0), which iteration 0 wrote", 42, 42, 40),
]


@pytest.fixture(scope="module")
def emulator():
    return Emulator(parse_source(SOURCE, "k.cl", {}, []).module, hasty=True)


def run(emulator, name, *numbers):
    a, b = np.zeros(64, np.int32), np.zeros(64, np.int32)
    a[:] = np.arange(64)
    names = dict(zip(("n", "m" if name == "earlier" else "d"), numbers))
    buffers = {"a": a} | ({"b": b} if name == "one_of_two" else {})
    emulator.run(name, buffers, names, ONE)


@pytest.mark.parametrize("call", HOLDS, ids=str)
def test_what_holds_is_not_remarked_upon(emulator, call):
    run(emulator, *call)


@pytest.mark.parametrize(("call", "text", "line", "earlier", "loop"), BROKEN, ids=str)
def test_a_violation_names_both_places(emulator, call, text, line, earlier, loop):
    with pytest.raises(EmulationError) as caught:
        run(emulator, *call)
    diagnostic = caught.value.diagnostic
    assert f"#pragma ivdep does not hold: {text}" in diagnostic.message
    assert [diagnostic.span.line, *(note.span.line for note in diagnostic.notes)] == [line, earlier, loop]


def test_the_runs_after_a_violation_begin_anew(emulator):
    for _ in range(3):
        with pytest.raises(EmulationError):
            run(emulator, "shifted", 20, 5)
        run(emulator, "shifted", 20, 20)


def first_violation(memory, safelen, n, p, q, r, s):
    """(iteration, element, whether it writes) of the first access that the promise rules out, from the list of all
    accesses before."""
    done = []
    for i in range(n):
        value = int(memory[p * i + q])
        for element, writes in [(p * i + q, False)] + [(r * i + s, True)] * bool(value & 3):
            if any(e == element and (w or writes) and j < i and (not safelen or i - j < safelen) for j, e, w in done):
                return i, element, writes
            done.append((i, element, writes))
        if value & 3:
            memory[r * i + s] = value + i
    return None


@pytest.mark.parametrize("safelen", [0, 2, 5])
def test_any_two_subscripts(safelen):
    emulator, rng = Emulator(parse_source(ANY, "k.cl", {}, []).module, hasty=True), np.random.default_rng(safelen)
    found = 0
    for _ in range(300):
        n, (p, r), (q, s) = int(rng.integers(1, 12)), rng.integers(0, 4, 2).tolist(), rng.integers(0, 12, 2).tolist()
        memory = rng.integers(0, 100, 64).astype(np.int32)
        expected = first_violation(memory.copy(), safelen, n, p, q, r, s)
        try:
            emulator.run(f"any{safelen}", {"a": memory}, {"n": n, "p": p, "q": q, "r": r, "s": s}, ONE)
            assert expected is None
        except EmulationError as error:
            i, element, writes = expected
            assert f"iteration {i} {'writes' if writes else 'reads'} bytes {4 * element} to" in error.diagnostic.message
            found += 1
    assert 50 < found < 250, "both kinds are common"


STEPS = "".join(
    f"""
        code = program[3 * i + {k}];
        if (code == 1) seen[3 * i + {k}] = a[0];
        if (code > 1) a[0] = code;"""
    for k in range(3)
)
SILENT = f"""
__kernel __attribute__((feed_forward(silent_stores))) void steps(__global int *restrict a,
    __global const int *restrict program, __global int *restrict seen, int n) {{
    for (int i = 0; i < n; i++) {{
        int code;{STEPS}
    }}
}}"""


def outcomes(program, first):
    """What the steps of some iterations, in any order that keeps those of each, may leave and see: (element, pairs of
    step and value). 1 reads the element, a greater number stores itself, 0 does nothing."""

    @cache
    def after(places, value):
        found = set()
        for i, place in enumerate(places):
            if place < 3:
                code = program[i][place]
                further = after((*places[:i], place + 1, *places[i + 1 :]), code if code > 1 else value)
                mine = {((i, place), value)} if code == 1 else set()
                found |= {(last, frozenset(seen | mine)) for last, seen in further}
        return found or {(value, frozenset())}

    return after((0,) * len(program), first)


def test_with_silent_stores_the_order_of_iterations_does_not_matter():
    """Of random iterations that read and store one element: where no violation is found, any interleaving of them leaves
    and reads the same."""
    emulator, rng = Emulator(parse_source(SILENT, "k.cl", {}, []).module, hasty=True), np.random.default_rng(5)
    found = harmless = 0
    for _ in range(500):
        n = int(rng.integers(1, 4))
        program, a = rng.choice([0, 0, 1, 2, 2, 3], (n, 3)).astype(np.int32), np.full(1, 2, np.int32)
        possible = outcomes(tuple(map(tuple, program.tolist())), 2)
        try:
            emulator.run("steps", {"a": a, "program": program, "seen": np.zeros(3 * n, np.int32)}, {"n": n}, ONE)
            assert len(possible) == 1, program
            harmless += any(2 in row for row in program.tolist())
        except EmulationError as error:
            assert "feed_forward(silent_stores) does not hold" in error.diagnostic.message
            found += 1
    assert found > 100 and harmless > 100, "both kinds are common"


@pytest.mark.parametrize(
    ("program", "earlier"),
    [([[1, 3, 0], [3, 0, 0]], 0), ([[3, 1, 2], [0, 2, 0]], 0), ([[0, 0, 0], [1, 3, 3], [0, 0, 3]], 1)],
    ids=str,
)
def test_a_silent_store_of_what_another_iteration_read_before_it_changed(program, earlier):
    """Come early, it would show that iteration the new value."""
    emulator, given = Emulator(parse_source(SILENT, "k.cl", {}, []).module), np.array(program, np.int32)
    buffers = {"a": np.full(1, 2, np.int32), "program": given, "seen": np.zeros(given.size, np.int32)}
    with pytest.raises(EmulationError) as caught:
        emulator.run("steps", buffers, {"n": len(program)}, ONE)
    text = f"iteration {earlier + 1} writes bytes 0 to 3 of argument `a` (index 0), which iteration {earlier} read"
    assert text in caught.value.diagnostic.message
