"""Which loads of a kernel's copies share a cache, and what the report and the replay say of it."""

from hls.driver import compile, plan_text
from hls.model.area import NOTHING
from hls.options import Options
from hls.planning.memory import LsuKind
from hls.report.area import Role
from hls.report.collect import collect
from hls.report.text import render
from hls.target.board import load_board
from tests.feed_forward.table import replayed, text_of

BOARD = load_board("de5net")
LOOKED_UP = """__kernel __attribute__((feed_forward({asked}))) void k(__global const int *restrict at,
    __global {type} *restrict value, __global int *restrict out, int n) {{
  {pragma}
  for (int i = 0; i < n; i++) {body}
}}"""
PLAIN = {
    "asked": "memory(0), compute(3)",
    "type": "const int",
    "pragma": "",
    "body": "out[i] = value[at[i]] + value[at[i] & 255];",
}


def sharing(text: str, **options) -> dict[str, list[str]]:
    """By the name of each shared cache the parts with a load through it."""
    found: dict[str, list[str]] = {}
    for kernel in plan_text(text, BOARD, Options(**options), "k.cl").kernels:
        for access in kernel.memory.accesses.values():
            assert (access.unit is LsuKind.SHARED_LOAD) == (access.shared is not None)
            if access.shared is not None:
                found.setdefault(access.shared.name, []).append(kernel.function.name)
    return found


def test_each_load_has_one_cache_for_all_copies():
    copies = ["k", "k_copy", "k_copy1"]
    assert sharing(LOOKED_UP.format(**PLAIN)) == {"k.value.0": copies, "k.value.1": copies}
    parts = sharing(LOOKED_UP.format(**PLAIN | {"asked": "memory(2), compute(2)"}))
    assert parts == {"k.value.0": ["k_memory", "k_copy_memory"], "k.value.1": ["k_memory", "k_copy_memory"]}


def test_loads_that_keep_a_cache_of_their_own():
    """Of a kernel without copies, of a buffer that copies write, with a size that the program gives; without caches
    there is none to share."""
    assert not sharing(LOOKED_UP.format(**PLAIN | {"asked": "memory(1), compute(1)"}))
    stored = {"type": "int", "pragma": "#pragma ivdep", "body": "value[at[i]] += out[i];"}
    assert not sharing(LOOKED_UP.format(**PLAIN | stored))
    given = {"body": "out[i] = __burst_coalesced_cached_load(&value[at[i]], 4096);"}
    assert not sharing(LOOKED_UP.format(**PLAIN | given))
    assert not sharing(LOOKED_UP.format(**PLAIN), cache_bytes=0)


def test_the_cache_has_room_for_what_each_copy_would_keep():
    (*_, last) = plan_text(LOOKED_UP.format(**PLAIN), BOARD, Options(), "k.cl").kernels
    shared = [one for one in last.memory.accesses.values() if one.shared is not None]
    alone = plan_text(LOOKED_UP.format(**PLAIN | {"asked": "memory(1), compute(1)"}), BOARD, Options(), "k.cl").kernels
    cached = [a for k in alone for a in k.memory.accesses.values() if a.unit is LsuKind.CACHED_LOAD]
    for one, other in zip(shared, cached, strict=True):
        options, before = one.shared.unit.options, other.hardware.options
        assert options["loads"] == 3 and one.cache_words == other.cache_words
        assert options["words"] - options["pending"] >= before["words"] - before["pending"] // 4
        assert one.reason == f"{other.reason}; one cache for 3 copies of the kernel"


def test_copies_move_the_words_of_one_kernel():
    """Four copies of a kernel that looks values up at random read each word once, as the kernel itself does."""
    text = text_of("rank")
    asked = text.replace("__kernel", "__kernel __attribute__((feed_forward(memory(0), compute(4))))", 1)
    whole, copies = (replayed(plan_text(one, BOARD, Options(), "k.cl"), "rank")[0] for one in (text, asked))
    assert whole > 3.3 * copies


def test_the_report_tells_and_counts_them():
    report = collect(compile(LOOKED_UP.format(**PLAIN), BOARD, Options(), "k.cl"), "k.cl")
    (node,) = [one for one in report.area.children if one.role is Role.SHARED_CACHE]
    lines = [line for line in report.lines if line.role is Role.SHARED_CACHE]
    assert node.resources.rams > 0 and {line.span.line for line in lines} == {4}
    assert sum((line.resources for line in lines), NOTHING) == node.resources
    text = render(report)
    assert "burst-coalesced shared cached" in text and "one cache for 3 copies of the kernel" in text


NAMES = """__kernel __attribute__((feed_forward(memory(0), compute(2)))) void k(__global const int *restrict at,
    __global const int *restrict b, __global const int *restrict a_b, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++)
    out[i] = b[at[i]] +
             a_b[at[i] & 255];
}
__kernel __attribute__((feed_forward(memory(0), compute(2)))) void k2(__global const int *restrict at,
    __global const int *restrict b, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++)
    out[i] = b[at[i]];
}"""


def test_a_cache_belongs_to_the_lines_of_its_own_loads():
    """Also where another buffer's name ends as that of its own, and another kernel has a buffer of that name."""
    report = collect(compile(NAMES, BOARD, Options(), "k.cl"), "k.cl")
    rams = {line.span.line: line.resources.rams for line in report.lines if line.role is Role.SHARED_CACHE}
    assert rams.keys() == {4, 5, 10} and len(set(rams.values())) == 1
