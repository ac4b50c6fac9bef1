"""The emulator agrees with the interpreter: every operation, random modules at every stage, random programs."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import (
    BOOL,
    F32,
    I8,
    I16,
    I32,
    I64,
    OPS,
    ArrayType,
    Builder,
    FloatType,
    Function,
    IntType,
    MemoryObject,
    Module,
    Parameter,
)
from hls.ir.exact import ROUNDINGS
from hls.ir.interpreter import ExecutionError
from hls.ir.launch import IndexSpace
from hls.passes.lowering.inline import Inline
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from sim.emulator import EmulationError, Emulator
from tests.hls.passes.generate import BUFFERS, ELEMENTS, random_module
from tests.plans import planned
from tests.programs.generate import launches, random_kernel
from tests.repetitions import sampled

from .both import ONE_ITEM, Run, emulated, interpreted, merged

ROOT = Path(__file__).parents[3]
WIDTHS = (BOOL, I8, IntType(13), I16, IntType(17), I32, IntType(40), I64)
FLOATS = (FloatType(16), F32, FloatType(64))
SAMPLES = 24


def table_kernel(name: str, opcode: str, types, result, attrs=None) -> Function:
    """out[i] = op(x0[i], x1[i]...) for each work-item i."""
    f = Function(name, "kernel", attrs={"ndrange": True})
    for n, t in [*((f"x{k}", t) for k, t in enumerate(types)), ("out", result)]:
        f.memories[n] = MemoryObject(n, "global", t)
        f.params.append(Parameter(n, "buffer", f"__global {t} *", 8))
    b = Builder(f.body)
    item = b.value("work_item", result=I64, attrs={"fn": "global_id", "dim": 0})

    def place(n, t):
        return b.addr(n, b.value("mul", item, b.const(t.bytes, I64)))

    values = [b.value("load", place(f"x{k}", t), b.true(), result=t) for k, t in enumerate(types)]
    b.op("store", place("out", result), b.value(opcode, *values, result=result, attrs=attrs), b.true())
    b.op("return")
    return f


def operations():
    """(opcode, operand types, result type), and attributes where it has some, for every pure operation on numbers."""
    for name, row in OPS.items():
        if (
            row.meaning is None
            or "convert" in row.traits
            or row.check not in ("int", "float")
            or name in ("fintegral", "fsum", "lut")
        ):
            continue
        for t in WIDTHS if row.check == "int" else FLOATS:
            yield name, (t,) * row.arity, row.result([t] * row.arity, {})
    for a in WIDTHS:
        for inputs, table in ((1, 0b01), (2, 0), (3, 0b11101000), (4, 0b0110_1001_1101_0010)):
            yield "lut", (a,) * inputs, a, {"table": table}
        yield "select", (BOOL, a, a), a
        for b in WIDTHS:
            if a.bits != b.bits:
                yield from ((op, (a,), b) for op in (("zext", "sext") if a.bits < b.bits else ("trunc",)))
        for f in FLOATS:
            for mode in ROUNDINGS:
                yield from ((op, (a,), f, {"rounding": mode}) for op in ("sitofp", "uitofp"))
                yield from ((op, (f,), a, {"rounding": mode}) for op in ("fptosi", "fptoui"))
            yield from (("sitofp", (a,), f), ("fptosi", (f,), a))
    for a, b in ((I8, 8), (I16, 4), (F32, 2), (FloatType(16), 4)):
        array = ArrayType(a, b)
        yield from (("bitcast", (array,), I64), ("bitcast", (I64,), array), ("bitcast", (array,), ArrayType(I16, 4)))
        yield from (("array", (a,) * b, array), ("extract", (array, I8), a), ("insert", (array, I8, a), array))
    for a, b in ((BOOL, 8), (BOOL, 13), (BOOL, 64), (IntType(4), 5)):
        yield "bitcast", (ArrayType(a, b),), IntType(a.bits * b)
    for f in FLOATS:
        for terms in (("+*", "-*"), ("+", "-", "+"), ("-*", "+", "+*")):
            yield "fsum", (f,) * sum(map(len, terms)), f, {"terms": terms}
        for mode in ROUNDINGS:
            yield "fintegral", (f,), f, {"rounding": mode}
            yield from (("fresize", (f,), g, {"rounding": mode}) for g in FLOATS if g != f)
        yield from (("bitcast", (f,), IntType(f.bits)), ("bitcast", (IntType(f.bits),), f))


def values(rng, t) -> np.ndarray:
    if isinstance(t, ArrayType):
        return np.concatenate([values(rng, t.element) for _ in range(t.length)])
    if isinstance(t, IntType):
        numbers = [0, 1, (1 << t.bits) - 1, 1 << t.bits - 1, (1 << t.bits - 1) - 1]
        numbers += [rng.getrandbits(rng.randint(1, t.bits)) for _ in range(SAMPLES - len(numbers))]
        rng.shuffle(numbers)
        return np.array(numbers, f"u{t.bytes}")
    numbers = [
        0.0,
        -0.0,
        float("inf"),
        float("-inf"),
        float("nan"),
        1e-45,
        3.4e38,
        6e-8,
        65519.0,
        65520.0,
        0.5,
        2.0**63,
    ]
    numbers += [rng.gauss(0, 10.0 ** rng.randint(-3, 9)) for _ in range(SAMPLES - len(numbers))]
    rng.shuffle(numbers)
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(f"f{t.bytes}")


def test_every_operation_on_every_width():
    rows = {f"op{k}": row for k, row in enumerate(operations())}
    module = Module({name: table_kernel(name, *row) for name, row in rows.items()})
    emulator, rng = Emulator(module, hasty=True), random.Random(5)
    for name, (opcode, types, result, *attrs) in rows.items():
        buffers = {f"x{k}": values(rng, t) for k, t in enumerate(types)} | {
            "out": np.zeros(SAMPLES * result.bytes, np.uint8)
        }
        run = Run(name, buffers, {}, IndexSpace.of((SAMPLES,)))
        assert emulated(emulator, run) == interpreted(Module({name: module.functions[name]}), run), (
            opcode,
            types,
            result,
            attrs,
        )
    assert {row[0] for row in rows.values()} >= {
        n for n, row in OPS.items() if row.check in ("int", "float") and row.meaning
    }


def stages(module: Module):
    """The module at three stages: as the front end makes it, without calls, and ready for scheduling."""
    yield "front", module
    module = Inline().run(module)
    yield "inlined", module
    functions = {}
    for f in module.kernels:
        for each in kernel_passes(PipelineOptions()):
            f = each.run(f)
        functions[f.name] = f
    yield "optimized", Module(functions)


def compare(modules: dict[str, Module], runs: dict[str, list[Run]]) -> int:
    """Every module at every stage, all of them in one library; returns the number of runs compared."""
    staged = {f"{prefix}_{stage}": m for prefix, module in modules.items() for stage, m in stages(module)}
    emulator, compared = Emulator(merged(staged), hasty=True), 0
    for name, module in staged.items():
        for run in runs[name.rpartition("_")[0]]:
            try:
                expected = interpreted(module, run)
            except ExecutionError:
                continue  # a nest that takes too long
            assert emulated(emulator, replace(run, kernel=f"{name}_{run.kernel}")) == expected, (name, run)
            compared += 1
    return compared


def test_random_modules():
    modules, runs = {}, {}
    for seed in range(12):
        name, ndrange = f"m{seed}", seed % 3 == 0
        modules[name] = random_module(seed, 14, ndrange)
        runs[name] = []
        for k in range(2):
            rng = np.random.default_rng([seed, k])
            buffers = {b: rng.integers(0, 256, ELEMENTS * t.bytes, dtype=np.uint8) for b, t in BUFFERS.items()}
            scalars = {"n": int(rng.integers(-5, 20)), "x": float(np.float32(rng.normal()))}
            runs[name].append(Run("k", buffers, scalars, IndexSpace.of((8,) if ndrange else (1,))))
    assert compare(modules, runs) > 50


def program_runs(kernel, seed: int) -> list[Run]:
    """Two launches; and one with short buffers, which many kernels leave."""
    runs = [
        Run("k", x.buffers, x.scalars, IndexSpace.of(x.global_size, None, x.offset)) for x in launches(kernel, seed)
    ]
    short = {name: array[:40].copy() for name, array in runs[0].buffers.items()}
    return [*runs, replace(runs[0], buffers=short)]


def test_random_programs():
    modules, runs = {}, {}
    for seed in range(16):
        kernel = random_kernel(seed)
        modules[f"p{seed}"] = parse_source(kernel.text, "k.cl", {}, []).module
        runs[f"p{seed}"] = program_runs(kernel, seed)
    assert compare(modules, runs) > 50


def _space(function) -> IndexSpace:
    """Two groups of the size that the kernel asks for, or of four work-items."""
    group = function.attrs.get("work_group_size") or (4,)
    return IndexSpace.of(tuple(2 * n for n in group), group) if function.attrs.get("ndrange") else IndexSpace.of((1,))


#: Kernels that need each other; test_concurrent runs them together.
JOINED = {"channels", "channel_choice", "channel_groups", "depths"}
#: Of a file, or by name: kernels that promise what data of any kind does not keep. The tests of each run it on data
#: that does.
PROMISED = {"promised"}
#: Kernels that wait for another one, which their host never starts; tests/profile shows what is said of them.
WAITING = {"idle", "never_started"}


@pytest.mark.parametrize(
    "file",
    sampled(file for file in sorted((ROOT / "tests/kernels").glob("*.cl")) if file.stem not in JOINED | PROMISED),
    ids=lambda file: file.stem,
)
def test_the_kernels_of_the_simulated_board(file):
    module = parse_source(file.read_text(), file.name, {}, []).module
    emulator, rng = Emulator(module), np.random.default_rng(3)
    for f in (one for one in module.kernels if one.name not in PROMISED | WAITING):
        for n in (0, 1, 9, 17):
            buffers = {
                m.name: rng.integers(0, 64, 64 * m.element.bytes, dtype=np.uint8)
                for m in f.memories.values()
                if m.space == "global"
            }
            names = [p.name for p in f.params if p.kind == "scalar"]
            scalars = {
                name: rng.integers(0, 99, v.type.bytes, dtype=np.uint8) if isinstance(v.type, ArrayType) else n
                for name, v in zip(names, f.args)
            }
            run = Run(
                f.name,
                buffers,
                scalars,
                _space(f),
                {m.name: 64 * m.element.bytes for m in f.memories.values() if m.space == "local" and m.length is None},
            )
            assert emulated(emulator, run) == interpreted(module, run), (f.name, n)


AHEAD = """
__kernel void k(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n)
{
    int i = 0, j = 0;
    for (int k = 0; k < n; k++) {
        int x = a[i], y = b[j];
        out[k] = x < y ? x : y;
        if (x < y) i++; else j++;
    }
}
"""


def test_loads_ahead_of_their_index_fail_where_the_program_makes_them():
    """The place is told, and the buffer, though not the address: that was known some iterations before."""
    module = Module({"k": planned(AHEAD, "ecp5_onchip")["k"].function})
    emulator, endings = Emulator(module, hasty=True), set()
    for length in (0, 3, 4, 5, 9):
        buffers = {
            "a": np.arange(length, dtype=np.int32),
            "b": np.arange(9, dtype=np.int32),
            "out": np.zeros(9, np.int32),
        }
        run = Run("k", buffers, {"n": 8})
        found = emulated(emulator, run)
        assert found == interpreted(module, run)
        endings.add(type(found))
    assert len(endings) == 2
    with pytest.raises(EmulationError, match="a read of argument `a` leaves its buffer of 12 bytes") as raised:
        emulator.run("k", {"a": np.zeros(3, "i4"), "b": np.ones(9, "i4"), "out": np.zeros(9, "i4")}, {"n": 8}, ONE_ITEM)
    assert raised.value.diagnostic.span.line == 6
