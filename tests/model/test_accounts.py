"""The accounts of an estimate are accounts of the hardware: the same words and lines as the counters have."""

import numpy as np
import pytest

from hls import Options, compile
from hls.model.accounts import FILL, accounts
from tests.model.launched import MAIN, Given, Program

SOURCE = """\
__kernel void tripled(__global const int *restrict at, __global int *restrict o, int n)
{
    for (int i = 0; i < n; i++)
        o[at[i]] = o[at[i]] * 3 + 1;
}

__kernel void running(__global const int *restrict at, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) {
        float x = o[at[i]];
        if (x > 0)
            o[at[i]] = x * 0.5f;
    }
}

__kernel void total(__global const float *restrict a, __global float *restrict o, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    *o = s;
}
"""


@pytest.fixture(scope="module")
def program():
    return Program(SOURCE)


@pytest.fixture(scope="module")
def counted():
    """The accounts that the counters of each kernel have: text and line."""
    kernels = compile(SOURCE, "de5net", Options(counters="accounts"), MAIN).interface.kernels
    return {one.name: {(account.cause, account.line) for account in one.layout.accounts} for one in kernels}


@pytest.mark.parametrize(
    ("kernel", "contained"),
    [("tripled", "earlier store"), ("running", "earlier store"), ("total", "recurrence of loop i")],
)
def test_accounts_of_estimates_are_those_of_the_counters(program, counted, kernel, contained):
    n, random = 600, np.random.default_rng(1)
    places = random.integers(0, 8, n).astype(np.int32)
    floats = random.uniform(1, 2, n).astype(np.float32)
    result = np.ones(16, np.int32 if kernel == "tripled" else np.float32)
    first = ("a", floats) if kernel == "total" else ("at", places)
    given = Given(kernel, dict([first, ("o", result)]), {"n": n})
    found = accounts(program.kernels[kernel], program.workloads(given)[kernel], program.board)
    mine = {(one.cause, one.line) for one in found if one.cause != FILL}
    assert mine <= counted[kernel]
    assert any(contained in cause for cause, _ in mine)
