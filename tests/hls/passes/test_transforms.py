"""The pipeline's output for kernels in C: which operations remain, and which kernels are refused."""

import cProfile

import numpy as np
import pytest

from hls.diag import CompileError
from hls.frontend import parse_source
from hls.ir import IntType, Module, walk
from hls.ir.interpreter import run_kernel
from hls.passes.inspection import Inspection
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize


def compiled(text: str, **options):
    """(IR of the frontend, optimized kernel)"""
    module = parse_source(text, "k.cl", {}, []).module
    optimized = optimize(module, PipelineOptions(check=True, **options))
    (function,) = optimized.kernels
    return module, function


def count(function, *opcodes) -> int:
    return sum(op.opcode in opcodes for op in walk(function.body))


def loops(function):
    return [op for op in walk(function.body) if op.opcode == "loop"]


def same(module, function, buffers, scalars, size=(1,)):
    """Run both; the buffers afterwards, which must be equal."""
    results = []
    for each in (module, Module({function.name: function})):
        copies = {name: data.copy() for name, data in buffers.items()}
        run_kernel(each, function.name, copies, scalars, size)
        results.append(copies)
    for name in buffers:
        assert np.array_equal(results[0][name], results[1][name]), name
    return results[0]


SUM = (
    "kernel void k(global int *a, int n) {{ int s = 0;\n{pragma}\nfor (int i = 0; i < {bound}; i++) s += a[i]; "
    "a[0] = s; }}"
)


@pytest.mark.parametrize(
    ("pragma", "bound", "left", "loads"),
    [
        ("", "n", 1, 1),
        ("#pragma unroll", "10", 0, 10),
        ("#pragma unroll 1", "10", 1, 1),
        ("#pragma unroll 4", "16", 1, 4),
        ("#pragma unroll 4", "10", 1, 4),
        ("#pragma unroll 4", "n", 1, 4),
        ("#pragma unroll 10", "10", 0, 10),
    ],
)
def test_unrolling(pragma, bound, left, loads):
    module, f = compiled(SUM.format(pragma=pragma, bound=bound), word_bytes=0)
    assert len(loops(f)) == left and count(f, "load") == loads
    for n in range(12):
        same(module, f, {"a": np.arange(1, 20, dtype=np.int32)}, {"n": n})


def test_a_factor_that_divides_a_constant_trip_count_needs_no_predicates():
    _, f = compiled(SUM.format(pragma="#pragma unroll 4", bound="16"), word_bytes=0)
    assert all(op.operands[1].op.attrs["value"] == 1 for op in walk(f.body) if op.opcode == "load")


def test_a_remainder_is_predicated():
    _, f = compiled(SUM.format(pragma="#pragma unroll 4", bound="n"), word_bytes=0)
    predicates = [op.operands[1] for op in walk(f.body) if op.opcode == "load"]
    assert sum(p.op.opcode == "const" for p in predicates) == 1


def test_the_counter_of_an_unrolled_loop_steps_without_selects():
    _, f = compiled(SUM.format(pragma="#pragma unroll 4", bound="n"))
    (loop,) = loops(f)
    counter = next(v for v in loop.regions[0].args if v.name == "i")
    after = loop.regions[0].terminator.operands[1 + counter.index]
    assert after.op.opcode == "add" and counter in after.op.operands


def test_a_bounded_loop_with_break_is_unrolled_entirely():
    module, f = compiled(
        "kernel void k(global int *a) { int i;\n#pragma unroll\n"
        "for (i = 0; i < 6; i++) { if (a[i] == 3) break; a[i] = 9; } a[7] = i; }"
    )
    assert not loops(f)
    for place in range(7):
        a = np.ones(8, np.int32)
        a[place] = 3
        assert same(module, f, {"a": a}, {})["a"][7] == place


def test_nested_unrolling_reaches_triangular_bounds():
    module, f = compiled(
        "kernel void k(global int *a) {\n#pragma unroll\nfor (int i = 0; i < 4; i++) {\n#pragma unroll\n"
        "for (int j = 0; j <= i; j++) a[i] += a[j]; } }"
    )
    assert not loops(f)
    same(module, f, {"a": np.arange(4, dtype=np.int32)}, {})


