"""Channel deadlocks: which are proved impossible, which are warned about, and which are not reported."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from hls.analysis.channels.call_skeleton import CallSkeleton
from hls.analysis.channels.deadlock import Verdict, find_deadlocks
from hls.analysis.channels.kpn_run import Link
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.concurrent import channel_room
from hls.ir.interpreter import ExecutionError, Launch, run_launches
from hls.options import Options
from hls.passes.run_stages import link_program
from hls.planning.memory import plan_channels
from hls.planning.schedule import balance_channels
from hls.target.board import load_board
from tests.repetitions import sampled

BOARD = load_board("de5net")
ROOT = Path(__file__).resolve().parents[3]
DECLARED = "channel int a __attribute__((depth(4))), b __attribute__((depth(4))), c, d;\n"


def kernel(name: str, body: str) -> str:
    return f"__kernel void {name}(__global int *restrict p, __global const int *restrict q, int n) {{ {body} }}\n"


def loop(body: str, count: object = "n", name: str = "i") -> str:
    return f"for (int {name} = 0; {name} < {count}; {name}++) {{ {body} }}"


def write(channel: str, value: str = "i") -> str:
    return f"write_channel_intel({channel}, {value});"


def read(channel: str) -> str:
    return f"p[0] += read_channel_intel({channel});"


def verdicts(text: str, as_built: bool = True) -> tuple[Verdict, ...]:
    """Of the networks of a program; with channels as they are built, or as the emulator has them."""
    module = link_program(parse_source(text).module)
    kernels, _ = plan_module(module, BOARD, Options())
    plans = plan_channels(module.channels, [k.function for k in kernels], BOARD)
    if as_built:
        plans = balance_channels(plans, [k.plan for k in kernels], BOARD.memory.read_latency)
    links = [
        Link(
            (c.channel, c.index),
            c.name,
            max(1, c.depth) if as_built else channel_room(module.channels[c.channel]),
            c.writer,
            c.reader,
        )
        for c in plans
    ]
    return find_deadlocks([CallSkeleton(k.function) for k in kernels], links)


def verdict(*kernels: str) -> Verdict:
    (found,) = verdicts(DECLARED + "".join(kernels))
    assert (found.warning is not None) == (found.kind in ("certain", "possible")), found
    return found


def depths(found: Verdict) -> dict[str, int]:
    return {one.channel: one.depth for one in found.depths}


# proved


def test_one_way_between_kernels_is_enough_whatever_they_do():
    found = verdict(
        kernel("x", loop(f"if (q[i]) {write('a')}")),
        kernel("f", loop("int v = read_channel_intel(a); if (v > 2) " + write("c", "v"))),
        kernel("y", loop(read("c"), 7)),
    )
    assert found.kind == "proved" and "form a tree" in found.reason and found.kernels == ("x", "f", "y")


@pytest.mark.parametrize("count", ["n", 1_000, 1_000_000])
def test_as_many_values_on_two_ways(count):
    found = verdict(kernel("x", loop(write("a") + write("b"), count)), kernel("y", loop(read("b") + read("a"), count)))
    assert found.kind == "proved", found


def test_loops_in_loops_are_followed_to_their_ends():
    inner = loop(write("a") + write("b"), 100, "j")
    found = verdict(
        kernel("x", loop(loop(inner, 100, "k") + write("c"), 100) + write("d", "7")),
        kernel("y", loop(loop(read("a") + read("b"), 10_000, "j") + read("c"), 100) + read("d")),
    )
    assert found.kind == "proved", found


def test_a_question_and_its_answer():
    found = verdict(
        kernel("asks", "int x = 1; " + loop("write_channel_intel(a, x); x = read_channel_intel(b);")),
        kernel("answers", loop("write_channel_intel(b, read_channel_intel(a) * 5);")),
    )
    assert found.kind == "proved" and "for any trip counts" in found.reason


def test_blocks_that_the_channel_can_hold():
    tiles = kernel("x", loop(loop(write("a"), 4, "j") + write("b")))
    assert verdict(tiles, kernel("y", loop(read("b") + loop(read("a"), 4, "j")))).kind == "proved"


def test_calls_that_depend_on_the_counter_of_a_loop():
    found = verdict(
        kernel("x", loop(write("a") + f"if ((i & 3) == 3) {write('b')}", 64)),
        kernel("y", loop(read("b") + loop(read("a"), 4, "j"), 16)),
    )
    assert found.kind == "proved", found


def test_a_triangle():
    found = verdict(
        kernel("x", loop("\n#pragma unroll 1\n" + loop(write("a"), "i + 1", "j") + write("b"), 4)),
        kernel("y", loop(read("b") + "\n#pragma unroll 1\n" + loop(read("a"), "i + 1", "j"), 4)),
    )
    assert found.kind == "proved", found


def test_what_is_left_in_a_channel_is_told():
    found = verdict(kernel("x", loop(write("a") + write("b"), 8)), kernel("y", loop(read("a") + read("b"), 7)))
    assert found.kind == "proved" and "values left in a and b" in found.reason


def test_kernels_that_begin_by_themselves_may_wait_in_the_end():
    itself = "__attribute__((max_global_work_dim(0))) __attribute__((autorun)) "
    found = verdict(
        kernel("x", loop(write("a") + write("b"), 50)),
        itself + "__kernel void middle() { write_channel_intel(c, read_channel_intel(a) + read_channel_intel(b)); }\n",
        itself + "__kernel void back() { write_channel_intel(d, read_channel_intel(c)); }\n",
        kernel("y", loop(read("d"), 50)),
    )
    assert found.kind == "proved" and found.kernels == ("x", "middle", "back", "y")


# certain


def test_two_kernels_that_both_read_first():
    found = verdict(
        kernel("x", loop("int v = read_channel_intel(a);\n" + write("b", "v"), 5)),
        kernel("y", loop("int v = read_channel_intel(b);\n" + write("a", "v"), 5)),
    )
    assert found.kind == "certain" and found.in_order and not found.depths
    warning = found.warning
    assert (
        warning.severity == "warning"
        and warning.span.line == 2
        and [note.span.line for note in warning.notes] == [2, 4]
    )
    assert (
        "kernels x and y always wait for each other for ever" in warning.message
        and "no channel depth helps" in warning.hint
    )


def test_hardware_may_send_what_does_not_need_the_value():
    """Both calls of the first kernel are made at once, so that the emulator stops and hardware does not."""
    found = verdict(
        kernel("x", loop(read("a") + write("b"), 5)),
        kernel("y", loop("int v = read_channel_intel(b);\n" + write("a", "v"), 5)),
    )
    assert found.kind == "possible" and found.in_order and "hardware may be a few calls ahead" in found.reason


# possible, with the depth that helps


@pytest.mark.parametrize("count", [6, 10, 33])
def test_one_channel_is_filled_before_the_other_is_begun(count):
    reader = kernel("y", loop(read("a") + read("b"), count))
    found = verdict(kernel("x", loop(write("a"), count) + "\n" + loop(write("b"), count)), reader)
    assert found.kind == "possible" and found.in_order and depths(found) == {"a": count - 1}
    assert found.warning.hint == f"give channel 'a' a depth of {count - 1}"
    deep = DECLARED.replace("a __attribute__((depth(4)))", f"a __attribute__((depth({count - 1})))")
    assert [
        one.kind for one in verdicts(deep + kernel("x", loop(write("a"), count) + loop(write("b"), count)) + reader)
    ] == ["proved"]


def test_two_channels_have_to_be_deeper():
    found = verdict(
        kernel("x", loop(write("a") + write("b"), 20) + write("c", "3")),
        kernel("y", read("c") + loop(read("a") + read("b"), 20)),
    )
    assert depths(found) == {"a": 20, "b": 20}


def test_no_depth_is_enough_for_a_count_that_only_the_run_knows():
    found = verdict(kernel("x", loop(write("a")) + loop(write("b"))), kernel("y", loop(read("a") + read("b"))))
    assert found.kind == "possible" and not found.in_order and not found.depths
    assert "make channel 'a' deep enough for all values written" in found.warning.hint


def test_a_filter_on_one_of_two_ways():
    found = verdict(
        kernel("x", loop(write("a") + write("b"))),
        kernel("f", loop("int v = read_channel_intel(a); if (v > 0) " + write("c", "v"))),
        kernel("y", loop(read("c") + read("b"))),
    )
    assert (
        found.kind == "possible" and {wait.link.name for wait in found.circle} == {"a", "b", "c"} and not found.depths
    )


# neither


@pytest.mark.parametrize(
    "kernels, reason",
    [
        (
            (
                kernel("x", loop(write("a") + f"if (q[i]) {write('b')}")),
                kernel("y", loop(read("a") + f"if (q[i]) {read('b')}")),
            ),
            "whether kernel x makes a call (line 2) is only known at run time",
        ),
        (
            (
                kernel("x", loop(f"if (q[i]) {write('a')} else {write('b')}")),
                kernel(
                    "y",
                    loop("int v; if (q[i]) v = read_channel_intel(a); else v = read_channel_intel(b); p[n + i] = v;"),
                ),
            ),
            "whether kernel x makes a call (line 2) is only known at run time",
        ),
        (
            (
                kernel("x", loop(loop(write("a"), "q[i]", "j") + write("b"))),
                kernel("y", loop(loop(read("a"), "q[i]", "j") + read("b"))),
            ),
            "how often kernel x runs a loop with calls (line 2) is only known at run time",
        ),
        (
            (kernel("x", loop(write("a") + write("b"), 8)), kernel("y", loop(read("a") + read("b"), 16))),
            (
                "kernel y reads more values from channel a than one launch of kernel x writes, so it depends on the "
                "number of launches"
            ),
        ),
        (
            (
                kernel("x", loop(write("a") + "if (write_channel_nb_intel(b, i)) p[i] = 1;", 8)),
                kernel("y", loop(read("a") + read("b"), 8)),
            ),
            "a non-blocking call makes the order of calls depend on the speed of the kernels",
        ),
    ],
)
def test_not_decided(kernels, reason):
    found = verdict(*kernels)
    assert found.kind == "undecided" and found.reason == reason and found.span is not None


@pytest.mark.parametrize(
    "file",
    sampled(
        file
        for folder in ("examples", "tests/kernels")
        for file in sorted((ROOT / folder).rglob("*.cl"))
        if re.search(r"^channel\b", file.read_text(), re.MULTILINE)
    ),
    ids=lambda file: file.relative_to(ROOT).as_posix(),
)
def test_programs_of_the_repository_with_channels_are_free_of_warnings(file):
    found = verdicts(file.read_text())
    assert found and not [one for one in found if one.warning]


# against the emulator's definition of a run


def random_network(rng: random.Random) -> str:
    """2 to 4 kernels with 3 to 7 transfers each way in loops of constant counts; what each kernel does is partly
    shuffled, so that some networks stop. Every channel has as many writes as reads."""
    kernels = [f"k{i}" for i in range(rng.randint(2, 4))]
    bodies: dict[str, list[str]] = {name: [] for name in kernels}
    declared = []
    for c in range(rng.randint(3, 7)):
        source, target = rng.sample(kernels, 2)
        depth = rng.choice(["", *(f" __attribute__((depth({d})))" for d in (1, 3, 8))])
        declared.append(f"channel int c{c}{depth};")
        count = rng.choice([1, 2, 3, 9, 12])
        for name, call in (
            (source, f"write_channel_intel(c{c}, x + i);"),
            (target, f"x = x * 3 + read_channel_intel(c{c});"),
        ):
            odd = rng.random() < 0.3
            text = f"if (j % 2 == 0) {call}" if odd else call
            bodies[name].append(f"\n#pragma unroll 1\nfor (int j = 0; j < {count * (1 + odd)}; j++) {{ {text} }}")
    for body in bodies.values():
        if rng.random() < 0.5:
            rng.shuffle(body)
    rounds = rng.choice([1, 3])
    text = "".join(
        f"__kernel void {name}(__global int *restrict out) {{ int x = 1;\n#pragma unroll 1\n"
        f"for (int i = 0; i < {rounds}; i++) {{ {' '.join(body)} }} out[0] = x; }}\n"
        for name, body in bodies.items()
        if body
    )
    return "\n".join(declared) + "\n" + text


def stops(text: str) -> bool:
    """Whether the kernels of a program, each launched once, wait for each other."""
    module = link_program(parse_source(text).module)
    launches = [Launch(f.name, {"out": bytearray(4)}) for f in module.kernels]
    try:
        run_launches(module, launches, 1_000_000)
    except ExecutionError as error:
        assert "the kernels wait for each other" in str(error)
        return True
    return False


def test_random_networks_stop_where_it_was_said():
    kinds = Counter()
    for seed in range(12):
        text = random_network(random.Random(seed))
        found = verdicts(text, as_built=False)
        expected = any(one.in_order for one in found)
        assert all(one.kind == "proved" or one.in_order for one in found), (text, found)
        assert stops(text) == expected, (text, found)
        kinds.update(one.kind for one in found)
        for one in found:
            if one.depths:
                deeper = {d.channel: d.depth for d in one.depths}
                kinds["deepened"] += 1
                assert not any(
                    wait.circle
                    for wait in verdicts(_deepened(text, deeper), as_built=False)
                    if wait.kernels == one.kernels
                )
    assert kinds["proved"] and kinds["possible"] and kinds["deepened"], kinds


def _deepened(text: str, depths: dict[str, int]) -> str:
    for name, depth in depths.items():
        text = re.sub(rf"channel int {name}\b[^;]*;", f"channel int {name} __attribute__((depth({depth})));", text)
    return text
