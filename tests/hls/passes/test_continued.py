"""A loop whose next invocation continues where the last one ended is merged with the loop around it, where nothing
is lost by it."""

import numpy as np
import pytest
from merging import loops, outcome, passes_through

from tests.kernels.system import Launch

HEAD = (
    "__kernel void k(__global const int *restrict a, __global int *restrict b, __global int *restrict c, int n, "
    "int m) {\n"
)
WINDOW = "int w[3] = {0}; "
SHIFT = "w[0] = w[1]; w[1] = w[2]; "

#: body, loops that are left
NESTS = (
    (
        WINDOW
        + "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { w[2] = a[i * m + j]; b[i * m + j] = w[0] + 2 * "
        "w[1] - w[2]; " + SHIFT + "}",
        1,
    ),
    (
        (
            "int at = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (a[i * m + j] > 3) b[at++] = i * 100 "
            "+ j; c[0] = at;"
        ),
        1,
    ),
    (
        (
            "int at = 0; for (int i = 0; i < n; i++) { int row = a[i]; for (int j = i; j < m; j++) { at ^= at * 5 + row; "
            "b[j * n + i] = at; } c[i] = row; }"
        ),
        1,
    ),
    # one level
    (
        (
            "int at = 7; for (int h = 0; h < 3; h++) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { at = at * "
            "5 + a[j]; b[j + h] = at; }"
        ),
        2,
    ),
    # does not go on as it is
    (
        (
            "int at = 7; for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) at = at * 5 + a[j]; at &= 255; b[i] = "
            "at; }"
        ),
        2,
    ),
    # memory says how often
    ("int at = 7; for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) { at = at * 5 + a[j]; b[j] = at; }", 2),
    # read and written
    ("int at = 7; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { at = at * 5 + b[i + j]; b[j] = at; }", 2),
    # a sum, which does not wait
    ("int at = 7; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) at += a[i + j]; b[0] = at;", 2),
    (
        (
            "int at = 7; for (int i = 0; i < n; i++) {\n#pragma ii 3\nfor (int j = 0; j < m; j++) { at = at * 5 + a[j]; "
            "b[j] = at; } }"
        ),
        2,
    ),
)


@pytest.mark.parametrize("body, left", NESTS)
def test_nests(body, left):
    module, _, after, last = passes_through(HEAD + body + " }", "flatten-carried-nests")
    assert loops(after) == left
    for n, m in ((3, 4), (1, 1), (0, 5), (5, 0), (4, 3)):
        launch = Launch(
            {"a": np.arange(30, dtype=np.int32) * 7 % 11, "b": np.ones(30, np.int32), "c": np.ones(8, np.int32)},
            {"n": n, "m": m},
        )
        expected = outcome(module, launch)
        assert outcome(after, launch) == expected and outcome(last, launch) == expected


#: body of a loop `h` over an array `t` of 12, loops that are left
HELD = (
    (
        (
            "for (int i = 0; i < 3; i++)\n#pragma unroll 1\nfor (int j = 0; j < 4; j++) t[4 * i + j] = t[4 * i + j] * 5 "
            "+ a[h + j];"
        ),
        2,
    ),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) t[i + j] = t[i * j] * 3 + a[h + j];", 2),
    (
        (
            "for (int i = 0; i < n; i++) { t[i] ^= h; for (int j = i; j < m; j++) t[j] = t[j + 1] * 3 + t[i]; b[i] = "
            "t[0]; }"
        ),
        2,
    ),
    # stored around it alone
    ("for (int i = 0; i < n; i++) { int x = t[i]; for (int j = 0; j < m; j++) x = x * 3 + t[j]; t[i] = x; }", 3),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < t[i]; j++) t[j] = t[j + 1] & 7;", 3),  # memory says how often
)


@pytest.mark.parametrize("body, left", HELD)
def test_arrays_that_held_up_a_loop_go_on(body, left):
    text = (
        HEAD
        + "int t[12];\n#pragma unroll 1\nfor (int i = 0; i < 12; i++) t[i] = a[i]; for (int h = 0; h < n; h++) {\n"
        + body
        + "\n}\n#pragma unroll 1\nfor (int i = 0; i < 12; i++) c[i] = t[i]; }"
    )
    module, _, after, last = passes_through(text, "flatten-carried-nests", held=["t"])
    assert loops(after) == left + 2
    for n, m in ((3, 4), (1, 1), (0, 5), (5, 0), (4, 3)):
        launch = Launch(
            {"a": np.arange(30, dtype=np.int32) * 7 % 11, "b": np.ones(30, np.int32), "c": np.ones(12, np.int32)},
            {"n": n, "m": m},
        )
        expected = outcome(module, launch)
        assert outcome(after, launch) == expected and outcome(last, launch) == expected
