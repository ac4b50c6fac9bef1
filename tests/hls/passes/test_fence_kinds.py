"""Sequences of barriers and fences of all kinds, in every order: those at one position are merged."""

import itertools

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.passes.run_stages import link_program
from hls.target.board import load_board

KINDS = (
    "barrier(CLK_GLOBAL_MEM_FENCE);",
    "barrier(CLK_LOCAL_MEM_FENCE);",
    "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    "mem_fence(CLK_LOCAL_MEM_FENCE);",
    "mem_fence(CLK_GLOBAL_MEM_FENCE);",
    "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    "read_mem_fence(CLK_GLOBAL_MEM_FENCE);",
    "write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    "mem_fence(CLK_CHANNEL_MEM_FENCE);",
    "mem_fence(CLK_CHANNEL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
)
FENCES = tuple(kind for kind in KINDS if "barrier" not in kind)
BODIES = {
    "straight": "o[g] = 1; {} o[g ^ 1] += 2;",
    "local": "__local int t[64]; t[l] = o[g]; {} o[g] = t[l ^ 1];",
    "inside": "for (int i = 0; i < n; i++) {{ o[g] += i; {} o[g ^ 1] += 2; }}",
    "chosen": "o[g] = 1; if (n > 3) {{ {} o[g ^ 1] += 2; }} else o[g] = 2;",
    "both_ways": "o[g] = 1; if (n > 3) {{ {0} o[g ^ 1] += 2; }} else {{ o[g] = 3; {0} o[g ^ 2] += 3; }}",
    "left": "for (int i = 0; i < n; i++) {{ o[g] += i; {} if (n == i + 5) break; o[g ^ 1] += 2; }}",
    "nested": "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) {{ o[g] += j; {} if (n > 8) {{ {} o[g ^ 1] = i; }} }}",
    "between": "for (int i = 0; i < n; i++) o[g + i] = i; {} for (int i = 0; i < n; i++) o[g ^ i] += i;",
}
#: where work-items may part, and in kernels of one work-item, there are no barriers
ALONE = {
    "parted": "o[g] = 1; if (o[g + n] > 2) {{ o[g] = 4; {} o[g + 1] = 5; }}",
    "parted_loop": "for (int i = o[g]; i < n; i++) {{ o[i] = 4; {} o[i + 1] += 5; if (o[i] > n) break; }}",
    "while": "int i = 0; while (o[i] > n) {{ o[i] = n; {} i += o[i + 1]; }}",
}
TASK = "for (int i = 0; i < n; i++) {{ o[i] = read_channel_intel(c); {} write_channel_intel(d, o[i + 1]); }}"
BOARD = load_board("de5net")


GROUPS = ("__attribute__((reqd_work_group_size(64, 1, 1)))", "")
PLACES = list(itertools.product(BODIES, GROUPS))


def test_pairs():
    """Each pair in one place, in turn: every place has some of all kinds. ``all_of`` plans every pair in every place."""
    for k, kinds in enumerate(itertools.product(KINDS, repeat=2)):
        body, group = PLACES[k % len(PLACES)]
        plan(body, kinds, group)


def test_triples():
    triples = list(itertools.product(KINDS, repeat=3))
    for k, kinds in enumerate(triples[5::23]):
        body, group = PLACES[k % len(PLACES)]
        plan(body, kinds, group)


def all_of(length: int) -> None:
    """Plan all sequences of so many in every place; takes a while."""
    for (body, group), kinds in itertools.product(PLACES, itertools.product(KINDS, repeat=length)):
        plan(body, kinds, group)


@pytest.mark.parametrize("body", ALONE)
def test_fences_where_work_items_part(body):
    for kinds in list(itertools.product(FENCES, repeat=2))[list(ALONE).index(body) :: len(ALONE)]:
        plan(body, kinds, "")


def test_fences_between_channel_calls():
    for kinds in itertools.product(FENCES, repeat=2):
        text = f"channel int c, d; __kernel void k(__global int *o, int n) {{ {TASK.format(' '.join(kinds))} }}"
        plan_text(text)


def plan(body, kinds, group):
    form = (BODIES | ALONE)[body]
    inside = form.format(*[" ".join(kinds)] * 2)
    plan_text(
        f"__kernel {group} void k(__global int *o, int n) {{ int g = get_global_id(0), l = get_local_id(0); {inside} }}"
    )


def plan_text(text):
    plan_module(link_program(parse_source(text).module), BOARD, Options())
