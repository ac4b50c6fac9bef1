"""Kernels as users write them, with restrict and with channels selected at run time, on the emulator against numpy."""

import numpy as np
import pytest

from sim import cl

mf = cl.mem_flags
N = 48
A = np.random.default_rng(4).integers(0, 100, N).astype(np.int32)

CHANNELS = """#pragma OPENCL EXTENSION cl_intel_channels : enable
typedef struct { int key; float weight; } item;
channel int lane[4] __attribute__((depth(16)));
channel int back[4] __attribute__((depth(16)));
channel int grid[2][3] __attribute__((depth(64)));
channel item boxes[3] __attribute__((depth(32)));
channel int offered[2] __attribute__((depth(4)));
__kernel void deal(__global const int *restrict a, int n) { for (int i = 0; i < n; i++) write_channel_intel(lane[i & 3], a[i]); }
__kernel void work0(int n) { for (int i = 0; i < n / 4; i++) write_channel_intel(back[0], read_channel_intel(lane[0]) * 2); }
__kernel void work1(int n) { for (int i = 0; i < n / 4; i++) write_channel_intel(back[1], read_channel_intel(lane[1]) * 3); }
__kernel void work2(int n) { for (int i = 0; i < n / 4; i++) write_channel_intel(back[2], read_channel_intel(lane[2]) * 4); }
__kernel void work3(int n) { for (int i = 0; i < n / 4; i++) write_channel_intel(back[3], read_channel_intel(lane[3]) * 5); }
__kernel void collect(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = read_channel_intel(back[i % 4]); }

__kernel void fill_grid(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(grid[a[i] & 1][(uint)a[i] % 3], a[i]);
}
__kernel void empty_grid(__global int *restrict o, int n) {
    int k = 0;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 3; c++) {
            bool valid = true;
            while (valid) { int x = read_channel_nb_intel(grid[r][c], &valid); if (valid) o[k++] = x; }
        }
    o[k] = -k;
}
__kernel void sort_items(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) { item x; x.key = a[i]; x.weight = a[i] / 2.0f; write_channel_intel(boxes[a[i] < 30 ? 0 : a[i] < 60 ? 1 : 2], x); }
    for (int b = 0; b < 3; b++) { item end = { -1, b }; write_channel_intel(boxes[b], end); }
}
__kernel void weigh(__global float *restrict w, __global int *restrict o, int n) {
    for (int b = 0; b < 3; b++) {
        float sum = 0; int count = 0;
        for (item x = read_channel_intel(boxes[b]); x.key >= 0; x = read_channel_intel(boxes[b])) { sum += x.weight; count++; }
        w[b] = sum; o[b] = count;
    }
}
__kernel void overflow(__global const int *restrict a, __global int *restrict o, int n) {
    int kept = 0;
    for (int i = 0; i < n; i++) {
        bool sent = write_channel_nb_intel(offered[i & 1], a[i]);
        if (!sent) sent = write_channel_nb_intel(offered[(i + 1) & 1], a[i]);
        kept += sent;
    }
    o[0] = kept;
}
__kernel void taken(__global int *restrict o, int n) {
    for (int i = 0; i < n; i++) { bool valid; int x = read_channel_nb_intel(offered[i & 1], &valid); o[i] = valid ? x : -1; }
}
__kernel void too_far(int k) { write_channel_intel(lane[k], 1); }
__kernel void too_far_nb(__global int *restrict o, int k) { bool valid; o[0] = read_channel_nb_intel(back[k - 7], &valid); }
__kernel void wrong_column(int k) { write_channel_intel(grid[0][k], 1); }
"""


@pytest.fixture(scope="module")
def context():
    return cl.create_some_context(device="emulator")


@pytest.fixture
def joined(context):
    return cl.Program(context, CHANNELS).build()


def run(program, *launches):
    """Each kernel in a queue of its own; the arrays after all have ended."""
    buffers, events = {}, []
    for name, *arguments in launches:
        given = []
        for one in arguments:
            if isinstance(one, np.ndarray):
                buffers[id(one)] = (cl.Buffer(program.context, mf.COPY_HOST_PTR, hostbuf=one), one)
                one = buffers[id(one)][0]
            given.append(one)
        events.append(cl.Kernel(program, name)(cl.CommandQueue(program.context), (1,), None, *given))
    cl.wait_for_events(events)
    for buffer, array in buffers.values():
        cl.enqueue_copy(cl.CommandQueue(program.context), array, buffer)


n = np.int32(N)


def test_work_is_dealt_to_four_kernels(joined):
    o = np.zeros(N, np.int32)
    run(joined, ("collect", o, n), ("deal", A, n), *((f"work{k}", n) for k in range(4)))
    assert np.array_equal(o, A * (np.arange(N) % 4 + 2))


def test_a_grid_of_channels(joined):
    o = np.zeros(N + 1, np.int32)
    run(joined, ("fill_grid", A, n))
    run(joined, ("empty_grid", o, n))
    wanted = [x for r in range(2) for c in range(3) for x in A if x & 1 == r and x % 3 == c]
    assert o.tolist() == [*wanted, -N]


def test_structures_sorted_by_key(joined):
    w, o = np.zeros(3, np.float32), np.zeros(3, np.int32)
    run(joined, ("weigh", w, o, n), ("sort_items", A, n))
    parts = [A[A < 30], A[(A >= 30) & (A < 60)], A[A >= 60]]
    assert o.tolist() == [len(p) for p in parts] and w.tolist() == [p.sum() / 2 for p in parts]


