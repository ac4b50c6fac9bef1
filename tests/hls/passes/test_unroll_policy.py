"""Which loops are unrolled without a pragma: the rule is the same on every board, and each of its limits counts."""

import pytest

from tests.plans import planned

BOARDS = ("ecp5_onchip", "de5net")
#: some 40 operations an iteration
LONG = "for (int k = 0; k < %d; k++) { int v = a[i + k];" + "s += v ^ (s >> 1); " * 12 + "}"


def unrolled(body: str, board: str, outside: str = "for (int i = 0; i < n; i++)") -> bool:
    """Whether the loop over k, inside the one over i, is unrolled completely."""
    text = (
        "__kernel void k(__global const int *restrict a, __global const float *restrict f, __global int *restrict out, "
        f"int n) {{ {outside} {{ int s = 0; float x = 0; {body} out[{'i' if 'int i' in outside else '0'}] = s + (int)x; }} }}"
    )
    kernel = planned(text, board)["k"]
    return [one.full for one in kernel.unrolled] == [True]


@pytest.mark.parametrize("board", BOARDS)
def test_a_small_loop_around_loads_of_global_memory_is_unrolled(board):
    assert unrolled("for (int k = 0; k < 8; k++) s += a[8 * i + k] * a[k];", board)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    ("fits", "exceeds"),
    [
        ("for (int k = 0; k < 16; k++) s += a[i + k];", "for (int k = 0; k < 17; k++) s += a[i + k];"),  # iterations
        # 32 loads; adjacent ones count as well
        (
            "for (int k = 0; k < 16; k++) s += a[i + k] ^ a[i + 99 * k];",
            "for (int k = 0; k < 16; k++) s += a[i + k] ^ a[i + 99 * k] ^ a[i - k];",
        ),
        (LONG % 8, LONG % 16),  # 512 operations
        # four divisions
        ("for (int k = 1; k < 5; k++) s += n / a[i + k];", "for (int k = 1; k < 6; k++) s += n / a[i + k];"),
    ],
)
def test_each_limit_counts(fits, exceeds, board):
    assert unrolled(fits, board)
    assert not unrolled(exceeds, board)


@pytest.mark.parametrize("board", BOARDS)
def test_only_what_computes_and_is_repeated_is_unrolled(board):
    """A loop that stores, one that runs once, and one of unknown length stay."""
    assert not unrolled("for (int k = 0; k < 8; k++) out[k] = a[i + k];", board)
    assert not unrolled("for (int k = 0; k < 8; k++) s += a[k];", board, outside="")
    assert not unrolled("for (int k = 0; k < (n & 7); k++) s += a[i + k];", board)
