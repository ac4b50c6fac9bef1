"""SIMD lanes: the behaviour of a kernel before and after, and the operations that all lanes share."""

import numpy as np
import pytest

from hls.diag import CompileError
from hls.frontend import parse_source
from hls.ir import Function, Module, walk
from hls.ir.interpreter import run_kernel
from hls.passes.lowering.inline import Inline
from hls.passes.lowering.vectorize_work_items import VectorizeWorkItems
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.differential.devices import inputs
from tests.differential.devices import outputs as outputs_of
from tests.differential.groups import GROUP, ITEMS, group_source

BODIES = {
    "ids": """(__global int *out, int n) {
        int k = get_global_id(0) - get_global_offset(0) + get_global_size(0) * get_global_id(1);
        out[4 * k] = get_local_id(0) + 1000 * get_group_id(0) + n; out[4 * k + 1] = get_local_size(0) + 100 * get_num_groups(0);
        out[4 * k + 2] = get_global_id(0); out[4 * k + 3] = get_local_id(1) * 10 + get_group_id(1); }""",
    "conditions": """(__global int *out, int n) {
        int i = get_global_id(0);
        if (i & 1) { if (out[i] > n) out[i] = -out[i]; else out[i] += 3; }
        else if (n > 3) out[i] ^= 21;
        if (i == 7) return;
        out[i] += 1; }""",
    "uniform_loop": """(__global int *out, int n) {
        int i = get_global_id(0), s = 0;
        for (int k = 0; k < n; k++) { s = s * 3 + out[i] + k; if (s & 1) s += out[k]; }
        out[100 + i] = s; }""",
    "loops_for_some": """(__global int *out, int n) {
        int i = get_global_id(0), s = out[i], last = -1;
        if (s > 0)
            for (int k = 0; k < n; k++) {
                s += k; last = k;
                if (s & 2) for (int j = 0; j < 3; j++) { s ^= j * i; out[100 + i] += s; }
                for (int j = 0; j < n; j++) s += j;
            }
        out[i] = s + last; }""",
    "entered_by_some": """(__global int *out, int n) {
        int i = get_global_id(0), k = 0, s = 0;
        for (int go = out[i] > -30; go; go = ++k < n) s += k + 1;
        out[i] = s; }""",
    "private_array": """(__global int *out, int n) {
        int i = get_global_id(0); int t[32];
        for (int k = 0; k < 32; k++) t[k] = k * i;
        for (int k = 0; k < n; k++) t[(k * 7 + i) & 31] += out[i];
        out[i] = t[n & 31] + t[i & 31]; }""",
    "groups": """(__global int *out, int n) {
        __local int t[64]; int l = get_local_id(0);
        t[l] = out[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
            if (l < s) t[l] += t[l + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        out[get_global_id(0)] = t[0] + n; }""",
    "atomics": """(__global int *out, int n) {
        int i = get_global_id(0);
        atomic_inc(&out[199]); atomic_add(&out[200], out[i]); if (i & 1) atomic_max(&out[201 + n], i); }""",
    "group_base": """(__global int *out, int n) {
        int i = get_global_id(0), first = get_global_id(0) - get_local_id(0);
        for (int k = first; k < first + n; k++) out[200 + i] += out[100 + k] * out[first]; }""",
    "left_by_data": """(__global int *out, int n) {
        int i = get_global_id(0), k, s = 0;
        for (k = 0; k < 3 * n; k++) { if ((out[i] & 15) == k) break; s += k; out[300 + i] += k; }
        out[i] = 100 * k + s; }""",
    "strides": """(__global int *out, int n) {
        int i = get_global_id(0), s = 0, last = -1; short j;
        for (int k = get_local_id(0); k < 9 * n; k += get_local_size(0)) { s += out[k]; last = k; }
        for (j = 3 * get_local_id(0); j > -n; j -= n) s ^= j;
        out[300 + i] = s + last * 1000 + j; }""",
    "left_and_left_again": """(__global int *out, int n) {
        int i = get_global_id(0), s = i; int t[8] = {0};
        if (i % 3)
            for (int k = 0; k < (i & 7); k++) {
                int j = k;
                while (s > k * j) { s -= 3 + j; j++; atomic_add(&out[400], j); if (j > 7 + n) break; }
                t[j & 7] += s;
                for (int m = 0; m < n; m++) s += m * k;
            }
        out[i] = s + t[i & 7]; }""",
    "counted_together": """(__global int *out, int n) {
        int i = get_local_id(0), k, s = 0;
        for (k = get_local_id(0); k - get_local_id(0) < n; k++) s += out[k];
        out[200 + get_global_id(0)] = s * 100 + k; }""",
    "without_ids_in_x": """(__global int *out, int n) { out[get_global_id(1)] = n; }""",
}
SPACES = [((16,), (16,), (0,)), ((48,), (16,), (3,)), ((16, 3), (16, 1), (5, 1)), ((64, 2, 2), (32, 2, 1), (0,))]


