"""Which accesses are forwarded from stores in flight."""

from tests.plans import planned_text

SOURCE = """\
__kernel void scatter(__global const int *at, __global const int *a, __global int *b, int n)
{
    #pragma unroll 2
    for (int i = 0; i < n; i++)
        b[at[i]] += a[i];
}
"""


def test_a_load_behind_a_store_of_its_iteration_takes_none_from_flight():
    """The second copy's index waits for the first copy's store, which `at` might share bytes with: its slot would be
    needed before it is known. Planning used to have no end."""
    (kernel,) = planned_text(SOURCE).kernels
    assert not any(name.endswith("_in_flight") for name in kernel.function.memories)


def test_loads_of_other_iterations_do():
    (kernel,) = planned_text(SOURCE.replace("#pragma unroll 2", "")).kernels
    assert any(name.endswith("_in_flight") for name in kernel.function.memories)
