"""A few systems of random programs, and the tools for them. ``campaign`` runs many."""

import pytest

from hls.ir.interpreter import ExecutionError
from tests.repetitions import sampled

from .campaign import run_system
from .generate import Block, Kernel, random_kernel
from .planned import differs
from .shapes import random_shapes
from .shrink import shrink, smaller


@pytest.mark.verilator
@pytest.mark.parametrize("seed", [0, 5])
def test_random_programs(seed):
    runs, _, failures = run_system(seed, kernels=8)
    assert runs == 48
    assert not failures, "\n".join(f"kernel seed {f.seed}: {f.error}\n{f.kernel.text}" for f in failures)


@pytest.mark.parametrize("seed", sampled(range(0, 400, 7)))
def test_no_pass_changes_a_byte(seed):
    """Of kernels that run and end."""
    assert not differs(random_kernel(seed), seed)


@pytest.mark.parametrize("seed", sampled((4, 5, 6, 10)))
def test_no_pass_changes_a_byte_of_shapes(seed):
    assert not differs(random_shapes(seed), seed)


def test_generation_repeats():
    assert random_kernel(11) == random_kernel(11)
    assert random_kernel(11) != random_kernel(12)


def test_shrinking_keeps_what_matters():
    body = ("v0 = 1;", Block("for (i0 = 0; i0 < 3; i0++) {", (("v0 += 2;", "oa[0] = v0;"),)), "v0 = 4;")
    kernel = Kernel("k", ("int v0 = 0;", "int i0 = 0;"), body, False)
    small = shrink(kernel, lambda k: "oa[0]" in k.text, tries=50)
    assert small.body == ("oa[0] = v0;",)


def test_what_is_no_kernel_is_not_smaller():
    def fails(kernel):
        raise ExecutionError("nothing is left")

    kernel = Kernel("k", (), ("oa[0] = 1;", "oa[1] = 1;"), False)
    assert list(smaller(kernel))
    assert shrink(kernel, fails, tries=9) is kernel