def module_of(body: str, lanes: int, attribute: str = "") -> Module:
    source = f"__kernel __attribute__((num_simd_work_items({lanes}))) {attribute} void k{body}"
    return parse_source(source, "k.cl", {}, []).module


def result(module: Module, space) -> np.ndarray:
    out = np.arange(-40, 1000, dtype=np.int32)
    run_kernel(module, "k", {"out": out}, {"n": 5}, *space)
    return out


def side_by_side(module: Module, name: str = "k") -> Function:
    """The kernel right behind the pass."""
    function = Inline().run(module).functions[name]
    for each in kernel_passes(PipelineOptions()):
        function = each.run(function)
        if isinstance(each, VectorizeWorkItems):
            break
    return function


@pytest.mark.parametrize("lanes", [2, 16])
@pytest.mark.parametrize("name", BODIES)
def test_lanes_do_what_work_items_do(name, lanes):
    module = module_of(BODIES[name], lanes)
    stages = [Module({"k": side_by_side(module)})]
    if name != "groups":  # iterations that meet are no longer the interpreter's
        stages.append(optimize(module, PipelineOptions(check=True)))
    for space in SPACES if name in ("ids", "without_ids_in_x") else SPACES[:2]:
        expected = result(module, space)
        for k, stage in enumerate(stages):
            assert np.array_equal(result(stage, space), expected), (space, k)


GROUP_SEEDS = (1, 2, 3, 4, 5, 6, 7, 8, 9)


@pytest.mark.parametrize("seed", GROUP_SEEDS)
def test_random_kernels_with_barriers(seed):
    lanes = 2 + seed % 2 * 2
    source = group_source([seed]).replace("__kernel", f"__kernel __attribute__((num_simd_work_items({lanes})))")
    module, outputs = parse_source(source, "g.cl", {}, []).module, []
    for each in (module, Module({f"g{seed}": side_by_side(module, f"g{seed}")})):
        given = {name: array.copy() for name, array in inputs(seed).items()}
        found = outputs_of(ITEMS * 64)
        buffers = {name: array.view(np.uint8).reshape(-1) for name, array in (given | found).items()}
        run_kernel(each, f"g{seed}", buffers, {}, (ITEMS,), (GROUP,))
        outputs.append([array.tobytes() for array in found.values()])
    assert any(outputs[0][0]) and outputs[0] == outputs[1]


def count(function: Function, opcode: str) -> int:
    return sum(op.opcode == opcode for op in walk(function.body))


def test_what_does_not_differ_is_there_once():
    function = side_by_side(
        module_of(
            """(__global const float *restrict a, __global float *restrict b, float n) {
        int i = get_global_id(0), j = get_global_id(1);
        b[i] = a[i] * (a[j] / n); }""",
            4,
        )
    )
    assert function.attrs["lanes"] == 4
    assert [count(function, each) for each in ("fdiv", "fmul", "load", "store")] == [1, 4, 5, 4]


def test_lanes_share_the_loop_and_its_counter():
    function = side_by_side(module_of(BODIES["uniform_loop"], 4))
    (loop,) = (op for op in walk(function.body) if op.opcode == "loop")
    assert sorted(v.name for v in loop.regions[0].args) == ["k", "s", "s", "s", "s"]


def test_neighbours_are_one_access_of_memory():
    function = optimize(
        module_of(
            "(__global const int *restrict a, __global int *restrict b) "
            "{ int i = get_global_id(0); if (i & 1) b[i] = a[i] + 1; }",
            16,
        )
    ).functions["k"]
    found = [op for op in walk(function.body) if op.opcode in ("load", "store")]
    assert [(op.opcode, op.attrs["members"]) for op in found] == [("load", 16), ("store", 16)]


@pytest.mark.parametrize(
    "size", ["", "__attribute__((reqd_work_group_size(8, 2, 1)))", "__attribute__((reqd_work_group_size(4, 4, 1)))"]
)
def test_a_required_group_size_counts_in_lanes(size):
    module = module_of(BODIES["ids"], 4, size)
    space = ((16, 8), None if size else (8, 4), (2, 1))
    assert np.array_equal(result(optimize(module, PipelineOptions(check=True)), space), result(module, space))


