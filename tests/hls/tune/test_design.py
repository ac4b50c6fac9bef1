"""Designs: the same hardware by a design and by the patch that it makes; places that the program does not have."""

import re

import pytest

from hls.design import Design, DesignError, Setting, read_design, write_design
from hls.design_patch import patch, patched
from hls.diag import CompileError
from hls.driver import compile, parsed_module
from hls.ir.printer import print_module
from hls.model.workload import source_hash
from hls.options import Options
from hls.passes.link.apply_design import apply_design

SOURCE = """\
#define EACH for (int k = 0; k < 8; k++)
__attribute__((reqd_work_group_size(16, 1, 1), num_simd_work_items(2)))
__kernel void rows(__global const int *restrict a, __global int *restrict out)
{
    int g = get_global_id(0), s = 0;
    #pragma unroll 2
    for (int k = 0; k < 32; k++) { for (int j = 0; j < 4; j++) s += a[g * 32 + k] * j; }
    out[g] = s;
}
__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void twice(__global const int *restrict a, __global int *restrict out)
{
    int s = a[get_global_id(0)];
    do s *= 2; while (s < 100);
    EACH s += k;
    out[get_global_id(0)] = s;
}
__kernel void copied(__global int *const a, __global const int *b, __constant int *c)
{
    int near[8], far[8] = {0};
    for (int i = 0; i < 8; i++) { for (int j = 0; j < 8; j++) near[j] = b[i * 8 + j]; far[i] = near[i]; }
    for (int i = 0; i < 8; i++) a[i] = far[i] + c[i];
}
__kernel void items(__global int *a) { a[get_global_id(0)] = 1; }
"""
ROWS, OUTER, INNER, TWICE, WHILE, MACRO = (3, 15), (7, 5), (7, 36), (11, 15), (14, 5), (15, 5)
COPIED, A, B, NEAR, NEST, LAST, ITEMS = (18, 15), (18, 42), (18, 65), (20, 9), (21, 5), (22, 5), (24, 15)
HASH = source_hash("k.cl", {"k.cl": SOURCE}, {})


def design(*settings: tuple[tuple[int, int], str, int], **options) -> Design:
    return Design(1, HASH, tuple(Setting("", *place, kind, value) for place, kind, value in settings), **options)


def program(text: str, made: Design | None = None) -> list[list[str]]:
    """The IR that the middle end begins with, without columns, which attributes shift, and without their order."""
    module = parsed_module(text, Options(), "k.cl")
    found = print_module(module if made is None else apply_design(module, made, "k.cl"))
    lines = re.sub(r'(@"k.cl":\d+):\d+', r"\1", found).splitlines()
    return [sorted(re.split(r"[{},]\s*", line)) for line in lines]


def verilog(text: str, options: Options) -> dict[str, str]:
    return compile(text, "de5net", options, "k.cl").verilog


@pytest.mark.parametrize(
    "settings",
    [
        [(OUTER, "unroll", 8)],
        [(OUTER, "unroll", -1)],
        [(INNER, "unroll", 2), (OUTER, "unroll", 4)],
        [(ROWS, "num_simd_work_items", 4), (TWICE, "num_simd_work_items", 2), (TWICE, "num_compute_units", 2)],
        [(WHILE, "unroll", 2)],
        [(NEST, "ivdep", 1), (NEST, "loop_coalesce", 2), (NEST, "unroll", 2)],
        [(A, "restrict", 1), (B, "restrict", 1), (NEAR, "numbanks", 4)],
        [(COPIED, "feed_forward", 1), (LAST, "loads_ahead", 1)],
        [(COPIED, "feed_forward", 2)],
        [(ITEMS, "reqd_work_group_size", "16,2,1"), (ITEMS, "num_simd_work_items", 2)],
    ],
)
def test_the_patch_is_the_program_of_the_design(settings):
    made = design(*settings)
    text = patched(SOURCE, list(made.settings))
    assert text.count("\n") == SOURCE.count("\n")
    assert program(text) == program(SOURCE, made) != program(SOURCE)


def test_the_patch_makes_the_hardware_of_the_design():
    made = design((OUTER, "unroll", 8), (TWICE, "num_simd_work_items", 2))
    assert verilog(patched(SOURCE, list(made.settings)), Options()) == verilog(SOURCE, Options().with_design(made))


def test_a_patch_is_a_unified_diff():
    text = patch({"k.cl": SOURCE}, "k.cl", design((OUTER, "unroll", 8)))
    assert "-    #pragma unroll 2\n+    #pragma unroll 8\n" in text and text.startswith("--- a/k.cl\n+++ b/k.cl\n")
    assert patch({"k.cl": SOURCE}, "k.cl", design()) == ""


def test_a_loop_of_a_macro_has_no_patch():
    spans = [s for s in _loops() if s.line == MACRO[0]]
    assert spans
    with pytest.raises(DesignError, match="as a macro makes it"):
        patched(SOURCE, [Setting("", spans[0].line, spans[0].column, "unroll", 2)])


def _loops():
    from hls.ir import walk

    module = parsed_module(SOURCE, Options(), "k.cl")
    return [op.span for one in module.functions.values() for op in walk(one.body) if op.opcode == "loop"]


def test_a_design_of_another_text_and_of_other_places_is_an_error():
    with pytest.raises(CompileError, match="another text of this program"):
        verilog(SOURCE + "\n", Options().with_design(design()))
    with pytest.raises(CompileError, match="sets unroll of a loop that is not here"):
        verilog(SOURCE, Options().with_design(design(((9, 1), "unroll", 2))))


def test_options_and_defines_of_a_design_win():
    options = Options({"N": "1", "M": "2"}).with_design(design(defines=(("N", "3"),), cache_bytes=0, fp_relaxed=True))
    assert options.defines == {"N": "3", "M": "2"} and options.cache_bytes == 0 and options.fp_relaxed


def test_a_file_holds_a_design(tmp_path):
    made = design((OUTER, "unroll", 8), cache_bytes=4096, defines=(("T", "4"),))
    write_design(made, tmp_path / "best.json")
    assert read_design(tmp_path / "best.json") == made


@pytest.mark.parametrize(("text", "told"), [("{", "not a design"), ("[]", "not a design"), (None, "No such file")])
def test_another_file_is_an_error(tmp_path, text, told):
    if text is not None:
        (tmp_path / "d.json").write_text(text)
    with pytest.raises(DesignError, match=told):
        read_design(tmp_path / "d.json")


def test_an_unknown_setting_is_an_error_that_lists_the_known_ones(tmp_path):
    write_design(design((OUTER, "speed", 8)), tmp_path / "d.json")
    with pytest.raises(DesignError, match="unknown setting speed; known are unroll, ivdep, loop_coalesce"):
        read_design(tmp_path / "d.json")


def test_the_emulator_builds_the_design():
    """So that it checks what the design promises."""
    from hls.ir import Attr, walk
    from hls.target.board import load_board
    from sim.cl.emulated import emulate_source

    made = Options().with_design(design((NEST, "ivdep", 1), (A, "restrict", 1)))
    module = emulate_source(SOURCE, load_board("de5net"), made, "k.cl").module
    loops = [op for op in walk(module.functions["copied"].body) if op.attrs.get(Attr.IVDEP) == (("", 0),)]
    assert [op.span.line for op in loops] == [NEST[0]] and module.functions["copied"].memories["a"].restrict
