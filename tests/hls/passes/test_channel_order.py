"""Channel calls get the levels and tokens that program order needs, and no more."""

import pytest

from hls.diag import CompileError
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import Module, TokenType, walk
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import link_program, optimize
from hls.planning.memory import plan_channels
from hls.target.board import load_board

BOARD = load_board("de5net")
CHANNELS = "channel int a, b, c; channel int many[4];\n"


def planned(body: str, channels: str = CHANNELS):
    """The plan of a kernel; what stands at the other ends of its channels does not matter here."""
    module = parse_source(f"{channels}__kernel void k(__global int *restrict p, int n) {{ {body} }}").module
    (kernel,), _ = plan_module(link_program(module), BOARD, Options())
    return kernel.plan


def calls(plan, loop: int | None = 0) -> dict[str, tuple[int, str]]:
    """Of each call in a loop (None: outside of all) its level, by kind, channel and number."""
    region = plan.top if loop is None else list(plan.loops.values())[loop]
    return {
        f"{op.opcode.removeprefix('channel_')} {op.attrs['channel']}": point.level
        for op, point in region.place.items()
        if op.opcode.startswith("channel")
    }


def ii(plan, loop: int = 0) -> int:
    return list(plan.loops.values())[loop].ii


def test_calls_without_a_reason_wait_for_nobody():
    plan = planned(
        "for (int i = 0; i < n; i++) { int x = read_channel_intel(a); int y = read_channel_intel(b); "
        "write_channel_intel(c, x + y); }"
    )
    assert calls(plan) == {"read a": 0, "read b": 0, "write c": 1} and ii(plan) == 1


def test_what_waits_for_others_stands_behind_all_calls_before_it():
    """The write needs the load, so the read behind it must not keep its iteration from coming that far."""
    plan = planned(
        "for (int i = 0; i < n; i++) { write_channel_intel(a, p[i]); p[i] = read_channel_intel(b); }", CHANNELS
    )
    assert calls(plan)["read b"] >= calls(plan)["write a"] == 1 and ii(plan) == 1


def test_a_value_sent_before_it_is_known_to_come_back_makes_a_recurrence():
    plan = planned(
        "int x = 0; for (int i = 0; i < n; i++) { write_channel_intel(a, x); x = read_channel_intel(b); } p[0] = x;"
    )
    assert calls(plan) == {"write a": 0, "read b": 0} and ii(plan) > 2


def test_two_calls_of_an_iteration_take_turns():
    plan = planned("for (int i = 0; i < n; i++) { write_channel_intel(a, i); write_channel_intel(a, i * 2); }")
    turns = [op.attrs["turn"] for plan in plan.loops.values() for op in plan.place if op.opcode == "channel_write"]
    assert sorted(turns) == [0, 1] and ii(plan) == 1


@pytest.mark.parametrize(
    "body, iis",
    [
        # loops one after the other: the second begins when the calls of the first are done, iterations do not wait
        (
            (
                "for (int i = 0; i < n; i++) write_channel_intel(a, i); for (int i = 0; i < n; i++) "
                "write_channel_intel(a, -i);"
            ),
            [1, 1],
        ),
        # a call beside a loop: each iteration of the outer loop waits for the loop inside, whose iterations do not wait
        (
            (
                "for (int i = 0; i < n; i++) { write_channel_intel(a, i); for (int j = 0; j < i; j++) "
                "write_channel_intel(a, j); }"
            ),
            [1, None],
        ),
        # nothing but a loop inside: not even invocations wait
        (
            (
                "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) write_channel_intel(a, j); "
                "write_channel_intel(a, 1);"
            ),
            [1, 1],
        ),
    ],
)
def test_calls_in_several_loops(body, iis):
    plan = planned(body)
    for loop, wanted in zip(plan.loops.values(), iis, strict=True):
        assert loop.ii == wanted if wanted else loop.ii > 4
        assert loop.slots == 1


