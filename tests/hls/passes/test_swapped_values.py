"""Values that loops exchange become one value: the same results, and pointers that never point to the same buffer."""

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.ir import walk
from tests.kernels.system import Launch
from tests.plans import planned

HEAD = "__kernel void k(__global int *restrict a, __global int *restrict b, int n, int m)"
NAME = "merge-swapped-values"
SWAP = "__global int *t = x; x = y; y = t;"
POINTERS = "__global int *x = a, *y = b;"
BODIES = {
    "integers": "int p = 3, q = 12; for (int i = 0; i < n; i++) { a[i] = p * 5 + q; int t = p; p = q; q = t; } b[0] = p; b[1] = q;",
    "equal": "int p = 7, q = 7; for (int i = 0; i < n; i++) { a[i] = p + q * i; int t = p; p = q; q = t; } b[0] = p - q;",
    "compared": (
        "uchar p = 1, q = 0; for (int i = 0; i < n; i++) { a[i] = q == 1 ? p : q != 0 ? 5 : 6; uchar t = p; p = q; q = t; "
        "} b[0] = p; b[1] = q;"
    ),
    "buffers": f"{POINTERS} for (int i = 0; i < n; i++) {{ for (int j = 0; j < 8; j++) y[j] = x[j] * 3 + i; {SWAP} }}",
    "offsets": (
        "__global int *x = a, *y = b + 16; for (int i = 0; i < n; i++) { "
        f"for (int j = 0; j < 8; j++) y[j] = x[j + 1] + m; {SWAP} }} a[40] = x[0]; b[40] = y[0];"
    ),
    "never_entered": f"{POINTERS} if (m > 0) {{ for (int i = 0; i < n; i++) {{ y[i] = x[i] + 1; {SWAP} }} }} x[20] = m;",
    "nested": (
        f"for (int r = 0; r < 3; r++) {{ {POINTERS} for (int i = 0; i < n; i++) {{ y[i] = x[i] - r; {SWAP} }} y[9] = r; }}"
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_same_results(name):
    module, before, after, last = passes_through(f"{HEAD} {{ {BODIES[name]} }}", NAME)
    rng = np.random.default_rng(len(name))
    for n, m in ((0, 3), (1, 0), (2, 9), (7, 1)):
        launch = Launch({each: rng.integers(-9, 9, 64).astype(np.int32) for each in "ab"}, {"n": n, "m": m})
        for stage in (before, after, last):
            assert outcome(stage, launch) == outcome(module, launch), (n, m)
    assert before is not after and _exchanged(before) > _exchanged(after), "nothing was merged"


def _exchanged(function) -> int:
    """Carried values that get each other's value in the next iteration."""
    found = 0
    for op in walk(function.body):
        if op.opcode == "loop":
            (body,) = op.regions
            following = body.terminator.operands[1:]
            place = {arg: k for k, arg in enumerate(body.args)}
            found += sum(place.get(v, k) != k and following[place[v]] is body.args[k] for k, v in enumerate(following))
    return found


@pytest.mark.parametrize("start", ["n, q = 5", "5, q = n"])
def test_values_that_do_not_begin_as_constants_stay(start):
    text = f"{HEAD} {{ int p = {start}; for (int i = 0; i < m; i++) {{ a[i] = p; int t = p; p = q; q = t; }} }}"
    _, before, after, _ = passes_through(text, NAME)
    assert _exchanged(before) == _exchanged(after) == 2


MERGES = (
    f"{HEAD} {{ {POINTERS} for (int w = 1; w < n; w *= 2) {{ for (int low = 0; low < n; low += 2 * w) {{ int i = low, "
    "j = low + w; for (int k = low; k < low + 2 * w; k++) if (i < low + w && (j >= low + 2 * w || x[i] <= x[j])) "
    f"y[k] = x[i++]; else y[k] = x[j++]; }} {SWAP} }} }}"
)


def test_passes_over_two_buffers_wait_for_each_other_and_for_nothing_else():
    """No load is compared with the stores of its own pass, which go to the other buffer; the loop over passes waits."""
    kernel = planned(MERGES)["k"]
    ops = list(walk(kernel.function.body))
    assert not any(op.opcode == "hazard" for op in ops)
    assert sum(op.opcode == "fence" for op in ops) == 1
    latency = 105
    assert sorted(plan.ii > latency for plan in kernel.plan.loops.values()) == [False, False, True]


def test_a_load_off_the_recurrence_is_compared():
    """The same loops, but what is loaded does not decide what is loaded next: comparing costs its loop no cycle."""
    text = (
        f"{HEAD} {{ {POINTERS} for (int w = 1; w < n; w *= 2) {{ for (int low = 0; low < n; low += 2 * w) {{ for (int k = low; "
        f"k < low + 2 * w; k++) y[k] = x[k] + w; }} {SWAP} }} }}"
    )
    kernel = planned(text)["k"]
    assert any(op.opcode == "hazard" for op in walk(kernel.function.body))
