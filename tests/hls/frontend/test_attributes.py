"""Every attribute and pragma, wherever it may be written: it is in the IR, and one without effect here is warned
about by name."""

import re

import numpy as np
import pytest
from pocl import pocl_context, run_both

from hls.diag import CompileError
from hls.frontend import parse_source
from hls.frontend.attributes import ARGUMENT, CHANNEL, FUNCTION, HINTS, LOCAL_ARGUMENT, MEMORY
from hls.frontend.pragmas import LOOP_PRAGMAS
from hls.ir import walk
from hls.passes.link.check_legality import ATTRIBUTES, check_hardware
from tests.plans import planned_text

#: (as written, name in the IR, value); None where the attribute asks for nothing that hardware could do
KERNELS = [
    ("reqd_work_group_size(4, 2, 1)", "work_group_size", (4, 2, 1)),
    ("max_work_group_size(8)", "max_work_group_size", 8),
    ("max_work_group_size(4, 2, 1)", "max_work_group_size", (4, 2, 1)),
    ("xcl_max_work_group_size(4, 2, 1)", "max_work_group_size", (4, 2, 1)),
    ("num_simd_work_items(4)", "num_simd_work_items", 4),
    ("num_compute_units(2)", "num_compute_units", 2),
    ("num_compute_units(2, 3)", "num_compute_units", (2, 3)),
    ("max_global_work_dim(0)", "max_global_work_dim", 0),
    ("uses_global_work_offset(0)", "uses_global_work_offset", 0),
    ("xcl_zero_global_work_offset", "uses_global_work_offset", 0),
    ("autorun", "autorun", True),
    ("task", "task", True),
    ("feed_forward", "feed_forward", True),
    ("use_stall_enable_clusters", "use_stall_enable_clusters", True),
    ("scheduler_target_fmax_mhz(240)", "scheduler_target_fmax_mhz", 240),
    ("num_share_resources(2)", "num_share_resources", 2),
    ("max_share_resources(3)", "max_share_resources", 3),
    ("max_unroll_loops(3)", "max_unroll_loops", 3),
    ("work_group_size_hint(4, 1, 1)", "work_group_size_hint", None),
    ("vec_type_hint(float4)", "vec_type_hint", None),
]
MEMORIES = [
    ("memory", "memory", True),
    ('memory("MLAB")', "memory", "MLAB"),
    ("register", "register", True),
    ("numbanks(4)", "numbanks", 4),
    ("bankwidth(8)", "bankwidth", 8),
    ("bank_bits(3, 2)", "bank_bits", (3, 2)),
    ("singlepump", "singlepump", True),
    ("doublepump", "doublepump", True),
    ("numreadports(2)", "numreadports", 2),
    ("numwriteports(1)", "numwriteports", 1),
    ("simple_dual_port", "simple_dual_port", True),
    ('merge("m", "depth")', "merge", ("m", "depth")),
    ("max_replicates(2)", "max_replicates", 2),
    ("private_copies(2)", "private_copies", 2),
    ("max_private_copies(3)", "max_private_copies", 3),
    ("max_concurrency(2)", "max_concurrency", 2),
    ("static_array_offset(4)", "static_array_offset", 4),
    ("force_pow2_depth(1)", "force_pow2_depth", 1),
    ("aligned(16)", "aligned", 16),
]
ARGUMENTS = [("aligned(64)", "aligned", 64), ('buffer_location("DDR")', "buffer_location", "DDR")]
CHANNELS = [
    ("depth(8)", "depth", 8),
    ("depth(0)", "depth", 0),
    ('io("eth")', "io", "eth"),
    ("blocking", "blocking", True),
    ("xcl_reqd_pipe_depth(16)", "depth", 16),
]
LOOPS = [
    ("#pragma unroll", "unroll", -1),
    ("#pragma unroll 4", "unroll", 4),
    ("#pragma unroll (2 + U)", "unroll", 4),
    ("#pragma nounroll", "unroll", 1),
    ("#pragma ii 3", "ii", 3),
    ("#pragma ivdep", "ivdep", (("", 0),)),
    ("#pragma ivdep array(o) safelen(8)", "ivdep", (("o", 8),)),
    ("#pragma ivdep safelen((16)/(4))", "ivdep", (("", 4),)),
    ("#pragma ivdep safelen(((4))) array((o))", "ivdep", (("o", 4),)),
    ("#pragma loop_coalesce", "loop_coalesce", -1),
    ("#pragma loop_coalesce 2", "loop_coalesce", 2),
    ("#pragma max_concurrency 2", "max_concurrency", 2),
    ("#pragma max_interleaving 1", "max_interleaving", 1),
    ("#pragma speculated_iterations 2", "speculated_iterations", 2),
    ("#pragma disable_loop_pipelining", "disable_loop_pipelining", True),
    ("#pragma nofusion", "nofusion", True),
    ('_Pragma("unroll 2")', "unroll", 2),
    ("__attribute__((opencl_unroll_hint))", "unroll", -1),
    ("__attribute__((opencl_unroll_hint(2)))", "unroll", 2),
    ("__attribute__((xcl_pipeline_loop(3)))", "ii", 3),
    ("__attribute__((xcl_pipeline_loop))", "pipelined", True),
    ("#pragma xcl_pipeline_loop", "pipelined", True),
    ("#pragma feed_forward", "feed_forward", True),
]
#: what asks for what is done anyway, or for nothing
SILENT_LOOPS = [
    "__attribute__((xcl_pipeline_loop))",
    "__attribute__((xcl_loop_tripcount(1, 8)))",
    "#pragma STDC FP_CONTRACT OFF",
]
#: what hardware does follow, or what is a limit that it never passes
FOLLOWED = {
    "reqd_work_group_size",
    "max_work_group_size",
    "xcl_max_work_group_size",
    "num_simd_work_items",
    "num_compute_units",
    "max_global_work_dim",
    "uses_global_work_offset",
    "xcl_zero_global_work_offset",
    "autorun",
    "task",
    "feed_forward",
    "max_unroll_loops",
    "scheduler_target_fmax_mhz",
    "work_group_size_hint",
    "vec_type_hint",
    "memory",
    "register",
    "numbanks",
    "bankwidth",
    "bank_bits",
    "singlepump",
    "doublepump",
    "numreadports",
    "numwriteports",
    "simple_dual_port",
    "max_replicates",
    "merge",
    "private_copies",
    "max_private_copies",
    "max_concurrency",
    "aligned",
    "local_mem_size",
    "buffer_location",
    "depth",
    "xcl_reqd_pipe_depth",
    "io",
    "blocking",
}