def test_fences_keep_calls_apart():
    plan = planned("""for (int i = 0; i < n; i++) {
        write_channel_intel(a, i); mem_fence(CLK_CHANNEL_MEM_FENCE); write_channel_intel(b, i); }""")
    assert calls(plan) == {"write a": 0, "write b": 1} and ii(plan) == 1
    plan = planned("""for (int i = 0; i < n; i++) {
        write_channel_intel(a, i); write_channel_intel(b, i); mem_fence(CLK_CHANNEL_MEM_FENCE); }""")
    assert ii(plan) > 2, "a call of the next iteration comes behind the fence, and so behind the other one"


def test_a_fence_in_a_loop_keeps_the_calls_around_it_apart():
    plan = planned("""write_channel_intel(a, 1);
        for (int i = 0; i < n; i++) { write_channel_intel(b, i); mem_fence(CLK_CHANNEL_MEM_FENCE); }
        write_channel_intel(c, 1);""")
    loop = next(point.level for op, point in plan.top.place.items() if op.opcode == "loop")
    assert calls(plan, None)["write a"] < loop < calls(plan, None)["write c"]


def test_every_pass_leaves_a_valid_kernel():
    source = (
        CHANNELS
        + """__kernel void k(__global int *restrict p, int n) {
        for (int i = 0; i < n; i++) {
            write_channel_intel(many[0], p[i]);
            if (p[i] & 1) for (int j = 0; j < i; j++) { write_channel_intel(many[0], j); mem_fence(CLK_CHANNEL_MEM_FENCE); }
            p[i] = read_channel_intel(many[1]);
        } }"""
    )
    module = optimize(parse_source(source).module, PipelineOptions(check=True))
    for function in module.kernels:
        verify(function)
        assert any(isinstance(v.type, TokenType) for op in walk(function.body) for v in op.results)


def channels_of(source: str):
    module: Module = optimize(link_program(parse_source(source, "k.cl").module), PipelineOptions())
    return plan_channels(module.channels, module.kernels, BOARD)


WRITER = "__kernel void {0}(int n) {{ for (int i = 0; i < n; i++) write_channel_intel({1}, i); }}\n"
READER = "__kernel void {0}(__global int *o, int n) {{ for (int i = 0; i < n; i++) o[i] = read_channel_intel({1}); }}\n"


OTHER_PIPE = """__kernel void w(write_only pipe int q) { int x = 1; write_pipe(q, &x); }
__kernel void r(read_only pipe short q, __global int *o) { short x; o[0] = read_pipe(q, &x); }"""


@pytest.mark.parametrize(
    "kernels, message",
    [
        (
            WRITER.format("w", "c") + WRITER.format("v", "c") + READER.format("r", "c"),
            "channel 'c' is written by kernel v, and by kernel w (line 2)",
        ),
        (
            WRITER.format("w", "c") + READER.format("r", "c") + READER.format("s", "c"),
            "channel 'c' is read by kernel s, and by kernel r (line 3)",
        ),
        (WRITER.format("w", "c"), "channel 'c', declared (line 1), is written by kernel w, but no kernel reads it"),
        (
            READER.format("r", "many[2]"),
            "channel 'many[2]', declared (line 1), is read by kernel r, but no kernel writes it",
        ),
        (
            WRITER.format("w", "many[3 + (int)sizeof(int)]") + READER.format("r", "many[0]"),
            "index 7 is outside 'many', which has 4 channels",
        ),
        (
            WRITER.format("w", "many[n]") + READER.format("r", "many[n & 1]"),
            "channel 'many[2]', declared (line 1), is written by kernel w, but no kernel reads it",
        ),
        (
            WRITER.format("w", "many[4 + (i & 3)]") + READER.format("r", "many[0]"),
            "'many': there is no channel 4: the array has 4",
        ),
        (OTHER_PIPE, "the pipe 'q' passes other values here than in line 2"),
        (
            "__kernel void w(write_only pipe int c) { int x = 1; write_pipe(c, &x); }",
            "the pipe 'c' has the name of a channel in line 1",
        ),
    ],
)
def test_channels_that_do_not_join_two_kernels(kernels, message):
    with pytest.raises(CompileError) as error:
        channels_of(CHANNELS + kernels)
    assert (
        message in error.value.diagnostics[0].message
        and error.value.diagnostics[0].span
        and error.value.diagnostics[0].hint
    )