ALL = "\n#pragma unroll\n"


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (
            (
                f"{ALL}for (int i = 0; i < 100; i++) {ALL}for (int j = 0; j < 100; j++) {ALL}for (int k = 0; k < 100; "
                "k++) a[i + j] += k;"
            ),
            2,
            r"unrolling this loop 100 times and those inside makes 1\d,\d\d\d,\d\d\d operations",
        ),
        (
            (
                f"for (int l = 0; l < n; l++) {ALL}for (int i = 0; i < 300; i++) for (int j = 0; j < n; j++) {ALL}for "
                "(int k = 0; k < 90; k++) a[i] += k;"
            ),
            2,
            r"unrolling this loop 300 times and those inside makes 3\d\d,\d\d\d operations",
        ),
        (
            f"{ALL}for (int i = 0; i < 3000; i++) a[i] = h(a[i]) + h(i);",
            2,
            r"unrolling this loop 3,000 times makes \d\d,\d\d\d operations",
        ),
        (
            f"{ALL}for (int i = 0; i < 1000000000; i++) a[i] += 1;",
            2,
            r"unrolling this loop 1,000,000,000 times makes 1\d,\d\d\d,\d\d\d,\d\d\d operations",
        ),
        (
            (
                "\n#pragma unroll 90\nfor (int i = 0; i < n; i++) \n#pragma unroll 90\nfor (int j = 0; j < n; j++) a[i] "
                "+= j;"
            ),
            3,
            r"unrolling this loop 90 times and those inside makes \d\d,\d\d\d operations",
        ),
    ],
)
def test_unroll_bombs_say_how_large_they_would_be(body, line, message):
    helper = "int h(int x) { for (int i = 0; i < 3; i++) x = x * 7 + (x >> 3) ^ x; return x; }"
    with pytest.raises(CompileError, match=message + "; the limit is 50,000") as caught:
        compiled(f"{helper} kernel void k(global int *a, int n) {{ {body} }}")
    assert caught.value.diagnostics[0].span.line == line + ("for (int l" in body) * 0 + 1 - (line == 3)


def test_unroll_bombs_are_refused_with_their_size():
    with pytest.raises(CompileError, match=r"makes .* operations; the limit is 50,000"):
        compiled(SUM.format(pragma="#pragma unroll", bound="12000"))
    with pytest.raises(CompileError, match="trip count is not constant"):
        compiled(SUM.format(pragma="#pragma unroll 100", bound="n"))


def test_unknown_trip_counts_are_warned_of():
    warnings = []
    _, f = compiled(SUM.format(pragma="#pragma unroll", bound="n"), warn=warnings.append)
    assert len(loops(f)) == 1
    assert ["not unrolled" in w.message and w.span.line == 3 for w in warnings] == [True]


def test_reading_before_setting_is_warned_of():
    warnings = []
    compiled("kernel void k(global int *a) { int x; a[0] = x; }", warn=warnings.append)
    assert [w.message for w in warnings] == ["x is read before it is set"]


def test_small_loops_over_private_arrays_are_unrolled_without_a_mark():
    module, f = compiled(
        "kernel void k(global int *a, int n) { int w[8]; for (int i = 0; i < 8; i++) w[i] = a[i];"
        "int s = 0; for (int i = 0; i < 8; i++) s += w[7 - i] * i; a[0] = s; }",
        word_bytes=0,
    )
    assert not loops(f) and count(f, "extract", "insert") == 0
    same(module, f, {"a": np.arange(8, dtype=np.int32)}, {"n": 0})


def test_arrays_with_dynamic_indices_become_values():
    module, f = compiled(
        "kernel void k(global int *a, int n) { int h[16]; for (int i = 0; i < 16; i++) h[i] = 0;"
        "for (int i = 0; i < n; i++) h[a[i] & 15] += 1; for (int i = 0; i < 16; i++) a[i] = h[i]; }"
    )
    assert not any(m.space == "private" for m in f.memories.values())
    assert count(f, "extract", "insert") > 0
    assert same(module, f, {"a": np.arange(40, dtype=np.int32)}, {"n": 40})["a"][:16].tolist() == [3] * 8 + [2] * 8