def underscored(attribute: str) -> str:
    """``__name__(arguments)``, as the standard lets every attribute be written."""
    name, bracket, rest = attribute.partition("(")
    return f"__{name}__{bracket}{rest}"


@pytest.mark.parametrize(("written", "name", "value"), KERNELS)
def test_kernels(written, name, value):
    parameters = "" if name == "autorun" else "__global int *o"
    a, b = f"__attribute__(({written}))", f"__attribute__(({underscored(written)}))"
    for declared in (
        f"{a} __kernel void k({parameters})",
        f"__kernel {b} void k({parameters})",
        f"__kernel void {a} k({parameters})",
        f"__kernel void k({parameters}) {b};\n__kernel void k({parameters})",
    ):
        parsed = parse_source(declared + " { }")
        told = [f"the attribute '{name}' of 'k' has no effect"] if name in HINTS else []
        assert [one.message for one in parsed.warnings] == told
        assert parsed.module.functions["k"].attrs.get(name) == value


@pytest.mark.parametrize(("written", "name", "value"), MEMORIES)
def test_memories(written, name, value):
    a, b = f"__attribute__(({written}))", f"__attribute__(({underscored(written)}))"
    declared = [
        f"{a} int m0[16];",
        f"int {b} m0[16];",
        f"int m0[16] {a};",
        f"__local {a} int m0[16];",
        f"__local int m0[16] {b}, n[2];",
    ]
    for text in declared:
        used = "(void)n;" if " n[2]" in text else ""
        parsed = parse_source(
            f"__kernel void k(__global int *o) {{ {text} {used} m0[o[0] & 15] = 1; o[1] = m0[o[2] & 15]; }}"
        )
        assert parsed.warnings == ()
        assert dict(parsed.module.functions["k"].memories["m0"].attrs) == {name: value}, text


