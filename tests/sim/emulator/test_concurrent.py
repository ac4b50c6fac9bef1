"""Work-groups, channels between kernels and printf on the emulator, against the interpreter where it supports them."""

import re

import numpy as np
import pytest

from hls.diag import CompileError, render
from hls.driver import channel_depths
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import Launch, run_launches
from hls.ir.launch import IndexSpace
from hls.ir.storage import ExecutionError
from hls.options import Options
from hls.passes.run_stages import link_program, optimize
from hls.target.board import load_board
from sim.emulator import EmulationError, Emulator
from sim.emulator.faults import Wait, deadlock
from tests.kernels import test_channel_choice, test_channels

ONE = IndexSpace.of((1,))

GROUPS = """
int twice(__local int *p, int k) { __local int mine[8]; mine[k] = p[k]; return mine[k] * 2; }
__kernel void sums(__global const int *a, __global int *o, __global float4 *v, __local short *extra) {
    __local int tile[8], sums[8];
    __local float4 quads[8];
    int l = get_local_id(0), g = get_global_id(0);
    event_t e = async_work_group_copy(tile, a + get_group_id(0) * 8, 8, 0);
    wait_group_events(1, &e);
    sums[l] = tile[7 - l] + twice(tile, l);
    quads[l] = v[g];
    extra[l] = l * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 4; step > 0; step >>= 1) {
        if (l < step) sums[l] += sums[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[g] = sums[0] + tile[(l + 3) % 8] + extra[(l + 1) % 8];
    v[g] = quads[7 - l].wzyx + quads[l].x;
}
__kernel void atoms(__global int *c, __global uint *u, __global long *w, __global float *f) {
    __local int seen;
    int l = get_local_id(0), g = get_global_id(0), x = (g * 37) % 23 - 11;
    if (l == 0) seen = 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&c[0], x); atomic_sub(c + 1, l); atomic_inc(&c[2]); atomic_dec(&c[3]);
    atomic_min(&c[4], x); atomic_max(&c[5], x); atomic_and(&u[0], ~(1u << l)); atomic_or(&u[1], 1u << g);
    atomic_xor(&u[2], 3u << l); atomic_min(&u[3], (uint)x); atomic_max(&u[4], (uint)x);
    atom_add(&w[0], (long)x << 20); atomic_cmpxchg(&c[6], g, g + 1);
    c[8 + g] = atomic_xchg(&c[7], g) * 1000 + atomic_add(&seen, l);
    atomic_xchg(&f[0], g * 0.5f);
}
__kernel void early(__global int *o) {
    __local int t[4];
    int l = get_local_id(0);
    t[l] = o[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int private_array[6];
    for (int i = 0; i < 6; i++) { private_array[i] = t[i & 3] + i; if (i % 2) barrier(CLK_LOCAL_MEM_FENCE); t[l] += i; }
    o[get_global_id(0)] = private_array[l + 1] + get_local_id(1);
}
"""


def both(module, runs):
    """Run [(kernel, buffers, scalars, space)] at once in the emulator and the interpreter; the buffers after each."""
    here = [{n: b.copy() if isinstance(b, np.ndarray) else b for n, b in buffers.items()} for _, buffers, _, _ in runs]
    there = [{n: b.copy() if isinstance(b, np.ndarray) else b for n, b in buffers.items()} for _, buffers, _, _ in runs]
    texts: tuple[list[str], list[str]] = ([], [])
    emulator = Emulator(module, write=texts[0].append)
    started = [emulator.start(kernel, b, scalars, space) for (kernel, _, scalars, space), b in zip(runs, here)]
    emulator.advance()
    assert all(one.done for one in started), emulator.waiting()
    run_launches(
        module,
        [
            Launch(kernel, b, scalars, space.global_size, space.local_size, space.offset)
            for (kernel, _, scalars, space), b in zip(runs, there)
        ],
        1_000_000,
        write=texts[1].append,
    )
    assert "".join(texts[0]) == "".join(texts[1])
    for one, other in zip(here, there):
        for name, array in other.items():
            assert np.array_equal(np.asarray(one[name]), np.asarray(array)), name
    return here


