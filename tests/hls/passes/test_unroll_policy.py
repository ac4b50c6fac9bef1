"""Which loops are unrolled without a pragma: the rule is the same on every board, and each of its limits counts."""

import pytest

from tests.plans import planned

BOARDS = ("ecp5_onchip", "de5net")
#: some 40 operations an iteration
LONG = "for (int k = 0; k < %d; k++) { int v = a[i + k];" + "s += v ^ (s >> 1); " * 12 + "}"


def unrolled(body: str, board: str, outside: str = "for (int i = 0; i < n; i++)") -> bool:
    """Whether the loop over k, inside the one over i, is unrolled completely."""
    text = (
        f"__constant int TABLE[32] = {{ {', '.join(str(k * k) for k in range(32))} }}; __kernel void k("
        "__global const int *restrict a, __global const float *restrict f, __global int *restrict out, "
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


STEP = "for (int k = 0; k < {}; k++) {{ int v = (n >> k) & i; {} }}"


@pytest.mark.parametrize(
    ("fits", "exceeds"),
    [
        (STEP.format(64, "s += v;"), STEP.format(65, "s += v;")),  # iterations
        # 12 operations beside wires: an iteration has the mask with i, five subtractions and a shift by s each
        (STEP.format(32, "s -= v;" + "s -= v << (s & 31);" * 5), STEP.format(32, "s -= v << (s & 31);" * 6)),
        # a product, also of floats, is 16
        (STEP.format(21, "s ^= v * i;"), STEP.format(22, "s ^= v * i;")),
        # what the counter leads to is a constant
        (STEP.format(64, "s ^= v >> k * k % 7;"), STEP.format(64, "s ^= v >> k * i % 7;")),
        # no load but that of a constant table
        (STEP.format(32, "s ^= v ^ TABLE[k];"), STEP.format(32, "s ^= v ^ TABLE[v & 31];")),
        (STEP.format(32, "s ^= v ^ TABLE[k];"), STEP.format(32, "s ^= v ^ a[k];")),
    ],
)
def test_a_loop_over_the_bits_of_a_word_is_unrolled_if_it_is_mostly_wires(fits, exceeds):
    assert unrolled(fits, "ecp5_onchip")
    assert not unrolled(exceeds, "ecp5_onchip")


SORTED = (
    "int v[9]; for (int k = 0; k < 9; k++) v[k] = a[i + k]; "
    "\nfor (int p = 0; p < {}; p++) {{ {} for (int q = 0; q < {}; q++) if (v[q] > v[q + 1]) "
    "{{ int t = v[q]; v[q] = v[q + 1]; v[q + 1] = t; }} }} s = v[4];"
)


@pytest.mark.parametrize(
    ("body", "whole"),
    [
        (SORTED.format(8, "", "8 - p"), True),
        (SORTED.format(8, "\n#pragma unroll 1\n", "8 - p"), False),
        (SORTED.format("(n & 7)", "", "8 - p"), False),
        (SORTED.format(8, "", "(n & 7)"), False),
        # a triangle of loads and sums: 28 loads, and 36
        ("\nfor (int p = 0; p < 8; p++) for (int q = p + 1; q < 8; q++) s += a[i + 9 * p + q];", True),
        ("\nfor (int p = 0; p < 8; p++) for (int q = p; q < 8; q++) s += a[i + 9 * p + q];", False),
    ],
)
def test_a_nest_whose_inner_trip_counts_become_constants_is_unrolled_as_a_whole(body, whole):
    text = (
        "__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {\n"
        f"for (int i = 0; i < n; i++) {{ int s = 0; {body} out[i] = s; }} }}"
    )
    assert any(one.full and one.span.line == 3 for one in planned(text)["k"].unrolled) == whole


@pytest.mark.parametrize("board", BOARDS)
def test_only_what_computes_and_is_repeated_is_unrolled(board):
    """A loop that stores, one that runs once, and one of unknown length stay."""
    assert not unrolled("for (int k = 0; k < 8; k++) out[k] = a[i + k];", board)
    assert not unrolled("for (int k = 0; k < 8; k++) s += a[k];", board, outside="")
    assert not unrolled("for (int k = 0; k < (n & 7); k++) s += a[i + k];", board)