@pytest.mark.parametrize(("written", "name", "value"), [*ARGUMENTS, ("local_mem_size(1024)", "local_mem_size", 1024)])
def test_arguments(written, name, value):
    a, space = f"__attribute__(({written}))", "__local" if name == "local_mem_size" else "__global"
    for text in (
        f"{a} {space} int *p",
        f"{space} int {a} *p",
        f"{space} int * {a} p",
        f"{space} int *restrict {a} p",
        f"{space} int *p {a}",
    ):
        parsed = parse_source(f"__kernel void k(__global int *o, {text}) {{ p[0] = 1; o[0] = p[0]; }}")
        assert parsed.warnings == ()
        assert dict(parsed.module.functions["k"].memories["p"].attrs) == {name: value}, text


def test_a_local_argument_is_a_memory_like_others():
    for written, name, value in MEMORIES:
        parsed = parse_source(
            f"__kernel void k(__global int *o, __local int *p __attribute__(({written}))) {{ p[0] = 1; o[0] = p[0]; }}"
        )
        (kernel,) = parsed.module.functions.values()
        known = name in LOCAL_ARGUMENT
        assert dict(kernel.memories["p"].attrs) == ({name: value} if known else {})
        assert [message.message for message in parsed.warnings] == (
            [] if known else [f"the attribute '{name}' is ignored here"]
        )


@pytest.mark.parametrize(
    ("written", "space", "whose"),
    [
        ("local_mem_size(64)", "global", "__local arguments"),
        ("numbanks(2)", "global", "variables in kernels, __local arguments"),
        ('buffer_location("DDR")', "local", "__global arguments"),
        ("num_simd_work_items(2)", "global", "kernels"),
    ],
)
def test_who_has_an_attribute_is_said(written, space, whose):
    parsed = parse_source(
        f"__kernel void k(__global int *o, __{space} int *p __attribute__(({written}))) {{ p[0] = 1; o[0] = p[0]; }}"
    )
    (warning,) = parsed.warnings
    assert (
        warning.message == f"the attribute '{written.partition('(')[0]}' is ignored here"
        and warning.hint == f"it is one of {whose}"
    )


@pytest.mark.parametrize(("written", "name", "value"), CHANNELS)
def test_channels(written, name, value):
    a = f"__attribute__(({written}))"
    for text in (f"channel int c {a};", f"{a} channel int c;", f"channel int {a} c;", f"channel int c {a}, d[2][2];"):
        for maker in ("intel", "altera"):
            kernels = f"__kernel void k(__global int *o) {{ o[0] = read_channel_{maker}(c); }}" + (
                "" if name == "io" else f"__kernel void w(void) {{ write_channel_{maker}(c, 1); }}"
            )
            parsed = parse_source(text + kernels)
            assert parsed.warnings == ()
            assert dict(parsed.module.channels["c"].attrs) == {name: value}


@pytest.mark.parametrize(("written", "name", "value"), LOOPS)
def test_loops(written, name, value):
    for loop in (
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) o[i] += j;",
        "while (o[0] < 9) o[0] += 2;",
        "do o[0] += 2; while (o[0] < 9);",
        "label: for (int i = 0; i < 8; i++) o[i]++;",
    ):
        if name == "loop_coalesce" and "j" not in loop:
            continue
        parsed = parse_source(f"__kernel void k(__global int *o) {{ const int U = 2; (void)U;\n{written}\n{loop} }}")
        loops = [op for op in walk(parsed.module.functions["k"].body) if op.opcode == "loop"]
        assert parsed.warnings == () and loops[0].attrs[name] == value, loop