@pytest.fixture(scope="module")
def groups():
    return parse_source(GROUPS).module


def test_barriers_and_local_memory(groups):
    rng = np.random.default_rng(4)
    buffers = {
        "a": rng.integers(-1000, 1000, 24, "i4"),
        "o": np.zeros(24, "i4"),
        "v": rng.standard_normal(96).astype("f4"),
        "extra": 16,
    }
    assert both(groups, [("sums", buffers, {}, IndexSpace.of((24,), (8,)))])[0]["o"].any()


def test_atomic_operations(groups):
    buffers = {
        "c": np.array([0, 0, 0, 0, 500, -500, 0, 0] + [0] * 12, "i4"),
        "u": np.array([~0, 0, 0, ~0, 0], "i8").astype("u4"),
        "w": np.zeros(1, "i8"),
        "f": np.zeros(1, "f4"),
    }
    both(groups, [("atoms", buffers, {}, IndexSpace.of((12,), (4,)))])


def test_barriers_in_loops_of_a_plane_of_work_items(groups):
    both(groups, [("early", {"o": np.arange(8, dtype="i4")}, {}, IndexSpace.of((8, 3), (4, 1)))])


def test_a_work_item_that_leaves_before_the_barrier():
    source = (
        "__kernel void k(__global int *o) {\n  if (get_local_id(0) == 1) return;\n  "
        "barrier(CLK_LOCAL_MEM_FENCE);\n  o[0] = 1;\n}"
    )
    emulator = Emulator(parse_source(source).module)
    with pytest.raises(
        EmulationError, match=r"kernel.cl:3:3: kernel k: not all work-items of group \(0, 0, 0\) reach this barrier"
    ) as caught:
        emulator.run("k", {"o": np.zeros(1, "i4")}, {}, IndexSpace.of((8,), (4,)))
    assert caught.value.silent
    (note,) = caught.value.diagnostic.notes
    assert (note.span.line, note.message) == (
        2,
        "here the work-item with local id (1, 0, 0) of the group takes another branch than (0, 0, 0)",
    )


@pytest.mark.parametrize(
    ("body", "n", "group"),
    [
        (
            "for (int i = get_local_id(0); i < n; i += get_local_size(0)) { barrier(1); o[get_global_id(0)] += i; }",
            18,
            (0, 0, 0),
        ),
        ("if (get_global_id(0) >= n) return; barrier(1); o[get_global_id(0)] = n;", 9, (1, 0, 0)),
        ("for (int i = 0; i < 200; i++) { if (i >= n && o[get_global_id(0)] == i) break; barrier(1); }", 10, (1, 0, 0)),
    ],
)
def test_a_promise_about_barriers_that_does_not_hold_in_one_group(body, n, group):
    """Where it holds nothing is said, however often a group meets."""
    emulator = Emulator(parse_source(f"__kernel void k(__global int *o, int n) {{ {body} }}").module)
    space = IndexSpace.of((16, 4), (8, 2))
    emulator.run("k", {"o": np.zeros(16, "i4")}, {"n": 16 if group[0] == 0 else 24}, space)
    with pytest.raises(EmulationError, match=re.escape(f"work-items of group {group} reach this barrier")):
        emulator.run("k", {"o": np.where(np.arange(16) == 12, 60, 0).astype("i4")}, {"n": n}, space)


def test_local_memory_is_new_in_each_group_and_watched():
    source = """__kernel void k(__global int *o) { __local int t[4]; int l = get_local_id(0); o[get_global_id(0)] = t[l]; t[l] = 9; }"""
    o = np.ones(8, "i4")
    outcome = Emulator(parse_source(source).module).run("k", {"o": o}, {}, IndexSpace.of((8,), (4,)))
    assert not o.any() and [read.count for read in outcome.unset_reads] == [8]
    source = "__kernel void k(__global int *o, __local int *t) { t[get_local_id(0)] = 1; }"
    with pytest.raises(
        EmulationError, match=r"write of bytes 12 to 15 of local memory `t` \(index 3\) leaves its 12 bytes"
    ):
        Emulator(parse_source(source).module).run("k", {"o": o, "t": 12}, {}, IndexSpace.of((8,), (4,)))


