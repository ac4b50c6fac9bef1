"""The interpreter against numpy and against the op table."""

import math
import random

import ir_kernels as kernels
import numpy as np
import pytest

from hls.diag import Span
from hls.ir import BOOL, F32, I8, I32, I64, OPS, PTR, Builder, Function, IntType, MemoryObject, Module, Value
from hls.ir.interpreter import ExecutionError, run_kernel
from hls.ir.verifier import verify, verify_module


def single(opcode, types, result, attrs=None) -> Function:
    """A kernel that applies one operation to its arguments and stores the result."""
    f = Function("one", "kernel")
    kernels.add_buffer(f, "out", result)
    args = kernels.add_args(f, **{f"x{k}": t for k, t in enumerate(types)})
    b = Builder(f.body)
    b.op("store", b.addr("out"), b.value(opcode, *args, result=result, attrs=attrs), b.true())
    b.op("return")
    return f


def sample(rng, type):
    if isinstance(type, IntType):
        return rng.choice([0, 1, (1 << type.bits) - 1, 1 << type.bits - 1, rng.getrandbits(type.bits)])
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 3.4e38, rng.gauss(0, 1e3)]
    return float(np.float32(rng.choice(values)))


BINARY = [name for name, row in OPS.items() if row.arity == 2 and row.check in ("int", "float") and row.result]


@pytest.mark.parametrize("opcode", BINARY)
def test_binary_operations_follow_the_table(opcode):
    rng = random.Random(opcode)
    for type in [F32] if OPS[opcode].check == "float" else [IntType(1), I8, IntType(17), I32, I64]:
        result = BOOL if has_compare(opcode) else type
        f = single(opcode, [type, type], result)
        verify(f)
        for _ in range(40):
            check_one(f, opcode, [sample(rng, type), sample(rng, type)], type, result)


def has_compare(opcode):
    return "compare" in OPS[opcode].traits


def check_one(f, opcode, values, type, result):
    out = bytearray(8)
    run_kernel(f, "one", {"out": out}, {"x0": values[0], "x1": values[1]})
    expected = OPS[opcode].meaning(values, [type] * 2, result, {})
    if result == F32:
        assert (
            np.float32(expected).tobytes() == bytes(out[:4])
            or math.isnan(expected)
            and math.isnan(np.frombuffer(out, np.float32)[0])
        )
    else:
        assert int.from_bytes(out, "little") == expected, (opcode, values)


@pytest.mark.parametrize(
    ("opcode", "source", "target"),
    [
        ("zext", I8, I32),
        ("sext", I8, I32),
        ("sext", IntType(1), I64),
        ("trunc", I64, IntType(17)),
        ("sitofp", I64, F32),
        ("uitofp", I64, F32),
        ("fptosi", F32, I8),
        ("fptoui", F32, I64),
        ("bitcast", F32, I32),
        ("bitcast", I32, F32),
    ],
)
def test_conversions_follow_the_table(opcode, source, target):
    rng = random.Random(7)
    f = single(opcode, [source], target)
    verify(f)
    for _ in range(60):
        x, out = sample(rng, source), np.zeros(8, np.uint8)
        run_kernel(f, "one", {"out": out}, {"x0": x})
        expected = OPS[opcode].meaning([x], [source], target, {})
        got = out.view(np.float32)[0] if target == F32 else int.from_bytes(bytes(out), "little")
        assert got == expected or math.isnan(got) and math.isnan(expected)


def test_loop_over_a_buffer():
    f = kernels.scale()
    verify(f)
    a = np.arange(100, dtype=np.float32)
    run_kernel(f, "scale", {"a": a}, {"n": 60, "k": 0.5})
    assert np.array_equal(a, np.where(np.arange(100) < 60, np.float32(0.5), 1) * np.arange(100, dtype=np.float32))


@pytest.mark.parametrize(("n", "expected"), [(0, [1, 2]), (1, [2, 1]), (2, [1, 2]), (5, [2, 1])])
def test_carried_values_change_at_once_and_keep_the_initial_ones_when_off(n, expected):
    a = np.zeros(2, np.int32)
    run_kernel(kernels.swap_loop(), "swap", {"a": a}, {"n": n})
    assert a.tolist() == expected