@pytest.mark.parametrize(
    "form",
    [
        "((2 * {0}) / (2))",
        "(whole){0} + NONE",
        "((({0})))",
        "HALF(2 * ({0}))",
        "NONE ? 7 : (int)sizeof(whole[{0} + 1]) / 4 - 1",
    ],
)
def test_a_number_may_be_any_constant_expression(form):
    """Of every pragma and attribute that takes one, with types, constants and macros of the program."""

    def other(written: str) -> str:
        return re.sub(r"\b\d+\b", lambda number: form.format(number[0]), written)

    begin = "typedef uint whole; enum { NONE };\n#define HALF(x) ((x) / (2))\n"
    for written, name, value in KERNELS:
        if value is not None:
            parameters = "" if name == "autorun" else "__global int *o"
            parsed = parse_source(f"{begin}__attribute__(({other(written)})) __kernel void k({parameters}) {{ }}")
            assert parsed.module.functions["k"].attrs.get(name) == value, written
    for written, name, value in MEMORIES:
        parsed = parse_source(
            f"{begin}__kernel void k(__global int *o) {{ int m0[16] __attribute__(({other(written)})); m0[o[0] & 15] "
            f"= 1; o[1] = m0[o[2] & 15]; }}"
        )
        assert dict(parsed.module.functions["k"].memories["m0"].attrs) == {name: value}, written
    for written, name, value in CHANNELS:
        parsed = parse_source(
            f"{begin}channel int c __attribute__(({other(written)})); __kernel void k(__global int *o) {{ o[0] = "
            f"read_channel_intel(c); }}"
        )
        assert dict(parsed.module.channels["c"].attrs) == {name: value}, written
    for written, name, value in LOOPS:
        parsed = parse_source(
            f"{begin}__kernel void k(__global int *o) {{ const int U = 2; (void)U;\n{other(written)}\nfor (int i = 0; i < 8; "
            f"i++) for (int j = 0; j < 8; j++) o[i] += j; }}"
        )
        loops = [op for op in walk(parsed.module.functions["k"].body) if op.opcode == "loop"]
        assert parsed.warnings == () and loops[0].attrs[name] == value, written


@pytest.mark.parametrize("written", SILENT_LOOPS)
def test_loops_for_which_nothing_is_asked(written):
    assert (
        parse_source(f"__kernel void k(__global int *o) {{\n{written}\nfor (int i = 0; i < 8; i++) o[i]++; }}").warnings
        == ()
    )


def test_loops_to_be_fused():
    parsed = parse_source(
        "__kernel void k(__global int *o) {\n#pragma loop_fuse depth(2) independent\n"
        "{ for (int i = 0; i < 8; i++) o[i]++; for (int i = 0; i < 8; i++) o[i + 8]++; } }"
    )
    marks = [op.attrs.get("loop_fuse") for op in walk(parsed.module.functions["k"].body) if op.opcode == "loop"]
    assert marks == [(1, 2, 1)] * 2 and parsed.warnings == ()


def test_every_name_has_a_row():
    written = {text.partition("(")[0] for text, _, _ in (*KERNELS, *MEMORIES, *ARGUMENTS, *CHANNELS)} | {
        "local_mem_size"
    }
    assert written == {*FUNCTION, *MEMORY, *ARGUMENT, *LOCAL_ARGUMENT, *CHANNEL}
    assert {name for name, *_ in (text.removeprefix("#pragma ").split() for text, _, _ in LOOPS)} >= {
        *LOOP_PRAGMAS,
        "ivdep",
    }


def test_what_hardware_does_not_follow_is_said():
    """Each attribute either shapes the hardware or is warned of by name."""
    kernel, memory = ATTRIBUTES
    assert (
        kernel | memory | FOLLOWED == {*FUNCTION, *MEMORY, *ARGUMENT, *LOCAL_ARGUMENT, *CHANNEL}
        and not (kernel | memory) & FOLLOWED
    )
    for written, name, _ in KERNELS:
        told = _told(
            f"__attribute__(({written})) __kernel void k({'' if name == 'autorun' else '__global int *o'}) {{ }}"
        )
        assert any(f"attribute '{name}'" in text for text in told) == (name in kernel and "(0)" not in written), written
    for written, name, _ in MEMORIES:
        told = _told(
            f"__kernel void k(__global int *o) {{ int m[16] __attribute__(({written})); m[o[0] & 15] = 1; o[1] = "
            f"m[o[2] & 15]; }}"
        )
        assert any(f"attribute '{name}'" in text for text in told) == (name in memory), written


