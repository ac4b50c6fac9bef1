"""Barriers and fences of all kinds behind each other, in every order: those of one place are one."""

import itertools

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.passes.pipeline import link_program
from hls.target.board import load_board

KINDS = (
    "barrier(CLK_GLOBAL_MEM_FENCE);",
    "barrier(CLK_LOCAL_MEM_FENCE);",
    "mem_fence(CLK_GLOBAL_MEM_FENCE);",
    "write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    "mem_fence(CLK_CHANNEL_MEM_FENCE);",
)
BODIES = {
    "straight": "o[g] = 1; {} o[g ^ 1] += 2;",
    "local": "__local int t[64]; t[l] = o[g]; {} o[g] = t[l ^ 1];",
    "inside": "for (int i = 0; i < n; i++) {{ o[g] += i; {} o[g ^ 1] += 2; }}",
    "between": "for (int i = 0; i < n; i++) o[g + i] = i; {} for (int i = 0; i < n; i++) o[g ^ i] += i;",
}
BOARD = load_board("de5net")


@pytest.mark.parametrize("group", ["__attribute__((reqd_work_group_size(64, 1, 1)))", ""], ids=["known", "any"])
@pytest.mark.parametrize("body", BODIES)
def test_pairs(body, group):
    for kinds in itertools.product(KINDS, repeat=2):
        plan(body, kinds, group)


def test_triples():
    for kinds in itertools.product(KINDS, repeat=3):
        plan("straight", kinds, "")


def plan(body, kinds, group):
    text = (
        f"__kernel {group} void k(__global int *o, int n) {{ int g = get_global_id(0), l = get_local_id(0); "
        f"{BODIES[body].format(' '.join(kinds))} }}"
    )
    plan_module(link_program(parse_source(text).module), BOARD, Options())
