"""Dense expressions on few narrow operands, which hit the corner cases of identities, ranges and widths."""

import random

import pytest

from hls.ir import (
    BOOL,
    I8,
    I64,
    ArrayType,
    Builder,
    Function,
    IntType,
    MemoryObject,
    Parameter,
    Value,
    predicate,
    print_function,
    walk,
)
from hls.ir.interpreter import run_kernel
from hls.ir.rewrite import constant
from hls.ir.verifier import verify
from hls.passes.loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from hls.passes.run_stages import optimize
from hls.passes.scalar.bitwidth_narrowing import BitwidthNarrowing
from hls.passes.scalar.common_subexpression_elimination import CommonSubexpressionElimination
from hls.passes.scalar.constant_folding import ConstantFolding
from hls.passes.scalar.dead_code_elimination import DeadCodeElimination
from hls.passes.scalar.strength_reduction import StrengthReduction
from tests.differential.devices import module_of
from tests.repetitions import sampled

_TYPES = [IntType(4), I8, I8, IntType(13)]
_BINARY = ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr"]
_COMPARE = ["eq", "ne", "ult", "ule", "slt", "sle"]
_PASSES = [
    ConstantFolding(),
    CommonSubexpressionElimination(),
    DeadCodeElimination(),
    BitwidthNarrowing(),
    StrengthReduction(),
    LoopInvariantCodeMotion(),
]


def expressions(seed: int, size: int = 30) -> Function:
    """A kernel of which each work-item reads three bytes and stores ``size`` or more values computed from them."""
    rng = random.Random(seed)
    f = Function("k", "kernel", attrs={"ndrange": True})
    for name, type in (("given", I8), ("out", I64)):
        f.memories[name] = MemoryObject(name, "global", type)
        f.params.append(Parameter(name, "buffer", f"{type} *", 8))
    b = Builder(f.body)
    item = b.value("work_item", result=I64, attrs={"fn": "global_id", "dim": 0})
    start = b.value("mul", item, b.const(3, I64))
    pool = [
        b.value("load", b.addr("given", b.value("add", start, b.const(k, I64))), b.true(), result=I8) for k in range(3)
    ]
    pool.append(b.value("trunc", pool[2], result=IntType(4)))
    count = len(pool)
    for _ in range(size):
        pool.append(_operation(rng, b, pool))
    place = b.value("mul", item, b.const(8 * (len(pool) - count), I64))
    for k, value in enumerate(pool[count:]):
        wide = b.value(rng.choice(["zext", "sext"]), value, result=I64)
        b.op("store", b.addr("out", b.value("add", place, b.const(8 * k, I64))), wide, b.true())
    b.op("return")
    return f


def _operand(rng, b, pool, type):
    fitting = [v for v in pool if v.type == type]
    if not fitting or rng.random() < 0.35:
        return b.const(rng.choice([0, 1, 2, 3, 4, 5, 7, 8, -1, -2, -3, 1 << type.bits - 1, rng.getrandbits(8)]), type)
    return rng.choice(fitting[-6:])


def _operation(rng, b, pool) -> Value:
    kind, type = rng.random(), rng.choice(_TYPES)
    if kind < 0.15:
        source = rng.choice([t for t in _TYPES if t != type])
        opcode = "trunc" if source.bits > type.bits else rng.choice(["zext", "sext"])
        return b.value(opcode, _operand(rng, b, pool, source), result=type)
    left, right = (_operand(rng, b, pool, type) for _ in range(2))
    if kind < 0.3:
        condition = b.value(rng.choice(_COMPARE), left, right)
        if rng.random() < 0.4:
            condition = b.value(rng.choice(["and", "or", "xor"]), condition, _operand(rng, b, pool, BOOL))
        arms = [left, right] if rng.random() < 0.7 else [_operand(rng, b, pool, type) for _ in range(2)]
        return b.value("select", condition, *rng.sample(arms, 2))
    if kind < 0.4:
        return b.value(rng.choice(_COMPARE), left, right)
    opcode = rng.choice(_BINARY)
    value = b.value(opcode, left, right)
    if rng.random() < 0.3:
        pool.append(b.value(opcode, right, left))  # what only commutative operations may merge
    if rng.random() < 0.3:
        pool.append(b.value(opcode, value, _operand(rng, b, [], type)))  # chains with constants
    return value


def outcome(f: Function, given: bytes) -> bytes:
    out = bytearray(len(given) * 8 * 100)
    run_kernel(f, "k", {"out": out, "given": bytearray(given)}, {}, (len(given) // 3,))
    return bytes(out)


@pytest.mark.parametrize("seed", sampled(range(50)))
def test_every_pass_keeps_the_values(seed):
    f = expressions(seed)
    verify(f)
    rng = random.Random(seed)
    given = bytes(rng.choice([0, 1, 2, 127, 128, 254, 255, rng.getrandbits(8)]) for _ in range(3 * 16))
    expected, together = outcome(f, given), f
    for k, each in enumerate((*_PASSES, *_PASSES)):
        together = each.run(together)
        for changed in (together, each.run(f)) if k < len(_PASSES) else (together,):
            verify(changed)
            assert outcome(changed, given) == expected, f"{each.name}\n{print_function(f)}"


def _choice_of_load(type, on, condition) -> Function:
    """``condition ? (a load that takes place if on) : 0``; both count arguments."""
    f = Function("k", "kernel")
    f.memories["given"] = MemoryObject("given", "global", I8)
    f.args += [Value(BOOL, name, f.body, k) for k, name in enumerate("pq")]
    b = Builder(f.body)
    loaded = b.value("load", b.addr("given", 0), f.args[on], result=type)
    nothing = b.const((0,) * type.length if isinstance(type, ArrayType) else 0, type)
    chosen = b.value("select", f.args[condition], loaded, nothing)
    b.op("return")
    f.body.ops[-1].operands.append(chosen)
    return f


@pytest.mark.parametrize(
    ("type", "on", "condition", "left"), [(I8, 0, 0, False), (I8, 0, 1, True), (ArrayType(I8, 2), 0, 0, True)]
)
def test_what_is_not_loaded_is_zero_anyway(type, on, condition, left):
    """Where the condition is the load's own the choice goes; arrays stay as they are, and are no trouble."""
    result = ConstantFolding().run(_choice_of_load(type, on, condition))
    assert any(op.opcode == "select" for op in result.body.ops) == left


def test_cases_that_are_all_there_are():
    """c, or not c and d, or neither; each of them longer than a comparison."""
    text = """__kernel void k(__global const int *restrict a, __global int *restrict out) {
      int x = a[0], y = a[1], z = a[2];
      if (x > 3 && y < z) out[0] = 1; else if (y > 7 || z == x) out[0] = 2; else out[0] = 3; }"""
    (function,) = optimize(module_of(text)).functions.values()
    (store,) = [op for op in walk(function.body) if op.opcode == "store"]
    assert constant(predicate(store)) == 1
