"""Operations of an iteration, counted in the planned kernel."""

from hls.rtl.work import count_operations
from tests.plans import planned

SOURCE = """
__kernel void mixed(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] * a[i] / 3.0f - sqrt(a[i]);
}
__kernel void bits(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (a[i] ^ 21) * n;
}
"""


def of(kernel: str) -> tuple[int, int]:
    (plan,) = planned(SOURCE)[kernel].plan.loops.values()
    return count_operations(plan.place)


def test_floating_point_operations_are_counted_and_integers_are_those_of_the_counter():
    floating, integer = of("mixed")
    assert floating == 4, "a product, a quotient, a root and a difference"
    assert integer >= 1, "i++"


def test_integer_arithmetic_counts_more():
    floating, integer = of("bits")
    assert floating == 0 and integer == of("mixed")[1] + 2
