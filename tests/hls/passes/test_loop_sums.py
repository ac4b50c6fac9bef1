"""-fp-relaxed: a sum as a long integer is the exact one, rounded once; the smaller one of it and partial sums is
chosen."""

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import Module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.float.expand_float_reductions import ExpandFloatReductions
from hls.passes.float.reassociate_float_sums import ReassociateFloatSums
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import link_program, optimize
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.kernels.sums import KERNELS, KINDS, SOURCE, expected, launch, same_bits

BOARD = load_board("de5net")
TIMING = OperatorTiming.of(BOARD)


def linked(source: str, flush: bool = False) -> Module:
    return link_program(parse_source(source, "k.cl").module, flush=flush)


def exact(module: Module, digits: tuple[int, ...] = (16, 32), told=None) -> Module:
    """Ready for scheduling, with every sum of a loop as a long integer."""
    sums = ExpandFloatReductions(TIMING, lambda function: 0, tell=told, parts=False, digits=digits)
    functions = optimize(module, PipelineOptions(fp_relaxed=True)).functions
    return Module({name: sums.run(ReassociateFloatSums().run(function)) for name, function in functions.items()})


@pytest.fixture(scope="module", params=[16, 32])
def module(request):
    """The kernels of sums.cl; halves are in digits of 16 or 32 bits."""
    return exact(linked(SOURCE), (request.param, 32) if request.param == 16 else (32,))


def test_well_formed(module):
    for function in module.functions.values():
        verify(function)
        carried = [v for op in walk(function.body) if op.opcode == "loop" for v in op.regions[0].args]
        assert (
            not any(op.opcode in ("fadd", "fsub") for op in walk(function.body))
            and max(v.type.bits for v in carried) < 64
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_sum_is_the_exact_one_rounded_once(module, kernel):
    """A few; tests/sim/emulator/test_loop_sums.py has many."""
    for seed, kind in enumerate(KINDS):
        one = launch(kernel, kind, (0, 1, 2, 5)[seed % 4], seed)
        out = one.buffers["out"].copy()
        run_kernel(module, kernel, {"a": one.buffers["a"].copy(), "out": out}, {**one.scalars, "overlap": 0})
        assert same_bits(out, expected(kernel, one)), (kind, out, expected(kernel, one))


HEAD = "__kernel void f(__global const float *restrict a, __global float *restrict out, int n) {\n"


def forms(body: str, board: str = "de5net", **options):
    """What is told about each sum of a kernel, and the kernel's plan."""
    text = (
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : "
        f"enable\n{HEAD}{body}\n}}\n"
    )
    (kernel,), told = plan_module(
        link_program(parse_source(text, "k.cl").module), load_board(board), Options(**options)
    )
    return [note.message.split(" is ", 1)[1] for note in told if note.message.startswith("the sum ")], kernel.plan


def intervals(plan):
    return [region.ii for op, region in plan.loops.items() if "label" in op.attrs]


@pytest.mark.parametrize("board", ["ecp5_onchip", "de5net", "a10pac"])
def test_the_smaller_form_is_taken_and_runs_at_one(board):
    (half,), plan = forms(
        "half s = 0; for (int i = 0; i < n; i++) s += (half)a[i]; out[0] = s;", board, fp_relaxed=True
    )
    assert half.startswith("accumulated exactly in 73 bits by digits of 16, so that") and intervals(plan) == [1]
    (double,), plan = forms("double s = 0; for (int i = 0; i < n; i++) s += a[i]; out[0] = s;", board, fp_relaxed=True)
    assert double.startswith("split into ") and "about" not in double and intervals(plan) == [1]
    (single,), plan = forms(
        "float s = out[0]; for (int i = 0; i < n; i++) s += a[i]; out[0] = s;", board, fp_relaxed=True
    )
    assert single.startswith("split into ") and intervals(plan) == [
        1
    ]  # the sum's start would need a shifter of its own
    cost, others = single.partition("(about ")[2].split(" ", 1)
    other = others.partition("; ")[2].split()[0]
    assert int(cost.replace(",", "")) < int(other.replace(",", ""))


def test_few_iterations_need_fewer_bits():
    for trips, bits in ((100, 285), (1, 280)):
        told = []
        body = f"float s = 0; for (int i = 0; i < {trips + 2}; i++) s += a[i + n]; out[0] = s;"
        exact(linked(f"{HEAD}#pragma unroll 1\n{body}\n}}\n"), told=told.append)
        assert [note.message.partition("exactly in ")[2].split()[0] for note in told] == [str(bits)], told


def test_an_end_that_memory_tells_bounds_nothing():
    told = []
    exact(
        linked(HEAD + "float s = 0; for (int i = 0; i < n && a[i] > 0; i++) s += a[i]; out[0] = s;\n}\n"),
        told=told.append,
    )
    assert told[0].message.startswith("the sum 's' is accumulated exactly in 342 bits")


def test_strict_order_is_kept():
    notes, plan = forms("half s = 0; for (int i = 0; i < n; i++) s += (half)a[i]; out[0] = s;")
    assert not notes and intervals(plan)[0] > 1