CHANNELS = """
struct Pair { int a; float b; };
channel int values __attribute__((depth(2)));
channel struct Pair pairs[2][3];
__kernel void source(__global const int *a, int n) {
    for (int i = 0; i < n; i++) {
        write_channel_intel(values, a[i]);
        struct Pair p = { i, i * 0.5f };
        write_channel_altera(pairs[1][2], p);
    }
}
__kernel void middle(int n) {
    for (int i = 0; i < n; i++) {
        bool there;
        struct Pair p;
        do { p = read_channel_nb_altera(pairs[1][2], &there); } while (!there);
        p.b += read_channel_intel(values);
        while (!write_channel_nb_intel(pairs[0][1], p)) ;
    }
}
__kernel void sink(__global float *o, int n) {
    for (int i = 0; i < n; i++) { struct Pair p = read_channel_intel(pairs[0][1]); o[i] = p.a + p.b; }
}
__kernel void both_first(int n) { int x = read_channel_intel(values); write_channel_intel(values, x); }
__kernel void chosen(int k) { write_channel_intel(pairs[0][k], (struct Pair){1, 2.0f}); }
"""


@pytest.fixture(scope="module")
def joined():
    return parse_source(CHANNELS, "joined.cl").module


def test_kernels_joined_by_channels(joined):
    a, n = np.arange(500, dtype="i4") * 3, {"n": 500}
    found = both(
        joined, [("sink", {"o": np.zeros(500, "f4")}, n, ONE), ("middle", {}, n, ONE), ("source", {"a": a}, n, ONE)]
    )
    np.testing.assert_array_equal(found[0]["o"], np.arange(500) * 1.5 + a)


def test_a_launch_waits_for_one_that_comes_later(joined):
    emulator, o, n = Emulator(joined), np.zeros(9, "f4"), {"n": 9}
    sink = emulator.start("sink", {"o": o}, n, ONE)
    emulator.advance()
    assert not sink.done
    emulator.start("middle", {}, n, ONE)
    second = emulator.start("sink", {"o": o}, {"n": 0}, ONE, after=sink)
    emulator.advance()
    assert not sink.done and not second.done
    emulator.start("source", {"a": np.ones(9, "i4")}, n, ONE)
    emulator.advance()
    assert sink.done and second.done and o.tolist() == [1 + 1.5 * k for k in range(9)]


@pytest.mark.parametrize(
    ("waits", "change"),
    [
        ([("a", False), ("b", False)], "or let one of the kernels write before it reads"),
        ([("a", False)], "or write as many values as are read"),
        ([("a", False), ("b", True)], "give the channel more depth, or change the order of accesses"),
    ],
)
def test_more_depth_is_advised_only_where_a_channel_is_full(waits, change):
    told = deadlock([Wait(kernel, None, "c", writes) for kernel, writes in waits])
    assert told.hint == f"start the kernel at the other end, {change}"


def test_kernels_that_wait_for_each_other_are_named_with_channel_and_line(joined):
    emulator = Emulator(joined)
    emulator.start("sink", {"o": np.zeros(9, "f4")}, {"n": 1}, ONE)
    emulator.start("source", {"a": np.zeros(9, "i4")}, {"n": 9}, ONE)
    emulator.advance()
    text = render(emulator.waiting().diagnostic, joined.sources)
    assert "no kernel can continue: kernels sink, source wait for channels" in text
    assert "joined.cl:22:" in text and "note: kernel sink waits to read from channel pairs[1], which is empty" in text
    assert "joined.cl:7:" in text and "note: kernel source waits to write to channel values, which is full" in text
    assert "give the channel more depth" in text
    emulator.reset()
    with pytest.raises(EmulationError, match="joined.cl:24:.*no kernel can continue: kernel both_first waits"):
        emulator.run("both_first", {}, {"n": 1}, ONE)
    emulator.run("source", {"a": np.zeros(2, "i4")}, {"n": 2}, ONE)  # as much as the channel holds: a reset emptied it
    with pytest.raises(EmulationError, match="joined.cl:7:"):
        emulator.run("source", {"a": np.zeros(1, "i4")}, {"n": 1}, ONE)


