"""-fpc: which sums are fused, which are not, and that the result is the exact one, rounded once."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from hls.driver import compile, plan_module
from hls.frontend import parse_source
from hls.ir import print_module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.parser import parse_module
from hls.ir.verifier import verify, verify_module
from hls.options import Options
from hls.passes.float.contract_float_trees import MOST_TERMS
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import link_program, optimize
from hls.target.board import load_board

HEAD = "__kernel void f(__global const float *restrict a, __global float *restrict out, int n) {\n"
#: body, and how often which float operation is left
TREES = {
    "out[0] = a[0] * a[1] + a[2];": {"fma": 1},
    "out[0] = a[0] - a[1] * a[2];": {"fma": 1, "fneg": 1},
    "out[0] = -(a[0] * a[1]) - a[2];": {"fma": 1, "fneg": 2},
    "out[0] = a[0] * a[1] - a[2] * a[3];": {"fsum +* -*": 1},
    "out[0] = a[0] + a[1] - (a[2] - a[3]);": {"fsum + + - +": 1},
    "out[0] = mad(a[0], a[1], a[2]);": {"fma": 1},
    "out[0] = dot(vload4(0, a), vload4(1, a));": {"fsum +* +* +* +*": 1},
    # a single operation is what it was
    "out[0] = a[0] + a[1]; out[1] = a[2] * a[3];": {"fadd": 1, "fmul": 1},
    # others look at the product, or at the sum inside
    "float p = a[0] * a[1]; out[0] = p + a[2]; out[1] = p;": {"fmul": 1, "fadd": 1},
    # a sum over a loop keeps its addition
    "float s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; out[0] = s;": {"fmul": 1, "fadd": 1},
    "float s = 0; for (int i = 0; i < n; i++) s = s + a[i] * a[i] + a[i]; out[0] = s;": {"fma": 1, "fadd": 1},
    "out[n] += a[0] * a[1] - a[2] * a[3];": {"fsum +* -*": 1, "fadd": 1},
    "float s = 0; for (int i = 0; i < n; i++) s -= a[i] * a[i] + a[0] + a[1]; out[0] = s;": {
        "fsum -* - -": 1,
        "fadd": 1,
    },
    # but not the one in which what it carries is a factor
    "float s = 0; for (int i = 0; i < n; i++) s = s * a[0] + a[i]; out[0] = s;": {"fma": 1},
}


def linked(body, told=None):
    return link_program(
        parse_source(HEAD + body + "\n}\n", "k.cl").module, True, told.append if told is not None else None
    )


def float_operations(function):
    names = [op.opcode if op.opcode != "fsum" else " ".join(["fsum", *op.attrs["terms"]]) for op in walk(function.body)]
    return dict(Counter(name for name in names if name.split()[0] in {"fadd", "fsub", "fmul", "fneg", "fma", "fsum"}))


@pytest.mark.parametrize("body", TREES)
def test_trees(body):
    module = linked(body)
    verify_module(module)
    assert float_operations(module.functions["f"]) == TREES[body]
    assert print_module(parse_module(print_module(module))) == print_module(module)


@pytest.mark.parametrize("body", TREES)
def test_every_pass_keeps_the_bits(body):
    module = linked(body)
    optimized = optimize(module, PipelineOptions(check=True))
    verify(optimized.functions["f"])
    values = np.random.default_rng(1).normal(0, 1, 16).astype(np.float32)
    results = []
    for each in (module, optimized):
        out = np.ones(8, np.float32)
        run_kernel(each, "f", {"a": values.copy(), "out": out}, {"n": 5})
        results.append(out.tobytes())
    assert results[0] == results[1]


def test_a_sum_is_the_exact_one_rounded_once():
    module = linked("out[0] = a[0] * a[1] + a[2] * a[3] - a[4] * a[5] + a[6];")
    plain = parse_source(HEAD + "out[0] = a[0] * a[1] + a[2] * a[3] - a[4] * a[5] + a[6];\n}\n").module
    rng, different = np.random.default_rng(2), 0
    for _ in range(200):
        a = rng.uniform(0.5, 1, 7).astype(np.float32)  # nothing is cut off, as all terms are of about a size
        fused, apart = np.zeros(1, np.float32), np.zeros(1, np.float32)
        run_kernel(module, "f", {"a": a, "out": fused}, {"n": 1})
        run_kernel(plain, "f", {"a": a, "out": apart}, {"n": 1})
        x = [Fraction(float(v)) for v in a]
        exact = x[0] * x[1] + x[2] * x[3] - x[4] * x[5] + x[6]
        near = np.float32(float(exact))  # a double has room for all of it
        assert fused[0] == near
        different += fused[0] != apart[0]
    assert different > 20


def test_long_sums_are_several():
    terms = 3 * MOST_TERMS
    module = linked(f"out[0] = {' + '.join(f'a[{k}]' for k in range(terms))};")
    sums = [op for op in walk(module.functions["f"].body) if op.opcode == "fsum"]
    assert (
        sum(len(op.operands) - 1 for op in sums) + float_operations(module.functions["f"]).get("fadd", 0) == terms - 1
    )
    assert max(len(op.operands) for op in sums) == MOST_TERMS and len(sums) >= 3


def test_the_library_keeps_its_roundings():
    text = HEAD + "out[0] = hypot(a[0], a[1]);\n}\n"
    with_it, without = link_program(parse_source(text).module, True), link_program(parse_source(text).module)
    assert float_operations(with_it.functions["math__hypot"]) == float_operations(without.functions["math__hypot"])


@pytest.mark.parametrize(
    ("before", "inside", "fused"),
    [
        ("#pragma OPENCL FP_CONTRACT OFF\n", "", 0),
        ("", "#pragma STDC FP_CONTRACT OFF\n", 0),
        ("#pragma OPENCL FP_CONTRACT OFF\n#pragma OPENCL FP_CONTRACT ON\n", "", 1),
    ],
)
def test_the_program_may_forbid_it(before, inside, fused):
    module = parse_source(f"{before}{HEAD}{inside}out[0] = a[0] * a[1] + a[2];\n}}\n").module
    assert float_operations(link_program(module, True).functions["f"]).get("fma", 0) == fused


def test_what_is_said():
    told = []
    linked(
        "out[0] = a[0] * a[1] + a[2];\n  out[1] = a[0] * a[1] - a[2] * a[3] + a[4];\n  out[2] = a[0] + a[1] + a[2];",
        told,
    )
    assert sorted((d.span.line, d.message, d.severity) for d in told) == [
        (2, "a sum of 2 terms, 1 of them a product, is rounded once: 1 rounding fewer", "note"),
        (3, "a sum of 3 terms, 2 of them products, is rounded once: 3 roundings fewer", "note"),
        (4, "a sum of 3 terms is rounded once: 1 rounding fewer", "note"),
    ]


def test_the_option_reaches_hardware():
    result = compile(
        HEAD + "for (int i = 0; i < n; i++) out[i] = a[i] * a[i + 1] + a[i + 2] * a[i + 3] + 1.0f;\n}\n",
        options=Options(fpc=True),
    )
    assert any("fsum" in text for text in result.verilog.values())
    assert [w.message for w in result.warnings if w.severity == "note"] == [
        "a sum of 3 terms, 2 of them products, is rounded once: 3 roundings fewer"
    ]


#: loop -> its II as written, and fused: the sum that is carried waits for one addition
RECURRENCES = {
    "s += a[i] * a[i];": (6, 6),
    "s = s + a[i] * a[i] + a[n - i];": (12, 6),
    "s = s * a[n] + a[i];": (10, 10),
}


@pytest.mark.parametrize("body", RECURRENCES)
def test_no_loop_waits_longer(body):
    def ii(**options):
        text = f"{HEAD}float s = 1.0f; for (int i = 0; i < n; i++) {{ {body} }} out[0] = s;\n}}\n"
        module = link_program(parse_source(text).module, options.get("fpc", False))
        (kernel,), _ = plan_module(module, load_board("de5net"), Options(**options))
        return max(plan.ii for op, plan in kernel.plan.loops.items() if "label" in op.attrs)

    assert (ii(), ii(fpc=True)) == RECURRENCES[body]
    assert ii(fp_relaxed=True, fpc=True) <= ii(fp_relaxed=True)