def test_what_finds_no_room_is_dropped(joined):
    kept, o = np.zeros(1, np.int32), np.zeros(N, np.int32)
    run(joined, ("overflow", A, kept, n))
    run(joined, ("taken", o, n))
    got = o[o >= 0]
    assert 8 <= kept[0] == len(got) < N and set(got[:8]) == set(A[:8])


@pytest.mark.parametrize(
    ("kernel", "k", "text"),
    [
        ("too_far", 4, "there is no channel 4: the array has 4"),
        ("too_far", -1, "there is no channel -1: the array has 4"),
        ("too_far", 1 << 30, "there is no channel 1073741824"),
        ("too_far_nb", 3, "there is no channel -4: the array has 4"),
        ("wrong_column", 3, "an index is outside its dimension of the array, which has 6 channels in all"),
        ("wrong_column", -1, "an index is outside its dimension"),
    ],
)
def test_an_index_outside_has_a_place(joined, kernel, k, text):
    line = next(i for i, one in enumerate(CHANNELS.splitlines(), 1) if f"void {kernel}(" in one)
    arguments = (np.zeros(1, np.int32), np.int32(k)) if kernel == "too_far_nb" else (np.int32(k),)
    with pytest.raises(
        cl.RuntimeError, match=rf"(?s)program source>:{line}:\d+: error\[E\d+\]: kernel {kernel}: .*{text}"
    ):
        run(joined, (kernel, *arguments))


PROMISES = """
__kernel void three(__global const int *restrict a, __global const int *restrict b, __global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = a[i] + b[i]; }
__kernel void in_place(__global int *restrict a, int n) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }
__kernel void only_one(__global int *a, __global int *restrict b, __global const int *c, int n) { for (int i = 0; i < n; i++) b[i] = a[i] + c[i]; }
__kernel void const_pointer(__global int *const restrict a, const __global int *restrict const b, int n) { for (int i = 0; i < n; i++) a[i] = b[i] * 2; }
__kernel void sometimes(__global int *restrict a, __global int *restrict b, int n) { if (n > 1000) a[0] = b[0]; }
__kernel void vectors(__global const float4 *restrict a, __global float4 *restrict b, int n) { for (int i = 0; i < n / 4; i++) b[i] = a[i].wzyx; }
void into(__global int *restrict x, __global const int *y, int n) { for (int i = 0; i < n; i++) x[i] = y[i] + 1; }
__kernel void by_helper(__global int *a, __global int *b, int n) { into(a, b, n); }
__kernel void counted(__global const int *restrict a, __global int *restrict bins, int n) { for (int i = 0; i < n; i++) atomic_inc(&bins[a[i] & 7]); }
__kernel void unused(__global int *restrict a, __global int *restrict b, int n) { a[0] = n; }
"""


@pytest.fixture(scope="module")
def promised(context):
    return cl.Program(context, PROMISES).build()


def launch(program, kernel, *offsets):
    """Parts of one buffer, from these elements on, 16 elements each."""
    whole = cl.Buffer(program.context, mf.COPY_HOST_PTR, hostbuf=np.arange(256, dtype=np.int32))
    parts = [whole.get_sub_region(4 * offset, 64) for offset in offsets]
    queue, found = cl.CommandQueue(program.context), np.empty(256, np.int32)
    cl.Kernel(program, kernel)(queue, (1,), None, *parts, np.int32(16)).wait()
    cl.enqueue_copy(queue, found, whole)
    return found


@pytest.mark.parametrize(
    ("kernel", "offsets"),
    [
        ("three", (0, 32, 32)),
        ("three", (0, 32, 12)),
        ("three", (15, 64, 0)),
        ("only_one", (0, 8, 64)),
        ("only_one", (64, 8, 0)),
        ("const_pointer", (0, 15)),
        ("const_pointer", (4, 0)),
        ("sometimes", (0, 0)),
        ("vectors", (0, 12)),
        ("counted", (0, 8)),
    ],
)
def test_buffers_that_overlap_break_restrict(promised, kernel, offsets):
    with pytest.raises(cl.LogicError, match=f"(?s)INVALID_KERNEL_ARGS.*error\\[E1003\\]: kernel {kernel} .*that share"):
        launch(promised, kernel, *offsets)


@pytest.mark.parametrize(
    ("kernel", "offsets"),
    [
        ("three", (0, 0, 16)),
        ("three", (0, 8, 32)),
        ("in_place", (3,)),
        ("only_one", (0, 64, 8)),
        ("const_pointer", (0, 16)),
        ("by_helper", (0, 64)),
        ("unused", (0, 0)),
    ],
)
def test_buffers_that_keep_it(promised, kernel, offsets):
    want = np.arange(256, dtype=np.int32)
    p = [want[offset : offset + 16] for offset in offsets]
    match kernel:
        case "three":
            p[2][:] = p[0] + p[1]
        case "in_place":
            p[0][:] = np.cumsum(p[0])
        case "only_one":
            p[1][:] = p[0] + p[2]
        case "const_pointer":
            p[0][:] = p[1] * 2
        case "by_helper":
            p[0][:] = p[1] + 1
        case "unused":
            p[0][0] = 16
    assert np.array_equal(launch(promised, kernel, *offsets), want)