@pytest.mark.parametrize(
    "body, loops",
    [
        ("write_channel_intel(a, read_channel_intel(b));", 1),
        ("int x = 0; while (1) { x += read_channel_intel(b); write_channel_intel(a, x); }", 1),
        ("for (int i = 0; i < 9; i++) write_channel_intel(a, read_channel_intel(b));", 2),
    ],
)
def test_an_autorun_kernel_begins_again(body, loops):
    """A loop around its body, unless it has one without end already."""
    module = link_program(
        parse_source(
            f"{CHANNELS} __attribute__((max_global_work_dim(0))) __attribute__((autorun)) __kernel void k() {{ "
            f"{body} }}"
        ).module
    )
    (kernel,), _ = plan_module(module, BOARD, Options())
    assert len(kernel.plan.loops) == loops and min(p.ii for p in kernel.plan.loops.values()) == 1


def test_copies_of_an_autorun_kernel_know_their_place():
    source = (
        CHANNELS
        + """__attribute__((max_global_work_dim(0))) __attribute__((autorun)) __attribute__((num_compute_units(3)))
        __kernel void link() { int k = get_compute_id(0); write_channel_intel(many[k + 1], read_channel_intel(many[k])); }
        """
        + WRITER.format("w", "many[0]")
        + READER.format("r", "many[3]")
    )
    plans = channels_of(source)
    with pytest.raises(CompileError) as error:
        channels_of(source.replace("(3)", "(4)"))
    assert (
        "index 4 is outside 'many'" in error.value.diagnostics[0].message
        and "link_3" in error.value.diagnostics[0].message
    )
    assert [(p.name, p.writer, p.reader) for p in plans] == [
        ("many[0]", "w", "link_0"),
        ("many[1]", "link_0", "link_1"),
        ("many[2]", "link_1", "link_2"),
        ("many[3]", "link_2", "r"),
    ]


@pytest.mark.parametrize(
    "body, where, lines",
    [
        (
            "write_channel_intel(a, l);\n if (n > 3) barrier(1);\n write_channel_intel(a, -l);",
            "written before and after a conditional barrier",
            (3, 1),
        ),
        (
            (
                "for (int k = 0; k < n; k++) { p[l] = read_channel_intel(b);\n barrier(1);\n p[l] -= "
                "read_channel_intel(b); }"
            ),
            "read after the last barrier of a loop and before its first one",
            (3, 1),
        ),
        (
            (
                "p[l] = read_channel_intel(c);\n for (int k = 0; k < n; k++) { barrier(1);\n p[l] += "
                "read_channel_intel(c); }"
            ),
            "read inside and outside of a loop with barriers",
            (3, 1),
        ),
        (
            "for (int k = 0; k < n; k++) { if (n & k) barrier(1);\n write_channel_intel(a, k); }",
            "written in a loop that is not in every iteration halted by a barrier",
            (2,),
        ),
        (
            (
                "for (int k = 0; k < n; k++) { barrier(1);\n for (int i = 0; i < n; i++) write_channel_intel(a, k);\n "
                "write_channel_intel(a, l); }"
            ),
            "written in several loops between two barriers of a loop",
            (3, 2),
        ),
    ],
)
def test_an_order_of_work_items_that_the_machine_cannot_keep(body, where, lines):
    with pytest.raises(CompileError) as error:
        planned("int l = get_local_id(0); " + body, CHANNELS.replace("\n", " "))
    (told,) = error.value.diagnostics
    assert f"' is {where}, so that calls of different work-items would change their order" in told.message and told.hint
    assert (told.span.line, *(note.span.line for note in told.notes)) == lines