def test_large_private_arrays_stay_memories():
    module, f = compiled(
        "kernel void k(global int *a, int n) { int h[500]; for (int i = 0; i < n; i++) h[a[i]] = i; a[0] = h[n]; }"
    )
    assert [m.name for m in f.memories.values() if m.space == "private"] == ["h"]
    same(module, f, {"a": np.arange(8, dtype=np.int32)}, {"n": 8})


def test_arrays_that_are_never_read_are_dropped_with_their_stores():
    _, f = compiled(
        "kernel void k(global int *a, int n) { int h[500]; for (int i = 0; i < n; i++) h[a[i]] = i; a[0] = n; }"
    )
    assert list(f.memories) == ["a"] and count(f, "store") == 1


def test_pointers_that_walk_and_choose():
    module, f = compiled(
        "void add(global int *p, int v) { *p += v; }\n"
        "kernel void k(global int *a, global int *b, int n) { global int *p = a; global int *q = n > 2 ? a : b;"
        "for (int i = 0; i < n; i++) { add(p++, i); add(q, 1); } }"
    )
    for n in (0, 1, 2, 5):
        buffers = {"a": np.arange(8, dtype=np.int32), "b": np.arange(8, dtype=np.int32)}
        same(module, f, buffers, {"n": n})
    sources = {op.operands[0].op.opcode for op in walk(f.body) if op.opcode in ("load", "store")}
    assert sources == {"addr"} and count(f, "ptradd", "call", "if") == 0


def test_addresses_of_variables_cost_nothing():
    module, f = compiled(
        "void swap(int *x, int *y) { int t = *x; *x = *y; *y = t; }\n"
        "kernel void k(global int *a) { int p = a[0], q = a[1]; swap(&p, &q); a[0] = p; a[1] = q; }"
    )
    assert same(module, f, {"a": np.array([1, 2], np.int32)}, {})["a"].tolist() == [2, 1]
    assert count(f, "select") == 0


def test_a_break_does_not_lengthen_the_recurrence():
    _, f = compiled(
        "kernel void k(global int *a, int n) { for (int i = 0; i < n; i++) { if (a[i] == 7) break; a[i] = 1; } }"
    )
    (loop,) = loops(f)
    (after,) = loop.regions[0].terminator.operands[1:]
    assert after.op.opcode == "add"


def test_bounds_narrow_the_integers():
    _, f = compiled("kernel void k(global uchar *a) { for (long i = 0; i < 100; i++) a[i] = a[i] + i; }")
    (loop,) = loops(f)
    assert [v.type for v in loop.regions[0].args] == [IntType(7)]
    assert all(v.type.bits <= 8 for op in walk(f.body) for v in op.results if isinstance(v.type, IntType))


def test_offsets_have_the_width_of_addresses():
    _, f = compiled("kernel void k(global int *a, long n) { a[n * 3] = 1; }", address_bits=30)
    assert max(op.operands[0].type.bits for op in walk(f.body) if op.opcode == "addr") <= 30


def test_constant_tables_are_folded():
    _, f = compiled("constant int t[4] = {3, 1, 4, 1}; kernel void k(global int *a) { a[0] = t[2]; }")
    (store,) = [op for op in walk(f.body) if op.opcode == "store"]
    assert store.operands[1].op.attrs["value"] == 4


def test_invariant_products_leave_the_loop_and_products_of_counters_are_summed():
    module, f = compiled(
        "kernel void k(global int *a, int n, int w, float x) { for (int i = 0; i < n; i++)"
        "for (int j = 0; j < n; j++) a[i * w + j] = (int)(x * x) + i * w; }"
    )
    inner = next(op for op in walk(f.body) if op.opcode == "loop" and op.attrs["label"] == "j")
    assert not any(op.opcode in ("mul", "fmul", "fptosi") for op in walk(inner.regions[0]))
    assert count(f, "mul") == 0
    same(module, f, {"a": np.zeros(64, np.int32)}, {"n": 5, "w": 7, "x": 2.5})