def test_groups_that_are_no_multiple_have_no_meaning():
    for module in (Module({"k": side_by_side(module_of(BODIES["ids"], 4))}), optimize(module_of(BODIES["ids"], 4))):
        with pytest.raises(ValueError, match="the group size 6 is not a multiple of 4 lanes"):
            result(module, ((12,), (6,), (0,)))


@pytest.mark.parametrize("attribute", ["__attribute__((reqd_work_group_size(1, 1, 1)))", ""])
def test_one_work_item_has_no_neighbours(attribute):
    module = module_of("(__global int *out, int n) { out[n] = n; }", 1 if attribute else 4, attribute)
    assert "lanes" not in side_by_side(module).attrs


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("(__global int *a) { int i = get_global_id(0);\n for (int k = 0; k < i; k++) a[k] += i; }", 2),
        (
            (
                "(__global int *a, int n) { int i = get_local_id(0);\n for (int k = 0; k < n; k++) { if (a[i] == k) "
                "break; a[i] += k; } }"
            ),
            2,
        ),
        (
            (
                "(__global int *a, int n) { int i = get_global_id(0);\n for (int k = 0; k < n; k++) {\n int s = a[i];\n "
                "while (s > k) s -= 3; a[i] = s; } }"
            ),
            4,
        ),
    ],
)
def test_loops_that_lanes_leave_at_different_times_are_told_of(body, line):
    told = []
    optimize(module_of(body, 8), PipelineOptions(warn=told.append))
    (warning,) = (one for one in told if "the lanes may leave" in one.message)
    assert warning.message.startswith(
        "num_simd_work_items(8): the lanes may leave this loop after different numbers of iterations"
    )
    assert warning.span.line == line and warning.hint and warning.notes and warning.severity == "warning"


def test_counters_of_lanes_that_leave_at_different_times_stay_neighbours():
    """One counter for all lanes, so that their accesses are one."""
    text = """(__global const int *restrict a, __global int *restrict b, int n) { int s = 0;
        for (int i = get_global_id(0); i < n; i += get_global_size(0)) s += a[i];
        b[get_global_id(0)] = s; }"""
    function = optimize(module_of(text, 4)).functions["k"]
    (load,) = (op for op in walk(function.body) if op.opcode == "load")
    assert load.attrs["members"] == 4


@pytest.mark.parametrize("lanes", [2, 8])
def test_the_size_of_groups_may_say_that_lanes_leave_together(lanes):
    body = """(__global int *out, int n) {
        int s = 0;
        for (int i = get_local_id(0); i < 64; i += 16) s += out[i] * n;
        out[100 + get_global_id(0)] = s; }"""
    module = module_of(body, lanes, "__attribute__((reqd_work_group_size(16, 1, 1)))")
    space = ((48,), (16,), (0,))
    for stage in (Module({"k": side_by_side(module)}), optimize(module, PipelineOptions(check=True))):
        assert np.array_equal(result(stage, space), result(module, space))
    for rounds, parted in (("64", False), ("60", True)):  # which is no multiple of 16
        told = []
        optimize(
            module_of(body.replace("64", rounds), lanes, "__attribute__((reqd_work_group_size(16, 1, 1)))"),
            PipelineOptions(warn=told.append),
        )
        assert any("different numbers of iterations" in one.message for one in told) is parted


def test_calls_on_channels_are_refused_also_in_helpers():
    source = """channel int values;
void give(int x) { write_channel_intel(values, x); }
__kernel __attribute__((num_simd_work_items(4))) void k(__global int *a) { if (a[get_global_id(0)]) give(7); }"""
    with pytest.raises(CompileError) as caught:
        optimize(parse_source(source, "k.cl", {}, []).module)
    (fault,) = caught.value.diagnostics
    assert (
        fault.message == "num_simd_work_items(4): calls on channels by work-items side by side are not yet in hardware"
    )
    assert fault.span.line == 2 and fault.hint


def test_ids_of_another_dimension_may_decide_how_long_a_loop_runs():
    module = module_of(
        "(__global int *out, int n) { int i = get_global_id(0);"
        " for (int k = 0; k < get_global_id(1); k++) out[i] += n * k; }",
        4,
    )
    space = ((8, 3), (4, 1), (0, 0))
    assert np.array_equal(result(optimize(module, PipelineOptions(check=True)), space), result(module, space))