def test_work_items():
    a = np.zeros((2, 4), np.int32)
    run_kernel(kernels.global_ids(), "ids", {"a": a}, {}, (4, 2), (2, 1))
    assert a.tolist() == [[0, 1, 0, 1], [16, 17, 16, 17]]
    with pytest.raises(ValueError, match="multiple"):
        run_kernel(kernels.global_ids(), "ids", {"a": a}, {}, (4, 2), (3, 1))


@pytest.mark.parametrize("index", [-1, 100])
def test_access_outside_a_buffer_names_the_place(index):
    f = Function("k", "kernel")
    kernels.add_buffer(f, "a", F32)
    (i,) = kernels.add_args(f, i=I32)
    b = Builder(f.body, Span("k.cl", 3, 5))
    b.op("store", kernels.element(b, "a", i), b.const(1.0, F32), b.true())
    b.op("return")
    with pytest.raises(ExecutionError, match="k.cl:3:5: write of 4 bytes") as caught:
        run_kernel(f, "k", {"a": np.zeros(100, np.float32)}, {"i": index})
    assert (caught.value.span, caught.value.memory, caught.value.offset) == (Span("k.cl", 3, 5), "a", 4 * index)


def test_an_access_that_is_off_does_nothing_and_reads_zero():
    f = Function("k", "kernel")
    kernels.add_buffer(f, "a", I32)
    (go,) = kernels.add_args(f, go=BOOL)
    b = Builder(f.body)
    value = b.value("load", b.addr("a", 400), go, result=I32)
    b.op("store", b.addr("a", 400), value, go)
    b.op("store", b.addr("a"), value, b.true())
    b.op("return")
    a = np.full(2, 5, np.int32)
    run_kernel(f, "k", {"a": a}, {"go": 0})
    assert a.tolist() == [0, 5]


def test_endless_loop_is_stopped():
    with pytest.raises(ExecutionError, match="too many"):
        run_kernel(kernels.swap_loop(), "swap", {"a": bytearray(8)}, {"n": 100}, max_iterations=99)
    run_kernel(kernels.swap_loop(), "swap", {"a": bytearray(8)}, {"n": 99}, max_iterations=99)


def test_calls_with_pointers_and_private_memories():
    """inc(int *p) { int t = *p; *p = t + 1; }  called on a private variable and through a pointer variable."""
    inc = Function("inc", "helper", memories={"t": MemoryObject("t", "private", I32, 1)})
    p = Value(PTR, "p", inc.body, 0)
    inc.args = [p]
    b = Builder(inc.body)
    b.op("store", b.addr("t"), b.value("load", p, b.true(), result=I32), b.true())
    old = b.value("load", b.addr("t"), b.true(), result=I32)
    b.op("store", p, b.value("add", old, b.const(1, I32)), b.true())
    b.op("return", old)
    f = Function(
        "k", "kernel", memories={"x": MemoryObject("x", "private", I32, 1), "q": MemoryObject("q", "private", PTR, 1)}
    )
    kernels.add_buffer(f, "a", I32)
    b = Builder(f.body)
    b.op("store", b.addr("x"), b.const(7, I32), b.true())
    b.op("store", b.addr("q"), b.addr("x"), b.true())
    q = b.value("load", b.addr("q"), b.true(), result=PTR)
    first = b.value("call", q, result=I32, attrs={"callee": "inc"})
    b.value("call", b.addr("x"), result=I32, attrs={"callee": "inc"})
    b.op("store", b.addr("a"), first, b.true())
    b.op("store", b.addr("a", 4), b.value("load", b.addr("x"), b.true(), result=I32), b.true())
    b.op("return")
    module = Module({"inc": inc, "k": f})
    verify_module(module)
    a = np.zeros(2, np.int32)
    run_kernel(module, "k", {"a": a}, {})
    assert a.tolist() == [7, 9]