def _told(source: str) -> list[str]:
    return [d.message for d in check_hardware(parse_source(source).module)]


#: where no attribute, or not this one, has a meaning: the program, and what is said
NOWHERE = {
    "a helper": (
        "__attribute__((num_simd_work_items(2))) int h(int a) { return a; }",
        "o[0] = h(1);",
        "'num_simd_work_items' of 'h'",
    ),
    "a prototype": (
        "int h(int a) __attribute__((made_up)); int h(int a) { return a; }",
        "o[0] = h(1);",
        "unknown attribute 'made_up'",
    ),
    "a table": (
        "__constant int T[2] __attribute__((numbanks(2))) = { 1, 2 };",
        "o[0] = T[o[1] & 1];",
        "'numbanks' of the table 'T'",
    ),
    "an unknown one of a table": (
        "__constant int __attribute__((made_up)) T[2] = { 1, 2 };",
        "o[0] = T[o[1] & 1];",
        "unknown attribute 'made_up'",
    ),
    "a label": (
        "",
        "if (o[0]) goto end; o[1] = 2; end: __attribute__((made_up)); o[3] = 1;",
        "'made_up' is ignored here",
    ),
    "a pointer": ("", "int v = 1; int *__attribute__((made_up)) p = &v; o[0] = *p;", "unknown attribute 'made_up'"),
    "a struct": (
        "struct __attribute__((made_up)) S { int a; };",
        "struct S s; s.a = 1; o[0] = s.a;",
        "'made_up' of 'struct S'",
    ),
    "a member": (
        "struct S { int a __attribute__((made_up)); };",
        "struct S s; s.a = 1; o[0] = s.a;",
        "'made_up' of the member 'a'",
    ),
    "a type's name": ("typedef int __attribute__((made_up)) T;", "T t = 1; o[0] = t;", "unknown attribute 'made_up'"),
    "a cast": ("", "int v = 1; o[0] = *(int *__attribute__((made_up)))&v;", "'made_up' is ignored"),
    "a loop": ("", "__attribute__((made_up)) for (int i = 0; i < 3; i++) o[i] = i;", "unknown attribute 'made_up'"),
    "a compiler's pragma": (
        "",
        "\n#pragma clang loop unroll(enable)\nfor (int i = 0; i < 3; i++) o[i] = i;",
        "unknown pragma 'clang'",
    ),
    "another tool's pragma": (
        "",
        "\n#pragma HLS PIPELINE\nfor (int i = 0; i < 3; i++) o[i] = i;",
        "unknown pragma 'HLS'",
    ),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_none_is_dropped_in_silence(name):
    before, body, message = NOWHERE[name]
    warnings = parse_source(f"{before}\n__kernel void k(__global int *o) {{ {body} }}").warnings
    assert len(warnings) == 1 and message in warnings[0].message


def test_they_change_no_result():
    """Against PoCL, which ignores those that it does not know."""
    arrays = "".join(
        f"int m{k}[16] __attribute__(({text})); for (int i = 0; i < 16; i++) m{k}[i] = a[i] * {k + 1};"
        f" o[{k}] = m{k}[n & 15] - m{k}[a[n & 15] & 15];\n"
        for k, (text, _, _) in enumerate(MEMORIES)
    )
    loops = "".join(
        f"{text}\nfor (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) o[{len(MEMORIES) + k}] += a[i] >> j;\n"
        for k, (text, _, _) in enumerate(LOOPS)
    )
    source = (
        "typedef struct __attribute__((packed, aligned(4))) { char c; int v; } Packed;\n"
        f"__kernel __attribute__((task)) void k(__global const int *restrict a, __global int *o, int n) {{ const int "
        f"U = 2;\n{arrays}{loops}"
        "Packed p; p.c = n; p.v = a[0]; o[60] = p.v + p.c + sizeof(Packed); }"
    )
    rng = np.random.default_rng(1)
    run_both(
        pocl_context(), source, "k", {"a": rng.integers(0, 999, 16, "i4"), "o": np.zeros(64, "i4"), "n": np.int32(7)}
    )


def test_what_kernels_for_other_chips_write():
    """An attribute, a label and a pragma before one loop; attributes of blocks; sizes of constant buffers."""
    parsed = parse_source("""__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(__global int *o, __constant int *c __attribute__((max_constant_size(64)))) {
        __local int t[8] __attribute__((xcl_array_partition(complete, 1)));
        __attribute__((xcl_pipeline_workitems)) { t[get_local_id(0)] = c[get_local_id(0)]; }
        barrier(CLK_LOCAL_MEM_FENCE);
        __attribute__((xcl_pipeline_loop)) rows:
        #pragma nounroll
        for (int i = 0; i < 8; i++) o[i] += t[7 - i]; }""")
    (loop,) = [op for op in walk(parsed.module.functions["k"].body) if op.opcode == "loop"]
    assert (
        parsed.warnings == ()
        and loop.attrs["pipelined"]
        and loop.attrs["unroll"] == 1
        and loop.attrs["label"] == "rows"
    )


def test_a_parameter_without_type_is_an_int():
    parsed = parse_source(
        "uchar twice(a) { uchar b = a; return b + b; } __kernel void k(__global uchar *o) { o[0] = twice(o[1]); }"
    )
    assert [w.message for w in parsed.warnings] == ["the parameter 'a' has no type, and is treated as int"]


def test_loops_in_a_pipelined_loop_are_unrolled():
    """As far as all of it fits, and not where the program keeps one."""
    (kernel,) = (
        planned_text("""__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k(__global int *restrict a, __global int *restrict o, int n) {
        __attribute__((xcl_pipeline_loop)) for (int i = 0; i < n; i++) {
            int s = 0;
            for (int j = 0; j < 6; j++) for (int m = 0; m < 4; m++) s += a[i * 24 + j * 4 + m] * (m + j);
            __attribute__((opencl_unroll_hint(1))) for (int j = 0; j < 3; j++) s ^= j;
            o[i] = s; } }""").kernels
    )
    assert [len([op for op in walk(loop.regions[0]) if op.opcode == "loop"]) for loop in kernel.plan.loops] in (
        [0, 1],
        [1, 0],
    )
    assert all(plan.ii == 1 for plan in kernel.plan.loops.values())


def test_attributes_within_a_macro():
    """All that a macro stands for has one place; an attribute still belongs to one of its declarations."""
    text = """#define K(N) __kernel void N(__global int *o) { \\
      __local int t[8] __attribute__((numbanks(2))); __local int u[8], v[8] __attribute__((numbanks(4))); o[0] = t[0] + u[1] + v[2]; }
    K(k)
    """
    memories = parse_source(text).module.functions["k"].memories
    assert {name: dict(memories[name].attrs) for name in "tuv"} == {"t": {"numbanks": 2}, "u": {}, "v": {"numbanks": 4}}


WRONG = {
    "__attribute__((opencl_unroll_hint(0)))": "attribute opencl_unroll_hint cannot be 0",
    "__attribute__((xcl_pipeline_loop(-2)))": "attribute xcl_pipeline_loop cannot be -2",
    '_Pragma("unroll 0")': "#pragma unroll cannot be 0",
}


@pytest.mark.parametrize(("request_", "told"), WRONG.items())
def test_messages_name_a_loop_attribute_as_it_is_written(request_, told):
    with pytest.raises(CompileError, match=re.escape(told)):
        parse_source(f"__kernel void k(__global int *o, int n) {{ {request_} while (n--) o[n] = n; }}", "k.cl")