def phases(plan) -> dict[str, list[int | None]]:
    """The phases of the calls, in program order, by channel; whether groups come one by one."""
    found: dict[str, list] = {}
    for region in (plan.top, *plan.loops.values()):
        for op in region.place:
            if op.opcode.startswith("channel"):
                found.setdefault(op.attrs["channel"], []).append((op.attrs.get("phase"), bool(op.attrs.get("gated"))))
    return found


def test_groups_come_one_by_one_only_where_a_barrier_lies_between_calls_on_one_channel():
    plan = planned(
        "int l = get_local_id(0); write_channel_intel(a, l); p[l] = read_channel_intel(b); barrier(1); "
        "write_channel_intel(c, l);"
    )
    assert phases(plan) == {"a": [(None, False)], "b": [(None, False)], "c": [(None, False)]}
    plan = planned(
        "int l = get_local_id(0); write_channel_intel(a, l); p[l] = read_channel_intel(b); barrier(1); "
        "write_channel_intel(a, l);"
    )
    assert phases(plan) == {"a": [(0, True), (1, True)], "b": [(None, False)]}
    plan = planned("for (int k = 0; k < n; k++) { barrier(1); p[get_local_id(0)] += read_channel_intel(b); }")
    assert phases(plan) == {"b": [(None, True)]}


def test_a_fence_of_memory_stands_between_a_store_and_the_call_that_tells_of_it():
    plan = planned(
        "for (int i = 0; i < n; i++) { p[i] = i; mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE); "
        "write_channel_intel(a, i); }"
    )
    (loop,) = plan.loops.values()
    (call,), (fence,) = ([op for op in loop.place if op.opcode == kind] for kind in ("channel_write", "fence"))
    assert loop.place[call].level > loop.place[fence].level and fence.result in call.operands and loop.ii == 1


def test_iterations_wait_where_a_fence_ends_them_all():
    plan = planned(
        "for (int i = 0; i < n; i++) { write_channel_intel(a, i); p[i] = i; mem_fence(CLK_GLOBAL_MEM_FENCE | "
        "CLK_CHANNEL_MEM_FENCE); }"
    )
    assert ii(plan) > BOARD.memory.read_latency // 2


@pytest.mark.parametrize(
    "body, depth",
    [
        ("for (int i = 0; i < n; i++) { write_channel_intel(w, i); write_channel_intel(a, i); }", 0),
        (
            (
                "for (int i = 0; i < n; i++) { write_channel_intel(w, i); mem_fence(CLK_CHANNEL_MEM_FENCE); "
                "write_channel_intel(a, i); }"
            ),
            2,
        ),
        (
            (
                "for (int i = 0; i < n; i++) write_channel_intel(w, i); for (int i = 0; i < n; i++) { "
                "write_channel_intel(w, i); write_channel_intel(a, i); }"
            ),
            2,
        ),
    ],
)
def test_wires_have_no_place_for_what_somebody_waits_for(body, depth):
    """Else the writer would wait for its reader at a fence, where the program with one value on its way goes on."""
    text = (
        f"channel int w __attribute__((depth(0))), a; __kernel void k(int n) {{ {body} }}"
        "__kernel void reads(__global int *restrict p) { p[0] = read_channel_intel(w); p[1] = read_channel_intel(a); }"
    )
    module = link_program(parse_source(text).module)
    kernels, _ = plan_module(module, BOARD, Options())
    (wires,) = [
        one for one in plan_channels(module.channels, [k.function for k in kernels], BOARD) if one.channel == "w"
    ]
    assert (wires.requested, wires.depth) == (0, depth) and bool(wires.reason) == bool(depth)
