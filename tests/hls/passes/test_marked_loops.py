"""`#pragma feed_forward` before loops: only what they load moves, and the bytes stay the same."""

import re

import pytest

from hls.diag import CompileError
from hls.driver import plan_text
from hls.ir import memory_name, walk
from hls.options import Options
from hls.passes.link.copy_kernel import CopyKernel
from hls.passes.link.decouple import Decouple
from hls.target.board import load_board
from tests.ir.meaning import difference
from tests.ir.new import input_of
from tests.programs.decoupled import apart
from tests.programs.generate import random_kernel
from tests.repetitions import sampled

BOARD = load_board("de5net")
PRAGMA = "#pragma feed_forward\n"


def planned(text: str, **options):
    return plan_text(text, BOARD, Options(**options), "k.cl")


def marked(text: str, number: int) -> str:
    """The kernel with the pragma before loop no. ``number``."""
    place = [found.start() for found in re.finditer(r"\bfor \(", text)][number]
    return f"{text[:place]}\n{PRAGMA}{text[place:]}"


@pytest.mark.parametrize("seed", sampled(range(0, 120, 10)))
def test_same_bytes_with_any_loop_marked(seed):
    """Each loop of a random kernel, marked alone: split in that way, or refused with the reason."""
    kernel = random_kernel(seed)
    for number in range(len(re.findall(r"\bfor \(", kernel.text))):
        try:
            before = input_of(marked(kernel.text, number), "decouple", first=True)
            after = Decouple().run(before)
        except CompileError as error:
            assert all(one.code.number == "E0709" and one.span and one.hint for one in error.diagnostics)
            continue
        assert not apart(kernel, seed, before, after)


TWO = """__kernel void k(__global const int *restrict v, __global const int *restrict w, __global const int *restrict at,
                __global int *restrict o, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += w[i];
  for (int j = 0; j < n; j++) o[j] = v[at[j] & 15] + w[j] + sum;
}"""


@pytest.mark.parametrize("number, moved, left", [(0, {"w"}, {"v", "at", "w"}), (1, {"v", "at", "w"}, {"w"})])
def test_only_what_the_loop_loads_moves(number, moved, left):
    """The address of `v` needs `at`: it moves as well, and is not received."""
    before = input_of(marked(TWO, number), "decouple", first=True)
    after = Decouple().run(before)
    assert [{memory_name(op) for op in walk(f.body) if op.opcode == "load"} for f in after.kernels] == [left, moved]
    assert difference(before, after, "n=0..20") is None


def test_what_a_marked_loop_needs_moves_with_it():
    """The bounds of its rows are loaded outside; the loads of another loop stay."""
    text = """__kernel void k(__global const int *restrict row, __global const int *restrict v, __global const int *restrict w,
                __global int *restrict o, int n) {
  for (int i = 0; i < n; i++) {
    int least = w[i];
    #pragma feed_forward
    for (int e = row[i]; e < row[i + 1]; e++) if (v[e] < least) least = v[e];
    o[i] = least;
  }
}"""
    plan = planned(text)
    assert [one.function.name for one in plan.kernels] == ["k", "k_memory"]
    assert {one.carries for one in plan.channels} == {"load of row", "load of row no. 2", "load of v"}


def test_a_loop_of_a_function_that_is_called():
    text = """int sum_of(__global const int *a, int n) {
  int s = 0;
  #pragma feed_forward
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
__kernel void k(__global const int *restrict a, __global int *restrict o, int n) { o[0] = sum_of(a, n); }
__kernel void other(__global const int *restrict a, __global int *restrict o) { o[0] = a[0]; }"""
    assert [one.function.name for one in planned(text).kernels] == ["k", "k_memory", "other"]


