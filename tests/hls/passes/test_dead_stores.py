"""Stores that are overwritten before any read are removed, and only those."""

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.ir import memory_name, walk
from tests.kernels.system import Launch

HEAD = "__kernel void k(__global int *restrict a, __global int *b, __global int *c, int n) {\n"


@pytest.mark.parametrize(
    "body, stores",
    [
        (
            "int s[256]; for (int i = 0; i < n; i++) { s[i] = a[i]; s[i] += a[i + 1]; s[i] *= 3; } b[0] = s[a[2] & 7];",
            1,
        ),
        # one whose value is chosen
        ("int s[256]; for (int i = 0; i < n; i++) { s[i] = a[i]; if (a[i] > 4) s[i] = 1; } b[0] = s[a[2] & 7];", 1),
        ("int s[256]; for (int i = 0; i < n; i++) { s[i] = a[i]; s[i + 1] = 2; s[i] = 1; } b[0] = s[a[2] & 7];", 2),
        # seen in between
        (
            (
                "int s[256]; for (int i = 0; i < n; i++) { s[i] = a[i]; b[i] = s[a[i] & 7]; s[i] = 1; } b[0] = s[a[2] & "
                "7];"
            ),
            2,
        ),
        (
            (
                "int s[256]; for (int i = 0; i < n; i++) { s[i] = a[i]; for (int j = 0; j < n; j++) b[j] += s[j]; s[i] = "
                "1; } b[0] = s[a[2] & 7];"
            ),
            2,
        ),
        (
            (
                "int s[256]; for (int i = 0; i < n; i++) { s[i] = a[i]; for (int j = 0; j < n; j++) b[j] += j; s[i] = 1; "
                "} b[0] = s[a[2] & 7];"
            ),
            1,
        ),
    ],
)
def test_stores_to_one_place(body, stores):
    module, _, after, last = passes_through(HEAD + body + " }", "dead-store-elimination")
    assert sum(op.opcode == "store" and memory_name(op) == "s" for op in walk(after.body)) == stores
    for n in (0, 1, 5):
        launch = Launch(
            {"a": np.arange(9, dtype=np.int32) * 5 % 7, "b": np.ones(9, np.int32), "c": np.zeros(1, np.int32)}, {"n": n}
        )
        assert outcome(last, launch) == outcome(module, launch)


def test_buffers_that_may_be_one_are_read_in_between():
    _, _, after, _ = passes_through(
        HEAD + "for (int i = 0; i < n; i++) { b[i] = 1; a[i] = c[i]; b[i] = 2; } }", "dead-store-elimination"
    )
    assert sum(op.opcode == "store" and memory_name(op) == "b" for op in walk(after.body)) == 2
