"""The sequences of values of carried variables, compared with running the loop."""

import random

import pytest

from hls.analysis.dependence.dependence import dependences
from hls.analysis.induction.periodic import PeriodicSequences
from hls.analysis.loops.loop_tree import LoopTree
from hls.frontend import parse_source
from hls.ir import is_access, walk
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize


def courses(body: str, before: str = "", loop: str = "for (int t = 0; t < n; ++t)") -> list:
    """The courses of the offsets of all stores to ``out``."""
    text = f"kernel void f(global int *restrict out, int n) {{ {before} {loop} {{ {body} }} }}"
    function = optimize(parse_source(text).module, PipelineOptions(check=True)).functions["f"]
    found = PeriodicSequences(LoopTree(function))
    return [
        found.of(op.operands[0].op.operands[0], False)
        for op in walk(function.body)
        if is_access(op) and op.opcode == "store"
    ]


def numbers(course, count: int) -> list[int]:
    return [course.const + sum(d.factor * (t // d.divide % d.modulus) for d in course.digits) for t in range(count)]


def test_counters_that_begin_anew():
    (course,) = courses("out[16 * i + j] = t; if (++j == 16) { j = 0; if (++i == 4) i = 0; }", "int i = 0, j = 0;")
    assert numbers(course, 200) == [4 * (t % 64) for t in range(200)]
    assert (course.low, course.high) == (0, 252) and len(course.digits) <= 2


def test_a_counter_that_goes_down_by_several():
    (course,) = courses("out[j] = t; j = j == 2 ? 17 : j - 3;", "int j = 17;")
    assert numbers(course, 40) == [4 * (17 - 3 * (t % 6)) for t in range(40)]


@pytest.mark.parametrize(
    "body, before",
    [
        ("out[j] = t; if (++j == n) j = 0;", "int j = 0;"),  # the run says when it begins anew
        ("out[j] = t; if (++j == 16) j = 0;", "int j = n & 15;"),  # and this with what it begins
        ("out[j] = t; j = out[j] & 15;", "int j = 0;"),  # memory says how it goes on
        ("out[j] = t; j = j == 100000 ? 0 : j + 1;", "int j = 0;"),  # it takes too long to come round
        ("out[j] = t; j = j == 2 ? 17 : j - 3;", "int j = 11;"),  # it begins in the middle, which no digit does
        ("out[j] = t; j = j == 12 ? 3 : j + 1;", "int j = 0;"),  # it never is again what it was at first
    ],
)
def test_what_is_no_course(body, before):
    assert not any(courses(body, before))


def test_a_loop_of_few_iterations_need_not_come_round():
    (course,) = courses(
        "out[8 * i + j] = t; if (++j == 5) { j = 0; ++i; }",
        "int i = 0, j = 0;",
        "\n#pragma unroll 1\nfor (int t = 0; t < 18; ++t)",
    )
    assert numbers(course, 18) == [4 * (8 * (t // 5) + t % 5) for t in range(18)]


@pytest.mark.parametrize("seed", range(12))
def test_random_machines(seed):
    """Counters of two levels with random steps and bounds: either no course, or that of running them."""
    rng = random.Random(seed)
    ends, steps = [rng.randint(2, 9) for _ in range(2)], [rng.randint(1, 3) for _ in range(2)]
    weight = rng.randint(1, 40)
    (course,) = courses(
        f"out[{weight} * i + j] = t; if (++b == {ends[0]}) {{ b = 0; j = 0; i += {steps[1]}; if (++a == {ends[1]}) "
        f"{{ a = 0; i = 0; }} }}"
        f"else j += {steps[0]};",
        "int i = 0, j = 0, a = 0, b = 0;",
    )
    expected, (a, b, i, j) = [], (0, 0, 0, 0)
    for _ in range(300):
        expected.append(4 * (weight * i + j))
        b, j = b + 1, j + steps[0]
        if b == ends[0]:
            b, j, i, a = 0, 0, i + steps[1], a + 1
            if a == ends[1]:
                a = i = 0
    assert course is not None and numbers(course, 300) == expected


def test_a_size_of_the_launch_is_unknown():
    """An index that only the launch decides is followed neither by its course nor by running the nest: who stores there
    waits."""
    text = """kernel void f(global const int *restrict a, global int *restrict out) {
  int t[64];
#pragma loop_fuse
  {
    for (int i = 0; i < 64; i++) t[(i ^ (int)get_work_dim()) & 63] = a[i];
    for (int i = 0; i < 64; i++) t[(i * i ^ (int)get_work_dim()) & 63] += a[i + 64];
  }
  for (int i = 0; i < 64; i++) out[i] = t[i];
}"""
    function = optimize(parse_source(text).module, PipelineOptions(check=True)).functions["f"]
    loops = {op.attrs["label"]: op for op in walk(function.body) if op.opcode == "loop"}
    assert any(fact.loop in loops.values() for fact in dependences(function))