HEAD = "__kernel {} void k(__global int *restrict a, __global const int *restrict b, int n) {{ {} }}"
MARKED = f"\n{PRAGMA}for (int i = 0; i < n; i++) "
AUTORUN = """channel int c;
__kernel __attribute__((autorun)) void k() {
  #pragma feed_forward
  for (int i = 0; i < 64; i++) write_channel_intel(c, i);
}
__kernel void o(__global int *a) { a[0] = read_channel_intel(c); }"""
REFUSED = {
    "loads nothing": (HEAD.format("", MARKED + "a[i] = i;"), "E0709", 3, "its loop over i at line 3 loads nothing"),
    "no loop": (
        HEAD.format("", "for (int i = 0; i < n; i++) {" + """
#pragma feed_forward
for (int j = 0; j < 0; j++) a[i] = b[i]; }"""),
        "E0709", 3, "cannot run ahead: it is no loop any more",
    ),
    "unroll": (HEAD.format("", "\n#pragma unroll" + MARKED + "a[i] = b[i];"), "E0304", 3, "contradict each other"),
    "dependence": (
        HEAD.format("", MARKED + "a[i + 3] = a[i] + b[0];"), "E0709", 3, "reads what the kernel stores"
    ),
    "no memory part": (
        HEAD.format("__attribute__((feed_forward(memory(0), compute(2))))", MARKED + "a[i] = b[i];"),
        "E0302", 3, "its attribute, with memory(0), for none",
    ),
    "barrier": (
        HEAD.format("", "a[get_global_id(0)] = n; barrier(CLK_GLOBAL_MEM_FENCE);" + MARKED + "a[i] += b[i];"),
        "E0709", 1, "synchronize at barriers",
    ),
    "argument": (HEAD.format("", MARKED.replace("\nfor", " 2\nfor") + "a[i] = b[i];"), "E0303", 2, "takes no argument"),
    "autorun": (
        AUTORUN,
        "E0709", 2, "it runs by itself",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    text, code, line, said = REFUSED[name]
    with pytest.raises(CompileError) as caught:
        planned(text)
    found = [(one.code.number, one.span.line) for one in caught.value.diagnostics if said in one.message and one.hint]
    assert found == [(code, line)], [(str(one), one.code) for one in caught.value.diagnostics]


def test_the_option_never_leaves_marked_loops_split():
    text = HEAD.format("", MARKED + "a[i] = b[i];")
    assert len(planned(text, feed_forward="never").kernels) == 2
    assert len(planned(text.replace(PRAGMA, ""), feed_forward="never").kernels) == 1


ROWS = """__kernel void k(__global const int *restrict row, __global const int *restrict v, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    int least = 1 << 30;
    for (int e = row[i]; e < row[i + 1]; e++) if (v[e & 63] < least) least = v[e & 63];
    out[i] = least;
  }
}"""


def test_copies_with_memory_parts():
    before = input_of(ROWS, "copy-kernel", first=True)
    after = Decouple().run(CopyKernel(address_bits=32, count=3).run(before))
    names = ["k", "k_memory", "k_copy", "k_copy_memory", "k_copy1", "k_copy1_memory"]
    assert [*after.functions] == names
    assert after.functions["k"].attrs["parts"] == tuple(names[1:])
    assert [one.attrs.get("loads_for") for one in after.kernels] == [None, "k", None, "k_copy", None, "k_copy1"]
    assert difference(before, after, "n=0..40, row=0..9, length(row)=64") is None
    again = Decouple().run(after)
    assert [*again.functions] == names
    text = ROWS.replace("__kernel", "__kernel __attribute__((feed_forward(memory(2), compute(2))))", 1)
    plan = planned(text)
    assert [one.function.name for one in plan.kernels] == names[:4]
    assert [(one.kernels, one.kind) for one in plan.networks] == [
        (("k", "k_memory"), "proved"),
        (("k_copy", "k_copy_memory"), "proved"),
    ]
    assert len({one.name for one in plan.channels}) == len(plan.channels) == 6
    said = "2 copies of kernel k share the iterations of its outermost loop, each split into a memory part and a compute part"
    assert said in [one.message for one in plan.warnings]


FLOYD = """__kernel {} void k(__global int *restrict d, int n, int k) {{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
}}"""


def test_a_promise_that_iterations_are_independent():
    """Without it, each iteration waits for the stores of those before. It alone leaves to the compiler whether the
    kernel is split; copies may share the iterations of a kernel that gives it."""
    plans = {
        given: planned(FLOYD.format(f"__attribute__((feed_forward({given})))" if given else ""))
        for given in ("", "independent", "memory(1), compute(1), independent", "memory(0), compute(2), independent")
    }
    names = [[one.function.name for one in plan.kernels] for plan in plans.values()]
    assert names == [["k"], ["k"], ["k", "k_memory"], ["k", "k_copy"]]
    for plan in plans.values():
        assert all(one.function.attrs.get("independent", False) == (plan is not plans[""]) for one in plan.kernels)
    (note,) = [one for one in plans["independent"].warnings if one.code is not None and one.code.number == "N0710"]
    assert re.match("kernel k is not split .*: its loops take .* by their schedules whole, and .* split", note.message)
    with pytest.raises(CompileError, match="k cannot be copied: the store of d at line 4 may store to what another"):
        planned(FLOYD.format("__attribute__((feed_forward(memory(0), compute(2))))"))
    stays = "of kernel k, the load of d at line 4 reads what the kernel stores"
    plan = planned(FLOYD.format("__attribute__((feed_forward))"))
    assert sum(one.message.startswith(stays) for one in plan.warnings) == 2


@pytest.mark.parametrize(
    "given, code, said",
    [
        ("independent, memory(0), compute(2)", "E0301", "takes no argument, or memory(NUMBER) and compute(NUMBER)"),
        ("independently", "E0301", "and independent or silent_stores behind them"),
        ("independent, independent", "E0301", "takes no argument"),
    ],
)
def test_how_the_promise_is_written(given, code, said):
    with pytest.raises(CompileError) as caught:
        planned(FLOYD.format(f"__attribute__((feed_forward({given})))"))
    (message,) = caught.value.diagnostics
    assert message.code.number == code and said in message.message and message.hint and message.span.line == 1
