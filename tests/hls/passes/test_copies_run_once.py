"""Passes run once for the copies of an autorun kernel that are equal but for their channels, and one is planned."""

import random

import pytest

from hls.diag import Diagnostic
from hls.driver import plan_text
from hls.ir import print_function, walk
from hls.ir.channel_renaming import ChannelRenaming
from hls.options import Options
from hls.passes import early_stages
from hls.passes.loops.unroll import Unrolled
from hls.passes.order.insert_memory_tokens import InsertMemoryTokens
from hls.planning import program as planning
from hls.planning.replicas import PlannedCopies
from hls.target.board import load_board

OPTIONS = Options()
#: the first copies differ: 0 and 1 are also numbers of the program, and the last one writes elsewhere
CHAIN = """
channel int link[14], last;

__kernel void feed(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(link[0], a[i]);
}

__attribute__((autorun, max_global_work_dim(0), num_compute_units(14)))
__kernel void stage(void) {
    const int id = get_compute_id(0);
    int old[5];
    #pragma unroll
    for (int i = 0; i < 5; i++) old[i] = 3;
    while (1) {
        int x = read_channel_intel(link[id]), never;
        if (x < 0) x += never;
        #pragma unroll
        for (int i = 4; i > 0; i--) old[i] = old[i - 1];
        old[0] = x;
        if (id + 1 < 14) write_channel_intel(link[id + 1], x ^ old[4]);
        else write_channel_intel(last, x);
    }
}

__kernel void drain(__global int *restrict b, int n) {
    for (int i = 0; i < n; i++) b[i] = read_channel_intel(last);
}
"""


def random_copies(seed: int) -> str:
    """Copies of a kernel that use their number for channels, and for what they compute."""
    rng = random.Random(seed)
    count = rng.randint(3, 7)
    read = rng.choice([lambda id: id, lambda id: count - 1 - id, lambda id: 2 * id, lambda id: id + 5])
    write = rng.choice([lambda id: id, lambda id: count - 1 - id, lambda id: 2 * id + 1, lambda id: id + 3])
    places = [[use(id) for id in range(count)] for use in (read, write)]
    slope = [numbers[1] - numbers[0] for numbers in places]
    value = rng.choice(["x + id", "x", "x ^ 7", "x + (id > 2 ? 1 : 2)", "x * 3 + sum"])
    when = rng.choice(["1", "x > 3", "id < 3", "x > id"])
    work = rng.choice(
        [
            "",
            "for (int k = 0; k < x; k++) sum ^= k * 5;",
            "sum += old[x & 7]; old[x + 1 & 7] = sum;",
            "\n#pragma unroll\nfor (int k = 0; k < 4; k++) sum += x >> k;",
        ]
    )
    fed = " ".join(f"write_channel_intel(a[{k}], p[i]);" for k in sorted(places[0]))
    drained = " ".join(f"p[i] += read_channel_intel(b[{k}]);" for k in sorted(places[1]))
    return f"""channel int a[16], b[16];
__attribute__((autorun, max_global_work_dim(0), num_compute_units({count})))
__kernel void stage(void) {{
    const int id = get_compute_id(0);
    int sum = 1, old[8];
    for (int i = 0; i < 8; i++) old[i] = i;
    while (1) {{
        int x = read_channel_intel(a[{slope[0]} * id + {places[0][0]}]);
        {work}
        if ({when}) write_channel_intel(b[{slope[1]} * id + {places[1][0]}], {value});
        sum += x;
    }}
}}
__kernel void feed(__global const int *restrict p, int n) {{ for (int i = 0; i < n; i++) {{ {fed} }} }}
__kernel void drain(__global int *restrict p, int n) {{ for (int i = 0; i < n; i++) {{ {drained} }} }}
"""


def planned(program: str = CHAIN, board: str = "ecp5_onchip", options: Options = OPTIONS):
    plan = plan_text(program, load_board(board), options, "k.cl")
    kernels = [(print_function(one.function), one.unrolled, one.merged) for one in plan.kernels]
    intervals = [sorted(region.ii for region in one.plan.loops.values()) for one in plan.kernels]
    return kernels, intervals, [placed(one) for one in plan.kernels], plan.warnings, plan.channels


def placed(kernel):
    """Where the plan has the operations, which are those of its own kernel, by their numbers."""
    numbers = {op: k for k, op in enumerate(walk(kernel.function.body))}
    regions = [kernel.plan.top, *kernel.plan.loops.values()]
    assert [region.loop and numbers[region.loop] for region in regions[1:]] == [numbers[op] for op in kernel.plan.loops]
    places = [(numbers[op], point.level, point.stage) for region in regions for op, point in region.place.items()]
    return places, [numbers[op] for op in (*kernel.memory.accesses, *kernel.plan.static, *kernel.plan.latency)]


def apart(monkeypatch) -> None:
    """Let every copy pass all stages and be planned."""
    monkeypatch.setattr(early_stages, "_copied", lambda *given: None)
    monkeypatch.setattr(PlannedCopies, "like", lambda self, function: None)


def test_the_copies_of_a_kernel(monkeypatch):
    assert_passes_run_once(monkeypatch, OPTIONS)


def assert_passes_run_once(monkeypatch, options: Options) -> None:
    """Of the copies in ``CHAIN``, as few pass the late stages, and are planned, as are not equal."""
    runs, plain = [], InsertMemoryTokens.run
    monkeypatch.setattr(
        InsertMemoryTokens, "run", lambda self, function: runs.append(function.name) or plain(self, function)
    )
    plans, plan = [], planning.plan_optimized
    monkeypatch.setattr(
        planning, "plan_optimized", lambda function, *given: plans.append(function.name) or plan(function, *given)
    )
    shared, few = planned(options=options), len(runs)
    of_copies = [name for name in plans if name.startswith("stage")]
    assert 0 < len(of_copies) <= 6, plans  # as few copies as pass all stages
    runs.clear()
    plans.clear()
    apart(monkeypatch)
    separate, many = planned(options=options), len(runs)
    assert shared == separate and sum(name.startswith("stage") for name in plans) == 14
    assert len(separate[0]) == 16 <= many and few < many // 2, (few, many)
    assert any("never is read before it is set" in one.message for one in shared[3])
    assert {one.kernel for _, unrolled, _ in shared[0] for one in unrolled} == {f"stage_{k}" for k in range(14)}


@pytest.mark.parametrize("seed", range(3))
def test_random_copies(monkeypatch, seed):
    program, board = random_copies(seed), ("ecp5_onchip", "de5net")[seed % 2]
    shared = planned(program, board)
    apart(monkeypatch)
    assert shared == planned(program, board)


@pytest.mark.parametrize(
    ("text", "hint", "same"),
    [
        ("this loop is not unrolled", "", True),
        ("kernel k_1 is not unrolled", "", False),
        ("no iteration", "read link[3] earlier", False),
        ("a channel", "of the array line", False),
        ("x is read before it is set", "its value is 0 here", True),
    ],
)
def test_a_report_that_names_the_copy_is_not_of_another_one(text, hint, same):
    """The copy passes the stages itself then."""
    renaming = ChannelRenaming({"link": "link", "line": "lane"}, {3: 4})
    report = Diagnostic(text, None, hint, "warning")
    assert early_stages._told(report, "k_1", "k_2", renaming) == (report if same else None)
    around = Diagnostic("a note of it", notes=(report,))
    assert early_stages._told(around, "k_1", "k_2", renaming) == (around if same else None)
    assert early_stages._told(Unrolled("k_1", None, 4, True, True), "k_1", "k_2", renaming).kernel == "k_2"