def test_two_emulators_of_the_same_program_share_nothing(joined):
    one, other = Emulator(joined), Emulator(joined)
    one.run("source", {"a": np.zeros(2, "i4")}, {"n": 2}, ONE)
    started = other.start("both_first", {}, {"n": 1}, ONE)
    other.advance()
    assert not started.done
    one.run("both_first", {}, {"n": 1}, ONE)
    other.reset()


def test_a_channel_outside_its_array(joined):
    with pytest.raises(
        EmulationError,
        match="joined.cl:25:.*kernel chosen: an index is outside its dimension of the array, which has 6",
    ):
        Emulator(joined).run("chosen", {}, {"k": 6}, ONE)


GRID = """channel int grid[2][3]; channel int line[4];
void put(channel int row[3], int k, int v) {
    write_channel_intel(row[k], v); }
__kernel void spill(int r, int k) {
    write_channel_intel(grid[r][k], 1); }
__kernel void nb(int r, int k) {
    write_channel_nb_intel(grid[r][k], 1); }
__kernel void helped(int r, int k) { put(grid[r & 1], k, 1); }
__kernel void straight(int r, int k) {
    write_channel_intel(line[k], r); }
__kernel void guarded(int r, int k) { if (k >= 0 && k < 4) write_channel_intel(line[k], r); }
"""