def test_what_nobody_uses_is_gone():
    _, f = compiled(
        "kernel void k(global int *a, int n) { int s = 0, t = 0; for (int i = 0; i < n; i++) { s += a[i]; t ^= s; }"
        "a[0] = n; }"
    )
    assert not loops(f) and count(f, "load") == 0


def test_volatile_reads_stay():
    _, f = compiled("kernel void k(volatile global int *a, int n) { for (int i = 0; i < n; i++) a[i]; }")
    assert count(f, "load") == 1


def test_dumps_say_what_changed(tmp_path):
    compiled(SUM.format(pragma="", bound="n"), inspection=Inspection(dump=tmp_path))
    names = sorted(p.name for p in (tmp_path / "k").iterdir())
    assert names[0] == "0000-input.ir" and any(name.endswith("-lower-mem2reg.ir") for name in names)
    assert any(name.endswith("-lower-unroll.unchanged") for name in names)
    assert [int(name[:4]) for name in names] == list(range(len(names))) and len(names) > 100


def calls_of_a_compilation(taps: int) -> int:
    """Calls of Python's functions, which unlike seconds are the same on every machine."""
    source = (
        f"kernel void k(global int *a, int n) {{ int w[{taps}];\n#pragma unroll\nfor (int j = 0; j < {taps}; j++) "
        "w[j] = 0;"
        f"for (int i = 0; i < n; i++) {{\n#pragma unroll\nfor (int j = {taps - 1}; j > 0; j--) w[j] = w[j - 1];"
        f"w[0] = a[i]; int s = 0;\n#pragma unroll\nfor (int j = 0; j < {taps}; j++) s += w[j] * (j * 37 + 11);"
        "a[i] = s; } }"
    )
    profile = cProfile.Profile()
    profile.runcall(compiled, source)
    return sum(entry.callcount for entry in profile.getstats())


def test_work_grows_with_the_size():
    """A pass that is quadratic shows with four times the size: sixteen times as many calls."""
    compiled("kernel void k(global int *a) { a[0] = 1; }")  # what is done once in a process
    small, large = (calls_of_a_compilation(taps) for taps in (64, 256))
    assert large < 7 * small, f"{small:,} calls for 64 taps, {large:,} for 256"


@pytest.mark.parametrize(
    "head",
    [
        "int i = 0; i < n; i++",
        "int i = n; i > 0; i--",
        "int i = n; i >= 0; i -= 3",
        "uint i = 0; i <= n; i += 2",
        "uint i = n; i-- > 0;",
        "int i = -n; i <= n; i += 3",
        "int i = 0; i != n; i++",
        "short i = 5; i < n; i += 2",
        "int i = 1; i <= 20; i *= 2",
        "uchar i = 250; i > 3; i++",
    ],
)
def test_loops_of_every_shape_keep_their_trips(head):
    module, f = compiled(
        f"kernel void k(global int *a, int n, int w) {{ int t = 0; for ({head}) {{ t++; a[t] = i * w + i / 3; }}"
        "a[0] = t; }"
    )
    for n in (0, 1, 2, 3, 11):
        same(module, f, {"a": np.zeros(64, np.int32)}, {"n": n, "w": -7})


def test_places_below_a_pointer_into_a_private_array():
    module, f = compiled(
        "kernel void k(global int *a, int n) { int h[16]; for (int i = 0; i < 16; i++) h[i] = i * i;"
        "for (int i = 0; i < n; i++) { int *p = &h[(a[i] & 7) + 2]; p[-1] += 3; a[i] = p[-2] - p[-1]; } }"
    )
    same(module, f, {"a": np.arange(5, 25, dtype=np.int32)}, {"n": 20})


def test_variables_of_a_helper_are_not_carried_from_call_to_call():
    _, f = compiled(
        "int f(int x) { int t; if (x > 0) t = x; int r = 1; if (x > 0) r = t + 1; return r; }\n"
        "kernel void k(global int *a, int n) { for (int i = 0; i < n; i++) a[i] = f(a[i]); }"
    )
    (loop,) = loops(f)
    assert [v.name for v in loop.regions[0].args] == ["i"]
