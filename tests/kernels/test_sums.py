"""-fp-relaxed on the simulated board: exact sums, under random stalls, at an interval of 1."""

import re
from functools import partial

import pytest

import hls.passes.pipeline
from hls.ir.interpreter import run_kernel
from hls.passes.float.expand_float_reductions import ExpandFloatReductions
from tests.kernels.sums import KINDS, SOURCE, expected, launch, same_bits
from tests.kernels.system import KernelSystem, kernel_names

pytestmark = pytest.mark.verilator


#: the others differ in what begins the sum and in how many there are, which interpreter and emulator see as well
BUILT = ("guarded", "halves")


def text_of(names) -> str:
    """The source of these kernels."""
    head, *kernels = re.split(r"^(?=__kernel)", SOURCE, flags=re.MULTILINE)
    return head + "".join(text for text in kernels if kernel_names(text)[0] in names)


@pytest.fixture(scope="module")
def system():
    """Every sum as a long integer, whatever is smaller."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hls.passes.pipeline, "ExpandFloatReductions", partial(ExpandFloatReductions, parts=False))
        system = KernelSystem(text_of(BUILT), "ecp5_onchip", fp_relaxed=True, counters="all")
    yield system
    system.close()


def loops(system, kernel: str):
    """The planned loops that the source has."""
    return [region for op, region in system.plan(kernel).loops.items() if "label" in op.attrs]


@pytest.mark.parametrize("kernel", BUILT)
def test_bytes(system, kernel):
    """The bits of the interpreter on what was built, which are those of the exact sum."""
    function = next(k.function for k in system.result.kernels if k.function.name == kernel)
    for k, kind in enumerate(KINDS):
        for seed in (0, 1 + k):
            one = launch(kernel, kind, (0, 1, 2, 3, 23)[(k + seed) % 5], k)
            _, buffers = system.run(kernel, one, seed)
            out = one.buffers["out"].copy()
            run_kernel(function, kernel, {"a": one.buffers["a"].copy(), "out": out}, {**one.scalars, "overlap": 0})
            assert buffers["out"].tobytes() == out.tobytes(), (kind, seed)
            assert same_bits(out, expected(kernel, one)), kind


@pytest.mark.parametrize("kernel", BUILT)
def test_a_term_each_cycle(system, kernel):
    assert {region.ii for region in loops(system, kernel)} == {1}
    one = launch(kernel, "near", 400)
    stats, buffers = system.run(kernel, one)
    assert same_bits(buffers["out"], expected(kernel, one))
    measured = [loop for loop in stats["loops"] if loop["label"] and loop["iterations"] >= 40]
    assert measured and all(loop["measured_ii"] <= 1.2 for loop in measured), measured