@pytest.mark.parametrize(
    "kernel, r, k, line, message",
    [
        ("spill", 0, 3, 5, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("spill", 1, -1, 5, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("spill", 2, 0, 5, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("spill", -1, 5, 5, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("nb", 0, 4, 7, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("helped", 0, 3, 3, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("straight", 0, -1, 10, "there is no channel -1: the array has 4"),
        ("straight", 0, 4, 10, "there is no channel 4: the array has 4"),
    ],
)
def test_an_index_outside_its_dimension(kernel, r, k, line, message):
    """The emulator and the interpreter say the same; the channel of the next row is not taken for the one that is not
    there."""
    module = link_program(parse_source(GRID, "grid.cl").module)
    with pytest.raises(EmulationError, match=f"grid.cl:{line}:.*kernel {kernel}: {re.escape(message)}"):
        Emulator(module).run(kernel, {}, {"r": r, "k": k}, ONE)
    with pytest.raises(ExecutionError, match=re.escape(message)):
        run_launches(module, [Launch(kernel, {}, {"r": r, "k": k})])


@pytest.mark.parametrize(
    "kernel, r, k",
    [
        ("spill", 1, 2),
        ("nb", 1, 0),
        ("helped", 1, 2),
        ("straight", 1, 3),
        ("guarded", 1, 3),
        ("guarded", 1, 99),
        ("guarded", 1, -1),
    ],
)
def test_an_index_inside_its_dimension(kernel, r, k):
    """Also where the call is only a predicate that is off, as in the flat form that hardware is made from."""
    module = link_program(parse_source(GRID, "grid.cl").module)
    for each in (module, optimize(module)):
        Emulator(each).run(kernel, {}, {"r": r, "k": k}, ONE)
        run_launches(each, [Launch(kernel, {}, {"r": r, "k": k})])


def test_pipes_of_the_host_are_refused():
    source = "__kernel void k(read_only pipe int in, __global int *o) { int v; o[0] = read_pipe(in, &v); }"
    with pytest.raises(CompileError, match="in is a pipe of the host"):
        Emulator(parse_source(source).module)


def test_printf():
    source = r"""__kernel void k(int n, float4 v) { for (int i = 0; i < n; i++) {
        printf("%v4hlf\n", v); printf("%d%% of %5.2f, %u %x|%-4d|%c\n", i, v.x, -1, 255, n, 'A'); printf("no more\n"); } }"""
    both(parse_source(source).module, [("k", {}, {"n": 3, "v": np.array([1.5, -2, 3, 0.25], "f4")}, ONE)])


def test_large_groups_and_arrays_have_stacks_of_their_own():
    source = """__kernel void k(__global int *o) {
        int t[5000]; __local int s[1024]; int l = get_local_id(0);
        for (int i = 0; i < 5000; i++) t[i] = i + l;
        s[l] = t[4999 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        o[get_global_id(0)] = s[1023 - l] + t[l];
    }"""
    o = np.zeros(2048, "i4")
    Emulator(parse_source(source).module).run("k", {"o": o}, {}, IndexSpace.of((2048,), (1024,)))
    assert o.tolist() == [4999 + 2 * k for k in range(1024)] * 2


@pytest.fixture(scope="module")
def board_kernels():
    return {tests: link_program(parse_source(tests.SOURCE).module) for tests in (test_channels, test_channel_choice)}


@pytest.mark.parametrize(
    "tests, group",
    [
        (tests, group)
        for tests in (test_channels, test_channel_choice)
        for group in sorted(set(tests.GROUPS) - {"by_themselves"})
    ],
)
def test_the_kernels_of_the_simulated_board(board_kernels, tests, group):
    launches = tests.GROUPS[group](16).items()
    runs = [
        (
            kernel,
            {n: b.view(np.uint8) for n, b in launch.buffers.items() if n != "failed"}
            | {n: np.zeros(4, np.uint8) for n in launch.buffers if n == "failed"},
            launch.scalars,
            IndexSpace.of(launch.global_size),
        )
        for kernel, launch in launches
    ]
    both(board_kernels[tests], runs)


CROSSED = """
channel int c __attribute__((depth(1))), d;
__kernel void first(int n) { for (int i = 0; i < n; i++) write_channel_intel(c, i); write_channel_intel(d, 7); }
__kernel void second(__global int *o, int n) { o[0] = read_channel_intel(d); for (int i = 0; i < n; i++) o[i + 1] = read_channel_intel(c); }
"""


@pytest.mark.parametrize("n", [2, 3])
def test_channels_hold_what_they_hold_as_hardware(n):
    """Two registers are the least a channel is made of, so a depth of 1 is one of 2: two values pass, three do not."""
    module = link_program(parse_source(CROSSED, "crossed.cl").module)
    asked = []

    def depths():
        asked.append(channel_depths(module, load_board("de5net"), Options()))
        return asked[-1]

    emulator, o = Emulator(module, hasty=True, depths=depths), np.zeros(n + 1, "i4")
    emulator.start("first", {}, {"n": n}, ONE)
    second = emulator.start("second", {"o": o}, {"n": n}, ONE)
    emulator.advance()
    assert not second.done and not asked, "more kernels may come yet"
    emulator.advance(last=True)
    assert asked == [{("c", 0): 2, ("d", 0): 2}]
    assert second.done == (n == 2)
    if second.done:
        assert o.tolist() == [7, 0, 1]
    else:
        assert "crossed.cl:3:" in str(emulator.waiting())


def test_depths_of_paths_that_meet_again_and_a_kernel_that_prints():
    source = """channel int a, b, c;
    __kernel void split(__global const int *restrict in, int n) {
        for (int i = 0; i < n; i++) { int x = in[i]; write_channel_intel(a, x); write_channel_intel(b, x); } }
    __kernel void slow(int n) { for (int i = 0; i < n; i++) {
        float f = read_channel_intel(a); printf("%f", f); write_channel_intel(c, (int)sqrt(f)); } }
    __kernel void join(__global int *restrict out, int n) {
        for (int i = 0; i < n; i++) out[i] = read_channel_intel(c) + read_channel_intel(b); }"""
    module = link_program(parse_source(source).module)
    depths = channel_depths(module, load_board("de5net"), Options())
    assert depths["a", 0] == depths["c", 0] == 2 < depths["b", 0]
    assert any(op.opcode == "printf" for op in walk(module.functions["slow"].body)), "only the copy is silent"
