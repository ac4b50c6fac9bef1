"""Private copies of a memory: for iterations that overlap, and for work-groups in flight."""

import pytest
from banked import TASK

from hls import Options, load_board
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.passes.run_stages import link_program
from hls.report.collect import collect_kernel
from hls.report.memory_text import memory_lines

ROWS = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {{
  for (int r = 0; r < n; r++) {{
    int t[{words}]{attributes};
    for (int k = 0; k < 64; k++) t[k] = a[64 * r + k];{more}
    for (int k = 0; k < 64; k++) out[64 * r + k] = t[63 - k];
  }}
}}
"""

GROUPS = """__attribute__((reqd_work_group_size({size}, 1, 1))) __kernel void k(__global const int *restrict a, __global int *restrict out) {{
  __local int t[{size}];
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[{size} - 1 - l];
}}
"""


@pytest.mark.parametrize(
    "attributes, words, more, copies, banks",
    [
        ("", 64, "", 8, 1),
        ("private_copies(2)", 64, "", 2, 1),
        ("private_copies(3)", 64, "", 4, 1),
        ("private_copies(1)", 64, "", 1, 1),
        ("max_private_copies(5)", 64, "", 4, 1),
        ("max_concurrency(2)", 64, "", 2, 1),
        ("", 1024, "", 4, 1),
        ("", 4096, "", 2, 1),
        ("", 16384, "", 1, 1),
        ("", 64, "for (int k = 0; k < 64; k++) t[a[k] & 63] = r;", 4, 4),
    ],
)
def test_copies_for_iterations(attributes, words, more, copies, banks):
    """As many as are of use and have room, a power of two; memories of their own where several loops store."""
    text = ROWS.format(words=words, attributes=f" __attribute__(({attributes}))" if attributes else "", more=more)
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), told = plan_module(module, load_board("de5net"), Options())
    (memory,) = kernel.memory.onchip.values()
    assert (memory.copies, memory.map.banks) == (copies, banks) and not told
    (report,) = collect_kernel(kernel, module, 100).memories
    text = " ".join(" ".join(memory_lines([report], lambda text, margin: [margin + text])).split())
    assert (f"{copies} private copies, one for each iteration of the loop that declares it" in text) is (copies > 1)
    # iterations that overlap: the loop's interval is less than its body's way
    (outer,) = (
        plan for loop, plan in kernel.plan.loops.items() if any(op.opcode == "loop" for op in loop.regions[0].ops)
    )
    assert (outer.ii < 64) is (copies > 1)


@pytest.mark.parametrize(
    "text, reason",
    [
        (
            TASK.format(
                words=512,
                attributes="__attribute__((private_copies(2)))",
                store="t[i & 511] = a[i];",
                load="out[i] = t[(i * 5) & 511];",
            ),
            "in the body of a loop",
        ),
        (
            """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {
      for (int r = 0; r < n; r++) { int t[512] __attribute__((private_copies(4))); t[a[r] & 511] = r; out[r] = t[a[r + 1] & 511]; } }""",
            "no loop inside",
        ),
    ],
)
def test_no_copies(text, reason):
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), (told,) = plan_module(module, load_board("de5net"), Options())
    assert "has no effect" in told.message and told.message.startswith("private_copies(") and reason in told.hint
    assert kernel.memory.onchip["t"].copies == 1 and told.span is not None


@pytest.mark.parametrize(
    "attributes, copies",
    [
        ("private_copies(32)", 16),
        ("private_copies(4), max_private_copies(3)", 2),
        ("private_copies(8), max_concurrency(1)", 1),
    ],
)
def test_fewer_copies_than_asked_for_are_told(attributes, copies):
    module = link_program(
        parse_source(
            ROWS.format(words=64, attributes=f" __attribute__(({attributes}))", more=""), "k.cl", {}, []
        ).module
    )
    (kernel,), (told,) = plan_module(module, load_board("de5net"), Options())
    assert kernel.memory.onchip["t"].copies == copies
    assert told.message.endswith(f"of 't' is treated as {copies}") and told.span.line > 0


@pytest.mark.parametrize(
    "size, cost",
    [(64, "one copy would need as many block RAMs."), (1024, "3.5 times the block RAMs of one copy. Fewer barriers")],
)
def test_what_parts_for_groups_cost(size, cost):
    module = link_program(parse_source(GROUPS.format(size=size), "k.cl", {}, []).module)
    (kernel,), _ = plan_module(module, load_board("de5net"), Options())
    report = collect_kernel(kernel, module, 100)
    text = " ".join(" ".join(memory_lines(report.memories, lambda text, margin: [margin + text])).split())
    assert f"{report.memories[0].groups} private copies, one for each work-group in flight: {cost}" in text
